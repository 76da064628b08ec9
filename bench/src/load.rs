//! Puts a mixed load on the real program: eight workers call hooks, commands and servers, some of which are killed or
//! stopped, and the disk fills up now and then. Finally, everything that was acknowledged must exist, once and
//! unchanged.

mod calls;
mod disk;
mod mcp;
mod verify;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::figures::Figures;
use crate::text::RandomNumbers;
use disk::Disk;

const WORKERS: usize = 8;
/// The percentages of calls that are killed, and that are stopped for a while.
const KILLED_PERCENT: u64 = 5;
const STOPPED_PERCENT: u64 = 2;

struct LoadState {
    weir: PathBuf,
    home: PathBuf,
    project: PathBuf,
    disk: Disk,
    begun: Instant,
    over: AtomicBool,
    observations: Mutex<Observations>,
}

/// What the workers have observed.
#[derive(Default)]
struct Observations {
    calls: BTreeMap<String, WritingCall>,
    references: Vec<(String, String)>,
    rows: BTreeMap<&'static str, CallFigures>,
    /// The messages of calls that failed while the disk had room, and their counts.
    failures: BTreeMap<String, usize>,
    wrong: Vec<String>,
}

#[derive(Default)]
struct CallFigures {
    took: Figures,
    calls: usize,
    killed: usize,
    stopped: usize,
    /// Failures while the disk was full, and at other times.
    failed_full: usize,
    failed: usize,
}

#[derive(Clone)]
struct WritingCall {
    kind: WriteKind,
    /// Whether the program confirmed that it was stored.
    acknowledged: bool,
}

/// What a call writes, which determines where to look for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum WriteKind {
    Prompt,
    File,
    Output,
    Note,
    Run,
}

struct CallOutcome {
    /// Its output, or `None` if it was killed.
    output: Option<std::process::Output>,
    stopped: bool,
    /// Whether the disk was full at any moment during the call.
    full: bool,
    took: Duration,
}

pub(crate) fn run(weir: &str, minutes: f64) -> bool {
    let home = tempfile::tempdir().unwrap();
    let project = home.path().join("project");
    std::fs::create_dir_all(project.join("docs")).unwrap();
    // Less than the disk has, so that the disk is only full when the benchmark fills it.
    std::fs::create_dir_all(home.path().join(".config/weir")).unwrap();
    std::fs::write(home.path().join(".config/weir/config.toml"), "[retention]\nquota_mb = 400\n").unwrap();
    let state = LoadState {
        weir: std::fs::canonicalize(weir).unwrap(),
        disk: Disk::mount(&home.path().join("data")),
        home: home.path().to_owned(),
        project,
        begun: Instant::now(),
        over: AtomicBool::new(false),
        observations: Mutex::default(),
    };
    println!("{WORKERS} workers for {minutes} minutes; {}", state.disk.describe());
    let end = Duration::from_secs_f64(minutes * 60.0);
    std::thread::scope(|scope| {
        for worker in 0..WORKERS {
            let state = &state;
            scope.spawn(move || calls::work(state, worker));
        }
        scope.spawn(|| index_and_stop(&state));
        scope.spawn(|| back_up(&state));
        scope.spawn(|| state.disk.fill_now_and_then(|| state.is_over()));
        while state.begun.elapsed() < end {
            std::thread::sleep(Duration::from_millis(200));
        }
        state.over.store(true, Ordering::Relaxed);
    });
    table(&state);
    verify::verify(&state)
}

impl LoadState {
    fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    fn command(&self, arguments: &[&str]) -> std::process::Command {
        let mut command = std::process::Command::new(&self.weir);
        command.args(arguments).current_dir(&self.project).env_clear();
        command.env("HOME", &self.home).env("WEIR_DATA", self.data()).env("PATH", "/usr/bin:/bin");
        command
    }

    /// Returns the path of the backup, which is not on the disk that fills up.
    fn backup(&self) -> String {
        self.home.join("backup.weir").display().to_string()
    }

    fn data(&self) -> PathBuf {
        self.home.join("data/weir")
    }

