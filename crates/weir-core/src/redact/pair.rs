//! Finds the value that a name announces: `client_secret = …`, `"apiKey": "…"`, `PGPASSWORD=…`, `--token …`.
//!
//! Invariant: only the value is the finding, without quotes; name and quotes stay.

use std::ops::Range;

use super::class::{ALPHA, DIGIT, LOWER, UPPER, URL64, WORD};
use super::names::{ANY_KEY, Key, OTHER_KEYS, PUBLIC, Strictness, TAILS, UUID_SECRETS};
use super::rules::{GENERIC_SECRET, PASSWORD};
use super::value;
use super::window::Window;

/// Maximum length of a name, in bytes. Longer runs of letters are something else.
const MAX_NAME_BYTES: usize = 64;
/// Maximum length of a value, in bytes. Longer values are data.
const MAX_VALUE_BYTES: usize = 8192;
/// Maximum length of a password without quotes, in bytes. People do not type longer ones, and much text would be read
/// more than once.
const MAX_BARE_PASSWORD_BYTES: usize = 256;

/// Minimum length of a password among other words, in bytes. Shorter ones are names of algorithms and types.
const MIN_WORD_BYTES: usize = 8;

/// Returns the secret that the name with `key` at `at` announces, and the rule that found it.
pub(super) fn find(window: &Window, key: &Key, at: usize) -> Option<(&'static str, Range<usize>)> {
    let name = name_around(window, key, at)?;
    let value_start = separator_end(window, &name)?;
    if is_public(window, &name) {
        return None;
    }
    let value = value_at(window, value_start, key.strictness)?;
    let between = window.slice(name.end..value.range.start);
    // Tests print `pass: …` for what has passed.
    if key.stem == "pass" && !between.contains(&b'=') {
        return None;
    }
    if between.contains(&b',') && (value.style != Style::Quoted || !is_argument(window, key, &name)) {
        return None;
    }
    let rule = judge(key, window.slice(name), value.style, window.slice(value.range.clone()))?;
    Some((rule, value.range))
}

/// Returns whether a quoted name before a comma is an argument whose value follows, as in `header("X-API-Key", "…")`
/// and `["--password", "…"]`, and not one of a list of names.
fn is_argument(window: &Window, key: &Key, name: &Range<usize>) -> bool {
    let text = window.slice(name.clone());
    let quote = window.run_while_back(name.start, 8, |byte| is_quote(byte) || byte == b'\\');
    let is_first = matches!(window.before(window.run_while_back(quote, 8, |byte| byte == b' ')), Some(b'(' | b'['));
    let is_variable = text.contains(&b'_') && !LOWER.has_any(text);
    text.starts_with(b"--") || (is_first && (is_variable || key.strictness == Strictness::Random))
}

/// Returns the whole name around a stem, as written: `--db-password`, `clientSecret`.
fn name_around(window: &Window, key: &Key, at: usize) -> Option<Range<usize>> {
    let before = window.before(at);
    let is_glued = before.is_some_and(|byte| ALPHA.has(byte));
    let is_camel = before.is_some_and(|byte| LOWER.has(byte)) && window.byte(at).is_some_and(|byte| UPPER.has(byte));
    if is_glued && !is_camel && !key.glued {
        return None;
    }
    let end = tail_end(window, at + key.stem.len())?;
    let is_parameter = matches!(window.byte(at), Some(b'?' | b'&'));
    Some(if is_parameter { at + 1 } else { window.run_back(at, URL64, MAX_NAME_BYTES) }..end)
}

/// Returns the end of the name, if everything after the stem is known not to change its meaning.
fn tail_end(window: &Window, stem_end: usize) -> Option<usize> {
    let mut at = stem_end;
    while at - stem_end < MAX_NAME_BYTES {
        let next = window.byte(at);
        let is_joint = next.is_some_and(|byte| byte == b'_' || byte == b'-');
        if !is_joint && !next.is_some_and(|byte| WORD.has(byte)) {
            return Some(at);
        }
        let word = at + usize::from(is_joint);
        let digits = window.run(word, DIGIT, 4);
        at = if digits > word {
            digits
        } else {
            word + TAILS.iter().find(|tail| window.has_folded(word, tail.as_bytes()))?.len()
        };
    }
    None
}

