//! What a layer keeps on the disk beside what the run wrote: its header, the journal of an apply, and what became of
//! it.

use std::ffi::OsStr;
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::tree::{Meta, Node, Time, bytes, open_file};
use crate::{LayerError, What};

pub(super) const HEADER: &str = "header";
pub(super) const JOURNAL: &str = "journal";
/// One line per step that was taken.
pub(super) const PROGRESS: &str = "progress";
/// Everything was applied, at this time.
pub(super) const FINISHED: &str = "finished";
/// Undo has begun: the folders whose attributes it will set.
pub(super) const UNDOING: &str = "undoing";
/// One line per step that was undone.
pub(super) const UNDONE: &str = "undone";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Stored(#[serde(with = "bytes")] pub(super) PathBuf);

/// What a layer belongs to.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Header {
    pub(super) project: Stored,
    /// The inode of the project's folder.
    pub(super) ino: u64,
    pub(super) boot: String,
}

impl Header {
    /// Reads the header of a layer. Its own file is not synced, and after a power cut may be empty; the journal is not.
    pub(super) fn read(dir: &OwnedFd, layer: &Path) -> Result<Self, LayerError> {
        let missing = || damaged(layer, HEADER, "there is none");
        match read::<Self>(dir, HEADER, layer) {
            Ok(Some(header)) => Ok(header),
            own => match (Journal::read(dir, layer), own) {
                (Ok(Some(journal)), _) => Ok(journal.header),
                (_, own) => own?.ok_or_else(missing),
            },
        }
    }
}

/// Everything that an apply does, in this order.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Journal {
    pub(super) header: Header,
    pub(super) held_to: Stored,
    pub(super) undo_limit: u64,
    /// Whether held files are copied, because they may have other names in the project.
    pub(super) copy_holds: bool,
    pub(super) holds: Vec<Hold>,
    /// What is removed from the upper.
    pub(super) drops: Vec<Stored>,
    pub(super) steps: Vec<Step>,
    pub(super) folders: Vec<FolderStep>,
}

/// What moves from the upper to the folder for held files, under this name.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Hold {
    pub(super) path: Stored,
    pub(super) name: Stored,
    pub(super) why: String,
}

/// One name of the project that is added, replaced or removed.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Step {
    pub(super) path: Stored,
    pub(super) old: Option<Was>,
    /// The inode that the run's version has in the upper; `None` if the run removed the name.
    pub(super) new: Option<u64>,
}

/// How a version is recognised.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Was {
    pub(super) ino: u64,
    pub(super) ctime: Time,
    pub(super) mtime: Time,
    pub(super) mode: u32,
    /// Bytes, of everything in it if it is a folder.
    pub(super) size: u64,
    pub(super) folder: bool,
}

impl Was {
    pub(super) fn new(node: &Node, size: u64) -> Self {
        let Node { ino, ctime, mtime, mode, what, .. } = *node;
        Self { ino, ctime, mtime, mode, size, folder: what == What::Folder }
    }

    /// Whether nobody touched it. The mode of a folder may have been changed so that it can be moved.
    pub(super) fn is(&self, node: &Node) -> bool {
        node.ino == self.ino && (self.folder || node.ctime == self.ctime)
    }
}

/// The attributes of one folder of the project, before and after.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct FolderStep {
    pub(super) path: Stored,
    /// `None` if the folder is new.
    pub(super) old: Option<Meta>,
    pub(super) new: Meta,
}

impl Journal {
    /// Reads a journal, and refuses one with a path that could lead anywhere else.
    pub(super) fn read(dir: &OwnedFd, layer: &Path) -> Result<Option<Self>, LayerError> {
        let Some(journal) = read::<Self>(dir, JOURNAL, layer)? else { return Ok(None) };
        let paths = journal.holds.iter().map(|hold| &hold.path).chain(&journal.drops);
        let mut paths = paths.chain(journal.steps.iter().map(|step| &step.path));
        let inside = paths.all(|path| is_inside(path) && path.0.file_name().is_some());
        let mut names = journal.holds.iter().map(|hold| &hold.name);
        let plain = names.all(|name| is_inside(name) && name.0.components().count() == 1);
        if inside && plain && journal.folders.iter().all(|folder| is_inside(&folder.path)) {
            return Ok(Some(journal));
        }
        Err(damaged(layer, JOURNAL, "a path leads out of the project"))
    }

    /// How much the project loses, in bytes.
    pub(super) fn replaced(&self) -> u64 {
        self.steps.iter().filter_map(|step| step.old.as_ref()).fold(0, |sum, old| sum.saturating_add(old.size))
    }
}

fn is_inside(path: &Stored) -> bool {
    path.0.components().all(|part| matches!(part, Component::Normal(_)))
}

pub(super) fn damaged(layer: &Path, file: &str, why: impl ToString) -> LayerError {
    LayerError::Damaged { path: layer.join(file), why: why.to_string() }
}

pub(super) fn read<T: DeserializeOwned>(dir: &OwnedFd, name: &str, layer: &Path) -> Result<Option<T>, LayerError> {
    let text = read_bytes(dir, name).map_err(|why| damaged(layer, name, why))?;
    text.map(|text| serde_json::from_slice(&text).map_err(|why| damaged(layer, name, why))).transpose()
}

/// The complete lines of a file of a layer, which a killed process may have left without its end.
pub(super) fn read_lines(dir: &OwnedFd, name: &str) -> io::Result<Vec<String>> {
    let text = read_bytes(dir, name)?.unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    Ok(text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')).map(str::to_owned).collect())
}

fn read_bytes(dir: &OwnedFd, name: &str) -> io::Result<Option<Vec<u8>>> {
    let mut text = Vec::new();
    match open_file(dir, OsStr::new(name)) {
        Err(why) if why.kind() == io::ErrorKind::NotFound => return Ok(None),
        file => file?.read_to_end(&mut text)?,
    };
    Ok(Some(text))
}
