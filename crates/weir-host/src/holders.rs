//! Finds the processes that lock a database. Invariant: a process is named only if the operating system reports that it
//! holds the lock or has the file open.

use std::path::{Path, PathBuf};

use weir_core::wording::one_line;

use crate::os;

/// The byte of the shared-memory file that a writer locks: <https://www.sqlite.org/walformat.html#wal_locks>.
const WRITE_LOCK: u64 = 120;
const MAX_COMMAND_CHARS: usize = 80;

/// Describes the process that holds the write lock of a database or, failing that, the processes that have it open.
/// Returns `None` if the system does not tell.
pub fn of(database: &Path) -> Option<String> {
    let shared = with_ending(database, "-shm");
    let writers = lock_holders(&shared, &std::fs::read_to_string("/proc/locks").unwrap_or_default());
    if !writers.is_empty() {
        return Some(format!("held by {}", list(&writers)));
    }
    let open = processes_with(&shared);
    (!open.is_empty()).then(|| format!("open in {}", list(&open)))
}

/// Describes the processes that have a database open.
pub fn having_open(database: &Path) -> Option<String> {
    let open = processes_with(database);
    (!open.is_empty()).then(|| list(&open))
}

fn list(processes: &[u32]) -> String {
    processes.iter().map(|&process| describe(process)).collect::<Vec<_>>().join(", ")
}

fn describe(process: u32) -> String {
    let line = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let line = String::from_utf8_lossy(&line).trim_end_matches('\0').replace('\0', " ");
    let state = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let stopped = state.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('T'));
    let stopped = if stopped { ", which is stopped" } else { "" };
    format!("process {process} ({}){stopped}", one_line(&line, MAX_COMMAND_CHARS))
}

/// Returns the processes that hold the write lock, from the system's list of locks:
/// `1: POSIX ADVISORY WRITE 4711 00:2a:815 120 120`.
fn lock_holders(shared: &Path, locks: &str) -> Vec<u32> {
    let Some((_, inode)) = std::fs::metadata(shared).ok().and_then(|about| os::file_id(&about)) else {
        return Vec::new();
    };
    let inode = inode.to_string();
    let holder = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [_, "POSIX", _, "WRITE", process, file, first, last] = fields.as_slice() else { return None };
        let covers =
            first.parse::<u64>().ok()? <= WRITE_LOCK && (*last == "EOF" || last.parse::<u64>().ok()? >= WRITE_LOCK);
        (covers && file.rsplit(':').next() == Some(&inode)).then(|| process.parse().ok()).flatten()
    };
    let holders = locks.lines().filter_map(holder);
    // A file on another file system may have the same number, but a real holder has this file open.
    let open = processes_with(shared);
    holders.filter(|process| open.contains(process)).collect()
}

/// Returns the user's processes that have a file open, except this one.
fn processes_with(file: &Path) -> Vec<u32> {
    let Ok(file) = file.canonicalize() else { return Vec::new() };
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let has_open = |process: &u32| {
        let files = std::fs::read_dir(format!("/proc/{process}/fd")).into_iter().flatten().flatten();
        files.filter_map(|entry| std::fs::read_link(entry.path()).ok()).any(|target| target == file)
    };
    numbers.filter(|process| *process != std::process::id()).filter(has_open).collect()
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    path.push(ending);
    path.into()
}
