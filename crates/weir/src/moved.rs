//! Detects that a project with an empty store may have another one: the project was moved, so a known project no longer
//! exists in its folder, or a known project is a clone of the same repository. Invariant: a guess is only reported, with
//! the command that acts on it; nothing is adopted automatically.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use weir_core::RepositoryIdentity;
use weir_store::{KnownProject, private};

use crate::context::LockedStores;
use crate::project::Project;

/// The file next to the log that records the device and inode numbers of the project's folder.
const PLACE: &str = "place";

/// Returns the folder that a project's key names: that of its repository, or its own.
pub(crate) fn home(key: &str) -> Option<&Path> {
    let path = Path::new(key.strip_prefix("git:").or_else(|| key.strip_prefix("path:"))?);
    Some(if path.ends_with(".git") { path.parent()? } else { path })
}

/// Returns the project that is where a known project was last seen, if it is still the same.
pub(crate) fn still_there(known: &KnownProject) -> Option<Project> {
    let folders = [Some(Path::new(&known.root)), home(&known.key)];
    let mut there = folders.into_iter().flatten().filter_map(|folder| Project::discover(folder).ok());
    there.find(|there| there.key.0 == known.key)
}

/// Records the device and inode numbers of the project's folder, to recognise it after a move. The store of another
/// folder keeps the numbers of that folder.
pub(crate) fn remember(store: &Path, project: &Project) {
    let Some(place) = place(project).filter(|_| project.shared().is_none()) else { return };
    let path = store.join(PLACE);
    if std::fs::read_to_string(&path).ok().as_ref() != Some(&place) {
        // Failing to write is harmless: the record only improves a guess.
        let file = private::open(&path, private::options().truncate(true));
        let _ = file.and_then(|mut file| file.write_all(place.as_bytes()));
    }
}

/// Returns a hint if the store is empty and there may be another one for the project.
pub(crate) fn hint(open: &mut LockedStores<'_>, project: &Project, stores: &Path) -> Option<String> {
    if project.shared().is_some() || !open.project().ok()?.is_blank().ok()? {
        return None;
    }
    let mut known = open.user().ok()?.projects().ok()?;
    known.retain(|other| other.key != project.own_key() && stores.join(&other.folder).join("log.db").exists());
    known.sort_by_key(|other| std::cmp::Reverse(other.used_at));
    moved_from(&known, project, stores).or_else(|| cloned_from(&known, project))
}

/// Returns a hint if a known project is gone and may have been moved here.
fn moved_from(known: &[KnownProject], project: &Project, stores: &Path) -> Option<String> {
    let own = (home(project.own_key()).and_then(Path::file_name), place(project), project.remote());
    let is_it = |other: &&KnownProject| {
        let place = std::fs::read_to_string(stores.join(&other.folder).join(PLACE)).ok();
        let remote = other.identity.as_ref().and_then(RepositoryIdentity::remote);
        let same = home(&other.key).and_then(Path::file_name) == own.0
            || (place.is_some() && place == own.1)
            || (remote.is_some() && remote == own.2.as_deref());
        same && has_gone(other)
    };
    let from: PathBuf = home(&known.iter().find(is_it)?.key)?.to_owned();
    let (shown, quoted) = (from.display(), crate::run::quoted(&from.display().to_string()));
    Some(format!("the project in {shown} is gone; if it moved here, run: weir adopt {quoted}"))
}

/// Returns a hint if a known project was cloned from the same remote. The hint does not say where that project is,
/// because any folder can claim a remote.
fn cloned_from(known: &[KnownProject], project: &Project) -> Option<String> {
    let remote = project.remote()?;
    let is_clone = |other: &KnownProject| still_there(other).and_then(|there| there.remote()).as_ref() == Some(&remote);
    let hint = "another project on this machine has the same remote; to share its store, run: weir adopt";
    known.iter().any(is_clone).then(|| hint.to_owned())
}

fn has_gone(project: &KnownProject) -> bool {
    !Path::new(&project.root).exists() && home(&project.key).is_some_and(|home| !home.exists())
}

/// Returns the folder's device and inode numbers, which do not change when the folder is moved or renamed on the same
/// file system.
fn place(project: &Project) -> Option<String> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt as _;
        let key = project.own_key();
        let folder = key.strip_prefix("git:").or_else(|| key.strip_prefix("path:"))?;
        let about = std::fs::metadata(folder).ok()?;
        Some(format!("{}:{}\n", about.dev(), about.ino()))
    }
    #[cfg(not(unix))]
    {
        let _ = project;
        None
    }
}
