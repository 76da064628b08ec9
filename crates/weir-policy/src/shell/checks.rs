//! Checks that a syntax tree describes what the shell would do, before anything is read from it.
//!
//! Invariant: every named node kind is on the list, and every byte of the script belongs to a token or is white space
//! that the shell also treats as such. The grammar is more lenient than the shell, and each leniency is a place to hide
//! a command.

use tree_sitter::Node;

use super::kinds::{COMMENTED, KNOWN, is_expansion};
use super::walk::ParseProblem;
use super::{MAX_DEPTH, gaps, heredocs, quotes};

/// Checks one node, given the kind of its parent, and the space between its children.
pub(super) fn check(node: Node<'_>, parent: &str, script: &str, depth: usize) -> Result<(), ParseProblem> {
    let text = &script[node.byte_range()];
    let refuse = |why: &'static str| Err(ParseProblem::new(text, why));
    if node.is_error() || node.is_missing() {
        return refuse("is not valid shell, or not shell that we understand");
    }
    if node.is_named() && !KNOWN.contains(&node.kind()) {
        return refuse("is a kind of shell that we do not know");
    }
    if depth > MAX_DEPTH {
        return refuse("is nested too deep");
    }
    gaps::check(node, parent, script)?;
    match leaf(node, parent, script) {
        None => Ok(()),
        Some(why) => refuse(why),
    }
}

/// Returns what is wrong with a node by itself.
fn leaf(node: Node<'_>, parent: &str, script: &str) -> Option<&'static str> {
    if misread(node, parent, script) {
        return Some("may be read in two ways");
    }
    let text = &script[node.byte_range()];
    let hides = match node.kind() {
        "word" | "regex" | "extglob_pattern" => swallows(text, node.kind()),
        "string_content" | "heredoc_content" => quotes::expands(text),
        "string" => residue(node, script).any(quotes::expands),
        "raw_string" => quotes::runs_when_expanded(text) && evaluated(node),
        "ansi_c_string" => return ansi_c(text),
        "comment" => return comment(node, parent, script),
        "heredoc_redirect" => return heredocs::check(node, script),
        "command_substitution" if !text.starts_with("$(") => {
            // The first backtick ends the substitution, and a backslash before one starts a nested substitution.
            let inner = text.strip_prefix('`').and_then(|text| text.strip_suffix('`')).unwrap_or("`");
            return inner.contains(['`', '\\']).then_some("has backticks or backslashes between backticks");
        }
        // `${x@P}` expands the value of the variable again, as a prompt.
        "P" if !node.is_named() => true,
        _ => false,
    };
    hides.then_some("holds an expansion that we cannot see into")
}

/// Returns whether the grammar reads something differently from the shell.
fn misread(node: Node<'_>, parent: &str, script: &str) -> bool {
    let text = &script[node.byte_range()];
    let after = &script[node.end_byte()..];
    match node.kind() {
        "word" | "number" if is_number(text) && after.starts_with(['<', '>']) => true,
        "word" => has_space(text) && !matches!(parent, "expansion" | "concatenation"),
        // The grammar skips space after a lone `$` and takes the next character for a variable.
        "variable_name" | "special_variable_name" | "number" => text.contains(['\\', ' ', '\t', '\n']),
        "variable_assignment" => !names_variable(text) && parent != "c_style_for_statement",
        "expansion" => ends_early(node, script),
        "file_descriptor" => !is_number(text) || touches_word(node, script),
        "test_command" if bracket_test(node) => text.contains('\n') || holds_operator(node),
        "[" | "[[" | "]" | "]]" if parent == "test_command" => !stands_alone(node, script),
        "{" if parent == "compound_statement" => !after.starts_with([' ', '\t', '\n']),
        "!" if parent == "negated_command" => !after.starts_with([' ', '\t', '\n']),
        // A comparison for the grammar, a process substitution for the shell.
        "<" | ">" => after.starts_with('('),
        // The grammar joins two backtick substitutions with only space between them, but they are two separate words.
        "``" => true,
        "$" if !matches!(parent, "simple_expansion" | "translated_string") => {
            let next = after.chars().next().unwrap_or(' ');
            // Before a quote, it belongs to the quote, except at the end of a string.
            text != "$"
                || next.is_alphanumeric()
                || "({[_`\\$*@#?!-".contains(next)
                || (parent != "string" && "\"'".contains(next))
        }
        kind if is_keyword(kind, node, parent) => !is_apart(node, script),
        _ => false,
    }
}

fn has_space(text: &str) -> bool {
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            ' ' | '\t' | '\n' => return true,
            _ => {}
        }
    }
    false
}

