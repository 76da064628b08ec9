//! Commands for a whole store: back up, restore, export, and adopt the store of another folder.
//!
//! Invariant: a store is put in place in one step, once it is complete and checked; until then, nothing is changed.

mod adopt;
mod backup;
mod export;
mod restore;

use std::fs::File;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use weir_core::Level;
use weir_store::{Owner, Store, private};

use crate::answer::Answer;
use crate::context::Context;
use crate::error::{CommandError, ErrorKind};
use crate::random;

/// Returns the commands.
pub(crate) fn commands() -> [Command; 4] {
    [backup::command(), restore::command(), export::command(), adopt::command()]
}

/// Asks the user for consent: takes a question and what the question is about.
pub(crate) type Asker<'a> = &'a dyn Fn(&str, &str) -> Result<bool, CommandError>;

/// Runs one of the commands. Returns `None` if the name is none of them. A command that writes to standard output
/// itself has no answer.
pub(crate) fn run(
    context: &Context,
    name: &str,
    arguments: &ArgMatches,
    ask: Asker<'_>,
) -> Option<Result<Option<Answer>, CommandError>> {
    match name {
        "backup" => Some(backup::run(context, arguments).map(Some)),
        "restore" => Some(restore::run(context, arguments).map(Some)),
        "export" => Some(export::run(context, arguments)),
        "adopt" => Some(adopt::run(context, arguments, ask).map(Some)),
        _ => None,
    }
}

fn file_argument(help: &'static str) -> Arg {
    Arg::new("file").value_name("FILE").value_parser(value_parser!(PathBuf)).help(help)
}

fn user_argument() -> Arg {
    Arg::new("user").long("user").action(ArgAction::SetTrue).help("Use the user store, which every project can see")
}

fn force_argument(help: &'static str) -> Arg {
    Arg::new("force").long("force").action(ArgAction::SetTrue).help(help)
}

/// Returns a path argument, relative to the folder in which the command was started.
fn path_of(context: &Context, arguments: &ArgMatches, name: &str) -> Option<PathBuf> {
    arguments.get_one::<PathBuf>(name).map(|path| context.env().folder.join(path))
}

/// The store that a command works on.
struct StoreTarget {
    level: Level,
    owner: Owner,
    folder: PathBuf,
}

impl StoreTarget {
    fn asked(context: &Context, arguments: &ArgMatches) -> Self {
        if arguments.get_flag("user") { Self::user(context) } else { Self::project(context) }
    }

    fn project(context: &Context) -> Self {
        let owner = Owner::Project(context.project().key.clone());
        Self { level: Level::Project, owner, folder: context.project_folder() }
    }

    fn user(context: &Context) -> Self {
        Self { level: Level::User, owner: Owner::User, folder: context.user_folder() }
    }

    /// Returns an error if the store is not empty, unless it may be replaced.
    fn check_free(&self, force: bool) -> Result<(), CommandError> {
        if force || !self.folder.join("log.db").exists() || open(self)?.is_blank()? {
            return Ok(());
        }
        let message = format!("cannot replace the store in {}: it is not empty", self.folder.display());
        Err(CommandError::new(ErrorKind::Usage, message)
            .hint("back it up with `weir backup FILE`, then repeat with --force; the old store is set aside"))
    }
}

fn open(which: &StoreTarget) -> Result<Store, CommandError> {
    Ok(Store::open(&which.folder, which.owner.clone(), weir_core::Limits::default())?)
}

/// A temporary folder next to the stores. It is removed on drop, and the next command removes what a killed one left.
pub(crate) struct Scratch {
    path: PathBuf,
    _lock: File,
}

const SCRATCH: &str = ".making-";
/// The extension of the lock file next to the folder, which shows that a process is working.
const LOCK: &str = "lock";

impl Scratch {
    /// Creates one below a folder, which is created if it does not exist.
    pub(crate) fn new(within: &Path) -> Result<Self, CommandError> {
        let failed = |error: std::io::Error| cannot_use(within, &error);
        private::folder(within).map_err(failed)?;
        sweep(within);
        loop {
            let path = within.join(format!("{SCRATCH}{}", random::name()?));
            let lock = new_private_file(&path.with_extension(LOCK)).map_err(failed)?;
            lock.lock().map_err(failed)?;
            // Another process may have taken the lock file for a leftover before it was locked.
            if path.with_extension(LOCK).exists() {
                private::folder(&path).map_err(failed)?;
                return Ok(Self { path, _lock: lock });
            }
        }
    }

    /// Returns the path of the folder.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Replaces a folder by `inner` in one step. Returns where the replaced folder is now.
    fn put_in_place(&self, inner: &Path, folder: &Path) -> Result<Option<PathBuf>, CommandError> {
        let failed = |error: std::io::Error| cannot_use(folder, &error);
        let replaces = folder.exists();
        if replaces {
            exchange(inner, folder).map_err(failed)?;
        } else {
            std::fs::rename(inner, folder).map_err(failed)?;
        }
        // A new name survives a power failure only once its folder is on disk.
        for folder in [&folder.join("blobs"), folder, folder.parent().unwrap_or(folder)] {
            let _ = File::open(folder).and_then(|folder| folder.sync_all());
        }
        Ok(replaces.then(|| inner.to_owned()))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
        let _ = std::fs::remove_file(self.path.with_extension(LOCK));
    }
}

/// Removes what killed commands left. A lock file exists before its folder, and as long as the folder.
fn sweep(within: &Path) {
    for entry in std::fs::read_dir(within).into_iter().flatten().flatten() {
        let path = entry.path();
        let ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(SCRATCH));
        if !ours || path.extension().is_none_or(|extension| extension != LOCK) {
            continue;
        }
        if let Ok(lock) = File::open(&path)
            && lock.try_lock().is_ok()
        {
            let _ = std::fs::remove_dir_all(path.with_extension(""));
            let _ = std::fs::remove_file(&path);
        }
    }
}

/// Swaps two folders, so that there is never a moment without one.
fn exchange(one: &Path, other: &Path) -> std::io::Result<()> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        if renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE).is_ok() {
            return Ok(());
        }
    }
    // On a file system that cannot do it in one step.
    let aside = one.with_extension("aside");
    std::fs::rename(other, &aside)?;
    std::fs::rename(one, other)?;
    std::fs::rename(&aside, one)
}

/// Removes the replaced store if it was empty, otherwise sets it aside.
fn set_aside_old(old: Option<PathBuf>, which: &StoreTarget) -> Result<Option<PathBuf>, CommandError> {
    let Some(old) = old else { return Ok(None) };
    let blank = Store::open(&old, which.owner.clone(), weir_core::Limits::default()).and_then(|store| store.is_blank());
    if blank.unwrap_or(false) {
        return Ok(None);
    }
    let name = which.folder.file_name().unwrap_or_default().to_string_lossy();
    let aside = which.folder.with_file_name(format!("{name}.replaced-{}", random::name()?));
    std::fs::rename(&old, &aside).map_err(|error| cannot_use(&old, &error))?;
    Ok(Some(aside))
}

/// Reports which processes still use a store that was replaced.
fn still_open(folder: &Path) -> Option<String> {
    let who = crate::holders::having_open(&folder.join("log.db"))?;
    Some(format!("{who} still has the old store open; restart it"))
}

fn new_private_file(path: &Path) -> std::io::Result<File> {
    private::open(path, private::options().create_new(true))
}

fn cannot_use(path: &Path, error: &std::io::Error) -> CommandError {
    CommandError::new(ErrorKind::Failed, format!("cannot use {}: {error}", path.display()))
        .hint("make sure that the folder exists, that you own it and that the disk has free space")
}
