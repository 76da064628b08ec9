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
use weir_context::Context;
use weir_core::Level;
use weir_host::answer::Answer;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::random;
use weir_host::scratch::{REPLACED, cannot_use};
use weir_store::{Owner, Store, StoreError, private};

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

    /// Returns an error of the store with the path of the file that it is about.
    fn name_file(&self, error: StoreError) -> CommandError {
        CommandError::from(error).in_store(&self.folder)
    }

    /// Returns an error if the store is not empty, unless it may be replaced.
    fn check_free(&self, force: bool) -> Result<(), CommandError> {
        let is_free = || open(self)?.is_blank().map_err(|error| self.name_file(error));
        if force || !has_store(&self.folder)? || is_free()? {
            return Ok(());
        }
        let message = format!("cannot replace the store in {}: it is not empty", self.folder.display());
        Err(CommandError::new(ErrorKind::Usage, message)
            .hint("back it up with `weir backup FILE`, then repeat with --force; the old store is set aside"))
    }
}

fn has_store(folder: &Path) -> Result<bool, CommandError> {
    Store::exists(folder).map_err(|error| CommandError::from(error).in_store(folder))
}

fn open(which: &StoreTarget) -> Result<Store, CommandError> {
    let opened = Store::open(&which.folder, which.owner.clone(), weir_core::Limits::default());
    opened.map_err(|error| which.name_file(error))
}

/// Removes the replaced store if it was empty, otherwise sets it aside.
fn set_aside_old(old: Option<PathBuf>, which: &StoreTarget) -> Result<Option<PathBuf>, CommandError> {
    let Some(old) = old else { return Ok(None) };
    let blank = Store::open(&old, which.owner.clone(), weir_core::Limits::default()).and_then(|store| store.is_blank());
    if blank.unwrap_or(false) {
        return Ok(None);
    }
    let name = which.folder.file_name().unwrap_or_default().to_string_lossy();
    let aside = which.folder.with_file_name(format!("{name}{REPLACED}{}", random::name()?));
    std::fs::rename(&old, &aside).map_err(|error| cannot_use(&old, &error))?;
    Ok(Some(aside))
}

/// Reports which processes still use a store that was replaced.
fn still_open(folder: &Path) -> Option<String> {
    let who = weir_host::holders::having_open(&folder.join("log.db"))?;
    Some(format!("{who} still has the old store open; restart it"))
}

/// Refuses to overwrite a file, unless the user wants that.
fn check_new(file: &Path, arguments: &ArgMatches) -> Result<(), CommandError> {
    let exists = file.try_exists().map_err(|error| cannot_use(file, &error))?;
    if exists && !arguments.get_flag("force") {
        return Err(CommandError::new(ErrorKind::Usage, format!("cannot write {}: it already exists", file.display()))
            .hint("choose another file, or repeat with --force"));
    }
    Ok(())
}

/// The new content of a file, next to it until it is complete. A file that is to be replaced stays until then. The file
/// is locked as long as a process writes it; the next command with the same target removes what a killed one left.
struct UnfinishedFile {
    file: File,
    path: PathBuf,
    target: PathBuf,
}

impl UnfinishedFile {
    fn new(target: &Path) -> Result<Self, CommandError> {
        let failed = |error: std::io::Error| cannot_use(target, &error);
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        let start = format!(".{name}.");
        sweep_unfinished(target, &start);
        let path = target.with_file_name(format!("{start}{}", random::name()?));
        let file = new_private_file(&path).map_err(failed)?;
        // On a file system without locks, nothing is swept.
        let _ = file.try_lock();
        Ok(Self { file, path, target: target.to_owned() })
    }

    fn finish(&self) -> std::io::Result<()> {
        std::fs::rename(&self.path, &self.target)
    }
}

impl Drop for UnfinishedFile {
    fn drop(&mut self) {
        // After a rename, there is nothing left to remove at this path.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Removes unfinished files for a target whose process has ended.
fn sweep_unfinished(target: &Path, start: &str) {
    let folder = target.parent().unwrap_or(Path::new("/"));
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let random = name.to_str().and_then(|name| name.strip_prefix(start));
        let is_ours = random.is_some_and(random::is_name) && entry.file_type().is_ok_and(|kind| kind.is_file());
        if is_ours && File::open(entry.path()).is_ok_and(|file| file.try_lock().is_ok()) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

fn new_private_file(path: &Path) -> std::io::Result<File> {
    private::open(path, private::options().create_new(true))
}
