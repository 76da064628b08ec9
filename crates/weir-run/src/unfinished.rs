//! Interrupted audits: the state before a run is in a journal until its audit is over; if the process that owns the
//! journal is killed, the next call of any kind finishes the audit.
//!
//! A journal is locked while its run is watched. Invariant: if no run is in progress, the folder of journals does not
//! exist, so a hook needs only one check.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use weir_context::Context;
use weir_core::Reference;
use weir_host::env::Paths;
use weir_host::os::{self, Anchor};
use weir_policy::audit::Before;
use weir_store::private;

use super::{layered, planted};

/// The folder of journals below the data folder.
const FOLDER: &str = "unfinished";
const JOURNAL: &str = "journal";
/// The extension of a journal that another process has already checked once.
const SEEN: &str = "seen";
/// The extension of remarks that have not been reported yet.
const WORD: &str = "word";
/// How long after its owner's death a run is certainly over.
const MAX_DYING_TIME: Duration = Duration::from_secs(3);
/// A larger journal is not one of ours.
const MAX_JOURNAL_BYTES: u64 = 64 << 20;

/// The recorded state before a run, locked.
pub(super) struct Journal {
    path: PathBuf,
    _lock: File,
}

impl Journal {
    /// Records the state before a run.
    pub(super) fn begin(data: &Path, quarantine: &Quarantine, before: &Before) -> io::Result<Self> {
        let (unnamed, mut file) = create(data)?;
        let path = unnamed.with_extension(JOURNAL);
        // The journal gets its name only once it is locked; unlocked, it would look like that of a run whose owner is
        // gone.
        file.lock()?;
        let written = file.write_all(quarantine.folder.as_os_str().as_encoded_bytes());
        let written = written.and_then(|()| file.write_all(b"\0")).and_then(|()| file.write_all(&before.to_bytes()));
        if let Err(error) = written.and_then(|()| std::fs::rename(&unnamed, &path)) {
            let _ = std::fs::remove_file(&unnamed);
            return Err(error);
        }
        Ok(Self { path, _lock: file })
    }

    /// Removes the journal, because the audit is over.
    pub(super) fn end(self) {
        remove(&self.path);
    }
}

fn remove(path: &Path) {
    let _ = std::fs::remove_file(path);
    // This fails while other journals exist.
    let _ = path.parent().map(std::fs::remove_dir);
}

/// How much of an interrupted audit is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AuditDepth {
    /// Everything is checked.
    Full,
    /// Only the top level of the folders, where most files take effect: for hooks. The next call that has time does the
    /// rest.
    TopLevel,
}

/// Finishes the audits of runs whose owners were killed. Returns remarks on what was found.
pub fn finish(paths: &Paths, depth: AuditDepth) -> Vec<String> {
    // What is on a layer is not live, so a hook need not wait for it.
    let mut remarks = if depth == AuditDepth::Full { layered::recover(paths) } else { Vec::new() };
    // In nearly every call, this is all there is to do.
    let Ok(entries) = std::fs::read_dir(paths.data.join(FOLDER)) else { return remarks };
    remarks.extend(entries.flatten().flat_map(|entry| finish_one(&entry.path(), depth).unwrap_or_default()));
    remarks
}

/// Leaves remarks about a background run for the next call that can report them.
pub(super) fn leave_word(data: &Path, reference: Reference, remarks: &[String]) -> io::Result<()> {
    if remarks.is_empty() {
        return Ok(());
    }
    let lines: String = remarks.iter().map(|remark| format!("after the run {reference}: {remark}\n")).collect();
    let (path, mut file) = create(data)?;
    file.write_all(lines.as_bytes())?;
    std::fs::rename(&path, path.with_extension(WORD))
}

/// Creates a private file in the folder, under a temporary name.
fn create(data: &Path) -> io::Result<(PathBuf, File)> {
    let folder = data.join(FOLDER);
    let path = folder.join(format!("{}.new", random_name()?));
    // The folder is removed with the last journal in it, possibly right now.
    loop {
        private::folder(&folder)?;
        match private::open(&path, private::options().create_new(true)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            opened => return Ok((path, opened?)),
        }
    }
}

