//! Turns a hook into events.
//!
//! Invariants: plain functions of the hook that read, remember and compile nothing. They run inside a hook, so their
//! cost does not grow with the length of a tool's output.
//!
//! There is one file per subject. Text written by others is kept verbatim, as one line of bounded length. An event
//! whose line shows only a part of a text has the whole of it too ([`Event::whole`]), which the store keeps as an
//! entry.
//!
//! The data of an event is JSON. Besides what the file of its subject says, it may have:
//!
//! | key | events | meaning |
//! | --- | --- | --- |
//! | `agent` | all | the kind of the subagent that it comes from |
//! | `names` | of tools | names in the tool's input, the most frequent first |
//! | `ran` | of shell calls | the command as it was written, if the event does not say it otherwise |
//! | `whole` | prompts, data, messages, results of subagents | the reference of the whole text, added by the store |
//! | `by` | decisions | `model` if the model decided |
//! | `slip` | errors | `true` if a tool was misused, as opposed to work that fails |
//! | `files` | fixes | the files that were changed between the failure and the success |
//! | `folder` | commands | the folder that the script entered first |
//! | `command` | prompts, tools | the name of a slash command |
//! | `skill` | tools | the name of a skill |

mod decisions;
mod environment;
mod errors;
mod failure_text;
mod files;
mod git;
mod messages;
mod names;
mod pasted;
mod plans;
mod prompts;
mod ran;
mod rejected;
mod rules;
pub(crate) mod shell;
mod slips;
mod subagents;
mod tasks;
mod tools;

use serde_json::{Value, json};
use weir_core::event::{LONGEST_TEXT, line};
use weir_core::{Event, EventKind, Priority};

use crate::{Done, Hook, Point, Tool, ToolCall};
use shell::SimpleCommand;

pub use errors::{explain_fixes, fixes, may_fix};
pub use messages::{before_compaction, without_analysis};

/// Returns the events of a hook; empty if nothing is worth keeping.
pub fn events(hook: &Hook) -> Vec<Event> {
    match &hook.point {
        // A subagent's prompt is the model's text, which the tool call has already recorded.
        Point::Prompt { .. } if subagent_kind(hook).is_some() => Vec::new(),
        Point::Prompt { text } => prompts::events(text),
        Point::BeforeTool(call) => mark_subagent(hook, plans::asked(call).into_iter().collect()),
        Point::AfterTool(call, done) => {
            let (output, commands) = (done.output.text.brief(), commands(call));
            mark_subagent(hook, after_tool(&ToolUse { hook, call, done, output: &output, commands: &commands }))
        }
        Point::SubagentStart => vec![subagents::started(subagent_kind(hook))],
        Point::SubagentStop { result } => vec![subagents::stopped(subagent_kind(hook), result)],
        Point::Rules { path } => mark_subagent(hook, vec![rules::loaded(hook, path)]),
        Point::Stop { last } => mark_subagent(hook, messages::events(last)),
        Point::SessionStart(_) | Point::BeforeCompaction | Point::AfterCompaction { .. } | Point::SessionEnd => {
            Vec::new()
        }
    }
}

/// Returns the names in a text that the model was shown or said, separated by blanks, the most frequent first.
pub fn names_in(hook: &Hook, text: &str) -> String {
    names::most_frequent(hook, &[text])
}

/// Returns whether a hook may report a choice among the options of the model's last message.
pub fn may_choose(hook: &Hook) -> bool {
    matches!(&hook.point, Point::Prompt { text } if hook.subagent.is_none() && prompts::may_choose(text))
}

/// Returns the user's choices among the options of the model's last message.
pub fn choices(hook: &Hook, message: &str) -> Vec<Event> {
    match &hook.point {
        Point::Prompt { text } if hook.subagent.is_none() => prompts::choices(text, message),
        _ => Vec::new(),
    }
}

