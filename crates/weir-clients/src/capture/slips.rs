//! Tells the slip of a tool from work that fails. A slip says nothing about the work: a tool was called the wrong way,
//! a command that only looks found nothing, the shell could not start a command, a check is still running, or the
//! client did not permit it.

use super::ToolUse;
use super::shell::SimpleCommand;
use crate::Tool;

/// The length of an output that is examined, in bytes.
const MAX_EXAMINED_BYTES: usize = 2 << 10;

/// What clients say if they did not permit a call, or could not make sense of it.
const BY_CLIENT: &[&str] = &[
    "<tool_use_error>", "Permission to use ", "This command requires approval", "requested permissions to",
    "InputValidationError",
];
/// What shells say if they could not start a command, before or after the number of a line.
const BY_SHELL: &[&str] = &["(eval):", "bash: line ", "/bin/bash: line ", "/bin/sh: ", "sh: 1: ", "zsh:"];
/// What programs say if they were called the wrong way.
const MISUSE: &[&str] = &[
    "unknown flag", "unknown shorthand flag", "unknown option", "unknown command", "unknown argument",
    "unexpected argument", "illegal option", "invalid option", "unrecognized option", "unrecognized argument",
    "option requires an argument", "No such option", "invalid command code", "command not found",
];
/// What git says if it was called the wrong way. Others call git too, and then it is they that fail.
const GIT_MISUSE: &[&str] =
    &["fatal: pathspec", "fatal: ambiguous argument", "fatal: bad revision", "fatal: not a git repository"];

pub(super) fn is_slip(used: &ToolUse<'_>) -> bool {
    let head = &used.output[..used.output.floor_char_boundary(MAX_EXAMINED_BYTES)];
    let first = head.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    if BY_CLIENT.iter().any(|said| first.starts_with(said)) {
        return true;
    }
    match &used.call.tool {
        Tool::Shell { .. } => {
            let code = used.done.exit_code;
            let is_unstarted = matches!(code, Some(126 | 127)) || BY_SHELL.iter().any(|said| first.starts_with(said));
            // A long output is that of a program that has worked.
            let says = |words: &[&str]| words.iter().any(|said| head.contains(said));
            let calls_git = used.commands.iter().any(|part| part.program() == "git");
            let is_misuse = head.lines().count() < 40 && (says(MISUSE) || calls_git && says(GIT_MISUSE));
            is_unstarted || is_misuse || only_looks(used.commands) || is_pending(used, head)
        }
        Tool::Mcp { .. } => false,
        _ => true,
    }
}

/// Returns whether a script only looks at something.
pub(super) fn only_looks(commands: &[SimpleCommand]) -> bool {
    let mut parts = commands.iter().filter(|part| !part.is_auxiliary()).peekable();
    parts.peek().is_some() && parts.all(looks)
}

fn looks(part: &SimpleCommand) -> bool {
    let verb = part.verb();
    match part.program() {
        "ls" | "cat" | "head" | "tail" | "find" | "fd" | "grep" | "egrep" | "rg" | "ag" | "awk" | "wc" | "stat"
        | "file" | "tree" | "pwd" | "which" | "type" | "ps" | "pgrep" | "lsof" | "df" | "du" | "jq" | "yq" | "sort"
        | "uniq" | "cut" | "tr" | "xxd" | "od" | "diff" | "env" | "printenv" | "date" | "column" | "less"
        | "strings" | "nl" => true,
        "sed" => !part.args().any(|word| word.starts_with("-i")),
        "git" => matches!(
            verb,
            "show"
                | "log"
                | "diff"
                | "status"
                | "blame"
                | "rev-parse"
                | "rev-list"
                | "ls-files"
                | "ls-tree"
                | "cat-file"
                | "branch"
                | "describe"
                | "remote"
                | "reflog"
                | "grep"
                | "merge-base"
                | "config"
                | "check-ignore"
        ),
        "gh" => part.args().any(|word| matches!(word, "view" | "list" | "diff" | "status" | "api" | "search")),
        "docker" | "kubectl" | "podman" => matches!(verb, "ps" | "images" | "logs" | "inspect" | "get" | "describe"),
        _ => false,
    }
}

/// Returns whether a check of a pull request is still running. The program exits with 8 then, or with 1 in versions
/// that do not tell.
fn is_pending(used: &ToolUse<'_>, head: &str) -> bool {
    let checks = |part: &SimpleCommand| part.program() == "gh" && part.args().any(|word| word == "checks");
    let is_failed = head.lines().any(|line| line.split('\t').nth(1) == Some("fail") || line.contains("failing"));
    used.commands.iter().any(checks) && (used.done.exit_code == Some(8) || head.contains("pending") && !is_failed)
}
