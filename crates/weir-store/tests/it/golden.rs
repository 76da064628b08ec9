//! Tests stores written by released versions: each must open today, with everything in it. `tests/golden/README.md`
//! says when one is added.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use weir_core::note::BoundFile;
use weir_core::{
    Ended, EntryKind, Event, EventKind, Level, Limits, NewEntry, Note, NoteKind, Origin, Priority, Reference, RunFacts,
};
use weir_store::{
    Conversation, Found, Guide, HistoryFilter, HookRun, HookUse, ImportPosition, KnownProject, NewFile, NewPage, Owner,
    SessionFile, Stamp, Store, Validators,
};

use crate::dump;
use crate::support::{
    NOW, assert_healthy, at, blank_noise, copy_folder, day, entry, facts, forget, here, note, note_on, note_with,
    open_with, plain_note, project, run, scope_in, search, session_key, sweep, these,
};

/// The store that the current version writes. Add a new one along with any migration of the log or the index.
const CURRENT: &str = "0007";
/// The expected contents of a golden store, one line each.
const EXPECTED: &str = "expected.txt";

fn folder_of_all() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

/// Returns the golden stores of all released versions.
fn every_golden() -> Vec<PathBuf> {
    let items = std::fs::read_dir(folder_of_all()).unwrap().map(|item| item.unwrap().path());
    let mut folders: Vec<PathBuf> = items.filter(|path| path.is_dir()).collect();
    folders.sort();
    assert!(folders.contains(&folder_of_all().join(CURRENT)), "the store of the current version is missing");
    folders
}

/// Copies a golden store, so that opening the copy does not change the golden.
fn copy_of(golden: &Path) -> tempfile::TempDir {
    let copy = tempfile::tempdir().unwrap();
    copy_folder(golden, copy.path());
    copy
}

fn open_golden(folder: &Path) -> Store {
    // A retention period determines when new entries expire; existing ones already have an expiry.
    Store::open(folder, Owner::Project(project()), Limits { run_days: 1, page_days: 1, ..Limits::default() }).unwrap()
}

/// Returns the expected contents, without the list of streams at the end of a run, which is no longer read.
fn expected(golden: &Path) -> String {
    let text = std::fs::read_to_string(golden.join(EXPECTED)).unwrap();
    let without_streams = |line: &str| match line.rsplit_once(" [") {
        Some((run, _)) if line.starts_with("  run ") => format!("{run}\n"),
        _ => format!("{line}\n"),
    };
    text.lines().map(without_streams).collect()
}

/// Returns the references of a store, in the order they were given.
fn references_in(expected: &str) -> Vec<Reference> {
    let lines = expected.lines().filter_map(|line| line.strip_prefix("entry "));
    lines.map(|line| Reference::parse(line.split(' ').next().unwrap()).unwrap()).collect()
}

/// Describes these entries and the history of the store. The format of a line never changes, since older stores are
/// compared with what was written then.
fn describe(store: &mut Store, entries: &[Reference]) -> String {
    let mut lines = String::new();
    for reference in entries {
        match store.get(&here(), *reference, NOW).unwrap() {
            Found::Never => panic!("{reference} never was"),
            Found::Gone(gone) => {
                writeln!(lines, "entry {reference} gone {} {} {}", gone.kind, gone.why, gone.at.0).unwrap();
            }
            Found::Here(entry) => {
                let text = store.text(&here(), *reference).unwrap().unwrap().all().unwrap();
                let (kind, origin, level) = (entry.kind, entry.origin, entry.level);
                let hash = blake3::hash(&text).to_hex();
                writeln!(lines, "entry {reference} {kind} {origin} {level} {} {} {hash}", entry.at.0, entry.bytes)
                    .unwrap();
                let expires = entry.expires_at.map(|at| at.0);
                writeln!(lines, "  title {:?} source {:?} expires {expires:?}", entry.title, entry.source).unwrap();
                let (pinned, redactions, successor) = (entry.pinned, entry.redactions, entry.superseded_by);
                writeln!(lines, "  pinned {pinned} redactions {redactions} superseded by {successor:?}").unwrap();
                if let Some(run) = entry.run {
                    writeln!(lines, "  {}", describe_run(&run)).unwrap();
                }
                if let Some(note) = entry.note {
                    let Note { kind, topic, revision, supersedes, files, commit, branch, confirmed_at: _ } = note;
                    writeln!(lines, "  note {kind} topic {topic:?} revision {revision} supersedes {supersedes:?}")
                        .unwrap();
                    writeln!(lines, "  commit {commit:?} branch {branch:?}").unwrap();
                    files.iter().for_each(|file| writeln!(lines, "  file {} {}", file.path, file.hash).unwrap());
                }
            }
        }
    }
    let mut moments = store.history(&here(), &HistoryFilter { limit: 1_000, ..HistoryFilter::default() }).unwrap();
    moments.sort_by_key(|moment| std::cmp::Reverse(moment.logged.seq));
    for moment in moments {
        let logged = moment.logged;
        let session = logged.session.map(|session| format!("{}/{}", session.client, session.key));
        let Event { kind, priority, text, data, .. } = logged.event;
        writeln!(
            lines,
            "event {} {} {session:?} {:?} {kind} {priority} {text:?} {data:?}",
            logged.seq, logged.at.0, logged.work
        )
        .unwrap();
        let entry = moment.entry.map(|(kind, title)| format!("{kind} {title}"));
        let gone = moment.gone.map(weir_core::WhyGone::as_str);
        writeln!(lines, "  of {:?} {entry:?} gone {gone:?}", logged.reference).unwrap();
    }
    for HookUse { client, event, at, micros, count } in store.hooks_seen().unwrap() {
        writeln!(lines, "hook {client} {event} {} {micros} {count}", at.0).unwrap();
    }
    if let Some(Guide { text, waiting }) = store.guide(&here()).unwrap() {
        writeln!(lines, "guide {text:?} waiting {waiting}").unwrap();
    }
    for file in store.session_files(&here()).unwrap() {
        writeln!(lines, "{}", describe_file(&file)).unwrap();
    }
    lines
}

