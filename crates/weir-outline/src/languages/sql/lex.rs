//! The tokens of SQL in any dialect: only quotes, comments and brackets are recognised.

use std::ops::Range;

/// A word, a string, a symbol or a comment, and how deeply it is nested in brackets.
#[derive(Debug, Clone)]
pub(super) struct SqlToken {
    pub bytes: Range<usize>,
    pub depth: usize,
    pub is_comment: bool,
}

impl SqlToken {
    pub(super) fn text<'t>(&self, text: &'t str) -> &'t str {
        text.get(self.bytes.clone()).unwrap_or_default()
    }

    pub(super) fn is(&self, text: &str, word: &str) -> bool {
        self.text(text).eq_ignore_ascii_case(word)
    }
}

pub(super) fn tokens(text: &str) -> Vec<SqlToken> {
    let mut tokens = Vec::new();
    // A byte order mark is not part of the first word.
    let mut at = text.len() - text.trim_start_matches('\u{feff}').len();
    let mut depth = 0_usize;
    // The dialects that quote names in backticks, such as MySQL's, are those with a backslash as an escape in strings.
    let mut has_escapes = false;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let space = rest.len() - rest.trim_start().len();
        if space > 0 {
            at += space;
            continue;
        }
        let len = length(text, at, has_escapes).max(1);
        let is_comment = is_line_comment(text, at) || rest.starts_with("/*");
        has_escapes |= rest.starts_with('`');
        if rest.starts_with(')') {
            depth = depth.saturating_sub(1);
        }
        tokens.push(SqlToken { bytes: at..at + len, depth, is_comment });
        match rest.as_bytes().first() {
            Some(b'(') => depth += 1,
            // A new statement begins, even if a bracket was left open.
            Some(b';') => depth = 0,
            _ => {}
        }
        at += len;
    }
    tokens
}

/// Returns whether a position is at the beginning of a line, apart from white space.
pub(super) fn begins_line(text: &str, at: usize) -> bool {
    let before = text.get(..at).unwrap_or_default().trim_end_matches([' ', '\t', '\u{feff}']);
    before.is_empty() || before.ends_with('\n')
}

/// Returns whether a position is at a comment that ends with its line, or at a command for the program that runs the
/// file.
fn is_line_comment(text: &str, at: usize) -> bool {
    let rest = text.get(at..).unwrap_or_default();
    // Elsewhere, `#` is an operator or begins a name.
    let is_hash = || rest.starts_with('#') && !rest.chars().nth(1).is_some_and(is_word) && begins_line(text, at);
    rest.starts_with("--") || rest.starts_with('\\') || is_hash()
}

/// Returns the length in bytes of the token at a position.
fn length(text: &str, at: usize, has_escapes: bool) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let until = |end: &str, from: usize| {
        rest.get(from..).and_then(|rest| rest.find(end)).map_or(rest.len(), |found| found + from + end.len())
    };
    let line = || rest.find('\n').unwrap_or(rest.len());
    let first = rest.chars().next().unwrap_or_default();
    match first {
        _ if is_line_comment(text, at) => line(),
        '/' if rest.starts_with("/*") => until("*/", 2),
        '\'' => quoted(rest, b'\'', has_escapes || is_escape_string(text, at)),
        '"' => quoted(rest, b'"', has_escapes),
        '`' => until("`", 1),
        '$' => {
            let tag = rest.get(1..).unwrap_or_default().find('$').and_then(|end| rest.get(..end + 2));
            let tag = tag.filter(|tag| tag.trim_matches('$').chars().all(is_word));
            tag.map_or(1, |tag| until(tag, tag.len()))
        }
        _ if is_word(first) => rest.find(|c: char| !is_word(c)).unwrap_or(rest.len()),
        _ => first.len_utf8(),
    }
}

/// Returns whether the string at a position is written as `E'…'`, in which a backslash is an escape.
fn is_escape_string(text: &str, at: usize) -> bool {
    let mut before = text.get(..at).unwrap_or_default().chars().rev();
    before.next().is_some_and(|c| c.eq_ignore_ascii_case(&'e')) && !before.next().is_some_and(is_word)
}

/// Returns the length of a string, which ends with a quote that is neither doubled nor escaped.
fn quoted(rest: &str, quote: u8, has_escapes: bool) -> usize {
    let bytes = rest.as_bytes();
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        at += 1;
        if *byte == b'\\' && has_escapes {
            at += 1;
        } else if *byte == quote {
            if bytes.get(at) != Some(&quote) {
                return at;
            }
            at += 1;
        }
    }
    rest.len()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '@' | '#')
}
