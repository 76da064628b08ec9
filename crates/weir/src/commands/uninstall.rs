//! `weir uninstall`: removes Weir from every client and, on request, everything that it stores.
//!
//! Invariants: what is removed is listed first, and nothing is removed without consent; in a folder that the user chose
//! for the data, only what Weir makes is removed.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Value, json};
use walkdir::WalkDir;
use weir_context::Context;
use weir_host::answer::{Answer, counted, size};
use weir_host::env::{Paths, WEIR_DATA};
use weir_host::error::{CommandError, ErrorKind};
use weir_host::switch;
use weir_setup::removal::Removal;

use super::origin::Installed;

pub(crate) const UNINSTALL: &str = "uninstall";

/// What Weir makes in its data folder, apart from stores.
const IN_DATA: &[&str] = &[
    "held", "hook-faults.log", "http-tokens.json", "http-tokens.lock", "locks", "proxied", "setup/ledger.json",
    "team-tokens", "ui", "unfinished",
];

/// The folders in which each project has a file or a folder with the name of its store. In a folder that the user chose
/// for the data, there may be others.
const BY_STORE: &[&str] = &["projects", "quarantine", "shared"];

/// The user's own store, and files of which it has at least one.
const USER_STORE: &str = "user";
const IN_STORE: &[&str] = &["log.db", "index.db", "spool"];

/// What Weir reads in its configuration folder.
const IN_CONFIG: &[&str] = &["config.toml", switch::FILE, "prices.toml", "servers.json"];

pub(crate) fn command() -> Command {
    let flag = |name: &'static str, help: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue).help(help);
    Command::new(UNINSTALL)
        .about("Remove Weir from every client; with --purge, also delete everything it stored")
        .after_long_help(
            "Examples:\n  weir uninstall\n  weir uninstall --purge --dry-run\n\nShows what it removes and asks. \
             Exits with 6 if nothing was removed because you did not confirm.",
        )
        .args([
            flag("purge", "Also remove stores, configuration and cache"),
            flag("yes", "Remove without asking"),
            flag("dry-run", "Show what would be removed without removing it"),
        ])
}

/// Runs the command. Without a way to ask, nothing is removed unless the user has said yes.
pub(crate) fn run(
    context: &Context,
    arguments: &ArgMatches,
    ask: Option<&dyn Fn(&str) -> String>,
) -> Result<Answer, CommandError> {
    let mut removal = Removal::plan(context)?;
    let is_chosen = context.env().named_folder(WEIR_DATA).is_some();
    let folders = if arguments.get_flag("purge") { purged(context.paths(), is_chosen) } else { Vec::new() };
    let mut lines: Vec<String> = removal.planned();
    lines.extend(folders.iter().map(|place| format!("remove {} ({})", place.path.display(), place.describe())));
    let program = Installed::find().map_or_else(|| "not known".to_owned(), |installed| installed.remove());
    let last = format!("then remove the program itself: {program}");
    lines.extend(removal.problems.iter().map(left_alone));
    if lines.is_empty() {
        return Ok(Answer::new(format!("nothing to remove\n{last}"), data(&lines, &program, "nothing")));
    }
    let plan = lines.join("\n");
    let agreed = match ask {
        _ if arguments.get_flag("dry-run") => false,
        _ if arguments.get_flag("yes") => true,
        Some(ask) => matches!(ask(&plan).as_str(), "y" | "yes"),
        None => false,
    };
    if agreed {
        let mut done = removal.carry_out();
        let mut problems = removal.problems;
        for place in &folders {
            match place.remove() {
                Ok(()) => done.push(format!("removed {}", place.path.display())),
                Err(problem) => problems.push(problem),
            }
        }
        let mut text: Vec<String> = done.iter().map(|line| format!("✓ {line}")).collect();
        text.extend(problems.iter().map(|problem| format!("✗ {}", left_alone(problem))));
        if !arguments.get_flag("purge") {
            text.push(format!("what is stored stays in {}; --purge removes it", context.paths().data.display()));
        }
        text.extend(left_over(context.paths(), arguments.get_flag("purge")));
        text.push(last);
        let exit_code = (!problems.is_empty()).then_some(ErrorKind::Failed.exit_code());
        return Ok(Answer { exit_code, ..Answer::new(text.join("\n"), data(&lines, &program, "removed")) });
    }
    let why = match ask {
        _ if arguments.get_flag("dry-run") => "nothing was removed: this was a dry run",
        Some(_) => "nothing was removed",
        None => "nothing was removed: cannot ask for confirmation here; use --yes to remove without asking",
    };
    // Who was asked has seen the plan.
    let text = match ask {
        Some(_) if !arguments.get_flag("dry-run") => why.to_owned(),
        _ => format!("{plan}\n{why}"),
    };
    let exit_code = (!arguments.get_flag("dry-run")).then_some(ErrorKind::Denied.exit_code());
    Ok(Answer { exit_code, ..Answer::new(text, data(&lines, &program, "planned")) })
}

