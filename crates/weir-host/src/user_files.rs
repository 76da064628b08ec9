//! Reads and writes the files of clients, and the user's own settings. Invariants: a file is complete at every moment
//! and keeps its mode and its owner; a symbolic link stays one; nobody can read a new file who could not read the old
//! one.

use std::io::{ErrorKind as IoKind, Write as _};
use std::path::{Component, Path, PathBuf};

use crate::error::{CommandError, ErrorKind};
use crate::foreign;
use crate::os;

const MAX_FILE_BYTES: u64 = 64 << 20;

/// Returns the text of a file, or `None` if it does not exist.
pub fn read(path: &Path) -> Result<Option<String>, CommandError> {
    match foreign::read_user_file(path, MAX_FILE_BYTES) {
        Ok(bytes) => String::from_utf8(bytes).map(Some).map_err(|_| {
            CommandError::new(ErrorKind::Config, format!("{} is not UTF-8", path.display()))
                .hint("nothing was written; save it as UTF-8")
        }),
        Err(error) if matches!(error.kind(), IoKind::NotFound | IoKind::NotADirectory) => Ok(None),
        Err(error) => Err(failed(path, &error)),
    }
}

/// Returns the file that a path leads to through symbolic links, whether it exists or not.
pub fn target(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    // The kernel follows no more links either.
    for _ in 0..40 {
        let Ok(link) = std::fs::read_link(&path) else { break };
        path = path.parent().map_or_else(|| link.clone(), |folder| folder.join(&link));
    }
    path
}

/// Returns whether a path stays in a folder when all symbolic links on its way are followed, whether it exists or not.
pub fn stays_inside(path: &Path, folder: &Path) -> bool {
    let Ok(folder) = os::real_path(folder) else { return false };
    let path = target(path);
    let is_plain = |rest: &Path| rest.components().all(|part| matches!(part, Component::Normal(_)));
    for ancestor in path.ancestors() {
        if let Ok(real) = os::real_path(ancestor) {
            return real.starts_with(&folder) && path.strip_prefix(ancestor).is_ok_and(is_plain);
        }
        // A link to something that does not exist yet.
        if ancestor.is_symlink() {
            return false;
        }
    }
    false
}

/// Returns the folders that must be created for a file, outermost first.
pub fn missing_folders(path: &Path) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> =
        path.ancestors().skip(1).take_while(|folder| !folder.exists()).map(Path::to_owned).collect();
    folders.reverse();
    folders
}

/// Writes a file by replacing it with a complete one.
pub fn write(path: &Path, text: &str, private: bool) -> Result<(), CommandError> {
    let write = || -> std::io::Result<()> {
        let folder = path.parent().ok_or_else(|| std::io::Error::from(IoKind::InvalidInput))?;
        make_folder(folder, private)?;
        let new = folder.join(format!(".weir-{}-{}.new", std::process::id(), name_of(path)));
        let written = write_new(&new, path, text, private).and_then(|()| std::fs::rename(&new, path));
        if written.is_err() {
            let _ = std::fs::remove_file(&new);
        }
        written
    };
    write().map_err(|error| failed(path, &error))
}

/// Refuses a file that its owner has made read-only. It could be replaced all the same.
pub fn check_writable(path: &Path) -> Result<(), CommandError> {
    match path.metadata() {
        Ok(about) if about.permissions().readonly() => {
            let message = format!("cannot write {}: it is read-only", path.display());
            Err(CommandError::new(ErrorKind::Failed, message).hint("nothing was written; make the file writable first"))
        }
        _ => Ok(()),
    }
}

/// Removes a file that setup created, and the folders created for it if they are empty.
pub fn remove(path: &Path, folders: &[PathBuf]) -> Result<(), CommandError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != IoKind::NotFound => return Err(failed(path, &error)),
        _ => {}
    }
    for folder in folders.iter().rev() {
        // A folder that is not empty is not removed, as intended.
        if std::fs::remove_dir(folder).is_err() {
            break;
        }
    }
    Ok(())
}

fn write_new(new: &Path, old: &Path, text: &str, private: bool) -> std::io::Result<()> {
    let old = old.metadata().ok();
    let mut options = std::fs::File::options();
    options.write(true).create_new(true);
    if private || old.is_some() {
        os::make_private(&mut options);
    }
    let mut file = options.open(new)?;
    if let Some(old) = old {
        os::keep_owner(&file, &old)?;
        file.set_permissions(old.permissions())?;
    }
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

fn make_folder(folder: &Path, private: bool) -> std::io::Result<()> {
    if private { weir_store::private::folder(folder) } else { std::fs::create_dir_all(folder) }
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn failed(path: &Path, error: &std::io::Error) -> CommandError {
    CommandError::new(ErrorKind::Failed, format!("{}: {error}", path.display()))
        .hint("make sure that you may change the file")
}
