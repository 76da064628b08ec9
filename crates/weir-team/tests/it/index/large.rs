//! Measures the index next to SQLite's FTS5 on synthetic records, in one run.

use std::path::Path;
use std::time::{Duration, Instant};

use weir_core::{EntryKind, Scope, Timestamp, UserId};
use weir_records::sqlite::SqliteIndex;
use weir_records::{
    Audience, HostId, Index, IndexChange, IndexedRecord, Position, ProjectChanges, RecordId, SearchQuery, Step,
};
use weir_team::{BucketOptions, BucketedIndex, TantivyIndex};

use crate::support::{NOW, ana, files, scope};

const RECORDS: u64 = 100_000;
const BATCH: u64 = 256;
const QUERIES: usize = 200;
const VOCABULARY: f64 = 40_000.0;

/// Pseudo-random numbers, the same in each run.
struct Random(u64);

impl Random {
    fn draw(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Returns a word; few are common and most are rare, as in any language.
    fn word(&mut self) -> String {
        let share = (self.draw() >> 11) as f64 / (1u64 << 53) as f64;
        word(VOCABULARY.powf(share) as u64)
    }

    fn words(&mut self, count: u64) -> String {
        (0..count).map(|_| self.word()).collect::<Vec<_>>().join(" ")
    }
}

/// Returns the word of a rank, as one could say it.
fn word(mut rank: u64) -> String {
    let syllables =
        ["ka", "lo", "mi", "nu", "re", "su", "ta", "vi", "wo", "zu", "bra", "den", "fir", "gol", "hus", "jem"];
    let mut word = String::new();
    loop {
        word.push_str(syllables[(rank % 16) as usize]);
        rank /= 16;
        if rank == 0 {
            return word;
        }
    }
}

fn record(random: &mut Random, host: HostId, number: u64) -> IndexChange {
    IndexChange::Put(Box::new(IndexedRecord {
        id: RecordId { host, index: number },
        kind: EntryKind::Note,
        audience: Audience::Team,
        author: UserId("ana".into()),
        source: Some(format!("src/part{}/file{number}.rs", number % 50)),
        at: Timestamp(NOW.0 + number as i64),
        title: random.words(5),
        text: format!("{} ident{number}x", random.words(60)),
    }))
}

/// Fills an index, and returns how long that took.
fn fill(index: &dyn Index, host: HostId) -> Duration {
    let mut random = Random(7);
    let mut taken = Duration::ZERO;
    for from in (0..RECORDS).step_by(BATCH as usize) {
        let to = (from + BATCH).min(RECORDS);
        let changes: Vec<IndexChange> = (from..to).map(|number| record(&mut random, host, number)).collect();
        let start = Instant::now();
        assert!(index.apply(&ana(), &changes, Step { from: Position(from), to: Position(to) }).unwrap());
        taken += start.elapsed();
    }
    taken
}

/// Returns how long each query took, in order of time.
fn time(index: &dyn Index, queries: &[String]) -> Vec<Duration> {
    let mut times: Vec<Duration> = queries
        .iter()
        .map(|words| {
            let start = Instant::now();
            assert!(!index.search(&ana(), &SearchQuery::new(words, 20)).unwrap().hits.is_empty(), "{words}");
            start.elapsed()
        })
        .collect();
    times.sort();
    times
}

fn row(name: &str, queries: &[String], ours: &dyn Index, theirs: &dyn Index) -> String {
    let shown = |times: &[Duration], share: usize| times[times.len() * share / 100].as_secs_f64() * 1_000.0;
    let (ours, theirs) = (time(ours, queries), time(theirs, queries));
    let figures = [(50, "p50"), (99, "p99")].map(|(share, label)| {
        let (ours, theirs) = (shown(&ours, share), shown(&theirs, share));
        format!("{label}: tantivy {ours:.2} ms, FTS5 {theirs:.2} ms, ratio {:.2}", ours / theirs)
    });
    format!("{name:<28} {}", figures.join("; "))
}

fn bytes_per_record(folder: &Path) -> u64 {
    files(folder).iter().map(|path| std::fs::metadata(path).unwrap().len()).sum::<u64>() / RECORDS
}

#[test]
#[ignore = "minutes; cargo test --release -p weir-team --test it nightly -- --ignored --nocapture"]
fn nightly_searches_of_a_hundred_thousand_records_next_to_fts5() {
    let folder = tempfile::tempdir().unwrap();
    let (ours_in, theirs_in) = (folder.path().join("tantivy"), folder.path().join("sqlite"));
    let ours = TantivyIndex::open(&ours_in).unwrap();
    let theirs = SqliteIndex::open(&theirs_in).unwrap();
    let host = HostId::random().unwrap();
    let (took, sqlite_took) = (fill(&ours, host), fill(&theirs, host));
    let rate = |time: Duration| RECORDS as f64 / time.as_secs_f64();
    println!("indexing: tantivy {:.0} records/s, FTS5 {:.0} records/s", rate(took), rate(sqlite_took));
    println!("size: tantivy {} B/record, FTS5 {} B/record", bytes_per_record(&ours_in), bytes_per_record(&theirs_in));
    println!("{:?}", ours.figures());

    let mut random = Random(11);
    let mut queries =
        |make: &dyn Fn(&mut Random) -> String| -> Vec<String> { (0..QUERIES).map(|_| make(&mut random)).collect() };
    let sets = [
        ("any of 4, one very common", queries(&|random| format!("{} {}", word(1), random.words(3)))),
        ("any of 4", queries(&|random| random.words(4))),
        ("one word", queries(&|random| random.word())),
        ("an identifier", queries(&|random| format!("ident{}x", random.draw() % RECORDS))),
    ];
    for (name, queries) in sets {
        println!("{}", row(name, &queries, &ours, &theirs));
    }
}

/// Returns a record of a few words.
fn short(host: HostId, number: u64) -> IndexChange {
    IndexChange::Put(Box::new(IndexedRecord {
        id: RecordId { host, index: number },
        kind: EntryKind::Note,
        audience: Audience::Team,
        author: UserId("ana".into()),
        source: None,
        at: Timestamp(NOW.0 + number as i64),
        title: "a note".into(),
        text: word(number % 1_000),
    }))
}

/// Indexes one record of each of these projects, as many at once as fill the commits of each bucket like those of one
/// index. Tenants have ten projects each.
fn fill_projects(index: &dyn Index, host: HostId, projects: std::ops::Range<u64>) {
    let tenant = |number: &u64| format!("tenant {}", number % 10_000);
    for group in projects.collect::<Vec<u64>>().chunks(10_000) {
        let scopes: Vec<_> = group.iter().map(|number| scope(&tenant(number), "ana", &number.to_string())).collect();
        let changes: Vec<_> = group.iter().map(|number| [short(host, *number)]).collect();
        let step = Step { from: Position(0), to: Position(1) };
        let works = scopes.iter().zip(&changes).map(|(scope, changes)| ProjectChanges { scope, changes, step });
        assert!(index.apply_all(&works.collect::<Vec<_>>()).into_iter().all(|applied| applied.unwrap()));
    }
}

/// Returns the processor time of this process so far, in milliseconds.
fn processor_time() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap().split(' ').collect();
    // Of the process and of the system for it, in hundredths of a second.
    [11, 12].map(|at: usize| fields[at].parse::<f64>().unwrap() * 10.0).iter().sum()
}

