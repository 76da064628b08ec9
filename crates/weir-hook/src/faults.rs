//! The log of Weir's own faults in hooks, which cannot be reported anywhere else. Invariant: the log never exceeds
//! `MAX_LOG_BYTES` by more than what hooks write at the same moment, and failing to write it never fails a hook.

use std::any::Any;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use weir_host::env::{Env, Paths};
use weir_host::mutex::lock;
use weir_host::trust;
use weir_host::when;
use weir_store::private;

/// The size at which the older half of the log is dropped, in bytes.
const MAX_LOG_BYTES: u64 = 64 << 10;

/// The log to use instead while sessions are replayed.
static ELSEWHERE: Mutex<Option<PathBuf>> = Mutex::new(None);

/// How often this process has dropped the older half. Keeps two threads from writing to the same file.
static HALVED: AtomicUsize = AtomicUsize::new(0);

pub fn note(what: &str, fault: &str) {
    let elsewhere = lock(&ELSEWHERE).clone();
    // Nothing is written for another user to read.
    let own = |paths: &Paths| trust::check_data(paths).is_ok();
    let usual = || Env::capture_in("/".into()).paths().filter(own).map(|paths| path(&paths));
    if let Some(path) = elsewhere.or_else(usual) {
        let line = format!("{} {what}: {}\n", when::show(when::now()), weir_core::wording::one_line(fault, 400));
        let _ = append(&path, &line);
    }
}

/// Logs faults in another data folder from now on, since the faults of a replay are not the user's.
pub fn keep_in(paths: &Paths) {
    *lock(&ELSEWHERE) = Some(path(paths));
}

/// Returns the logged faults, oldest first.
pub fn read(paths: &Paths) -> io::Result<Vec<String>> {
    match lines_in(&path(paths)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        lines => lines,
    }
}

/// Returns the lines of a log. A hook that finds another's line half written inserts a line break, which leaves an
/// empty line.
fn lines_in(path: &Path) -> io::Result<Vec<String>> {
    let text = std::fs::read_to_string(path)?;
    Ok(text.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect())
}

pub fn path(paths: &Paths) -> PathBuf {
    paths.data.join("hook-faults.log")
}

/// Appends a line with a single write, so that lines of hooks that end at the same moment are not mixed.
fn append(path: &Path, line: &str) -> io::Result<()> {
    let mut options = private::options();
    let mut file = private::open(path, options.read(true).append(true))?;
    if file.metadata()?.len() + line.len() as u64 > MAX_LOG_BYTES {
        keep_newer_half(path, &mut file)?;
        file = private::open(path, &options)?;
    }
    // On a full disk, only a part of the previous line may have been written.
    let text = if ends_within_a_line(&mut file)? { format!("\n{line}") } else { line.to_owned() };
    file.write_all(text.as_bytes())
}

/// Replaces the log by its newer half. A line that another hook writes at the same time may be dropped with the older
/// half, but is never cut.
fn keep_newer_half(path: &Path, file: &mut File) -> io::Result<()> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    let half = &bytes[bytes.len() / 2..];
    let whole_lines = half.iter().position(|&byte| byte == b'\n').map_or(&[][..], |end| &half[end + 1..]);
    let new = path.with_extension(format!("{}-{}.new", std::process::id(), HALVED.fetch_add(1, Ordering::Relaxed)));
    let written = private::open(&new, private::options().truncate(true))
        .and_then(|mut file| file.write_all(whole_lines))
        .and_then(|()| std::fs::rename(&new, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&new);
    }
    written
}

fn ends_within_a_line(file: &mut File) -> io::Result<bool> {
    if file.metadata()?.len() == 0 {
        return Ok(false);
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    Ok(last != *b"\n")
}

pub fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_many_writers_stay_whole_while_the_older_half_goes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hook-faults.log");
        let line = |writer: usize, number: usize| format!("{writer} {number:04} {}", "x".repeat(40 + writer * 30));
        std::thread::scope(|scope| {
            for writer in 0..8 {
                let (path, line) = (&path, &line);
                scope.spawn(move || {
                    for number in 0..300 {
                        append(path, &format!("{}\n", line(writer, number))).unwrap();
                    }
                });
            }
        });
        assert!(std::fs::metadata(&path).unwrap().len() <= MAX_LOG_BYTES + 8 * 300);
        for found in lines_in(&path).unwrap() {
            let mut words = found.split(' ').map_while(|word| word.parse().ok());
            let (writer, number) = (words.next().unwrap(), words.next().unwrap());
            assert_eq!(found, line(writer, number));
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_line_that_was_cut_by_a_full_disk_does_not_run_into_the_next() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("hook-faults.log");
        std::fs::write(&path, "a whole one\nhalf of").unwrap();
        append(&path, "the next\n").unwrap();
        assert_eq!(lines_in(&path).unwrap(), ["a whole one", "half of", "the next"]);
    }
}
