//! `weir adopt`: takes over the store of a folder that was moved or renamed.

use std::path::{Component, Path, PathBuf};

use clap::{Arg, ArgMatches, Command, value_parser};
use serde_json::json;
use weir_core::ProjectKey;
use weir_store::{KnownProject, Owner, Store, StoreError};

use super::{Scratch, StoreTarget, cannot_use, force_argument, path_of, set_aside_old, still_open};
use crate::answer::Answer;
use crate::context::Context;
use crate::error::{CommandError, ErrorKind};
use crate::project::Project;
use crate::{moved, when};

pub(super) fn command() -> Command {
    let old = Arg::new("old")
        .value_name("OLD-FOLDER")
        .value_parser(value_parser!(PathBuf))
        .required(true)
        .help("Folder where the project was before");
    Command::new("adopt")
        .about("Take over the store of a project that was moved or renamed")
        .after_help(
            "Examples:\n  mv ~/src/old ~/src/new; cd ~/src/new; weir adopt ~/src/old\n\n\
             Run it in the new folder. A project that is still in the old folder keeps its store. A store that was created \
             here since is replaced only if it is empty, or with --force, and is then set aside.",
        )
        .arg(old)
        .arg(force_argument("Replace a store that is not empty"))
}

pub(super) fn run(context: &Context, arguments: &ArgMatches) -> Result<Answer, CommandError> {
    let Some(old) = path_of(context, arguments, "old") else { return Err(CommandError::usage("name the old folder")) };
    let old = settled(&plain(&old));
    let projects = context.with_stores_here(|open| Ok(open.user()?.projects()?))?;
    let known = projects.iter().find(|project| was_at(project, &old)).ok_or_else(|| unknown(&old, &projects))?;
    let which = StoreTarget::project(context);
    if known.key == context.project().key.0 {
        return Err(CommandError::usage(format!("the store of {} already belongs to this project", old.display())));
    }
    if Project::discover(&old).is_ok_and(|project| project.key.0 == known.key) {
        return Err(CommandError::usage(format!(
            "cannot take the store of {}: the project is still there",
            old.display()
        ))
        .hint("to copy it: `weir -C OLD-FOLDER backup FILE`, then `weir restore FILE` here"));
    }
    which.check_free(arguments.get_flag("force"))?;
    let from = which.folder.with_file_name(&known.folder);
    if !from.join("log.db").exists() {
        return Err(CommandError::new(ErrorKind::NotFound, format!("the store of {} no longer exists", old.display())));
    }
    let open = still_open(&from);
    match Store::hand_over(&from, Owner::Project(ProjectKey(known.key.clone())), &which.owner) {
        // The store was handed over before, but the command was interrupted.
        Err(StoreError::OtherProject) => Store::hand_over(&from, which.owner.clone(), &which.owner)?,
        other => other?,
    }
    let within = which.folder.parent().unwrap_or(Path::new("/")).to_owned();
    let scratch = Scratch::new(&within)?;
    let aside = match scratch.put_in_place(&from, &which.folder)? {
        // The store that was here is now where the old store was.
        Some(replaced) => {
            let moved = scratch.path.join("store");
            std::fs::rename(&replaced, &moved).map_err(|error| cannot_use(&replaced, &error))?;
            set_aside_old(Some(moved), &which)?
        }
        None => None,
    };
    let project = context.project();
    let here = KnownProject {
        key: project.key.0.clone(),
        root: project.root.display().to_string(),
        folder: project.folder_name(),
        used_at: when::now(),
    };
    context.with_stores_here(|open| {
        let user = open.user()?;
        user.remember_project(&here)?;
        Ok(user.forget_project(&known.key)?)
    })?;
    let mut text = format!("this project now uses the store of {}; try `weir history`", old.display());
    if let Some(aside) = &aside {
        text.push_str(&format!("\nthe previous store is in {}; remove it once you no longer need it", aside.display()));
    }
    text.extend(open.iter().map(|open| format!("\n{open}")));
    let data = json!({
        "from": old.display().to_string(), "replaced": aside.map(|aside| aside.display().to_string()), "open": open,
    });
    Ok(Answer::new(text, data))
}

/// Whether a project was in this folder.
fn was_at(project: &KnownProject, folder: &Path) -> bool {
    Path::new(&project.root) == folder || moved::home(&project.key) == Some(folder)
}

fn unknown(old: &Path, projects: &[KnownProject]) -> CommandError {
    let gone: Vec<String> = projects
        .iter()
        .filter(|project| !Path::new(&project.root).exists())
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
    match (path.parent().and_then(|parent| parent.canonicalize().ok()), path.file_name()) {
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
