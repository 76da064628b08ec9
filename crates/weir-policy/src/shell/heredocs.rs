//! Here-documents: where the shell ends them, and which of their text is known.
//!
//! Invariant: the end is determined independently by the shell's own rule, and a tree that disagrees is refused.

use tree_sitter::Node;

use super::{kinds, quotes};

/// Returns what is wrong with a here-document, if anything.
pub(super) fn check(node: Node<'_>, script: &str) -> Option<&'static str> {
    const ENDS: &str = "has a here-document that may end elsewhere";
    let mut cursor = node.walk();
    if node.children_by_field_name("argument", &mut cursor).next().is_some() {
        return Some("has words after the start of a here-document");
    }
    let (start, body, end) =
        match (child(node, "heredoc_start"), child(node, "heredoc_body"), child(node, "heredoc_end")) {
            (Some(start), Some(body), Some(end)) => (start, body, end),
            // An empty document has no body.
            (Some(start), None, Some(end)) => (start, end, end),
            _ => return Some(ENDS),
        };
    let Some(delimiter) = delimiter(&script[start.byte_range()]) else { return Some(ENDS) };
    let tabs = script[node.byte_range()].trim_start_matches(|c: char| c.is_ascii_digit()).starts_with("<<-");
    let Some(first) = script[start.end_byte()..].find('\n').map(|at| start.end_byte() + at + 1) else {
        return Some(ENDS);
    };
    let Some(ends) = end_line(&script[first..], &delimiter.text, tabs).map(|at| first + at) else {
        return Some(ENDS);
    };
    let said = end.start_byte() + leading_tabs(&script[end.byte_range()], tabs);
    let real = ends + leading_tabs(&script[ends..], tabs);
    if said != real || body.start_byte() > end.start_byte() || text_between(script, start.end_byte(), first) {
        return Some(ENDS);
    }
    let text = &script[first..ends];
    if text.matches('(').count() != text.matches(')').count() && inside_substitution(node) {
        return Some("has a parenthesis in a here-document in a substitution, which older shells count");
    }
    if !delimiter.quoted && residue(body, end, script, first).any(quotes::expands) {
        return Some("has a here-document with an expansion that we cannot see into");
    }
    None
}

pub(super) fn text(node: Node<'_>, script: &str) -> Option<String> {
    let (start, end) = (child(node, "heredoc_start")?, child(node, "heredoc_end")?);
    let delimiter = delimiter(&script[start.byte_range()])?;
    let first = start.end_byte() + script[start.end_byte()..].find('\n')? + 1;
    let body = script.get(first..end.start_byte())?;
    if delimiter.quoted {
        return Some(body.to_owned());
    }
    (!quotes::expands(body)).then(|| quotes::double(body))
}

struct Delimiter {
    text: String,
    quoted: bool,
}

/// Parses the word that ends a document. Only plain spellings are accepted, although the shell allows others.
fn delimiter(source: &str) -> Option<Delimiter> {
    let plain = |text: &str| !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-.".contains(c));
    let inner = |quote: char| source.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    let (text, quoted) = match (inner('\''), inner('"'), source.strip_prefix('\\')) {
        (Some(text), _, _) | (_, Some(text), _) | (_, _, Some(text)) => (text, true),
        _ => (source, false),
    };
    plain(text).then(|| Delimiter { text: text.to_owned(), quoted })
}

/// Returns where the line that ends the document starts.
fn end_line(body: &str, delimiter: &str, tabs: bool) -> Option<usize> {
    let mut at = 0;
    for line in body.split_inclusive('\n') {
        let bare = line.strip_suffix('\n').unwrap_or(line);
        if (if tabs { bare.trim_start_matches('\t') } else { bare }) == delimiter {
            return Some(at);
        }
        at += line.len();
    }
    None
}

fn leading_tabs(text: &str, tabs: bool) -> usize {
    if tabs { text.len() - text.trim_start_matches('\t').len() } else { 0 }
}

/// Returns whether the rest of the first line could move the document: through an open quote, a substitution or a
/// second document.
fn text_between(script: &str, from: usize, to: usize) -> bool {
    let line = &script[from..to];
    line.contains("<<")
        || line.contains('\\')
        || line.matches('\'').count() % 2 == 1
        || line.matches('"').count() % 2 == 1
        || line.contains("$(")
        || line.contains('`')
}

/// Returns the parts of the document outside expansions.
fn residue<'a>(body: Node<'a>, end: Node<'a>, script: &'a str, first: usize) -> impl Iterator<Item = &'a str> {
    let mut cursor = body.walk();
    let children: Vec<_> = body.children(&mut cursor).filter(|child| kinds::is_expansion(child.kind())).collect();
    let mut at = first;
    let last = end.start_byte().max(first);
    let ends = children.into_iter().map(|child| (child.start_byte(), child.end_byte()));
    ends.chain([(last, last)]).map(move |(start, end)| {
        let text = script.get(at..start).unwrap_or("$(");
        at = end;
        text
    })
}

fn inside_substitution(node: Node<'_>) -> bool {
    let mut at = node.parent();
    while let Some(parent) = at {
        if matches!(parent.kind(), "command_substitution" | "process_substitution") {
            return true;
        }
        at = parent.parent();
    }
    false
}

fn child<'a>(node: Node<'a>, kind: &str) -> Option<Node<'a>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).find(|child| child.kind() == kind)
}
