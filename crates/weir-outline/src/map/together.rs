//! Files that were changed together, from the history of a repository.

use std::collections::HashMap;

/// Maximum number of files in a commit. A larger one says nothing about any two of them.
const MAX_FILES: usize = 40;

/// The files changed by commits, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Commits(Vec<Vec<String>>);

impl Commits {
    /// Creates the list from the files of each commit, newest first.
    pub fn new(commits: impl IntoIterator<Item = Vec<String>>) -> Self {
        let tells = |files: &Vec<String>| (2..=MAX_FILES).contains(&files.len());
        Self(commits.into_iter().filter(tells).collect())
    }

    /// Parses a text with one path per line and an empty line between commits.
    pub fn read(text: &str) -> Self {
        let mut commits: Vec<Vec<String>> = vec![Vec::new()];
        for line in text.lines() {
            match (line, commits.last_mut()) {
                ("", _) => commits.push(Vec::new()),
                (path, Some(commit)) => commit.push(path.to_owned()),
                _ => {}
            }
        }
        Self::new(commits)
    }

    /// Writes the text that [`Self::read`] parses.
    pub fn write(&self) -> String {
        self.0.iter().map(|commit| commit.join("\n")).collect::<Vec<_>>().join("\n\n")
    }

    pub fn len(&self) -> usize {
        self.0.len()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns how often files changed together with those of the focus. `place` maps a path to the index of its file.
    pub fn with<'a>(&'a self, focus: &[usize], place: impl Fn(&'a str) -> Option<usize>) -> Vec<(usize, f64)> {
        let mut weights: HashMap<usize, f64> = HashMap::new();
        for (age, commit) in self.0.iter().enumerate() {
            let files: Vec<usize> = commit.iter().filter_map(|path| place(path)).collect();
            let own = files.iter().filter(|file| focus.contains(file)).count();
            if own == 0 {
                continue;
            }
            // A small commit says more, and so does a recent one.
            let weight = own as f64 / (commit.len() as f64).sqrt() / (1.0 + age as f64 / 500.0);
            for file in files.into_iter().filter(|file| !focus.contains(file)) {
                *weights.entry(file).or_default() += weight;
            }
        }
        let mut weights: Vec<(usize, f64)> = weights.into_iter().map(|(file, weight)| (file, weight.sqrt())).collect();
        weights.sort_by_key(|(file, _)| *file);
        weights
    }
}
