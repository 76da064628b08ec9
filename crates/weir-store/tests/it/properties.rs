//! Tests properties of any input: texts come back byte for byte, any query is safe, and no search crosses its scope.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use weir_core::redact::redact;
use weir_core::{Ended, EntryKind, Level, Limits, NewEntry, ProjectKey, Query, Reference, RunFacts, Scope, SessionKey};
use weir_store::{Found, HistoryFilter, Owner, Store, StoreError};

use crate::dump;
use crate::semantic;
use crate::support::{
    NOW, assert_healthy, blank_noise, forget, get, here, keep, new_store, noise, note, references, run, search, text,
    these,
};

/// Size of the text in one frame, in bytes.
const FRAME: usize = 1 << 20;

/// Runs a property over many inputs. The store is created once, outside, if a fresh one is not needed.
fn for_all<S: Strategy>(cases: u32, strategy: S, mut property: impl FnMut(S::Value)) {
    // A failure prints its input; no file is written next to the sources.
    let mut runner = TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let property = std::cell::RefCell::new(&mut property);
    let outcome = runner.run(&strategy, |input| {
        (property.borrow_mut())(input);
        Ok(())
    });
    if let Err(error) = outcome {
        panic!("{error}");
    }
}

/// Asserts that a text comes back as given, without its secrets: whole, by range and frame by frame.
fn check_kept(store: &mut Store, given: &[u8], ranges: &[Range<u64>]) {
    let expected = redact(given).text.into_owned();
    let kept = keep(store, run(given));
    let reader = store.text(&here(), kept.reference).unwrap().unwrap();
    assert_eq!(reader.bytes(), expected.len() as u64);
    assert!(reader.all().unwrap() == expected, "{} bytes came back changed", expected.len());
    let by_frame: Vec<u8> = (0..reader.frame_count()).flat_map(|number| reader.frame(number).unwrap()).collect();
    assert!(by_frame == expected, "{} bytes came back changed by frame", expected.len());
    for range in ranges {
        let end = range.end.min(expected.len() as u64) as usize;
        let part = expected.get(range.start as usize..end).unwrap_or_default();
        assert!(reader.range(range.clone()).unwrap() == part, "{range:?} of {}", expected.len());
    }
}

/// Generates ranges before, across and past the end of a text of this length.
fn ranges_in(length: usize) -> impl Strategy<Value = Vec<Range<u64>>> {
    let most = length as u64 + 10;
    prop::collection::vec((0..=most, 0..=most).prop_map(|(a, b)| a.min(b)..a.max(b)), 0..6)
}

fn any_text() -> impl Strategy<Value = Vec<u8>> {
    let secret = "(password|api_key|token) ?[=:] ?[A-Za-z0-9+/]{8,40}".prop_map(String::into_bytes);
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..3_000),
        any::<String>().prop_map(String::into_bytes),
        prop::collection::vec(prop_oneof![Just(0u8), Just(b'\n'), Just(0xff), Just(b'a')], 0..600),
        // Short noise, repeated to sizes around those where the storage format changes.
        (prop::collection::vec(any::<u8>(), 1..40), 190usize..40_000)
            .prop_map(|(seed, size)| { seed.into_iter().cycle().take(size).collect() }),
        (any::<u64>(), 16_000usize..20_000).prop_map(|(seed, size)| noise(seed, size)),
        prop::collection::vec(prop_oneof!["[a-z ]{0,30}\n".prop_map(String::into_bytes), secret], 0..20)
            .prop_map(|parts| parts.concat()),
    ]
}

#[test]
fn any_bytes_come_back_as_they_were_kept() {
    let (_folder, mut store) = new_store();
    let strategy = any_text().prop_flat_map(|text| (ranges_in(text.len()), Just(text)));
    for_all(256, strategy, |(ranges, text)| check_kept(&mut store, &text, &ranges));
    assert_healthy(&mut store);
}

#[test]
fn texts_of_several_frames_come_back_at_every_boundary() {
    let (_folder, mut store) = new_store();
    let compressible = |length: usize| b"a line of a log\n".iter().copied().cycle().take(length).collect::<Vec<u8>>();
    let wide = |length: usize| "ß語".bytes().cycle().take(length).collect::<Vec<u8>>();
    let mut check = |text: Vec<u8>| {
        let (frame, end) = (FRAME as u64, text.len() as u64);
        let around = |at: u64| [at - 1..at, at - 1..at + 1, at..at + 1];
        let ranges = [around(frame), around(2 * frame), around(end), [0..1, 0..end + 9, end..end]].concat();
        check_kept(&mut store, &text, &ranges);
    };
    for length in [FRAME - 1, FRAME, FRAME + 1, 2 * FRAME, 2 * FRAME + 7] {
        check(compressible(length));
    }
    // A character across the boundary of two frames, nothing but NULs, and text that does not compress.
    check(wide(FRAME + 3));
    check(vec![0; 2 * FRAME]);
    check(noise(1, FRAME));
    check(blank_noise(1, 2 * FRAME + 1));
    assert_healthy(&mut store);
}

