//! Changes to the environment of the work: a folder, a variable, a toolchain, a dependency.
//!
//! Only the name of a variable is kept, since its value may be a secret. A folder or a variable that a script sets for
//! its own commands does not outlive the script and is not an event.

use weir_core::event::line;
use weir_core::{Event, EventKind, Priority};

use super::shell::SimpleCommand;
use super::{ToolUse, event};

/// Returns the changes that a command made to the environment.
pub(super) fn events(used: &ToolUse<'_>) -> Vec<Event> {
    if used.failed() {
        return Vec::new();
    }
    let stays = used.commands.iter().all(|part| place(part).is_some());
    let found = used.commands.iter().filter_map(|part| {
        let (text, priority) = match installed(part).or_else(|| toolchain(part)) {
            Some(text) => (text, Priority::P3),
            None => (place(part).filter(|_| stays)?, Priority::P4),
        };
        Some(event(EventKind::Environment, priority, &text))
    });
    found.collect()
}

/// Describes a folder that was entered, or variables that were set.
fn place(part: &SimpleCommand) -> Option<String> {
    match part.program() {
        "cd" | "pushd" => Some(format!("in folder {}", Some(part.verb()).filter(|to| !to.is_empty()).unwrap_or("~"))),
        "export" => {
            let names: Vec<&str> = part.args().filter(|word| !word.starts_with('-')).map(name).collect();
            (!names.is_empty()).then(|| format!("variables set: {}", names.join(", ")))
        }
        _ => toolchain(part),
    }
}

fn name(word: &str) -> &str {
    word.split_once('=').map_or(word, |(name, _)| name)
}

/// Describes a toolchain that was chosen.
fn toolchain(part: &SimpleCommand) -> Option<String> {
    let said = || line(&part.words.join(" "), 160);
    let verb = part.verb();
    let chosen = match part.program() {
        "source" | "." => verb.ends_with("/activate") || verb == "activate",
        "conda" | "mamba" => verb == "activate",
        "nvm" | "fnm" | "n" | "pyenv" | "rbenv" | "asdf" | "mise" => {
            ["use", "install", "local", "global", "shell"].contains(&verb)
        }
        "rustup" => ["default", "override", "target", "toolchain", "component"].contains(&verb),
        "virtualenv" => true,
        "python" | "python3" => part.args().collect::<Vec<_>>().starts_with(&["-m", "venv"]),
        "uv" => verb == "venv",
        _ => false,
    };
    chosen.then(said)
}

/// Describes dependencies that were installed or removed.
fn installed(part: &SimpleCommand) -> Option<String> {
    let args: Vec<&str> = part.args().filter(|word| !word.starts_with('-')).collect();
    let verb = args.first().copied().unwrap_or_default();
    let changes = match part.program() {
        "npm" | "pnpm" | "yarn" | "bun" => {
            ["install", "i", "add", "ci", "remove", "rm", "uninstall", "update", "up"].contains(&verb)
                || (part.program() == "yarn" && verb.is_empty())
        }
        "pip" | "pip3" | "pipx" => ["install", "uninstall"].contains(&verb),
        "python" | "python3" => args.len() > 1 && args[0] == "pip" && ["install", "uninstall"].contains(&args[1]),
        "uv" => ["add", "remove", "sync"].contains(&verb) || args.starts_with(&["pip", "install"]),
        "poetry" => ["add", "remove", "install", "update"].contains(&verb),
        "cargo" => ["add", "remove", "rm", "install", "uninstall", "update"].contains(&verb),
        "go" => ["get", "install"].contains(&verb),
        "gem" | "brew" | "apt" | "apt-get" | "dnf" | "yum" | "apk" | "pacman" | "conda" | "mamba" | "bundle" => {
            ["install", "add", "remove", "uninstall", "upgrade"].contains(&verb)
        }
        "composer" => ["require", "remove", "install"].contains(&verb),
        "dotnet" => verb == "add",
        _ => false,
    };
    changes.then(|| line(&part.words.join(" "), 200))
}
