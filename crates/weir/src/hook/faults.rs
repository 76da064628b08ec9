//! The log of our own faults in hooks: where nobody can be told, they are written down. Invariant: it never grows past
//! [`MOST`], and to write it never fails a hook.

use std::any::Any;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use weir_store::private;

use crate::env::{Env, Paths};
use crate::when;

/// How long the log may get before the older half goes.
const MOST: u64 = 64 << 10;

/// Where faults are written down instead, while sessions are replayed.
static ELSEWHERE: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Writes down one fault.
pub(crate) fn note(what: &str, fault: &str) {
    let elsewhere = ELSEWHERE.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let usual = || Env::capture_in("/".into()).paths().map(|paths| path(&paths));
    if let Some(path) = elsewhere.or_else(usual) {
        let line = format!("{} {what}: {}\n", when::show(when::now()), weir_core::wording::one_line(fault, 400));
        let _ = append(&path, &line);
    }
}

/// Has faults written down in another data folder from now on: those of a replay are not the user's.
pub(crate) fn keep_in(paths: &Paths) {
    *ELSEWHERE.lock().unwrap_or_else(PoisonError::into_inner) = Some(path(paths));
}

/// The faults written down, oldest first.
pub(crate) fn read(paths: &Paths) -> Vec<String> {
    let text = std::fs::read_to_string(path(paths)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// Where the log is.
pub(crate) fn path(paths: &Paths) -> PathBuf {
    paths.data.join("hook-faults.log")
}

fn append(path: &Path, line: &str) -> std::io::Result<()> {
    let mut file = private::open(path, private::options().append(true))?;
    file.write_all(line.as_bytes())?;
    if file.metadata()?.len() > MOST {
        let text = std::fs::read_to_string(path)?;
        let half = text.split_at(text.floor_char_boundary(text.len() / 2)).1;
        std::fs::write(path, half.split_once('\n').map_or("", |(_, whole_lines)| whole_lines))?;
    }
    Ok(())
}

/// What a panic said.
pub(crate) fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no words")
}