/// Returns whether an assignment starts with what the shell accepts as a variable name.
fn names_variable(text: &str) -> bool {
    let name = text.split(['=', '+', '[']).next().unwrap_or_default();
    // Brackets in a subscript must be balanced, which the grammar does not require.
    let subscript = text.split('=').next().unwrap_or_default();
    !name.is_empty()
        && subscript.matches('[').count() == subscript.matches(']').count()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Returns whether `${…}` contains a brace that would end it for the shell.
fn ends_early(node: Node<'_>, script: &str) -> bool {
    let mut inside: Vec<char> = Vec::new();
    let mut at = node.start_byte();
    let mut cursor = node.walk();
    let mut waiting: Vec<_> = node.children(&mut cursor).collect();
    waiting.reverse();
    while let Some(child) = waiting.pop() {
        let closed = is_expansion(child.kind()) || matches!(child.kind(), "string" | "raw_string" | "ansi_c_string");
        if closed {
            inside.extend(script.get(at..child.start_byte()).unwrap_or("}").chars());
            at = child.end_byte();
        } else {
            let mut cursor = child.walk();
            let children: Vec<_> = child.children(&mut cursor).collect();
            waiting.extend(children.into_iter().rev());
        }
    }
    inside.extend(script.get(at..node.end_byte() - 1).unwrap_or("}").chars());
    let mut chars = inside.into_iter();
    while let Some(c) = chars.next() {
        match c {
            '\\' => drop(chars.next()),
            '}' => return true,
            _ => {}
        }
    }
    false
}

/// Returns whether a node is a reserved word, and not an expansion operator that is spelled with a letter.
fn is_keyword(kind: &str, node: Node<'_>, parent: &str) -> bool {
    let letters = kind.chars().all(|c| c.is_ascii_lowercase());
    !node.is_named() && parent != "expansion" && (letters || kind == "}" && parent == "compound_statement")
}

/// Returns whether a reserved word ends where the shell ends a word: `else'x'` is the name of a command.
fn is_apart(node: Node<'_>, script: &str) -> bool {
    let after = script[node.end_byte()..].chars().next();
    !touches_word(node, script) && after.is_none_or(|c| " \t\n;&|()<>`".contains(c))
}

fn is_number(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_digit())
}

/// Returns whether a word ends right before a node, which makes the node part of that word.
fn touches_word(node: Node<'_>, script: &str) -> bool {
    script[..node.start_byte()].chars().next_back().is_some_and(|c| !" \t\n;&|()`".contains(c))
}

/// Returns whether `[ … ]` contains an operator. It is an ordinary command, so an operator ends it and starts another
/// command.
fn holds_operator(node: Node<'_>) -> bool {
    let mut waiting = vec![node];
    while let Some(node) = waiting.pop() {
        let operator = !node.is_named() && node.kind().contains(['|', '&', ';', '<', '>', '(', ')']);
        if operator || node.kind() == "redirected_statement" {
            return true;
        }
        if is_expansion(node.kind()) || node.kind() == "string" {
            continue;
        }
        let mut cursor = node.walk();
        waiting.extend(node.children(&mut cursor));
    }
    false
}

/// Returns whether the brackets of a test are separate words; otherwise they start a glob in a command's name.
fn stands_alone(node: Node<'_>, script: &str) -> bool {
    let before = script[..node.start_byte()].chars().next_back();
    let after = script[node.end_byte()..].chars().next();
    if node.kind().starts_with('[') {
        after.is_some_and(|c| c.is_ascii_whitespace())
    } else {
        before.is_some_and(|c| c.is_ascii_whitespace()) && after.is_none_or(|c| " \t\n;&|)<>`".contains(c))
    }
}

fn ansi_c(text: &str) -> Option<&'static str> {
    // A string with an escape that we do not decode merely has unknown text. One that ends elsewhere is an error.
    let ends = |text: &str| {
        let body = text.strip_prefix("$'").unwrap_or(text);
        let mut chars = body.char_indices();
        while let Some((at, c)) = chars.next() {
            match c {
                '\\' => drop(chars.next()),
                '\'' => return at + 1 == body.len(),
                _ => {}
            }
        }
        false
    };
    (!ends(text)).then_some("has a quote that ends elsewhere")
}

/// Returns whether a token swallowed something that the shell would interpret.
fn swallows(text: &str, kind: &str) -> bool {
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            // A backslash at the end of a line joins its neighbours, which the grammar does not take into account.
            '\\' if chars.next() == Some('\n') => return true,
            '\\' => {}
            '\'' | '"' | '`' => return true,
            '<' | '>' if chars.peek() == Some(&'(') => return true,
            '$' if kind == "word" => return true,
            '$' if chars.peek().is_some_and(|c| c.is_alphanumeric() || "({[_'\"@*#?!$".contains(*c)) => return true,
            _ => {}
        }
    }
    false
}

/// Returns whether the shell evaluates a text at this position again: in arithmetic, in a subscript, in a test.
fn evaluated(node: Node<'_>) -> bool {
    let mut at = node.parent();
    while let Some(parent) = at {
        match parent.kind() {
            "arithmetic_expansion" | "subscript" | "test_command" | "c_style_for_statement" => return true,
            "compound_statement" => return parent.child(0).is_some_and(|first| first.kind() == "(("),
            "command_substitution" | "process_substitution" | "program" => return false,
            _ => at = parent.parent(),
        }
    }
    false
}

fn comment(node: Node<'_>, parent: &str, script: &str) -> Option<&'static str> {
    let before = script[..node.start_byte()].chars().next_back();
    let starts = before.is_none_or(|c| " \t\n;&|(".contains(c));
    let escaped = script[..node.start_byte()].trim_end_matches([' ', '\t']).ends_with('\\');
    let placed = COMMENTED.contains(&parent);
    (!starts || escaped || !placed).then_some("has a `#` that may be no comment")
}

/// Returns the parts of a string outside expansions.
fn residue<'a>(node: Node<'a>, script: &'a str) -> impl Iterator<Item = &'a str> {
    let mut cursor = node.walk();
    let children: Vec<_> = node.children(&mut cursor).filter(|child| is_expansion(child.kind())).collect();
    let mut at = node.start_byte();
    let ends = children.into_iter().map(|child| (child.start_byte(), child.end_byte()));
    ends.chain([(node.end_byte(), node.end_byte())]).map(move |(start, end)| {
        let text = &script[at..start.max(at)];
        at = end;
        text
    })
}

/// Returns whether a node is `[ … ]`, an ordinary command that a newline ends. `[[ … ]]` may contain newlines.
pub(super) fn bracket_test(node: Node<'_>) -> bool {
    node.kind() == "test_command" && node.child(0).is_some_and(|first| first.kind() == "[")
}
