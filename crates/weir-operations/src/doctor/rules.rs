//! Names what rules files of the project mention in code, does not exist, and has made calls fail.
//!
//! Invariants: a path is looked up only below the project; nothing is reported that no recorded call failed on.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::Path;

use weir_context::{Context, LockedStores};
use weir_core::wording::{counted, name};
use weir_core::{EventKind, Scope};
use weir_store::{HistoryFilter, Moment};

use super::{Check, memory};

const NAME: &str = "rules";
/// Number of the newest failures that are looked at.
const MAX_FAILURES: usize = 5_000;
const MAX_NAME_CHARS: usize = 80;

/// What programs and clients say if there is no such file.
const NO_FILE: &[&str] = &["does not exist", "No such file", "no such file", "not found", "cannot find", "Cannot find"];
/// What shells and runners say if there is no such command or task. A command that is there may not find something else.
const NO_COMMAND: &[&str] = &[
    "command not found", "unknown command", "Unknown command", "no task", "No rule to make", "Missing script",
    "no such command",
];

/// Returns a check for every such path or command.
pub(super) fn check(context: &Context, open: &mut LockedStores<'_>) -> Vec<Check> {
    let root = &context.project().root;
    let mut named = BTreeMap::new();
    for (file, text) in memory::of_project(context) {
        for (words, line) in code(&text) {
            named.entry(words).or_insert_with(|| (file.clone(), line));
        }
    }
    if named.is_empty() {
        return Vec::new();
    }
    let filter = HistoryFilter { kind: Some(EventKind::Error), limit: MAX_FAILURES, ..HistoryFilter::default() };
    let scope = Scope::project(context.project().key.clone());
    let Ok(failures) = open.project().and_then(|store| Ok(store.history(&scope, &filter)?)) else { return Vec::new() };
    let says = |failure: &Moment, said: &[&str]| said.iter().any(|said| failure.logged.event.text.contains(said));
    let check = |(words, (file, line)): (String, (String, usize))| {
        let is_path = !words.contains(' ');
        if is_path && !is_missing(root, &words) {
            return None;
        }
        let is_of_command = |failure: &Moment| {
            failure.logged.event.text.strip_prefix(words.as_str()).is_some_and(|rest| rest.starts_with(':'))
        };
        let fails = |failure: &&Moment| match is_path {
            true => says(failure, NO_FILE) && has_path(&failure.logged.event.text, &words),
            false => says(failure, NO_COMMAND) && is_of_command(failure),
        };
        let sessions: BTreeSet<_> = failures
            .iter()
            .filter(fails)
            .map(|failure| failure.logged.session.as_ref().map(|session| &session.key))
            .collect();
        let often = counted(sessions.len(), "session", "sessions");
        let what = name(&words, MAX_NAME_CHARS);
        let text = match is_path {
            true => format!("{file} names {what} (line {line}), which does not exist: calls failed on it in {often}"),
            false => format!("{file} names {what} (line {line}), which was not found in {often}"),
        };
        (!sessions.is_empty()).then(|| Check::wrong(NAME, text, fix(root, &words)))
    };
    named.into_iter().filter_map(check).collect()
}

/// Returns what to do about a path or command.
fn fix(root: &Path, words: &str) -> String {
    let path = Path::new(words);
    let folder = root.join(path.parent().unwrap_or(Path::new("")));
    let similar = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    let similar =
        similar.filter(|other| Path::new(other).file_stem() == path.file_stem() && path.extension().is_some());
    match similar.min() {
        Some(other) => format!("correct the line: there is {}", name(&other.to_string_lossy(), MAX_NAME_CHARS)),
        None => "correct the line".to_owned(),
    }
}

/// Returns the paths and commands in the code of a text, with their lines.
fn code(text: &str) -> Vec<(String, usize)> {
    let (mut found, mut fenced) = (Vec::new(), false);
    for (at, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            continue;
        }
        let spans: Vec<&str> = if fenced {
            vec![line.split(" #").next().unwrap_or(line)]
        } else {
            line.split('`').skip(1).step_by(2).collect()
        };
        let spans =
            spans.into_iter().map(|span| span.trim().trim_end_matches('/')).filter(|span| is_path_or_command(span));
        found.extend(spans.map(|span| (span.to_owned(), at + 1)));
    }
    found
}

/// Returns whether code may be a relative path or a command with arguments, and has nothing to be filled in.
fn is_path_or_command(span: &str) -> bool {
    let is_plain =
        !span.contains(['<', '>', '*', '{', '$', '…', '[', '(', '"', '\'', '=', '|', '\\']) && !span.contains("...");
    let is_path = memory::is_relative(span) && span.contains(['/', '.']) && !span.contains(char::is_whitespace);
    let is_command = span.contains(' ') && span.starts_with(|c: char| c.is_ascii_lowercase());
    is_plain && span.len() > 3 && (is_path || is_command)
}

fn is_missing(root: &Path, path: &str) -> bool {
    let full = memory::plain(&root.join(path)).filter(|full| full.starts_with(root));
    full.is_some_and(|full| std::fs::symlink_metadata(full).is_err_and(|error| error.kind() == ErrorKind::NotFound))
}

/// Returns whether a text names this path, and not a longer one.
fn has_path(text: &str, path: &str) -> bool {
    let is_part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || "_-/.".contains(c));
    text.match_indices(path).any(|(at, _)| {
        let after = text[at + path.len()..].trim_start_matches('/');
        let ends = !after.starts_with(|c: char| c.is_alphanumeric() || "_-".contains(c));
        ends && !is_part(text[..at].chars().next_back())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_commands_are_found_in_code() {
        let text = "Lint with `.golangci.yml`, see `cmd/tool/commands/`, `NAME` and `a.b(c)`.\n\
                    ```\nmise run test:all   # everything\ngo test ./<package>\n```\nRun `make lint` or docs/a.md.";
        let expected = [(".golangci.yml", 1), ("cmd/tool/commands", 1), ("mise run test:all", 3), ("make lint", 6)];
        assert_eq!(code(text), expected.map(|(words, line)| (words.to_owned(), line)));
    }

    #[test]
    fn a_path_is_told_from_a_longer_one() {
        assert!(has_path("Read .golangci.yml: File does not exist.", ".golangci.yml"));
        assert!(has_path("ls cmd/commands/: No such file", "cmd/commands"));
        assert!(!has_path("Read x/.golangci.yml: File does not exist.", ".golangci.yml"));
        assert!(!has_path("Read cmd/commands_test: does not exist", "cmd/commands"));
    }

    #[test]
    fn a_similar_file_is_named() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(".golangci.yaml"), "").unwrap();
        assert!(is_missing(folder.path(), ".golangci.yml"));
        assert!(!is_missing(folder.path(), "../outside.yml"));
        assert_eq!(fix(folder.path(), ".golangci.yml"), "correct the line: there is .golangci.yaml");
        assert_eq!(fix(folder.path(), "gone/commands"), "correct the line");
    }
}
