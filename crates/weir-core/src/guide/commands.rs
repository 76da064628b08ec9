//! The commands that the model ran most and last, each once. It tends to run them again, and summaries rarely name
//! them.

use super::Fact;
use super::data::{read, text};
use crate::EventKind;
use crate::event::line;

const MAX_COMMANDS: usize = 15;
/// Maximum length of a command, in bytes.
const MAX_COMMAND_BYTES: usize = 60;
/// Number of leading words by which two commands count as the same.
const COMPARED_WORDS: usize = 3;
/// Number of commands after which one has half its weight.
const HALF_LIFE_COMMANDS: f64 = 10.0;
/// The beginning of the line.
const HEADING: &str = "Commands that the model ran most and last: ";

/// Returns the line with the commands, as many as fit the budget; empty if there are none.
pub(super) fn write(facts: &[Fact<'_>], budget: usize, count: fn(&str) -> usize) -> String {
    let mut commands: Vec<Command> = Vec::new();
    for (age, command) in facts.iter().rev().filter_map(command).enumerate() {
        let weight = 1.0 / (1.0 + age as f64 / HALF_LIFE_COMMANDS);
        match commands.iter_mut().find(|known| known.is_like(&command)) {
            Some(known) => known.score += weight,
            None => commands.push(Command { score: weight, ..command }),
        }
    }
    // Of those that are worth the same, the newer one comes first.
    commands.sort_by(|one, other| other.score.total_cmp(&one.score));
    let (mut told, mut shown) = (String::new(), 0);
    for command in &commands {
        let separator = if shown == 0 { HEADING } else { ", " };
        let longer = format!("{told}{separator}{}", command.told());
        if shown < MAX_COMMANDS && count(&format!("{longer}\n")) <= budget {
            told = longer;
            shown += 1;
        }
    }
    if told.is_empty() { told } else { format!("{told}\n") }
}

struct Command {
    /// The command, cut if it is long.
    text: String,
    score: f64,
    /// Whether its last run failed.
    has_failed: bool,
}

impl Command {
    fn is_like(&self, other: &Self) -> bool {
        let words = |command: &str| -> Vec<String> {
            command.split_whitespace().take(COMPARED_WORDS).map(str::to_owned).collect()
        };
        words(&self.text) == words(&other.text)
    }

    fn told(&self) -> String {
        format!("`{}`{}", self.text, if self.has_failed { " (failed)" } else { "" })
    }
}

/// Returns the command that an event reports. What a subagent ran, it ran on its own; a slip of a tool is nothing to
/// repeat.
fn command(fact: &Fact<'_>) -> Option<Command> {
    let data = read(fact.event.data.as_deref())?;
    if data.get("agent").is_some() || data["slip"] == true {
        return None;
    }
    let said = if fact.event.kind == EventKind::Tool { text(&data, "subject") } else { None };
    let written = line(&text(&data, "ran").or(said)?, MAX_COMMAND_BYTES << 4);
    let text = cut(without_filter(&written), written.len());
    (!text.is_empty()).then_some(Command { text, score: 0.0, has_failed: fact.event.kind == EventKind::Error })
}

/// Returns a command without a last part that only shortens its output: `2>&1 | tail -5`.
fn without_filter(command: &str) -> &str {
    let is_filter = |part: &str| {
        let mut words = part.split_whitespace();
        let shortens = matches!(words.next(), Some("tail" | "head"));
        shortens && words.all(|word| word.starts_with('-') || word.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let rest = command.rsplit_once(" | ").filter(|(_, part)| is_filter(part)).map_or(command, |(rest, _)| rest);
    rest.trim_end().trim_end_matches("2>&1").trim_end()
}

/// Returns a command that had `all` bytes, cut at a blank if it is long. A cut is indicated.
fn cut(command: &str, all: usize) -> String {
    if command.len() == all && all <= MAX_COMMAND_BYTES {
        return command.to_owned();
    }
    let head = &command[..command.floor_char_boundary(MAX_COMMAND_BYTES)];
    let words = match head.len() < command.len() {
        true => head.rsplit_once(' ').map_or(head, |(words, _)| words),
        false => head,
    };
    let words = words.trim_end_matches([' ', '…']);
    // The first words of many say little: `ls -la …`.
    let says = words.split_whitespace().count() >= COMPARED_WORDS || head.len() == command.len();
    if says { format!("{words} …") } else { String::new() }
}
