//! Checks that no statement scans a table that grows. Exercises the store, has the engine explain every statement that
//! ran, and fails if a plan has a full scan.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use rusqlite::trace::{TraceEvent, TraceEventCodes};
use rusqlite::{Connection, StatementStatus};
use weir_core::note::BoundFile;
use weir_core::query::{ChunkVector, QueryVector};
use weir_core::{
    Ended, EntryKind, Event, EventKind, Level, Limits, NewEntry, Note, NoteKind, Origin, Priority, ProjectKey, Query,
    RunFacts, Scope, SessionKey, Timestamp,
};
use weir_embed::Embed as _;

use crate::{
    EntryFilter, Found, Guide, HistoryFilter, HookDay, HookRun, HookUse, KnownProject, LockPolicy, MapChange, MapFile,
    NewFile, NewPage, Outcome, Owner, SeenOutput, Selection, SessionFile, SessionFilter, Stamp, Store, Validators,
};

static STATEMENTS: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

thread_local! {
    /// The number of steps that the engine took for each statement of this thread.
    static STEPS: RefCell<BTreeMap<String, Steps>> = const { RefCell::new(BTreeMap::new()) };
}

/// Records the statements of every connection that is opened from now on.
fn record_statements() {
    weir_db::ON_CONNECT.get_or_init(|| {
        |connection| {
            let codes = TraceEventCodes::SQLITE_TRACE_STMT | TraceEventCodes::SQLITE_TRACE_PROFILE;
            connection.trace_v2(codes, Some(record)).expect("tracing is built in");
        }
    });
}

fn record(event: TraceEvent<'_>) {
    match event {
        TraceEvent::Stmt(statement, _) => {
            if let Ok(mut statements) = STATEMENTS.lock() {
                statements.insert(statement.sql().into_owned());
            }
        }
        TraceEvent::Profile(statement, _) => {
            let so_far = statement.get_status(StatementStatus::VmStep);
            STEPS.with_borrow_mut(|all| {
                let steps = all.entry(statement.sql().into_owned()).or_default();
                // The engine keeps counting for as long as a statement is prepared.
                let now = if so_far < steps.so_far { so_far } else { so_far - steps.so_far };
                *steps = Steps { so_far, most: steps.most.max(now) };
            });
        }
        _ => {}
    }
}

/// The number of steps of a statement: the engine's counter, and the most in a single execution.
#[derive(Default)]
struct Steps {
    so_far: i32,
    most: i32,
}

/// Returns the most steps that each statement took in a single execution during `work`.
fn steps_of(work: impl FnOnce()) -> BTreeMap<String, i32> {
    STEPS.with_borrow_mut(|all| all.values_mut().for_each(|steps| steps.most = 0));
    work();
    STEPS.with_borrow(|all| all.iter().map(|(sql, steps)| (sql.clone(), steps.most)).collect())
}

/// Tables that do not grow without bounds: one row each, one per project or migration, or a few per client and day for
/// some days.
const SMALL_TABLES: &[&str] =
    &["owner", "totals", "progress", "migrations", "projects", "hooks", "sqlite_schema", "sqlite_master", "map_roots"];

/// Statements that take time in proportion to a table: this one after entries were evicted from a large index.
const SCANS: &[&str] = &["SELECT count(*) FROM chunks"];

#[test]
fn no_statement_scans_a_table_that_grows() {
    record_statements();
    let folder = tempfile::tempdir().unwrap();
    let (log, index) = work_out(folder.path());
    let statements = STATEMENTS.lock().unwrap().clone();
    let mut explained = 0;
    let mut scans = Vec::new();
    // A migration runs only once.
    let migrations: Vec<&str> =
        [crate::log::MIGRATIONS, crate::index::MIGRATIONS].concat().iter().map(|m| m.sql).collect();
    let is_migration = |sql: &str| migrations.iter().any(|migration| migration.contains(sql.trim()));
    let is_known = |sql: &str| is_migration(sql) || SCANS.contains(&sql);
    for sql in statements.iter().filter(|sql| is_query(sql) && !is_known(sql)) {
        let plan =
            explain(&log, sql).or_else(|_| explain(&index, sql)).unwrap_or_else(|error| panic!("{sql}: {error}"));
        explained += 1;
        scans.extend(plan.into_iter().filter(|step| is_scan(step)).map(|step| format!("{step}\n    in {sql}")));
    }
    assert!(explained > 60, "only {explained} statements were seen; is the recording broken?");
    assert!(scans.is_empty(), "{} of {explained} statements scan:\n{}", scans.len(), scans.join("\n"));
}

