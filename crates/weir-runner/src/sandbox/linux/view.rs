//! The file view of a run: everything is read-only, with the writable folders restored, private `/tmp`, `/dev` and
//! `/run` folders, only the visible paths in covered folders, and a mask over every hidden path.
//!
//! Invariants:
//! - Everything that stays reachable is opened before anything is hidden.
//! - Paths are opened without following symbolic links, so a link swapped in meanwhile cannot lead elsewhere.
//! - A mask is an object that cannot be opened, never an empty file that could be mistaken for the real one.

use std::fs::Permissions;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, StatxFlags, openat2, statx};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MountFlags, MoveMountFlags, OpenTreeFlags, fsconfig_create,
    fsconfig_set_string, fsmount, fsopen, mount, move_mount, open_tree,
};

use super::{Failure, FailureContext as _, FileFailure as _, overlay};
use crate::Spec;

/// Devices that every program expects.
const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom"];
/// Links in `/dev`, most of them to the process's own descriptors.
const LINKS: &[(&str, &str)] =
    &[("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2"), ("ptmx", "pts/ptmx")];
/// Parts of `/run` from which some systems start programs; the rest of it is sockets.
const RUN_PROGRAM_FOLDERS: &[&str] = &["/run/current-system", "/run/wrappers", "/run/opengl-driver"];
/// Maximum number of masks. Mounting more would take longer than the run.
const MAX_MASKS: usize = 5_000;
/// The folders that are private to the run.
const OWN: [&str; 3] = ["/tmp", "/run", "/dev"];

/// Builds the view in the mount namespace of this process. The current mount on `/proc` becomes part of it.
pub(super) fn build(spec: &Spec) -> Result<(), Failure> {
    refuse_covered_hard_links(spec).about_files()?;
    let tree = |path: &PathBuf| match &spec.overlay {
        Some(overlay) if overlay.lower == *path => overlay::mount(overlay),
        _ => clone(path).about_files(),
    };
    let writable = spec.writable.iter().map(|path| Ok((path.as_path(), tree(path)?)));
    let writable = writable.collect::<Result<Vec<_>, Failure>>()?;
    let visible = visible(spec)?;
    let devices = DEVICES.iter().map(|name| Ok((*name, clone(&Path::new("/dev").join(name))?)));
    let devices = devices.collect::<Result<Vec<_>, Failure>>()?;
    let pseudo_terminals = Path::new("/dev/pts").exists();

    const NOTHING_OF_THE_HOST: u64 = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
    set_attributes(CWD, Some(Path::new("/")), NOTHING_OF_THE_HOST).doing("make the view read-only")?;
    let tmp = format!("mode=1777,size={},nr_inodes={}", spec.caps.tmp_bytes, spec.caps.tmp_files);
    for (folder, options) in [("/tmp", tmp.as_str()), ("/run", "mode=755,size=1m"), ("/dev", "mode=755,size=1m")] {
        own(folder, options).doing(format!("make a private {folder}"))?;
    }
    devices_of_its_own(devices, pseudo_terminals).doing("make a private /dev")?;

    cover(spec, visible.iter().chain(&writable)).doing("cover home folders")?;
    for (path, tree) in visible {
        set_attributes(&tree, None, libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV)
            .and_then(|()| attach(&tree, path))
            .doing(format!("show {}", path.display()))?;
    }
    for (path, tree) in writable {
        set_attributes(&tree, None, libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV)
            .and_then(|()| attach(&tree, path))
            .doing(format!("make {} writable", path.display()))?;
    }
    protect(spec).about_files()?;
    hide(spec).about_files()
}

/// Mounts the `/proc` of the new process namespace. It becomes read-only with the rest of the view, because root inside
/// owns kernel settings that apply outside.
pub(super) fn mount_processes() -> io::Result<()> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    Ok(mount("proc", "/proc", "proc", flags, None)?)
}

