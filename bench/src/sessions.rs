//! Replays recorded sessions with `weir replay`, in halves: one to tune on, and one to report.
//!
//! `halves.json` in the folder maps the name of a session to an object with its `half`. Prices are relative, so that
//! sessions of all models count equally.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// A price list without the prices of any model.
const RELATIVE: &str = "date = \"relative\"\nbuilt_in = false\n";

#[derive(Default)]
struct SessionSums {
    cost: f64,
    saved: f64,
    again: f64,
    descriptions: f64,
    worst: f64,
    counts: [u64; 6],
}

pub(crate) fn run(weir: &str, folder: &str, options: &[&str]) -> bool {
    let value = |name: &str| options.iter().position(|word| *word == name).and_then(|at| options.get(at + 1)).copied();
    let scratch = tempfile::tempdir().unwrap();
    let prices = scratch.path().join("prices.toml");
    std::fs::write(&prices, RELATIVE).unwrap();
    let mut replay = Command::new(weir);
    replay.args(["replay", folder, "--json", "--prices"]).arg(&prices).env("HOME", scratch.path());
    let output = replay.output().unwrap();
    if !output.status.success() {
        println!("{}", String::from_utf8_lossy(&output.stderr));
        return false;
    }
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let halves = std::fs::read(Path::new(folder).join("halves.json")).ok();
    let halves: Value = halves.map_or(Value::Null, |bytes| serde_json::from_slice(&bytes).unwrap());
    let half_of =
        |session: &Value| halves[session["name"].as_str().unwrap_or_default()]["half"].as_str().unwrap_or("all");
    let mut names: Vec<&str> = sessions(&report).map(half_of).collect();
    names.sort_unstable();
    names.dedup();
    if !halves.is_null() {
        names.retain(|name| *name != "all");
    }
    for half in names.into_iter().filter(|half| value("--half").is_none_or(|wanted| wanted == *half)) {
        table(half, &sessions(&report).filter(|session| half_of(session) == half).collect::<Vec<_>>());
    }
    true
}

fn sessions(report: &Value) -> impl Iterator<Item = &Value> {
    report["sessions"].as_array().into_iter().flatten()
}

fn table(half: &str, sessions: &[&Value]) {
    println!("{half}: {} sessions\n", sessions.len());
    println!(
        "| session | requests | results | touched | used later | still visible | asked again | saved | lost | net |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    let mut sum = SessionSums { worst: f64::MAX, ..SessionSums::default() };
    for session in sessions {
        let number = |key: &str| session[key].as_f64().unwrap_or(0.0);
        let (cost, net) = (number("cost"), number("net"));
        sum.cost += cost;
        sum.saved += number("saved") * cost;
        sum.again += number("asked_again_share") * cost;
        sum.descriptions += number("descriptions") * cost;
        sum.worst = sum.worst.min(net);
        let counts = ["requests", "results", "touched", "used", "visible", "asked_again"].map(|key| number(key) as u64);
        sum.counts.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        let lost = number("asked_again_share") + number("descriptions");
        row(session["name"].as_str().unwrap_or_default(), counts, [number("saved"), lost, net]);
    }
    let share = |price: f64| price / sum.cost.max(1.0);
    let lost = sum.again + sum.descriptions;
    row("all", sum.counts, [share(sum.saved), share(lost), share(sum.saved + lost)]);
    println!(
        "\nworst session {:+.1} %, asked again {:+.1} %, tool descriptions {:+.1} %\n",
        sum.worst * 100.0,
        share(sum.again) * 100.0,
        share(sum.descriptions) * 100.0
    );
}

fn row(name: &str, [requests, results, touched, used, visible, again]: [u64; 6], [saved, lost, net]: [f64; 3]) {
    let seen = if used == 0 { String::new() } else { format!("{:.0} %", visible as f64 * 100.0 / used as f64) };
    let [saved, lost, net] = [saved, lost, net].map(|share| format!("{:+.1} %", share * 100.0));
    println!("| {name} | {requests} | {results} | {touched} | {used} | {seen} | {again} | {saved} | {lost} | {net} |");
}
