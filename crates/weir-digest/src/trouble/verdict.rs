//! The words that make the beginning of a line without a level a verdict.

use super::Trouble;
use crate::text::number;

/// How far into a line, in bytes, a verdict may begin.
const MAX_VERDICT_OFFSET: usize = 300;
/// The number of clauses examined, and the maximum number of words in a clause before a verdict.
const MAX_CLAUSES: usize = 6;
const MAX_WORDS_BEFORE: usize = 6;

/// Returns the verdict at the beginning of a text, which follows the time of its line.
pub(super) fn of(text: &str) -> Option<Trouble> {
    let head = &text[..text.floor_char_boundary(MAX_VERDICT_OFFSET)];
    let mut rest = without_prefix(head);
    for place in 0..MAX_CLAUSES {
        let (clause, after) = match rest.find(": ") {
            Some(at) => (&rest[..at], Some(&rest[at + 2..])),
            None => (rest.strip_suffix(':').unwrap_or(rest), None),
        };
        match of_clause(clause.trim(), rest, place > 0) {
            ClauseVerdict::Trouble(trouble) => return Some(trouble),
            ClauseVerdict::Fine => return None,
            ClauseVerdict::Nothing => {}
        }
        match after {
            Some(after) if may_lead(clause) => rest = after.trim_start(),
            _ => break,
        }
    }
    is_exit(head).then_some(Trouble::Error)
}

/// Returns whether a line is a numbered line of some file: `77<tab>  except Exception:`, `12 | fn main() {`.
pub(super) fn is_excerpt(line: &str) -> bool {
    let text = line.trim_start_matches([' ', '>']);
    let Some((_, rest)) = number(text) else { return false };
    rest.starts_with('\t') || rest.trim_start_matches(' ').starts_with(['|', '│'])
}

enum ClauseVerdict {
    Trouble(Trouble),
    /// All is well, or something is still pending.
    Fine,
    Nothing,
}

const ERROR: ClauseVerdict = ClauseVerdict::Trouble(Trouble::Error);

/// Strips what tools print before each of their lines: `==41==`, `#11 14.02`, `[build]`, `===`.
fn without_prefix(text: &str) -> &str {
    let mut rest = text.trim_start();
    if let Some((_, after)) = rest.strip_prefix("==").and_then(number)
        && let Some(after) = after.strip_prefix("==")
    {
        rest = after.trim_start();
    }
    if let Some((_, after)) = rest.strip_prefix('#').and_then(number)
        && let Some(after) = after.strip_prefix(' ')
    {
        rest = after;
        let seconds = number(after).and_then(|(_, after)| number(after.strip_prefix('.')?));
        rest = seconds.map_or(rest, |(_, after)| after.trim_start());
    }
    while let Some(inner) = rest.strip_prefix(['[', '(']) {
        // `[ERROR]` is a verdict; `[12]` and `[build 2/9]` only precede one.
        let Some(end) = inner.find([']', ')']) else { break };
        if word(&inner[..end]).is_some_and(|word| by_name(word).is_some()) {
            break;
        }
        rest = inner[end + 1..].trim_start();
    }
    rest.trim_start_matches(['=', '-', '*', '#', '!', '+', '>', '[', ' '])
}

fn of_clause(clause: &str, rest: &str, follows: bool) -> ClauseVerdict {
    if let Some(verdict) = by_sign(clause) {
        return verdict;
    }
    let clause = clause.trim_start_matches(['[', '(', '*', '-']);
    if let Some((count, after)) = number(clause) {
        // `3 failed, 2 passed`, but not `0 errors`.
        let counted = after.strip_prefix(' ').and_then(word).and_then(by_name);
        return match counted {
            Some(trouble) if count > 0 => ClauseVerdict::Trouble(trouble),
            Some(_) => ClauseVerdict::Fine,
            None => ClauseVerdict::Nothing,
        };
    }
    let Some(first) = word(clause) else { return ClauseVerdict::Nothing };
    let after = &clause[first.len()..];
    let second = after.strip_prefix(' ').map(str::trim_start).and_then(word).unwrap_or_default();
    if is_fine(first) {
        return ClauseVerdict::Fine;
    }
    if first == "not" && second == "ok" {
        return if is_excused(rest) { ClauseVerdict::Fine } else { ERROR };
    }
    if first == "thread" && rest.contains("' panicked at ") {
        return ERROR;
    }
    if matches!(first, "npm" | "pnpm" | "yarn" | "gyp") {
        return second_says(second);
    }
    if first == "Found" && follows_count(after) {
        return ERROR;
    }
    if is_phrase(clause) || (first == "definitely" && second == "lost" && !rest.contains("lost: 0 bytes")) {
        return ERROR;
    }
    if let Some(trouble) = by_name(first) {
        let after_clause = &rest[first.len().min(rest.len())..];
        let is_mentioned = is_noun(first) && is_mentioned(after_clause, second)
            || !follows && is_adjective(first) && !after_clause.starts_with(':');
        return if stands(first, after, second) && !is_none(after_clause) && !is_mentioned {
            ClauseVerdict::Trouble(trouble)
        } else {
            ClauseVerdict::Nothing
        };
    }
    match of_type(first, after) {
        Some(trouble) if !follows || after.is_empty() => ClauseVerdict::Trouble(trouble),
        _ => ClauseVerdict::Nothing,
    }
}

