//! What an operation answers: text within a budget, and the same as data.
//!
//! Invariants: a text is never longer than its budget, counted; recalled text stands in a fence that it cannot close
//! by itself; whatever is left out is said.

use serde_json::Value;
pub(crate) use weir_core::wording::{counted, fence, one_line, size};
use weir_core::{Entry, EntryKind};
use weir_store::BlobReader;

use crate::when;

/// The token ceiling of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Budget(usize);

impl Budget {
    /// Less than this cannot hold even a sentence about what was left out.
    const LEAST: usize = 120;
    /// More than this is no longer a small answer; the caller reads on instead.
    const MOST: usize = 20_000;

    /// The budget asked for, within reason, or the default.
    pub(crate) fn new(asked: Option<u32>, default: usize) -> Self {
        Self(asked.map_or(default, |tokens| (tokens as usize).clamp(Self::LEAST, Self::MOST)))
    }

    /// The number of tokens.
    pub(crate) fn tokens(self) -> usize {
        self.0
    }
}

/// The result of an operation.
pub(crate) struct Answer {
    /// For a model or a person.
    pub text: String,
    /// For a program.
    pub data: Value,
    /// Whether what was asked for was found; decides the exit code.
    pub found: bool,
    /// A text to be written as it is, when the caller asked for it.
    pub raw: Option<BlobReader>,
    /// The exit code of the program that was run; the command ends with it.
    pub exit_code: Option<u8>,
}

impl Answer {
    /// An answer that found what was asked for.
    pub(crate) fn new(text: String, data: Value) -> Self {
        Self { text, data, found: true, raw: None, exit_code: None }
    }

    /// An answer that says that there is nothing.
    pub(crate) fn nothing(text: String, data: Value) -> Self {
        Self { found: false, ..Self::new(text, data) }
    }
}

/// One line about an entry: reference, what it is, whose words, when.
pub(crate) fn headline(entry: &Entry) -> String {
    // What was said is known by what it was: a prompt, a decision.
    let said = entry.source.as_deref().filter(|_| entry.kind == EntryKind::Said);
    let mut line = format!("{} {}", entry.reference, said.unwrap_or(entry.kind.as_str()));
    if let Some(note) = &entry.note {
        line.push_str(&format!("/{}", note.kind));
        if let Some(topic) = &note.topic {
            line.push_str(&format!(" on {} (rev {})", one_line(topic, 60), note.revision));
        }
    }
    if let Some(source) = entry.source.as_deref().filter(|_| said.is_none()) {
        line.push_str(&format!(" from {}", one_line(source, 80)));
    }
    line.push_str(&format!(" by {}, {}", entry.origin, when::show(entry.at)));
    if let Some(at) = entry.note.as_ref().and_then(|note| note.confirmed_at) {
        line.push_str(&format!(", confirmed by the user {}", when::show(at)));
    }
    if let Some(successor) = entry.superseded_by {
        line.push_str(&format!("; superseded by {successor}"));
    }
    line
}

/// Joins a head, as many items as fit, and a foot that is told how many those are. Returns the text and that number.
pub(crate) fn fit_items(
    head: &str,
    items: &[String],
    budget: Budget,
    foot: impl Fn(usize) -> String,
) -> (String, usize) {
    let join = |shown: usize| {
        let parts = [head].into_iter().chain(items[..shown].iter().map(String::as_str));
        let foot = foot(shown);
        let parts = parts.chain([foot.as_str()]).filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join("\n")
    };
    // A sum of the parts says how many may fit; the whole is counted to be sure.
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
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn items_never_pass_the_budget(items in prop::collection::vec(".{0,400}", 0..30), tokens in 120u32..600) {
            let budget = Budget::new(Some(tokens), 0);
            let (text, shown) = fit_items("head", &items, budget, |shown| format!("{shown} shown"));
            prop_assert!(weir_tokens::count(&text) <= budget.tokens());
            prop_assert!(shown <= items.len());
        }
    }
}
