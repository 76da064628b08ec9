//! Measures the cost of indexing and searching, next to bare full text over the same chunks in the same run.
//!
//! Times are CPU times, so that other processes matter little. Each engine is filled by a separate process, because the
//! peak memory of a process cannot be reset.

mod engines;
mod made;
mod peer;
mod searchers;

use std::path::Path;
use std::process::{Command, Stdio};

use crate::figures::Figures;
use crate::text::word;
use engines::{Bare, Engine, Weir};

const DEFAULT_SIZES: [u64; 3] = [1, 10, 100];
const SEARCHES: usize = 100;

pub(crate) fn run(sizes: &[&str]) -> bool {
    let given: Vec<u64> = sizes.iter().map(|size| size.parse().unwrap()).collect();
    let sizes = if given.is_empty() { DEFAULT_SIZES.to_vec() } else { given };
    for size in sizes {
        let folder = tempfile::tempdir().unwrap();
        println!("### Index, {size} MB of Markdown\n");
        println!("| engine | MB per CPU second | peak memory, MB | disk, MB | chunks |");
        println!("| --- | --- | --- | --- | --- |");
        let costs = ["bare", "weir"].map(|engine| fill(engine, size, folder.path()));
        let [bare, weir] = costs.map(|cost| size as f64 / cost.seconds);
        println!(
            "\nbare to weir: {:.2} times the speed; vectors are made afterwards and are in the row below.",
            bare / weir
        );
        println!(
            "\n| search, CPU | weir, words p50 / p95 | weir, hybrid p50 / p95 | bare p50 / p95 | words to bare, p50 |"
        );
        println!("| --- | --- | --- | --- | --- |");
        search(size, folder.path());
        println!();
    }
    true
}

/// Measures a peer's own server in the same way.
pub(crate) fn peer(command: &str, sizes: &[&str]) -> bool {
    for size in sizes.iter().map(|size| size.parse().unwrap()) {
        println!("### Peer, {size} MB of Markdown\n");
        peer::measure(command, size, &sorts(size));
    }
    true
}

/// Measures eight concurrent searchers while another thread writes.
pub(crate) fn crowd(sizes: &[&str]) -> bool {
    searchers::run(sizes.first().map_or(10, |size| size.parse().unwrap()))
}

struct FillCost {
    seconds: f64,
}

/// Fills an engine in a separate process, which prints its own row and returns the seconds.
fn fill(engine: &str, size: u64, folder: &Path) -> FillCost {
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["index-child", engine, &size.to_string(), folder.to_str().unwrap()])
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(child.status.success(), "{engine} at {size} MB");
    let said = String::from_utf8(child.stdout).unwrap();
    let (rows, seconds) = said.trim_end().rsplit_once('\n').unwrap();
    println!("{rows}");
    FillCost { seconds: seconds.parse().unwrap() }
}

pub(crate) fn child(engine: &str, size: &str, folder: &Path) -> bool {
    let megabytes: u64 = size.parse().unwrap();
    let cost = match engine {
        "weir" => filled(&mut Weir::open(folder), megabytes),
        _ => filled(&mut Bare::open(folder), megabytes),
    };
    println!("{}", cost.seconds);
    true
}

fn filled(engine: &mut dyn Engine, megabytes: u64) -> FillCost {
    let mut seconds = 0.0;
    for batch in made::batches(megabytes << 20) {
        let start = cpu_seconds();
        engine.keep(batch);
        seconds += cpu_seconds() - start;
    }
    let (name, disk, chunks) = (engine.name(), engine.disk(), engine.chunks());
    println!("| {name} | {:.1} | {:.0} | {disk:.1} | {chunks} |", megabytes as f64 / seconds, peak_memory());
    let start = cpu_seconds();
    if engine.embed() {
        let took = cpu_seconds() - start;
        let (speed, disk) = (megabytes as f64 / took, engine.disk());
        println!("| {name}, vectors | {speed:.1} | {:.0} | {disk:.1} | {chunks} |", peak_memory());
    }
    FillCost { seconds }
}

/// Measures searches of each sort, every engine in turn.
fn search(size: u64, folder: &Path) {
    let (mut words, mut bare) = (Weir::open(folder), Bare::open(folder));
    let mut hybrid = Weir::open(folder).by_meaning();
    for (sort, texts) in sorts(size) {
        let mut figures = [Figures::default(), Figures::default(), Figures::default()];
        for round in 0..SEARCHES {
            let text = &texts[round % texts.len()];
            let engines: [&mut dyn Engine; 3] = [&mut words, &mut hybrid, &mut bare];
            for (engine, figures) in engines.into_iter().zip(&mut figures) {
                let start = cpu_seconds();
                engine.search(text);
                figures.add(std::time::Duration::from_secs_f64(cpu_seconds() - start));
            }
        }
        let pair =
            |figures: &Figures| format!("{:.2} / {:.2} ms", figures.quantile(0.5) / 1e3, figures.quantile(0.95) / 1e3);
        let ratio = figures[0].quantile(0.5) / figures[2].quantile(0.5);
        let [words, hybrid, bare] = figures.map(|figures| pair(&figures));
        println!("| {sort} | {words} | {hybrid} | {bare} | {ratio:.2} |");
    }
}

fn sorts(size: u64) -> Vec<(&'static str, Vec<String>)> {
    let paragraphs = size * made::PARAGRAPHS_PER_MEGABYTE;
    let many = |make: &dyn Fn(u64) -> String| (0..20).map(make).collect::<Vec<_>>();
    let rare = |n: u64| word(20_000 + n * 977);
    vec![
        ("a unique word", many(&|n| format!("unique{}", n * (paragraphs / 21)))),
        ("two rare words", many(&|n| format!("{} {}", rare(n), rare(n + 20)))),
        ("four middling words", many(&|n| (0..4).map(|i| word(900 + n * 13 + i * 211)).collect::<Vec<_>>().join(" "))),
        ("with a very common word", many(&|n| format!("{} {}", word(1 + n % 4), word(700 + n * 7)))),
        ("ten words", many(&|n| (0..10).map(|i| word(300 + n * 17 + i * 1_013)).collect::<Vec<_>>().join(" "))),
        ("a rare word with a slip", many(&|n| slipped(&word(20_000 + n * 977)))),
    ]
}

/// Returns the word with two letters in the middle swapped.
fn slipped(word: &str) -> String {
    let mut letters: Vec<char> = word.chars().collect();
    let middle = letters.len() / 2;
    letters.swap(middle - 1, middle);
    letters.into_iter().collect()
}

/// Returns the CPU time of this process, over all threads.
fn cpu_seconds() -> f64 {
    use nix::sys::time::TimeValLike as _;
    let usage = nix::sys::resource::getrusage(nix::sys::resource::UsageWho::RUSAGE_SELF).unwrap();
    (usage.user_time().num_microseconds() + usage.system_time().num_microseconds()) as f64 / 1e6
}

fn peak_memory() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0
}