/// Returns whether the name or the words before it say that the value is public: `Next page token: …`.
fn is_public(window: &Window, name: &Range<usize>) -> bool {
    let (start, end) = (name.start, name.end);
    let is_prose = window.byte(end) == Some(b':') && window.before(start) == Some(b' ');
    let from = if is_prose { window.run_while_back(start, 24, |byte| byte == b' ' || URL64.has(byte)) } else { start };
    let words = window.slice(from..end);
    PUBLIC.iter().any(|word| has_component(words, word.as_bytes()))
}

/// Returns whether `word` is one of the words that `name` consists of: `page` in `nextPageToken`, but not in
/// `PAGER_TOKEN`.
fn has_component(name: &[u8], word: &[u8]) -> bool {
    let meets = |left: u8, right: u8| !ALPHA.has(left) || !ALPHA.has(right) || (LOWER.has(left) && UPPER.has(right));
    (0..name.len()).any(|at| {
        let rest = &name[at..];
        rest.get(..word.len()).is_some_and(|part| part.eq_ignore_ascii_case(word))
            && (at == 0 || meets(name[at - 1], name[at]))
            && rest.get(word.len()).is_none_or(|&next| meets(rest[word.len() - 1], next))
    })
}

/// Where a value would begin, and how it was announced.
#[derive(Clone, Copy)]
struct ValueStart {
    at: usize,
    style: Style,
}

/// How a value is written, which decides how a weak password is distinguished from a name or a type.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Style {
    /// In quotes: a string.
    Quoted,
    /// Between `<name>` and `</`: also a string.
    Element,
    /// Bare after `NAME=` without blanks, as in a shell.
    Env,
    /// Bare after `NAME=` at the beginning of a line, as in an `.env` file.
    File,
    /// Bare and alone on the line, as in YAML.
    Line,
    /// Bare, and followed by a blank, as in a message.
    Word,
    /// Bare among other text, as in code.
    Bare,
}

fn separator_end(window: &Window, name: &Range<usize>) -> Option<ValueStart> {
    let (start, end) = (name.start, name.end);
    if window.before(start) == Some(b'<') && window.byte(end) == Some(b'>') {
        return Some(ValueStart { at: end + 1, style: Style::Element });
    }
    let after_quote = skip_quote(window, end);
    let after_bracket = after_quote + usize::from(window.byte(after_quote) == Some(b']'));
    let at = window.skip_blanks(after_bracket);
    let first = window.byte(at)?;
    let is_string = after_quote > end;
    let length = match (first, window.byte(at + 1)) {
        // A setting in XML: `name="…" value="…"` or `name="…">…</`.
        (b'v', _) if is_string && at > after_quote && window.has(at, b"value=") => "value=".len(),
        (b'>', _) if is_string && window.follows(start.saturating_sub(1), b"name=") => {
            return Some(ValueStart { at: at + 1, style: Style::Element });
        }
        // The arguments of a function: `header("X-API-Key", "…")`.
        (b',', _) if is_string => 1,
        // A comparison, or a path in a programming language.
        (b'=', Some(b'=' | b'~' | b':')) | (b':', Some(b':')) => return None,
        (b'=', Some(b'>')) | (b':' | b'?', Some(b'=')) => 2,
        (b'=' | b':', _) => 1,
        (b'|', _) if is_in_table(window, start) => {
            return Some(ValueStart { at: window.skip_blanks(at + 1), style: Style::Line });
        }
        // A flag and its argument.
        _ if at > end && window.has(start, b"--") => 0,
        _ if at > end && (is_statement(window, name, first) || is_set(window, name)) => 0,
        _ => return None,
    };
    let value = window.skip_blanks(at + length);
    if first == b':' && length == 1 {
        let value = next_line(window, value).unwrap_or(value);
        return Some(ValueStart { at: after_type(window, value).unwrap_or(value), style: Style::Bare });
    }
    let is_tight = first == b'=' && at == end && value == at + 1;
    let style = match is_tight || length == 0 {
        true if is_tight && is_variable(window, name) => Style::File,
        true => Style::Env,
        false => Style::Bare,
    };
    Some(ValueStart { at: value, style })
}

