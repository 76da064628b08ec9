//! What the words of engram mean here: its types of observations, its scopes, its marks of private text, its export.
//!
//! Invariant: the server that answers its plugins and the import of its export take their meaning from here.

pub mod export;

use weir_core::NoteKind;
use weir_host::answer::one_line;
use weir_host::error::CommandError;

/// The client of sessions that engram recorded.
pub const CLIENT: &str = "engram";

/// The types of engram, each with the kind of note that it becomes. `docs/compat.md` has the same table.
const KINDS: &[(&str, NoteKind)] = &[
    ("decision", NoteKind::Decision),
    ("architecture", NoteKind::Decision),
    ("pattern", NoteKind::Convention),
    ("config", NoteKind::Convention),
    ("preference", NoteKind::Convention),
    ("bugfix", NoteKind::Finding),
    ("discovery", NoteKind::Finding),
    ("learning", NoteKind::Finding),
    ("manual", NoteKind::Finding),
    ("passive", NoteKind::Finding),
    ("session_summary", NoteKind::Finding),
];

/// Marks the beginning and the end of text that must not be stored.
const PRIVATE: [&str; 2] = ["<private>", "</private>"];
/// What is stored instead.
const REDACTED: &str = "[REDACTED]";

/// Returns the kind of note that a type becomes. A type that is not in the table becomes a finding.
pub fn kind(of_engram: &str) -> NoteKind {
    let of_engram = of_engram.trim();
    let known = KINDS.iter().find(|(name, _)| name.eq_ignore_ascii_case(of_engram));
    known.map_or(NoteKind::Finding, |(_, kind)| *kind)
}

pub fn scope(of_engram: &str) -> Result<&'static str, CommandError> {
    match of_engram.trim().to_ascii_lowercase().as_str() {
        "project" => Ok("project"),
        "personal" => Ok("user"),
        _ => Err(CommandError::usage("the scope is neither `project` nor `personal`")
            .hint("pass `project` or `personal`, or omit `scope`")),
    }
}

/// Returns the text of the note that an observation becomes: its title, its content, and nothing private.
pub fn note_text(title: &str, content: &str) -> String {
    without_private(&format!("{}\n\n{content}", one_line(title, usize::MAX)))
}

/// Returns a text without what is marked as private. A mark without an end takes the rest of the text with it.
pub fn without_private(text: &str) -> String {
    let [open, close] = PRIVATE;
    // The marks are ASCII, so positions are the same in both texts.
    let lower = text.to_ascii_lowercase();
    let (mut kept, mut at) = (String::with_capacity(text.len()), 0);
    while let Some(start) = lower[at..].find(open).map(|start| at + start) {
        kept.push_str(&text[at..start]);
        kept.push_str(REDACTED);
        at = lower[start..].find(close).map_or(text.len(), |end| start + end + close.len());
    }
    kept.push_str(&text[at..]);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/compat.md"));

    #[test]
    fn the_page_has_the_table_of_kinds() {
        for (theirs, ours) in KINDS {
            assert!(PAGE.contains(&format!("| `{theirs}` | {ours} |")), "{theirs}");
        }
        let rows = PAGE.lines().filter(|line| {
            line.starts_with("| `") && NoteKind::ALL.iter().any(|kind| line.ends_with(&format!("| {kind} |")))
        });
        assert_eq!(rows.count(), KINDS.len());
    }

    #[test]
    fn a_type_is_known_in_any_case_or_a_finding() {
        assert_eq!(kind(" Architecture "), NoteKind::Decision);
        assert_eq!(kind("file_change"), NoteKind::Finding);
        assert_eq!(scope("Personal").ok(), Some("user"));
        assert!(scope("team").is_err());
    }

    #[test]
    fn private_text_is_left_out() {
        for (text, expected) in [
            ("a <private>b</private> c", "a [REDACTED] c"),
            ("<PRIVATE>b\n</Private>c<private>d</private>", "[REDACTED]c[REDACTED]"),
            ("é <private>never closed", "é [REDACTED]"),
            ("</private> <privat>", "</private> <privat>"),
            ("", ""),
        ] {
            assert_eq!(without_private(text), expected);
        }
    }
}