/// A plan without a scan can still walk through everything in a session or client. So this test does what hooks do, in
/// a small store and in one that has grown, and no statement may take many more steps in the second.
#[test]
fn no_statement_of_a_hook_takes_longer_in_a_store_that_has_grown() {
    record_statements();
    let now = Timestamp(1_000_000_000_000);
    let [small, grown] = [2, 3_000].map(|events| {
        STEPS.take();
        let folder = tempfile::tempdir().unwrap();
        let (mut store, scope) = open_plans(folder.path());
        let session = |key: String| Some(SessionKey { client: "test".into(), key });
        let told = |kind| Event { kind, priority: Priority::P3, text: "something".into(), data: None, whole: None };
        store.append(&scope, &told(EventKind::Prompt), now).unwrap();
        for n in 0..events {
            // Sessions without a request, and one very large session.
            let key = if n % 2 == 0 { format!("other {}", n % 100) } else { "s1".to_owned() };
            store.append(&Scope { session: session(key), ..scope.clone() }, &told(EventKind::File), now).unwrap();
        }
        let other = Scope { session: session("new".into()), ..scope.clone() };
        // Twice, so that all statements are prepared and all pages are cached.
        let mut run = || {
            call_as_hooks_do(&mut store, &scope, now);
            let _ = store.last_session(&other).unwrap();
        };
        steps_of(|| (0..2).for_each(|_| run()))
    });
    let slower = grown.iter().filter(|(sql, steps)| {
        let before = small.get(*sql).copied().unwrap_or_default();
        is_query(sql) && **steps > before * 4 + 400
    });
    let slower: Vec<String> = slower.map(|(sql, steps)| format!("{steps} steps for {sql}")).collect();
    assert!(small.len() > 10, "only {} statements were seen; is the recording broken?", small.len());
    assert!(slower.is_empty(), "{}", slower.join("\n"));
}

fn open_plans(folder: &std::path::Path) -> (Store, Scope) {
    let project = ProjectKey("plans".into());
    let session = Some(SessionKey { client: "test".into(), key: "s1".into() });
    let scope = Scope { work: Some("main".into()), session, ..Scope::project(project.clone()) };
    let limits = Limits { quota_bytes: 40_000, ..Limits::default() };
    (Store::open(folder, Owner::Project(project), limits).unwrap(), scope)
}

fn is_query(sql: &str) -> bool {
    let verb = sql.split_whitespace().next().unwrap_or_default().to_ascii_uppercase();
    // The engine quotes the name of its schema in the statements that it runs for its own full-text tables.
    let engines_own = sql.contains("'main'.'");
    matches!(verb.as_str(), "SELECT" | "INSERT" | "UPDATE" | "DELETE") && !engines_own
}

fn is_scan(step: &str) -> bool {
    let Some(rest) = step.strip_prefix("SCAN ") else { return false };
    let table = rest.split_whitespace().next().unwrap_or_default();
    // A full-text table is queried by MATCH (`M`) or by row. Only an index number without either is a scan.
    let full_text = rest.contains("VIRTUAL TABLE INDEX") && (rest.contains(":M") || rest.contains('='));
    let constant = table == "CONSTANT" || rest.starts_with("CONSTANT ROW");
    !full_text && !constant && !SMALL_TABLES.contains(&table)
}

fn explain(db: &Connection, sql: &str) -> rusqlite::Result<Vec<String>> {
    let mut statement = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
    statement.raw_query().mapped(|row| row.get(3)).collect()
}

fn hook_run(at: Timestamp) -> HookRun {
    let output = Some(SeenOutput { outcome: Outcome::Small, bytes: 40 });
    HookRun { client: "test".into(), event: "PostToolUse".into(), at, micros: 900, output }
}

