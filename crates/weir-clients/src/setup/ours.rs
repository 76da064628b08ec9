//! Recognises what is ours: the commands that call us, and the files that are entirely ours.

use serde_json::Value;

use super::{Call, Unusable};

/// Our name, as a server and as a program.
pub(super) const NAME: &str = "weir";

/// The line of a plugin's source that names our program.
const PROGRAM_LINE: &str = "const WEIR = \"weir\"";

/// Precedes a command without a path, so that nothing happens where our program is not installed.
const WHERE_FOUND: &str = "command -v weir >/dev/null 2>&1 || exit 0; exec ";

/// Our program on Windows, where the PATH has it. PowerShell, `cmd` and Git Bash start it by this name alone; none of
/// them understands how another quotes a path.
pub const ON_WINDOWS: &str = "weir.exe";

pub(super) fn hook_command(call: Call<'_>, event: &str) -> String {
    if call.program == NAME {
        return format!("{WHERE_FOUND}{NAME} hook {} {event}", call.client);
    }
    if call.program == ON_WINDOWS {
        return format!("{ON_WINDOWS} hook {} {event}", call.client);
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

/// Returns whether a shell command is one of our hooks, of any version and with any path.
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

/// Returns a quoted word with its escapes resolved, as a shell reads it, and the text after it.
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

/// The option that names the server in whose place our program is called.
pub(super) const SERVER_OPTION: &str = "--server";

/// Returns the arguments of our program in the place of a server.
pub(super) fn gateway_arguments(server: &str) -> [&str; 3] {
    ["mcp", SERVER_OPTION, server]
}

/// Returns whether a server's entry is ours, that is, whether it starts our program.
pub(super) fn is_our_server(entry: &Value) -> bool {
    let command = &entry["command"];
    command.as_str().or_else(|| command[0].as_str()).is_some_and(is_our_program)
}

pub(super) fn is_our_program(path: &str) -> bool {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.strip_suffix(".exe").unwrap_or(name) == NAME
}

/// Returns the source of our plugin with the path of our program filled in. Fails if the file is not ours.
pub(super) fn add_plugin(text: &str, source: &str, program: &str) -> Result<String, Unusable> {
    if !text.trim().is_empty() && !is_our_plugin(text, source) {
        return Err(Unusable::new("it is not ours, and it has the name that ours would have"));
    }
    Ok(source.replacen(PROGRAM_LINE, &format!("const WEIR = {}", Value::from(program)), 1))
}

/// Returns an empty text if the plugin is ours, or else the text as it is.
pub(super) fn remove_plugin(text: &str, source: &str) -> String {
    if is_our_plugin(text, source) { String::new() } else { text.to_owned() }
}

/// Returns whether a file is our plugin: its first line is the same in every version.
fn is_our_plugin(text: &str, source: &str) -> bool {
    text.lines().next().is_some_and(|first| source.lines().next() == Some(first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_for_windows_has_nothing_that_a_shell_reads_differently() {
        let command = hook_command(Call { program: ON_WINDOWS, client: "claude" }, "Stop");
        assert_eq!(command, "weir.exe hook claude Stop");
    }

    #[test]
    fn our_hooks_are_known_wherever_the_program_was() {
        for program in ["/usr/bin/weir", "/opt/a \"b\" $c/weir", "weir", ON_WINDOWS] {
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
