//! Entries as an answer shows them.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use weir_records::{Author, KeptRecord};

use super::EXCERPT_BYTES;

/// Who wrote something, and with which client.
#[derive(Serialize, JsonSchema)]
pub(in crate::service) struct ShownAuthor {
    pub(in crate::service) user: String,
    pub(in crate::service) client: String,
}

/// A note that says something else on the same topic.
#[derive(Serialize, JsonSchema)]
pub(in crate::service) struct ShownFork {
    pub(in crate::service) id: String,
    pub(in crate::service) author: ShownAuthor,
    /// When it was kept, in milliseconds since 1970.
    at: i64,
}

/// Who confirmed something, and when.
#[derive(Serialize, JsonSchema)]
pub(super) struct ShownConfirmation {
    by: String,
    at: i64,
}

/// An entry. Of several in one answer, each has an excerpt.
#[derive(Serialize, JsonSchema)]
pub(in crate::service) struct ShownEntry {
    pub(in crate::service) id: String,
    pub(in crate::service) author: ShownAuthor,
    pub(super) audience: &'static str,
    /// When it was kept, in milliseconds since 1970.
    pub(super) at: i64,
    pub(in crate::service) superseded_by: Option<String>,
    pub(super) confirmed: Vec<ShownConfirmation>,
    pub(in crate::service) confirmed_by: Vec<String>,
    pub(in crate::service) fork: Vec<ShownFork>,
    /// Whether there is more about it than was looked at.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(in crate::service) more_about: bool,
    #[serde(flatten)]
    pub(in crate::service) content: Option<ShownContent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::service) excerpt: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::service) text: Option<String>,
    /// Whether the text can no longer be read.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) missing_text: bool,
    /// How well it answers a search; more is better.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) score: Option<f64>,
}

/// What an entry in clear says about itself.
#[derive(Serialize, JsonSchema)]
pub(in crate::service) struct ShownContent {
    pub(in crate::service) reference: String,
    pub(in crate::service) kind: &'static str,
    origin: &'static str,
    pub(in crate::service) title: String,
    source: Option<String>,
    /// What it says as a note: kind, topic, files, commit and branch.
    pub(in crate::service) note: Option<Map<String, Value>>,
    /// The size of its text.
    bytes: u64,
}

impl ShownAuthor {
    fn of(author: &Author) -> Self {
        Self { user: author.user.0.clone(), client: author.client.clone() }
    }
}

impl ShownEntry {
    /// Shows an entry without its text.
    pub(super) fn of(kept: &KeptRecord, fork: Vec<ShownFork>) -> Self {
        let (record, confirmed) = (&kept.record, &kept.confirmed);
        let note = |note| match serde_json::to_value(note) {
            Ok(Value::Object(note)) => Some(note),
            _ => None,
        };
        let content = kept.entry().map(|entry| ShownContent {
            reference: entry.reference.as_str().to_owned(),
            kind: entry.kind.as_str(),
            origin: entry.origin.as_str(),
            title: entry.title.clone(),
            source: entry.source.clone(),
            note: entry.note.as_ref().and_then(note),
            bytes: entry.bytes,
        });
        Self {
            id: record.id.to_string(),
            author: ShownAuthor::of(&record.author),
            audience: record.audience.as_str(),
            at: record.time.millis,
            superseded_by: kept.superseded_by.map(|id| id.to_string()),
            confirmed: confirmed.iter().map(|one| ShownConfirmation { by: one.by.0.clone(), at: one.at.0 }).collect(),
            confirmed_by: confirmed.iter().map(|one| one.by.0.clone()).collect(),
            fork,
            more_about: kept.has_more,
            content,
            excerpt: None,
            text: None,
            missing_text: false,
            score: None,
        }
    }
}

/// Names the other current notes on a topic.
pub(super) fn named(fork: &[KeptRecord]) -> Vec<ShownFork> {
    let shown = |other: &KeptRecord| ShownFork {
        id: other.record.id.to_string(),
        author: ShownAuthor::of(&other.record.author),
        at: other.record.time.millis,
    };
    fork.iter().map(shown).collect()
}

/// Returns the beginning of the text of an entry as it is shown. The field `bytes` of the entry has the size of the
/// whole.
pub(super) fn excerpt(kept: &KeptRecord, start: &[u8]) -> String {
    let text = String::from_utf8_lossy(start);
    // The last character may be cut.
    let is_cut = kept.entry().is_some_and(|entry| entry.bytes > EXCERPT_BYTES) && !start.is_empty();
    let text = text.trim_end_matches(|letter: char| is_cut && letter == char::REPLACEMENT_CHARACTER);
    if is_cut { format!("{text}…") } else { text.to_owned() }
}
