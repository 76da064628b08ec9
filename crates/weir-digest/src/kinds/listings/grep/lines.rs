//! Parses single lines of `grep` and `rg`.

use crate::kinds::shared::counts::extension;
use crate::text::{number, starts};

/// Recognises ` error: …` and the like.
pub(super) fn is_said(text: &str) -> bool {
    let Some(word) = text.strip_prefix(' ') else { return false };
    starts(word, &["error", "warning", "note", "fatal", "info", "hint", "Error", "Warning", "remark"])
        || word.split([' ', ':']).next().is_some_and(|code| {
            let letters = code.bytes().take_while(u8::is_ascii_uppercase).count();
            (1..=5).contains(&letters)
                && code.len() > letters + 1
                && code.bytes().skip(letters).all(|byte| byte.is_ascii_digit())
        })
}

/// A line that matches, or its context.
pub(super) struct Hit<'a> {
    pub(super) path: &'a str,
    pub(super) number: Option<u64>,
    pub(super) text: &'a str,
    pub(super) context: bool,
}

/// Parses `path:12:text` or `path-12-text`.
pub(super) fn numbered_hit(line: &str) -> Option<Hit<'_>> {
    for sign in [':', '-'] {
        let mut from = if sign == ':' { windows(line) } else { 0 };
        while let Some(at) = line.get(from..).and_then(|rest| rest.find(sign)) {
            let place = from + at;
            let path = line.get(..place)?;
            if path.len() > 400 {
                break;
            }
            let rest = line.get(place + 1..)?;
            if let Some((number, rest)) = number(rest)
                && let Some(text) = rest.strip_prefix(sign)
                && is_path(path)
            {
                let text = if sign == ':' { without_column(text) } else { text };
                return Some(Hit { path, number: Some(number), text, context: sign == '-' });
            }
            from = place + 1;
        }
    }
    None
}

/// Returns where the search for the end of a path begins: after the colon of a drive letter, if there is one.
fn windows(line: &str) -> usize {
    let bytes = line.as_bytes();
    let drive = bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.get(1) == Some(&b':')
        && bytes.get(2) == Some(&b'\\');
    if drive { 2 } else { 0 }
}

/// Returns the text after the column that `--vimgrep` and `--column` print.
pub(super) fn without_column(text: &str) -> &str {
    match number(text) {
        Some((_, rest)) => rest.strip_prefix(':').unwrap_or(text),
        None => text,
    }
}

/// Parses `path:text`, if the path is certainly a file.
pub(super) fn plain_hit(line: &str) -> Option<Hit<'_>> {
    let from = windows(line);
    let place = from + line.get(from..)?.find(':')?;
    let (path, text) = (line.get(..place)?, line.get(place + 1..)?);
    let file = path.contains('/') && extension(path).is_some() || path.starts_with("./");
    (is_path(path) && file && !text.starts_with("//")).then_some(Hit { path, number: None, text, context: false })
}

/// Parses `path:12`, with the number of matches in a file.
pub(super) fn counted_hit(line: &str) -> Option<(&str, u64)> {
    let (path, count) = line.rsplit_once(':')?;
    let (count, rest) = number(count)?;
    (rest.is_empty() && is_path(path) && (path.contains('/') || extension(path).is_some())).then_some((path, count))
}

/// Parses `12:text`, or `12-text` for context.
pub(super) fn short_hit(line: &str) -> Option<(u64, bool, &str)> {
    let (number, rest) = number(line)?;
    let hit = rest.strip_prefix(':').map(|text| (number, true, text));
    hit.or_else(|| rest.strip_prefix('-').map(|text| (number, false, text)))
}

pub(super) fn is_path(text: &str) -> bool {
    let first = text.as_bytes().first();
    let begins = first.is_some_and(|byte| {
        byte.is_ascii_alphabetic() || matches!(byte, b'.' | b'/' | b'_' | b'@' | b'~' | b'[' | b'(') || *byte >= 0x80
    }) || text.contains('/') && first.is_some_and(u8::is_ascii_digit);
    let named = text.contains('/') || text.contains('\\') || extension(text).is_some() || is_bare(text);
    begins
        && named
        && text.len() <= 400
        && !text.contains("://")
        && !text.bytes().any(|byte| matches!(byte, b'"' | b'<' | b'>' | b'|' | b'\t' | b'=' | b'{' | b';' | b','))
        && !text.contains("  ")
        && (!text.contains(' ') || text.contains('/') && extension(text).is_some())
}

/// Recognises names of files that have no extension.
fn is_bare(text: &str) -> bool {
    #[rustfmt::skip]
    const NAMES: [&str; 10] = [
        "Makefile", "Dockerfile", "LICENSE", "README", "Rakefile", "Gemfile", "Jenkinsfile", "Procfile", "CHANGELOG",
        "VERSION",
    ];
    NAMES.contains(&text)
}

/// Recognises messages about files that cannot be shown.
pub(super) fn is_binary(line: &str) -> bool {
    (line.starts_with("Binary file ") || line.starts_with("grep: ")) && line.contains(" match")
        || line.starts_with("grep: ")
}