#[test]
fn any_large_text_comes_back() {
    let (_folder, mut store) = new_store();
    let sizes = prop_oneof![FRAME - 3..FRAME + 3, 2 * FRAME - 3..2 * FRAME + 3, FRAME..3 * FRAME];
    let strategy = (any::<u64>(), sizes, 1usize..5_000)
        .prop_flat_map(|(seed, size, period)| (ranges_in(size), Just((seed, size, period))));
    for_all(4, strategy, |(ranges, (seed, size, period))| {
        let text: Vec<u8> = noise(seed, period).into_iter().cycle().take(size).collect();
        check_kept(&mut store, &text, &ranges);
    });
}

fn any_facts() -> impl Strategy<Value = RunFacts> {
    let numbers = (any::<Option<i32>>(), any::<Option<i32>>(), 0..i64::MAX as u64);
    (numbers, "[a-z ]{0,20}", prop::sample::select(Ended::ALL)).prop_map(
        |((exit_code, signal, millis), sandbox, ended)| RunFacts { exit_code, signal, millis, sandbox, ended },
    )
}

#[test]
fn how_any_run_went_is_known_until_it_is_forgotten() {
    let (folder, mut store) = new_store();
    for_all(64, any_facts(), |facts| {
        let kept = keep(&mut store, NewEntry { run: Some(facts.clone()), ..run("its output") }).reference;
        assert_eq!(get(&mut store, kept).run.as_ref(), Some(&facts));
        assert_eq!(search(&mut store, "output")[0].entry.run.as_ref(), Some(&facts));
        forget(&mut store, &these(&[kept]));
        let log = dump::look_at(&folder.path().join("log.db"));
        assert_eq!(dump::number(&log, "SELECT count(*) FROM runs"), 0);
    });
}

fn any_query() -> impl Strategy<Value = String> {
    let operator = prop::sample::select(vec![
        "AND", "OR", "NOT", "NEAR", "NEAR(", "NEAR(a b, 2)", "(", ")", "*", "^", "\"", "\"\"", "'", ":", "-", "+", "{",
        "}", "title:", "body : x", "- title", "words", "rank", "\0", "a\0b", "%", "_", ";", "--", "/*", "検", "検索",
        "ß", "İ", "ﬁ", "\u{301}", "e\u{301}", "\u{200d}", "😀", "\u{feff}", "ⅷ", "²", "ａｂｃ", "a*", "\"a b\"*",
        "parseHttp", "src/a.rs:1",
    ]);
    prop_oneof![
        any::<String>(),
        prop::collection::vec(operator, 0..12).prop_map(|parts| parts.join(" ")),
        prop::collection::vec(prop_oneof![any::<char>(), Just('"'), Just('*'), Just('\0')], 0..60)
            .prop_map(|characters| characters.into_iter().collect()),
        "[a-z]{1,12}( [a-z]{1,12}){0,20}",
    ]
}

#[test]
fn any_query_is_answered() {
    let (_folder, mut store) = new_store();
    for text in
        ["some words, parseHttp and src/a.rs:1", "検索機能 İstanbul ﬁle ⅷ ² ａｂｃ", "a\0b \u{1}c\u{2} \u{feff}", ""]
    {
        keep(&mut store, NewEntry { title: format!("title \0 {text}"), ..run(text) });
    }
    let kinds = prop::option::of(prop::sample::select(EntryKind::ALL));
    let within = prop::option::of(prop::sample::select(Level::ALL));
    let limits = prop_oneof![0usize..60, Just(usize::MAX)];
    for_all(1_500, (any_query(), kinds, within, limits), |(text, kind, within, limit)| {
        let query = Query { kind, within, ..Query::new(text, limit) };
        let found = semantic::search(&mut store, semantic::model(), &query);
        assert!(found.unwrap_or_else(|error| panic!("{query:?}: {error}")).hits.len() <= limit);
    });
}

