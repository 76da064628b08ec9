//! The model's task list. Clients send the whole list or one task at a time; both are stored in one form:
//! `{"tasks":[{"key","text","state"}]}` or `{"task":{…}}`, with the states open, now, done and dropped.

use serde_json::{Map, Value, json};
use weir_core::event::line;
use weir_core::{Event, EventKind, Priority};

use super::{ToolUse, event_with};
use crate::Tool;
use crate::wire::first_text;

/// The maximum number of tasks kept from a list, and the maximum length of each.
const MAX_TASKS: usize = 100;
const MAX_TASK_BYTES: usize = 160;

/// The keys under which clients send a list.
const LISTS: &[&str] = &["todos", "plan", "tasks", "items"];
/// The keys of a task's text, and of its identifier.
const TEXTS: &[&str] = &["content", "subject", "step", "description", "title", "text", "name"];
const KEYS: &[&str] = &["id", "taskId", "task_id", "key"];

/// Returns the event of a change to the task list.
pub(super) fn events(used: &ToolUse<'_>) -> Vec<Event> {
    if used.call.tool != Tool::Tasks || used.failed() {
        return Vec::new();
    }
    let list = LISTS.iter().find_map(|key| used.call.input[*key].as_array());
    match list {
        Some(list) => vec![whole(list)],
        None => one(used).into_iter().collect(),
    }
}

fn whole(list: &[Value]) -> Event {
    let mut tasks: Vec<Value> = list.iter().take(MAX_TASKS).map(task).filter(|task| !text(task).is_empty()).collect();
    for task in tasks.iter_mut().filter(|task| task["state"].is_null()) {
        task["state"] = json!("open");
    }
    let done = tasks.iter().filter(|task| task["state"] == "done").count();
    let first = |state: &str| tasks.iter().find(|task| task["state"] == state).map(|task| text(task).to_owned());
    let mut said = format!("{done} of {} done", tasks.len());
    if let Some(now) = first("now") {
        said.push_str(&format!("; now: {now}"));
    }
    if let Some(next) = first("open") {
        said.push_str(&format!("; next: {next}"));
    }
    event_with(EventKind::Task, Priority::P1, &said, &json!({ "tasks": tasks }))
}

/// Returns the event of one task that was created or changed.
fn one(used: &ToolUse<'_>) -> Option<Event> {
    let mut task = task(&used.call.input);
    // A task without a key is new.
    if task["key"].is_null() {
        task["state"] = json!(task["state"].as_str().unwrap_or("open"));
        if let Some(key) = given_key(used.output) {
            task["key"] = json!(key);
        }
    }
    if text(&task).is_empty() && task["key"].is_null() {
        return None;
    }
    let name = if text(&task).is_empty() { format!("#{}", task["key"].as_str()?) } else { text(&task).to_owned() };
    let state = task["state"].as_str().unwrap_or("changed");
    Some(event_with(EventKind::Task, Priority::P1, &format!("task {state}: {name}"), &json!({ "task": task })))
}

fn task(value: &Value) -> Value {
    let mut task = Map::new();
    let key = KEYS.iter().map(|key| &value[*key]).find(|key| key.is_string() || key.is_number());
    if let Some(key) = key {
        task.insert("key".to_owned(), json!(key.as_str().map_or_else(|| key.to_string(), |key| line(key, 40))));
    }
    let text = value.as_str().unwrap_or_else(|| first_text(value, TEXTS));
    if !text.is_empty() {
        task.insert("text".to_owned(), json!(line(text, MAX_TASK_BYTES)));
    }
    // A change without a state leaves the state as it was.
    if let Some(state) = state(first_text(value, &["status", "state"])) {
        task.insert("state".to_owned(), json!(state));
    }
    Value::Object(task)
}

fn text(task: &Value) -> &str {
    task["text"].as_str().unwrap_or_default()
}

/// Translates a client's word for a state.
fn state(word: &str) -> Option<&'static str> {
    Some(match word {
        "" => return None,
        "completed" | "complete" | "done" | "finished" => "done",
        "in_progress" | "in-progress" | "inProgress" | "active" | "running" | "doing" => "now",
        "cancelled" | "canceled" | "deleted" | "dropped" | "skipped" => "dropped",
        _ => "open",
    })
}

/// Returns the number that the client gave to a new task: `Task #3 created successfully: …`.
fn given_key(output: &str) -> Option<&str> {
    let rest = output.split_once('#')?.1;
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    (1..=12).contains(&digits).then(|| &rest[..digits])
}
