//! Linux and macOS. What only Linux has is a call that resolves a path without links; macOS answers `None` for it, and
//! the caller looks before and after opening.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata, OpenOptions};
use std::io;
#[cfg(target_os = "linux")]
use std::io::IsTerminal as _;
#[cfg(target_os = "linux")]
use std::os::fd::AsFd as _;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::{DirEntryExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
#[cfg(target_os = "linux")]
use rustix::fs::FileType;
use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Pid, Signal};
use tokio::signal::unix::{SignalKind, signal};

/// Whether a client's shell can run a rewritten command: it needs a POSIX shell and named pipes.
pub const CAN_REWRITE: bool = true;

pub const CAN_RUN: bool = true;

/// The program that opens a file as the user's desktop does.
pub const OPENER: &str = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };

/// What follows the name of a program in the name of its file.
pub const PROGRAM_ENDINGS: &[&str] = &[""];

/// Returns the name of a variable as this program looks for it.
pub fn variable_name(name: OsString) -> OsString {
    name
}

/// Returns the path of a file or folder that exists, without links.
pub fn real_path(path: &Path) -> io::Result<PathBuf> {
    path.canonicalize()
}

/// Returns standard input as a run may have it: a pipe, a socket, a file that is open for reading only, or the
/// terminal, opened again for reading only, since what a run writes must pass the filter of its output. A folder would
/// lead out of the sandbox.
#[cfg(target_os = "linux")]
pub fn standard_input() -> Option<weir_runner::Input> {
    let stdin = io::stdin();
    let kind = FileType::from_raw_mode(rustix::fs::fstat(&stdin).ok()?.st_mode);
    let is_read_only = || rustix::fs::fcntl_getfl(&stdin).is_ok_and(|flags| flags & OFlags::RWMODE == OFlags::RDONLY);
    match kind {
        FileType::CharacterDevice if stdin.is_terminal() => {
            let flags = OFlags::RDONLY | OFlags::NOCTTY | OFlags::CLOEXEC;
            rustix::fs::open("/proc/self/fd/0", flags, Mode::empty()).ok()
        }
        FileType::Fifo | FileType::Socket => stdin.as_fd().try_clone_to_owned().ok(),
        FileType::RegularFile if is_read_only() => stdin.as_fd().try_clone_to_owned().ok(),
        _ => None,
    }
}

/// Returns standard input as a run may have it: only Linux connects it.
#[cfg(not(target_os = "linux"))]
pub fn standard_input() -> Option<weir_runner::Input> {
    None
}

/// The mode of a terminal, such as whether it shows what is typed.
pub struct TerminalMode(rustix::termios::Termios);

impl TerminalMode {
    /// Returns the mode of standard input, if that is what a run has and it is a terminal.
    pub fn of(_: &weir_runner::Input) -> Option<Self> {
        rustix::termios::tcgetattr(io::stdin()).ok().map(Self)
    }

    /// Restores the mode, which a run may have changed.
    pub fn restore(&self) {
        let _ = rustix::termios::tcsetattr(io::stdin(), rustix::termios::OptionalActions::Now, &self.0);
    }
}

/// Makes opening refuse a symbolic link and not wait for a pipe.
pub fn not_following(options: &mut OpenOptions) -> &mut OpenOptions {
    options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed())
}

/// Makes opening not wait for a pipe.
pub fn not_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    options.custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed())
}

/// Makes a new file its owner's alone.
pub fn make_private(options: &mut OpenOptions) {
    options.mode(0o600);
}

/// Gives a new file the owner and the group of the file that it replaces. The group of a user's own file may differ, if
/// the user may not give it that one.
pub fn keep_owner(new: &File, old: &Metadata) -> io::Result<()> {
    let about = new.metadata()?;
    if (about.uid(), about.gid()) == (old.uid(), old.gid()) {
        return Ok(());
    }
    match std::os::unix::fs::fchown(new, Some(old.uid()), Some(old.gid())) {
        Err(_) if about.uid() == old.uid() => Ok(()),
        given => given,
    }
}

