//! Replaces data pasted into a prompt, such as logs, code or tables, by its size. The request around it is kept.
//!
//! A block is a fenced text or a paragraph. It is data if it is large and does not read like prose. Prose of any length
//! is kept: it is the request.

use weir_core::event::line;
use weir_core::prose::{first_sentence, is_prose};
use weir_core::wording::{counted, size};
use weir_core::{Event, EventKind, Priority};

use super::event;

/// The minimum length of data. Anything shorter stays in the prompt.
const MIN_DATA_BYTES: usize = 1_000;
/// The maximum length of a line of prose above or below a block.
const MAX_LEAD_BYTES: usize = 400;

/// A prompt whose data has been taken out.
pub(super) struct SplitPrompt {
    /// The request, with a placeholder for the data.
    pub(super) request: String,
    /// The request without placeholders and code: the user's own words.
    pub(super) said: String,
    /// The event for the pasted data.
    pub(super) data: Option<Event>,
}

/// Takes the data out of a prompt. `unseen` is the number of bytes that were not examined and count as data.
pub(super) fn split_prompt(text: &str, unseen: usize) -> SplitPrompt {
    let mut split = SplitPrompt { request: String::new(), said: String::new(), data: None };
    let mut pasted = PastedData { bytes: unseen, lines: 0, first: String::new() };
    for block in blocks(text) {
        if block.text.len() < MIN_DATA_BYTES || !block.is_data() {
            push(&mut split.request, block.text);
            if !block.fenced {
                push(&mut split.said, block.text);
            }
            continue;
        }
        let (lead, data, trail) = block.parts();
        push(&mut split.request, lead);
        push(&mut split.said, lead);
        pasted.bytes += data.len();
        pasted.lines += data.lines().count();
        if pasted.first.is_empty() {
            pasted.first = first_line(data);
        }
        push(&mut split.request, &format!("[pasted: {}]", size(data.len() as u64)));
        push(&mut split.request, trail);
        push(&mut split.said, trail);
    }
    // The line of a prompt that is nothing but data begins with the first sentence in it.
    if pasted.bytes > 0
        && split.said.trim().is_empty()
        && let Some(sentence) = first_sentence(text)
    {
        split.request = format!("{} {}", line(sentence, MAX_LEAD_BYTES), split.request);
    }
    if pasted.bytes > 0 {
        let PastedData { bytes, lines, first } = pasted;
        let text = format!("pasted {}, {}, beginning: {first}", size(bytes as u64), counted(lines, "line", "lines"));
        split.data = Some(event(EventKind::Data, Priority::P3, &text));
    }
    split
}

struct PastedData {
    bytes: usize,
    lines: usize,
    first: String,
}

struct PromptBlock<'t> {
    text: &'t str,
    fenced: bool,
}

impl<'t> PromptBlock<'t> {
    fn is_data(&self) -> bool {
        self.fenced || !is_prose(self.text)
    }

    /// Returns the line of prose above the data, the data, and the line of prose below it.
    fn parts(&self) -> (&'t str, &'t str, &'t str) {
        if self.fenced {
            return ("", self.text, "");
        }
        let is_said =
            |line: &str| line.len() <= MAX_LEAD_BYTES && line.split_whitespace().count() > 1 && is_prose(line);
        let (lead, rest) = match self.text.split_once('\n') {
            Some((first, rest)) if is_said(first) => (first, rest),
            _ => ("", self.text),
        };
        let (data, trail) = match rest.trim_end().rsplit_once('\n') {
            Some((data, last)) if is_said(last) => (data, last),
            _ => (rest, ""),
        };
        (lead, data, trail)
    }
}

/// Returns fenced texts and paragraphs, in order.
fn blocks(text: &str) -> Vec<PromptBlock<'_>> {
    let mut blocks = Vec::new();
    let (mut from, mut at, mut fenced) = (0, 0, false);
    for line in text.split_inclusive('\n') {
        let is_fence = line.trim_start().starts_with("```");
        let is_end = if fenced { is_fence } else { is_fence || line.trim().is_empty() };
        let next = at + line.len();
        if is_end {
            // An opening fence begins a block; a closing one ends it.
            let end = if is_fence && !fenced { at } else { next };
            blocks.push(PromptBlock { text: &text[from..end], fenced });
            from = end;
            fenced ^= is_fence;
        }
        at = next;
    }
    blocks.push(PromptBlock { text: &text[from..], fenced });
    blocks.retain(|block| !block.text.trim().is_empty());
    blocks
}

fn first_line(data: &str) -> String {
    let first = data.lines().map(str::trim).find(|line| !line.is_empty() && !line.starts_with("```"));
    line(first.unwrap_or_default(), 200)
}

fn push(into: &mut String, text: &str) {
    if !text.trim().is_empty() {
        into.push_str(text.trim_end());
        into.push('\n');
    }
}
