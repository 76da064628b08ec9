//! Measures what it costs a hook to look up which lines a session has been shown, as the session grows.

use std::fmt::Write as _;
use std::path::Path;

use weir_store::ShownLines;

use crate::figures::Figures;

const LINES: usize = 60;
/// The number of lookups at each size.
const TRIES: usize = 200;

/// Grows a session to each of these numbers of results, and times one more.
pub(crate) fn run() -> bool {
    println!("{:>8} {:>10} {:>10} {:>10}", "results", "file, KB", "p50, µs", "p99, µs");
    let folder = tempfile::tempdir().unwrap();
    let mut results = 0;
    for size in [10, 100, 500, 1_000, 2_000] {
        while results < size {
            let mut shown = ShownLines::open(folder.path(), "session").unwrap();
            let text = shown.hash(&result(results));
            shown.add("the read of a file", &text).unwrap();
            results += 1;
        }
        let mut times = Figures::default();
        for number in 0..TRIES {
            let text = result(size + number);
            times.measure_cpu(|| look(folder.path(), &text));
        }
        let bytes = size_of_file(folder.path());
        let (p50, p99) = (times.quantile(0.5), times.quantile(0.99));
        println!("{size:>8} {:>10} {p50:>10.0} {p99:>10.0}", bytes / 1000);
    }
    true
}

/// Opens a session's file and looks up a text in it.
fn look(folder: &Path, text: &str) {
    let shown = ShownLines::open(folder, "session").unwrap();
    assert!(shown.repeats(&shown.hash(text), 6).is_empty());
}

fn result(number: usize) -> String {
    (0..LINES).fold(String::new(), |mut text, line| {
        let _ = writeln!(text, "    let value_{number}_{line} = compute(input_{line}, {number});");
        text
    })
}

fn size_of_file(folder: &Path) -> u64 {
    let files = std::fs::read_dir(folder.join("shown")).unwrap();
    files.map(|file| file.unwrap().metadata().unwrap().len()).sum()
}
