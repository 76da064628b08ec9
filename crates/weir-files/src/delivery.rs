//! Accounts for what a session was given of files, and how many tokens that saved.
//!
//! Invariant: only recorded data counts, and text that the conversation already has never counts as saved.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::FileUse;

/// What the model was given of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Delivery {
    /// All of the text, or the requested lines.
    Text,
    /// The statement that the file is unchanged.
    Unchanged,
    /// The outline instead of the text.
    Outline,
}

pub(super) fn record(seen: &FileUse<'_>, given: Delivery, gave: u64) -> Map<String, Value> {
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

/// The fields that are read back from an event.
#[derive(Deserialize)]
struct FileEventFields {
    path: String,
    how: String,
    given: Delivery,
    gave: u64,
    whole: u64,
    hash: String,
}

/// What the files of a session cost and saved, in tokens.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct FileSavings {
    /// The tokens of the answers to reads.
    pub given: u64,
    /// The tokens that they would have had with the full text each time.
    pub without: u64,
    /// How many reads were answered with `unchanged`, and the tokens that would have been repeated.
    pub unchanged: (usize, u64),
    /// How many files were answered with an outline when they were first read, and how many tokens that saved.
    pub outlined: (usize, u64),
    /// The tokens of the outlines that were looked at, and of the files themselves. Whether the files would have been
    /// read is unknown, so this does not count as saved.
    pub peeked: (u64, u64),
}

impl FileSavings {
    /// Sums the file events of a session, oldest first. Events without token counts are skipped.
    pub fn of(events: &[String]) -> Self {
        let mut spared = Self::default();
        let mut seen = HashSet::new();
        for told in events.iter().filter_map(|data| serde_json::from_str::<FileEventFields>(data).ok()) {
            let FileEventFields { path, how, given, gave, whole, hash } = told;
            let shorter = whole.saturating_sub(gave);
            let is_first = given == Delivery::Outline && seen.insert((how.clone(), path, hash));
            match (how.as_str(), given) {
                ("read", Delivery::Unchanged) => {
                    spared.unchanged = (spared.unchanged.0 + 1, spared.unchanged.1 + shorter);
                    spared.add(gave, gave + shorter);
                }
                // The same outline again saves nothing, because the text was not requested again.
                ("read", Delivery::Outline) if is_first => {
                    spared.outlined = (spared.outlined.0 + 1, spared.outlined.1 + shorter);
                    spared.add(gave, gave + shorter);
                }
                ("read", _) => spared.add(gave, gave),
                (_, Delivery::Outline) if is_first => {
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

    pub fn percent(&self) -> u64 {
        (self.without - self.given) * 100 / self.without.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(path: &str, how: &str, given: &str, (gave, whole): (u64, u64)) -> String {
        json!({ "path": path, "how": how, "given": given, "gave": gave, "whole": whole, "hash": "h" }).to_string()
    }

    #[test]
    fn only_what_would_have_been_repeated_or_read_whole_is_spared() {
        let events = [
            r#"{"path":"old.rs","how":"read"}"#.to_owned(),
            "no JSON".to_owned(),
            event("a.rs", "read", "text", (1_010, 1_000)),
            event("a.rs", "read", "unchanged", (30, 1_000)),
            event("b.rs", "read", "outline", (900, 9_000)),
            event("b.rs", "read", "outline", (900, 9_000)),
            event("b.rs", "read", "text", (200, 9_000)),
            event("c.rs", "outlined", "outline", (50, 700)),
            event("c.rs", "outlined", "outline", (50, 700)),
            event("d.rs", "outlined", "text", (9, 9)),
        ];
        let spared = FileSavings::of(&events);
        assert_eq!(spared.unchanged, (1, 970));
        assert_eq!(spared.outlined, (1, 8_100));
        assert_eq!(spared.peeked, (50, 700));
        assert_eq!((spared.given, spared.without), (3_040, 3_040 + 970 + 8_100));
        assert_eq!(spared.percent(), 74);
        assert_eq!(FileSavings::of(&[]).percent(), 0);
    }
}
