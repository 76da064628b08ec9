//! The newest clearing of a project, for the status line. Invariant: a file that is not as it should be says nothing.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;

use weir_core::Timestamp;
use weir_store::private;

use super::rulings::FOLDER;

/// The name of the file, next to the rulings.
const FILE: &str = "cleared.last";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LastClearing {
    pub at: Timestamp,
    pub results: u64,
    /// The tokens by which requests are shorter since.
    pub tokens: u64,
}

impl LastClearing {
    /// Returns the newest clearing in a project's store.
    pub fn of(store: &Path) -> Option<Self> {
        let text = std::fs::read_to_string(store.join(FOLDER).join(FILE)).ok()?;
        let mut numbers = text.split_whitespace();
        let at = Timestamp(numbers.next()?.parse().ok()?);
        Some(Self { at, results: numbers.next()?.parse().ok()?, tokens: numbers.next()?.parse().ok()? })
    }

    /// Records it in the folder of the rulings.
    pub(super) fn note(&self, folder: &Path) -> io::Result<()> {
        let mut options = OpenOptions::new();
        let mut file = private::open(&folder.join(FILE), options.write(true).create(true).truncate(true))?;
        writeln!(file, "{} {} {}", self.at.0, self.results, self.tokens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_cleared_last_is_found_again() {
        let store = tempfile::tempdir().unwrap();
        let folder = store.path().join(FOLDER);
        std::fs::create_dir(&folder).unwrap();
        assert_eq!(LastClearing::of(store.path()), None);
        for tokens in [61_000, 5] {
            let last = LastClearing { at: Timestamp(1_795_062_420_000), results: 57, tokens };
            last.note(&folder).unwrap();
            assert_eq!(LastClearing::of(store.path()), Some(last));
        }
        std::fs::write(folder.join(FILE), "no numbers").unwrap();
        assert_eq!(LastClearing::of(store.path()), None);
    }
}