fn describe_file(file: &SessionFile) -> String {
    let SessionFile { path, hash, bytes, lines, tokens, outline_tokens, known_at, edits, active, was_read, shown } =
        file;
    let sizes = format!("{bytes} {lines} {tokens} {outline_tokens:?}");
    format!("session file {path} {hash} {sizes} {} {edits} {active} {was_read} {shown}", known_at.0)
}

fn describe_run(run: &RunFacts) -> String {
    let RunFacts { exit_code, signal, millis, sandbox, ended } = run;
    format!("run {exit_code:?} {signal:?} {millis} {sandbox:?} {ended}")
}

/// Checks a store against the description from when it was made.
fn check(folder: &Path, expected: &str) {
    let ledger = |name: &str| {
        let connection = dump::look_at(&folder.join(name));
        dump::rows(&connection, "SELECT position, name, checksum, applied_at FROM migrations ORDER BY position")
    };
    let before = ledger("log.db");
    assert!(!before.is_empty());
    let mut store = open_golden(folder);
    let references = references_in(expected);
    assert!(references.len() > 10, "{}", references.len());
    assert_eq!(describe(&mut store, &references), expected);
    for (number, reference) in references.iter().enumerate() {
        let here_still = matches!(store.get(&here(), *reference, NOW).unwrap(), Found::Here(_));
        let hits = store.search(&here(), &weir_core::Query::new(word(number), 2)).unwrap().hits;
        let found: Vec<Reference> = hits.iter().map(|hit| hit.entry.reference).collect();
        assert_eq!(found, if here_still { vec![*reference] } else { Vec::new() }, "{}", word(number));
    }
    assert!(ledger("log.db").starts_with(&before), "the past was changed");
    assert_healthy(&mut store);
    // The store works like any other, and takes new entries.
    let kept = store.keep(&here(), note("written by a later version"), day(1)).unwrap();
    assert!(kept.unfinished.is_none(), "{:?}", kept.unfinished);
    assert_eq!(search(&mut store, "later").len(), 1);
}

#[test]
fn every_golden_store_opens_with_all_that_is_in_it() {
    for golden in every_golden() {
        println!("{}", golden.display());
        check(copy_of(&golden).path(), &expected(&golden));
    }
}

#[test]
fn a_golden_log_without_its_index_gets_it_back() {
    for golden in every_golden() {
        println!("{}", golden.display());
        let copy = copy_of(&golden);
        std::fs::remove_file(copy.path().join("index.db")).unwrap();
        check(copy.path(), &expected(&golden));
        assert!(copy.path().join("index.db").exists());
    }
}

#[test]
fn a_golden_store_is_whole_and_small() {
    for golden in every_golden() {
        let files = dump::files(&golden);
        let named = |end: &str| files.iter().filter(|file| file.to_str().unwrap().ends_with(end)).count();
        assert_eq!((named("log.db"), named("index.db"), named("-wal"), named("-shm")), (1, 1, 0, 0), "{files:?}");
        assert!(named(".zst") >= 1, "no text lies in a file: {files:?}");
        let size: u64 = files.iter().map(|file| std::fs::metadata(file).unwrap().len()).sum();
        assert!(size < 1 << 20, "{} takes {size} bytes", golden.display());
    }
}

