//! Failures and their fixes. The slip of a tool is marked, since it says nothing about the work.
//!
//! The client and the exit code decide whether something failed, never the text of an output: "0 failed" is not a
//! failure, and a test may print "error" and pass.

use serde_json::{Value, json};
use weir_core::event::{LONGEST_TEXT, line};
use weir_core::wording::counted;
use weir_core::{Event, EventKind, Priority};

use super::shell::{self, CoveredCommands, SimpleCommand};
use super::{ToolUse, commands, data_of, event_with, failure_text, files, rejected, slips};
use crate::{Hook, Point, Tool, ToolCall};

/// The beginning of the text of a fix.
const PASSES: &str = "passes again: ";
/// The maximum number of changed files that count as a fix.
const MAX_FIXING_FILES: usize = 3;

/// Exit codes of a command that was interrupted, or whose reader closed the pipe.
const STOPPED_EXIT_CODES: &[i32] = &[130, 141];

/// Returns the error of a failed tool call.
pub(super) fn events(used: &ToolUse<'_>) -> Vec<Event> {
    if !used.failed() || rejected::is_refused(used) || is_answer(used) {
        return Vec::new();
    }
    let subject = subject(used);
    let exit = used.done.exit_code;
    let why = failure_text::failure_line(used.output);
    let text = match (why, exit) {
        (Some(why), _) => format!("{}: {why}", line(&subject, 120)),
        (None, Some(exit)) => format!("{}: exit code {exit}", line(&subject, 120)),
        (None, None) => format!("{}: failed", line(&subject, 120)),
    };
    let mut data = json!({ "subject": subject });
    if let Some(exit) = exit {
        data["exit"] = json!(exit);
    }
    let is_slip = slips::is_slip(used);
    if is_slip {
        data["slip"] = json!(true);
    }
    // Once the file is changed, the error is history.
    if let Some(path) = used.call.tool.path().filter(|path| !path.is_empty()) {
        data["file"] = json!(files::relative(used.hook, path));
    }
    let priority = if is_slip { Priority::P4 } else { priority(used) };
    vec![event_with(EventKind::Error, priority, &text, &data)]
}

/// Returns whether a hook may report fixes of errors, that is, whether a command succeeded.
pub fn may_fix(hook: &Hook) -> bool {
    let Point::AfterTool(ToolCall { tool: Tool::Shell { .. }, background: false, .. }, done) = &hook.point else {
        return false;
    };
    !done.failed
}

/// Returns the fixes of errors: the same commands now succeed. `failures` are the session's errors and fixes, newest
/// first.
pub fn fixes(hook: &Hook, failures: &[Event]) -> Vec<Event> {
    let Point::AfterTool(call, done) = &hook.point else { return Vec::new() };
    if failures.is_empty() {
        return Vec::new();
    }
    let (output, commands) = (done.output.text.brief(), commands(call));
    let used = ToolUse { hook, call, done, output: &output, commands: &commands };
    let Some(done) = succeeded(&used).filter(|_| !used.failed()) else { return Vec::new() };
    let (mut seen, mut fixes): (Vec<String>, Vec<Event>) = (Vec::new(), Vec::new());
    for newest in failures {
        let Some(subject) = subject_of(newest).filter(|subject| !seen.contains(subject)) else { continue };
        // A slip was no failure of the work, so nothing was repaired.
        let is_failure = newest.kind == EventKind::Error && data_of(newest)["slip"] != true;
        if is_failure && covers(&done, &subject) {
            fixes.push(fix(newest, &subject, failures));
        }
        seen.push(subject);
    }
    fixes
}

/// Returns the fix of the newest error of a subject.
fn fix(error: &Event, subject: &str, failures: &[Event]) -> Event {
    let of_subject = failures.iter().filter(|failure| subject_of(failure).as_deref() == Some(subject));
    let attempts = of_subject.take_while(|failure| failure.kind == EventKind::Error).count();
    let note = format!(" (after {})", counted(attempts, "attempt", "attempts"));
    let text = format!("{PASSES}{}{note}", line(&error.text, LONGEST_TEXT - PASSES.len() - note.len()));
    event_with(EventKind::Fix, Priority::P2, &text, &json!({ "subject": subject, "attempts": attempts }))
}

/// Adds to fixes what was changed since their failures. `recent` are the session's events, newest first.
pub fn explain_fixes(fixes: &mut [Event], recent: &[Event]) {
    for fix in fixes {
        let mut data = data_of(fix);
        let subject = data["subject"].clone();
        let is_failure = |event: &&Event| event.kind == EventKind::Error && data_of(event)["subject"] == subject;
        let mut files: Vec<String> = Vec::new();
        for change in recent.iter().take_while(|event| !is_failure(event)).filter(|event| is_change(event)) {
            let path = data_of(change)["path"].as_str().unwrap_or_default().to_owned();
            if !path.is_empty() && !files.contains(&path) {
                files.insert(0, path);
            }
        }
        // More than a few files are the work itself, not what repaired one failure.
        if files.is_empty() || files.len() > MAX_FIXING_FILES || !recent.iter().any(|event| is_failure(&event)) {
            continue;
        }
        let said = fix.text.strip_prefix(PASSES).unwrap_or(&fix.text);
        fix.text = line(&format!("passes again after a change of {}: {said}", files.join(", ")), LONGEST_TEXT);
        data["files"] = json!(files);
        fix.data = Some(data.to_string());
    }
}

