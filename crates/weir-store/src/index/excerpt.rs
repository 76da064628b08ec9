//! Cuts the part of a chunk that shows why it was found.

/// Stand before and after each match in a highlighted chunk. Chunks hold no control characters of their own.
pub(super) const MARK_START: char = '\u{1}';
pub(super) const MARK_END: char = '\u{2}';

/// An excerpt may be this long, in bytes; a shorter chunk is shown whole.
const LENGTH: usize = 480;

/// The excerpt of a highlighted chunk.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Excerpt {
    pub(super) text: String,
    /// How many lines of the chunk come before it.
    pub(super) lines_before: u64,
    /// Whether it leaves out part of the chunk.
    pub(super) partial: bool,
}

/// Whole lines around the place with the most matches.
pub(super) fn cut(marked: &str) -> Excerpt {
    let (text, matches) = unmark(marked);
    if text.len() <= LENGTH {
        return Excerpt { text, lines_before: 0, partial: false };
    }
    let start = best_start(&text, &matches);
    let end = end_of(&text, start);
    let lines_before = text[..start].matches('\n').count() as u64;
    Excerpt { text: text[start..end].trim_end().to_owned(), lines_before, partial: true }
}

/// The text without marks, and where each match begins in it.
fn unmark(marked: &str) -> (String, Vec<usize>) {
    let mut text = String::with_capacity(marked.len());
    let mut matches = Vec::new();
    for c in marked.chars() {
        match c {
            MARK_START => matches.push(text.len()),
            MARK_END => {}
            c => text.push(c),
        }
    }
    (text, matches)
}

/// The beginning of the line from which an excerpt covers the most matches; the earliest of equals.
fn best_start(text: &str, matches: &[usize]) -> usize {
    let covered = |from: usize| matches.iter().filter(|&&at| at >= from && at < from + LENGTH).count();
    let starts = matches.iter().map(|&at| start_before(text, at));
    let best = starts.rev().max_by_key(|&start| covered(start));
    best.unwrap_or(0)
}

/// A little before a match: the beginning of its line, or of a word if the line is long.
fn start_before(text: &str, at: usize) -> usize {
    let line = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    if at - line <= LENGTH / 2 {
        return line;
    }
    let near = text.floor_char_boundary(at - LENGTH / 4);
    text[near..at].find(' ').map_or(near, |space| near + space + 1)
}

/// The end of the last whole line within the length, or the length itself if there is none.
fn end_of(text: &str, start: usize) -> usize {
    let limit = text.floor_char_boundary((start + LENGTH).min(text.len()));
    if limit == text.len() {
        return limit;
    }
    text[start..limit].rfind('\n').filter(|&at| at > LENGTH / 3).map_or(limit, |newline| start + newline)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_chunk_is_shown_whole_without_marks() {
        let excerpt = cut("use a \u{1}pool\u{2} of 16");
        assert_eq!(excerpt, Excerpt { text: "use a pool of 16".into(), lines_before: 0, partial: false });
    }

    #[test]
    fn a_long_chunk_is_cut_around_the_densest_matches() {
        let filler = "nothing of interest on this line\n".repeat(30);
        let excerpt =
            cut(&format!("\u{1}pool\u{2} once\n{filler}the \u{1}pool\u{2} is \u{1}size\u{2}d 16\nmore\n{filler}"));
        assert!(excerpt.text.starts_with("the pool is sized 16\nmore"), "{}", excerpt.text);
        assert!(excerpt.partial && excerpt.text.len() <= LENGTH);
        assert_eq!(excerpt.lines_before, 31);
    }

    #[test]
    fn a_line_longer_than_the_excerpt_is_cut_between_characters() {
        let line = format!("{} \u{1}nadel\u{2} {}", "ü ".repeat(2_000), "ö".repeat(2_000));
        let excerpt = cut(&line);
        assert!(excerpt.text.contains("nadel") && excerpt.text.len() <= LENGTH);
    }
}