/// Limits the number of processes in the new namespace, while `/proc` is still writable.
pub(super) fn limit_processes(most_processes: u64) {
    // Since Linux 6.14 every process namespace has its own `pid_max`. Unlike the process limit, it also applies to
    // root. Older kernels refuse.
    let _ = std::fs::write("/proc/sys/kernel/pid_max", (most_processes + 300).to_string());
}

/// Opens the visible paths that have to be restored, since something else will be mounted over them.
fn visible(spec: &Spec) -> Result<Vec<(&Path, OwnedFd)>, Failure> {
    let kept = RUN_PROGRAM_FOLDERS.iter().map(Path::new);
    let mut paths: Vec<&Path> = spec.visible.iter().map(PathBuf::as_path).chain(kept).collect();
    paths.retain(|path| is_own(path) || is_covered(spec, path));
    // Sorted by components, a folder comes right before its contents, which are visible with it.
    paths.sort_unstable();
    paths.dedup_by(|path, before| path.starts_with(before));
    let mut visible = Vec::new();
    for path in paths {
        // A toolchain may have been removed since it was found.
        if let Some(opened) = open_if_there(path)? {
            let tree = open_tree(&opened, "", CLONE_TREE).doing(format!("open {}", path.display()))?;
            visible.push((path, tree));
        }
    }
    Ok(visible)
}

/// Mounts an empty read-only folder over each covered folder, with mount points for the paths to restore.
fn cover<'a>(spec: &Spec, back: impl Iterator<Item = &'a (&'a Path, OwnedFd)>) -> io::Result<()> {
    for folder in &spec.covered {
        if is_own(folder) {
            std::fs::create_dir_all(folder)?;
        }
        let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        let target = openat2(CWD, folder, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?;
        attach_to(&new_folder()?, &target)?;
    }
    for (path, tree) in back.filter(|(path, _)| is_own(path) || is_covered(spec, path)) {
        make_place_for(tree, path)?;
    }
    for (link, target) in spec.links.iter().filter(|(link, _)| is_covered(spec, link)) {
        link.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        if std::fs::symlink_metadata(link).is_err() {
            std::os::unix::fs::symlink(target, link)?;
        }
    }
    for folder in &spec.covered {
        set_attributes(CWD, Some(folder), libc::MOUNT_ATTR_RDONLY)?;
    }
    Ok(())
}

/// Returns an empty folder that can be mounted anywhere.
fn new_folder() -> io::Result<OwnedFd> {
    let new = fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
    fsconfig_set_string(new.as_fd(), "mode", "755")?;
    fsconfig_set_string(new.as_fd(), "size", "4m")?;
    fsconfig_create(new.as_fd())?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NODEV;
    Ok(fsmount(new.as_fd(), FsMountFlags::FSMOUNT_CLOEXEC, attributes)?)
}

/// Creates the file or folder that a tree is mounted on.
fn make_place_for(tree: &OwnedFd, path: &Path) -> io::Result<()> {
    if path.exists() {
        return Ok(());
    }
    if is_folder(tree)? {
        return std::fs::create_dir_all(path);
    }
    path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    std::fs::write(path, "")
}

/// Refuses hidden files inside covered folders that have another hard link, just as for files with a mask of their own.
fn refuse_covered_hard_links(spec: &Spec) -> Result<(), Failure> {
    for path in spec.hidden.iter().filter(|path| is_covered(spec, path)) {
        if let Some(file) = open_if_there(path)? {
            refuse_hard_links(&file, path)?;
        }
    }
    Ok(())
}

/// Refuses a file with another hard link, through which it could be read.
fn refuse_hard_links(file: &OwnedFd, path: &Path) -> Result<(), Failure> {
    let doing = || format!("hide {}", path.display());
    let about = statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS).doing(doing())?;
    if FileType::from_raw_mode(about.stx_mode.into()) != FileType::Directory && about.stx_nlink > 1 {
        let why = "the file has a hard link through which it could be read; remove the hard link";
        return Err(Failure::refused(doing(), why));
    }
    Ok(())
}

fn is_folder(opened: &OwnedFd) -> io::Result<bool> {
    let about = statx(opened, "", AtFlags::EMPTY_PATH, StatxFlags::TYPE)?;
    Ok(FileType::from_raw_mode(about.stx_mode.into()) == FileType::Directory)
}

