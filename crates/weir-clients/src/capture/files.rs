//! Files that were read, changed or searched.

use std::path::{Component, Path, PathBuf};

use serde_json::{Value, json};
use weir_core::event::line;
use weir_core::{Event, EventKind, Priority};

use super::shell::{self, SimpleCommand};
use super::{ToolUse, event, event_with, rules};
use crate::{Hook, Tool, ToolCall};

const MAX_PATH_BYTES: usize = 300;
const MAX_FILES: usize = 40;

/// Returns the events about files. A call that failed has none.
pub(super) fn events(used: &ToolUse<'_>) -> Vec<Event> {
    if used.failed() {
        return Vec::new();
    }
    let one = |how, path: &str| vec![file(used.hook, how, path)];
    match &used.call.tool {
        // Rules files have an event kind of their own.
        Tool::Read { path, .. } if rules::is_rules(path) => Vec::new(),
        Tool::Read { path, .. } if !path.is_empty() => one("read", path),
        Tool::Edit { path } | Tool::Write { path } if path.is_empty() => patched(used.hook, used.call),
        Tool::Edit { path } => one("edited", path),
        Tool::Write { path } => one("wrote", path),
        Tool::Search { pattern } => {
            let text = format!("searched for {pattern}");
            vec![event(EventKind::File, Priority::P4, &text)]
        }
        Tool::Shell { .. } => {
            let mut events = patched(used.hook, used.call);
            events.extend(written(used));
            events
        }
        Tool::Other => patched(used.hook, used.call),
        _ => Vec::new(),
    }
}

/// Returns a path relative to the session's folder if it is below that folder.
pub(super) fn relative(hook: &Hook, path: &str) -> String {
    let below =
        Path::new(path).strip_prefix(&hook.folder).ok().and_then(Path::to_str).filter(|below| !below.is_empty());
    line(below.unwrap_or(path).trim_start_matches("./"), MAX_PATH_BYTES)
}

fn file(hook: &Hook, how: &str, path: &str) -> Event {
    let path = relative(hook, path);
    let priority = if how == "read" { Priority::P4 } else { Priority::P2 };
    event_with(EventKind::File, priority, &format!("{how} {path}"), &json!({ "path": path, "how": how }))
}

/// Returns the files of a patch in Codex's format, given to a tool or to a command.
fn patched(hook: &Hook, call: &ToolCall) -> Vec<Event> {
    let texts = ["input", "patch", "command", "patchText"].iter().filter_map(|key| text(&call.input[*key]));
    let Some(patch) = texts.into_iter().find(|text| text.contains("*** Begin Patch")) else { return Vec::new() };
    let files = patch.lines().filter_map(patched_file).take(MAX_FILES);
    files.map(|(how, path)| file(hook, how, path)).collect()
}

/// Returns what a line of a patch does to which file, if it begins the changes of one.
pub(super) fn patched_file(line: &str) -> Option<(&'static str, &str)> {
    let marks = [("*** Update File: ", "edited"), ("*** Add File: ", "wrote"), ("*** Delete File: ", "deleted")];
    marks.iter().find_map(|(mark, how)| line.strip_prefix(mark).map(|path| (*how, path.trim())))
}

/// Returns the files that a script writes on purpose: a text sent to a file, and edits in place. A file that receives a
/// program's output is not a change of the work.
fn written(used: &ToolUse<'_>) -> Vec<Event> {
    // A client reports the folder that its shell is in afterwards, so it says nothing about a script that moves.
    let moves = used.commands.iter().any(|part| matches!(part.program(), "cd" | "pushd" | "popd"));
    let begin = used.hook.shell.clone().filter(|_| !moves).unwrap_or_default();
    let mut events = Vec::new();
    for (part, folder) in used.commands.iter().zip(shell::folders(used.commands)) {
        let files: Vec<&str> = match part.program() {
            "cat" | "echo" | "printf" => part.writes.iter().map(String::as_str).collect(),
            "tee" => part.args().collect(),
            "sed" | "perl" if part.args().any(|word| word.starts_with("-i") || word == "-pi") => changed_in_place(part),
            _ => continue,
        };
        let how = if ["sed", "perl"].contains(&part.program()) { "edited" } else { "wrote" };
        // A relative path in a folder that cannot be told is no file that could be named.
        let named = files.into_iter().filter(|path| !path.starts_with(['-', '$'])).filter_map(|path| {
            let folder = if path.starts_with('/') { PathBuf::new() } else { begin.join(folder.as_ref()?) };
            let path = tidy(&folder.join(path));
            (!path.starts_with("/dev") && !path.starts_with("/tmp")).then_some(path)
        });
        events.extend(named.map(|path| file(used.hook, how, &path.to_string_lossy())));
    }
    events.truncate(MAX_FILES);
    events
}

/// Returns a path without `.` and, as far as it goes down again, without `..`.
fn tidy(path: &Path) -> PathBuf {
    let mut tidy = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if tidy.file_name().is_some() => drop(tidy.pop()),
            part => tidy.push(part),
        }
    }
    tidy
}

/// Returns the files of `sed -i` and the like: the arguments after its scripts.
fn changed_in_place(part: &SimpleCommand) -> Vec<&str> {
    let scripts = part.args().filter(|word| *word == "-e").count().max(1);
    part.args().filter(|word| !word.is_empty() && !word.starts_with('-')).skip(scripts).collect()
}

/// Returns a text, or the one among a command's words that contains a patch.
fn text(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) => Some(text),
        Value::Array(words) => words.iter().filter_map(Value::as_str).find(|word| word.contains("*** Begin Patch")),
        _ => None,
    }
}
