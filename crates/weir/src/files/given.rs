//! What a session was given of files, and what that spared it.
//!
//! Invariant: only what was recorded is counted, and nothing counts as spared that the conversation already holds.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::Seen;

/// What the model was given of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Given {
    /// All of it, or the lines that were asked for.
    Text,
    /// That it has the text already.
    Unchanged,
    /// The outline in place of the text.
    Outline,
}

/// What an event of a file says about it.
pub(super) fn record(seen: &Seen<'_>, given: Given, gave: u64) -> Map<String, Value> {
    let fields = json!({
        "given": given,
        "gave": gave,
        "whole": weir_tokens::count(seen.text),
        "hash": seen.content.short_hash(),
    });
    match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// What is read back of an event.
#[derive(Deserialize)]
struct Told {
    path: String,
    how: String,
    given: Given,
    gave: u64,
    whole: u64,
    hash: String,
}

/// What the files of a session cost and spared, in tokens.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Spared {
    /// What reads were answered with.
    pub given: u64,
    /// What they would have been answered with: the text, each time.
    pub without: u64,
    /// How many reads were answered with `unchanged`, and what each would have repeated.
    pub unchanged: (usize, u64),
    /// How many files were answered with an outline when they were first read, and how much shorter that was.
    pub outlined: (usize, u64),
    /// The outlines of files that were looked at, and the files themselves. Nobody knows whether they would have been
    /// read, so this counts as nothing spared.
    pub peeked: (u64, u64),
}

impl Spared {
    /// Counts the events of a session's files, oldest first. Those that say nothing of tokens are passed over.
    pub(crate) fn of(events: &[String]) -> Self {
        let mut spared = Self::default();
        let mut seen = HashSet::new();
        for told in events.iter().filter_map(|data| serde_json::from_str::<Told>(data).ok()) {
            let Told { path, how, given, gave, whole, hash } = told;
            let shorter = whole.saturating_sub(gave);
            let is_first = given == Given::Outline && seen.insert((how.clone(), path, hash));
            match (how.as_str(), given) {
                ("read", Given::Unchanged) => {
                    spared.unchanged = (spared.unchanged.0 + 1, spared.unchanged.1 + shorter);
                    spared.add(gave, gave + shorter);
                }
                // The same outline once more spares nothing: the text was not asked for again.
                ("read", Given::Outline) if is_first => {
                    spared.outlined = (spared.outlined.0 + 1, spared.outlined.1 + shorter);
                    spared.add(gave, gave + shorter);
                }
                ("read", _) => spared.add(gave, gave),
                (_, Given::Outline) if is_first => {
                    spared.peeked = (spared.peeked.0 + gave, spared.peeked.1 + whole);
                }
                _ => {}
            }
        }
        spared
    }

    fn add(&mut self, given: u64, without: u64) {
        self.given += given;
        self.without += without;
    }

    /// The share that was spared, in percent.
    pub(crate) fn percent(&self) -> u64 {
        (self.without - self.given) * 100 / self.without.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(path: &str, how: &str, given: &str, (gave, whole): (u64, u64)) -> String {
        json!({ "path": path, "how": how, "given": given, "gave": gave, "whole": whole, "hash": "h" }).to_string()
    }

    #[test]
    fn only_what_would_have_been_repeated_or_read_whole_is_spared() {
        let events = [
            r#"{"path":"old.rs","how":"read"}"#.to_owned(),
            "no JSON".to_owned(),
            told("a.rs", "read", "text", (1_010, 1_000)),
            told("a.rs", "read", "unchanged", (30, 1_000)),
            told("b.rs", "read", "outline", (900, 9_000)),
            told("b.rs", "read", "outline", (900, 9_000)),
            told("b.rs", "read", "text", (200, 9_000)),
            told("c.rs", "outlined", "outline", (50, 700)),
            told("c.rs", "outlined", "outline", (50, 700)),
            told("d.rs", "outlined", "text", (9, 9)),
        ];
        let spared = Spared::of(&events);
        assert_eq!(spared.unchanged, (1, 970));
        assert_eq!(spared.outlined, (1, 8_100));
        assert_eq!(spared.peeked, (50, 700));
        assert_eq!((spared.given, spared.without), (3_040, 3_040 + 970 + 8_100));
        assert_eq!(spared.percent(), 74);
        assert_eq!(Spared::of(&[]).percent(), 0);
    }
}