fn is_covered(spec: &Spec, path: &Path) -> bool {
    spec.covered.iter().any(|folder| path.starts_with(folder))
}

fn is_own(path: &Path) -> bool {
    OWN.iter().any(|own| path.starts_with(own))
}

fn own(folder: &str, options: &str) -> io::Result<()> {
    if !Path::new(folder).exists() {
        return Ok(());
    }
    let options = std::ffi::CString::new(options)?;
    Ok(mount("tmpfs", folder, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, &*options)?)
}

fn devices_of_its_own(devices: Vec<(&str, OwnedFd)>, pseudo_terminals: bool) -> io::Result<()> {
    let dev = Path::new("/dev");
    for (name, device) in devices {
        // Otherwise root could change the modes of the host's devices. Writing to the devices still works.
        set_attributes(&device, None, libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC)?;
        std::fs::write(dev.join(name), "")?;
        attach(&device, &dev.join(name))?;
    }
    for (name, target) in LINKS {
        std::os::unix::fs::symlink(target, dev.join(name))?;
    }
    std::fs::create_dir(dev.join("shm"))?;
    if pseudo_terminals {
        std::fs::create_dir(dev.join("pts"))?;
        let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
        mount("devpts", "/dev/pts", "devpts", flags, c"newinstance,ptmxmode=0666,mode=620")?;
    }
    // A program must not create a regular file in place of a missing device.
    set_attributes(CWD, Some(dev), libc::MOUNT_ATTR_RDONLY)?;
    own("/dev/shm", "mode=1777,size=512m,nr_inodes=64k")
}

/// Makes paths below the writable folders read-only. The folders above them and above hidden paths become mount points
/// too: a plain folder could be moved aside, and the next run would not find the protected path by its name.
fn protect(spec: &Spec) -> Result<(), Failure> {
    let mut pins: Vec<&Path> = Vec::new();
    for path in spec.read_only.iter().chain(&spec.hidden) {
        let Some(root) = spec.writable.iter().find(|root| path.starts_with(root)) else { continue };
        pins.extend(path.ancestors().skip(1).take_while(|above| above.starts_with(root) && *above != root));
    }
    // From the outside in, so one mount does not cover another.
    pins.sort_unstable();
    pins.dedup();
    let read_only: Vec<&Path> = spec.read_only.iter().map(PathBuf::as_path).collect();
    for (path, attributes) in
        pins.iter().map(|path| (path, 0)).chain(read_only.iter().map(|path| (path, libc::MOUNT_ATTR_RDONLY)))
    {
        let doing = || format!("protect {}", path.display());
        let Some(target) = open_if_there(path)? else { continue };
        let tree = open_tree(&target, "", CLONE_TREE).doing(doing())?;
        set_attributes(&tree, None, attributes).doing(doing())?;
        attach_to(&tree, &target).doing(doing())?;
    }
    Ok(())
}

fn hide(spec: &Spec) -> Result<(), Failure> {
    if spec.hidden.len() > MAX_MASKS {
        let why = format!("there are {} paths to hide, and the limit is {MAX_MASKS}", spec.hidden.len());
        return Err(Failure::refused("hide what the rules hide", why));
    }
    if !spec.hidden.is_empty() || !spec.programs.is_empty() {
        let masks = Masks::new().doing("make masks")?;
        for path in &spec.hidden {
            if let Some(target) = open_if_there(path)? {
                refuse_hard_links(&target, path)?;
                masks.cover(&target).doing(format!("hide {}", path.display()))?;
            }
        }
        for path in &spec.programs {
            if let Some(target) = open_if_there(path)? {
                masks.cover(&target).doing(format!("hide {}", path.display()))?;
            }
        }
        masks.forget().doing("remove the masks' names")?;
    }
    set_attributes(CWD, Some(Path::new("/run")), libc::MOUNT_ATTR_RDONLY).doing("make /run read-only")
}