fn is_variable(window: &Window, name: &Range<usize>) -> bool {
    matches!(window.before(name.start), None | Some(b'\n')) && !LOWER.has_any(window.slice(name.clone()))
}

/// Returns whether the name that begins at `start` is a cell of a table.
fn is_in_table(window: &Window, start: usize) -> bool {
    let cell = window.run_while_back(start, 16, |byte| byte == b' ');
    window.before(cell) == Some(b'|')
}

/// Returns whether a command that sets a variable precedes the name: `ENV` in a Dockerfile, `setenv`, `set -x`.
fn is_set(window: &Window, name: &Range<usize>) -> bool {
    let line = window.run_while_back(name.start, 16, |byte| byte != b'\n');
    let command = window.slice(line..name.start).trim_ascii();
    matches!(command, b"ENV" | b"setenv" | b"set -x" | b"set -gx" | b"set -Ux")
}

/// Returns whether a value follows the name without a sign between them: `WITH PASSWORD '…'` in SQL, `machine host
/// login me password …` in a `.netrc`.
fn is_statement(window: &Window, name: &Range<usize>, first: u8) -> bool {
    const MAX_DISTANCE_BYTES: usize = 256;
    if !window.has_folded(name.start, b"password") || name.len() != "password".len() {
        return false;
    }
    let before = window.slice(window.run_while_back(name.start, MAX_DISTANCE_BYTES, |_| true)..name.start);
    let has = |word: &[u8]| before.windows(word.len()).any(|part| part.eq_ignore_ascii_case(word));
    let line = before.rsplit(|&byte| byte == b'\n').next().unwrap_or_default().trim_ascii();
    let follows = |word: &[u8]| line.len() >= word.len() && line[line.len() - word.len()..].eq_ignore_ascii_case(word);
    let begins = |word: &[u8]| line.get(..word.len()).is_some_and(|part| part.eq_ignore_ascii_case(word));
    let is_netrc = has(b"login ") || (begins(b"machine ") && line.split(u8::is_ascii_whitespace).count() == 2);
    match first {
        b'\'' => follows(b"with") || follows(b"encrypted") || begins(b"alter ") || begins(b"create "),
        _ => is_netrc && (has(b"machine ") || has(b"default ")) && !has(b"login anonymous"),
    }
}

/// Returns where a value on the next line begins. YAML allows this if the value is indented further.
fn next_line(window: &Window, at: usize) -> Option<usize> {
    let line_end = at + usize::from(window.byte(at) == Some(b'\r'));
    let line = line_end + 1;
    let value = if window.byte(line_end) == Some(b'\n') { window.skip_blanks(line) } else { return None };
    (value > line).then_some(value)
}

/// Returns where the quoted value of a typed constant begins: `TOKEN: &'static str = "…"`.
fn after_type(window: &Window, at: usize) -> Option<usize> {
    let end = window.run_while(at, 40, |byte| WORD.has(byte) || b" &'<>[]|.:?".contains(&byte));
    let value = window.skip_blanks(end + 1);
    let quote = window.run(value, ALPHA, 2);
    (window.byte(end) == Some(b'=') && window.byte(quote).is_some_and(is_quote)).then_some(value)
}

struct ValueMatch {
    range: Range<usize>,
    style: Style,
}

