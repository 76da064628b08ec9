//! Measures how fast outputs are digested, next to counting their lines in memory and to `wc -l` on the same file.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use weir_core::Reference;
use weir_digest::{About, Frame};

use crate::recall::set::{Set, by_kind};

const MEASUREMENT_DURATION: Duration = Duration::from_millis(150);

/// Prints MB/s for each kind, and the cost of the slowest 100 KB.
pub(crate) fn run() -> bool {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("recall");
    println!("| kind | MB | digest MB/s | memchr MB/s | `wc -l` MB/s | of `wc -l` | ms for 100 KB |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    let mut worst = (0.0, String::new());
    let sets = ["development", "held_out"].map(|half| Set::load(&folder.join(half)));
    let mut kinds: Vec<&str> = sets.iter().flat_map(|set| by_kind(set).into_iter().map(|(kind, _)| kind)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    for kind in kinds {
        let (mut bytes, mut digest, mut memchr, mut wc) = (0.0, 0.0, 0.0, 0.0);
        for set in &sets {
            for output in set.outputs.iter().filter(|output| output.kind == kind) {
                bytes += output.raw.len() as f64;
                digest += seconds(|| digest_once(&output.raw));
                memchr += seconds(|| memchr::memchr_iter(b'\n', &output.raw).count());
                wc += seconds(|| count_lines(&set.project.path().join(&output.name)));
            }
        }
        let speed = |seconds: f64| bytes / 1e6 / seconds;
        let millis = digest / bytes * 100_000.0 * 1_000.0;
        println!(
            "| {kind} | {:.1} | {:.0} | {:.0} | {:.0} | {:.2} | {millis:.2} |",
            bytes / 1e6,
            speed(digest),
            speed(memchr),
            speed(wc),
            wc / digest
        );
        if millis > worst.0 {
            worst = (millis, kind.to_owned());
        }
    }
    println!("\nslowest: {}, {:.2} ms for 100 KB (budget 15 ms)", worst.1, worst.0);
    worst.0 <= 15.0
}

fn digest_once(raw: &[u8]) -> usize {
    let page = weir_digest::read(&raw, About::default()).unwrap();
    let frame = Frame {
        head: "exit 0",
        remarks: &[],
        reference: Reference::from_bits(0),
        lines: 0,
        bytes: raw.len() as u64,
        read_on: "more: ctx_get",
    };
    page.render(&frame, weir_digest::budget(raw.len() as u64)).body.len()
}

fn count_lines(path: &Path) -> usize {
    Command::new("wc").arg("-l").arg(path).stdout(Stdio::null()).status().unwrap();
    0
}

fn seconds(mut work: impl FnMut() -> usize) -> f64 {
    let begun = Instant::now();
    let mut least = f64::MAX;
    while begun.elapsed() < MEASUREMENT_DURATION {
        let start = Instant::now();
        std::hint::black_box(work());
        least = least.min(start.elapsed().as_secs_f64());
    }
    least
}
