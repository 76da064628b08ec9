//! Checks the space between the nodes of a tree: whether the shell sees words where the grammar does.
//!
//! Invariant: every byte between two tokens is white space, with space where the shell needs it and none where it would
//! split a word. The grammar skips more than the shell does, and splits where the shell does not.

use tree_sitter::Node;

use super::checks::bracket_test;
use super::kinds::{ONE_LINE, SPACED, is_expansion};
use super::walk::ParseProblem;

/// Checks the space between, before and after the children of a node. The grammar drops the word `-` before a
/// here-document, as in `python3 - <<EOF`; ignoring this argument is harmless.
pub(super) fn check(node: Node<'_>, parent: &str, script: &str) -> Result<(), ParseProblem> {
    if node.child_count() == 0 || matches!(node.kind(), "string" | "heredoc_body" | "heredoc_redirect") {
        return Ok(());
    }
    let root = node.kind() == "program";
    let mut at = if root { 0 } else { node.start_byte() };
    let spaced = SPACED.contains(&node.kind());
    let joined = matches!(node.kind(), "concatenation" | "simple_expansion" | "translated_string")
        || node.kind() == "subscript" && parent == "variable_assignment"
        || node.kind() == "variable_assignment"
            && !matches!(parent, "c_style_for_statement" | "parenthesized_expression");
    let mut before: Option<Node<'_>> = None;
    let mut cursor = node.walk();
    for (index, child) in node.children(&mut cursor).enumerate() {
        let touches = at == child.start_byte();
        let apart = before.is_some_and(|before| is_word(before) || is_declarer(before))
            && is_word(child)
            && !starts_redirection(&script[child.byte_range()]);
        if before.is_some() && ((spaced && touches && apart) || (joined && !touches)) {
            return Err(ParseProblem::new(line_around(script, at), "has words that are read in two ways"));
        }
        let value = node.kind() == "for_statement"
            && u32::try_from(index).is_ok_and(|index| node.field_name_for_child(index) == Some("value"));
        let one_line = ONE_LINE.contains(&node.kind()) || value || bracket_test(node);
        let dash = child.kind() == "heredoc_redirect"
            && before.is_some_and(|before| before.kind() == "command")
            && script[at..child.start_byte()].trim_matches([' ', '\t']) == "-";
        if !dash {
            gap(script, at..child.start_byte(), one_line)?;
        }
        before = Some(child);
        at = child.end_byte();
    }
    gap(script, at..if root { script.len() } else { node.end_byte() }, false)
}

/// Returns whether a node is a word, or something that ends where a word does.
fn is_word(node: Node<'_>) -> bool {
    is_expansion(node.kind())
        || matches!(
            node.kind(),
            "ansi_c_string"
                | "array"
                | "command_name"
                | "concatenation"
                | "file_redirect"
                | "heredoc_redirect"
                | "herestring_redirect"
                | "number"
                | "raw_string"
                | "string"
                | "translated_string"
                | "variable_assignment"
                | "variable_name"
                | "word"
        )
}

fn is_declarer(node: Node<'_>) -> bool {
    let names = ["declare", "export", "local", "readonly", "typeset", "unset", "unsetenv"];
    !node.is_named() && names.contains(&node.kind())
}

/// Returns whether a text starts with a redirection operator, which needs no space before it.
fn starts_redirection(text: &str) -> bool {
    text.starts_with(['<', '>', '&']) && !text.starts_with("<(") && !text.starts_with(">(")
}

fn gap(script: &str, range: std::ops::Range<usize>, one_line: bool) -> Result<(), ParseProblem> {
    let Some(text) = script.get(range.clone()) else {
        return Err(ParseProblem::new(script, "is read in two ways at once"));
    };
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let at = range.start + text.len() - rest.len();
        if let Some(after) = rest.strip_prefix("\\\n") {
            if !between_words(&script[..at], after, &script[range.end..]) {
                return Err(ParseProblem::new(
                    line_around(script, at),
                    "has a backslash at the end of a line, in a word",
                ));
            }
            rest = after;
            continue;
        }
        if !matches!(c, ' ' | '\t' | '\n') || (one_line && c == '\n') {
            return Err(ParseProblem::new(
                line_around(script, at),
                "has something between its words that is not a space",
            ));
        }
        rest = &rest[1..];
    }
    Ok(())
}

/// Returns whether a backslash at the end of a line is between two words, so it joins nothing.
fn between_words(before: &str, after: &str, next: &str) -> bool {
    let spaced_before = before.ends_with([' ', '\t']) && !before.trim_end_matches([' ', '\t']).ends_with('\\');
    let spaced_after = if after.is_empty() { next } else { after }.starts_with([' ', '\t']);
    spaced_before || (spaced_after && !before.ends_with('\\'))
}

fn line_around(script: &str, at: usize) -> &str {
    let start = script[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let end = script[at..].find('\n').map_or(script.len(), |newline| at + newline);
    &script[start..end]
}