fn value_at(window: &Window, value_start: ValueStart, strictness: Strictness) -> Option<ValueMatch> {
    // Some languages put a letter or two before a quote: `b"…"`, `r"…"`.
    let prefix_end = window.run(value_start.at, ALPHA, 2);
    for at in [value_start.at, prefix_end] {
        let inside = skip_quote(window, at);
        if inside > at {
            return quoted(window, at, inside);
        }
    }
    match strictness {
        Strictness::Random => bare_random(window, value_start),
        Strictness::Password => bare_password(window, value_start),
    }
}

/// Skips a quote, which may be escaped, even repeatedly, as in JSON within JSON.
fn skip_quote(window: &Window, at: usize) -> usize {
    let quote = window.run_while(at, 7, |byte| byte == b'\\');
    if window.byte(quote).is_some_and(is_quote) { quote + 1 } else { at }
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'"' | b'\'' | b'`')
}

/// Returns the value whose opening quote, with its backslashes, is `at..inside`. It has no blanks: text with blanks is
/// prose.
fn quoted(window: &Window, at: usize, inside: usize) -> Option<ValueMatch> {
    let quote = window.byte(inside - 1)?;
    let escapes = inside - 1 - at;
    let mut end = inside;
    let mut slashes = 0;
    while end - inside < MAX_VALUE_BYTES {
        let byte = window.byte(end).filter(|&byte| byte > b' ')?;
        if byte == quote && slashes <= escapes {
            let range = inside..end - slashes;
            return (slashes == escapes && !range.is_empty()).then_some(ValueMatch { range, style: Style::Quoted });
        }
        slashes = if byte == b'\\' { slashes + 1 } else { 0 };
        end += 1;
    }
    None
}

/// Returns a random value without quotes. It may contain `=` only at its end.
fn bare_random(window: &Window, value_start: ValueStart) -> Option<ValueMatch> {
    let equals = bare_end(window, value_start, MAX_VALUE_BYTES, |byte| byte != b'=')?;
    let end = window.run_while(equals, 3, |byte| byte == b'=');
    let is_ended = !window.byte(end).is_some_and(|byte| WORD.has(byte) || byte == b'=');
    let value = value_start.at..without_stop(window, value_start.at, end, b".,:!?");
    (is_ended && !value.is_empty()).then_some(ValueMatch { range: value, style: value_start.style })
}

fn bare_password(window: &Window, value_start: ValueStart) -> Option<ValueMatch> {
    let is_whole_line = |end: usize| matches!(window.byte(window.skip_blanks(end)), None | Some(b'\n' | b'\r'));
    if value_start.style == Style::File {
        // Any character may be part of the value, which is the rest of the line, unless it is a call.
        let range = value_start.at
            ..window.run_while(value_start.at, MAX_BARE_PASSWORD_BYTES, |byte| byte > b' ' && !is_quote(byte));
        if !range.is_empty() && is_whole_line(range.end) && window.before(range.end) != Some(b')') {
            return Some(ValueMatch { range, style: Style::File });
        }
    }
    let mut end = bare_end(window, value_start, MAX_BARE_PASSWORD_BYTES, |_| true)?;
    while matches!(value_start.style, Style::Env | Style::File) && is_part(window, end) {
        end = bare_end(window, ValueStart { at: end + 1, ..value_start }, MAX_BARE_PASSWORD_BYTES, |_| true)?;
    }
    if value_start.style == Style::Bare && matches!(window.byte(end), Some(b'&' | b'|')) {
        // These characters are only part of a password if it is alone on the line.
        let longer =
            window.run_while(end, MAX_BARE_PASSWORD_BYTES, |byte| byte > b' ' && !b"\"'`,;(){}[]<>\\".contains(&byte));
        end = if is_whole_line(longer) { longer } else { end };
    }
    let style = match value_start.style {
        Style::Bare if is_whole_line(end) => Style::Line,
        Style::Bare if window.byte(end) == Some(b' ') => Style::Word,
        style => style,
    };
    let stops: &[u8] = if matches!(value_start.style, Style::Env | Style::File) { b"" } else { b".,:" };
    let value = value_start.at..without_stop(window, value_start.at, end, stops);
    (!value.is_empty()).then_some(ValueMatch { range: value, style })
}

