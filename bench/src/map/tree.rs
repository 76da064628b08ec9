//! The files below a folder, with their symbols.

use std::path::Path;

use weir_outline::map::{Facts, Known, Symbol};
use weir_outline::{language_of, outline};

use crate::figures::Figures;

/// Files that can be outlined.
#[derive(Default)]
pub(super) struct SourceTree {
    pub known: Vec<Known>,
    pub symbols: Vec<Vec<Symbol>>,
    pub bytes: usize,
    /// The cost of reading and outlining, one file after the other.
    cost: Figures,
    looked_at: usize,
}

impl SourceTree {
    pub(super) fn read(root: &Path) -> Self {
        let mut tree = Self::default();
        tree.folder(root, root);
        tree
    }

    /// Returns the CPU time of reading and outlining, in seconds.
    pub(super) fn seconds(&self) -> f64 {
        self.cost.mean() * self.looked_at as f64 / 1e6
    }

    fn folder(&mut self, root: &Path, folder: &Path) {
        let mut entries: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        entries.sort();
        for path in entries {
            if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.')) || path.is_symlink() {
                continue;
            } else if path.is_dir() {
                self.folder(root, &path);
            } else {
                self.file(root, &path);
            }
        }
    }

    fn file(&mut self, root: &Path, path: &Path) {
        let name = path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
        self.looked_at += 1;
        let read = self.cost.measure_cpu(|| {
            let text = std::fs::read_to_string(path).ok()?;
            let outline = outline(language_of(path, &text)?, &text).ok()?;
            Some((Facts::of(&name, &text, &outline), text))
        });
        let Some((Facts { defines, mentions, words, symbols }, text)) = read else { return };
        let path = name;
        self.known.push(Known { path, defines, mentions, words });
        self.symbols.push(symbols);
        self.bytes += text.len();
    }
}
