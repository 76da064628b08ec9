//! `ctx_annotate`: stores a note.

use weir_core::{EntryKind, Level, NewEntry, Note, NoteKind, Query};
use weir_host::answer::{self, Answer, headline, name, one_line};
use weir_host::choice::Choice;
use weir_host::error::CommandError;
use weir_store::{Hit, Kept, Store};

use super::{Declared, Effect, Listing};
use crate::needs::KnowledgeContext;
use crate::references;
use crate::schema::silent;
use crate::semantic::{EmbeddedQuery, Searcher};

const MAX_SIMILAR_NOTES: usize = 3;

/// Keep a note for later sessions.
#[derive(Debug, clap::Args, serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct Annotate {
    /// The decision, finding or convention; entries it cites as [ctx:…] do not expire
    #[schemars(transform = silent)]
    text: String,
    /// Kind of note [default: finding]
    #[schemars(transform = silent)]
    #[arg(long)]
    kind: Option<Choice<NoteKind>>,
    /// Reusing a topic adds a revision
    #[arg(long)]
    topic: Option<String>,
    /// References of notes that this one replaces
    #[schemars(transform = silent)]
    #[arg(long, value_name = "REF")]
    #[serde(default)]
    supersedes: Vec<String>,
    /// Files the note is about; it is marked as doubtful when they change
    #[schemars(transform = silent)]
    #[arg(long, value_name = "PATH", alias = "file")]
    #[serde(default)]
    files: Vec<String>,
    /// Scope that can see the note [default: project]
    #[schemars(transform = silent)]
    #[arg(long)]
    scope: Option<Choice<Level>>,
}

impl Declared for Annotate {
    type Context = KnowledgeContext;
    type Data = AnnotateData;

    const TOOL: &'static str = weir_tools::ANNOTATE.name;
    const COMMAND: Option<&'static str> = Some("note");
    const EFFECT: Effect = weir_tools::ANNOTATE.effect;
    const LISTING: Listing = Listing::Core;
    const IS_BRIEF_WRITE: bool = true;
    const EXAMPLES: &'static str = "\
Examples:
  weir note \"The pool has 16 connections: more starve the database\" --kind decision --topic db-pool
  weir note \"Never call reset() in tests\" --kind convention --files src/reset.rs
  weir note \"I prefer small commits\" --scope user
  git log -1 | weir note - --topic last-release

A note with an existing topic in the same scope becomes a new revision; the old one is kept and marked as superseded.
Pass - as the text to read it from standard input.";

    /// Reads the text from standard input for `-`, so that long texts need no quoting.
    fn adapt_from_shell(mut self) -> Result<Self, CommandError> {
        if self.text == "-" {
            self.text.clear();
            std::io::Read::read_to_string(&mut std::io::stdin(), &mut self.text)
                .map_err(|error| CommandError::usage(format!("cannot read the note from standard input: {error}")))?;
        }
        Ok(self)
    }

    async fn run(self, context: &KnowledgeContext) -> Result<Answer<AnnotateData>, CommandError> {
        if self.text.trim().is_empty() {
            return Err(CommandError::usage("the note is empty").hint(
                context
                    .face()
                    .word("pass the note as an argument, or - to read standard input", "pass the note in `text`"),
            ));
        }
        let level = self.scope.map_or(Level::Project, |scope| scope.0);
        let (files, unbound) = context.bind(level, &self.files);
        let head = context.head()?;
        let note = Note {
            topic: self.topic.map(|topic| topic.trim().to_owned()).filter(|topic| !topic.is_empty()),
            supersedes: references::resolve_all(context, &self.supersedes).await?,
            files,
            commit: head.commit,
            branch: head.branch,
            ..Note::new(self.kind.map_or(NoteKind::Finding, |kind| kind.0))
        };
        let title = one_line(self.text.trim_start().lines().next().unwrap_or_default(), 100);
        let entry = NewEntry {
            text: self.text.into_bytes(),
            note: Some(note),
            ..NewEntry::new(EntryKind::Note, context.origin(), level, title)
        };
        let query = query_for(&entry.text);
        // The answer may wait for the model; the note does not.
        let kept = context.keep(entry).await?;
        let neighbours = neighbours(context, level, query, &kept).await;
        Ok(KeptNote { kept, level, unbound, neighbours }.answer())
    }
}

