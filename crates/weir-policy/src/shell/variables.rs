//! Variables whose value some program runs: an assignment to one is a command in disguise.

use tree_sitter::Node;

use super::walk::ScriptPart;
use super::words::{self, Word};
use super::{UnclearKind, quotes};

const COMMANDS: &[&str] = &[
    "BROWSER", "DIFFPROG", "EDITOR", "FCEDIT", "GIT_ASKPASS", "GIT_EDITOR", "GIT_EXTERNAL_DIFF", "GIT_PAGER",
    "GIT_PROXY_COMMAND", "GIT_SEQUENCE_EDITOR", "GIT_SSH", "GIT_SSH_COMMAND", "LESSCLOSE", "LESSOPEN", "MAKESHELL",
    "MANPAGER", "PAGER", "PROMPT_COMMAND", "RSYNC_RSH", "RUSTC_WORKSPACE_WRAPPER", "RUSTC_WRAPPER", "SHELL",
    "SSH_ASKPASS", "SUDO_ASKPASS", "SUDO_EDITOR", "TAR_RSH", "VISUAL",
];

/// Variables that load code into a program, or that the shell expands again.
const CODE: &[&str] = &["BASH_ENV", "ENV", "PERL5OPT", "PS0", "PS1", "PS2", "PS4", "RUBYOPT"];

pub(super) fn assignment(node: Node<'_>, script: &str) -> Vec<ScriptPart> {
    let Some(name) = node.child_by_field_name("name") else { return Vec::new() };
    let name_text = &script[name.byte_range()];
    let word = node.child_by_field_name("value").map(|value| words::resolve(value, script));
    assigned(name_text, word.as_ref())
}

/// Returns what a variable with this name and value could run.
pub(super) fn assigned(name: &str, value: Option<&Word>) -> Vec<ScriptPart> {
    let Some(value) = value else { return Vec::new() };
    let source = format!("{name}={}", value.source());
    let text = value.literal();
    if COMMANDS.contains(&name) {
        return match text {
            Some(text) if !text.is_empty() => {
                vec![ScriptPart::Script { text: text.to_owned(), inside: format!("{name}=") }]
            }
            Some(_) => Vec::new(),
            None => {
                vec![ScriptPart::Unclear(UnclearKind::Name, source, "sets a command that is only known when it runs")]
            }
        };
    }
    let runs = text.is_some_and(quotes::runs_when_expanded);
    if CODE.contains(&name) && (runs || name.ends_with("ENV") || name.ends_with("OPT")) {
        return vec![ScriptPart::Unclear(UnclearKind::Opaque, source, "sets code that another program loads")];
    }
    // When the variable is used in arithmetic, a subscript in it is evaluated and runs the commands in it.
    if runs && text.is_some_and(|text| text.contains('[')) {
        return vec![ScriptPart::Unclear(UnclearKind::Opaque, source, "holds a subscript that runs a command")];
    }
    Vec::new()
}