#[test]
fn very_long_queries_are_answered() {
    let (_folder, mut store) = new_store();
    keep(&mut store, run("word17 and wordy things with a long tail"));
    let words = |count: usize| (0..count).map(|n| format!("word{n} ")).collect::<String>();
    for query in [
        words(500),
        words(20_000),
        "x".repeat(100_000),
        "検".repeat(5_000),
        "aB".repeat(5_000),
        "a-".repeat(5_000),
        "\"".repeat(9_999),
        "* ".repeat(9_999),
        format!("\"{}\"", words(2_000)),
        (0..64).map(|n| format!("{}{n} ", "long".repeat(500))).collect(),
        String::from_utf8_lossy(&noise(3, 50_000)).into_owned(),
    ] {
        let start: String = query.chars().take(20).collect();
        let hits = semantic::search(&mut store, semantic::model(), &Query::new(&query, 10));
        assert!(hits.is_ok(), "{} characters from `{start}`: {:?}", query.len(), hits.err());
    }
    assert_eq!(search(&mut store, &words(500)).len(), 1);
}

/// The place where an entry is made, or a search is run.
#[derive(Debug, Clone, Copy)]
struct Spot {
    project: u8,
    work: Option<u8>,
    session: Option<(u8, u8)>,
}

impl Spot {
    fn scope(self) -> Scope {
        let session = |(client, key): (u8, u8)| SessionKey { client: format!("c{client}"), key: format!("s{key}") };
        Scope {
            work: self.work.map(|work| format!("w{work}")),
            session: self.session.map(session),
            ..Scope::project(ProjectKey(format!("p{}", self.project)))
        }
    }
}

fn any_spot() -> impl Strategy<Value = Spot> {
    (0u8..3, prop::option::of(0u8..2), prop::option::of((0u8..2, 0u8..2))).prop_map(|(project, work, session)| Spot {
        project,
        work,
        session,
    })
}

fn every_spot() -> Vec<Spot> {
    let works = [None, Some(0), Some(1)];
    let sessions = [None, Some((0, 0)), Some((0, 1)), Some((1, 0)), Some((1, 1))];
    let mut spots = Vec::new();
    for project in 0..3 {
        for work in works {
            spots.extend(sessions.map(|session| Spot { project, work, session }));
        }
    }
    spots
}

/// An entry that was made, with everything that decides where it is visible.
struct MadeEntry {
    reference: Reference,
    level: Level,
    origin: Scope,
    word: String,
}

/// The stores of three projects and of the user.
struct Stores {
    projects: BTreeMap<String, Store>,
    user: Store,
    _folders: Vec<tempfile::TempDir>,
}

impl Stores {
    fn new() -> Self {
        let mut folders = Vec::new();
        let mut open = |owner: Owner| {
            folders.push(tempfile::tempdir().unwrap());
            Store::open(folders.last().unwrap().path(), owner, Limits::default()).unwrap()
        };
        let keys = ["p0", "p1", "p2"];
        let projects =
            keys.map(|key| (key.to_owned(), open(Owner::Project(ProjectKey(key.into()))))).into_iter().collect();
        let user = open(Owner::User);
        Self { projects, user, _folders: folders }
    }

    fn keep(&mut self, spot: Spot, level: Level, number: usize) -> Option<MadeEntry> {
        let origin = spot.scope();
        let word = format!("unique{number}word");
        let entry = NewEntry { level, ..note(format!("shared text with {word} in it")) };
        let store =
            if level == Level::User { &mut self.user } else { self.projects.get_mut(&origin.project.0).unwrap() };
        match store.keep(&origin, entry, NOW) {
            Ok(kept) => Some(MadeEntry { reference: kept.reference, level, origin, word }),
            Err(error) => {
                assert!(matches!(error, StoreError::NoSuchLevel { .. }) && !origin.can_hold(level), "{error}");
                None
            }
        }
    }
}

