//! Walks the syntax tree of a script and collects its commands as written, without opening wrappers.
//!
//! Invariant: every node is visited and checked, so a command is found wherever the grammar allows one.

use tree_sitter::{Node, Parser};

use super::words::{self, Word};
use super::{MAX_CHARACTERS, UnclearKind, checks, heredocs, kinds, quotes, variables};

/// Why a script is not understood, with the part concerned.
pub(super) struct ParseProblem {
    pub(super) text: String,
    pub(super) why: &'static str,
}

impl ParseProblem {
    pub(super) fn new(text: &str, why: &'static str) -> Self {
        Self { text: super::shorten(text), why }
    }
}

pub(super) struct ScriptContents {
    pub(super) found: Vec<ScriptPart>,
    /// Whether the script is just one command: no redirection, assignment, expansion or comment.
    pub(super) plain: bool,
}

/// A command, script or unclear part found in a script.
pub(super) enum ScriptPart {
    Command {
        words: Vec<Word>,
        input: Option<String>,
    },
    /// The value of a variable that some program runs.
    Script {
        text: String,
        inside: String,
    },
    Unclear(UnclearKind, String, &'static str),
}

pub(super) fn walk(script: &str) -> Result<ScriptContents, ParseProblem> {
    if script.chars().count() > MAX_CHARACTERS {
        return Err(ParseProblem::new(script, "is longer than 10,000 characters"));
    }
    if script.chars().any(|c| c.is_control() && c != '\n' && c != '\t') {
        return Err(ParseProblem::new(
            script,
            "holds a control character, which the shell and we may read in two ways",
        ));
    }
    let mut parser = Parser::new();
    let plain = without_unicode(script);
    let tree = parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok().and_then(|()| parser.parse(&plain, None));
    let Some(tree) = tree else {
        return Err(ParseProblem::new(script, "could not be parsed"));
    };
    if !has_whole_characters(tree.root_node(), script) {
        return Err(ParseProblem::new(script, "has a character that is read in two ways"));
    }
    let nodes = checked(tree.root_node(), script)?;
    let mut walked = ScriptContents { found: Vec::new(), plain: !script.contains("\\\n") };
    for (node, parent) in nodes {
        walked.plain &= is_plain(node.kind());
        walked.found.extend(found(node, parent, script)?);
    }
    Ok(walked)
}

/// Returns the script as passed to the grammar: every non-ASCII byte is replaced by `%`, which, like those bytes, is
/// part of a word, not part of a name and not a space. The words themselves are read from the original script.
///
/// The scanner of tree-sitter-bash 0.25.1 passes any character to `isdigit` (src/scanner.c, at `brace_start`), which
/// reads out of bounds for characters beyond its table: a brace before an emoji ended the process. It also treats
/// Unicode spaces as spaces, which the shell does not.
fn without_unicode(script: &str) -> Vec<u8> {
    script.bytes().map(|byte| if byte.is_ascii() { byte } else { b'%' }).collect()
}

/// Returns whether every node starts and ends on a character boundary. In `${T%x}` a `%` is an operator, so there the
/// grammar could split the replacement of one character.
fn has_whole_characters(root: Node<'_>, script: &str) -> bool {
    let mut waiting = vec![root];
    while let Some(node) = waiting.pop() {
        if !script.is_char_boundary(node.start_byte()) || !script.is_char_boundary(node.end_byte()) {
            return false;
        }
        waiting.extend(node.children(&mut node.walk()));
    }
    true
}

/// Returns every node with its parent, after checking all of them.
fn checked<'a>(root: Node<'a>, script: &str) -> Result<Vec<(Node<'a>, Option<Node<'a>>)>, ParseProblem> {
    let mut nodes = Vec::new();
    // Carry the parents along, since asking a node for its parent costs a walk from the root.
    let mut waiting = vec![(root, None, 0)];
    while let Some((node, parent, depth)) = waiting.pop() {
        checks::check(node, parent.map_or("", |parent: Node<'_>| parent.kind()), script, depth)?;
        let below = kinds::depth_below(node.kind(), depth);
        let mut cursor = node.walk();
        let children: Vec<_> = node.children(&mut cursor).collect();
        waiting.extend(children.into_iter().rev().map(|child| (child, Some(node), below)));
        nodes.push((node, parent));
    }
    Ok(nodes)
}

/// Returns whether a script may contain such a node and still be one literal command.
fn is_plain(kind: &str) -> bool {
    matches!(
        kind,
        "program"
            | "command"
            | "command_name"
            | "word"
            | "number"
            | "concatenation"
            | "string"
            | "string_content"
            | "raw_string"
            | "ansi_c_string"
            | "\""
    )
}

fn found(node: Node<'_>, parent: Option<Node<'_>>, script: &str) -> Result<Vec<ScriptPart>, ParseProblem> {
    Ok(match node.kind() {
        "command" => vec![command(node, parent, script)?],
        "redirected_statement" => bodiless(node, script)?,
        "declaration_command" | "unset_command" => declaration(node, script),
        "variable_assignment" => variables::assignment(node, script),
        _ => Vec::new(),
    })
}

fn command(node: Node<'_>, parent: Option<Node<'_>>, script: &str) -> Result<ScriptPart, ParseProblem> {
    let mut cursor = node.walk();
    let mut all = Vec::new();
    for child in node.children(&mut cursor) {
        match child.kind() {
            "variable_assignment" | "herestring_redirect" | "subshell" | "heredoc_redirect" => {}
            // Words after the target of a redirection are arguments, but the grammar takes them for targets.
            "file_redirect" => all.extend(extra_targets(child, script)),
            _ => all.push(words::resolve(child, script)),
        }
    }
    let statement = parent.filter(|parent| parent.kind() == "redirected_statement");
    if let Some(statement) = statement {
        all.extend(redirect_words(statement, script));
    }
    if let Some(first) = all.first()
        && is_reserved(first)
    {
        return Err(ParseProblem::new(&script[node.byte_range()], "has a reserved word where a command should be"));
    }
    // The shell accepts assignments anywhere before the name, but the grammar misses some.
    if all.first().is_some_and(|first| is_assignment(first.source())) {
        return Err(ParseProblem::new(&script[node.byte_range()], "has an assignment where a command should be"));
    }
    Ok(ScriptPart::Command { words: all, input: input(node, statement, script) })
}

fn is_assignment(source: &str) -> bool {
    let end = source.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(source.len());
    let (name, rest) = source.split_at(end);
    let named = !name.is_empty() && !name.starts_with(|c: char| c.is_ascii_digit());
    named && (rest.starts_with(['=', '[']) || rest.starts_with("+="))
}

/// Returns whether a word is reserved by the shell. If it appears as a command name, the grammar misread the script.
pub(super) fn is_reserved(word: &Word) -> bool {
    const RESERVED: &[&str] = &[
        "!", "{", "}", "[[", "]]", "case", "do", "done", "elif", "else", "esac", "fi", "for", "function", "if", "in",
        "select", "then", "until", "while",
    ];
    !word.quoted() && word.literal().is_some_and(|text| RESERVED.contains(&text))
}

/// Handles redirections without a body: what follows the first target is a command.
fn bodiless(node: Node<'_>, script: &str) -> Result<Vec<ScriptPart>, ParseProblem> {
    let words = redirect_words(node, script);
    match node.child_by_field_name("body").map(|body| body.kind()) {
        _ if words.is_empty() => Ok(Vec::new()),
        Some("command") => Ok(Vec::new()),
        Some(_) => Err(ParseProblem::new(&script[node.byte_range()], "has words after a redirection")),
        None if words.first().is_some_and(is_reserved) => {
            Err(ParseProblem::new(&script[node.byte_range()], "has a reserved word where a command should be"))
        }
        None => Ok(vec![ScriptPart::Command { words, input: None }]),
    }
}

fn redirect_words(statement: Node<'_>, script: &str) -> Vec<Word> {
    let mut cursor = statement.walk();
    let redirects = statement.children(&mut cursor).filter(|child| child.kind() == "file_redirect");
    redirects.flat_map(|redirect| extra_targets(redirect, script)).collect()
}

fn extra_targets(redirect: Node<'_>, script: &str) -> Vec<Word> {
    // `>&-` closes a descriptor and takes no target, so whatever follows is a word of the command.
    let closes = script[redirect.byte_range()].contains("&-");
    let mut cursor = redirect.walk();
    let targets = redirect.children_by_field_name("destination", &mut cursor);
    targets.skip(usize::from(!closes)).map(|target| words::resolve(target, script)).collect()
}

/// Returns the standard input of a command, if the script contains it.
fn input(node: Node<'_>, statement: Option<Node<'_>>, script: &str) -> Option<String> {
    let mut texts = Vec::new();
    for holder in [Some(node), statement].into_iter().flatten() {
        let mut cursor = holder.walk();
        for child in holder.children(&mut cursor) {
            match child.kind() {
                "heredoc_redirect" => texts.push(heredocs::text(child, script)),
                "herestring_redirect" => texts.push(here_string(child, script)),
                _ => {}
            }
        }
    }
    // With two inputs the last one counts, but finding out which is last is not worthwhile.
    if texts.len() == 1 { texts.pop().flatten() } else { None }
}

fn here_string(node: Node<'_>, script: &str) -> Option<String> {
    let mut cursor = node.walk();
    let last = node.children(&mut cursor).last()?;
    words::resolve(last, script).literal().map(str::to_owned)
}

/// Handles `export`, `declare`, `unset` and similar commands, whose arguments are evaluated again.
fn declaration(node: Node<'_>, script: &str) -> Vec<ScriptPart> {
    let mut cursor = node.walk();
    let words: Vec<Word> = node
        .children(&mut cursor)
        .map(|child| match child.kind() {
            _ if !child.is_named() => Word::known(&script[child.byte_range()]),
            "variable_assignment" => Word::known(&script[child.byte_range()]),
            _ => words::resolve(child, script),
        })
        .collect();
    let hidden = words.iter().skip(1).find(|word| {
        let text = word.literal().unwrap_or("");
        text.contains('[') && quotes::runs_when_expanded(text)
    });
    let unclear = hidden.map(|word| {
        ScriptPart::Unclear(UnclearKind::Opaque, word.source().to_owned(), "has a subscript that runs a command")
    });
    [ScriptPart::Command { words, input: None }].into_iter().chain(unclear).collect()
}
