//! Recognises lines of Markdown by their marks, and passages that matter by their words.

use crate::kinds::documents::passages::USUAL;

/// Parses a line that opens or closes code: the fence character, its count, and the rest.
pub(super) fn fence(text: &str) -> Option<(u8, usize, &str)> {
    let mark = *text.as_bytes().first().filter(|byte| matches!(byte, b'`' | b'~'))?;
    let length = text.bytes().take_while(|byte| *byte == mark).count();
    let info = text.get(length..)?.trim();
    (length >= 3 && !(mark == b'`' && info.contains('`'))).then_some((mark, length, info))
}

/// Parses `## Title` into its level and its title.
pub(super) fn heading(line: &str) -> Option<(usize, &str)> {
    let level = line.bytes().take_while(|byte| *byte == b'#').count();
    let title = line.get(level..)?;
    let title = title.strip_prefix([' ', '\t'])?.trim().trim_end_matches('#').trim_end();
    ((1..=6).contains(&level) && !title.is_empty()).then_some((level, title))
}

/// Recognises a line of `=` or `-` under a title.
pub(super) fn is_underline(text: &str) -> bool {
    text.len() >= 3 && (text.bytes().all(|byte| byte == b'=') || text.bytes().all(|byte| byte == b'-'))
}

/// Recognises `|---|:---:|`.
pub(super) fn is_separator(text: &str) -> bool {
    text.contains('-')
        && text.contains('|')
        && text.bytes().all(|byte| matches!(byte, b'|' | b'-' | b':' | b' ' | b'+'))
}

/// Returns the text after the marker of a list item.
pub(super) fn list_item(text: &str) -> Option<&str> {
    let rest = text.strip_prefix(['-', '*', '+', '•']).or_else(|| {
        let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
        if rest.len() < text.len() && text.len() - rest.len() <= 3 { rest.strip_prefix(['.', ')']) } else { None }
    })?;
    rest.strip_prefix([' ', '\t']).map(str::trim_start)
}

/// Parses `[ ] to do` or `[x] done`.
pub(super) fn task(item: &str) -> Option<(bool, &str)> {
    let rest = item.strip_prefix('[')?;
    let done = match rest.as_bytes().first()? {
        b' ' => false,
        b'x' | b'X' => true,
        _ => return None,
    };
    Some((done, rest.get(1..)?.strip_prefix(']')?.trim_start()))
}

/// Returns whether an item only links to a heading of the same document.
pub(super) fn is_contents(item: &str) -> bool {
    item.starts_with('[') && item.ends_with(')') && item.contains("](#")
}

/// Returns whether a text begins with a label: `**Warning:**`, `[!NOTE]`, `!!! danger`.
pub(super) fn note_label(text: &str) -> bool {
    #[rustfmt::skip]
    const LABELS: [&str; 17] = [
        "note", "warning", "caution", "important", "danger", "attention", "careful", "deprecated", "breaking",
        "security", "limitation", "limitations", "todo", "fixme", "tip", "hint", "info",
    ];
    let Some(first) = text.chars().next() else { return false };
    if first.is_ascii_lowercase() {
        return false;
    }
    let bare = text.trim_start_matches(|c: char| !c.is_ascii_alphanumeric());
    let marked = text.len() > bare.len();
    let end = bare.bytes().position(|byte| !byte.is_ascii_alphabetic()).unwrap_or(bare.len());
    let (word, after) = (bare.get(..end).unwrap_or_default(), bare.get(end..).unwrap_or_default());
    if !LABELS.iter().any(|label| label.eq_ignore_ascii_case(word)) {
        return false;
    }
    let closed = after.starts_with([':', ']', '*', '_', '!']) || after.is_empty();
    closed || marked && text.starts_with("!!!") || marked && text.starts_with(":::")
}

/// Returns the worth of a passage. Requirements, restrictions, defaults, bold text and open tasks raise it.
pub(super) fn worth(text: &str) -> u64 {
    const WORDS: [&str; 16] = [
        " must ", "cannot ", " default", "require", "deprecat", "breaking", "removed", " only ", " never ", "TODO",
        "FIXME", "BREAKING", "**", "Breaking", "CVE-", " limit",
    ];
    if WORDS.iter().any(|word| text.contains(word)) { USUAL * 13 / 10 } else { USUAL }
}

/// Returns whether a section is one that readers look for: what does not work, what is required, what changes.
pub(super) fn is_asked_for(title: &str) -> bool {
    #[rustfmt::skip]
    const WORDS: [&str; 12] = [
        "known", "problem", "limitation", "issue", "caveat", "troubleshoot", "breaking", "migrat", "requirement",
        "prerequisite", "upgrad", "faq",
    ];
    let title = title.to_ascii_lowercase();
    WORDS.iter().any(|word| title.contains(word))
}