/// Returns whether a TAP directive excuses a failure: `# TODO`, `# skip`.
fn is_excused(rest: &str) -> bool {
    rest.split('#')
        .skip(1)
        .filter_map(|directive| directive.trim_start().get(..4))
        .any(|word| ["todo", "skip"].iter().any(|known| known.eq_ignore_ascii_case(word)))
}

/// Returns the verdict of a clause that begins with a sign, or with the counts of a playbook: `ok=5 failed=1`.
fn by_sign(clause: &str) -> Option<ClauseVerdict> {
    const SIGNS: [&str; 7] = ["** ", "*** ", "✖ ", "✗ ", "✘ ", "× ", "❌"];
    if SIGNS.iter().any(|sign| clause.starts_with(sign)) {
        return Some(ERROR);
    }
    let counts = clause.strip_prefix("ok=")?;
    let failed = |name: &str| {
        let value = counts.split_once(name).and_then(|(_, value)| number(value));
        value.is_some_and(|(count, _)| count > 0)
    };
    let any = failed(" failed=") || failed(" unreachable=");
    Some(if any { ERROR } else { ClauseVerdict::Fine })
}

fn second_says(second: &str) -> ClauseVerdict {
    match second {
        "ERR" | "error" | "ERROR" => ERROR,
        "WARN" | "warn" | "warning" => ClauseVerdict::Trouble(Trouble::Warning),
        _ => ClauseVerdict::Nothing,
    }
}

/// Returns whether a count of errors follows: ` 12 errors`.
fn follows_count(after: &str) -> bool {
    let counted = after.strip_prefix(' ').and_then(number);
    counted.is_some_and(|(count, rest)| {
        count > 0 && rest.strip_prefix(' ').and_then(word).and_then(by_name) == Some(Trouble::Error)
    })
}

/// Returns the word that a text begins with: letters, dots, apostrophes and underscores, as in names.
fn word(text: &str) -> Option<&str> {
    let end = text.bytes().position(|byte| !(byte.is_ascii_alphabetic() || matches!(byte, b'.' | b'\'' | b'_')));
    let word = text[..end.unwrap_or(text.len())].trim_end_matches(['.', '\'']);
    (!word.is_empty()).then_some(word)
}

/// Returns whether a word that means trouble is a verdict here, and not the beginning of a title or part of a name.
fn stands(first: &str, after: &str, second: &str) -> bool {
    let glued =
        after.starts_with(['/', '-', '\\', '@', '+', '(', '=']) || after.starts_with(|c: char| c.is_ascii_digit());
    let title = second.starts_with(|c: char| c.is_ascii_uppercase())
        && second.bytes().any(|byte| byte.is_ascii_lowercase())
        && first.bytes().any(|byte| byte.is_ascii_lowercase())
        && matches!(first, "Error" | "Errors" | "Exception" | "Exceptions" | "Failure" | "Warning" | "Warnings");
    // `err` counts only as a marker.
    let short = first.eq_ignore_ascii_case("err") && !after.starts_with(['!', ':', ']']) && !after.is_empty();
    !glued && !title && !short
}

/// Returns whether a word names trouble rather than reports it: a heading, an entry of a list or a sentence may consist
/// of it or begin with it. In capitals, it is a mark.
fn is_noun(word: &str) -> bool {
    let nouns = ["error", "errors", "failure", "failures", "exception", "exceptions", "warning", "warnings"];
    nouns.iter().any(|noun| noun.eq_ignore_ascii_case(word)) && word.bytes().any(|byte| byte.is_ascii_lowercase())
}

/// Returns whether a word describes what follows: in small letters at the beginning of a line, it begins a title.
fn is_adjective(word: &str) -> bool {
    ["corrupt", "corrupted", "critical", "forbidden", "invalid", "severe", "unauthorized", "unreachable"]
        .contains(&word)
}

/// Returns whether what follows the name of trouble makes it the subject of a sentence, or part of another name.
fn is_mentioned(after: &str, second: &str) -> bool {
    #[rustfmt::skip]
    const FOLLOWERS: [&str; 27] = [
        "and", "are", "can", "class", "classes", "code", "codes", "count", "handler", "handlers", "handling", "is",
        "level", "levels", "log", "logs", "may", "message", "messages", "must", "occur", "occurs", "or", "page",
        "pages", "was", "will",
    ];
    after.is_empty() || after.starts_with([',', '.']) || FOLLOWERS.contains(&second)
}

