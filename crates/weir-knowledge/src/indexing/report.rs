//! The report on what indexing did.
//!
//! Invariant: every file that was examined is in exactly one of the counts.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;
use weir_core::Reference;
use weir_host::answer::{Answer, counted, one_line, size};
use weir_host::face::Face;
use weir_policy::gate::Refusal;
use weir_store::Kept;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SkipReason {
    Secret,
    Denied,
    Binary,
    Pdf,
    Large,
    Empty,
    Link,
    Special,
}

impl From<Refusal> for SkipReason {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Rule => Self::Denied,
            Refusal::Secret => Self::Secret,
        }
    }
}

impl SkipReason {
    fn key(self) -> &'static str {
        match self {
            Self::Secret => "secret",
            Self::Denied => "denied",
            Self::Binary => "binary",
            Self::Pdf => "pdf",
            Self::Large => "large",
            Self::Empty => "empty",
            Self::Link => "link",
            Self::Special => "special",
        }
    }

    /// Returns the reason as words after a count.
    fn of_many(self) -> &'static str {
        match self {
            Self::Secret => "hidden as secret",
            Self::Denied => "denied by rules",
            Self::Binary => "binary",
            Self::Pdf => "PDF",
            Self::Large => "larger than 8 MiB",
            Self::Empty => "empty",
            Self::Link => "symbolic links",
            Self::Special => "not regular files",
        }
    }

    /// Returns the reason as a sentence about one file.
    pub fn of_one(self) -> &'static str {
        match self {
            Self::Secret => Refusal::Secret.as_str(),
            Self::Denied => Refusal::Rule.as_str(),
            Self::Binary => "it is binary, not text",
            Self::Pdf => "PDF is not supported yet; index its text, for example from pdftotext",
            Self::Large => "it is larger than 8 MiB",
            Self::Empty => "it is empty",
            Self::Link => "it is a symbolic link",
            Self::Special => "it is not a regular file",
        }
    }
}

/// A file that could not be read.
pub(super) struct UnreadableFile {
    path: String,
    pub(super) why: String,
}

const MAX_NAMED_FILES: usize = 5;

#[derive(Default)]
pub(super) struct IndexReport {
    /// Whether the report is about one file or text, which has a reference.
    is_of_one: bool,
    pub(super) new: usize,
    pub(super) changed: usize,
    pub(super) unchanged: usize,
    pub(super) removed: usize,
    /// The size of the new and changed texts, in bytes.
    pub(super) bytes: u64,
    pub(super) took: Duration,
    /// The first few files that could not be read.
    pub(super) failed: Vec<UnreadableFile>,
    not_read: usize,
    skipped: BTreeMap<SkipReason, usize>,
    redacted: BTreeMap<String, usize>,
    evicted: usize,
    unfinished: Option<String>,
    /// The entry that was stored or found last.
    reference: Option<Reference>,
}

impl IndexReport {
    pub(crate) fn of_one() -> Self {
        Self { is_of_one: true, ..Self::default() }
    }

    pub(super) fn skip(&mut self, why: SkipReason) {
        *self.skipped.entry(why).or_default() += 1;
    }

    pub(super) fn fail(&mut self, path: &str, why: String) {
        self.not_read += 1;
        if self.failed.len() < MAX_NAMED_FILES {
            self.failed.push(UnreadableFile { path: path.to_owned(), why });
        }
    }

    pub(super) fn is_new(&mut self, kept: Kept) {
        self.new += 1;
        self.keep(kept);
    }

    pub(super) fn is_changed(&mut self, kept: Kept) {
        self.changed += 1;
        self.keep(kept);
    }

    pub(super) fn is_unchanged(&mut self, reference: Reference) {
        self.unchanged += 1;
        self.reference = Some(reference);
    }

    fn keep(&mut self, kept: Kept) {
        self.reference = Some(kept.reference);
        self.evicted += kept.evicted;
        for rule in kept.redacted {
            *self.redacted.entry(rule.to_string()).or_default() += 1;
        }
        if let Some(error) = kept.unfinished {
            self.unfinished = Some(error.to_string());
        }
    }

    /// Returns why the only file was skipped, if it was.
    pub(super) fn only_reason(&self) -> Option<SkipReason> {
        self.skipped.keys().next().copied()
    }

