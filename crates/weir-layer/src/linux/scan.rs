//! Finds what a run changed: walks the upper folder beside the project, and changes nothing.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::Mode;
use rustix::io::Errno;

use super::tree::{
    Meta, Node, Time, Tree, by_fd, enter, is, is_marked, is_opaque, is_unreachable, list, node, open_file, open_up,
    xattrs,
};
use crate::{Change, ChangeKind, ConflictKind, LayerError, What};

/// How many names of a project are remembered at most.
const MOST_NAMES: usize = 500_000;

/// What the project was like when the run began.
#[derive(Debug)]
pub(super) struct Since {
    /// Whatever was touched later has a change time that is not before this.
    pub(super) stamp: Time,
    pub(super) names: Names,
}

/// The names that existed, as numbers. A number that two names share makes a conflict out of a new file, no more.
#[derive(Debug)]
pub(super) struct Names {
    state: RandomState,
    /// `None` if there were too many.
    known: Option<HashSet<u64>>,
}

impl Names {
    pub(super) fn read(project: &Tree) -> Self {
        let state = RandomState::new();
        let mut known = HashSet::new();
        let mut folders = vec![PathBuf::new()];
        while let Some(folder) = folders.pop() {
            // What cannot be read here, the run cannot read either.
            let Ok(entries) = project.folder(&folder).and_then(|fd| super::tree::list_kinds(&fd)) else { continue };
            for (name, is_folder) in entries {
                let path = folder.join(name);
                known.insert(state.hash_one(&path));
                if is_folder {
                    folders.push(path);
                }
            }
            if known.len() > MOST_NAMES {
                return Self { state, known: None };
            }
        }
        Self { state, known: Some(known) }
    }
}

#[derive(Debug)]
pub(super) struct Found {
    pub(super) change: Change,
    pub(super) old: Option<Node>,
    pub(super) new: Option<Node>,
    /// Bytes in the folder that would go, if one would.
    pub(super) replaced: u64,
}

/// A folder that the upper has.
#[derive(Debug)]
pub(super) struct Folder {
    pub(super) path: PathBuf,
    pub(super) new: Meta,
    /// What the project has, and whether somebody touched that during the run; `None` for a new folder.
    pub(super) old: Option<(Meta, bool)>,
}

/// Everything that the upper has.
#[derive(Debug, Default)]
pub(super) struct Scan {
    pub(super) found: Vec<Found>,
    pub(super) folders: Vec<Folder>,
    /// Equal to the project's.
    pub(super) equal: Vec<PathBuf>,
    pub(super) skipped: Vec<PathBuf>,
    pub(super) marked: Vec<PathBuf>,
    /// Whether several names of the upper stand for one file.
    pub(super) linked: bool,
}

/// Walks the upper folder. Folders that their owner may not read or change are opened up, and stay so unless
/// [`Scan::close`] is called.
pub(super) fn scan(layer: &super::Layer) -> Result<Scan, LayerError> {
    let mut walk = Walk { layer, scan: Scan::default(), pending: Vec::new() };
    let root = PathBuf::new();
    let failed = |path: &Path, why: io::Error| match why {
        why if is(&why, Errno::NAMETOOLONG) => LayerError::TooDeep(path.to_owned()),
        why => LayerError::Io { what: "look at", path: path.to_owned(), why },
    };
    let meta = layer.room.upper.meta(&root).map_err(|why| failed(&root, why))?;
    open_up(layer.room.upper.fd()).map_err(|why| failed(&root, why))?;
    walk.pending.push(Pending { path: root, meta, merged: true, hidden: false });
    while let Some(next) = walk.pending.pop() {
        let path = next.path.clone();
        walk.folder(next).map_err(|why| failed(&path, why))?;
    }
    walk.scan.found.sort_by(|a, b| a.change.path.cmp(&b.change.path));
    walk.scan.folders.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(walk.scan)
}

impl Scan {
    /// Gives the folders of the upper back the modes that the run gave them.
    pub(super) fn close(&self, upper: &Tree) -> io::Result<()> {
        for folder in self.folders.iter().rev().filter(|folder| folder.new.mode & 0o700 != 0o700) {
            let fd = upper.folder(&folder.path)?;
            rustix::fs::chmod(by_fd(&fd), Mode::from_raw_mode(folder.new.mode))?;
        }
        Ok(())
    }
}

struct Pending {
    path: PathBuf,
    meta: Meta,
    /// Whether the project has the folder too.
    merged: bool,
    /// Whether a folder above hides all of the project's.
    hidden: bool,
}

struct Walk<'a> {
    layer: &'a super::Layer,
    scan: Scan,
    pending: Vec<Pending>,
}

/// One name, on both sides.
struct Pair<'a> {
    path: PathBuf,
    name: &'a OsStr,
    upper: &'a OwnedFd,
    project: Option<&'a OwnedFd>,
    hidden: bool,
    old: Option<Node>,
    new: Option<Node>,
}

