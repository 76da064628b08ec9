//! Measures the cost of a map: the first one of a folder, then one when nothing has changed, and one with a query.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;

const ROUNDS: usize = 9;

pub(crate) fn run(weir: &str, folder: &str) -> bool {
    let place = tempfile::tempdir().unwrap();
    // The copy keeps the times of its files, so that none is so new that it could change without looking newer.
    let copy = place.path().join("project");
    assert!(Command::new("cp").arg("-a").arg(folder).arg(&copy).status().unwrap().success());
    std::fs::create_dir_all(place.path().join("home")).unwrap();
    println!("| map | wall ms | CPU ms | peak memory, MB |\n| --- | --- | --- | --- |");
    // The peak memory of all children so far is that of the first one, which needs most.
    let cold = once(weir, &copy, &[]);
    println!("| first | {:.0} | {:.0} | {:.0} |", cold.wall, cold.cpu, cold.memory);
    for (name, arguments) in [("nothing changed", vec![]), ("with a query", vec!["--query", "read a file"])] {
        let mut rounds: Vec<MapCost> = (0..ROUNDS).map(|_| once(weir, &copy, &arguments)).collect();
        rounds.sort_by(|a, b| a.cpu.total_cmp(&b.cpu));
        let cpu = rounds[ROUNDS / 2].cpu;
        let wall = rounds.iter().map(|cost| cost.wall).fold(f64::MAX, f64::min);
        println!("| {name} | {wall:.0} (best) | {cpu:.0} (median) | |");
    }
    println!("\n{}", cold.said.lines().next().unwrap_or_default());
    true
}

struct MapCost {
    wall: f64,
    cpu: f64,
    memory: f64,
    said: String,
}

fn once(weir: &str, project: &Path, arguments: &[&str]) -> MapCost {
    let home = project.with_file_name("home");
    let before = children();
    let start = Instant::now();
    let output = Command::new(weir)
        .env_clear()
        .env("HOME", &home)
        .env("PATH", "/usr/bin:/bin")
        .arg("map")
        .args(arguments)
        .current_dir(project)
        .stderr(Stdio::piped())
        .output()
        .unwrap();
    let wall = start.elapsed().as_secs_f64() * 1e3;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let after = children();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    MapCost { wall, cpu: (after.0 - before.0) * 1e3, memory: after.1, said }
}

/// Returns the CPU seconds of all children so far, and the peak memory of one, in megabytes.
fn children() -> (f64, f64) {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap();
    let seconds = (usage.user_time().num_microseconds() + usage.system_time().num_microseconds()) as f64 / 1e6;
    (seconds, usage.max_rss() as f64 / 1024.0)
}
