//! Checks the counts with which a digest says what an output is, each counted in the simplest way.

use serde_json::Value;
use weir_digest::{Item, Page};

use super::{Output, Verdict, number};

pub(super) fn examine(output: &Output, page: &Page, verdict: &mut Verdict) {
    page.what.split("; ").for_each(|words| examine_words(output, words, verdict));
    examine_errors(page, verdict);
}

/// Checks `12 error lines` against the errors that are shown one by one.
fn examine_errors(page: &Page, verdict: &mut Verdict) {
    let parts = page.parts.iter().filter(|part| part.folded && part.name == "errors");
    let Some(part) = parts.clone().next().filter(|part| parts.count() == 1 && part.items.len() as u64 == part.total)
    else {
        return;
    };
    let of_item = |item: &Item| {
        let first = item.text.lines().next().unwrap_or_default();
        let said = first.strip_suffix(')').and_then(|text| text.rsplit_once(" (×"));
        said.and_then(|(_, count)| number(count)).map_or(1, |(count, _)| count)
    };
    let told: u64 = part.items.iter().map(of_item).sum();
    let words = if told == 1 { "1 error line".to_owned() } else { format!("{told} error lines") };
    // The very last line is among the last lines, whatever it says.
    let and_last = format!("{} error line", told + 1);
    verdict.rule("count", page.what.contains(&words) || page.what.contains(&and_last), || {
        format!("{told} error lines are told, and `{}` is said", page.what)
    });
}

/// Checks `git log: 3 commits, 2 authors`: each number followed by a word.
fn examine_words(output: &Output, words: &str, verdict: &mut Verdict) {
    let (kind, counts) = words.rsplit_once(": ").unwrap_or(("", words));
    let kind = kind.rsplit(": ").next().unwrap_or(kind);
    let (kind, counts) = counts.strip_prefix("table of ").map_or((kind, counts), |counts| ("table", counts));
    for claim in counts.split(", ") {
        let Some((count, unit)) = number(claim).and_then(|(count, unit)| Some((count, unit.strip_prefix(' ')?))) else {
            continue;
        };
        match known(output, kind, unit) {
            Some(found) => verdict.rule("count", found == count, || format!("{kind}: {claim}, but there are {found}")),
            // A total that the output itself states.
            None if output.raw.contains(&format!("{count} {}", unit.split(' ').next().unwrap_or_default())) => {
                verdict.right += 1;
            }
            None => verdict.unchecked += 1,
        }
    }
}

fn known(output: &Output, kind: &str, unit: &str) -> Option<u64> {
    let has = |text: &str| output.count(|line| line.contains(text));
    let starts = |text: &str| output.count(|line| line.starts_with(text));
    let unit = [" in ", " of ", " below ", " up to ", " between "]
        .iter()
        .fold(unit, |unit, end| unit.split(end).next().unwrap_or(unit));
    Some(match (kind, unit) {
        ("tests", "passed") => stated(output, "pass ", " passing")?,
        ("tests", "failed") => stated(output, "fail ", " failing").unwrap_or(0),
        ("git log", "commits") => starts_with_hash(output),
        ("git log, one line each", "commits") => output.count(|line| subject(line).is_some()),
        ("git log, one line each", "called \"Merge …\"") => {
            output.count(|line| subject(line).is_some_and(|subject| subject.starts_with("Merge ")))
        }
        // A list of files with their counts has no such lines.
        ("git diff", "files") => Some(has("diff --git ").max(has("diff --cc "))).filter(|count| *count > 0)?,
        // A builder repeats what failed between two rules.
        ("tsc", "errors" | "error") if !output.raw.contains("\n------\n") => {
            output.count(|line| line.contains(": error TS") || line.contains(" - error TS"))
        }
        ("pyright", "errors" | "error") => has(" - error: "),
        ("pyright", "warnings" | "warning") => has(" - warning: "),
        ("mypy", "errors" | "error") => output.count(|line| line.contains(": error: ") && line.contains(".py")),
        ("access log", "requests") => output.count(|line| line.contains("\" ") || line.contains("HTTP/")),
        ("JSON lines", "records") => output.count(|line| line.starts_with('{') && line.ends_with('}')),
        ("JSON", "records") => match output.json() {
            [Value::Array(elements)] => elements.len() as u64,
            _ => return None,
        },
        ("JSON", "values" | "value") => Some(output.json().iter().map(nodes).sum()).filter(|count| *count > 0)?,
        ("java", "exceptions" | "exception") => java_traces(output)?,
        ("node", "stack traces" | "stack trace") => node_traces(output),
        ("python", "tracebacks" | "traceback") => python_traces(output)?,
        // In a run of tests, panics are failures of tests.
        ("rust", "panics" | "panic")
            if !output.raw.contains("test result: ") && !output.raw.contains("Nextest run") =>
        {
            output.count(|line| line.contains("thread '") && line.contains(" panicked at "))
        }
        ("cargo", "crates compiled" | "crate compiled") => starts("Compiling "),
        ("cargo", "crates checked" | "crate checked") => starts("Checking "),
        ("tree", "entries" | "entry") => output.count(|line| BRANCHES.iter().any(|branch| line.contains(branch))),
        _ => return None,
    })
}

/// The signs before an entry of a tree.
const BRANCHES: [&str; 9] = ["├── ", "└── ", "├──\u{a0}", "└──\u{a0}", "|-- ", "`-- ", "├─ ", "└─ ", "+-- "];