fn is_change(event: &Event) -> bool {
    event.kind == EventKind::File && event.priority <= Priority::P3 && data_of(event)["how"] != "read"
}

/// Returns the subject of a tool call. Two calls with the same subject are two attempts at the same thing.
pub(super) fn subject(used: &ToolUse<'_>) -> String {
    let name = &used.call.name;
    match &used.call.tool {
        Tool::Shell { command } => {
            let CoveredCommands { commands, .. } = shell::covered_commands(used.commands);
            let covered = line(&commands.join(" && "), LONGEST_TEXT);
            [covered, shell::subject(used.commands), line(command, 200)]
                .into_iter()
                .find(|text| !text.is_empty())
                .unwrap_or_default()
        }
        Tool::Mcp { server, tool } => line(&format!("mcp {server}/{tool}"), 200),
        Tool::Search { pattern } => line(&format!("{name} {pattern}"), 200),
        Tool::Fetch { what } => line(&format!("{name} {what}"), 200),
        tool => match tool.path().filter(|path| !path.is_empty()) {
            Some(path) => line(&format!("{name} {}", files::relative(used.hook, path)), 320),
            None => line(name, 200),
        },
    }
}

/// Returns the priority of a failure. A failed read, search or fetch matters less than a failed command.
fn priority(used: &ToolUse<'_>) -> Priority {
    match &used.call.tool {
        Tool::Shell { .. } if used.commands.iter().any(builds_or_tests) => Priority::P1,
        Tool::Read { .. } | Tool::Search { .. } | Tool::Fetch { .. } => Priority::P3,
        _ => Priority::P2,
    }
}

fn builds_or_tests(part: &SimpleCommand) -> bool {
    let verb = part.verb();
    match part.program() {
        "cargo" | "go" | "dotnet" | "swift" | "zig" | "bazel" => {
            ["test", "build", "check", "clippy", "run", "vet", "bench", "nextest"].contains(&verb)
        }
        "npm" | "pnpm" | "yarn" | "bun" => ["test", "t", "run", "build", "lint", "exec", "typecheck"].contains(&verb),
        "make" | "ninja" | "cmake" | "just" | "mvn" | "gradle" | "gradlew" | "pytest" | "tox" | "jest" | "vitest"
        | "tsc" | "eslint" | "ruff" | "mypy" | "gcc" | "g++" | "clang" | "rustc" | "ctest" | "rspec" | "phpunit" => {
            true
        }
        "python" | "python3" => part.args().any(|word| word == "pytest" || word == "unittest"),
        _ => false,
    }
}

/// Returns whether the exit code is an answer and not a failure: nothing found, files differ, a test is false.
fn is_answer(used: &ToolUse<'_>) -> bool {
    let (Tool::Shell { .. }, Some(exit)) = (&used.call.tool, used.done.exit_code) else { return false };
    if STOPPED_EXIT_CODES.contains(&exit) {
        return true;
    }
    let Some(last) = used.commands.last().filter(|_| exit == 1) else { return false };
    let says_nothing = used.output.trim().is_empty();
    let has = |option: &str| last.args().any(|word| word == option);
    match last.program() {
        "test" | "[" | "[[" | "diff" | "cmp" | "which" | "type" | "pgrep" | "false" | "expr" => true,
        "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" | "zgrep" => says_nothing,
        "command" => has("-v"),
        "git" => match last.verb() {
            "grep" => says_nothing,
            "diff" | "diff-index" | "diff-files" => true,
            "merge-base" | "show-ref" | "check-ignore" | "ls-remote" | "rev-parse" | "config" => says_nothing,
            _ => false,
        },
        _ => false,
    }
}

/// Returns the commands that are known to have succeeded.
fn succeeded(used: &ToolUse<'_>) -> Option<Vec<String>> {
    let Tool::Shell { .. } = &used.call.tool else { return Some(vec![subject(used)]) };
    let CoveredCommands { commands, piped } = shell::covered_commands(used.commands);
    let output = used.output;
    // A filter succeeds whatever its input says, so only the text can tell.
    let doubtful = piped && (output.trim().is_empty() || failure_text::reports_failure(output));
    (!doubtful && !commands.is_empty()).then_some(commands)
}

/// Returns whether the commands that succeeded include every part of a subject.
fn covers(done: &[String], subject: &str) -> bool {
    subject.split(" && ").all(|part| done.iter().any(|done| done == part || selects_tests(part, done)))
}

/// Commands that run all tests, and options with which they run some of them.
const ALL_TESTS: &[&str] =
    &["cargo test", "cargo nextest run", "mix test", "npm test", "pytest", "python -m pytest", "python3 -m pytest"];
const SELECTORS: &[&str] = &["-p", "--package", "--lib", "--bin", "--test", "--doc", "-k", "--", "--exact", "-x", "-v"];

/// Returns whether a command runs some of the tests that another one runs, with no other difference.
fn selects_tests(some: &str, all: &str) -> bool {
    let is_selector = |word: &str| !word.starts_with('-') || SELECTORS.contains(&word);
    let more = some.strip_prefix(all).and_then(|more| more.strip_prefix(' '));
    ALL_TESTS.contains(&all) && more.is_some_and(|more| more.split(' ').all(is_selector))
}

fn subject_of(error: &Event) -> Option<String> {
    let data: Value = serde_json::from_str(error.data.as_deref()?).ok()?;
    data["subject"].as_str().filter(|subject| !subject.is_empty()).map(str::to_owned)
}