/// Like [`finish`], off the async thread.
pub async fn finish_off(paths: &Paths) -> Vec<String> {
    if !paths.data.join(FOLDER).exists() && !layered::are_there(paths) {
        return Vec::new();
    }
    let paths = paths.clone();
    tokio::task::spawn_blocking(move || finish(&paths, AuditDepth::Full)).await.unwrap_or_default()
}

fn finish_one(path: &Path, depth: AuditDepth) -> io::Result<Vec<String>> {
    let file = File::options().read(true).write(true).open(path)?;
    if file.try_lock().is_err() {
        return Ok(Vec::new());
    }
    let about = file.metadata()?;
    let age = SystemTime::now().duration_since(about.modified()?).unwrap_or_default();
    let is = |end: &str| path.extension() == Some(OsStr::new(end));
    if is(WORD) && depth == AuditDepth::Full {
        let lines = std::fs::read_to_string(path)?.lines().map(str::to_owned).collect();
        remove(path);
        return Ok(lines);
    }
    let is_ours = (is(JOURNAL) || is(SEEN)) && about.len() <= MAX_JOURNAL_BYTES;
    let journal = is_ours.then(|| std::fs::read(path).ok()).flatten();
    let Some((quarantine, before)) = journal.as_deref().and_then(parse) else {
        // Its writer may be about to rename it.
        if age > MAX_DYING_TIME && !is(WORD) {
            remove(path);
        }
        return Ok(Vec::new());
    };
    let found = planted::finish(&before, &quarantine, depth);
    let remarks = found.into_iter().map(|remark| format!("after an interrupted run: {remark}")).collect();
    // The run may have outlived its owner briefly, so the first check is not the last.
    match (depth, is(SEEN)) {
        (AuditDepth::Full, true) if age > MAX_DYING_TIME => remove(path),
        (AuditDepth::Full, false) => {
            file.set_modified(SystemTime::now())?;
            std::fs::rename(path, path.with_extension(SEEN))?;
        }
        _ => {}
    }
    Ok(remarks)
}

fn parse(bytes: &[u8]) -> Option<(Quarantine, Before)> {
    let end = bytes.iter().position(|byte| *byte == 0)?;
    let folder = os::path_from(&bytes[..end]);
    Some((Quarantine { folder }, Before::from_bytes(&bytes[end + 1..])?))
}

/// The folder to which planted files are moved.
#[derive(Debug, Clone)]
pub(super) struct Quarantine {
    folder: PathBuf,
}

impl Quarantine {
    pub(super) fn of(context: &Context) -> Self {
        Self { folder: context.paths().data.join("quarantine").join(context.project().own_folder_name()) }
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Moves a file out of the project or, if that is another file system, renames it. A run may still be alive and put
    /// a link in the way, so links are not followed.
    pub(super) fn take(&self, path: &Path) -> io::Result<PathBuf> {
        let (Some(above), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        // The owner may move it whatever the modes are, which the run chose.
        let mode = os::open_up(above)?;
        let _ = os::open_up(path);
        let moved = self.take_from(above, path, name);
        if let Some(mode) = mode {
            os::set_folder_mode(above, mode)?;
        }
        moved
    }

    fn take_from(&self, above: &Path, path: &Path, name: &OsStr) -> io::Result<PathBuf> {
        let above = Anchor::open(above)?;
        let shown = name.to_string_lossy();
        let new = format!("{}-{}", shown.trim_start_matches('.'), random_name()?);
        private::folder(&self.folder)?;
        let to = Anchor::open(&os::real_path(&self.folder)?)?;
        if above.rename(name, &to, &new).is_ok() {
            return Ok(self.folder.join(new));
        }
        let beside = format!("quarantined-{new}");
        above.rename(name, &above, &beside)?;
        Ok(path.with_file_name(beside))
    }
}

fn random_name() -> io::Result<String> {
    let bits = getrandom::u64().map_err(io::Error::other)?;
    Ok(Reference::from_bits(bits).as_str().to_owned())
}
