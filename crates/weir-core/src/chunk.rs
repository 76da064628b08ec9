//! Cuts a text into chunks, the unit of ranking.
//!
//! Invariant: the spans follow one another without gap or overlap and cover the whole text.

use std::ops::Range;

/// The size a chunk grows to, in bytes: 300 to 500 tokens of ordinary text.
const TARGET: usize = 1_600;
/// The size a chunk never passes.
const LIMIT: usize = 2_400;

/// Cuts `text` at the best boundary near the target size: a blank line, else a line end, else a space.
pub fn split(text: &[u8]) -> Vec<Range<usize>> {
    let mut spans = Vec::with_capacity(text.len() / TARGET + 1);
    let mut start = 0;
    while start < text.len() {
        let end = start + length_of_first(&text[start..]);
        spans.push(start..end);
        start = end;
    }
    spans
}

fn length_of_first(rest: &[u8]) -> usize {
    if rest.len() <= LIMIT {
        return rest.len();
    }
    let window = &rest[..LIMIT];
    last_blank_line(window)
        .or_else(|| last_after(window, b'\n'))
        .or_else(|| last_after(window, b' '))
        .unwrap_or_else(|| character_boundary(rest, LIMIT))
}

/// The end of the last blank line, if it leaves a chunk of at least half the target.
fn last_blank_line(window: &[u8]) -> Option<usize> {
    let at = window.windows(2).rposition(|pair| pair == b"\n\n")? + 2;
    (at >= TARGET / 2).then_some(at)
}

fn last_after(window: &[u8], byte: u8) -> Option<usize> {
    let at = window.iter().rposition(|&b| b == byte)? + 1;
    (at >= TARGET / 2).then_some(at)
}

/// The nearest position at or before `at` that does not cut a UTF-8 sequence.
fn character_boundary(text: &[u8], at: usize) -> usize {
    let is_continuation = |i: &usize| text[*i] & 0b1100_0000 == 0b1000_0000;
    (at.saturating_sub(3)..=at).rev().find(|i| !is_continuation(i)).unwrap_or(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_small_text_is_one_chunk_and_an_empty_text_is_none() {
        assert_eq!(split(b"hello").as_slice(), std::slice::from_ref(&(0..5)));
        assert!(split(b"").is_empty());
    }

    #[test]
    fn paragraphs_are_kept_whole() {
        let paragraph = format!("{}\n\n", "word ".repeat(180).trim_end());
        let text = paragraph.repeat(5);
        for span in split(text.as_bytes()) {
            assert!(text[..span.end].ends_with("\n\n"), "{span:?}");
        }
    }

    #[test]
    fn a_line_without_spaces_is_cut_between_characters() {
        let text = "ü".repeat(5_000);
        assert!(split(text.as_bytes()).iter().all(|span| text.is_char_boundary(span.end)));
    }

    proptest! {
        #[test]
        fn chunks_cover_any_bytes_without_gap(mut text in prop::collection::vec(any::<u8>(), 0..9_000)) {
            // Line ends and spaces as often as in real text, or more so.
            text.iter_mut().for_each(|byte| match *byte {
                200..220 => *byte = b'\n',
                220.. => *byte = b' ',
                _ => {}
            });
            let spans = split(&text);
            let mut end = 0;
            for span in &spans {
                prop_assert_eq!(span.start, end);
                prop_assert!(!span.is_empty() && span.len() <= LIMIT);
                end = span.end;
            }
            prop_assert_eq!(end, text.len());
        }
    }
}
