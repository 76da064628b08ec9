//! Measures the CPU time of an outline by file size, next to a bare parse of the same text.

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};

use weir_outline::{Level, language_of, outline, show};

use crate::figures::Figures;

/// The sizes of files. A measured file differs from its size by less than a quarter.
const SIZES: [usize; 5] = [1_000, 10_000, 50_000, 200_000, 900_000];
const ROUNDS: usize = 9;

pub(crate) fn run(folder: &str) -> bool {
    println!(
        "{:<11} {:>9} {:>12} {:>12} {:>12} {:>7}",
        "language", "bytes", "parse µs", "outline µs", "+ show µs", "ratio"
    );
    let mut good = true;
    for (language, endings, grammar) in grammars() {
        let mut files = Vec::new();
        below(Path::new(folder), endings, &mut files);
        files.sort();
        for size in SIZES {
            let near = files.iter().min_by_key(|(bytes, _)| bytes.abs_diff(size));
            let Some((bytes, path)) = near.filter(|(bytes, _)| bytes.abs_diff(size) < size / 4) else { continue };
            good &= row(language, *bytes, path, &grammar);
        }
    }
    good
}

fn grammars() -> Vec<(&'static str, &'static [&'static str], tree_sitter::Language)> {
    vec![
        ("rust", &[".rs"], weir_grammars::rust()),
        ("python", &[".py"], weir_grammars::python()),
        ("go", &[".go"], weir_grammars::go()),
        ("typescript", &[".ts"], weir_grammars::typescript()),
    ]
}

fn below(folder: &Path, endings: &[&str], found: &mut Vec<(usize, PathBuf)>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let Ok(about) = entry.metadata() else { continue };
        if about.is_dir() {
            below(&path, endings, found);
        } else if endings.iter().any(|ending| path.to_string_lossy().ends_with(ending)) {
            found.push((about.len() as usize, path));
        }
    }
}

/// Measures one file. Passes if an outline costs at most twice a bare parse, and at most 10 ms up to 50 KB.
fn row(name: &str, bytes: usize, path: &Path, grammar: &tree_sitter::Language) -> bool {
    let Ok(text) = fs::read_to_string(path) else { return true };
    let language = language_of(path, &text).unwrap();
    let [mut parse, mut outlined, mut shown] = [Figures::default(), Figures::default(), Figures::default()];
    for _ in 0..ROUNDS {
        parse.measure_cpu(|| {
            let mut parser = tree_sitter::Parser::new();
            parser.set_language(grammar).unwrap();
            black_box(parser.parse(text.as_bytes(), None))
        });
        let made = outlined.measure_cpu(|| outline(language, &text).unwrap());
        shown.measure_cpu(|| black_box(show(&outline(language, &text).unwrap(), &text, Level::Standard)));
        black_box(made);
    }
    let [parse, outlined, shown] = [parse, outlined, shown].map(|figures| figures.quantile(0.5));
    let ratio = outlined / parse.max(1.0);
    println!("{name:<11} {bytes:>9} {parse:>12.0} {outlined:>12.0} {shown:>12.0} {ratio:>7.2}");
    ratio <= 2.0 && (bytes > 60_000 || shown <= 10_000.0)
}
