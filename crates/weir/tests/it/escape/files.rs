//! Files: hidden files cannot be read, and files outside the run's own cannot be changed.

use super::world::{User, World};
use super::{Probe, ProbeArguments, check};

#[test]
fn a_user_reads_nothing_hidden_and_changes_nothing_outside() {
    check(User::Plain, &PROBE);
}

#[test]
fn root_reads_nothing_hidden_and_changes_nothing_outside() {
    check(User::Root, &PROBE);
}

/// Creates a file in the machine's `/tmp`.
fn told(_: &World) -> ProbeArguments {
    let file = tempfile::Builder::new().prefix("weir-escape-").tempfile_in("/tmp").unwrap();
    std::fs::set_permissions(file.path(), std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    ProbeArguments { words: vec![file.path().to_str().unwrap().to_owned()], _kept: Box::new(file) }
}

pub(super) const PROBE: Probe = Probe {
    source: "files.c",
    told,
    rows: &[
        ("1 read .env", "EACCES"),
        ("2 read .env by /proc/self/cwd", "EACCES"),
        ("2 read .env by /proc/self/root", "EACCES"),
        ("3 read .env by a new symbolic link", "EACCES"),
        ("4 make a hard link to .env", "EXDEV"),
        ("5 move the folder of a hidden file, then read it", "EACCES"),
        ("6 move .env away", "EBUSY"),
        ("7 take a handle of .env", "EPERM"),
        ("8 read an ssh key by a symbolic link in the project", "ENOENT"),
        ("+ read an ssh key by its name", "ENOENT"),
        ("+ list the folder of ssh keys", "ENOENT"),
        ("+ read cloud credentials", "ENOENT"),
        ("+ read what a rule denies", "EACCES"),
        ("+ read .env by a descriptor of its path", "EACCES"),
        ("+ exchange .env and another file", "EBUSY"),
        ("+ open .env with openat2", "ENOSYS"),
        ("+ give the mask of .env another mode", "EROFS"),
        ("+ write into the mask of .env", "EACCES"),
        ("+ list what weir keeps", "ENOENT"),
        ("10 write .bashrc", "EROFS"),
        ("11 write .bashrc by a symbolic link in the project", "EROFS"),
        ("12 change the mode of a file outside", "EROFS"),
        ("12 change the times of a file outside", "EROFS"),
        ("38 read a file in the machine's /tmp", "ENOENT"),
        ("+ make a folder outside", "EROFS"),
        ("+ make a hard link outside", "EROFS"),
        ("+ move a file outside", "EXDEV"),
        ("+ name an attribute of a file outside", "EROFS"),
        ("+ move the project aside", "EROFS"),
        ("+ write weir's configuration", "ENOENT"),
        ("+ make a file beside the run's cache", "EROFS"),
        ("+ make a file in the root folder", "EROFS"),
        ("+ write /etc/passwd", "EACCES, root: EROFS"),
        ("+ change the mode of the machine's /dev/null", "EROFS"),
        ("+ change the mode of standard input", "EROFS"),
        ("+ write a setting of the kernel", "EACCES, root: EROFS"),
        ("+ make a control group", "EROFS"),
        ("+ make a device", "EPERM"),
        ("19 write a git hook", "EROFS"),
        ("20 write .git/config", "EROFS"),
        ("21 move .git aside", "EBUSY"),
        ("22 make .git/commondir", "EROFS"),
        ("+ change the mode of .git/config", "EROFS"),
        ("+ exchange .git and another folder", "EBUSY"),
        ("+ make a file run as its owner with chmod", "EPERM"),
        ("+ make a file run as its owner with fchmod", "EPERM"),
        ("+ make a file run as its owner with fchmodat", "EPERM"),
        ("+ make a file run as its owner with fchmodat2", "EPERM"),
        ("+ make a file run as its owner with open", "EPERM"),
        ("+ make a file run as its owner with creat", "EPERM"),
        ("+ make a file run as its owner with mknod", "EPERM"),
        ("+ make a file run as its owner without a name", "EPERM"),
        ("+ make a file run as its group with chmod", "EPERM"),
        ("+ make a file run as its group with fchmod", "EPERM"),
        ("+ make a file run as its group with fchmodat", "EPERM"),
        ("+ make a file run as its group with fchmodat2", "EPERM"),
        ("+ make a file run as its group with open", "EPERM"),
        ("+ make a file run as its group with creat", "EPERM"),
        ("+ make a file run as its group with mknod", "EPERM"),
        ("+ make a file run as its group without a name", "EPERM"),
        ("+ write in the project", "works"),
        ("+ write beside a hidden file", "works"),
        ("+ write in /tmp", "works"),
        ("+ write in the run's cache", "works"),
        ("+ write /dev/null", "works"),
        ("+ read a file outside", "works"),
        ("+ read a file at home that nobody named", "ENOENT"),
        ("13 truncate a file outside", "EROFS"),
        ("+ remove a file outside", "EROFS"),
        ("6 move a file over .env", "EBUSY"),
        ("6 remove .env", "EBUSY"),
    ],
};
