//! Verifies the final state: nothing acknowledged is lost, nothing is duplicated, every text is the one that was given.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use weir_core::{Limits, ProjectKey, Reference, Scope};
use weir_store::{Owner, Store};

use super::calls::{expected, output_of};
use super::{LoadState, WriteKind, holds_something};

#[derive(Default)]
struct MarkContents {
    events: BTreeMap<String, usize>,
    entries: Vec<(String, Reference)>,
}

pub(super) fn verify(state: &LoadState) -> bool {
    let faults = std::fs::read_to_string(state.data().join("hook-faults.log")).unwrap_or_default();
    report_faults(&faults);
    let _ = std::fs::remove_file(state.data().join("hook-faults.log"));
    let doctor = state.command(&["doctor"]).output().unwrap();
    let Some(store) = project_store(state) else { return false };
    report_sizes(&store);
    let mut wrong = std::mem::take(&mut state.observations.lock().unwrap().wrong);
    if !doctor.status.success() {
        wrong.push(format!("doctor: {}", String::from_utf8_lossy(&doctor.stdout)));
    }
    for folder in ["spool", "blobs/parts", "runs"] {
        if holds_something(&store.join(folder)) {
            wrong.push(format!("{folder} is not empty"));
        }
    }
    wrong.extend(stray_processes(state));
    for database in ["log.db", "index.db"] {
        let answer: String =
            open(&store.join(database)).query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        println!("{database}: integrity {answer}");
        if answer != "ok" {
            wrong.push(format!("{database}: {answer}"));
        }
    }
    wrong.extend(compare(state, &store));
    wrong.extend(restored(state));
    for what in wrong.iter().take(40) {
        println!("wrong: {what}");
    }
    println!("wrong: {} in all", wrong.len());
    wrong.is_empty()
}

/// Restores the last backup into another project and checks everything in it.
fn restored(state: &LoadState) -> Option<String> {
    if !Path::new(&state.backup()).exists() {
        return None;
    }
    let project = state.home.join("restored");
    std::fs::create_dir(&project).unwrap();
    for arguments in [["restore", &state.backup()].as_slice(), &["doctor"]] {
        let output = state.command(arguments).current_dir(&project).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() {
            return Some(format!("{arguments:?}: {said}{}", String::from_utf8_lossy(&output.stderr)));
        }
        println!("{}: {}", arguments[0], said.lines().next().unwrap_or_default());
    }
    None
}

fn report_faults(faults: &str) {
    let mut kinds: BTreeMap<&str, usize> = BTreeMap::new();
    for line in faults.lines() {
        *kinds.entry(line.splitn(3, ' ').nth(2).unwrap_or(line)).or_default() += 1;
    }
    println!("faults in hooks: {} lines", faults.lines().count());
    for (kind, count) in kinds.iter().take(10) {
        println!("  {count:>5} {kind}");
    }
}

fn report_sizes(store: &Path) {
    let output = std::process::Command::new("du").args(["-a", "--max-depth=1", "--block-size=1M"]).arg(store).output();
    for line in String::from_utf8_lossy(&output.unwrap().stdout).lines() {
        println!("MB: {}", line.replace(&*store.to_string_lossy(), "store"));
    }
}

fn project_store(state: &LoadState) -> Option<PathBuf> {
    let stores: Vec<PathBuf> =
        std::fs::read_dir(state.data().join("projects")).ok()?.flatten().map(|entry| entry.path()).collect();
    if stores.len() != 1 {
        println!("wrong: {} stores: {stores:?}", stores.len());
    }
    stores.into_iter().next()
}