/// Returns the number that the last line of totals states: `# pass 163`, `58 passing`.
fn stated(output: &Output, before: &str, after: &str) -> Option<u64> {
    let number = |line: &String| {
        let text = line.trim_start_matches(['#', 'ℹ', ' ']);
        let count = text.strip_prefix(before).or_else(|| text.split_once(after).map(|(count, _)| count))?;
        count.trim().parse().ok()
    };
    output.lines.iter().rev().find_map(number)
}

/// Counts lines with `commit` or `Commit:` and a full hash.
fn starts_with_hash(output: &Output) -> u64 {
    let name = |line: &str| {
        ["commit ", "Commit: ", "From "].iter().find_map(|word| hash(line.strip_prefix(word)?).map(str::len))
    };
    output.count(|line| name(line) == Some(40))
}

/// Returns the text after the hash of a commit, possibly after a graph. A reference is not a commit.
fn subject(line: &str) -> Option<&str> {
    let text = line.trim_start_matches(['*', '|', '/', '\\', ' ', '_', '-', '.']);
    let rest = text[hash(text)?.len()..].trim_start();
    (!rest.contains("refs/heads/") && !rest.contains("refs/tags/") && !rest.contains("refs/remotes/")).then_some(rest)
}

fn hash(text: &str) -> Option<&str> {
    let word = text.split(' ').next()?;
    let is_name = (7..=40).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_name.then_some(word)
}

/// Counts the values of a document: itself, and those in it.
fn nodes(value: &Value) -> u64 {
    match value {
        Value::Array(values) => 1 + values.iter().map(nodes).sum::<u64>(),
        Value::Object(fields) => 1 + fields.values().map(nodes).sum::<u64>(),
        _ => 1,
    }
}

/// Counts runs of frames. Causes and what they leave out continue a run, and a dump of threads has none.
fn java_traces(output: &Output) -> Option<u64> {
    if output.raw.contains("Full thread dump") {
        return None;
    }
    let places = [".java:", ".kt:", ".scala:", ".groovy:", ".clj:", "Native Method", "Unknown Source", "<generated>"];
    let (mut count, mut inside) = (0, false);
    for line in &output.lines {
        let text = after_prefix(line);
        let is_frame = text.starts_with("at ") && text.contains('(') && places.iter().any(|place| text.contains(place));
        let goes_on =
            ["Caused by: ", "Suppressed: ", "Wrapped by: ", "... ", "[CIRCULAR"].iter().any(|it| text.starts_with(it));
        count += u64::from(is_frame && !inside);
        inside = is_frame || inside && goes_on;
    }
    Some(count)
}

/// Counts runs of frames. Fields in braces, causes and rows of dashes continue a run.
fn node_traces(output: &Output) -> u64 {
    let (mut count, mut inside, mut depth) = (0, false, 0_usize);
    for line in &output.lines {
        let text = after_prefix(line);
        let is_frame = text.starts_with("at ") && is_script(text.trim_end_matches([' ', '{', ',']));
        // The errors of an aggregate are printed before its own frames, if it has any.
        let is_aggregate = !inside && text.contains("AggregateError") && text.ends_with('{');
        count += u64::from(is_aggregate || is_frame && !inside);
        let goes_on = depth > 0 || ["... ", "[... ", "at ", "Emitted '"].iter().any(|start| text.starts_with(start));
        let goes_on = goes_on || text.trim_matches('-').is_empty();
        inside = is_aggregate || is_frame || inside && goes_on;
        if inside {
            depth += usize::from(text.ends_with(['{', '[']));
            depth -= usize::from(text.starts_with(['}', ']'])).min(depth);
        } else {
            depth = 0;
        }
    }
    count
}

/// Returns whether a frame ends with a line and a column in a script.
fn is_script(frame: &str) -> bool {
    let place = frame.trim_end_matches(')').rsplit([' ', '(']).next().unwrap_or_default();
    let mut pieces = place.rsplit(':');
    let digits =
        |piece: Option<&str>| piece.is_some_and(|piece| !piece.is_empty() && piece.bytes().all(|b| b.is_ascii_digit()));
    let is_place = digits(pieces.next()) && digits(pieces.next());
    let path = pieces.next().unwrap_or_default();
    let foreign = [".rs", ".go", ".c", ".h", ".cc", ".cpp", ".java", ".py", ".rb", ".zig"];
    is_place && !foreign.iter().any(|end| path.ends_with(end)) || frame.ends_with("(<anonymous>)")
}

/// Counts tracebacks, except those that continue a chain or belong to a group.
fn python_traces(output: &Output) -> Option<u64> {
    const HEAD: &str = "Traceback (most recent call last):";
    if output.raw.contains("Fatal Python error") {
        return None;
    }
    let mut count = 0;
    let mut before = "";
    for line in output.lines.iter().map(String::as_str).filter(|line| !line.is_empty()) {
        if let Some((prefix, _)) = line.split_once(HEAD) {
            let chained =
                before.contains("direct cause of the following") || before.contains("During handling of the above");
            let inside = prefix.trim_start().starts_with('|');
            count += u64::from(!chained && !inside);
        }
        before = line;
    }
    Some(count)
}

/// Returns a line without the time, or the name of a service, that precedes every line.
fn after_prefix(line: &str) -> &str {
    let is_time = |word: &str| word.len() > 10 && word.contains('T') && word.contains(':') && word.ends_with('Z');
    match line.split_once(' ') {
        Some((word, rest)) if is_time(word) => rest,
        _ => line.split_once(" | ").filter(|(name, _)| !name.contains(' ')).map_or(line, |(_, rest)| rest),
    }
}
