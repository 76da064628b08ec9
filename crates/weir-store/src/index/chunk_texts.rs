//! Reads the texts of chunks back from their entries. Invariant: an entry that is gone has no text, and one whose text
//! cannot be read has only its title.

use std::collections::HashMap;

use super::documents::{ChunkRow, title_of_chunk, why_not};
use super::span::Bodies;
use crate::error::{Fault, Unreadable};
use crate::feed::Feed;

const MAX_OPEN_TEXTS: usize = 32;

/// Reads chunks back. Keeps the texts of some entries open, since chunks of one entry are often read together.
pub(crate) struct ChunkTexts<'a> {
    feed: &'a dyn Feed,
    open: HashMap<i64, Option<OpenEntry>>,
}

struct OpenEntry {
    title: String,
    /// The text, or why it cannot be read.
    bodies: Result<Bodies, Unreadable>,
}

/// The text of a chunk below its title.
pub(super) struct TitledText {
    /// The title of the entry, followed by the headings above the chunk.
    pub(super) title: String,
    /// The chunk itself; empty if the text cannot be read.
    pub(super) body: String,
    /// Why the text cannot be read, if it cannot.
    pub(super) unreadable: Option<Unreadable>,
}

impl TitledText {
    /// Returns the text that is embedded: the title, then the body.
    pub(super) fn embedded(&self) -> String {
        format!("{}\n{}", self.title, self.body)
    }
}

impl<'a> ChunkTexts<'a> {
    pub(crate) fn new(feed: &'a dyn Feed) -> Self {
        Self { feed, open: HashMap::new() }
    }

    /// Returns the text of a chunk, or `None` if its entry is gone by now.
    pub(super) fn read(&mut self, chunk: &ChunkRow) -> Result<Option<TitledText>, Fault> {
        if !self.open.contains_key(&chunk.entry_id) {
            if self.open.len() >= MAX_OPEN_TEXTS {
                self.open.clear();
            }
            let entry = self.feed.entry(chunk.entry_id)?;
            let opened = entry.map(|entry| OpenEntry { title: entry.title, bodies: entry.text.map(Bodies::new) });
            self.open.insert(chunk.entry_id, opened);
        }
        let Some(Some(entry)) = self.open.get_mut(&chunk.entry_id) else { return Ok(None) };
        let mut body = String::new();
        let unreadable = match &mut entry.bodies {
            Ok(bodies) => why_not(bodies.read(chunk.span).map(|read| body = read).map_err(Fault::from))?,
            Err(why) => Some(*why),
        };
        Ok(Some(TitledText { title: title_of_chunk(&entry.title, &chunk.heading), body, unreadable }))
    }
}
