//! Measures what redaction marks in real material, and how fast it is next to a scan for line ends.
//!
//! A mark in source, documentation or logs without secrets is a false positive: `--show` prints each with its context,
//! to be judged by eye.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use weir_core::redact::redact;
use weir_core::terminal::is_binary;

/// The maximum size of a file. Larger ones are data.
const MAX_FILE_BYTES: u64 = 50 << 20;
const MAX_SECRET_BYTES: usize = 100;
const MAX_CONTEXT_BYTES: usize = 40;

#[derive(Default)]
struct Totals {
    files: u64,
    bytes: u64,
    redacting: Duration,
    scanning: Duration,
    marks: BTreeMap<&'static str, u64>,
}

pub(crate) fn run(paths: &[&str]) -> bool {
    let shows = paths.contains(&"--show");
    let mut totals = Totals::default();
    for path in paths.iter().filter(|path| !path.starts_with("--")) {
        for file in files_below(Path::new(path)) {
            take(&file, shows, &mut totals);
        }
    }
    let rate = |time: Duration| totals.bytes as f64 / 1e6 / time.as_secs_f64().max(1e-9);
    println!("{:.1} MB of text in {} files", totals.bytes as f64 / 1e6, totals.files);
    println!("{:.0} MB/s; a scan for line ends: {:.0} MB/s", rate(totals.redacting), rate(totals.scanning));
    println!("{} marks", totals.marks.values().sum::<u64>());
    for (rule, count) in &totals.marks {
        println!("{count:6} {rule}");
    }
    totals.files > 0
}

/// Returns regular files, sorted by name. Links are not followed.
fn files_below(path: &Path) -> Vec<PathBuf> {
    let Ok(about) = fs::symlink_metadata(path) else { return Vec::new() };
    if about.is_file() && about.len() <= MAX_FILE_BYTES {
        return vec![path.to_owned()];
    }
    if !about.is_dir() {
        return Vec::new();
    }
    let mut inside: Vec<PathBuf> =
        fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    inside.sort();
    inside.iter().flat_map(|path| files_below(path)).collect()
}

fn take(file: &Path, shows: bool, totals: &mut Totals) {
    let Some(text) = fs::read(file).ok().filter(|text| !is_binary(text)) else { return };
    let start = Instant::now();
    let found = redact(&text).found;
    totals.redacting += start.elapsed();
    let start = Instant::now();
    std::hint::black_box(memchr::memchr_iter(b'\n', &text).count());
    totals.scanning += start.elapsed();
    totals.files += 1;
    totals.bytes += text.len() as u64;
    for finding in found {
        *totals.marks.entry(finding.rule).or_default() += 1;
        if shows {
            let part = |from: usize, to: usize| {
                String::from_utf8_lossy(&text[from..to.min(text.len())]).replace(['\n', '\r'], "↵")
            };
            let before = part(finding.start.saturating_sub(MAX_CONTEXT_BYTES), finding.start);
            let secret = part(finding.start, finding.end.min(finding.start + MAX_SECRET_BYTES));
            println!(
                "{}\t{}\t{before}«{secret}»{}",
                finding.rule,
                file.display(),
                part(finding.end, finding.end + MAX_CONTEXT_BYTES)
            );
        }
    }
}