/// Returns how long each of 150 commits takes, sorted, and the processor time of each in milliseconds. One record of one
/// project is in each commit, as when a single note is written; the projects take turns.
fn commit_one_by_one(index: &dyn Index, host: HostId, places: &[Scope]) -> (Vec<Duration>, f64) {
    const COMMITS: usize = 150;
    let before = processor_time();
    let commits = places.iter().cycle().take(COMMITS).enumerate().map(|(number, place)| {
        let start = Instant::now();
        let from = index.position(place).unwrap();
        let changes = [short(host, (1 << 40) + number as u64)];
        assert!(index.apply(place, &changes, Step { from, to: Position(from.0 + 1) }).unwrap());
        start.elapsed()
    });
    let mut times: Vec<Duration> = commits.collect();
    times.sort();
    (times, (processor_time() - before) / COMMITS as f64)
}

/// Prints what commits cost among more and more projects.
#[expect(clippy::print_stdout, reason = "the figures are for the person who runs it")]
fn measure_commits(name: &str, index: &dyn Index, folder: &Path) {
    let host = HostId::random().unwrap();
    let busy = [scope("tenant 3", "ana", "busy")];
    let scattered: Vec<_> = (0..150).map(|number| scope(&format!("tenant {number}"), "ana", "scattered")).collect();
    let mut filled = 0;
    for projects in [100, 10_000, 100_000] {
        let (start, before) = (Instant::now(), processor_time());
        fill_projects(index, host, filled..projects);
        let count = (projects - filled) as f64;
        let (rate, work) = (count / start.elapsed().as_secs_f64(), (processor_time() - before) / count);
        println!("{name}, {projects} projects: filled with {rate:.0} projects/s, {work:.2} ms of processor time each");
        for (what, places) in [("to one project", &busy[..]), ("to 150 tenants", &scattered)] {
            let (times, work) = commit_one_by_one(index, host, places);
            let shown = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1_000.0;
            let (p50, p99, most) = (shown(50), shown(99), shown(100));
            println!(
                "  commits {what}: p50 {p50:.1} ms, p99 {p99:.1} ms, most {most:.1} ms, processor time {work:.1} ms"
            );
        }
        let largest = |name: &str| -> u64 {
            let named = files(folder).into_iter().filter(|path| path.ends_with(name));
            named.map(|path| std::fs::metadata(path).unwrap().len()).max().unwrap_or_default()
        };
        println!("  largest meta.json {} B, progress.db {} B", largest("meta.json"), largest("progress.db"));
        filled = projects;
    }
}