/// A tool call and its outcome.
#[derive(Clone, Copy)]
struct ToolUse<'h> {
    hook: &'h Hook,
    call: &'h ToolCall,
    done: &'h Done,
    /// The text of the output. Of an output that is too long for memory, the beginning and the end.
    output: &'h str,
    /// The commands of a script; none for any tool but a shell.
    commands: &'h [SimpleCommand],
}

impl ToolUse<'_> {
    fn failed(&self) -> bool {
        self.done.failed || self.done.exit_code.is_some_and(|code| code != 0)
    }
}

/// Returns the commands of a script; none for any tool but a shell.
fn commands(call: &ToolCall) -> Vec<SimpleCommand> {
    match &call.tool {
        Tool::Shell { command } => shell::split(command),
        _ => Vec::new(),
    }
}

/// The functions that turn a tool call into events, one per subject.
const SUBJECTS: &[fn(&ToolUse<'_>) -> Vec<Event>] = &[
    rejected::refused,
    errors::events,
    files::events,
    rules::events,
    git::events,
    environment::events,
    tasks::events,
    subagents::events,
    plans::events,
];

fn after_tool(used: &ToolUse<'_>) -> Vec<Event> {
    // Nothing is known yet about how a command in the background ends.
    let has_ended = !used.call.background || used.failed();
    let subjects = SUBJECTS.iter().filter(|_| has_ended);
    let mut events: Vec<Event> = subjects.flat_map(|subject| subject(used)).collect();
    if events.is_empty() {
        events = tools::events(used);
    }
    names::attach(&mut events, used);
    ran::attach(&mut events, used);
    events
}

/// Returns the kind of the subagent that made the call, if any.
fn subagent_kind(hook: &Hook) -> Option<&str> {
    hook.subagent.as_ref().map(|subagent| subagent.kind.as_str())
}

/// Marks events of a subagent and lowers their priority, since they matter less to the session.
fn mark_subagent(hook: &Hook, mut events: Vec<Event>) -> Vec<Event> {
    let Some(kind) = subagent_kind(hook) else { return events };
    for event in &mut events {
        event.priority = lower(event.priority);
        let mut data = data_of(event);
        data["agent"] = json!(line(kind, 80));
        event.data = Some(data.to_string());
    }
    events
}

/// Returns the data of an event, or an empty object.
fn data_of(event: &Event) -> Value {
    event.data.as_deref().and_then(|data| serde_json::from_str(data).ok()).unwrap_or_else(|| json!({}))
}

fn lower(priority: Priority) -> Priority {
    match priority {
        Priority::P1 => Priority::P2,
        Priority::P2 => Priority::P3,
        Priority::P3 | Priority::P4 => Priority::P4,
    }
}

/// The maximum length of the whole text of a message or a result.
const MAX_WHOLE_BYTES: usize = 4 << 10;
/// How much of it is its end, if it is longer.
const WHOLE_END_BYTES: usize = 1 << 10;

/// Returns the whole of a text, or its beginning and its end, unless the line of an event has all of it.
fn whole(text: &str, line: &str) -> Option<String> {
    let text = text.trim();
    if text.len() <= MAX_WHOLE_BYTES {
        return (text != line && weir_core::event::line(text, LONGEST_TEXT) != line).then(|| text.to_owned());
    }
    let head = &text[..text.floor_char_boundary(MAX_WHOLE_BYTES - WHOLE_END_BYTES)];
    let tail = &text[text.ceil_char_boundary(text.len() - WHOLE_END_BYTES)..];
    let left = text.len() - head.len() - tail.len();
    Some(format!("{head}\n… ({left} bytes left out)\n{tail}"))
}

fn event(kind: EventKind, priority: Priority, text: &str) -> Event {
    Event { kind, priority, text: line(text, LONGEST_TEXT), data: None, whole: None }
}

fn event_with(kind: EventKind, priority: Priority, text: &str, data: &Value) -> Event {
    Event { data: Some(data.to_string()), ..event(kind, priority, text) }
}

#[cfg(test)]
mod tests;