impl Walk<'_> {
    fn folder(&mut self, Pending { path, meta, merged, hidden }: Pending) -> io::Result<()> {
        let upper = self.layer.room.upper.folder(&path)?;
        let project = if merged { self.project_folder(&path)? } else { None };
        let itself = by_fd(&upper).join(".");
        let marked = is_marked(&itself)?;
        let opaque = hidden || marked && is_opaque(&itself)?;
        let mut names = list(&upper)?;
        if let (true, Some(project)) = (opaque, &project) {
            names.extend(list(project)?);
            names.sort_unstable();
            names.dedup();
        }
        if marked {
            self.scan.marked.push(path.clone());
        }
        let old = match &project {
            Some(_) => Some((self.layer.room.project.meta(&path)?, self.is_touched(&path)?)),
            None => None,
        };
        for name in &names {
            let (new, old) = (node(&upper, name)?, project.as_ref().map(|fd| node(fd, name)).transpose()?.flatten());
            let path = path.join(name);
            self.pair(Pair { path, name, upper: &upper, project: project.as_ref(), hidden: opaque, old, new })?;
        }
        self.scan.folders.push(Folder { path, new: meta, old });
        Ok(())
    }

    fn project_folder(&self, path: &Path) -> io::Result<Option<OwnedFd>> {
        match self.layer.room.project.folder(path) {
            Err(error) if is_unreachable(&error) => Ok(None),
            result => result.map(Some),
        }
    }

    fn is_touched(&self, folder: &Path) -> io::Result<bool> {
        let fd = self.layer.room.project.folder(folder)?;
        Ok(node(&fd, OsStr::new(""))?.is_none_or(|node| node.ctime >= self.layer.since.stamp))
    }

    fn pair(&mut self, pair: Pair<'_>) -> io::Result<()> {
        let Some(new) = pair.new.clone().filter(|new| !new.whiteout) else { return self.removed(pair) };
        if new.what == What::Other && !new.fifo {
            self.scan.skipped.push(pair.path);
            return Ok(());
        }
        let (there, here) = (by_fd(pair.upper).join(pair.name), pair.project.map(|fd| by_fd(fd).join(pair.name)));
        if new.what != What::Folder && is_marked(&there)? {
            self.scan.marked.push(pair.path.clone());
        }
        self.scan.linked |= new.what != What::Folder && new.links > 1;
        let merged = new.what == What::Folder && pair.old.as_ref().is_some_and(|old| old.what == What::Folder);
        if new.what == What::Folder {
            let meta = Meta { mode: new.mode, mtime: Some(new.mtime), xattrs: Some(xattrs(&there)?) };
            open_up(enter((pair.upper, pair.name))?)?;
            self.pending.push(Pending { path: pair.path.clone(), meta, merged, hidden: pair.hidden });
        }
        let kind = match (&pair.old, &here) {
            (Some(old), Some(here)) => match difference(&pair, old, &new, (here, &there))? {
                Some(kind) => kind,
                None => {
                    if !merged {
                        self.scan.equal.push(pair.path);
                    }
                    return Ok(());
                }
            },
            _ => ChangeKind::Added,
        };
        let change = describe(&pair, &new, kind, self.layer.room.project_path())?;
        self.found(pair, change)
    }

    fn removed(&mut self, pair: Pair<'_>) -> io::Result<()> {
        let Some(old) = pair.old.clone() else { return Ok(()) };
        // Somebody created it during the run, in a folder that the run replaced.
        if pair.new.is_none() && old.ctime >= self.layer.since.stamp && !self.existed(&pair)? {
            return Ok(());
        }
        let change = describe(&pair, &old, ChangeKind::Removed, self.layer.room.project_path())?;
        self.found(pair, change)
    }

    /// Adds a change, and what somebody else did to the project's version during the run.
    fn found(&mut self, pair: Pair<'_>, mut change: Change) -> io::Result<()> {
        let stamp = self.layer.since.stamp;
        let new = pair.new.clone().filter(|new| !new.whiteout);
        let mut replaced = 0;
        let touched = pair.old.as_ref().map(|old| old.ctime >= stamp);
        change.conflict = match touched {
            None => self.existed(&pair)?.then_some(ConflictKind::Deleted),
            Some(touched) => touched.then_some(ConflictKind::Edited),
        };
        let goes = change.was == Some(What::Folder) && new.as_ref().is_none_or(|new| new.what != What::Folder);
        if goes && change.conflict.is_none() {
            match look_into(&self.layer.room.project, &pair.path, &HashSet::new()) {
                Ok(inside) => {
                    replaced = inside.size;
                    change.conflict = (inside.latest >= stamp).then_some(ConflictKind::Edited);
                }
                Err(_) => change.conflict = Some(ConflictKind::Unreachable),
            }
        }
        if change.kind == ChangeKind::Removed && goes {
            change.size = replaced;
        }
        self.scan.found.push(Found { change, old: pair.old, new, replaced });
        Ok(())
    }

    /// Whether a name existed when the run began. If that is not known and the folder was touched, it may have.
    fn existed(&self, pair: &Pair<'_>) -> io::Result<bool> {
        let names = &self.layer.since.names;
        match &names.known {
            Some(known) => Ok(known.contains(&names.state.hash_one(&pair.path))),
            None if pair.project.is_none() => Ok(false),
            None => self.is_touched(pair.path.parent().unwrap_or(Path::new(""))),
        }
    }
}

