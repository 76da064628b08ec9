//! Measures `weir import` of many sessions of every format, next to bare `serde_json` on the same rows.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use nix::sys::resource::{UsageWho, getrusage};
use serde_json::Value;

/// Transcripts recorded from the clients, with the key of the session's identifier.
const FORMATS: &[(&str, &str, &str)] = &[
    ("claude", include_str!("../../crates/weir/tests/fixtures/transcripts/claude.jsonl"), "sessionId"),
    ("codex", include_str!("../../crates/weir/tests/fixtures/transcripts/codex.jsonl"), "session_id"),
    ("copilot", include_str!("../../crates/weir/tests/fixtures/transcripts/copilot.jsonl"), "sessionId"),
    ("gemini", include_str!("../../crates/weir/tests/fixtures/transcripts/gemini.jsonl"), "sessionId"),
    ("qwen", include_str!("../../crates/weir/tests/fixtures/transcripts/qwen.jsonl"), "sessionId"),
];
/// The number of copies of a fixture in one session.
const COPIES: usize = 40;
/// The maximum memory of an import, in kilobytes.
const MAX_KILOBYTES: i64 = 100_000;

pub(crate) fn run(weir: &str, megabytes: &str) -> bool {
    let weir = std::fs::canonicalize(weir).unwrap();
    let bytes = megabytes.parse::<usize>().unwrap() << 20;
    println!("{megabytes} MB each, in sessions of {COPIES} copies of a fixture\n");
    println!(
        "{:<10}{:>10}{:>12}{:>12}{:>10}{:>10}{:>10}",
        "format", "rows", "rows/s", "bare rows/s", "ratio", "memory", "again"
    );
    let mut good = true;
    for (name, fixture, key) in FORMATS {
        let folder = tempfile::tempdir().unwrap();
        let transcripts = folder.path().join("transcripts");
        let rows = write(&transcripts, fixture, key, bytes);
        let bare = bare(&transcripts);
        let (took, kilobytes) = import(&weir, folder.path(), &transcripts);
        let (again, _) = import(&weir, folder.path(), &transcripts);
        let per_second = |took: Duration| rows as f64 / took.as_secs_f64();
        println!(
            "{name:<10}{rows:>10}{:>12.0}{:>12.0}{:>10.2}{:>7} MB{:>8.1} s",
            per_second(took),
            per_second(bare),
            bare.as_secs_f64() / took.as_secs_f64(),
            kilobytes / 1_000,
            again.as_secs_f64()
        );
        good &= kilobytes <= MAX_KILOBYTES;
    }
    println!("\nrows per second of the processor; `again` is a second import, which finds nothing new");
    good
}

/// Writes sessions until they have this many bytes. Returns the number of rows.
fn write(folder: &Path, fixture: &str, key: &str, bytes: usize) -> usize {
    std::fs::create_dir_all(folder).unwrap();
    let first: Value = serde_json::from_str(fixture.lines().next().unwrap()).unwrap();
    let session = find(&first, key).expect("a session in the first row").to_owned();
    let (mut written, mut rows) = (0, 0);
    for number in 0.. {
        if written >= bytes {
            break;
        }
        let mut file = std::io::BufWriter::new(std::fs::File::create(path(folder, number)).unwrap());
        let named = fixture.replace(&session, &format!("{number:08x}{}", &session[8..]));
        for copy in 0..COPIES {
            for line in named.lines() {
                writeln!(file, "{}", distinct(line, copy)).unwrap();
                written += line.len();
                rows += 1;
            }
        }
        file.flush().unwrap();
    }
    rows
}

fn path(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("session-{number}.jsonl"))
}

/// Makes the identifiers in a row unique to a copy, by replacing their last two digits with its number.
fn distinct(line: &str, copy: usize) -> String {
    let mut text = line.to_owned();
    for key in ["\"uuid\": \"", "\"parentUuid\": \"", "\"id\": \"", "\"call_id\": \"", "\"tool_use_id\": \""] {
        let mut from = 0;
        while let Some(at) = text[from..].find(key).map(|at| from + at + key.len()) {
            let Some(end) = text[at..].find('"').map(|end| at + end) else { break };
            if end >= at + 8 && copy > 0 {
                text.replace_range(end - 2..end, &format!("{copy:02}"));
            }
            from = end;
        }
    }
    text
}

/// Returns the first string under a key, at any depth.
fn find<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    match value {
        Value::Object(object) => {
            object.get(key).and_then(Value::as_str).or_else(|| object.values().find_map(|inner| find(inner, key)))
        }
        Value::Array(items) => items.iter().find_map(|inner| find(inner, key)),
        _ => None,
    }
}

/// Returns the CPU time of parsing every row.
fn bare(folder: &Path) -> Duration {
    let mut figures = crate::figures::Figures::default();
    figures.measure_cpu(|| {
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            for line in BufReader::new(std::fs::File::open(entry.path()).unwrap()).lines() {
                let row: Value = serde_json::from_str(&line.unwrap()).unwrap();
                std::hint::black_box(row);
            }
        }
    });
    Duration::from_secs_f64(figures.mean() / 1e6)
}

/// Returns the CPU time of an import, and its memory in kilobytes.
fn import(weir: &Path, home: &Path, transcripts: &Path) -> (Duration, i64) {
    let project = home.join("project");
    std::fs::create_dir_all(&project).unwrap();
    let before = cpu_of_children();
    let started = Instant::now();
    let output = Command::new("/usr/bin/env")
        .args(["-i", &format!("HOME={}", home.display()), "PATH=/usr/bin:/bin"])
        .arg(weir)
        .args(["import", "--here", "--json"])
        .arg(transcripts)
        .current_dir(&project)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let used = cpu_of_children().saturating_sub(before);
    let memory = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap().max_rss();
    assert!(used <= started.elapsed() * 4, "more time on the processor than there was");
    (used, memory)
}

fn cpu_of_children() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap();
    let micros =
        |time: nix::sys::time::TimeVal| time.tv_sec().unsigned_abs() * 1_000_000 + time.tv_usec().unsigned_abs();
    Duration::from_micros(micros(usage.user_time()) + micros(usage.system_time()))
}
