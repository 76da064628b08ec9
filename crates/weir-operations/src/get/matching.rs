//! Finds the parts of a text that match an intent: facts of its digest, and sections.

use weir_context::text::{StoredTextSource, unreadable};
use weir_core::Entry;
use weir_digest::{About, Frame, Page, intent};
use weir_host::answer::{Answer, Budget, headline};
use weir_host::error::CommandError;
use weir_host::face::Face;
use weir_store::BlobReader;

use super::GetData;

/// Returns the facts and the sections that match best, verbatim, and words for a next question.
pub(super) fn answer(
    entry: &Entry,
    text: &BlobReader,
    intent: &str,
    budget: Budget,
    face: Face,
) -> Result<Answer<GetData>, CommandError> {
    let source = StoredTextSource::new(text)?;
    let remarks: Vec<String> = source.remark().into_iter().collect();
    let found = intent::find(&source, intent).map_err(unreadable)?;
    // An entry that is not a run has a title too, but it is not a command.
    let command = entry.run.as_ref().map_or("", |_| &entry.title);
    let parts = found.parts(&weir_digest::read(&source, About { command, lists: false }).map_err(unreadable)?);
    let matching = parts.iter().map(|part| part.total).sum();
    let head = format!("{}{}", headline(entry), super::about(entry));
    let unmatched = format!("no matches: {}; try other words or a pattern", weir_run::looked_for(intent));
    let frame = Frame {
        head: &head,
        remarks: &remarks,
        reference: entry.reference,
        lines: source.lines()?,
        bytes: entry.bytes,
        read_on: if matching == 0 { &unmatched } else { face.read_on() },
    };
    let page = Page { parts, ..Page::default() };
    let digest = page.render(&frame, budget.tokens());
    let (reference, text) = (entry.reference.to_string(), digest.body.clone());
    Ok(Answer::new(digest.to_string(), GetData::Matching { reference, matching, text }))
}