#[test]
#[ignore = "minutes; cargo nextest run -E 'test(nightly_a_commit_costs)' --run-ignored only --no-capture"]
fn nightly_a_commit_costs_what_it_changes() {
    let folder = tempfile::tempdir().unwrap();
    let buckets = BucketedIndex::open(folder.path(), BucketOptions::default()).unwrap();
    measure_commits("64 buckets", &buckets, folder.path());
}

#[test]
#[ignore = "minutes; cargo nextest run -E 'test(nightly_a_commit_costs)' --run-ignored only --no-capture"]
fn nightly_a_commit_costs_more_in_one_index() {
    let folder = tempfile::tempdir().unwrap();
    measure_commits("one index", &TantivyIndex::open(folder.path()).unwrap(), folder.path());
}

/// Returns the memory of this process in KiB, its threads, its file handles and its mapped files of a folder.
fn held(folder: &Path) -> [u64; 4] {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let number = |name: &str| -> u64 {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    let handles = std::fs::read_dir("/proc/self/fd").unwrap().count() as u64;
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let mapped = maps.lines().filter(|line| line.contains(folder.to_str().unwrap())).count();
    [number("VmRSS:"), number("Threads:"), handles, mapped as u64]
}

#[test]
#[ignore = "minutes; cargo nextest run -E 'test(nightly_an_open_bucket_costs)' --run-ignored only --no-capture"]
fn nightly_an_open_bucket_costs() {
    let (folder, host) = (tempfile::tempdir().unwrap(), HostId::random().unwrap());
    let open = |max_open| BucketedIndex::open(folder.path(), BucketOptions { max_open, ..BucketOptions::default() });
    fill_projects(&open(64).unwrap(), host, 0..10_000);
    let places: Vec<_> =
        (0..300).map(|number| scope(&format!("tenant {number}"), "ana", &number.to_string())).collect();
    for max_open in [1, 8, 64] {
        let index = open(max_open).unwrap();
        let (start, before) = (Instant::now(), processor_time());
        let query = SearchQuery::new(word(1), 20);
        places.iter().for_each(|place| drop(index.search(place, &query).unwrap()));
        let (took, work) = (start.elapsed().as_secs_f64(), processor_time() - before);
        let [memory, threads, handles, mapped] = held(folder.path());
        println!(
            "{} of at most {max_open} open: {memory} KiB, {threads} threads, {handles} handles, {mapped} mapped files; 300 \
             searches of as many tenants took {took:.2} s and {work:.0} ms of processor time",
            index.open_buckets()
        );
    }
}
