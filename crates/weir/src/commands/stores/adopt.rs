//! `weir adopt`: uses the store of another folder. The store of a project that was moved or renamed is taken over; the
//! store of another clone of the repository is shared.

mod share;

use std::path::{Component, Path, PathBuf};

use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use serde_json::json;
use weir_context::Context;
use weir_core::ProjectKey;
use weir_host::answer::Answer;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::foreign;
use weir_host::os;
use weir_host::project::Project;
use weir_host::scratch::{Scratch, cannot_use};
use weir_host::sharing::{self, SharedStore};
use weir_host::when;
use weir_knowledge::moved;
use weir_store::{KnownProject, Owner, Store, StoreError};

use super::{Asker, StoreTarget, force_argument, has_store, path_of, set_aside_old, still_open};

pub(super) fn command() -> Command {
    let old = Arg::new("old")
        .value_name("FOLDER")
        .value_parser(value_parser!(PathBuf))
        .help("Folder of the project whose store to use [default: another clone of this repository]");
    let flag = |name: &'static str, help: &'static str| Arg::new(name).long(name).action(ArgAction::SetTrue).help(help);
    Command::new("adopt")
        .about("Use the store of another clone, or of a project that was moved or renamed")
        .after_long_help(
            "Examples:\n  weir adopt               share the store of another clone of this repository\n  \
             weir adopt ~/src/other   share the store of that clone\n  \
             weir adopt ~/src/old     take over its store, after mv ~/src/old ~/src/new\n  \
             weir adopt --undo        use this folder's own store again\n\n\
             Run it in the new folder. If the other project is still there, both folders use its store, once you \
             agree; what this folder has stored before stays in its own store. If it is gone, its store becomes this \
             folder's. A store that was created here since is then replaced only if it is empty, or with --force, and \
             is set aside.",
        )
        .arg(old)
        .arg(force_argument("Replace a store that is not empty"))
        .arg(flag("yes", "Do not ask"))
        .arg(flag("undo", "Use this folder's own store again").conflicts_with_all(["old", "force", "yes"]))
}

pub(super) fn run(context: &Context, arguments: &ArgMatches, ask: Asker<'_>) -> Result<Answer, CommandError> {
    if arguments.get_flag("undo") {
        return share::undo(context);
    }
    let project = context.project();
    if let Some(shared) = project.shared() {
        let message = format!("this folder already uses the store of {}", shared.root);
        return Err(CommandError::usage(message).hint("`weir adopt --undo` returns to its own store"));
    }
    let given = arguments.get_flag("yes");
    let ask = |question: &str, about: &str| if given { Ok(true) } else { ask(question, about) };
    let projects = context.with_stores_here(|open| Ok(open.user()?.projects()?))?;
    let named = path_of(context, arguments, "old").map(|old| settled(&plain(&old)));
    let known = match &named {
        Some(old) => known_at(&projects, old)?,
        None => share::other_clone(context, &projects)?,
    };
    let old = named.clone().unwrap_or_else(|| PathBuf::from(&known.root));
    if known.key == project.own_key() {
        return Err(CommandError::usage(format!("the store of {} already belongs to this project", old.display())));
    }
    let there = moved::still_there(known).map_err(|error| cannot_use(Path::new(&known.root), &error))?;
    let store = share::store_of(context, known)?;
    if there.is_some() || store.owner != known.key {
        return share::share(context, known, there.as_ref(), &store, &ask);
    }
    let question = format!("Take over the store of {}, which is no longer there?", old.display());
    if named.is_none() && !ask(&question, &share::contents(context, known, &store)?)? {
        return Err(share::not_agreed(&old.display().to_string()));
    }
    take_over(context, known, &old, arguments.get_flag("force"))
}

