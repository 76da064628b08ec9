//! Collects the names that the model wrote: identifiers and paths in the input of a tool. After a compaction, the model
//! needs these first, and a summary is most likely to leave them out.
//!
//! They are kept in the data of an event as one text, `"names": "a b c"`, the most frequent first.

use std::collections::HashMap;

use serde_json::{Value, json};
use weir_core::{Event, names};

use super::{ToolUse, data_of, files};
use crate::Hook;

/// The length of a tool's input that is searched, in bytes.
const MAX_INPUT_BYTES: usize = 32 << 10;
const MAX_NAMES_BYTES: usize = 1_500;
/// The maximum length of a name. Anything longer is data.
const MAX_NAME_BYTES: usize = 120;

/// Adds the names in a tool's input to the events of the call. The names in each part of a patch go to its file's
/// event.
pub(super) fn attach(events: &mut [Event], used: &ToolUse<'_>) {
    let texts = texts(&used.call.input);
    let parts = match texts.iter().find(|text| text.contains("*** Begin Patch")) {
        Some(patch) => of_patch(patch),
        None => vec![(used.call.tool.path(), texts)],
    };
    let mut all: Vec<Value> = events.iter().map(data_of).collect();
    for (path, texts) in parts {
        let path = path.filter(|path| !path.is_empty()).map(|path| files::relative(used.hook, path));
        let names = most_frequent_of(used.hook, &texts, |text, name| is_quoted(text, name) || is_argument(used, name));
        // The event of a file already names the file.
        let names: Vec<&str> = names.split(' ').filter(|name| Some(*name) != path.as_deref()).collect();
        let names = names.join(" ");
        // Names without a file go to the first event.
        let of_file =
            |data: &Value| path.as_deref().is_some_and(|path| data["path"] == path) && data["names"].is_null();
        let at = all.iter().position(of_file).unwrap_or(0);
        if let (Some(event), Some(data)) = (events.get_mut(at), all.get_mut(at).filter(|_| !names.is_empty())) {
            data["names"] = json!(names);
            event.data = Some(data.to_string());
        }
    }
}

/// Splits a patch in Codex's format into its files and the lines changed in each.
fn of_patch(patch: &str) -> Vec<(Option<&str>, Vec<&str>)> {
    let mut parts: Vec<(Option<&str>, Vec<&str>)> = Vec::new();
    for line in patch.lines() {
        match (files::patched_file(line), parts.last_mut()) {
            (Some((_, path)), _) => parts.push((Some(path), Vec::new())),
            (None, Some((_, lines))) => lines.push(line),
            (None, None) => {}
        }
    }
    parts
}

fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(values) => values.iter().flat_map(texts).collect(),
        Value::Object(object) => object.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

/// Returns the names in some messages, the most frequent first, up to [`MAX_NAMES_BYTES`].
pub(super) fn most_frequent(hook: &Hook, texts: &[&str]) -> String {
    most_frequent_of(hook, texts, is_quoted)
}

/// Returns whether a name has quotation marks around it, is the whole text, or ends with a slash.
fn is_quoted(text: &str, name: &str) -> bool {
    let is_mark = |c: Option<char>| c.is_none_or(|c| "\"'`".contains(c));
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (text[..at].chars().next_back(), text[at + name.len()..].chars().next());
        after == Some('/') || (is_mark(before) && is_mark(after))
    })
}

/// Returns whether a name is in a word of a command. A word with blanks is a message or a script.
fn is_argument(used: &ToolUse<'_>, name: &str) -> bool {
    let mut words = used.commands.iter().flat_map(|command| &command.words);
    words.any(|word| word.contains(name) && !word.contains(char::is_whitespace))
}

/// Returns the names in some texts, the most frequent first. What may be prose counts only if `is_literal` says so.
fn most_frequent_of(hook: &Hook, texts: &[&str], is_literal: impl Fn(&str, &str) -> bool) -> String {
    let folder = hook.folder.to_str().filter(|folder| folder.len() > 1).map(|folder| format!("{folder}/"));
    let mut counts: HashMap<String, (usize, usize)> = HashMap::new();
    let mut left = MAX_INPUT_BYTES;
    for text in texts {
        let text = &text[..text.floor_char_boundary(left)];
        left -= text.len();
        // Paths in the session's folder are relative to it.
        let text = match folder.as_deref().filter(|folder| text.contains(folder)) {
            Some(folder) => text.replace(folder, ""),
            None => (*text).to_owned(),
        };
        names::each(&text, |name, absolute| {
            let Some(name) = plain_name(name) else { return };
            if !absolute && names::may_be_prose(name) && !is_literal(&text, name) {
                return;
            }
            let name = if absolute && name.contains('/') { format!("/{name}") } else { name.to_owned() };
            // The folder itself says nothing.
            if folder.as_deref().is_some_and(|folder| folder.strip_suffix('/') == Some(&*name)) {
                return;
            }
            let next = counts.len();
            counts.entry(name).or_insert((0, next)).0 += 1;
        });
    }
    let mut ranked: Vec<(String, (usize, usize))> = counts.into_iter().collect();
    ranked.sort_by_key(|(_, (times, first))| (std::cmp::Reverse(*times), *first));
    let mut written = String::new();
    for (name, _) in ranked {
        if written.len() + name.len() < MAX_NAMES_BYTES {
            written.push_str(if written.is_empty() { "" } else { " " });
            written.push_str(&name);
        }
    }
    written
}

/// Words in the inputs of clients' tools that are not names.
const OF_TOOLS: &[&str] = &["in_progress", "files_with_matches", "general-purpose", "dev/null"];

/// Returns a path without the number that a search puts before a line around a hit: `src/lib.rs-12-fn`.
fn without_line_number(name: &str) -> &str {
    let is_file = |path: &str| {
        let file = path.rsplit('/').next().unwrap_or(path);
        let extension = file.rsplit_once('.').map_or("", |(_, extension)| extension);
        (1..=4).contains(&extension.len()) && extension.bytes().all(|byte| byte.is_ascii_lowercase())
    };
    let is_number = |(at, _): &(usize, &str)| name[at + 1..].starts_with(|c: char| c.is_ascii_digit());
    let end = name.match_indices('-').find(|mark| is_number(mark) && is_file(&name[..mark.0]));
    end.map_or(name, |(at, _)| &name[..at])
}

/// Returns a name without its line number, or `None` for a value, a colour or a temporary file.
fn plain_name(name: &str) -> Option<&str> {
    let end = name.match_indices(':').find(|(at, _)| name[at + 1..].starts_with(|c: char| c.is_ascii_digit()));
    let name = without_line_number(end.map_or(name, |(at, _)| &name[..at]));
    let is_colour = matches!(name.len(), 6 | 8) && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    // An escaped character: `\u2014`.
    let is_escape = name.len() == 5 && name.strip_prefix('u').is_some_and(|code| u32::from_str_radix(code, 16).is_ok());
    let is_value = name.starts_with(|c: char| c.is_ascii_digit()) || is_colour || is_escape;
    let is_passing = name.starts_with("tmp/") || OF_TOOLS.contains(&name);
    (!is_value && !is_passing && name.len() <= MAX_NAME_BYTES && names::is_name(name)).then_some(name)
}