/// Makes every call that a hook may make.
fn call_as_hooks_do(store: &mut Store, scope: &Scope, now: Timestamp) {
    let told = Event { kind: EventKind::Tool, priority: Priority::P3, text: "it ran".into(), data: None, whole: None };
    let said = Event { kind: EventKind::Said, whole: Some("It ran.\n\nAll is well.".into()), ..told.clone() };
    store.record(scope, &[told, said], &hook_run(now)).unwrap();
    store.newest_events(scope, 60).unwrap();
    store.failures(scope).unwrap();
    store.last_session(scope).unwrap();
    store.newest_notes(scope, 2).unwrap();
    store.guide(scope).unwrap();
    store.take_waiting_guide(scope).unwrap();
    store.session_lost_texts(scope).unwrap();
    let filter = HistoryFilter {
        limit: 5,
        session: scope.session.clone().map(|session| session.key),
        ..HistoryFilter::default()
    };
    store.history(scope, &filter).unwrap();
}

fn check_what_hooks_ask(store: &mut Store, scope: &Scope, now: Timestamp) {
    let error =
        Event { kind: EventKind::Error, priority: Priority::P1, text: "it broke".into(), data: None, whole: None };
    let other = Scope { session: Some(SessionKey { client: "test".into(), key: "s2".into() }), ..scope.clone() };
    for scope in [scope, &other, scope] {
        store.record(scope, std::slice::from_ref(&error), &hook_run(now)).unwrap();
    }
    let HookRun { client, event, at, micros, .. } = hook_run(now);
    assert_eq!(store.hooks_seen().unwrap(), [HookUse { client, event, at, micros, count: 3 }]);
    assert_eq!(store.outcomes(None).unwrap().iter().map(|sum| sum.count).collect::<Vec<_>>(), [3]);
    assert_eq!(store.hook_days(now).unwrap().iter().map(HookDay::count).collect::<Vec<_>>(), [3]);
    assert_eq!(store.newest_events(scope, 2).unwrap(), [error.clone(), error.clone()]);
    assert_eq!(store.metered_of(scope.session.as_ref().unwrap(), now).unwrap(), []);
    assert_eq!(store.failures(scope).unwrap(), [error.clone(), error]);
    assert_eq!(store.newest_notes(scope, 2).unwrap().len(), 1, "three of four are superseded");
    assert_eq!(store.notes(scope, 9).unwrap().len(), 4, "a review lists the superseded too");
    assert_eq!(store.newest_notes_at(scope, Level::Project, 9).unwrap().len(), 1);
    assert_eq!(store.note_with_text(scope, "parseHttp").unwrap(), None);
    assert_eq!(store.last_session(&other).unwrap(), scope.session);
    assert_eq!(store.last_session(scope).unwrap(), None, "the other has no request of the user");
    let guide = Guide { text: "where it stood".into(), waiting: true };
    store.keep_guide(scope, &guide, now).unwrap();
    assert_eq!(store.guide(scope).unwrap(), Some(guide));
    assert_eq!(store.take_waiting_guide(scope).unwrap().as_deref(), Some("where it stood"));
    assert_eq!(store.take_waiting_guide(scope).unwrap(), None, "it goes out once");
    assert_eq!(store.thin(scope, now).unwrap(), 0);
}