/// Makes the store of a project that is gone the store of this one.
fn take_over(context: &Context, known: &KnownProject, old: &Path, force: bool) -> Result<Answer, CommandError> {
    let which = StoreTarget::project(context);
    which.check_free(force)?;
    let from = which.folder.with_file_name(&known.folder);
    if !has_store(&from)? {
        return Err(CommandError::new(ErrorKind::NotFound, format!("the store of {} no longer exists", old.display())));
    }
    let open = still_open(&from);
    let handed_over = match Store::hand_over(&from, Owner::Project(ProjectKey(known.key.clone())), &which.owner) {
        // The store was handed over before, but the command was interrupted.
        Err(StoreError::OtherProject) => Store::hand_over(&from, which.owner.clone(), &which.owner),
        other => other,
    };
    handed_over.map_err(|error| CommandError::from(error).in_store(&from))?;
    let within = which.folder.parent().unwrap_or(Path::new("/")).to_owned();
    let scratch = Scratch::new(&within)?;
    let aside = match scratch.put_in_place(&from, &which.folder)? {
        // The store that was here is now where the old store was.
        Some(replaced) => {
            let moved = scratch.path().join("store");
            std::fs::rename(&replaced, &moved).map_err(|error| cannot_use(&replaced, &error))?;
            set_aside_old(Some(moved), &which)?
        }
        None => None,
    };
    let followed = follow(context, known)?;
    let here = KnownProject { identity: known.identity.clone(), ..context.project().as_known(when::now()) };
    context.with_stores_here(|open| {
        let user = open.user()?;
        user.remember_project(&here)?;
        Ok(user.forget_project(&known.key)?)
    })?;
    let mut text = format!("this project now uses the store of {}; try `weir history`", old.display());
    text.extend(followed.iter().map(|folder| format!("\n{folder} still shares it")));
    if let Some(aside) = &aside {
        text.push_str(&format!("\nthe previous store is in {}; remove it once you no longer need it", aside.display()));
    }
    text.extend(open.iter().map(|open| format!("\n{open}")));
    let data = json!({
        "from": old.display().to_string(), "replaced": aside.map(|aside| aside.display().to_string()), "open": open,
    });
    Ok(Answer::new(text, data))
}

/// Lets the folders that share a store follow it to this project. Returns these folders.
fn follow(context: &Context, known: &KnownProject) -> Result<Vec<String>, CommandError> {
    let (project, data) = (context.project(), &context.paths().data);
    let mut followed = Vec::new();
    let records = sharing::all(data).map_err(|error| cannot_use(data, &error))?;
    for (name, record) in records.into_iter().filter(|(_, record)| record.folder == known.folder) {
        followed.push(share::place(&record.user));
        let record = SharedStore {
            owner: project.own_key().to_owned(),
            folder: project.own_folder_name().to_owned(),
            root: foreign::path_text(&project.root),
            ..record
        };
        sharing::write(data, &name, &record).map_err(|error| cannot_use(data, &error))?;
    }
    Ok(followed)
}

/// Returns the known project that is or was in a folder. The one that is there now comes first.
fn known_at<'a>(projects: &'a [KnownProject], folder: &Path) -> Result<&'a KnownProject, CommandError> {
    let there = foreign::settled(Project::discover(folder)).map_err(|error| cannot_use(folder, &error))?;
    let is_there = |project: &&KnownProject| there.as_ref().is_some_and(|there| there.key.0 == project.key);
    let was_there = |project: &&KnownProject| was_at(project, folder);
    let both = |project: &&KnownProject| is_there(project) && was_there(project);
    let found = projects.iter().find(both).or_else(|| projects.iter().find(was_there));
    found.or_else(|| projects.iter().find(is_there)).ok_or_else(|| unknown(folder, projects))
}

fn was_at(project: &KnownProject, folder: &Path) -> bool {
    Path::new(&project.root) == folder || moved::home(&project.key) == Some(folder)
}

fn unknown(old: &Path, projects: &[KnownProject]) -> CommandError {
    let gone: Vec<String> = projects
        .iter()
        .filter(|project| moved::is_gone(Path::new(&project.root)))
        .map(|project| project.root.clone())
        .collect();
    let hint = match gone.is_empty() {
        true => "no known project is missing from its folder".to_owned(),
        false => format!("projects missing from their folders: {}", gone.join(", ")),
    };
    CommandError::new(ErrorKind::NotFound, format!("no known project was in {}", old.display())).hint(hint)
}

/// Resolves the links of a path, as far as it still exists.
fn settled(path: &Path) -> PathBuf {
    match (path.parent().and_then(|parent| os::real_path(parent).ok()), path.file_name()) {
        (Some(parent), Some(name)) => parent.join(name),
        _ => path.to_owned(),
    }
}

/// Returns a path without `.` and `..`, for a folder that no longer exists.
fn plain(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut plain, part| {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
        plain
    })
}