/// Returns whether a word means that there is nothing to worry about.
fn is_fine(word: &str) -> bool {
    #[rustfmt::skip]
    let fine = [
        "ok", "pass", "passed", "passing", "changed", "skipping", "skipped", "included", "waiting", "note", "help",
        "hint", "info", "debug", "trace", "compiling", "checking", "downloading", "downloaded", "installing",
    ];
    fine.iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// Returns what a word at the beginning of a clause means by itself.
fn by_name(word: &str) -> Option<Trouble> {
    let mut letters = [0; 16];
    let small = letters.get_mut(..word.len())?;
    small.copy_from_slice(word.as_bytes());
    small.make_ascii_lowercase();
    match &*small {
        b"error" | b"errors" | b"err" | b"failed" | b"failure" | b"failures" | b"fail" | b"fails" | b"failing"
        | b"fatal" | b"panic" | b"panicked" | b"exception" | b"crash" | b"crashed" | b"abort" | b"aborted"
        | b"aborting" | b"denied" | b"unreachable" | b"killed" | b"segfault" | b"deadlock" | b"corrupt"
        | b"corrupted" | b"traceback" | b"cannot" | b"can't" | b"couldn't" | b"unable" | b"oom" | b"rejected"
        | b"unauthorized" | b"forbidden" | b"unresolved" | b"emergency" | b"critical" | b"unhandled" | b"uncaught"
        | b"severe" | b"invalid" => Some(Trouble::Error),
        b"warning" | b"warnings" | b"warn" | b"deprecated" => Some(Trouble::Warning),
        _ => None,
    }
}

/// Recognises the name of an error type before its message: `ValueError`, `java.io.IOException`, `DeprecationWarning`.
fn of_type(first: &str, after: &str) -> Option<Trouble> {
    let says = after.is_empty() || after.starts_with(" [");
    let name = first.rsplit('.').next().unwrap_or(first);
    if !says || name.contains('_') || !name.starts_with(|c: char| c.is_ascii_uppercase()) {
        return None;
    }
    match name {
        _ if name.ends_with("Error") || name.ends_with("Exception") => Some(Trouble::Error),
        _ if name.ends_with("Warning") => Some(Trouble::Warning),
        _ => None,
    }
}

/// Returns whether a clause is a phrase with which systems report a failed call.
fn is_phrase(clause: &str) -> bool {
    #[rustfmt::skip]
    let phrases = [
        "permission denied", "access denied", "connection refused", "connection reset", "connection timed out",
        "timed out", "no such ", "command not found", "not found", "could not ", "out of memory", "segmentation fault",
        "no space left", "operation not permitted", "address already in use", "broken pipe", "gave up", "core dumped",
        "link is down",
    ];
    let begins = |phrase: &&str| clause.get(..phrase.len()).is_some_and(|start| start.eq_ignore_ascii_case(phrase));
    phrases.iter().any(begins)
}

/// Returns whether a clause can precede a verdict: a name, a place, a few words; not source text and not a sentence.
fn may_lead(clause: &str) -> bool {
    let mut words = clause.split_ascii_whitespace();
    let one = words.next().is_some() && words.next().is_none();
    let few = clause.split_ascii_whitespace().count() <= MAX_WORDS_BEFORE;
    let quoted = clause.starts_with(['"', '{']);
    !quoted && (one || few && !clause.contains(['(', '{', ';', '=', '<', '"', '|']))
}

/// Recognises `exit code 2`, `exited with code 1` and `exit status 101`, but not code 0.
fn is_exit(head: &str) -> bool {
    let Some(at) = head.find("exit") else { return false };
    if head.contains('"') || head[..at].contains(['{', '(']) {
        return false;
    }
    let said = head[at..].split([' ', '(', ',']).skip(1).take(3);
    let mut before = "exit";
    for word in said {
        if let Some((count, rest)) = number(word)
            && matches!(before, "code" | "code:" | "status" | "status:" | "exit" | "exited")
        {
            return count > 0 && count < 256 && !rest.starts_with(|c: char| c.is_ascii_alphanumeric());
        }
        before = word;
    }
    false
}

/// Returns whether the rest says that there are none: `errors: 0`, `error=null`.
fn is_none(after: &str) -> bool {
    let Some(value) = after.strip_prefix(['=', ':']) else { return false };
    let value = value.trim_start().trim_start_matches(['"', '\'']);
    let end = value.bytes().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(value.len());
    ["0", "null", "nil", "none", "None", "false", "no", "undefined"].contains(&&value[..end]) || value.starts_with("[]")
}
