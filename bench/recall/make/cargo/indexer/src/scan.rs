use std::path::PathBuf;

use rayon::prelude::*;

pub fn files(root: &str, globs: &[&str]) -> anyhow::Result<Vec<PathBuf>> {
    let mut set = globset::GlobSetBuilder::new();
    for glob in globs {
        set.add(globset::Glob::new(glob)?);
    }
    let set = set.build()?;
    Ok(walkdir::WalkDir::new(root)
        .into_iter()
        .filter_map(|entry| entry.ok())
        .filter(|entry| set.is_match(entry.path()))
        .map(|entry| entry.into_path())
        .collect())
}

pub fn index(files: &[PathBuf]) -> Vec<store::Posting> {
    files
        .par_iter()
        .enumerate()
        .map(|(doc, path)| {
            let text = std::fs::read_to_string(path).unwrap_or_default();
            let words = tokens::words(&text);
            store::Posting { doc: doc as u64, positions: words.len() }
        })
        .collect()
}
