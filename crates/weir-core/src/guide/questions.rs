//! Questions of the model that are not answered yet.

use super::Fact;
use super::data::{is_of_subagent, read, text};
use crate::EventKind;

/// Returns the open questions, newest first, each with its position in the facts. What the user says after a question
/// answers it. A subagent's questions are to the model.
pub(super) fn open(facts: &[Fact<'_>]) -> Vec<(usize, String)> {
    let mut answered: Vec<String> = Vec::new();
    let mut open: Vec<(usize, String)> = Vec::new();
    for (at, fact) in facts.iter().enumerate().rev() {
        if fact.event.kind == EventKind::Prompt {
            break;
        }
        if fact.event.kind != EventKind::Plan || is_of_subagent(fact.event) {
            continue;
        }
        let Some(data) = read(fact.event.data.as_deref()) else { continue };
        let Some(question) = text(&data, "question") else { continue };
        let asked = open.iter().any(|(_, seen)| *seen == question);
        if data.get("answer").is_some() {
            answered.push(question.to_owned());
        } else if !asked && !answered.contains(&question) {
            open.push((at, question.to_owned()));
        }
    }
    open
}
