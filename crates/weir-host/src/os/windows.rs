//! Windows: files by path, no modes and no signals but Ctrl-C. Access lists of the user's profile keep others out of
//! Weir's files; nothing here checks them.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::Duration;

/// Opens a link itself and not what it leads to:
/// <https://learn.microsoft.com/windows/win32/api/fileapi/nf-fileapi-createfilew>.
const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;

/// Whether a client's shell can run a rewritten command: it needs a POSIX shell and named pipes.
pub const CAN_REWRITE: bool = false;

/// Whether code can be run: no sandbox is built for this system.
pub const CAN_RUN: bool = false;

/// The program that opens a file as the user's desktop does.
pub const OPENER: &str = "explorer";

/// What follows the name of a program in the name of its file: a program, or a script that npm makes for one.
pub const PROGRAM_ENDINGS: &[&str] = &[".exe", ".cmd", ".bat"];

/// Returns the name of a variable as this program looks for it: in capitals, since `Path` and `PATH` are the same here.
pub fn variable_name(mut name: OsString) -> OsString {
    name.make_ascii_uppercase();
    name
}

/// Returns the path of a file or folder that exists, without links, in the form that clients and people use.
pub fn real_path(path: &Path) -> io::Result<PathBuf> {
    let real = path.canonicalize()?;
    let usual = real.to_str().and_then(super::without_prefix).map(PathBuf::from);
    Ok(usual.unwrap_or(real))
}

/// Makes opening not follow a link: what is opened is then not a regular file.
/// Returns standard input as a run may have it: there are no runs.
pub fn standard_input() -> Option<weir_runner::Input> {
    None
}

/// The mode of a terminal, which no run can change.
pub enum TerminalMode {}

impl TerminalMode {
    /// Returns the mode of a run's input: there is none.
    pub fn of(input: &weir_runner::Input) -> Option<Self> {
        match *input {}
    }

    pub fn restore(&self) {
        match *self {}
    }
}

pub fn not_following(options: &mut OpenOptions) -> &mut OpenOptions {
    options.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT)
}

/// Changes nothing: no file here makes opening wait.
pub fn not_waiting(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Changes nothing: a new file has the access list of its folder.
pub fn make_private(_: &mut OpenOptions) {}

/// Changes nothing: a new file belongs to the user who makes it.
pub fn keep_owner(_: &File, _: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Returns `None`: this system cannot resolve a path without links in one step.
pub fn open_below(_: &Path, _: &Path) -> io::Result<Option<File>> {
    Ok(None)
}

/// A folder from which files are moved.
pub struct Anchor(PathBuf);

impl Anchor {
    pub fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(path.to_owned()))
    }

    /// Moves a file to another folder under another name.
    pub fn rename(&self, name: &OsStr, to: &Self, new: &str) -> io::Result<()> {
        std::fs::rename(self.0.join(name), to.0.join(new))
    }
}

/// Changes nothing: folders have no mode here.
pub fn open_up(_: &Path) -> io::Result<Option<u32>> {
    Ok(None)
}

/// Changes nothing: folders have no mode here.
pub fn set_folder_mode(_: &Path, _: u32) -> io::Result<()> {
    Ok(())
}

/// What ended a wait for changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Awaited {
    /// The time is over.
    Look,
    /// The other end was dropped.
    Stop,
}

/// Waits until the other end is dropped.
pub struct FolderWatch(std::sync::mpsc::Receiver<()>);

/// Watches no folders: only time passes.
pub fn watch_folders(_: &[PathBuf]) -> io::Result<(impl Send + use<>, FolderWatch)> {
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    Ok((stop, FolderWatch(stopped)))
}

impl FolderWatch {
    pub fn wait(&self, most: Duration) -> Awaited {
        match self.0.recv_timeout(most) {
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => Awaited::Look,
            _ => Awaited::Stop,
        }
    }

    pub fn pause(&self, time: Duration) -> Awaited {
        self.wait(time)
    }
}

/// Returns `None`: the standard library does not tell it.
pub fn file_id(_: &Metadata) -> Option<(u64, u64)> {
    None
}

/// Returns when a file was last written, in steps of 100 ns. What only changes attributes is not seen.
pub fn changed_at(about: &Metadata) -> (i64, i64) {
    (std::os::windows::fs::MetadataExt::last_write_time(about).cast_signed(), 0)
}

/// Returns 1: the standard library does not tell it.
pub fn link_count(_: &Metadata) -> u64 {
    1
}

/// Returns nothing: a file is taken to have one name.
pub fn other_names(_: &Path, _: &Metadata) -> Vec<PathBuf> {
    Vec::new()
}

/// Whether a file has the attribute that forbids writing.
pub fn is_read_only(about: &Metadata) -> bool {
    about.permissions().readonly()
}

/// Changes nothing: a file has no mode here.
pub fn keep_mode(_: &File, _: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Returns false: a link is opened as one, and is not a regular file.
pub fn is_link_error(_: &io::Error) -> bool {
    false
}

/// Returns `None`: access lists are not checked.
pub fn not_private(_: &Metadata) -> Option<&'static str> {
    None
}

/// Returns false: access lists are not checked.
pub fn is_open_to_others(_: &Metadata) -> bool {
    false
}

/// Whether it is a file: no mode tells a program from other files.
pub fn is_program(about: &Metadata) -> bool {
    about.is_file()
}

/// Returns false: two folders cannot be swapped in one step.
pub fn exchange(_: &Path, _: &Path) -> bool {
    false
}

/// Returns `None`: owners are not looked at here.
pub fn owner(_: &Metadata) -> Option<u32> {
    None
}

/// Returns `true`: there is no list of users to look at.
pub fn is_home(_: &Path) -> bool {
    true
}

/// Returns no users: they have no numbers here.
pub fn trusted_owners(_: Option<&Path>) -> Vec<u32> {
    Vec::new()
}

/// Returns `None`: users have no numbers here.
pub fn user_id() -> Option<u32> {
    None
}

/// Changes nothing: there is no such limit here.
pub fn raise_file_limit(_needed: u64) -> u64 {
    u64::MAX
}

/// Changes nothing: this system has no process groups.
pub fn lead_group(_: &mut Command) {}

/// Ends a process. What it has started goes on.
pub fn kill_group(leader: &mut Child) {
    let _ = leader.kill();
}

/// Returns a path from the bytes of [`OsStr::as_encoded_bytes`], which are text here.
pub fn path_from(bytes: &[u8]) -> PathBuf {
    String::from_utf8_lossy(bytes).into_owned().into()
}

/// The shell of a rewritten command: there is none.
pub enum ShellEnd {}

impl ShellEnd {
    /// Fails: no command is rewritten here.
    pub fn open(_: &Path) -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub fn is_gone(&self) -> bool {
        match *self {}
    }

    /// Waits until the shell reports its end.
    pub fn wait(&self, _: Duration) -> io::Result<()> {
        match *self {}
    }
}

/// Does nothing: a runtime needs no descriptors that could be lacking.
pub fn check_descriptors() -> io::Result<()> {
    Ok(())
}

/// Waits for Ctrl-C.
pub async fn asked_to_end() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