/// Uses every call of the store at least once. Returns connections to its two databases.
#[expect(clippy::disallowed_methods, reason = "the test looks at the databases from outside")]
fn work_out(folder: &std::path::Path) -> (Connection, Connection) {
    let (mut store, scope) = open_plans(folder);
    let now = Timestamp(1_000_000_000_000);
    let event = Event {
        kind: EventKind::Prompt,
        priority: Priority::P1,
        text: "do it".into(),
        data: Some("{}".into()),
        whole: Some("do it,\nand do it well".into()),
    };
    store.append(&scope, &event, now).unwrap();
    let mut last = None;
    for n in 0..4 {
        let run = NewEntry { text: noise(n, 20_000), ..entry(EntryKind::Run, None) };
        let kept = store.keep(&scope, run, Timestamp(now.0 + n)).unwrap();
        let text = format!("parseHttp pool {n}, see {}", kept.reference);
        let note = NewEntry { text: text.into_bytes(), ..entry(EntryKind::Note, Some(note(last))) };
        last = Some(store.keep(&scope, note, now).unwrap().reference);
    }
    let last = last.unwrap();
    keep_a_written_run(&mut store, &scope, now);
    assert!(matches!(store.get(&scope, last, now.plus_days(1)).unwrap(), Found::Here(_)));
    assert_eq!(store.beginning_with(&scope, &last.as_str()[..9], 2).unwrap()[0].0, last);
    assert!(store.text(&scope, last).unwrap().unwrap().all().unwrap().starts_with(b"parseHttp"));
    for text in ["pool \"see ctx\"", "arseHtt", "検索 p*"] {
        store.search(&scope, &Query::new(text, 5)).unwrap();
    }
    for filter in [
        HistoryFilter { limit: 5, ..HistoryFilter::default() },
        HistoryFilter { limit: 5, session: Some("s1".into()), since: Some(now), ..HistoryFilter::default() },
        HistoryFilter { limit: 5, work: Some("main".into()), before: Some(3), ..HistoryFilter::default() },
    ] {
        assert!(!store.history(&scope, &filter).unwrap().is_empty());
    }
    check_what_hooks_ask(&mut store, &scope, now);
    look_through(&store, &scope, last, now);
    use_files(&mut store, &scope, now);
    index_and_embed(&mut store, &scope, now);
    map(&mut store, &scope);
    forget_by_every_condition(&mut store, &scope, now);
    store.tidy(now.plus_days(39)).unwrap();
    store.tidy(now.plus_days(40)).unwrap();
    assert_eq!(store.unread_texts(crate::Depth::Deep).unwrap(), crate::UnreadTexts::default());
    store.sweep(now.plus_days(399)).unwrap();
    store.sweep(now.plus_days(400)).unwrap();
    let identity = weir_core::RepositoryIdentity::new(["0".repeat(40).as_str()], Some("https://example.org/a"));
    let known = KnownProject { key: "k".into(), root: "/r".into(), folder: "f".into(), used_at: now, identity };
    store.remember_project(&KnownProject { identity: None, ..known.clone() }).unwrap();
    store.remember_project(&known).unwrap();
    store.remember_project(&KnownProject { identity: None, used_at: now.plus_days(1), ..known.clone() }).unwrap();
    assert_eq!(store.projects().unwrap(), [KnownProject { used_at: now.plus_days(1), ..known }]);
    drop(store);
    let open = |name: &str| Connection::open(folder.join(name)).unwrap();
    (open("log.db"), open("index.db"))
}

/// Lists everything as people do who look through a store.
fn look_through(store: &Store, scope: &Scope, reference: weir_core::Reference, now: Timestamp) {
    let filter = SessionFilter { active_since: Some(now), limit: 5, ..SessionFilter::default() };
    let sessions = store.sessions_page(&filter).unwrap();
    let session = &sessions[0];
    store.sessions_page(&SessionFilter { before: Some(session.place.clone()), ..filter }).unwrap();
    store.sessions_beside(&session.place).unwrap();
    assert_eq!(store.session(&session.summary.key).unwrap().as_ref(), Some(session));
    assert_eq!(store.session_counts().unwrap().len(), 1);
    store.active_days(&session.summary.key, now, 2).unwrap();
    let kinds = vec![EntryKind::Run];
    store.entries(scope, &EntryFilter { kinds, since: now, limit: 2 }).unwrap();
    assert!(store.entry(scope, reference).unwrap().is_some());
    assert!(store.session_of(scope, reference).unwrap().is_some());
    store.metered_between(now, now).unwrap();
    assert!(store.overview().unwrap().entries > 0);
    store.kept_by_day(now, 1).unwrap();
}

