//! Shows a text that was asked for and is too large to be shown in full: the beginnings of its lines if they are long,
//! otherwise its beginning, followed by its outline or its end.
//!
//! Invariants: whatever is shown as the text's own is verbatim and in order; omissions are stated by line; the source
//! is the stored text, so nothing that was redacted reappears; if the client numbers lines, the text's own lines have
//! the numbers that they have in the file.

use std::path::Path;

use weir_core::Reference;
use weir_core::unseen::named;
use weir_core::wording::{counted, fence, size};
use weir_host::error::CommandError;
use weir_store::BlobReader;

use super::outline;

const BEGINNING_TOKENS: usize = 1_750;
/// The maximum size of the outline or the end, in tokens.
const MAX_REST_TOKENS: usize = 2_200;
/// The maximum number of tokens for the names that are not shown otherwise.
const MAX_NAMES_TOKENS: usize = 800;
/// The tokens of what is said about the text.
const FRAME_TOKENS: usize = 150;
/// Widths for cutting long lines, tried in turn until all lines fit.
const WIDTHS: [usize; 6] = [400, 240, 160, 120, 80, 60];
/// With fewer lines, their beginnings would be too small a part of the text.
const MIN_LINES: usize = 20;
/// At most this many bytes of a text are read for its beginning.
const MAX_BYTES: u64 = 8 << 20;

/// What is said about the text, and how long the whole may be.
pub(super) struct Parts<'a> {
    pub path: Option<&'a Path>,
    /// How the text came about.
    pub head: &'a str,
    /// How to read on.
    pub more: &'a str,
    /// The maximum number of tokens.
    pub most: usize,
}

/// Returns the replacement of the text. `is_numbered` says that the client numbers the lines of the replacement.
pub(super) fn shown(
    text: &BlobReader,
    reference: Reference,
    parts: &Parts<'_>,
    is_numbered: bool,
) -> Result<String, CommandError> {
    let bytes = text.bytes();
    let Parts { path, head, more, most } = parts;
    let room = most.saturating_sub(FRAME_TOKENS + MAX_NAMES_TOKENS).min(BEGINNING_TOKENS + MAX_REST_TOKENS);
    let rest = room * MAX_REST_TOKENS / (BEGINNING_TOKENS + MAX_REST_TOKENS);
    let lines = counted(text.line_count()? as usize, "line", "lines");
    let held = format!("{lines}, {} held as {reference}", size(bytes));
    let beginning = lossy(&text.range(0..bytes.min(MAX_BYTES))?);
    let outline = path.and_then(|path| outline::of(&beginning, path, rest)).filter(|_| bytes <= MAX_BYTES);
    if outline.is_none()
        && let Some((width, cut)) = cut_lines(&beginning, room).filter(|_| bytes <= MAX_BYTES)
    {
        let what = format!("every line, cut after {width} characters");
        return Ok(match is_numbered {
            true => format!("{cut}[weir: {what}; {held}; {more}]"),
            false => format!("{head}; {what}; {held}\n{}\n{more}", fence(reference, cut.trim_end())),
        });
    }
    if is_numbered {
        // The client would give wrong numbers to lines from the end.
        let (mut shown, after) = first(&beginning, if outline.is_some() { room - rest } else { room });
        let (what, outline) = match &outline {
            Some(outline) => ("beginning and outline", format!("; these are not lines of the file:\n{outline}")),
            None => ("beginning", String::new()),
        };
        let names = names(&format!("{shown}{outline}"), &beginning);
        shown.push_str(&format!("[weir: {what}; lines {}- left out; {held}; {more}{outline}{names}]", after + 1));
        return Ok(shown);
    }
    let (mut shown, after) = first(&beginning, room - rest);
    let what = match outline {
        Some(outline) => {
            shown.push_str(&format!("… lines {}- left out; outline of the whole file:\n{outline}", after + 1));
            "beginning and outline"
        }
        None => {
            let end = last_lines(text, rest)?;
            let last = text.line_ends_before(bytes)? + u64::from(!end.is_empty() && !end.ends_with('\n'));
            let from = last - end.lines().count() as u64 + 1;
            if from > after as u64 + 1 {
                shown.push_str(&format!("… lines {}-{} left out\n", after + 1, from - 1));
            }
            shown.push_str(&end);
            "beginning and end"
        }
    };
    shown.truncate(shown.trim_end().len());
    shown.push_str(&names(&shown, &beginning));
    Ok(format!("{head}; {what}; {held}\n{}\n{more}", fence(reference, &shown)))
}