    fn count(&self, name: &'static str, outcome: &CallOutcome, good: bool) {
        let mut observations = self.observations.lock().unwrap();
        let row = observations.rows.entry(name).or_default();
        row.calls += 1;
        match (outcome.output.is_none(), outcome.stopped) {
            (true, _) => row.killed += 1,
            (_, true) => row.stopped += 1,
            _ => row.took.add(outcome.took),
        }
        let Some(output) = outcome.output.as_ref().filter(|_| !good) else { return };
        if outcome.full {
            row.failed_full += 1;
            return;
        }
        row.failed += 1;
        let said = String::from_utf8_lossy(&output.stderr);
        let said = said.lines().next().unwrap_or("nothing").replace(&*self.data().to_string_lossy(), "DATA");
        *observations.failures.entry(format!("{name}: {said}")).or_default() += 1;
    }

    fn remember(&self, mark: &str, kind: WriteKind, acknowledged: bool) {
        self.observations.lock().unwrap().calls.insert(mark.to_owned(), WritingCall { kind, acknowledged });
    }

    fn wrong(&self, what: String) {
        self.observations.lock().unwrap().wrong.push(what);
    }
}

/// Indexes repeatedly, stopping the program for 5 to 20 seconds somewhere in between.
fn index_and_stop(state: &LoadState) {
    let mut numbers = RandomNumbers::new(99);
    let mut round = 0;
    while !state.is_over() {
        round += 1;
        for file in 0..20 {
            let text: String = (0..20).map(|n| crate::text::paragraph(round * 1_000 + file * 20 + n)).collect();
            std::fs::write(state.project.join(format!("docs/{file}.md")), text).unwrap();
        }
        let started = Instant::now();
        let full = state.disk.is_full();
        let child = state.command(&["index", "docs"]).stdout(quiet()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(numbers.next() % 1_500));
        let stopped = stop_for(child.id(), Duration::from_millis(5_000 + numbers.next() % 15_000));
        let output = child.wait_with_output().unwrap();
        let (good, full) = (output.status.success(), full || state.disk.was_full_since(started));
        let outcome = CallOutcome { output: Some(output), stopped, full, took: started.elapsed() };
        state.count("index", &outcome, good);
        pause(state, Duration::from_secs(numbers.next() % 15));
    }
}

/// Backs up the store while others write. The last backup is restored at the end.
fn back_up(state: &LoadState) {
    let file = state.backup();
    while !state.is_over() {
        pause(state, Duration::from_secs(20));
        let started = Instant::now();
        let full = state.disk.is_full();
        let output = state.command(&["backup", "--force", &file]).output().unwrap();
        let full = full || state.disk.was_full_since(started);
        let good = output.status.success();
        if !good && !full {
            state.wrong(format!("backup: {}", String::from_utf8_lossy(&output.stderr)));
        }
        state.count(
            "backup",
            &CallOutcome { output: Some(output), stopped: false, full, took: started.elapsed() },
            good,
        );
    }
}

/// Stops a process for a while. Returns whether it was there to be stopped.
fn stop_for(pid: u32, pause: Duration) -> bool {
    let Some(pid) = Pid::from_raw(pid.cast_signed()) else { return false };
    if kill_process(pid, Signal::STOP).is_err() {
        return false;
    }
    std::thread::sleep(pause);
    let _ = kill_process(pid, Signal::CONT);
    true
}

/// Waits, unless the benchmark is over.
fn pause(state: &LoadState, pause: Duration) {
    let since = Instant::now();
    while since.elapsed() < pause && !state.is_over() {
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn quiet() -> Stdio {
    Stdio::null()
}

fn table(state: &LoadState) {
    let observations = state.observations.lock().unwrap();
    let headings = ["calls", "killed", "stopped", "failed full", "failed", "p50 ms", "p95", "p99", "max"];
    println!("\n{:<20}{}", "", headings.map(|heading| format!("{heading:>12}")).concat());
    for (name, row) in &observations.rows {
        let counts = [row.calls, row.killed, row.stopped, row.failed_full, row.failed];
        let times = [0.5, 0.95, 0.99, 1.0].map(|share| row.took.quantile(share) / 1e3);
        let counts = counts.map(|count| format!("{count:>12}")).concat();
        println!("{name:<20}{counts}{}", times.map(|millis| format!("{millis:>12.0}")).concat());
    }
    println!("\nfull disk: {}", state.disk.report());
    for (said, count) in &observations.failures {
        println!("failed while the disk had room: {count:>5} {said}");
    }
}

/// Returns whether a folder exists and is not empty.
fn holds_something(folder: &Path) -> bool {
    std::fs::read_dir(folder).is_ok_and(|mut files| files.next().is_some())
}
