//! Measures the index next to SQLite's FTS5 on synthetic records, in one run.

use std::path::Path;
use std::time::{Duration, Instant};

use weir_core::{EntryKind, Timestamp, UserId};
use weir_records::sqlite::SqliteIndex;
use weir_records::{
    Audience, HostId, Index, IndexChange, IndexedRecord, Position, ProjectChanges, RecordId, SearchQuery, Step,
};
use weir_team::TantivyIndex;

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

/// Indexes one record of each of these projects, 256 projects in a commit.
fn fill_projects(index: &dyn Index, host: HostId, projects: std::ops::Range<u64>) {
    for group in projects.collect::<Vec<u64>>().chunks(256) {
        let scopes: Vec<_> = group.iter().map(|number| scope("acme", "ana", &number.to_string())).collect();
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

#[test]
#[ignore = "minutes; cargo nextest run -E 'test(nightly_a_commit_costs)' --run-ignored only --no-capture"]
fn nightly_a_commit_costs_what_it_changes() {
    const COMMITS: u64 = 300;
    let (folder, host) = (tempfile::tempdir().unwrap(), HostId::random().unwrap());
    let index = TantivyIndex::open(folder.path()).unwrap();
    let (place, mut filled) = (scope("acme", "ana", "busy"), 0);
    for projects in [100, 10_000, 100_000] {
        let start = Instant::now();
        fill_projects(&index, host, filled..projects);
        let rate = (projects - filled) as f64 / start.elapsed().as_secs_f64();
        let before = processor_time();
        // One record of one project in each commit, as when a single note is written.
        let mut times: Vec<Duration> = (0..COMMITS)
            .map(|_| {
                let from = index.position(&place).unwrap();
                let (changes, start) = ([short(host, (1 << 40) + from.0)], Instant::now());
                assert!(index.apply(&place, &changes, Step { from, to: Position(from.0 + 1) }).unwrap());
                start.elapsed()
            })
            .collect();
        let work = (processor_time() - before) / COMMITS as f64;
        times.sort();
        let shown = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1_000.0;
        let sizes = ["meta.json", "progress.db"].map(|name| std::fs::metadata(folder.path().join(name)).unwrap().len());
        println!(
            "{projects} projects: commit p50 {:.1} ms, p99 {:.1} ms, most {:.1} ms, processor time {work:.1} ms; {} B of \
             meta.json, {} B of progress.db; filled with {rate:.0} projects/s, 256 in a commit",
            shown(50),
            shown(99),
            shown(100),
            sizes[0],
            sizes[1]
        );
        filled = projects;
    }
}
