//! Reads files that other programs or people wrote: settings of clients, ignore files, git's data about a repository.
//!
//! Invariants: only regular files are read, and only up to a limit; nothing blocks on a pipe or a device; a file of a
//! project is never reached through a link that leads out of the project.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Component, Path, PathBuf};

use crate::os;

pub const MAX_SETTINGS_BYTES: u64 = 1 << 20;

/// Reads one of the user's own files. Follows links, since many people keep their settings elsewhere and link to them.
pub fn read_user_file(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    whole(open_user_file(path)?, most)
}

/// Opens a file that the user or one of their clients names, under the same rules as [`read_user_file`].
pub fn open_user_file(path: &Path) -> io::Result<File> {
    regular(os::not_waiting(File::options().read(true)).open(path)?)
}

/// Reads a file below a folder. Follows links within the folder and refuses all others.
pub fn read_below(folder: &Path, name: &Path, most: u64) -> io::Result<Vec<u8>> {
    whole(open_below(folder, name)?, most)
}

/// Opens a file below a folder, under the same rules as [`read_below`].
pub fn open_below(folder: &Path, name: &Path) -> io::Result<File> {
    let is_plain = name.components().all(|part| matches!(part, Component::Normal(_)));
    if !is_plain || name.as_os_str().is_empty() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path leaves the folder"));
    }
    match os::open_below(folder, name) {
        Ok(Some(file)) => regular(file),
        Ok(None) => open_and_look_again(folder, name),
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => Err(leads_out()),
        Err(error) => Err(error),
    }
}

fn open_and_look_again(folder: &Path, name: &Path) -> io::Result<File> {
    let (top, full) = (os::real_path(folder)?, os::real_path(&folder.join(name))?);
    if !full.starts_with(&top) {
        return Err(leads_out());
    }
    let file = os::not_following(File::options().read(true)).open(&full)?;
    let (opened, named) = (file.metadata()?, full.symlink_metadata()?);
    if os::file_id(&opened) != os::file_id(&named) || os::real_path(&full)? != full {
        return Err(io::Error::other("it was moved in the meantime"));
    }
    regular(file)
}

fn leads_out() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, "it is a link that points outside its folder")
}

fn regular(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"))
}

/// Reads a file up to a limit.
pub fn whole(file: File, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        let most = weir_core::wording::size(most);
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("it is larger than {most}")));
    }
    Ok(bytes)
}

/// Returns `None` for an error that shows that something is absent, or is not what is looked for. An error that may
/// pass stays an error, since nothing is known then.
pub fn settled<T>(read: io::Result<T>) -> io::Result<Option<T>> {
    use io::ErrorKind as Kind;
    match read {
        Ok(read) => Ok(Some(read)),
        Err(error) if os::is_link_error(&error) => Ok(None),
        Err(error) => match error.kind() {
            Kind::NotFound | Kind::NotADirectory | Kind::IsADirectory => Ok(None),
            Kind::InvalidInput | Kind::InvalidFilename | Kind::FileTooLarge => Ok(None),
            _ => Err(error),
        },
    }
}

/// Resolves the links of a path as far as it exists, and appends the rest as written.
pub fn resolved(path: &Path) -> PathBuf {
    for above in path.ancestors() {
        if let (Ok(real), Ok(rest)) = (os::real_path(above), path.strip_prefix(above)) {
            return if rest.as_os_str().is_empty() { real } else { real.join(rest) };
        }
    }
    path.to_owned()
}

/// Returns a path as text. Different paths have different texts: a path that is not UTF-8 ends in a mark made from its
/// bytes.
pub fn path_text(path: &Path) -> String {
    match path.to_str() {
        Some(text) => text.to_owned(),
        None => {
            let mark = blake3::hash(path.as_os_str().as_encoded_bytes()).to_hex();
            format!("{}~{}", path.display(), &mark[..16])
        }
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::symlink;

    use rustix::fs::{CWD, Mode};

    use super::*;

    fn check(folder: &Path, name: &str) -> String {
        match read_below(folder, Path::new(name), 16) {
            Ok(bytes) => String::from_utf8(bytes).unwrap(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn only_small_regular_files_below_the_folder_are_read() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("project");
        std::fs::create_dir_all(folder.join("sub")).unwrap();
        std::fs::write(place.path().join("outside"), "outside").unwrap();
        std::fs::write(folder.join("sub/a"), "inside").unwrap();
        std::fs::write(folder.join("large"), "x".repeat(17)).unwrap();
        symlink("sub/a", folder.join("link")).unwrap();
        symlink("../outside", folder.join("out")).unwrap();
        symlink("/dev/zero", folder.join("zero")).unwrap();
        symlink("..", folder.join("up")).unwrap();
        symlink("loop", folder.join("loop")).unwrap();
        let pipe = folder.join("pipe");
        rustix::fs::mknodat(CWD, &pipe, rustix::fs::FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        let out = "it is a link that points outside its folder";
        for (name, expected) in [
            ("sub/a", "inside"),
            ("link", "inside"),
            ("large", "it is larger than 16 B"),
            ("out", out),
            ("zero", out),
            ("up/outside", out),
            ("pipe", "it is not a regular file"),
            ("sub", "it is not a regular file"),
            ("../outside", "the path leaves the folder"),
            ("/etc/passwd", "the path leaves the folder"),
        ] {
            assert_eq!(check(&folder, name), expected, "{name}");
            if name != "large" && !name.contains("..") && !name.starts_with('/') {
                let again = open_and_look_again(&folder, Path::new(name));
                assert_eq!(again.is_ok(), expected == "inside", "{name}");
            }
        }
        let too_many_links = Some(rustix::io::Errno::LOOP.raw_os_error());
        assert_eq!(read_below(&folder, Path::new("loop"), 16).unwrap_err().raw_os_error(), too_many_links);
        assert!(read_below(&folder, Path::new("none"), 16).is_err_and(|error| error.kind() == io::ErrorKind::NotFound));
        assert_eq!(read_user_file(&folder.join("out"), 16).unwrap(), b"outside");
        assert!(read_user_file(&folder.join("zero"), 16).is_err() && read_user_file(&pipe, 16).is_err());
    }

    #[test]
    fn what_does_not_exist_is_resolved_as_far_as_it_does() {
        let place = tempfile::tempdir().unwrap();
        let real = place.path().canonicalize().unwrap().join("real");
        std::fs::create_dir(&real).unwrap();
        symlink(&real, place.path().join("link")).unwrap();
        assert_eq!(resolved(&place.path().join("link/a/b")), real.join("a/b"));
        assert_eq!(resolved(&real), real);
        assert_eq!(resolved(Path::new("/nowhere/at/all")), Path::new("/nowhere/at/all"));
    }

    #[test]
    fn paths_that_differ_in_bytes_differ_as_text() {
        use std::os::unix::ffi::OsStrExt as _;
        let path = |bytes: &'static [u8]| Path::new(std::ffi::OsStr::from_bytes(bytes));
        assert_eq!(path_text(path(b"a/b")), "a/b");
        assert_ne!(path_text(path(b"a\xff")), path_text(path(b"a\xfe")));
        assert!(path_text(path(b"a\xff")).starts_with("a\u{fffd}~"));
    }
}