/// Opens a file below a folder if no link of its path leads out. Returns `None` if the system cannot do that in one
/// step.
#[cfg(target_os = "linux")]
pub fn open_below(folder: &Path, name: &Path) -> io::Result<Option<File>> {
    use rustix::fs::ResolveFlags;
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let top = rustix::fs::openat(CWD, folder, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
    unless_unknown(rustix::fs::openat2(&top, name, flags, Mode::empty(), resolve).map(File::from))
}

/// Opens a folder whose path contains no links. Returns `None` if the system cannot do that in one step.
#[cfg(target_os = "linux")]
pub fn open_without_links(path: &Path, flags: OFlags) -> io::Result<Option<OwnedFd>> {
    use rustix::fs::ResolveFlags;
    unless_unknown(rustix::fs::openat2(CWD, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS))
}

#[cfg(target_os = "linux")]
fn unless_unknown<T>(opened: Result<T, Errno>) -> io::Result<Option<T>> {
    match opened {
        Ok(opened) => Ok(Some(opened)),
        // The kernel is older, or a filter does not know the call.
        Err(Errno::NOSYS | Errno::PERM) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
pub fn open_below(_: &Path, _: &Path) -> io::Result<Option<File>> {
    Ok(None)
}

#[cfg(not(target_os = "linux"))]
pub fn open_without_links(_: &Path, _: OFlags) -> io::Result<Option<OwnedFd>> {
    Ok(None)
}

/// A folder from which files are moved without following links.
pub struct Anchor(pub(super) OwnedFd);

impl Anchor {
    pub fn open(path: &Path) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        #[cfg(not(target_os = "linux"))]
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        match open_without_links(path, flags)? {
            Some(fd) => Ok(Self(fd)),
            None => Ok(Self(rustix::fs::openat(CWD, path, flags, Mode::empty())?)),
        }
    }

    /// Moves a file to another folder under another name.
    pub fn rename(&self, name: &OsStr, to: &Self, new: &str) -> io::Result<()> {
        Ok(rustix::fs::renameat(&self.0, name, &to.0, new)?)
    }
}

/// Returns what tells a file from all others of the system.
pub fn file_id(about: &Metadata) -> Option<(u64, u64)> {
    Some((about.dev(), about.ino()))
}

/// Returns when a file was last changed in any way, in seconds and nanoseconds.
pub fn changed_at(about: &Metadata) -> (i64, i64) {
    (about.ctime(), about.ctime_nsec())
}

/// Returns how many names a file has.
pub fn link_count(about: &Metadata) -> u64 {
    about.nlink()
}

pub fn other_names(folder: &Path, about: &Metadata) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    // A listing has the numbers of the files already.
    entries.filter(|entry| entry.ino() == about.ino()).map(|entry| entry.path()).collect()
}

/// Whether nobody may write to a file.
pub fn is_read_only(about: &Metadata) -> bool {
    about.permissions().mode() & 0o222 == 0
}

/// Gives a file the group and the mode of another, except for set-user-id and set-group-id, which must not carry over
/// to new content; write(2) clears them too. If the user may not give it that group, another group gets only what
/// everyone has.
pub fn keep_mode(file: &File, of: &Metadata) -> io::Result<()> {
    let mode = of.permissions().mode() & 0o1777;
    let has_group = file.metadata()?.gid() == of.gid() || std::os::unix::fs::fchown(file, None, Some(of.gid())).is_ok();
    let mode = if has_group { mode } else { mode & (0o1707 | ((mode & 0o007) << 3)) };
    file.set_permissions(std::fs::Permissions::from_mode(mode))
}

/// Whether a file could not be opened because it is a link.
pub fn is_link_error(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::LOOP.raw_os_error())
}

/// Says why a file is not this user's alone.
pub fn not_private(about: &Metadata) -> Option<&'static str> {
    match about {
        about if about.uid() != rustix::process::geteuid().as_raw() => Some("it belongs to another user"),
        about if is_open_to_others(about) => Some("other users can read or write it"),
        _ => None,
    }
}