    /// Returns the answer. An empty label means a text without one.
    pub(super) fn answer(&self, label: &str, face: Face) -> Answer<IndexData> {
        let indexed = self.new + self.changed + self.unchanged;
        let shown = one_line(label, 200);
        let mut lines = vec![self.headline(&shown, indexed)];
        if !self.skipped.is_empty() {
            let list = self.skipped.iter().map(|(why, count)| format!("{count} {}", why.of_many()));
            lines.push(format!("skipped: {}", list.collect::<Vec<_>>().join(", ")));
        }
        if self.not_read > 0 {
            let named = self.failed.iter().map(|failed| format!("{} ({})", one_line(&failed.path, 120), failed.why));
            let more = if self.not_read > self.failed.len() { ", …" } else { "" };
            lines.push(format!("{} could not be read: {}{more}", self.not_read, named.collect::<Vec<_>>().join(", ")));
        }
        if !self.redacted.is_empty() {
            let list = self.redacted.iter().map(|(rule, count)| format!("{rule} ×{count}"));
            lines.push(format!("redacted before storing: {}", list.collect::<Vec<_>>().join(", ")));
        }
        if self.evicted > 0 {
            lines.push(format!("evicted {} old runs to stay within the quota", self.evicted));
        }
        if let Some(error) = &self.unfinished {
            lines.push(format!("kept, but may not be searchable yet: {error}"));
        }
        if indexed > 0 && !label.is_empty() {
            let by = match face {
                Face::Terminal => face.option_with_text("source", &shown),
                Face::Mcp | Face::Http => format!("source \"{shown}\""),
            };
            lines.push(format!("search it with {by}"));
        }
        let data = self.data(label);
        let text = lines.join("\n");
        if indexed + self.removed > 0 { Answer::new(text, data) } else { Answer::nothing(text, data) }
    }

    fn headline(&self, label: &str, indexed: usize) -> String {
        let took = format!("{:.1} s", self.took.as_secs_f64());
        if let Some(reference) = self.reference.filter(|_| self.is_of_one) {
            let name = if label.is_empty() { "the text" } else { label };
            let what = match (self.new, self.changed) {
                (1, _) => "indexed",
                (_, 1) => "reindexed",
                _ => return format!("unchanged: {name} is {reference}"),
            };
            return format!("{what} {name} as {reference} ({})", size(self.bytes));
        }
        if indexed + self.removed == 0 {
            return format!("nothing to index in {label}");
        }
        let counts =
            [(self.new, "new"), (self.changed, "changed"), (self.unchanged, "unchanged"), (self.removed, "removed")];
        let counts = counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
        let counts = counts.collect::<Vec<_>>().join(", ");
        format!("{label}: {} ({counts}; {} in {took})", counted(indexed, "file", "files"), size(self.bytes))
    }

    fn data(&self, label: &str) -> IndexData {
        let not_read = |it: &UnreadableFile| NotReadData { path: it.path.clone(), why: it.why.clone() };
        IndexData {
            source: (!label.is_empty()).then(|| label.to_owned()),
            reference: self.reference.filter(|_| self.is_of_one).map(|it| it.to_string()),
            new: self.new,
            changed: self.changed,
            unchanged: self.unchanged,
            removed: self.removed,
            skipped: self.skipped.iter().map(|(why, count)| (why.key(), *count)).collect(),
            not_read: self.not_read,
            not_read_first: self.failed.iter().map(not_read).collect(),
            redacted: self.redacted.clone(),
            bytes: self.bytes,
            seconds: (self.took.as_secs_f64() * 1_000.0).round() / 1_000.0,
        }
    }
}

/// The result of indexing, for programs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct IndexData {
    /// The label to search by.
    source: Option<String>,
    /// The entry, if a single file or text was indexed.
    reference: Option<String>,
    new: usize,
    changed: usize,
    unchanged: usize,
    removed: usize,
    /// The number of skipped files, by reason.
    skipped: BTreeMap<&'static str, usize>,
    /// The number of files that could not be read.
    not_read: usize,
    /// The first of them.
    not_read_first: Vec<NotReadData>,
    /// The number of secrets removed before storing, by rule.
    redacted: BTreeMap<String, usize>,
    /// The size of the new and changed texts.
    bytes: u64,
    seconds: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct NotReadData {
    path: String,
    why: String,
}
