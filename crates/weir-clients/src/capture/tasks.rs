//! The model's task list. Clients send the whole list or one task at a time; both are stored in one form:
//! `{"tasks":[{"key","text","state"}]}` or `{"task":{…}}`, with the states open, now, done and dropped.
//!
//! What a client answers is more reliable than what the model asked for: the answer has the number of a new task, and
//! the answer to a look at the list has all of it.

use serde_json::{Map, Value, json};
use weir_core::event::line;
use weir_core::{Event, EventKind, Priority};

use super::{ToolUse, event_with};
use crate::Tool;
use crate::wire::{between, first_text};

/// The maximum number of tasks kept from a list, and the maximum length of each.
const MAX_TASKS: usize = 100;
const MAX_TASK_BYTES: usize = 160;
/// The length of an answer that is examined, in bytes.
const MAX_EXAMINED_BYTES: usize = 64 << 10;

/// The keys under which clients send a list.
const LISTS: &[&str] = &["todos", "plan", "tasks", "items", "todoList"];
/// The keys of a task's text, and of its identifier.
const TEXTS: &[&str] = &["content", "subject", "step", "title", "text", "name", "description"];
const KEYS: &[&str] = &["id", "taskId", "task_id", "key"];
/// Arguments that limit a look at the list to some of its tasks.
const FILTERS: &[&str] = &["status", "type", "parentId", "owner"];

/// Returns the events of a change to the task list, or of a look at it.
pub(super) fn events(used: &ToolUse<'_>) -> Vec<Event> {
    let input = &used.call.input;
    if used.call.tool != Tool::Tasks || used.failed() {
        return Vec::new();
    }
    let given = LISTS.iter().map(|key| &input[*key]).find(|list| list.is_array() || list.is_string());
    if let Some(given) = given {
        let list = list_of(given);
        // Some clients send only the tasks that change.
        return match input["merge"] == true {
            true => list.iter().filter_map(|item| one(task(item))).collect(),
            false => vec![whole(&list)],
        };
    }
    let output = &used.output[..used.output.floor_char_boundary(MAX_EXAMINED_BYTES)];
    let answer: Value = serde_json::from_str(output).unwrap_or_default();
    if answer["success"] == false {
        return Vec::new();
    }
    let looks = !KEYS.iter().chain(TEXTS).any(|key| !input[*key].is_null());
    match looks {
        true if FILTERS.iter().any(|key| !input[*key].is_null()) => Vec::new(),
        true => listed(&answer, output).map(|list| whole(&list)).into_iter().collect(),
        false => one(changed(input, &answer, output)).into_iter().collect(),
    }
}

/// Returns the tasks of a list that is written as data or as a Markdown checklist.
fn list_of(given: &Value) -> Vec<Value> {
    match given {
        Value::Array(list) => list.clone(),
        given => given.as_str().unwrap_or_default().lines().filter_map(written_task).collect(),
    }
}

/// Returns the list that a client shows, or `None` if it does not show one.
fn listed(answer: &Value, output: &str) -> Option<Vec<Value>> {
    if let Some(list) = answer.as_array().or_else(|| LISTS.iter().find_map(|key| answer[*key].as_array())) {
        return Some(list.clone());
    }
    let list: Vec<Value> = output.lines().filter_map(written_task).collect();
    (!list.is_empty() || output.starts_with("No tasks found")).then_some(list)
}

/// Reads a line of a list: `#3 [pending] Do it [blocked by #2]`, `- [a1b2] Do it (open)`, `- [x] Do it`.
fn written_task(line: &str) -> Option<Value> {
    let line = line.trim();
    if let Some((key, rest)) = line.strip_prefix('#').and_then(|line| line.split_once(" [")) {
        let (status, text) = rest.split_once("] ")?;
        let text = text.split_once(" [blocked by").map_or(text, |(text, _)| text);
        return Some(json!({ "id": key, "status": status, "subject": text }));
    }
    let (mark, text) = line.strip_prefix("- [").or_else(|| line.strip_prefix("* ["))?.split_once("] ")?;
    match (mark, text.rsplit_once(" (")) {
        (" ", _) => Some(json!({ "status": "pending", "subject": text })),
        ("x" | "X", _) => Some(json!({ "status": "completed", "subject": text })),
        (key, Some((text, status))) => {
            Some(json!({ "id": key, "status": status.trim_end_matches(')'), "subject": text }))
        }
        (_, None) => None,
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

/// Returns a task that was created, changed or looked at.
fn changed(input: &Value, answer: &Value, output: &str) -> Value {
    let is_new = KEYS.iter().all(|key| input[*key].is_null());
    let mut task = task(input);
    if !is_new && first_text(input, &TEXTS[..TEXTS.len() - 1]).is_empty() {
        // A new description does not rename a task.
        task["text"].take();
    }
    // The answer to a look has the whole task, and that to a change at least its state.
    let known = [&answer["task"], answer].into_iter().map(self::task).find(|known| !known["key"].is_null());
    let state = answer["statusChange"]["to"].as_str().and_then(state);
    let found = known.unwrap_or_default();
    for key in ["key", "text", "state"] {
        if task[key].is_null() && !found[key].is_null() {
            task[key] = found[key].clone();
        }
    }
    if let Some(state) = state {
        task["state"] = json!(state);
    }
    if is_new {
        task["state"] = json!(task["state"].as_str().unwrap_or("open"));
        if let Some(key) = given_key(output).filter(|_| task["key"].is_null()) {
            task["key"] = json!(key);
        }
    }
    task
}

/// Returns the event of one task, if something is known of it besides its key.
fn one(mut task: Value) -> Option<Event> {
    let known = ["key", "text", "state"].map(|key| (key.to_owned(), task[key].take()));
    let task = Value::Object(known.into_iter().filter(|(_, value)| !value.is_null()).collect());
    if text(&task).is_empty() && (task["key"].is_null() || task["state"].is_null()) {
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
        "completed" | "complete" | "done" | "finished" | "closed" => "done",
        "in_progress" | "in-progress" | "inProgress" | "active" | "running" | "doing" => "now",
        "cancelled" | "canceled" | "deleted" | "dropped" | "skipped" => "dropped",
        _ => "open",
    })
}

/// Returns the key that a client gave to a new task: `Task #3 created …`, `Created task a1b2c3: …`, or the `id` in
/// data within a text.
fn given_key(output: &str) -> Option<&str> {
    let marks = [("Task #", " "), ("Created task ", ":"), ("\"id\": \"", "\"")];
    let keys = marks.iter().filter_map(|(before, after)| between(output, before, after));
    keys.map(str::trim).find(|key| (1..=40).contains(&key.len()) && !key.contains(char::is_whitespace))
}