/// Asserts that exactly the visible entries are found: by words, inside words, by reference and in the history.
fn check_reader(stores: &mut Stores, reader: &Scope, made: &[MadeEntry]) {
    let Stores { projects, user, .. } = stores;
    let own = projects.get_mut(&reader.project.0).unwrap();
    let expected: BTreeSet<Reference> =
        made.iter().filter(|entry| reader.sees(entry.level, &entry.origin)).map(|entry| entry.reference).collect();
    let ask = |own: &mut Store, user: &mut Store, text: &str| -> BTreeSet<Reference> {
        let query = Query::new(text, 1_000);
        let hits = [own.search(reader, &query).unwrap().hits, user.search(reader, &query).unwrap().hits].concat();
        references(&hits).into_iter().collect()
    };
    assert_eq!(ask(own, user, "shared"), expected, "from {reader:?}");
    assert_eq!(ask(own, user, "hare tex"), expected, "inside words, from {reader:?}");
    for entry in made {
        let seen = expected.contains(&entry.reference);
        assert_eq!(ask(own, user, &entry.word).contains(&entry.reference), seen, "{} from {reader:?}", entry.word);
        let store = if entry.level == Level::User { &mut *user } else { &mut *own };
        let found = matches!(store.get(reader, entry.reference, NOW).unwrap(), Found::Here(_));
        assert_eq!((found, store.text(reader, entry.reference).unwrap().is_some()), (seen, seen));
    }
    let history = own.history(reader, &HistoryFilter { limit: 1_000, ..HistoryFilter::default() }).unwrap();
    let told: BTreeSet<Reference> = history.iter().filter_map(|moment| moment.logged.reference).collect();
    let user_level = |reference: &Reference| made.iter().any(|m| m.reference == *reference && m.level == Level::User);
    assert_eq!(told, expected.iter().copied().filter(|reference| !user_level(reference)).collect());
}

#[test]
fn search_never_crosses_scope_and_misses_nothing_within_it() {
    let levels = prop::sample::select(Level::ALL);
    for_all(6, prop::collection::vec((any_spot(), levels), 1..24), |plan| {
        let mut stores = Stores::new();
        let made: Vec<MadeEntry> =
            plan.iter().enumerate().filter_map(|(number, (spot, level))| stores.keep(*spot, *level, number)).collect();
        for spot in every_spot() {
            check_reader(&mut stores, &spot.scope(), &made);
        }
    });
}

#[test]
fn a_store_answers_no_scope_of_another_project() {
    let mut stores = Stores::new();
    let stranger = Spot { project: 1, work: Some(0), session: Some((0, 0)) }.scope();
    let store = stores.projects.get_mut("p0").unwrap();
    let kept = store.keep(&Spot { project: 0, work: None, session: None }.scope(), note("x"), NOW).unwrap().reference;
    let refused = [
        store.keep(&stranger, note("y"), NOW).err(),
        store.search(&stranger, &Query::new("x", 5)).err(),
        store.get(&stranger, kept, NOW).err(),
        store.text(&stranger, kept).err(),
        store.history(&stranger, &HistoryFilter { limit: 5, ..HistoryFilter::default() }).err(),
        store.append(&stranger, &crate::support::event("z"), NOW).err(),
        store.plan_to_forget(&stranger, &weir_store::Selection { everything: true, ..Default::default() }).err(),
    ];
    assert!(refused.iter().all(|error| matches!(error, Some(StoreError::OtherProject))), "{refused:?}");
}

#[test]
fn a_store_answers_no_scope_with_a_tenant_or_a_user() {
    let (_folder, mut store) = new_store();
    let local = Scope::project(crate::support::project());
    let kept = store.keep(&local, note("x"), NOW).unwrap().reference;
    let strangers = [
        Scope { tenant: weir_core::TenantId("t".into()), ..local.clone() },
        Scope { user: weir_core::UserId("u".into()), ..local },
    ];
    for stranger in strangers {
        let refused = [
            store.keep(&stranger, note("y"), NOW).err(),
            store.search(&stranger, &Query::new("x", 5)).err(),
            store.get(&stranger, kept, NOW).err(),
            store.text(&stranger, kept).err(),
            store.append(&stranger, &crate::support::event("z"), NOW).err(),
        ];
        assert!(refused.iter().all(|error| matches!(error, Some(StoreError::NotLocal))), "{refused:?}");
    }
}

#[test]
fn secrets_never_reach_a_file() {
    let (folder, mut store) = new_store();
    let secret = "Xk93jfQpLmZ81vbTnR24";
    let text = format!("export API_KEY={secret}\n");
    let entry = NewEntry { title: text.clone(), source: Some(text.clone()), ..run(&text) };
    let kept = keep(&mut store, entry);
    store.append(&here(), &weir_core::Event { data: Some(text.clone()), ..crate::support::event(&text) }, NOW).unwrap();
    assert!(
        !kept.redacted.is_empty() && !self::text(&store, kept.reference).windows(20).any(|w| w == secret.as_bytes())
    );
    assert!(dump::files_with(folder.path(), secret).is_empty());
    assert!(search(&mut store, secret).is_empty());
}
