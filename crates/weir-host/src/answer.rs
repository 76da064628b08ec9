//! The answer of an operation: text within a token budget, and the same content as data.
//!
//! Invariants: a text never exceeds its budget, by token count; recalled text is enclosed in a fence that it cannot
//! close itself; an answer says what it leaves out.

use std::time::Duration;

use serde_json::Value;
use weir_core::{Entry, EntryKind, Origin, Reference};
use weir_store::BlobReader;

use crate::error::CommandError;
use crate::when;
pub use weir_core::wording::{counted, fence, name, one_line, size};

/// The token ceiling of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget(usize);

impl Budget {
    /// The smallest budget. Anything less cannot hold even a sentence about what was left out.
    const MIN_TOKENS: usize = 120;
    /// The largest budget. For longer texts, the caller reads on with another call.
    const MAX_TOKENS: usize = 20_000;

    /// The budget of a person, who is given everything that a terminal can take.
    const PERSON_TOKENS: usize = 2_000_000;

    pub fn for_person() -> Self {
        Self(Self::PERSON_TOKENS)
    }

    /// Returns a budget of this many tokens, clamped to the allowed range.
    pub fn new(tokens: u32) -> Self {
        Self((tokens as usize).clamp(Self::MIN_TOKENS, Self::MAX_TOKENS))
    }

    pub fn tokens(self) -> usize {
        self.0
    }
}

pub struct Answer<D = Value> {
    /// The text for a model or a person.
    pub text: String,
    /// The same content for a program.
    pub data: D,
    /// Whether the operation found what was asked for. Decides the exit code.
    pub found: bool,
    /// A text that is too large for a budget, if the caller asked for all of it.
    pub unbounded: Option<Unbounded>,
    /// The exit code of the program that was run. The command exits with the same code.
    pub exit_code: Option<u8>,
    /// What the programs printed that were run, for the meter.
    pub printed: Vec<PrintedOutput>,
}

/// The output of a program that was run.
pub struct PrintedOutput {
    pub beginning: String,
    pub bytes: u64,
    pub is_whole: bool,
    pub failed: bool,
}

impl PrintedOutput {
    /// How much of an output its tokens are estimated from. A shorter one is counted.
    pub const MAX_BEGINNING_BYTES: usize = 64 << 10;
}

/// A text that may be larger than memory.
pub enum Unbounded {
    Bytes(BlobReader),
    /// All lines, as a terminal would show them, below the text of the answer.
    Lines(BlobReader),
}

impl<D> Answer<D> {
    pub fn new(text: String, data: D) -> Self {
        Self { text, data, found: true, unbounded: None, exit_code: None, printed: Vec::new() }
    }

    pub fn nothing(text: String, data: D) -> Self {
        Self { found: false, ..Self::new(text, data) }
    }

    pub fn map<E>(self, data: impl FnOnce(D) -> E) -> Answer<E> {
        let Self { text, data: before, found, unbounded, exit_code, printed } = self;
        Answer { text, data: data(before), found, unbounded, exit_code, printed }
    }
}

impl<D: serde::Serialize> Answer<D> {
    /// Returns the same answer with its data as JSON.
    pub fn erased(self) -> Result<Answer, CommandError> {
        let data = serde_json::to_value(&self.data).map_err(|error| CommandError::broken(&error.to_string()))?;
        Ok(self.map(|_| data))
    }
}

/// Describes how long something took, for people: in seconds, or in minutes and seconds.
pub fn duration(took: Duration) -> String {
    let seconds = took.as_secs();
    match seconds {
        0..10 => format!("{:.2} s", took.as_secs_f64()),
        10..60 => format!("{:.1} s", took.as_secs_f64()),
        60..3_600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3_600, seconds % 3_600 / 60),
    }
}

/// Describes an entry in one line: its reference, kind, origin and time.
pub fn headline(entry: &Entry) -> String {
    // Something said is best described by what it was: a prompt, a decision.
    let said = entry.source.as_deref().filter(|_| entry.kind == EntryKind::Said);
    let mut line = format!("{} {}", entry.reference, said.unwrap_or(entry.kind.as_str()));
    if let Some(note) = &entry.note {
        line.push_str(&format!("/{}", note.kind));
        if let Some(topic) = &note.topic {
            line.push_str(&format!(" on {} (rev {})", name(topic, 60), note.revision));
        }
    }
    if let Some(teammate) = entry.teammate() {
        line.push_str(&format!(" by {} (teammate), {}", one_line(teammate, 60), when::show(entry.at)));
        line.push_str(&format!(", {}", entry.teammate_standing()));
    } else {
        if let Some(source) = entry.source.as_deref().filter(|_| said.is_none()) {
            line.push_str(&format!(" from {}", name(source, 80)));
        }
        // An output or a file has no author.
        if entry.origin != Origin::Tool {
            line.push_str(&format!(" by {}", entry.origin));
        }
        line.push_str(&format!(", {}", when::show(entry.at)));
        if let Some(at) = entry.note.as_ref().and_then(|note| note.confirmed_at) {
            line.push_str(&format!(", confirmed by the user {}", when::show(at)));
        }
    }
    if let Some(successor) = entry.superseded_by {
        line.push_str(&format!("; superseded by {successor}"));
    }
    line
}

pub fn references(all: &[Reference]) -> Vec<String> {
    all.iter().map(ToString::to_string).collect()
}

/// Joins a head, as many items as fit, and a foot, which is passed the number of items shown. Returns the text and that
/// number.
pub fn fit_items(head: &str, items: &[String], budget: Budget, foot: impl Fn(usize) -> String) -> (String, usize) {
    let join = |shown: usize| {
        let parts = [head].into_iter().chain(items[..shown].iter().map(String::as_str));
        let foot = foot(shown);
        let parts = parts.chain([foot.as_str()]).filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join("\n")
    };
    // The sum of the parts estimates how many fit; counting the joined text makes sure.
    let mut left = budget.tokens().saturating_sub(weir_tokens::count(head));
    let mut shown = 0;
    for item in items {
        let cost = weir_tokens::count(item) + 1;
        if cost > left {
            break;
        }
        left -= cost;
        shown += 1;
    }
    loop {
        let text = join(shown);
        if shown == 0 || weir_tokens::count(&text) <= budget.tokens() {
            return (text, shown);
        }
        shown -= 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn people_read_durations_in_seconds_and_minutes() {
        for (millis, expected) in
            [(4, "0.00 s"), (5_825, "5.83 s"), (12_340, "12.3 s"), (125_000, "2 min 5 s"), (7_260_000, "2 h 1 min")]
        {
            assert_eq!(duration(Duration::from_millis(millis)), expected);
        }
    }

    proptest! {
        #[test]
        fn items_never_pass_the_budget(items in prop::collection::vec(".{0,400}", 0..30), tokens in 120u32..600) {
            let budget = Budget::new(tokens);
            let (text, shown) = fit_items("head", &items, budget, |shown| format!("{shown} shown"));
            prop_assert!(weir_tokens::count(&text) <= budget.tokens());
            prop_assert!(shown <= items.len());
        }
    }
}