/// Whether the `&` at `at` is part of a password, and not the end of a field of a form (`a=b&c=d`), an entity (`&amp;`)
/// or a sign of a shell.
fn is_part(window: &Window, at: usize) -> bool {
    let end = window.run_while(at + 1, MAX_NAME_BYTES, |byte| URL64.has(byte) || b".[]%".contains(&byte));
    window.byte(at) == Some(b'&') && end > at + 1 && !matches!(window.byte(end), Some(b'=' | b';'))
}

/// Returns where a value without quotes ends, unless it turns out to be code: a call, an index, a literal of a type.
fn bare_end(window: &Window, value_start: ValueStart, most: usize, keep: impl Fn(u8) -> bool) -> Option<usize> {
    let is_code = |byte: u8| b"([{".contains(&byte);
    let ends = |byte: u8| byte <= b' ' || b"\"'`,;)}]<>&|\\".contains(&byte);
    let end = window.run_while(value_start.at, most, |byte| !ends(byte) && !is_code(byte) && keep(byte));
    let is_open = value_start.style == Style::Element && !window.has(end, b"</");
    (!is_open && !window.byte(end).is_some_and(is_code)).then_some(end)
}

/// Strips characters that end a sentence and do not belong to the value.
fn without_stop(window: &Window, start: usize, end: usize, stops: &[u8]) -> usize {
    window.run_while_back(end, end - start, |byte| stops.contains(&byte))
}

/// Returns the rule by which the value is a secret.
fn judge(key: &Key, name: &[u8], style: Style, value: &[u8]) -> Option<&'static str> {
    // Tokens that are UUIDs identify requests; of an environment variable, the value is a key like any other.
    let has_any = |words: &[&str]| words.iter().any(|word| has_component(name, word.as_bytes()));
    let is_number = key.stem == "token"
        && LOWER.has_any(name)
        && style != Style::Env
        && value::is_uuid(value)
        && !has_any(UUID_SECRETS);
    let is_other_key = key.stem == ANY_KEY && (LOWER.has_any(name) || has_any(OTHER_KEYS));
    let is_text = key.stem.starts_with(['?', '&']) && value.contains(&b'%');
    if is_number || is_other_key || is_text || names_itself(key, value) || value.starts_with(b"-----BEGIN") {
        return None;
    }
    let is_aws = has_component(name, b"aws") || key.stem.starts_with("access");
    if is_aws && value::is_aws_secret(value) {
        return Some("aws-secret-key");
    }
    if key.strictness == Strictness::Random {
        let is_scrambled = || key.stem == "secret" && style == Style::Quoted && value::is_scrambled(value);
        return (value::is_random(value) || is_scrambled()).then_some(GENERIC_SECRET);
    }
    // `DB_PASSWORD` is set to a password; `password` may also be set to a variable.
    let is_shouted = !LOWER.has_any(name);
    let may_be_weak = match style {
        Style::Quoted | Style::Element | Style::File => true,
        Style::Env | Style::Line => is_shouted || !value::is_member(value),
        Style::Word => value.len() >= MIN_WORD_BYTES && !value::is_wordy(value),
        Style::Bare => false,
    };
    let is_weak = may_be_weak && (value::is_password(value) || (is_shouted && value::is_plain_password(value)));
    (is_weak || value::is_random(value)).then_some(PASSWORD)
}

/// Returns whether the value is a name similar to the one it is assigned to, with a number at its end: `string_token2`.
fn names_itself(key: &Key, value: &[u8]) -> bool {
    let digits = value.iter().rev().take_while(|byte| DIGIT.has(**byte)).count();
    let word = &value[..value.len() - digits];
    WORD.has_all(value) && !DIGIT.has_any(word) && has_component(word, key.stem.as_bytes())
}