/// Whether other users may do anything with a file or folder.
pub fn is_open_to_others(about: &Metadata) -> bool {
    about.mode() & 0o077 != 0
}

/// Whether a file is a program that can be started.
pub fn is_program(about: &Metadata) -> bool {
    about.is_file() && about.mode() & 0o111 != 0
}

/// Swaps two folders in one step. Returns false if that is not possible.
#[cfg(target_os = "linux")]
pub fn exchange(one: &Path, other: &Path) -> bool {
    rustix::fs::renameat_with(CWD, one, CWD, other, rustix::fs::RenameFlags::EXCHANGE).is_ok()
}

#[cfg(not(target_os = "linux"))]
pub fn exchange(_: &Path, _: &Path) -> bool {
    false
}

pub fn user_id() -> Option<u32> {
    Some(rustix::process::getuid().as_raw())
}

/// Raises the number of files that this process may have open, as far as it may itself and needs. Returns the number.
pub fn raise_file_limit(needed: u64) -> u64 {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let current = limit.current.unwrap_or(u64::MAX);
    let raised = limit.maximum.unwrap_or(u64::MAX).min(needed);
    let is_raised = raised > current && setrlimit(Resource::Nofile, Rlimit { current: Some(raised), ..limit }).is_ok();
    if is_raised { raised } else { current }
}

/// Makes a new process the first of a group of its own.
pub fn lead_group(command: &mut Command) {
    command.process_group(0);
}

/// Ends a process and all of the group that it leads.
pub fn kill_group(leader: &mut Child) {
    let _ = rustix::process::kill_process_group(Pid::from_child(leader), Signal::KILL);
}

/// Returns a path from the bytes of [`OsStr::as_encoded_bytes`].
pub fn path_from(bytes: &[u8]) -> PathBuf {
    OsString::from_vec(bytes.to_vec()).into()
}

/// The shell of a rewritten command, and the pipe by which it reports its end.
pub struct ShellEnd {
    shell: Option<Pid>,
    pipe: File,
}

impl ShellEnd {
    /// Opens the pipe. This process must have been started by the shell.
    pub fn open(pipe: &Path) -> io::Result<Self> {
        let shell = rustix::process::getppid();
        // Opened for reading and writing, so that neither side waits for the other.
        let nonblocking = OFlags::NONBLOCK.bits().cast_signed();
        let pipe = File::options().read(true).write(true).custom_flags(nonblocking).open(pipe)?;
        Ok(Self { shell, pipe })
    }

    pub fn is_gone(&self) -> bool {
        rustix::process::getppid() != self.shell
    }

    /// Waits until the shell reports its end, but no longer than `most`, which is less than a second.
    pub fn wait(&self, most: Duration) -> io::Result<()> {
        let most = Timespec { tv_sec: 0, tv_nsec: most.subsec_nanos().into() };
        poll(&mut [PollFd::new(&self.pipe, PollFlags::IN)], Some(&most))?;
        Ok(())
    }
}

/// Checks that the descriptors that a runtime needs can be had: it panics if there are none for its signals.
pub fn check_descriptors() -> io::Result<()> {
    let pair = std::os::unix::net::UnixStream::pair;
    drop([pair()?, pair()?, pair()?]);
    Ok(())
}

/// Waits for a signal that ends the program. A signal that is ignored, as with `nohup`, stays ignored; only Linux says
/// which are.
pub async fn asked_to_end() {
    let ignored = ignored();
    let wait_for = |kind: SignalKind| async move {
        if ignored >> (kind.as_raw_value() - 1) & 1 == 1 {
            return std::future::pending().await;
        }
        match signal(kind) {
            Ok(mut signal) => drop(signal.recv().await),
            // If the signal cannot be handled, it keeps its default effect.
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        () = wait_for(SignalKind::interrupt()) => {}
        () = wait_for(SignalKind::terminate()) => {}
        () = wait_for(SignalKind::hangup()) => {}
    }
}

/// Returns the signals that this program was started to ignore, one bit for each.
fn ignored() -> u64 {
    let about = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = about.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
