//! Detects that a project with an empty store may have another one: the project was moved, so a known project no longer
//! exists in its folder, or a known project is a clone of the same repository. Invariant: a guess is only reported,
//! with the command that acts on it; nothing is adopted automatically.

use std::path::{Path, PathBuf};

use weir_context::{Context, LockedStores};
use weir_core::wording::quoted;
use weir_core::{Level, RepositoryIdentity};
use weir_host::foreign;
use weir_host::project::{Project, recorded_place};
use weir_store::KnownProject;

/// Returns the folder that a project's key names: that of its repository, or its own.
pub fn home(key: &str) -> Option<&Path> {
    let path = Path::new(key.strip_prefix("git:").or_else(|| key.strip_prefix("path:"))?);
    Some(if path.ends_with(".git") { path.parent()? } else { path })
}

/// Returns the project that is where a known project was last seen, if it is still the same. If that cannot be read at
/// the moment, it is not known whether the project is gone.
pub fn still_there(known: &KnownProject) -> std::io::Result<Option<Project>> {
    for folder in [Some(Path::new(&known.root)), home(&known.key)].into_iter().flatten() {
        let there = foreign::settled(Project::discover(folder))?;
        if there.as_ref().is_some_and(|there| there.key.0 == known.key) {
            return Ok(there);
        }
    }
    Ok(None)
}

/// Returns a hint if the store is empty and there may be another one for the project.
pub fn hint(context: &Context, open: &mut LockedStores<'_>) -> Option<String> {
    let (project, stores) = (context.project(), context.project_stores());
    let is_empty = !open.has(Level::Project).ok()? || open.project().ok()?.is_blank().ok()?;
    if project.shared().is_some() || !is_empty {
        return None;
    }
    let mut known = open.existing(Level::User).ok()??.projects().ok()?;
    known.retain(|other| other.key != project.own_key() && stores.join(&other.folder).join("log.db").exists());
    known.sort_by_key(|other| std::cmp::Reverse(other.used_at));
    moved_from(&known, project, &stores).or_else(|| cloned_from(&known, project))
}

/// Returns a hint if a known project is gone and may have been moved here.
fn moved_from(known: &[KnownProject], project: &Project, stores: &Path) -> Option<String> {
    let own = (home(project.own_key()).and_then(Path::file_name), project.place(), project.remote());
    let is_it = |other: &&KnownProject| {
        let place = recorded_place(&stores.join(&other.folder));
        let remote = other.identity.as_ref().and_then(RepositoryIdentity::remote);
        let same = home(&other.key).and_then(Path::file_name) == own.0
            || (place.is_some() && place == own.1)
            || (remote.is_some() && remote == own.2.as_deref());
        same && has_gone(other)
    };
    let from: PathBuf = home(&known.iter().find(is_it)?.key)?.to_owned();
    let (shown, quoted) = (from.display(), quoted(&from.display().to_string()));
    Some(format!("the project in {shown} is gone; if it moved here, run: weir adopt {quoted}"))
}

/// Returns a hint if a known project was cloned from the same remote. The hint does not say where that project is,
/// because any folder can claim a remote.
fn cloned_from(known: &[KnownProject], project: &Project) -> Option<String> {
    let remote = project.remote()?;
    let is_clone = |other: &KnownProject| {
        let there = still_there(other).ok().flatten();
        there.and_then(|there| there.remote()).as_ref() == Some(&remote)
    };
    let hint = "another project on this machine has the same remote; to share its store, run: weir adopt";
    known.iter().any(is_clone).then(|| hint.to_owned())
}

fn has_gone(project: &KnownProject) -> bool {
    is_gone(Path::new(&project.root)) && home(&project.key).is_some_and(is_gone)
}

/// Whether nothing is at a path, for certain.
pub fn is_gone(path: &Path) -> bool {
    matches!(path.try_exists(), Ok(false))
}