/// Maps two folders and removes one of them again.
fn map(store: &mut Store, scope: &Scope) {
    for root in ["/one", "/two", "/one"] {
        let file = MapFile { path: "a.rs".into(), spec: "rust 1".into(), count: 1, ..MapFile::default() };
        let gone = vec!["b.rs".to_owned()];
        let change = MapChange { files: vec![file], restamped: vec![("a.rs".into(), 2)], gone };
        store.update_map(scope, root, change).unwrap();
        store.keep_map_commits(scope, root, "00", "a.rs\nb.rs").unwrap();
    }
    assert_eq!(store.map_files(scope, "/one", "").unwrap()[0].modified, 2);
    assert_eq!(store.map_words(scope, "/one").unwrap().len(), 1);
    assert_eq!(store.map_symbols(scope, "/one", &["a.rs", "b.rs"]).unwrap(), ["", ""]);
    assert_eq!(store.map_commits(scope, "/two").unwrap(), Some(("00".into(), "a.rs\nb.rs".into())));
    store.drop_map(scope, "/two").unwrap();
    assert_eq!(store.mapped_folders(scope).unwrap(), ["/one"]);
}

/// Uses two files in a session, forgets one of them, and compacts the conversation.
fn use_files(store: &mut Store, scope: &Scope, now: Timestamp) {
    let told =
        Event { kind: EventKind::File, priority: Priority::P4, text: "read a.rs".into(), data: None, whole: None };
    let file = |path: &str| SessionFile {
        path: path.into(),
        hash: "00".into(),
        bytes: 30,
        lines: 3,
        tokens: 9,
        outline_tokens: Some(2),
        known_at: now,
        edits: 0,
        active: true,
        was_read: true,
        shown: true,
    };
    assert_eq!(store.keep_session_file(scope, &file("a.rs"), &told).unwrap(), None);
    assert_eq!(store.keep_session_file(scope, &file("b.rs"), &told).unwrap().as_deref(), Some("a.rs"));
    let inactive = SessionFile { active: false, ..file("a.rs") };
    assert_eq!(store.session_file(scope, "a.rs").unwrap(), Some(inactive.clone()));
    assert_eq!(store.session_files(scope).unwrap(), [file("b.rs"), inactive]);
    let other = Scope { session: Some(SessionKey { client: "test".into(), key: "s2".into() }), ..scope.clone() };
    for scope in [scope, &other] {
        store.session_lost_texts(scope).unwrap();
    }
    store.keep_session_file(scope, &file("b.rs"), &told).unwrap();
    store.session_lost_texts(&other).unwrap();
    assert!(store.session_files(scope).unwrap().iter().all(|file| !file.shown));
    assert_eq!(store.forget_session_files(scope, Some("a.rs")).unwrap(), 1);
    assert_eq!(store.forget_session_files(scope, None).unwrap(), 1);
    store.keep_session_file(scope, &file("b.rs"), &told).unwrap();
}

/// Keeps files, pages and vectors, and runs searches that use all of them.
fn index_and_embed(store: &mut Store, scope: &Scope, now: Timestamp) {
    for modified in [1, 2] {
        let stamp = Stamp { bytes: 3, modified, hash: "00".into() };
        let entry = NewEntry { text: b"deployment of the pool".to_vec(), ..entry_of(EntryKind::Document) };
        store.keep_files(scope, vec![NewFile { entry, stamp: stamp.clone() }], now).unwrap();
        store.restamp_files(&[("cargo test".into(), stamp)]).unwrap();
        let page = NewEntry { text: b"a page".to_vec(), ..entry_of(EntryKind::Page) };
        let page = NewPage { url: "https://example.invalid", entry: page, validators: &Validators::default() };
        store.keep_page(scope, page, now).unwrap();
        store.page_is_unchanged(scope, "https://example.invalid", now).unwrap();
    }
    assert_eq!(store.known_files(scope, "cargo test").unwrap().len(), 1);
    assert!(store.page(scope, "https://example.invalid").unwrap().is_some());
    assert!(!store.sources(scope).unwrap().is_empty());
    let model = weir_embed::built_in().unwrap();
    let vectors = |texts: &[&str]| model.embed(texts).unwrap().into_iter();
    let embedded = |query: Query| {
        let values = vectors(&[query.text.as_str()]).next().flatten();
        Query { vector: Some(QueryVector { model: model.name().into(), values, chunks: Vec::new() }), ..query }
    };
    let found = store.search(scope, &embedded(Query::new("release software depoyment", 5))).unwrap();
    assert_eq!(store.chunk_texts(&found.unembedded).unwrap().len(), found.unembedded.len());
    while let Some(chunks) = store.without_vectors(model.name(), 3, LockPolicy::Wait).unwrap() {
        let made = chunks.texts().iter().zip(vectors(&chunks.texts().iter().map(|it| &*it.text).collect::<Vec<_>>()));
        let made = made.filter_map(|(it, values)| Some(ChunkVector { chunk: it.chunk, values: values? }));
        store.keep_vectors(&chunks, &made.collect::<Vec<_>>(), LockPolicy::Wait).unwrap();
    }
    let query = Query { now: Some(now), ..Query::new("release software depoyment poo*", 50) };
    store.search(scope, &embedded(query)).unwrap();
    assert_eq!(store.drop_files(scope, &["cargo test".into()], now).unwrap(), 1);
    store.rebuild_index(|_| ()).unwrap();
}