/// The store of 0011 has something of what the migrations since that of 0007 brought (`advance.py`).
#[test]
fn what_newer_migrations_brought_is_still_there() {
    let copy = copy_of(&folder_of_all().join("0011"));
    let mut store = open_golden(copy.path());
    let confirmed = Reference::parse("[ctx:d259hkn1nq]").unwrap();
    let Found::Here(entry) = store.get(&here(), confirmed, NOW).unwrap() else { panic!("the note is not there") };
    assert_eq!(entry.note.and_then(|note| note.confirmed_at), Some(at(310_000)));
    let conversation = Conversation { session: session_key("s1"), subagent: String::new() };
    let position = ImportPosition { steps: 12, message: "message-12".into() };
    assert_eq!(store.imported_to(&conversation).unwrap(), Some(position));
    // Of what was metered before outputs were counted in full, what the client would have shown is known.
    let metered = store.metered(None).unwrap().into_iter().map(|row| row.reading);
    let metered: Vec<_> = metered.map(|one| (one.times, one.given - one.shown, one.output == one.given)).collect();
    assert_eq!(metered, [(3, 8_600, true)]);
    let known = KnownProject {
        key: "git:/src/p/.git".into(),
        root: "/src/p".into(),
        folder: "p-0123abcd".into(),
        used_at: at(320_000),
        identity: None,
    };
    assert_eq!(store.projects().unwrap(), [known]);
}

/// Writes the golden store if it does not exist yet. An existing one is never changed; then this only checks that
/// writing works.
#[test]
#[ignore = "writes the golden store of the current version"]
fn write_the_golden_store() {
    let folder = tempfile::tempdir().unwrap();
    let entries = {
        let mut store = open_with(folder.path(), Limits { quota_bytes: 30_000, ..Limits::default() });
        furnish(&mut store)
    };
    let expected = describe(&mut open_golden(folder.path()), &entries);
    std::fs::write(folder.path().join(EXPECTED), &expected).unwrap();
    check(copy_of(folder.path()).path(), &expected);
    let golden = folder_of_all().join(CURRENT);
    if golden.exists() {
        println!("{} is there already and stays as it is", golden.display());
    } else {
        copy_folder(folder.path(), &golden);
    }
}

/// Returns the word that only the entry at this position has.
fn word(position: usize) -> String {
    format!("golden{position}word")
}

/// Keeps some of everything. Returns the references in order; some of the entries are gone by the end.
fn furnish(store: &mut Store) -> Vec<Reference> {
    let mut kept: Vec<Reference> = Vec::new();
    let mut add = |store: &mut Store, text: &str, mut entry: NewEntry| {
        entry.text.splice(0..0, format!("{} {text}", word(kept.len())).into_bytes());
        let milliseconds = kept.len() as i64 * 1_000;
        kept.push(store.keep(&here(), entry, at(milliseconds)).unwrap().reference);
        kept[kept.len() - 1]
    };
    // Large enough for a file, but small in the index.
    let large = |seed: u64| blank_noise(seed, 30_000);
    add(store, "expired ", entry(EntryKind::Page, "page"));
    sweep(store, day(91));
    add(store, "evicted by the quota ", run(large(1)));
    add(store, "large, in a file ", run(large(2)));
    let cited = add(store, "small, in the log ", NewEntry { source: Some("cargo test".into()), ..run("") });
    for kind in [EntryKind::Document, EntryKind::Page, EntryKind::File, EntryKind::Import] {
        let origin = if kind == EntryKind::Page { Origin::Web } else { Origin::User };
        let title = format!("a {kind} titled 検索機能 — Größe");
        add(
            store,
            "",
            NewEntry { origin, title, source: Some(format!("src/{kind}.rs")), ..entry(kind, "text\n".repeat(90)) },
        );
    }
    for level in [Level::Session, Level::Work] {
        add(store, "narrow ", NewEntry { level, origin: Origin::Model, ..note("note") });
    }
    add(store, "export API_KEY=Xk93jfQpLmZ81vbTnR24 ", run("")); // typos: allow
    add(store, "the pool has 16 ", note_on("pool", ""));
    add(store, "the pool has 32 ", note_on("pool", ""));
    let plain = add(store, &format!("see {cited} "), note(""));
    let full = Note {
        kind: NoteKind::Decision,
        topic: Some("all".into()),
        supersedes: vec![plain],
        files: vec![BoundFile { path: "src/a.rs".into(), hash: blake3::hash(b"a").to_hex().to_string() }],
        commit: Some("0123abcd".into()),
        branch: Some("main".into()),
        ..plain_note()
    };
    add(store, "with all a note can have ", note_with(full, ""));
    add(store, "", entry(EntryKind::Document, [0xff, 0xfe, 0x00, b'\n']));
    let forgotten = add(store, "forgotten on request ", note(""));
    forget(store, &these(&[forgotten]));
    let facts = |exit_code, signal, ended| RunFacts { exit_code, signal, ended, ..facts() };
    add(store, "a run that failed ", NewEntry { run: Some(facts(Some(2), None, Ended::Exited)), ..run("") });
    add(store, "a run that was killed ", NewEntry { run: Some(facts(None, Some(9), Ended::Memory)), ..run("") });
    keep_sources(store, &mut kept);
    let mut writer = store.writer().unwrap();
    writer.write(format!("{} a written run", word(kept.len())).as_bytes()).unwrap();
    // Several frames that take hardly any space, so that their lines are counted.
    writer.write(&b"\n".repeat(1_100_000)).unwrap();
    let reference = store.draw_reference().unwrap();
    let entry = NewEntry { run: Some(facts(Some(0), None, Ended::Quota)), reference: Some(reference), ..run("") };
    kept.push(store.keep_written(&here(), entry, writer, at(50_000)).unwrap().reference);
    append_events(store);
    tell_as_hooks_do(store);
    use_files(store);
    kept
}

