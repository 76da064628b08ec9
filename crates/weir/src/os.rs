//! Where systems differ: files, users, signals. Invariant: one of the modules is compiled, and nothing else in this
//! program names a system, apart from what runs can reach (`run/outside.rs`).

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub(crate) use unix::*;
#[cfg(windows)]
pub(crate) use windows::*;

use std::path::PathBuf;

/// Returns the path that helpers are started from: this program itself. On Linux, that is right even if its file has
/// been replaced or removed.
pub(crate) fn helper() -> PathBuf {
    if cfg!(target_os = "linux") {
        return "/proc/self/exe".into();
    }
    std::env::current_exe().unwrap_or_default()
}
