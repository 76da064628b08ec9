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

/// Returns the tokens of a text.
pub(super) fn tokens(text: &str) -> Vec<SqlToken> {
    let mut tokens = Vec::new();
    let mut at = 0;
    let mut depth = 0_usize;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        let space = rest.len() - rest.trim_start().len();
        if space > 0 {
            at += space;
            continue;
        }
        let len = length(text, at).max(1);
        let is_comment = rest.starts_with("--") || rest.starts_with("/*") || rest.starts_with('\\');
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

/// Returns the length in bytes of the token at a position.
fn length(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let until = |end: &str, from: usize| {
        rest.get(from..).and_then(|rest| rest.find(end)).map_or(rest.len(), |found| found + from + end.len())
    };
    let line = || rest.find('\n').unwrap_or(rest.len());
    let first = rest.chars().next().unwrap_or_default();
    match first {
        '-' if rest.starts_with("--") => line(),
        '/' if rest.starts_with("/*") => until("*/", 2),
        // A command for the program that runs the file.
        '\\' => line(),
        '\'' => quoted(rest),
        '"' | '`' => until(&first.to_string(), 1),
        '$' => {
            let tag = rest.get(1..).unwrap_or_default().find('$').and_then(|end| rest.get(..end + 2));
            let tag = tag.filter(|tag| tag.trim_matches('$').chars().all(is_word));
            tag.map_or(1, |tag| until(tag, tag.len()))
        }
        _ if is_word(first) => rest.find(|c: char| !is_word(c)).unwrap_or(rest.len()),
        _ => first.len_utf8(),
    }
}

/// Returns the length of a string, which ends with a quote that is not doubled.
fn quoted(rest: &str) -> usize {
    let mut at = 1;
    while let Some(end) = rest.get(at..).and_then(|rest| rest.find('\'')) {
        at += end + 1;
        if !rest.get(at..).unwrap_or_default().starts_with('\'') {
            return at;
        }
        at += 1;
    }
    rest.len()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '@' | '#')
}