/// What all of a folder in the project amounts to.
pub(super) struct Inside {
    pub(super) latest: Time,
    pub(super) size: u64,
}

/// Looks at everything in a folder. The time of some folders does not count.
pub(super) fn look_into(tree: &Tree, path: &Path, same: &HashSet<&Path>) -> io::Result<Inside> {
    let mut inside = Inside { latest: (i64::MIN, 0), size: 0 };
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        let fd = tree.folder(&folder)?;
        for name in list(&fd)? {
            let Some(found) = node(&fd, &name)? else { continue };
            let path = folder.join(name);
            if !same.contains(path.as_path()) {
                inside.latest = inside.latest.max(found.ctime);
            }
            match found.what {
                What::Folder => folders.push(path),
                _ => inside.size += found.size,
            }
        }
    }
    Ok(inside)
}

fn difference(pair: &Pair<'_>, old: &Node, new: &Node, paths: (&Path, &Path)) -> io::Result<Option<ChangeKind>> {
    if old.what != new.what {
        return Ok(Some(ChangeKind::Changed));
    }
    let project = pair.project.ok_or(io::ErrorKind::NotFound)?;
    let same = match new.what {
        What::Folder => true,
        What::File => old.size == new.size && same_content((project, pair.upper), pair.name)?,
        What::Link => {
            rustix::fs::readlinkat(project, pair.name, Vec::new())?
                == rustix::fs::readlinkat(pair.upper, pair.name, Vec::new())?
        }
        What::Other => old.fifo == new.fifo,
    };
    if !same {
        return Ok(Some(ChangeKind::Changed));
    }
    if old.mode != new.mode || old.owner != new.owner || xattrs(paths.0)? != xattrs(paths.1)? {
        return Ok(Some(ChangeKind::Attributes));
    }
    // The time of a folder follows from what is in it.
    Ok((new.what != What::Folder && old.mtime != new.mtime).then_some(ChangeKind::Touched))
}

fn same_content(dirs: (&OwnedFd, &OwnedFd), name: &OsStr) -> io::Result<bool> {
    let (mut old, mut new) = match (open_file(dirs.0, name), open_file(dirs.1, name)) {
        (Ok(old), Ok(new)) => (old, new),
        (Err(_), Ok(_)) => return Ok(false),
        (_, Err(why)) => return Err(why),
    };
    let (mut left, mut right) = (vec![0; 1 << 16], vec![0; 1 << 16]);
    loop {
        let read = old.read(&mut left)?;
        if read == 0 {
            return Ok(new.read(&mut right)? == 0);
        }
        match new.read_exact(&mut right[..read]) {
            Ok(()) if left[..read] == right[..read] => {}
            Ok(()) => return Ok(false),
            Err(why) if why.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            Err(why) => return Err(why),
        }
    }
}

fn describe(pair: &Pair<'_>, result: &Node, kind: ChangeKind, project: &Path) -> io::Result<Change> {
    let is_program = |node: &Node| node.what == What::File && node.mode & 0o111 != 0;
    let (is_new, is_file) = (kind != ChangeKind::Removed, result.what == What::File);
    let target = match result.what {
        What::Link if is_new => {
            let target = rustix::fs::readlinkat(pair.upper, pair.name, Vec::new())?;
            Some(PathBuf::from(OsString::from_vec(target.into_bytes())))
        }
        _ => None,
    };
    Ok(Change {
        kind,
        what: result.what,
        was: pair.old.as_ref().map(|old| old.what),
        mode: result.mode,
        executable: is_new && is_program(result),
        was_executable: pair.old.as_ref().is_some_and(is_program),
        script: is_new && is_file && is_script(pair.upper, pair.name)?,
        setuid: is_new && is_file && result.mode & 0o6000 != 0,
        size: if result.what == What::Folder { 0 } else { result.size },
        leads_out: target.as_ref().is_some_and(|target| leads_out(&pair.path, target, project)),
        target,
        conflict: None,
        path: pair.path.clone(),
    })
}

fn is_script(dir: impl AsFd, name: &OsStr) -> io::Result<bool> {
    let mut start = Vec::new();
    open_file(dir, name)?.take(2).read_to_end(&mut start)?;
    Ok(start == b"#!")
}

/// Whether a link leads out of the project, judged by its text.
fn leads_out(link: &Path, target: &Path, project: &Path) -> bool {
    let mut depth = link.components().count().saturating_sub(1);
    let rest = if target.as_os_str().as_bytes().first() == Some(&b'/') {
        depth = 0;
        match target.strip_prefix(project) {
            Ok(rest) => rest,
            Err(_) => return true,
        }
    } else {
        target
    };
    for part in rest.components() {
        match part {
            Component::ParentDir if depth == 0 => return true,
            Component::ParentDir => depth -= 1,
            Component::CurDir => {}
            _ => depth += 1,
        }
    }
    false
}
