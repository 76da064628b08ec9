//! Cuts out the part of a chunk that shows why it was found.
//!
//! The engine could mark the matches itself, but it would look up all words again for every hit, which takes as long as
//! the search. A missing or extra match only moves the excerpt slightly.

use weir_core::words;

/// Maximum length of an excerpt, in bytes. A shorter chunk is shown in full.
const MAX_EXCERPT_BYTES: usize = 480;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Excerpt {
    pub(super) text: String,
    /// Number of lines of the chunk before the excerpt.
    pub(super) lines_before: u64,
    /// Whether the excerpt leaves out part of the chunk.
    pub(super) partial: bool,
}

/// Cuts out whole lines around the place with the most words that were searched for. These are in lower case.
pub(super) fn cut(text: &str, looked_for: &[String]) -> Excerpt {
    if text.len() <= MAX_EXCERPT_BYTES {
        return Excerpt { text: text.to_owned(), lines_before: 0, partial: false };
    }
    let start = best_start(text, &matches(text, looked_for));
    let end = end_of(text, start);
    let lines_before = text[..start].matches('\n').count() as u64;
    Excerpt { text: text[start..end].trim_end().to_owned(), lines_before, partial: true }
}

/// Cuts out the beginning of a text whose lines are lists, so that the last one may be cut.
pub(super) fn beginning(text: &str) -> Excerpt {
    if text.len() <= MAX_EXCERPT_BYTES {
        return Excerpt { text: text.to_owned(), lines_before: 0, partial: false };
    }
    let head = &text[..text.floor_char_boundary(MAX_EXCERPT_BYTES - '…'.len_utf8())];
    let end = head.rfind(char::is_whitespace).unwrap_or(head.len());
    Excerpt { text: format!("{}…", head[..end].trim_end()), lines_before: 0, partial: true }
}

/// Returns the positions of words that are similar to those searched for.
fn matches(text: &str, looked_for: &[String]) -> Vec<usize> {
    let mut found = Vec::new();
    words::each_word(text, |word| {
        let lower = word.to_lowercase();
        if looked_for.iter().any(|other| is_like(&lower, other)) {
            // The word is a slice of the text, so the distance between their addresses is its position.
            found.push(word.as_ptr().addr() - text.as_ptr().addr());
        }
    });
    found
}

/// Returns whether two words may be forms of the same word, or the first contains the second, as in names and in text
/// without spaces.
fn is_like(word: &str, other: &str) -> bool {
    let shared = word.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    let (shorter, longer) = (word.len().min(other.len()), word.len().max(other.len()));
    shared == longer || (shared >= 3 && shared * 2 > longer) || (shorter >= 3 && word.contains(other))
}

/// Returns the start of the line from which an excerpt covers the most matches. If several cover equally many, the
/// earliest.
fn best_start(text: &str, matches: &[usize]) -> usize {
    let covered = |from: usize| matches.iter().filter(|&&at| at >= from && at < from + MAX_EXCERPT_BYTES).count();
    let starts = matches.iter().map(|&at| start_before(text, at));
    let best = starts.rev().max_by_key(|&start| covered(start));
    best.unwrap_or(0)
}

/// Returns a position shortly before a match: the start of its line, or of a word if the line is long.
fn start_before(text: &str, at: usize) -> usize {
    let line = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    if at - line <= MAX_EXCERPT_BYTES / 2 {
        return line;
    }
    let near = text.floor_char_boundary(at - MAX_EXCERPT_BYTES / 4);
    text[near..at].find(' ').map_or(near, |space| near + space + 1)
}

/// Returns the end of the last whole line within the maximum length, or that length itself if there is none.
fn end_of(text: &str, start: usize) -> usize {
    let limit = text.floor_char_boundary((start + MAX_EXCERPT_BYTES).min(text.len()));
    if limit == text.len() {
        return limit;
    }
    text[start..limit].rfind('\n').filter(|&at| at > MAX_EXCERPT_BYTES / 3).map_or(limit, |newline| start + newline)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, words: &[&str]) -> Excerpt {
        cut(text, &words.iter().map(ToString::to_string).collect::<Vec<_>>())
    }

    #[test]
    fn a_short_chunk_is_shown_whole() {
        let excerpt = check("use a pool of 16", &["pool"]);
        assert_eq!(excerpt, Excerpt { text: "use a pool of 16".into(), lines_before: 0, partial: false });
    }

    #[test]
    fn a_long_chunk_is_cut_around_the_densest_matches() {
        let filler = "nothing of interest on this line\n".repeat(30);
        let excerpt = check(&format!("pool once\n{filler}the pool is sized 16\nmore\n{filler}"), &["pooling", "size"]);
        assert!(excerpt.text.starts_with("the pool is sized 16\nmore"), "{}", excerpt.text);
        assert!(excerpt.partial && excerpt.text.len() <= MAX_EXCERPT_BYTES);
        assert_eq!(excerpt.lines_before, 31);
    }

    #[test]
    fn a_beginning_ends_between_words() {
        let list = format!("Changed: a.rs\nNames: {}", "release_all ".repeat(50));
        let excerpt = beginning(&list);
        assert!(excerpt.text.ends_with(" release_all…") && excerpt.text.len() <= MAX_EXCERPT_BYTES, "{excerpt:?}");
        assert!(excerpt.partial && !beginning("Changed: a.rs").partial);
    }

    #[test]
    fn a_line_longer_than_the_excerpt_is_cut_between_characters() {
        let line = format!("{} nadel {}", "ü ".repeat(2_000), "ö".repeat(2_000));
        let excerpt = check(&line, &["nadel"]);
        assert!(excerpt.text.contains("nadel") && excerpt.text.len() <= MAX_EXCERPT_BYTES);
    }

    #[test]
    fn forms_of_a_word_are_like_each_other() {
        for (word, other) in
            [("pooled", "pooling"), ("connections", "connect"), ("parsehttprequest", "http"), ("検索機能", "索機")]
        {
            assert!(is_like(word, other), "{word} {other}");
        }
        for (word, other) in [("pool", "port"), ("the", "theory"), ("a", "an")] {
            assert!(!is_like(word, other), "{word} {other}");
        }
    }
}
