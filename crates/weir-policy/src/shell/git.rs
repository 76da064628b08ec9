//! Finds what `git` runs besides itself: aliases, pagers, editors and the commands of some subcommands.

use super::unwrap::{CarriedCommand, joined};
use super::words::Word;
use super::{Command, UnclearKind};

/// Settings that hold a command, by their full name.
const RUNS: &[&str] = &[
    "core.pager", "core.editor", "core.sshcommand", "core.fsmonitor", "core.alternaterefscommand", "core.askpass",
    "core.gitproxy", "sequence.editor", "diff.external", "credential.helper", "gpg.program", "interactive.difffilter",
    "web.browser", "init.templatedir", "core.hookspath", "uploadpack.packobjectshook",
];

/// Settings that hold a command, by the end of their name.
const RUNS_BY_ENDING: &[&str] = &[
    ".textconv", ".clean", ".smudge", ".process", ".driver", ".cmd", ".command", ".helper", ".program", ".receivepack",
    ".update", ".uploadpack",
];

const OPTIONS: &[&str] = &[
    "--exec", "-x", "--upload-pack", "--receive-pack", "--tree-filter", "--index-filter", "--msg-filter",
    "--env-filter", "--commit-filter", "--extcmd", "--open-files-in-pager",
];

/// Subcommands that show the content of files, or write it to the work tree.
const SHOWING: &[&str] = &[
    "annotate", "archive", "blame", "cat-file", "checkout", "diff", "diff-files", "diff-index", "diff-tree",
    "format-patch", "grep", "log", "restore", "show", "stash", "whatchanged",
];

/// Returns the paths whose content a command of git may show, as it names them: `secret` of `git show HEAD:secret`. A
/// revision may be among them.
pub(crate) fn paths_shown(command: &Command) -> Vec<String> {
    if command.program() != Some("git") {
        return Vec::new();
    }
    let mut words = command.words.iter().skip(1).skip_while(|word| !SHOWING.contains(&word.known_start()));
    words.next();
    let path = |word: &Word| {
        let text = word.literal()?;
        let path = text.rsplit_once(':').map_or(text, |(_, path)| path);
        (!path.is_empty() && !path.starts_with('-')).then(|| path.to_owned())
    };
    words.filter_map(path).collect()
}

const HIDDEN: &str = "has a setting of git that runs something";

/// Returns what a call of git runs.
pub(super) fn inner(words: &[Word]) -> Vec<CarriedCommand> {
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate().skip(1) {
        let text = word.known_start();
        let next = words.get(at + 1);
        match text {
            "-c" | "--config" => {
                found.extend(next.map(|next| setting(next, next.known_start())).unwrap_or_default());
            }
            "-u" if words[1..at].iter().any(|word| word.literal() == Some("clone")) => {
                found.extend(joined(words.get(at + 1..at + 2).unwrap_or_default()));
            }
            "config" => found.extend(configured(&words[at + 1..])),
            "foreach" | "run" if at > 1 => found.extend(joined(after_options(&words[at + 1..]))),
            _ if text.starts_with("--config-env") || text.starts_with("--exec-path=") || text.starts_with("ext::") => {
                found.push(CarriedCommand::Unclear(UnclearKind::Opaque, HIDDEN));
            }
            _ => {
                let value = text.strip_prefix("--config=");
                found.extend(value.map(|value| setting(&rest_of(word, value), value)).unwrap_or_default());
            }
        }
        for option in OPTIONS {
            if text == *option {
                found.extend(joined(words.get(at + 1..at + 2).unwrap_or_default()));
            } else if let Some(value) = text.strip_prefix(option).and_then(|rest| rest.strip_prefix('=')) {
                found.extend(joined(&[rest_of(word, value)]));
            }
        }
    }
    found
}

fn rest_of(word: &Word, known: &str) -> Word {
    if word.literal().is_some() { Word::known(known) } else { Word::unknown(word.source()) }
}

fn after_options(words: &[Word]) -> &[Word] {
    let start = words.iter().position(|word| !word.known_start().starts_with('-')).unwrap_or(words.len());
    &words[start..]
}

/// Parses `git config [options] name value`.
fn configured(words: &[Word]) -> Vec<CarriedCommand> {
    let plain: Vec<&Word> = words.iter().filter(|word| !word.known_start().starts_with('-')).collect();
    match plain[..] {
        [.., name, value] => {
            let joined = format!("{}={}", name.known_start(), value.known_start());
            let word = if value.literal().is_some() { Word::known(&joined) } else { Word::unknown(value.source()) };
            setting(&word, &joined)
        }
        _ => Vec::new(),
    }
}

/// Checks one `name=value`, given as the word and the part of its text that is known.
fn setting(word: &Word, text: &str) -> Vec<CarriedCommand> {
    let (name, value) = text.split_once('=').unwrap_or((text, ""));
    let name = name.to_lowercase();
    let alias = name.starts_with("alias.");
    let runs = RUNS.contains(&name.as_str())
        || name.starts_with("pager.")
        || RUNS_BY_ENDING.iter().any(|end| name.ends_with(end));
    match word.literal() {
        _ if !alias && !runs && !name.is_empty() => Vec::new(),
        Some(_) if value.is_empty() || ["true", "false", "store", "cache"].contains(&value) => Vec::new(),
        // A subcommand of git under another name, whose arguments are not known here.
        Some(_) if alias && !value.starts_with('!') => {
            vec![CarriedCommand::Script(format!("git {value}")), CarriedCommand::Unclear(UnclearKind::Name, HIDDEN)]
        }
        Some(_) => vec![CarriedCommand::Script(value.trim_start_matches('!').to_owned())],
        None => vec![CarriedCommand::Unclear(UnclearKind::Name, HIDDEN)],
    }
}
