//! Tells what is ours: the commands that call us, and the files that we wrote whole.

use serde_json::Value;

use super::{Call, Unusable};

/// Our name, as a server and as a program.
pub(super) const NAME: &str = "weir";

/// In a plugin's source, the line that names our program.
const PROGRAM_LINE: &str = "const WEIR = \"weir\"";

/// Before a command that names no path: where our program is not installed, nothing happens.
const WHERE_FOUND: &str = "command -v weir >/dev/null 2>&1 || exit 0; exec ";

/// The command of a hook, for a shell.
pub(super) fn hook_command(call: Call<'_>, event: &str) -> String {
    if call.program == NAME {
        return format!("{WHERE_FOUND}{NAME} hook {} {event}", call.client);
    }
    let mut program = String::new();
    for c in call.program.chars() {
        if matches!(c, '"' | '\\' | '$' | '`') {
            program.push('\\');
        }
        program.push(c);
    }
    format!("\"{program}\" hook {} {event}", call.client)
}

/// Whether a shell command is a hook of ours, of whatever version and place.
pub(super) fn is_our_hook(command: &str) -> bool {
    let command = command.trim_start().trim_start_matches(WHERE_FOUND);
    match command.strip_prefix('"') {
        Some(quoted) => {
            let (program, rest) = until_quote(quoted);
            is_our_program(&program) && rest.trim_start().starts_with("hook ")
        }
        None => {
            let (program, rest) = command.split_once(' ').unwrap_or((command, ""));
            is_our_program(program) && rest.trim_start().starts_with("hook ")
        }
    }
}

/// A quoted word as the shell takes it, and what is behind it.
fn until_quote(text: &str) -> (String, &str) {
    let mut word = String::new();
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        match c {
            '"' if !escaped => return (word, &text[at + 1..]),
            '\\' if !escaped => escaped = true,
            _ => {
                word.push(c);
                escaped = false;
            }
        }
    }
    (word, "")
}

/// Whether a server's entry is ours: it starts our program.
pub(super) fn is_our_server(entry: &Value) -> bool {
    let command = &entry["command"];
    command.as_str().or_else(|| command[0].as_str()).is_some_and(is_our_program)
}

/// Whether a path names our program.
pub(super) fn is_our_program(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.strip_suffix(".exe").unwrap_or(name) == NAME
}

/// A plugin that calls our program.
pub(super) fn add_plugin(text: &str, source: &str, program: &str) -> Result<String, Unusable> {
    if !text.trim().is_empty() && !is_our_plugin(text, source) {
        return Err(Unusable::new("it is not ours, and it has the name that ours would have"));
    }
    Ok(source.replacen(PROGRAM_LINE, &format!("const WEIR = {}", Value::from(program)), 1))
}

/// Nothing, if the plugin is ours.
pub(super) fn remove_plugin(text: &str, source: &str) -> String {
    if is_our_plugin(text, source) { String::new() } else { text.to_owned() }
}

/// Our plugins begin with the same line in every version.
fn is_our_plugin(text: &str, source: &str) -> bool {
    text.lines().next().is_some_and(|first| source.lines().next() == Some(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_hooks_are_known_wherever_the_program_was() {
        for program in ["/usr/bin/weir", "/opt/a \"b\" $c/weir", "weir"] {
            let command = hook_command(Call { program, client: "claude" }, "Stop");
            assert!(is_our_hook(&command), "{command}");
        }
        assert!(is_our_hook("weir hook claude Stop"));
        assert!(is_our_hook("/usr/local/bin/weir  hook claude Stop"));
        for other in ["weird hook x", "tee weir hook", "weir search hook", "\"/x/other\" hook a b", "", "weir"] {
            assert!(!is_our_hook(other), "{other}");
        }
    }
}
