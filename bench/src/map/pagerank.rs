//! Personalised PageRank over references between files, as in aider's map: an edge from each file that mentions a name
//! to each file that defines it. Names in the question and long compound names weigh ten times, names that many files
//! define a tenth; the walk restarts at the focused file.

use std::collections::{HashMap, HashSet};

use weir_outline::map::name_number;

use super::tree::SourceTree;

const DAMPING: f64 = 0.85;
const STEPS: usize = 40;

/// The references between files, by name.
pub(super) struct Graph {
    files: usize,
    /// A name with its weight, the files that mention it and the files that define it.
    names: Vec<(u32, f64, Vec<usize>, Vec<usize>)>,
}

impl Graph {
    pub(super) fn new(tree: &SourceTree) -> Self {
        let mut defined: HashMap<u32, (String, Vec<usize>)> = HashMap::new();
        for (file, symbols) in tree.symbols.iter().enumerate() {
            for symbol in symbols {
                let (_, files) =
                    defined.entry(name_number(symbol.name())).or_insert_with(|| (symbol.name().to_owned(), Vec::new()));
                if files.last() != Some(&file) {
                    files.push(file);
                }
            }
        }
        let mut mentioned: HashMap<u32, Vec<usize>> = HashMap::new();
        for (file, known) in tree.known.iter().enumerate() {
            for name in known.mentions.iter().filter(|name| defined.contains_key(name)) {
                mentioned.entry(*name).or_default().push(file);
            }
        }
        let names = defined.into_iter().map(|(number, (name, files))| {
            let is_compound = name.contains('_') || name.bytes().skip(1).any(|byte| byte.is_ascii_uppercase());
            let mut weight = if is_compound && name.len() >= 8 { 10.0 } else { 1.0 };
            weight *= if name.starts_with('_') { 0.1 } else { 1.0 };
            weight *= if files.len() > 5 { 0.1 } else { 1.0 };
            (number, weight, mentioned.remove(&number).unwrap_or_default(), files)
        });
        let mut names: Vec<_> = names.collect();
        names.sort_by_key(|(number, ..)| *number);
        Self { files: tree.known.len(), names }
    }

    /// Returns the files by rank, without the focused one.
    pub(super) fn rank(&self, focus: usize, subject: &str) -> Vec<usize> {
        let words = subject.split(|c: char| !c.is_alphanumeric() && c != '_');
        let asked: HashSet<u32> = words.filter(|word| word.len() > 2).map(name_number).collect();
        let mut edges: HashMap<(usize, usize), f64> = HashMap::new();
        let mut out = vec![0.0; self.files];
        for (number, weight, from, to) in &self.names {
            let weight = if asked.contains(number) { weight * 10.0 } else { *weight };
            for source in from {
                let weight = if *source == focus { weight * 50.0 } else { weight };
                for target in to.iter().filter(|target| *target != source) {
                    *edges.entry((*source, *target)).or_default() += weight;
                    out[*source] += weight;
                }
            }
        }
        let mut edges: Vec<_> = edges.into_iter().collect();
        edges.sort_by_key(|(edge, _)| *edge);
        let mut rank = vec![1.0 / self.files as f64; self.files];
        for _ in 0..STEPS {
            // The rank of files without outgoing edges returns to the focus.
            let stopped: f64 = (0..self.files).filter(|file| out[*file] == 0.0).map(|file| rank[file]).sum();
            let mut next = vec![0.0; self.files];
            for ((source, target), weight) in &edges {
                next[*target] += DAMPING * rank[*source] * weight / out[*source];
            }
            next[focus] += 1.0 - DAMPING + DAMPING * stopped;
            rank = next;
        }
        let mut order: Vec<usize> = (0..self.files).filter(|file| *file != focus).collect();
        order.sort_by(|a, b| rank[*b].total_cmp(&rank[*a]).then(a.cmp(b)));
        order
    }
}
