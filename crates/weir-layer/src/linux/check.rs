//! Whether a project can have a layer.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, StatxFlags};

use crate::WhyNot;

/// File systems with the clock of this machine.
const LOCAL: &[&str] =
    &["bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "overlay", "ramfs", "tmpfs", "xfs", "zfs"];
/// Those that the kernel accepts as the upper folder of an overlay.
const UPPER: &[&str] = &["bcachefs", "btrfs", "ext2", "ext3", "ext4", "f2fs", "tmpfs", "xfs", "zfs"];

struct Mount {
    id: u64,
    point: PathBuf,
    kind: String,
}

/// Whether a project can have a layer below `place`, and why not.
///
/// Of the files of other users and groups, which a run could not write, this looks only at the project's own folder
/// and what is directly in it.
pub fn check(place: &Path, project: &Path) -> Result<(), WhyNot> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        |why| WhyNot::Io { path, why }
    };
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(place).map_err(failed(place))?;
    let place = place.canonicalize().map_err(failed(place))?;
    let project = project.canonicalize().map_err(failed(project))?;
    if place.starts_with(&project) {
        return Err(WhyNot::PlaceInside(place));
    }
    if project.starts_with(&place) {
        return Err(WhyNot::ProjectInside(place));
    }
    let mounts = mounts().map_err(failed(Path::new("/proc/self/mountinfo")))?;
    if let Some(below) = mounts.iter().find(|mount| mount.point != project && mount.point.starts_with(&project)) {
        return Err(WhyNot::MountBelow(below.point.clone()));
    }
    let kind = kind_of(&mounts, &project).map_err(failed(&project))?;
    if !LOCAL.contains(&kind.as_str()) {
        return Err(WhyNot::Clock(kind));
    }
    let name = kind_of(&mounts, &place).map_err(failed(&place))?;
    if !UPPER.contains(&name.as_str()) {
        return Err(WhyNot::Upper { place, name });
    }
    owner(&project, (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw()))
}

/// The user namespace of a run knows one user and one group, also if those are root's.
fn owner(project: &Path, ours: (u32, u32)) -> Result<(), WhyNot> {
    let failed = |why| WhyNot::Io { path: project.to_owned(), why };
    let entries = std::fs::read_dir(project).map_err(failed)?.map(|entry| entry.map(|entry| entry.path()));
    for path in std::iter::once(Ok(project.to_owned())).chain(entries) {
        let path = path.map_err(failed)?;
        match std::fs::symlink_metadata(&path) {
            Ok(found) if (found.uid(), found.gid()) != ours => return Err(WhyNot::Owner(path)),
            _ => {}
        }
    }
    Ok(())
}

fn kind_of(mounts: &[Mount], path: &Path) -> io::Result<String> {
    let id = rustix::fs::statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::MNT_ID)?.stx_mnt_id;
    let mount = mounts.iter().find(|mount| mount.id == id);
    Ok(mount.map_or_else(|| "unknown".to_owned(), |mount| mount.kind.clone()))
}

fn mounts() -> io::Result<Vec<Mount>> {
    Ok(std::fs::read("/proc/self/mountinfo")?.split(|byte| *byte == b'\n').filter_map(mount).collect())
}

fn mount(line: &[u8]) -> Option<Mount> {
    let fields: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
    let dash = fields.iter().position(|field| *field == b"-")?;
    let text = |field: &[u8]| String::from_utf8_lossy(field).into_owned();
    let point = OsString::from_vec(unescape(fields.get(4)?)).into();
    Some(Mount { id: text(fields.first()?).parse().ok()?, point, kind: text(fields.get(dash + 1)?) })
}

/// Spaces and the like are written as three octal digits.
fn unescape(field: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    let mut rest = field;
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..3).filter(|_| *first == b'\\').and_then(|digits| str::from_utf8(digits).ok());
        match code.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                plain.push(byte);
                rest = &after[3..];
            }
            None => {
                plain.push(*first);
                rest = after;
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_others_are_named_to_root_too() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        let about = file.metadata().unwrap();
        let ours = (about.uid(), about.gid());
        assert!(owner(folder.path(), ours).is_ok());
        for others in [(ours.0 + 1, ours.1), (ours.0, ours.1 + 1), (0, ours.1 + 1)] {
            let why = owner(folder.path(), others).unwrap_err();
            assert!(matches!(&why, WhyNot::Owner(path) if path == folder.path()), "{why}");
        }
        if rustix::process::geteuid().is_root() {
            std::os::unix::fs::chown(&file, Some(1234), None).unwrap();
            let why = check(&folder.path().with_extension("layers"), folder.path()).unwrap_err();
            assert!(matches!(&why, WhyNot::Owner(path) if path.ends_with("file")), "{why}");
        }
    }
}
