//! The log of our own faults in hooks: where nobody can be told, they are written down. Invariant: it never grows past
//! [`MOST`], and to write it never fails a hook.

use std::any::Any;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use weir_store::private;

use crate::env::{Env, Paths};
use crate::when;

/// How long the log may get before the older half goes.
const MOST: u64 = 64 << 10;

/// Writes down one fault.
pub(crate) fn note(what: &str, fault: &str) {
    if let Some(paths) = Env::capture_in("/".into()).paths() {
        let line = format!("{} {what}: {}\n", when::show(when::now()), weir_core::wording::one_line(fault, 400));
        let _ = append(&path(&paths), &line);
    }
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