/// Returns the query for notes that are similar to this one.
fn query_for(text: &[u8]) -> Query {
    let words: Vec<&str> = std::str::from_utf8(text).unwrap_or_default().split_whitespace().take(40).collect();
    Query { kind: Some(EntryKind::Note), ..Query::new(words.join(" "), MAX_SIMILAR_NOTES + 4) }
}

/// Returns notes that are similar to one that was just kept. Searches only what is already indexed, so that the answer
/// does not wait for the index.
async fn neighbours(context: &KnowledgeContext, level: Level, query: Query, kept: &Kept) -> Vec<Hit> {
    let Ok(searcher) = Searcher::new(context).await else { return Vec::new() };
    let Ok(EmbeddedQuery { query, .. }) = searcher.embed_query(query).await else { return Vec::new() };
    let found = searcher.search(level, &query, Store::search_indexed).await;
    let mut hits = found.map(|found| found.hits).unwrap_or_default();
    let is_known = |hit: &Hit| hit.entry.reference == kept.reference || kept.superseded.contains(&hit.entry.reference);
    hits.retain(|hit| !is_known(hit) && hit.entry.superseded_by.is_none());
    hits.truncate(MAX_SIMILAR_NOTES);
    hits
}

struct KeptNote {
    kept: Kept,
    level: Level,
    /// Why files are not bound to it.
    unbound: Vec<String>,
    /// Similar notes.
    neighbours: Vec<Hit>,
}

/// A note that was kept.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct AnnotateData {
    reference: String,
    /// The revision within its topic, from 1.
    revision: u32,
    /// Notes that this one replaced.
    superseded: Vec<String>,
    /// Entries that do not expire any more, because this note cites them.
    pinned: Vec<String>,
    /// The rules that removed a secret, once for each secret.
    redacted: Vec<&'static str>,
    /// Why files are not bound to the note.
    not_bound: Vec<String>,
    /// Similar notes that this one may replace.
    neighbours: Vec<String>,
}

impl KeptNote {
    fn answer(self) -> Answer<AnnotateData> {
        let text = self.text();
        let Self { kept, unbound, neighbours, .. } = self;
        let data = AnnotateData {
            reference: kept.reference.to_string(),
            revision: kept.revision,
            superseded: answer::references(&kept.superseded),
            pinned: answer::references(&kept.pinned),
            redacted: kept.redacted,
            not_bound: unbound,
            neighbours: neighbours.iter().map(|hit| hit.entry.reference.to_string()).collect(),
        };
        Answer::new(text, data)
    }

    fn text(&self) -> String {
        let Self { kept, level, unbound, neighbours } = self;
        let mut lines = vec![format!("kept {} in {level} scope", kept.reference)];
        if kept.revision > 1 {
            lines.push(format!("revision {} of its topic", kept.revision));
        }
        if !kept.superseded.is_empty() {
            lines.push(format!("supersedes {}", answer::references(&kept.superseded).join(" ")));
        }
        if !kept.pinned.is_empty() {
            lines.push(format!("pinned because cited: {}", answer::references(&kept.pinned).join(" ")));
        }
        if !kept.redacted.is_empty() {
            lines.push(format!("redacted before storing: {}", kept.redacted.join(", ")));
        }
        lines.extend(unbound.iter().map(|problem| format!("not bound: {problem}")));
        if kept.evicted > 0 {
            lines.push(format!("evicted {} old runs to stay within the quota", kept.evicted));
        }
        if kept.behind {
            lines.push("another process is indexing: the next search will include it".to_owned());
        }
        if let Some(error) = &kept.unfinished {
            lines.push(format!("kept, but may not be searchable yet: {error}"));
        }
        if !neighbours.is_empty() {
            lines.push("similar notes that this one may supersede:".to_owned());
            let line = |hit: &Hit| format!("{}: {}", headline(&hit.entry), name(&hit.entry.title, 100));
            lines.extend(neighbours.iter().map(line));
        }
        lines.join("\n")
    }
}
