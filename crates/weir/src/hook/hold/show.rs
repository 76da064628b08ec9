//! Shows the replacement of a stored output, depending on its purpose.

use std::path::Path;

use weir_clients::Purpose;
use weir_digest::{About, Frame, Page};

use super::{KeptText, beginning};
use crate::error::CommandError;
use crate::face::Face;
use crate::hook::unreadable;
use crate::run::looked_for;
use crate::text::StoredTextSource;

/// Kinds in which no part represents the rest, so that a digest says more than a beginning.
const DATA: [&str; 5] = ["json", "ndjson", "csv", "binary", "opaque"];

/// What is known about how an output came about.
pub(in crate::hook) struct OutputContext<'a> {
    /// The purpose of the output.
    pub purpose: Purpose,
    /// The file that was read.
    pub path: Option<&'a Path>,
    /// What the model wants to know from it.
    pub question: Option<&'a str>,
    /// A plain file with the complete text, which the client can open on its own.
    pub file: Option<&'a Path>,
    /// How the model can read more than it is shown.
    pub face: Face,
}

impl OutputContext<'_> {
    /// Returns how to read more than is shown.
    fn read_on(&self) -> String {
        match self.file {
            Some(file) => format!("{}, or read {}", self.face.read_on(), file.display()),
            None => self.face.read_on().to_owned(),
        }
    }
}

/// Returns the replacement of a text. `head` says how the command went.
pub(in crate::hook) fn shown(kept: &KeptText, head: &str, ask: &OutputContext<'_>) -> Result<String, CommandError> {
    let source = StoredTextSource::new(&kept.text)?;
    let page = weir_digest::read(&source, About { command: &kept.title }).map_err(unreadable)?;
    let is_data = !page.kinds.is_empty() && page.kinds.iter().all(|kind| DATA.contains(kind));
    if ask.purpose == Purpose::AskedFor && !is_data {
        return beginning::shown(&kept.text, ask.path, head, kept.reference, &ask.read_on());
    }
    digest(kept, head, &source, page, ask)
}

fn digest(
    kept: &KeptText,
    head: &str,
    source: &StoredTextSource<'_>,
    page: Page,
    ask: &OutputContext<'_>,
) -> Result<String, CommandError> {
    let mut remarks: Vec<String> = source.remark().into_iter().collect();
    let bytes = kept.text.bytes();
    let mut matches = Vec::new();
    if let Some(question) = ask.question {
        let found = weir_digest::intent::find(source, question).map_err(unreadable)?;
        if found.matching_sections() == 0 {
            remarks.push(format!("no lines match the question: {}", looked_for(question)));
        } else {
            matches = found.parts(&page);
        }
    }
    let frame = Frame {
        head,
        remarks: &remarks,
        reference: kept.reference,
        lines: kept.text.line_count()?,
        bytes,
        read_on: &ask.read_on(),
    };
    Ok(page.render_after(matches, &frame, weir_digest::budget(bytes)).to_string())
}
