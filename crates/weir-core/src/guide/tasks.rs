//! The current tasks: the last complete list, with the changes since.

use super::Fact;
use serde_json::Value;

use super::data::{self, read};
use crate::EventKind;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Task {
    pub(super) key: String,
    pub(super) text: String,
    pub(super) state: String,
}

impl Task {
    pub(super) fn is_open(&self) -> bool {
        !matches!(self.state.as_str(), "done" | "dropped")
    }

    pub(super) fn is_now(&self) -> bool {
        self.state == "now"
    }
}

/// Returns every task, in the order of the list. Returns none if a change concerns a task that is not known: then the
/// states of the others are not known either.
pub(super) fn gather(facts: &[Fact<'_>]) -> Vec<Task> {
    let mut tasks: Vec<Task> = Vec::new();
    let mut is_complete = true;
    for fact in facts.iter().filter(|fact| fact.event.kind == EventKind::Task) {
        let Some(data) = read(fact.event.data.as_deref()) else { continue };
        // A subagent has a list of its own, which is not the session's.
        if data.get("agent").is_some() {
            continue;
        }
        if let Some(list) = data["tasks"].as_array() {
            tasks = list.iter().map(task).collect();
            is_complete = true;
        } else if let Some(one) = data.get("task") {
            is_complete &= change(&mut tasks, task(one));
        }
    }
    tasks.retain(|_| is_complete);
    tasks.retain(|task| !task.text.trim().is_empty() && task.state != "dropped");
    tasks
}

fn task(value: &Value) -> Task {
    let text = |key| data::text(value, key).unwrap_or_default();
    Task { key: text("key"), text: text("text"), state: text("state") }
}

/// Adds a task to the list, or updates the one with the same key or text. Returns `false` for a change of an unknown
/// task.
fn change(tasks: &mut Vec<Task>, new: Task) -> bool {
    let same = |task: &&mut Task| if new.key.is_empty() { task.text == new.text } else { task.key == new.key };
    match tasks.iter_mut().find(same) {
        Some(task) => {
            if !new.text.is_empty() {
                task.text = new.text;
            }
            if !new.state.is_empty() {
                task.state = new.state;
            }
        }
        None if new.text.is_empty() => return false,
        None => tasks.push(new),
    }
    true
}
