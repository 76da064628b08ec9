//! Writes a file: completely or not at all, and only over the content that was read.
//!
//! Invariants: a reader sees the old content or the new one; group and mode are kept, except for set-user-id and
//! set-group-id; if someone else replaced the file before the rename took effect, their file is put back, and the
//! change is refused. Between two of Weir's own processes, a lock decides. Two cases remain: a program that writes to
//! the file in place can lose what it writes while the names are exchanged, and so can one that reads just before a
//! file is put back and then replaces the file with what it read.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write as _};

use weir_host::os;

use super::{Content, Folder};

/// After this many exchanges, another process is writing all the time.
const MAX_TRIES: usize = 8;

/// Why a file was not written.
#[derive(Debug)]
pub enum Failure {
    /// The file has changed since it was read.
    Moved,
    Io(io::Error),
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

pub fn replace(folder: &Folder, name: &OsStr, before: &Content, bytes: &[u8]) -> Result<(), Failure> {
    let fresh = TempFile::write(folder, name, bytes, 0o600)?;
    os::keep_mode(&fresh.file, &before.about)?;
    fresh.file.sync_all()?;
    if hash_of(folder, name)? != before.hash {
        return Err(Failure::Moved);
    }
    match folder.exchange(&fresh.name, name) {
        Ok(Some(())) => verify_exchange(folder, name, &fresh, blake3::hash(bytes).to_hex().as_str(), &before.hash)?,
        // Without an exchange, anything written between the check and this rename is lost.
        Ok(None) => folder.rename(&fresh.name, name)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(Failure::Moved),
        Err(error) => return Err(error.into()),
    }
    drop(fresh);
    Ok(folder.sync()?)
}

pub fn create(folder: &Folder, name: &OsStr, bytes: &[u8]) -> Result<(), Failure> {
    // The user's umask applies.
    let fresh = TempFile::write(folder, name, bytes, 0o666)?;
    fresh.file.sync_all()?;
    let done = match folder.rename_to_new(&fresh.name, name) {
        Ok(Some(())) => Ok(()),
        Ok(None) => folder.link(&fresh.name, name),
        Err(error) => Err(error),
    };
    match done {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(Failure::Moved),
        done => done?,
    }
    drop(fresh);
    Ok(folder.sync()?)
}

/// Checks after the exchange that the displaced file is the one that was read. If someone else was faster, their file
/// gets its name back.
fn verify_exchange(
    folder: &Folder,
    name: &OsStr,
    fresh: &TempFile<'_>,
    ours: &str,
    before: &str,
) -> Result<(), Failure> {
    let mut taken_out = hash_of(folder, &fresh.name)?;
    if taken_out == before {
        return Ok(());
    }
    let mut put_in = ours.to_owned();
    for _ in 0..MAX_TRIES {
        folder.exchange(&fresh.name, name)?;
        let out = hash_of(folder, &fresh.name)?;
        // The file that comes out must be the one that was put in last. If not, it was written since and belongs there.
        if out == put_in {
            break;
        }
        put_in = std::mem::replace(&mut taken_out, out);
    }
    Err(Failure::Moved)
}

/// Returns the hash of the file with a name, or that of nothing if there is none.
fn hash_of(folder: &Folder, name: &OsStr) -> io::Result<String> {
    match Content::read_in(folder, name) {
        Ok(content) => Ok(content.hash),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(error),
    }
}

/// A temporary file, removed on drop.
struct TempFile<'a> {
    folder: &'a Folder,
    name: OsString,
    file: File,
}

impl<'a> TempFile<'a> {
    fn write(folder: &'a Folder, beside: &OsStr, bytes: &[u8], mode: u32) -> io::Result<Self> {
        let bits = getrandom::u64().map_err(io::Error::other)?;
        let mut name = OsString::from(".");
        // A name may have at most 255 bytes, and the temporary name must stay below that.
        name.push(if beside.len() > 200 { OsStr::new("file") } else { beside });
        name.push(format!(".weir-{}", weir_core::Reference::from_bits(bits).as_str()));
        let mut fresh = Self { folder, file: folder.new_file(&name, mode)?, name };
        fresh.file.write_all(bytes)?;
        Ok(fresh)
    }
}

