//! Where systems differ: files, paths, users, signals. Invariant: one of the modules is compiled, and nothing else in
//! this program names a system, apart from what runs can reach (`weir-run`).

#[cfg(unix)]
mod folders;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
pub use folders::*;
#[cfg(unix)]
pub use unix::*;
#[cfg(windows)]
pub use windows::*;

use std::path::PathBuf;

/// Returns the path that helpers are started from: this program itself. On Linux, that is right even if its file has
/// been replaced or removed.
pub fn helper() -> PathBuf {
    if cfg!(target_os = "linux") {
        return "/proc/self/exe".into();
    }
    std::env::current_exe().unwrap_or_default()
}

/// Returns a canonical path of Windows without its prefix `\\?\`, which other programs neither write nor expect.
/// Returns `None` for a path that means something else without it: on another machine, too long, or with a name that
/// Windows changes or reserves.
#[cfg(any(windows, test))]
fn without_prefix(path: &str) -> Option<&str> {
    /// The shortest length at which Windows refuses a path without the prefix.
    const MAX_PATH: usize = 260;
    const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "com", "lpt"];
    let plain = path.strip_prefix(r"\\?\")?;
    let (drive, rest) = plain.split_once(r":\")?;
    let is_drive = drive.len() == 1 && drive.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_usual = |name: &str| {
        let stem = name.split('.').next().unwrap_or_default().trim_end().to_ascii_lowercase();
        let device = stem.trim_end_matches(|c: char| c.is_ascii_digit());
        !name.ends_with(['.', ' ']) && !DEVICES.contains(&device)
    };
    let is_same = is_drive && plain.encode_utf16().count() < MAX_PATH && rest.split('\\').all(is_usual);
    is_same.then_some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_windows_lose_a_prefix_that_they_do_not_need() {
        for (path, expected) in [
            (r"\\?\C:\Users\ana\a b.rs", Some(r"C:\Users\ana\a b.rs")),
            (r"\\?\C:\", Some(r"C:\")),
            (r"\\?\C:\a\console.rs", Some(r"C:\a\console.rs")),
            (r"\\?\UNC\server\share\a", None),
            (r"\\?\Volume{0}\a", None),
            (r"\\?\C:\a\aux.rs", None),
            (r"\\?\C:\a\LPT1", None),
            (r"\\?\C:\a.\b", None),
            (r"C:\a", None),
        ] {
            assert_eq!(without_prefix(path), expected, "{path}");
        }
        let long = format!(r"\\?\C:\{}", "a".repeat(260));
        assert_eq!(without_prefix(&long), None);
    }
}
