//! The command of a shell call as it was written, so that it can be run again: its first line, without the folder that
//! it enters first.
//!
//! It is kept in the data of the call's first event, as `"ran": "cargo test 2>&1 | tail"`, unless that event already
//! says it. What the user refused did not run.

use serde_json::json;
use weir_core::event::line;
use weir_core::{Event, EventKind};

use super::shell::SimpleCommand;
use super::{ToolUse, data_of, rejected};
use crate::Tool;

const MAX_COMMAND_BYTES: usize = 120;

/// Adds the command to the first event of a call.
pub(super) fn attach(events: &mut [Event], used: &ToolUse<'_>) {
    let (Some(first), Tool::Shell { command }) = (events.first_mut(), &used.call.tool) else { return };
    if used.commands.iter().all(SimpleCommand::is_auxiliary) || rejected::is_refused(used) {
        return;
    }
    let ran = as_written(command);
    let mut data = data_of(first);
    let is_said = first.kind == EventKind::Tool && data["subject"] == ran.as_str();
    if !ran.is_empty() && !is_said {
        data["ran"] = json!(ran);
        first.data = Some(data.to_string());
    }
}

/// Returns the first line of a script, without leading changes of the folder. A cut is indicated.
fn as_written(script: &str) -> String {
    let script = script.trim();
    let script = without_folder(&script[..script.floor_char_boundary(MAX_COMMAND_BYTES << 4)]);
    let (first, rest) = script.split_once('\n').unwrap_or((script, ""));
    // The text of a here-document is not a part of the command.
    let here = ["\"$(cat <<", "<<"].iter().filter_map(|mark| first.find(mark)).min();
    let shown = first[..here.unwrap_or(first.len())].trim_end().trim_end_matches('\\').trim_end();
    let words = line(shown, MAX_COMMAND_BYTES << 2);
    let head = &words[..words.floor_char_boundary(MAX_COMMAND_BYTES)];
    let is_long = head.len() < words.len();
    // A part of a word might be a part of a secret, which nothing would recognise.
    let whole = if is_long { head.rsplit_once(' ').map_or("", |(whole, _)| whole) } else { head };
    let is_cut = here.is_some() || !rest.trim().is_empty() || is_long;
    match is_cut && !whole.is_empty() {
        true => format!("{} …", whole.trim_end()),
        false => whole.to_owned(),
    }
}

/// Returns a script without the `cd FOLDER &&` that it begins with.
fn without_folder(script: &str) -> &str {
    let mut rest = script;
    while let Some((entered, after)) = rest.strip_prefix("cd ").and_then(|_| rest.split_once("&&")) {
        if entered.contains([';', '\n', '|', '&']) {
            break;
        }
        rest = after.trim_start();
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(script: &str, expected: &str) {
        assert_eq!(as_written(script), expected);
    }

    #[test]
    fn a_command_is_its_first_line_without_the_folder() {
        check("cargo test -p x 2>&1 | tail -5", "cargo test -p x 2>&1 | tail -5");
        check(" cd /a/b && cd 'c d' &&  make  lint", "make lint");
        check("cd a; make && make test", "cd a; make && make test");
        check("cd a", "cd a");
    }

    #[test]
    fn a_cut_command_says_so() {
        check("git commit -m \"$(cat <<'EOF'\nFix x\nEOF\n)\"", "git commit -m …");
        check("cat > a.txt <<EOF\ntext\nEOF", "cat > a.txt …");
        check("make \\\n  lint", "make …");
        check(&format!("echo x {}", "é".repeat(100)), "echo x …");
        check(&"x".repeat(200), "");
        check("", "");
    }
}
