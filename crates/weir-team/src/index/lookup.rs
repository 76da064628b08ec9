//! Finds records in the index by their ids.

use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet as _, Searcher, SegmentReader, TERMINATED, Term};

use super::fields::{Fields, columns};

/// What the index has under one id.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(super) struct Existing {
    /// The documents that can be found.
    pub(super) documents: u64,
    /// The words of these together.
    pub(super) words: u64,
    /// Those that were removed and whose words are still in a file.
    pub(super) removed: u64,
}

/// Returns the segments that have a term.
pub(super) fn segments_with<'a>(
    searcher: &'a Searcher,
    fields: &Fields,
    term: &Term,
) -> tantivy::Result<Vec<&'a SegmentReader>> {
    let mut segments = Vec::new();
    for segment in searcher.segment_readers() {
        if segment.inverted_index(fields.facts)?.doc_freq(term)? > 0 {
            segments.push(segment);
        }
    }
    Ok(segments)
}

/// Returns what these segments have under the term of an id.
pub(super) fn existing(segments: &[&SegmentReader], fields: &Fields, id: &Term) -> tantivy::Result<Existing> {
    let mut found = Existing::default();
    for segment in segments {
        let postings = segment.inverted_index(fields.facts)?.read_postings(id, IndexRecordOption::Basic)?;
        let Some(mut postings) = postings else { continue };
        let lengths = segment.fast_fields().u64(columns::WORDS)?;
        while postings.doc() != TERMINATED {
            if segment.is_deleted(postings.doc()) {
                found.removed += 1;
            } else {
                found.documents += 1;
                found.words += lengths.first(postings.doc()).unwrap_or_default();
            }
            postings.advance();
        }
    }
    Ok(found)
}
