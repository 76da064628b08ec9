//! Tests `kill -9` at any moment: everything acknowledged is there with its text, and nothing is damaged.
#![expect(clippy::disallowed_methods, reason = "the moment of the kill is a matter of time and of nothing else")]

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use weir_core::{Reference, WhyGone};
use weir_store::{Found, HistoryFilter, Selection, Store};

use crate::dump;
use crate::process::{self, ChildGuard};
use crate::rebuild::check_rebuild;
use crate::support::{
    Dice, NOW, assert_healthy, blank_noise, copy_folder, event, forget, here, keep, note, open, run, text, these,
};

const ROUNDS: u64 = 200;
/// Number of kills before a new store is used, so that checking it stays quick.
const ROUNDS_PER_STORE: u64 = 10;
/// Number of rounds after which the index is rebuilt and compared.
const ROUNDS_PER_REBUILD: u64 = 20;

/// A word that is in every run and nowhere else.
const MARKER: &str = "zqxjwvkmarker";

fn note_text(seed: u64, n: u64) -> Vec<u8> {
    format!("note {n} of seed {seed}: a decision that somebody took").into_bytes()
}

/// Returns 30 or 100 kB that go into a file and take hardly any indexing, so that the kill does not always hit the
/// index.
fn run_text(seed: u64, n: u64) -> Vec<u8> {
    let mut text = format!("run {n} of seed {seed} {MARKER}\n").into_bytes();
    let length = if n.is_multiple_of(3) { 100_000 } else { 30_000 };
    text.extend(blank_noise(seed * 1_000 + n, length));
    text
}