/// Keeps a run under a reference drawn earlier, large enough for several frames.
fn keep_a_written_run(store: &mut Store, scope: &Scope, now: Timestamp) {
    let mut writer = store.writer().unwrap();
    writer.write(&b"a line of a log\n".repeat(200_000)).unwrap();
    let facts = RunFacts { exit_code: Some(1), signal: None, millis: 7, sandbox: "full".into(), ended: Ended::Exited };
    let reference = Some(store.draw_reference().unwrap());
    let run = NewEntry { run: Some(facts), reference, ..entry(EntryKind::Run, None) };
    let kept = store.keep_written(scope, run, writer, now).unwrap();
    assert_eq!(Some(kept.reference), reference);
    let Found::Here(found) = store.get(scope, kept.reference, now).unwrap() else { panic!("it is not there") };
    assert_eq!(found.run.and_then(|run| run.exit_code), Some(1));
}

/// Forgets by each condition. Forgetting the whole store is left out, since that is meant to touch everything.
fn forget_by_every_condition(store: &mut Store, scope: &Scope, now: Timestamp) {
    let any = store.history(scope, &HistoryFilter { limit: 50, ..HistoryFilter::default() }).unwrap();
    let references: Vec<_> = any.iter().filter_map(|moment| moment.logged.reference).take(2).collect();
    for selection in [
        Selection { references, ..Selection::default() },
        Selection { topic: Some("pool".into()), ..Selection::default() },
        Selection { source: Some("cargo test".into()), ..Selection::default() },
        Selection { session: Some("s1".into()), ..Selection::default() },
        Selection { before: Some(now), since: Some(Timestamp(5)), ..Selection::default() },
    ] {
        let plan = store.plan_to_forget(scope, &selection).unwrap();
        store.forget(scope, &selection, &plan.confirmation, now).unwrap();
    }
}

fn entry_of(kind: EntryKind) -> NewEntry {
    entry(kind, None)
}

fn entry(kind: EntryKind, note: Option<Note>) -> NewEntry {
    NewEntry {
        kind,
        origin: Origin::Tool,
        level: Level::Project,
        title: "a title".into(),
        source: Some("cargo test".into()),
        text: Vec::new(),
        note,
        run: None,
        reference: None,
    }
}

fn note(supersedes: Option<weir_core::Reference>) -> Note {
    Note {
        topic: Some("pool".into()),
        supersedes: supersedes.into_iter().collect(),
        files: vec![BoundFile { path: "src/a.rs".into(), hash: "00".into() }],
        branch: Some("main".into()),
        ..Note::new(NoteKind::Decision)
    }
}

/// Returns text that does not compress, so that it fills the quota.
fn noise(seed: i64, length: usize) -> Vec<u8> {
    let mut bytes = vec![0; length];
    blake3::Hasher::new().update(&seed.to_le_bytes()).finalize_xof().fill(&mut bytes);
    bytes
}