/// Returns a line with the names of a text that are not shown.
fn names(shown: &str, text: &str) -> String {
    let names = weir_digest::names::not_in(shown, text, MAX_NAMES_TOKENS);
    names.map(|names| format!("\n… names in the lines left out{names}")).unwrap_or_default()
}

/// Returns the beginning of a text and its number of lines: whole lines or, of a single long line, what fits and a
/// remark below it.
fn first(text: &str, tokens: usize) -> (String, usize) {
    let first = &text[..whole_lines(text, tokens)];
    let lines = first.lines().count();
    match first.is_empty() || first.ends_with('\n') {
        true => (first.to_owned(), lines),
        false => (format!("{first}\n… rest of line {lines} left out\n"), lines),
    }
}

pub(super) fn first_lines(text: &BlobReader, tokens: usize) -> Result<String, CommandError> {
    // A token rarely has more than this many bytes.
    let beginning = lossy(&text.range(0..text.bytes().min(tokens as u64 * 16))?);
    let fitting = &beginning[..weir_tokens::fit(&beginning, tokens)];
    Ok(fitting.rfind('\n').map_or("", |end| &fitting[..=end]).to_owned())
}

/// Returns every line of a text, cut at the greatest width at which all of them have at most `room` tokens.
fn cut_lines(text: &str, room: usize) -> Option<(usize, String)> {
    let count = text.lines().count();
    if count < MIN_LINES {
        return None;
    }
    WIDTHS.into_iter().find_map(|width| {
        // A token has at least one byte, and at most about six in a readable text.
        let bytes: usize = text.lines().map(|line| line.len().min(width)).sum::<usize>() + count;
        if bytes > room * 6 {
            return None;
        }
        let cut = text.lines().fold(String::with_capacity(bytes), |mut cut, line| {
            let end = line.char_indices().nth(width).map_or(line.len(), |(at, _)| at);
            cut.push_str(&line[..end]);
            cut.push_str(if end < line.len() { "…\n" } else { "\n" });
            cut
        });
        (weir_tokens::count(&cut) <= room).then_some((width, cut))
    })
}

fn lossy(bytes: &[u8]) -> String {
    named(&String::from_utf8_lossy(bytes)).into_owned()
}

/// Returns the end of the last line that fits or, within a single long line, the end of what fits.
fn whole_lines(text: &str, tokens: usize) -> usize {
    let end = weir_tokens::fit(text, tokens);
    match text[..end].rfind('\n') {
        Some(at) if end < text.len() => at + 1,
        _ => end,
    }
}

fn last_lines(text: &BlobReader, tokens: usize) -> Result<String, CommandError> {
    let bytes = text.bytes();
    // A token has a few bytes on average; a text with more tokens per byte is cut further below.
    let end = lossy(&text.range(bytes.saturating_sub(tokens as u64 * 4)..bytes)?);
    // The rest of a line that began earlier is not shown.
    let mut end = end.find('\n').map_or("", |at| &end[at + 1..]);
    while weir_tokens::count(end) > tokens {
        let half = end.ceil_char_boundary(end.len() / 8 + 1);
        end = end[half..].find('\n').map_or("", |at| &end[half + at + 1..]);
    }
    Ok(end.to_owned())
}