impl Drop for TempFile<'_> {
    fn drop(&mut self) {
        let _ = self.folder.remove(&self.name);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    fn content(folder: &Path, name: &str) -> String {
        std::fs::read_to_string(folder.join(name)).unwrap()
    }

    fn only_file(folder: &Path) -> bool {
        std::fs::read_dir(folder).unwrap().count() == 1
    }

    #[test]
    fn a_file_is_replaced_only_while_it_is_what_was_read() {
        let place = tempfile::tempdir().unwrap();
        let (path, name) = (os::real_path(place.path()).unwrap(), OsStr::new("a"));
        std::fs::write(path.join("a"), "one").unwrap();
        let folder = Folder::open(&path).unwrap();
        let read = Content::read_in(&folder, name).unwrap();
        replace(&folder, name, &read, b"two").unwrap();
        assert_eq!(content(&path, "a"), "two");
        assert!(matches!(replace(&folder, name, &read, b"three"), Err(Failure::Moved)));
        assert!(matches!(create(&folder, name, b"three"), Err(Failure::Moved)));
        assert_eq!(content(&path, "a"), "two");
        std::fs::remove_file(path.join("a")).unwrap();
        assert!(matches!(replace(&folder, name, &read, b"three"), Err(Failure::Moved)));
        create(&folder, name, b"four").unwrap();
        assert_eq!(content(&path, "a"), "four");
        assert!(only_file(&path), "something is left beside it");
    }

    #[cfg(unix)]
    #[test]
    fn the_quicker_writer_gets_the_name_back() {
        let place = tempfile::tempdir().unwrap();
        let (path, name) = (os::real_path(place.path()).unwrap(), OsStr::new("a"));
        let folder = Folder::open(&path).unwrap();
        let hash = |text: &str| blake3::hash(text.as_bytes()).to_hex().to_string();
        // The state after an exchange: our file has the name, and the displaced file is not the one that was read.
        for newest in ["ours", "written after that"] {
            std::fs::write(path.join("a"), newest).unwrap();
            let fresh = TempFile::write(&folder, name, b"theirs", 0o600).unwrap();
            assert!(matches!(
                verify_exchange(&folder, name, &fresh, &hash("ours"), &hash("read")),
                Err(Failure::Moved)
            ));
            drop(fresh);
            let expected = if newest == "ours" { "theirs" } else { newest };
            assert_eq!(content(&path, "a"), expected);
            assert!(only_file(&path));
        }
    }

    fn marks(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    /// Replaces the file without pause, and records what that displaced.
    fn write_directly(path: &Path, over: &AtomicBool) -> (Vec<String>, Vec<String>) {
        let (file, fresh, folder) = (path.join("a"), path.join("direct"), Folder::open(path).unwrap());
        let (mut written, mut displaced) = (Vec::new(), Vec::new());
        for turn in 0..4_000 {
            if over.load(Ordering::Relaxed) {
                break;
            }
            let read = std::fs::read_to_string(&file).unwrap();
            std::fs::write(&fresh, format!("{read}direct {turn}\n")).unwrap();
            folder.exchange(OsStr::new("direct"), OsStr::new("a")).unwrap().unwrap();
            written.push(format!("direct {turn}"));
            let known = marks(&read);
            let out = std::fs::read_to_string(&fresh).unwrap();
            displaced.extend(marks(&out).into_iter().filter(|mark| !known.contains(mark)));
        }
        let _ = std::fs::remove_file(fresh);
        (written, displaced)
    }

    #[cfg(unix)]
    #[test]
    fn no_change_of_ours_is_lost_unseen_to_one_who_replaces_the_file_all_the_time() {
        let place = tempfile::tempdir().unwrap();
        let (path, name) = (os::real_path(place.path()).unwrap(), OsStr::new("a"));
        std::fs::write(path.join("a"), "begin\n").unwrap();
        let folder = Folder::open(&path).unwrap();
        let over = AtomicBool::new(false);
        let (mut ours, mut refused) = (Vec::new(), 0);
        let (theirs, displaced) = std::thread::scope(|scope| {
            let direct = scope.spawn(|| write_directly(&path, &over));
            for turn in 0..300 {
                let read = Content::read_in(&folder, name).unwrap();
                let mark = format!("ours {turn}");
                let new = [read.bytes.as_slice(), mark.as_bytes(), b"\n"].concat();
                match replace(&folder, name, &read, &new) {
                    Ok(()) => ours.push(mark),
                    Err(Failure::Moved) => refused += 1,
                    Err(Failure::Io(error)) => panic!("{error}"),
                }
            }
            over.store(true, Ordering::Relaxed);
            direct.join().unwrap()
        });
        let there = marks(&content(&path, "a"));
        let lost: Vec<&String> =
            ours.iter().filter(|mark| !there.contains(mark) && !displaced.contains(mark)).collect();
        assert!(lost.is_empty(), "{lost:?} of {}, {refused} refused", ours.len());
        // A writer that reads in the instant in which our file has the name, and writes that back, undoes its own
        // earlier write.
        let undone = theirs.iter().filter(|mark| !there.contains(mark)).count();
        println!("{} made, {refused} refused; {} by them, {undone} undone", ours.len(), theirs.len());
        assert!(undone * 50 <= theirs.len(), "{undone} of {}", theirs.len());
        assert!(only_file(&path));
    }

    #[cfg(unix)]
    #[test]
    fn the_group_of_a_file_is_kept() {
        use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
        let place = tempfile::tempdir().unwrap();
        let (path, name) = (os::real_path(place.path()).unwrap(), OsStr::new("a"));
        let file = path.join("a");
        std::fs::write(&file, "one").unwrap();
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o660)).unwrap();
        let own = file.metadata().unwrap().gid();
        // Root may give a file to any group, and other users to the groups that they are in.
        let groups = rustix::process::getgroups().unwrap().into_iter().map(rustix::process::Gid::as_raw);
        let mut others = groups.chain([own + 1]).filter(|group| *group != own);
        let Some(other) = others.find(|group| chown(&file, None, Some(*group)).is_ok()) else { return };
        let folder = Folder::open(&path).unwrap();
        let read = Content::read_in(&folder, name).unwrap();
        replace(&folder, name, &read, b"two").unwrap();
        let about = file.metadata().unwrap();
        assert_eq!((about.gid(), about.mode() & 0o7777), (other, 0o660));
    }

    #[cfg(unix)]
    #[test]
    fn no_link_is_gone_through() {
        let place = tempfile::tempdir().unwrap();
        let path = os::real_path(place.path()).unwrap();
        std::fs::create_dir(path.join("real")).unwrap();
        std::fs::write(path.join("real/a"), "one").unwrap();
        std::os::unix::fs::symlink("real", path.join("link")).unwrap();
        std::os::unix::fs::symlink("a", path.join("real/b")).unwrap();
        assert!(Folder::open(&path.join("link")).is_err());
        assert!(Folder::make(&path.join("link/new")).is_err());
        let folder = Folder::open(&path.join("real")).unwrap();
        assert!(Content::read_in(&folder, OsStr::new("b")).is_err());
        assert_eq!(Content::read_in(&folder, OsStr::new("a")).unwrap().bytes, b"one");
    }
}
