//! Detects that a project was moved: its store is empty, and a known project no longer exists in its folder. Invariant:
//! a guess is only reported, with the command that acts on it; nothing is adopted automatically.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use weir_store::{KnownProject, private};

use crate::context::LockedStores;
use crate::project::Project;

/// The file next to the log that records the device and inode numbers of the project's folder.
const PLACE: &str = "place";

/// Returns the folder that a project's identity names: that of its repository, or its own.
pub(crate) fn home(key: &str) -> Option<&Path> {
    let path = Path::new(key.strip_prefix("git:").or_else(|| key.strip_prefix("path:"))?);
    Some(if path.ends_with(".git") { path.parent()? } else { path })
}

/// Records the device and inode numbers of the project's folder, to recognise it after a move.
pub(crate) fn remember(store: &Path, project: &Project) {
    let Some(place) = place(project) else { return };
    let path = store.join(PLACE);
    if std::fs::read_to_string(&path).ok().as_ref() != Some(&place) {
        // Failing to write is harmless: the record only improves a guess.
        let file = private::open(&path, private::options().truncate(true));
        let _ = file.and_then(|mut file| file.write_all(place.as_bytes()));
    }
}

/// Returns a hint if the store is empty and the project may have been moved here.
pub(crate) fn hint(open: &mut LockedStores<'_>, project: &Project, stores: &Path) -> Option<String> {
    if !open.project().ok()?.is_blank().ok()? {
        return None;
    }
    let known = open.user().ok()?.projects().ok()?;
    let own = (home(&project.key.0).and_then(Path::file_name), place(project));
    let is_it = |other: &&KnownProject| {
        let store = stores.join(&other.folder);
        let place = std::fs::read_to_string(store.join(PLACE)).ok();
        let same = home(&other.key).and_then(Path::file_name) == own.0 || (place.is_some() && place == own.1);
        same && other.key != project.key.0 && has_gone(other) && store.join("log.db").exists()
    };
    let mut candidates: Vec<&KnownProject> = known.iter().filter(is_it).collect();
    candidates.sort_by_key(|other| std::cmp::Reverse(other.used_at));
    let from: PathBuf = home(&candidates.first()?.key)?.to_owned();
    Some(format!(
        "the project in {0} is gone; if it moved here, run: weir adopt {1}",
        from.display(),
        crate::run::quoted(&from.display().to_string())
    ))
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
        let key = project.key.0.as_str();
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
