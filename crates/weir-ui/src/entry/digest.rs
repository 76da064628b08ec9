//! The digest of a stored text, line by line, as a model gets it.

use weir_context::text::{StoredTextSource, unreadable};
use weir_core::Entry;
use weir_digest::{About, Digest, Frame};
use weir_host::error::CommandError;
use weir_pages::entry::DigestLine;
use weir_store::BlobReader;

/// Up to this many tokens, a model gets the whole text.
const MAX_WHOLE_TOKENS: usize = 2_000;
/// The beginning of a heading of a digest.
const HEADING: &str = "== ";

#[derive(Default)]
pub(super) struct Digested {
    /// Its lines; empty if a model gets the whole text.
    pub(super) lines: Vec<DigestLine>,
    pub(super) tokens: Option<u64>,
}

impl Digested {
    pub(super) fn lines_named(&self) -> Vec<u64> {
        let number = |line: &DigestLine| match line {
            DigestLine::Line { at, .. } => *at,
            DigestLine::Headline(_) | DigestLine::Part(_) => None,
        };
        self.lines.iter().filter_map(number).collect()
    }
}

pub(super) fn of(entry: &Entry, text: &BlobReader) -> Result<Digested, CommandError> {
    let source = StoredTextSource::new(text)?;
    if weir_digest::whole(&source, MAX_WHOLE_TOKENS).map_err(unreadable)?.is_some() {
        return Ok(Digested::default());
    }
    let page = weir_digest::read(&source, About { command: &entry.title, lists: false }).map_err(unreadable)?;
    let head = match entry.run.as_ref().and_then(|run| Some((run.exit_code?, run.millis))) {
        Some((code, millis)) => format!("exit {code} in {millis} ms"),
        None => entry.kind.to_string(),
    };
    let frame = Frame {
        head: &head,
        remarks: &[],
        reference: entry.reference,
        lines: source.lines()?,
        bytes: entry.bytes,
        read_on: "",
    };
    let digest = page.render(&frame, weir_digest::budget(entry.bytes));
    let tokens = Some(weir_tokens::count(&digest.to_string()) as u64);
    Ok(Digested { lines: lines(&digest, entry.reference.as_str()), tokens })
}

/// Returns a digest without its marks.
fn lines(digest: &Digest, mark: &str) -> Vec<DigestLine> {
    let is_mark = |line: &str| line.strip_prefix("<<<") == Some(mark) || line.strip_suffix(">>>") == Some(mark);
    let head = digest.head.lines().map(|line| DigestLine::Headline(line.into()));
    let body = digest.body.lines().filter(|line| !is_mark(line)).map(|line| match line.strip_prefix(HEADING) {
        Some(heading) => DigestLine::Part(heading.into()),
        None => numbered(line),
    });
    head.chain(body).collect()
}

fn numbered(line: &str) -> DigestLine {
    let split = line.split_once(": ").and_then(|(number, text)| Some((number.parse().ok()?, text)));
    match split {
        Some((at, text)) => DigestLine::Line { at: Some(at), text: text.into() },
        None => DigestLine::Line { at: None, text: line.into() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_read_line_by_line() {
        let digest = Digest {
            head: "exit 1 in 5 ms".to_owned(),
            body: "<<<k7f2m9q4xz\n== failures: 1\n12: it broke\n  here: 3\nk7f2m9q4xz>>>".to_owned(),
            foot: String::new(),
        };
        let shown: Vec<String> = lines(&digest, "k7f2m9q4xz")
            .iter()
            .map(|line| match line {
                DigestLine::Headline(text) => format!("! {}", text.plain()),
                DigestLine::Part(text) => format!("# {}", text.plain()),
                DigestLine::Line { at, text } => format!("{at:?} {}", text.plain()),
            })
            .collect();
        assert_eq!(shown, ["! exit 1 in 5 ms", "# failures: 1", "Some(12) it broke", "None   here: 3"]);
    }
}
