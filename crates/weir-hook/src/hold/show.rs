//! Shows the replacement of a stored output, depending on its purpose.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use weir_clients::{Done, Purpose, Tool, ToolCall};
use weir_context::text::StoredTextSource;
use weir_digest::{About, Frame, Page};
use weir_host::error::CommandError;
use weir_host::face::Face;
use weir_run::looked_for;

use super::{KeptText, beginning};
use crate::unreadable;

/// How much of an output is read to see of which kind it is, in bytes.
const MAX_SAMPLE_BYTES: u64 = 1 << 20;
/// How many tokens of a file's beginning precede a digest of it, in a client that numbers the lines it shows.
const MAX_FIRST_TOKENS: usize = 150;
/// The maximum numbers of tokens for the names that the digest of a flood lacks, and that of another output.
const FLOOD_NAMES_TOKENS: usize = 800;
const MAX_NAMES_TOKENS: usize = 400;
/// Of another output that is short, names get one token for this many bytes, which is about a tenth of it.
const BYTES_PER_NAMES_TOKEN: usize = 40;

/// What is known about how an output came about.
pub(crate) struct OutputContext<'a> {
    pub purpose: Purpose,
    /// The file that was read.
    pub path: Option<&'a Path>,
    /// What the model wants to know from it.
    pub question: Option<&'a str>,
    /// A plain file with the complete text, which the client can open on its own.
    pub file: Option<&'a Path>,
    /// How the model can read more than it is shown.
    pub face: Face,
    pub most: usize,
    /// Whether the client numbers the lines that it is given, beginning with the first line of the file.
    pub is_numbered: bool,
    /// The number of lines at the beginning that the model has been shown already.
    pub shown_lines: u64,
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

/// Whether an output that was asked for is data, by its beginning.
pub(super) fn is_data(used: &ToolCall, done: &Done) -> bool {
    let Tool::Shell { command } = &used.tool else { return false };
    let mut beginning = Vec::new();
    let file = done.output.saved.as_deref().and_then(super::open);
    let read = file.map(|file: File| file.take(MAX_SAMPLE_BYTES).read_to_end(&mut beginning));
    if !matches!(read, Some(Ok(_))) {
        beginning = done.output.text.brief().into_owned().into_bytes();
    }
    weir_digest::read(&beginning.as_slice(), About { command, lists: false }).is_ok_and(|page| page.is_data())
}

/// Returns the replacement of a text. `head` says how the command went.
pub(crate) fn shown(kept: &KeptText, head: &str, ask: &OutputContext<'_>) -> Result<String, CommandError> {
    let source = StoredTextSource::new(&kept.text)?;
    let about = About { command: &kept.title, lists: ask.purpose == Purpose::Flood };
    let mut page = weir_digest::read(&source, about).map_err(unreadable)?;
    if ask.purpose == Purpose::AskedFor && !page.is_data() {
        let parts = beginning::Parts { path: ask.path, head, more: &ask.read_on(), most: ask.most };
        return beginning::shown(&kept.text, kept.reference, &parts, ask.is_numbered);
    }
    if ask.shown_lines > 0 {
        leave_out(&mut page, ask.shown_lines);
    }
    if !ask.is_numbered {
        return digest(kept, head, &source, page, ask);
    }
    // The first line that the client numbers is the first line of the file.
    let first = beginning::first_lines(&kept.text, MAX_FIRST_TOKENS)?;
    let most = ask.most.saturating_sub(MAX_FIRST_TOKENS);
    Ok(first + &digest(kept, head, &source, page, &OutputContext { most, ..*ask })?)
}

/// Leaves out the facts that are no more than one of the first lines.
fn leave_out(page: &mut Page, lines: u64) {
    for part in &mut page.parts {
        part.items.retain(|item| item.text.contains('\n') || item.until.or(item.line).is_none_or(|line| line > lines));
    }
}

fn digest(
    kept: &KeptText,
    head: &str,
    source: &StoredTextSource<'_>,
    page: Page,
    ask: &OutputContext<'_>,
) -> Result<String, CommandError> {
    let mut remarks: Vec<String> = source.remark().into_iter().collect();
    if ask.shown_lines > 0 {
        remarks.push(format!("lines 1-{} are shown above", ask.shown_lines));
    }
    let bytes = kept.text.bytes();
    let mut matches = Vec::new();
    // Where every record is shown in full, what matches is among them.
    if let Some(question) = ask.question.filter(|_| !page.is_complete) {
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
    let names = names_budget(ask.purpose, bytes);
    let budget = page.budget(bytes).min(ask.most.saturating_sub(names));
    let digest = page
        .render_after(matches, &frame, budget)
        .with_names(source, page.words.as_deref(), names)
        .map_err(unreadable)?;
    Ok(digest.to_string())
}

/// Returns how many tokens the names that a digest lacks may take.
fn names_budget(purpose: Purpose, bytes: u64) -> usize {
    match purpose {
        Purpose::Flood => FLOOD_NAMES_TOKENS,
        _ => MAX_NAMES_TOKENS.min(bytes as usize / BYTES_PER_NAMES_TOKEN),
    }
}