/// Says why something is not removed.
fn left_alone(problem: &CommandError) -> String {
    format!("left alone: {}", problem.message)
}

fn data(lines: &[String], program: &str, state: &str) -> Value {
    json!({ "state": state, "changes": lines, "remove_program": program })
}

/// A file or a folder to remove, and what it takes on the disk.
struct Stored {
    path: PathBuf,
    files: usize,
    bytes: u64,
}

impl Stored {
    /// Returns a path with its size, or `None` if there is nothing.
    fn at(path: PathBuf) -> Option<Self> {
        path.symlink_metadata().ok()?;
        let (mut files, mut bytes) = (0, 0);
        for entry in WalkDir::new(&path).into_iter().flatten() {
            if let Some(about) = entry.metadata().ok().filter(std::fs::Metadata::is_file) {
                files += 1;
                bytes += about.len();
            }
        }
        Some(Self { path, files, bytes })
    }

    fn describe(&self) -> String {
        format!("{}, {}", counted(self.files, "file", "files"), size(self.bytes))
    }

    fn remove(&self) -> Result<(), CommandError> {
        let removed = match self.path.symlink_metadata() {
            Ok(about) if about.is_dir() => std::fs::remove_dir_all(&self.path),
            Ok(_) => std::fs::remove_file(&self.path),
            Err(error) => Err(error),
        };
        match removed {
            // A folder that setup made may be gone with its last file.
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                let message = format!("cannot remove {}: {error}", self.path.display());
                Err(CommandError::new(ErrorKind::Failed, message).hint("end running clients, then run this again"))
            }
            _ => {
                // The folder around it goes too if it was Weir's own and is empty now.
                let parent = self.path.parent().filter(|parent| is_ours_if_empty(parent));
                let _ = parent.map(std::fs::remove_dir);
                Ok(())
            }
        }
    }
}

/// Returns everything that Weir stores: of a data folder that the user chose, by a variable or by a link, only what
/// Weir makes.
fn purged(paths: &Paths, is_chosen: bool) -> Vec<Stored> {
    let mut found = Vec::new();
    let is_link = paths.data.is_symlink();
    if is_chosen || is_link {
        found.extend(made_in(&paths.data));
    }
    if !is_chosen {
        found.push(paths.data.clone());
    }
    found.extend(IN_CONFIG.iter().map(|name| paths.config.with_file_name(name)));
    found.push(paths.cache.clone());
    // A link is removed, and not what it leads to.
    let is_inside = |path: &Path| {
        found.iter().any(|other| path != other && path.starts_with(other) && !(is_link && *other == paths.data))
    };
    found.iter().filter(|path| !is_inside(path)).cloned().filter_map(Stored::at).collect()
}

/// Returns what Weir makes in a folder, whatever else is there.
fn made_in(folder: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = IN_DATA.iter().map(|name| folder.join(name)).collect();
    for name in BY_STORE {
        let entries = std::fs::read_dir(folder.join(name)).into_iter().flatten().flatten();
        found.extend(entries.filter(|entry| is_store_name(&entry.file_name())).map(|entry| entry.path()));
    }
    let user = folder.join(USER_STORE);
    if IN_STORE.iter().any(|name| user.join(name).exists()) {
        found.push(user);
    }
    found
}

/// Whether a name is that of a project's store, of one that was replaced, or of one that was being made.
fn is_store_name(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    let stem = name.split('.').next().unwrap_or_default();
    let is_hash = |hash: &str| hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
    stem.rsplit_once('-').is_some_and(|(_, hash)| is_hash(hash)) || name.starts_with(".making-")
}

/// Names what stays in the folders because Weir did not make it.
fn left_over(paths: &Paths, is_purge: bool) -> Vec<String> {
    let folders = [Some(paths.data.as_path()), paths.config.parent()];
    let has_files = |folder: &Path| std::fs::read_dir(folder).is_ok_and(|mut files| files.next().is_some());
    let stays = folders.into_iter().flatten().filter(|folder| is_purge && has_files(folder));
    stays.map(|folder| format!("{} stays: it has files that Weir did not create", folder.display())).collect()
}

fn is_ours_if_empty(folder: &Path) -> bool {
    let is_ours = |name: &OsStr| name == "weir" || name == "setup" || BY_STORE.iter().any(|ours| name == *ours);
    folder.file_name().is_some_and(is_ours)
}