/// Writes as fast as possible, and prints what it tries and what was acknowledged, until it is killed.
#[test]
fn child() {
    let Some(task) = process::task() else { return };
    if task[1] == "forget" {
        return forget_everything(Path::new(&task[0]));
    }
    let seed: u64 = task[1].parse().unwrap();
    let mut store = open(Path::new(&task[0]));
    let mut dice = Dice::new(seed);
    let mut kept: Vec<Reference> = Vec::new();
    println!("ack ready 0 0 .");
    for n in 0.. {
        match dice.roll(12) {
            0..=4 => {
                let seq = store.append(&here(), &event(format!("event {n} of seed {seed}")), NOW).unwrap();
                println!("ack event {seq} {n} .");
            }
            5..=7 => {
                kept.push(store.keep(&here(), note(note_text(seed, n)), NOW).unwrap().reference);
                println!("ack note {} {n} .", kept[kept.len() - 1].as_str());
            }
            8 | 9 => {
                kept.push(store.keep(&here(), run(run_text(seed, n)), NOW).unwrap().reference);
                println!("ack run {} {n} .", kept[kept.len() - 1].as_str());
            }
            _ if kept.is_empty() => {}
            _ => {
                let chosen = kept.remove(dice.roll(kept.len() as u64) as usize);
                let selection = these(&[chosen]);
                println!("ack try {} {n} .", chosen.as_str());
                let plan = store.plan_to_forget(&here(), &selection).unwrap();
                store.forget(&here(), &selection, &plan.confirmation, NOW).unwrap();
                println!("ack forgotten {} {n} .", chosen.as_str());
            }
        }
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Expected {
    Here,
    Forgotten,
    /// The kill came while the entry was being forgotten: it is complete or gone.
    Either,
}

/// Everything that the children of one store have acknowledged.
#[derive(Default)]
struct AcknowledgedWrites {
    entries: BTreeMap<Reference, (Vec<u8>, Expected)>,
    events: BTreeMap<i64, String>,
}

impl AcknowledgedWrites {
    fn take(&mut self, line: &str, seed: u64) {
        // The kill cut off a line without an end, so its write is not acknowledged.
        let Some(said) = line.split_once("ack ").and_then(|(_, said)| said.strip_suffix(" .")) else { return };
        let words: Vec<&str> = said.split(' ').collect();
        let n: u64 = words[2].parse().unwrap();
        let reference = || Reference::parse(words[1]).unwrap();
        match words[0] {
            "ready" => {}
            "event" => {
                self.events.insert(words[1].parse().unwrap(), format!("event {n} of seed {seed}"));
            }
            "note" => drop(self.entries.insert(reference(), (note_text(seed, n), Expected::Here))),
            "run" => drop(self.entries.insert(reference(), (run_text(seed, n), Expected::Here))),
            "try" => self.entries.get_mut(&reference()).unwrap().1 = Expected::Either,
            "forgotten" => self.entries.get_mut(&reference()).unwrap().1 = Expected::Forgotten,
            other => panic!("a child said `{other}`"),
        }
    }

    fn check(&self, store: &mut Store) {
        for (reference, (text, expected)) in &self.entries {
            match store.get(&here(), *reference, NOW).unwrap() {
                Found::Here(entry) => {
                    assert!(*expected != Expected::Forgotten, "{reference} came back");
                    let stored = store.text(&here(), *reference).unwrap().unwrap().all();
                    assert!(stored.is_ok_and(|stored| stored == *text), "the text of the {} {reference}", entry.kind);
                }
                Found::Gone(gone) => {
                    assert!(*expected != Expected::Here && gone.why == WhyGone::Forgotten, "{reference}: {gone:?}");
                }
                Found::Never => panic!("{reference} was acknowledged and never was"),
            }
        }
        let history = store.history(&here(), &HistoryFilter { limit: 1_000_000, ..HistoryFilter::default() }).unwrap();
        let stored: BTreeMap<i64, &String> =
            history.iter().map(|moment| (moment.logged.seq, &moment.logged.event.text)).collect();
        for (seq, text) in &self.events {
            assert_eq!(stored.get(seq), Some(&text), "event {seq}");
        }
        assert_healthy(store);
    }
}

/// Starts a child, kills it at a random moment and reads what it acknowledged.
fn round(folder: &Path, number: u64, dice: &mut Dice, acknowledged: &mut AcknowledgedWrites) {
    let seed = dice.roll(1_000_000);
    let mut command = process::child("kill::child", &[folder.to_str().unwrap(), &seed.to_string()]);
    let mut child = ChildGuard(command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap());
    let mut lines = BufReader::new(child.0.stdout.take().unwrap()).lines().map(Result::unwrap);
    // Every fourth kill may come while the store is being opened or created, the others while it is written.
    if !number.is_multiple_of(4) {
        assert!(lines.by_ref().any(|line| line.contains("ack ready")), "the child did not begin");
    }
    std::thread::sleep(Duration::from_micros(1_000 + dice.roll(79_000)));
    let ended = child.kill();
    // On Windows, a process that is ended has this code.
    let code_of_killed = if cfg!(windows) { Some(1) } else { None };
    assert_eq!(ended.code(), code_of_killed, "the child ended by itself: {ended}");
    lines.for_each(|line| acknowledged.take(&line, seed));
}

#[test]
fn two_hundred_kills_lose_nothing() {
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros() as u64;
    println!("seed {seed}");
    let mut dice = Dice::new(seed);
    let (mut writes, mut cut_short) = (0, 0);
    for block in 0..ROUNDS / ROUNDS_PER_STORE {
        let folder = tempfile::tempdir().unwrap();
        let mut acknowledged = AcknowledgedWrites::default();
        for number in block * ROUNDS_PER_STORE..(block + 1) * ROUNDS_PER_STORE {
            round(folder.path(), number, &mut dice, &mut acknowledged);
            let mut store = open(folder.path());
            acknowledged.check(&mut store);
            if number % ROUNDS_PER_REBUILD == ROUNDS_PER_REBUILD - 1 {
                check_rebuild(folder.path(), &mut store);
            }
        }
        writes += acknowledged.entries.len() + acknowledged.events.len();
        cut_short += acknowledged.entries.values().filter(|(_, expected)| *expected == Expected::Either).count();
    }
    println!("{ROUNDS} kills, {writes} acknowledged writes, {cut_short} kills while forgetting");
    assert!(writes > 200, "only {writes} writes were acknowledged; the test shows little");
}

/// The other child: forgets everything at once.
fn forget_everything(folder: &Path) {
    let mut store = open(folder);
    let everything = Selection { everything: true, ..Selection::default() };
    let plan = store.plan_to_forget(&here(), &everything).unwrap();
    println!("ack ready 0 0 .");
    store.forget(&here(), &everything, &plan.confirmation, NOW).unwrap();
    println!("ack forgotten 0 0 .");
    // The kill comes now or has already come; it must find the same state as after the end.
    std::thread::sleep(Duration::from_secs(60));
}

/// Measures how long forgetting takes on this machine, in microseconds. The kills are spread over that time.
fn time_to_forget(template: &Path) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    copy_folder(template, folder.path());
    let mut store = open(folder.path());
    let begun = Instant::now();
    forget(&mut store, &Selection { everything: true, ..Selection::default() });
    begun.elapsed().as_micros() as u64
}

#[test]
fn a_kill_while_forgetting_leaves_all_or_nothing() {
    let template = tempfile::tempdir().unwrap();
    let mut store = open(template.path());
    let kept: Vec<(Reference, Vec<u8>)> = (0..60)
        .map(|n| (1, n * 3 + 1))
        .map(|(seed, n)| (keep(&mut store, run(run_text(seed, n))).reference, run_text(seed, n)))
        .collect();
    drop(store);
    let mut span = time_to_forget(template.path());
    let mut dice = Dice::new(4);
    let mut outcomes = BTreeMap::from([("all", 0), ("nothing", 0)]);
    for number in 0..120 {
        if number >= 30 && outcomes.values().all(|count| *count > 0) {
            break;
        }
        // The machine may have become slower or faster since it was measured.
        if number % 10 == 9 {
            span = if outcomes["nothing"] == 0 { span * 3 } else { span };
            span = if outcomes["all"] == 0 { span / 3 } else { span };
        }
        let folder = tempfile::tempdir().unwrap();
        copy_folder(template.path(), folder.path());
        let mut command = process::child("kill::child", &[folder.path().to_str().unwrap(), "forget"]);
        let mut child = ChildGuard(command.stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn().unwrap());
        let mut lines = BufReader::new(child.0.stdout.take().unwrap()).lines().map(Result::unwrap);
        assert!(lines.by_ref().any(|line| line.contains("ack ready")), "the child did not begin");
        // The log is done long before the index, so most kills come early.
        std::thread::sleep(Duration::from_micros(dice.roll((span / [30, 4, 1][number % 3]).max(1))));
        child.kill();
        let acknowledged = lines.any(|line| line.contains("ack forgotten 0 0 ."));
        let mut store = open(folder.path());
        let left = store.plan_to_forget(&here(), &Selection { everything: true, ..Selection::default() }).unwrap();
        if left.entries.is_empty() {
            *outcomes.get_mut("nothing").unwrap() += 1;
        } else {
            assert!(!acknowledged && left.entries.len() == kept.len(), "{} are left", left.entries.len());
            kept.iter().for_each(|(reference, expected)| assert!(text(&store, *reference) == *expected));
            *outcomes.get_mut("all").unwrap() += 1;
        }
        assert_healthy(&mut store);
        drop(store);
        // The next call finished what the kill interrupted. The file of a text may remain until the next sweep.
        let databases = ["log.db", "index.db"].map(str::to_owned);
        let holding = dump::files_with(folder.path(), MARKER);
        let expected = left.entries.len() == kept.len();
        assert_eq!(databases.iter().any(|name| holding.contains(name)), expected, "{holding:?}");
    }
    println!("left after a kill: {outcomes:?}");
    assert!(outcomes.values().all(|count| *count > 0), "the kills came all on one side: {outcomes:?}");
}