/// Records what a hook would.
fn tell_as_hooks_do(store: &mut Store) {
    let told = Event {
        kind: EventKind::Fix,
        priority: Priority::P2,
        text: "fixed: cargo test".into(),
        data: None,
        whole: None,
    };
    let seen = HookRun { client: "claude".into(), event: "Stop".into(), at: at(200_000), micros: 1_200, output: None };
    store.record(&here(), &[told], &seen).unwrap();
    store.keep_guide(&here(), &Guide { text: "where it stood".into(), waiting: true }, at(200_001)).unwrap();
}

/// Records two files of the session: one was read and is no longer active, one is active.
fn use_files(store: &mut Store) {
    for (n, path) in ["src/a.rs", "src/größe.txt"].into_iter().enumerate() {
        let file = SessionFile {
            path: path.into(),
            hash: blake3::hash(path.as_bytes()).to_hex().to_string(),
            bytes: 900,
            lines: 30,
            tokens: 240,
            outline_tokens: (n == 0).then_some(40),
            known_at: at(210_000 + n as i64),
            edits: n as u64,
            active: true,
            was_read: true,
            shown: n == 1,
        };
        let data = Some(format!("{{\"path\":\"{path}\",\"how\":\"read\"}}"));
        let told =
            Event { kind: EventKind::File, priority: Priority::P4, text: format!("read {path}"), data, whole: None };
        store.keep_session_file(&here(), &file, &told).unwrap();
    }
}

/// Keeps a file and a page, each twice. The first version leaves a tombstone.
fn keep_sources(store: &mut Store, kept: &mut Vec<Reference>) {
    for modified in [1, 2] {
        let text = format!("{} a file, reading {modified}", word(kept.len())).into_bytes();
        let entry = NewEntry { source: Some("docs/a.md".into()), text, ..entry(EntryKind::Document, "") };
        let stamp = Stamp { bytes: 30, modified, hash: "00".into() };
        let files = vec![NewFile { entry, stamp }];
        kept.extend(store.keep_files(&here(), files, at(60_000 + modified)).unwrap().iter().map(|kept| kept.reference));
    }
    for reading in [1, 2] {
        let text = format!("{} a page, reading {reading}", word(kept.len())).into_bytes();
        let url = "https://example.invalid/a";
        let entry = NewEntry { source: Some(url.into()), text, ..entry(EntryKind::Page, "") };
        let validators = Validators { etag: Some("\"x\"".into()), last_modified: None };
        let page = NewPage { url, entry, validators: &validators };
        let page = store.keep_page(&here(), page, at(70_000 + reading)).unwrap();
        kept.push(page.reference);
    }
}

fn append_events(store: &mut Store) {
    let kinds = EventKind::ALL.iter().filter(|kind| !matches!(kind, EventKind::Kept | EventKind::Gone));
    for (n, (kind, priority)) in kinds.zip(Priority::ALL.iter().cycle()).enumerate() {
        let data = (n % 2 == 0).then(|| format!("{{\"n\":{n}}}"));
        let event =
            Event { kind: *kind, priority: *priority, text: format!("what happened: {kind}"), data, whole: None };
        let scope = if n % 3 == 0 { scope_in(None, None) } else { here() };
        store.append(&scope, &event, at(100_000 + n as i64)).unwrap();
    }
}