fn compare(state: &LoadState, store: &Path) -> Vec<String> {
    let mut found = read(store);
    let gone = evicted(store);
    let calls = state.observations.lock().unwrap().calls.clone();
    let texts = StoredTexts::open(store);
    let (mut wrong, mut acknowledged, mut unacknowledged, mut removed) = (Vec::new(), 0, 0, 0);
    for (mark, call) in &calls {
        let seen = found.remove(mark).unwrap_or_default();
        let count = match call.kind {
            WriteKind::Prompt => seen.events.get("prompt").copied().unwrap_or(0),
            WriteKind::File => seen.events.get("file").copied().unwrap_or(0),
            WriteKind::Output | WriteKind::Note | WriteKind::Run => seen.entries.len(),
        };
        if count > 1 {
            wrong.push(format!("{mark} is there {count} times ({:?})", call.kind));
        }
        match (call.acknowledged, count) {
            (true, 0) if matches!(call.kind, WriteKind::Output | WriteKind::Run) && gone > removed => removed += 1,
            (true, 0) => wrong.push(format!("{mark} was acknowledged and is lost ({:?})", call.kind)),
            (true, _) => acknowledged += 1,
            (false, 0) => {}
            (false, _) => unacknowledged += 1,
        }
        for (_, reference) in &seen.entries {
            let wanted = if call.kind == WriteKind::Output { output_of(mark) } else { expected(state, mark) };
            match texts.read(*reference) {
                Ok(text) if text == wanted.as_bytes() => {}
                Ok(text) => wrong.push(format!("{mark} has {} bytes of something else", text.len())),
                Err(error) => wrong.push(format!("{mark} cannot be read: {error}")),
            }
        }
    }
    wrong.extend(found.keys().map(|mark| format!("{mark} is there and nobody has sent it")));
    println!(
        "{} writing calls: {acknowledged} acknowledged and there, {unacknowledged} there without an acknowledgement, \
         {removed} evicted",
        calls.len()
    );
    wrong
}

fn read(store: &Path) -> BTreeMap<String, MarkContents> {
    let log = open(&store.join("log.db"));
    let mut found: BTreeMap<String, MarkContents> = BTreeMap::new();
    let mut statement = log.prepare("SELECT kind, text FROM events WHERE entry_id IS NULL").unwrap();
    let mut rows = statement.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let (kind, text): (String, String) = (row.get(0).unwrap(), row.get(1).unwrap());
        for mark in marks(&text) {
            *found.entry(mark).or_default().events.entry(kind.clone()).or_default() += 1;
        }
    }
    let mut statement = log.prepare("SELECT kind, title, reference FROM entries WHERE kind <> 'document'").unwrap();
    let mut rows = statement.query([]).unwrap();
    while let Some(row) = rows.next().unwrap() {
        let (kind, title, reference): (String, String, String) =
            (row.get(0).unwrap(), row.get(1).unwrap(), row.get(2).unwrap());
        for mark in marks(&title) {
            let reference = Reference::parse(&reference).unwrap();
            found.entry(mark).or_default().entries.push((kind.clone(), reference));
        }
    }
    found
}

/// Returns the number of entries that were evicted to stay within the quota.
fn evicted(store: &Path) -> usize {
    let count: i64 = open(&store.join("log.db"))
        .query_row("SELECT count(*) FROM gone WHERE why = 'evicted'", [], |row| row.get(0))
        .unwrap();
    count as usize
}

fn marks(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    words.filter(|word| word.starts_with("storm") && word.matches('x').count() == 2).map(str::to_owned).collect()
}

struct StoredTexts {
    store: Store,
    scope: Scope,
}

impl StoredTexts {
    fn open(folder: &Path) -> Self {
        let owner: String =
            open(&folder.join("log.db")).query_row("SELECT key FROM owner", [], |row| row.get(0)).unwrap();
        let key = ProjectKey(owner);
        let store = Store::open(folder, Owner::Project(key.clone()), Limits::default()).unwrap();
        Self { store, scope: Scope::project(key) }
    }

    fn read(&self, reference: Reference) -> Result<Vec<u8>, String> {
        let text = self.store.text(&self.scope, reference).map_err(|error| error.to_string())?;
        text.ok_or("it is not there")?.all().map_err(|error| error.to_string())
    }
}

fn open(path: &Path) -> Connection {
    Connection::open(path).unwrap()
}

fn stray_processes(state: &LoadState) -> Vec<String> {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let ours = processes.filter(|entry| {
        let program = std::fs::read_link(entry.path().join("exe"));
        let environment = std::fs::read(entry.path().join("environ")).unwrap_or_default();
        let home = state.home.as_os_str().as_encoded_bytes();
        program.is_ok_and(|program| program == state.weir) && environment.windows(home.len()).any(|part| part == home)
    });
    ours.map(|entry| format!("process {} is still there", entry.file_name().display())).collect()
}