/// A file and a folder that cannot be opened, to be mounted over others.
struct Masks {
    file: OwnedFd,
    folder: OwnedFd,
}

const MASK_FILE: &str = "/run/.file";
const MASK_FOLDER: &str = "/run/.folder";

impl Masks {
    fn new() -> io::Result<Self> {
        std::fs::write(MASK_FILE, "")?;
        std::fs::create_dir(MASK_FOLDER)?;
        std::fs::set_permissions(MASK_FILE, Permissions::from_mode(0o000))?;
        std::fs::set_permissions(MASK_FOLDER, Permissions::from_mode(0o000))?;
        let open = |path| rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty());
        Ok(Self { file: open(MASK_FILE)?, folder: open(MASK_FOLDER)? })
    }

    fn cover(&self, target: &OwnedFd) -> io::Result<()> {
        let mask = if is_folder(target)? { &self.folder } else { &self.file };
        let tree = open_tree(mask, "", OpenTreeFlags::OPEN_TREE_CLONE | EMPTY | CLOSE)?;
        set_attributes(&tree, None, libc::MOUNT_ATTR_RDONLY)?;
        attach_to(&tree, target)
    }

    /// Removes the names in `/run`; the mounted masks stay.
    fn forget(self) -> io::Result<()> {
        std::fs::remove_file(MASK_FILE)?;
        std::fs::remove_dir(MASK_FOLDER)
    }
}

const EMPTY: OpenTreeFlags = OpenTreeFlags::AT_EMPTY_PATH;
const CLOSE: OpenTreeFlags = OpenTreeFlags::OPEN_TREE_CLOEXEC;
const CLONE_TREE: OpenTreeFlags =
    OpenTreeFlags::OPEN_TREE_CLONE.union(OpenTreeFlags::AT_RECURSIVE).union(EMPTY).union(CLOSE);

/// Clones the mounts at and below a path, to be attached elsewhere later.
fn clone(path: &Path) -> Result<OwnedFd, Failure> {
    let doing = || format!("open {}", path.display());
    let folder = open_if_there(path)?.ok_or("it does not exist").doing(doing())?;
    open_tree(&folder, "", CLONE_TREE).doing(doing())
}

/// Opens a path without following symbolic links. Returns `None` if it does not exist or cannot be accessed.
pub(super) fn open_if_there(path: &Path) -> Result<Option<OwnedFd>, Failure> {
    let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    match openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS) {
        Ok(opened) => Ok(Some(opened)),
        Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS) => Ok(None),
        Err(Errno::LOOP) => {
            let why = "a symbolic link appeared in its path";
            Err(Failure::refused(format!("open {}", path.display()), why))
        }
        Err(error) => Err(error).doing(format!("open {}", path.display())),
    }
}

fn attach(tree: &OwnedFd, path: &Path) -> io::Result<()> {
    let target = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty())?;
    attach_to(tree, &target)
}

fn attach_to(tree: &OwnedFd, target: &OwnedFd) -> io::Result<()> {
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    Ok(move_mount(tree, "", target, "", flags)?)
}

/// Sets attributes of a mount and everything mounted below it, and stops it from receiving mount changes from outside.
#[expect(unsafe_code, reason = "no library wraps mount_setattr")]
fn set_attributes(folder: impl AsFd, path: Option<&Path>, attributes: u64) -> io::Result<()> {
    use std::os::fd::AsRawFd as _;
    use std::os::unix::ffi::OsStrExt as _;
    let path = std::ffi::CString::new(path.map_or(&b""[..], |path| path.as_os_str().as_bytes()))?;
    let folder: BorrowedFd<'_> = folder.as_fd();
    let attributes =
        libc::mount_attr { attr_set: attributes, attr_clr: 0, propagation: libc::MS_PRIVATE, userns_fd: 0 };
    // SAFETY: the path ends with a zero byte, and the path and the attributes, whose size is passed, outlive the call.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            folder.as_raw_fd(),
            path.as_ptr(),
            libc::AT_RECURSIVE | libc::AT_EMPTY_PATH,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    if done == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
