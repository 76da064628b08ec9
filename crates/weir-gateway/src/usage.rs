//! Which tools of servers a project has used, so that a client that sends every description is shown those.
//!
//! Invariants: a line is appended whole or not at all; a file that cannot be read or written changes nothing but the
//! order of what is shown.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;

use weir_ledger::private;

const FILE: &str = "gateway-used";
/// The most that is read, from the end, in bytes.
const MAX_BYTES: u64 = 256 << 10;
/// When to shorten the file, in bytes.
const SHORTEN_AT: u64 = 512 << 10;

/// Records a call in a project's folder.
pub(crate) fn record(folder: &Path, server: &str, tool: &str) {
    let path = folder.join(FILE);
    if tool.contains(char::is_whitespace) {
        return;
    }
    if std::fs::metadata(&path).is_ok_and(|about| about.len() > SHORTEN_AT) {
        let _ = shorten(&path);
    }
    let open = || private::open(&path, private::options().append(true).create(true));
    if let Ok(mut file) = private::folder(folder).and_then(|()| open()) {
        let _ = file.write_all(format!("{server} {tool}\n").as_bytes());
    }
}

/// Returns the tools that a project has used, by server and name, the most used first.
pub(crate) fn most_used(folder: &Path) -> Vec<(String, String)> {
    let Ok(bytes) = std::fs::read(folder.join(FILE)) else { return Vec::new() };
    let text = String::from_utf8_lossy(last_lines(&bytes));
    let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for line in text.lines() {
        if let Some((server, tool)) = line.split_once(' ') {
            *counts.entry((server, tool)).or_default() += 1;
        }
    }
    let mut counted: Vec<_> = counts.into_iter().collect();
    counted.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    counted.into_iter().map(|((server, tool), _)| (server.to_owned(), tool.to_owned())).collect()
}

fn shorten(path: &Path) -> std::io::Result<()> {
    let bytes = std::fs::read(path)?;
    let new = path.with_extension("new");
    std::fs::write(&new, last_lines(&bytes))?;
    std::fs::rename(new, path)
}

/// Returns the whole lines at the end of a text, in at most [`MAX_BYTES`].
fn last_lines(bytes: &[u8]) -> &[u8] {
    match bytes.len().checked_sub(MAX_BYTES as usize) {
        None | Some(0) => bytes,
        Some(begin) => {
            let line = bytes[begin..].iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |at| begin + at + 1);
            &bytes[line..]
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_used_most_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        assert!(most_used(folder.path()).is_empty());
        for tool in ["a", "b", "b", "with space"] {
            record(folder.path(), "git", tool);
        }
        let names = |name: &str| ("git".to_owned(), name.to_owned());
        assert_eq!(most_used(folder.path()), [names("b"), names("a")]);
        std::fs::write(folder.path().join(FILE), "git c\n".repeat(100_000)).unwrap();
        record(folder.path(), "git", "d");
        assert!(std::fs::metadata(folder.path().join(FILE)).unwrap().len() < 300_000);
        assert_eq!(most_used(folder.path()), [names("c"), names("d")]);
    }
}
