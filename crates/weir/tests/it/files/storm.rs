//! An edit storm: many processes change and read the same files while another one writes them directly.
//!
//! Every change leaves its own mark in the file. At the end, the mark of each acknowledged change must be there, unless
//! the direct writer overwrote it: that writer takes no lock, and records what it displaced.

use std::collections::BTreeSet;
use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rustix::fs::{Mode, OFlags, RenameFlags};
use serde_json::json;

use super::texts::fenced;
use crate::support::{Home, Server};

const PROCESSES: usize = 8;
const FILES: [&str; 3] = ["a.rs", "b.rs", "c.rs"];
/// A change that is refused this many times is never made.
const MAX_TRIES: usize = 2_000;

#[derive(Default)]
struct Tally {
    acknowledged: Mutex<BTreeSet<String>>,
    /// Marks that the direct writer displaced with a file it had read before.
    displaced: Mutex<BTreeSet<String>>,
    direct: Mutex<BTreeSet<String>>,
    conflicts: AtomicUsize,
    read: AtomicUsize,
    over: AtomicBool,
}

#[test]
fn no_edit_is_lost_and_no_torn_file_is_seen() {
    storm(6);
}

#[test]
#[ignore = "takes minutes; run by hand"]
fn nightly_no_edit_is_lost_in_a_long_storm() {
    storm(200);
}

#[expect(clippy::print_stdout, reason = "the figures are wanted where the test is run by hand")]
fn storm(rounds: usize) {
    let home = Home::new();
    FILES.iter().for_each(|file| home.write(file, begin()));
    let tally = Tally::default();
    std::thread::scope(|scope| {
        let direct = scope.spawn(|| write_directly(&home.project(), (rounds * 8, &tally)));
        let reader = scope.spawn(|| read_directly(&home, &tally));
        let editors: Vec<_> = (0..PROCESSES)
            .map(|number| {
                let (home, tally) = (&home, &tally);
                scope.spawn(move || edit(&mut home.session(&format!("p{number}")), (number, rounds), tally))
            })
            .collect();
        let ended: Vec<_> = editors.into_iter().map(std::thread::ScopedJoinHandle::join).collect();
        tally.over.store(true, Ordering::Relaxed);
        direct.join().unwrap();
        reader.join().unwrap();
        ended.into_iter().for_each(|ended| ended.unwrap());
    });
    let all: Vec<String> = FILES.iter().flat_map(|file| marks(&home.read(file))).collect();
    let there: BTreeSet<String> = all.iter().cloned().collect();
    assert_eq!(all.len(), there.len(), "a change was made twice");
    let (acknowledged, displaced) = (tally.acknowledged.into_inner().unwrap(), tally.displaced.into_inner().unwrap());
    let direct = tally.direct.into_inner().unwrap();
    let lost: Vec<&String> = acknowledged.iter().chain(&direct).filter(|mark| !there.contains(*mark)).collect();
    let unexplained: Vec<_> = lost.iter().filter(|mark| !displaced.contains(**mark)).collect();
    assert!(unexplained.is_empty(), "lost: {unexplained:?}");
    assert_eq!(acknowledged.len(), PROCESSES * rounds);
    let conflicts = tally.conflicts.into_inner();
    assert!(conflicts > 0 && !direct.is_empty(), "that was no storm");
    let left: Vec<_> = std::fs::read_dir(home.project()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), FILES.len(), "{left:?}");
    println!(
        "{} edits acknowledged and {} direct writes: {} lost by the direct writer's own hand, {} by ours; \
         {conflicts} conflicts reported, {} whole files read",
        acknowledged.len(),
        direct.len(),
        lost.len(),
        unexplained.len(),
        tally.read.into_inner(),
    );
}

/// Returns a file with a place for the marks of each writer.
fn begin() -> String {
    let places = (0..PROCESSES).map(|number| format!("// p{number} end\n")).collect::<String>();
    let filler = (0..200).map(|n| format!("const FILLER_{n}: u64 = {n};\n")).collect::<String>();
    format!("// head\n{places}// direct end\n{filler}// tail\n")
}

fn marks(text: &str) -> Vec<String> {
    text.lines().filter(|line| line.starts_with("// mark ")).map(str::to_owned).collect()
}

/// Checks that a file is complete: it has everything it began with.
fn assert_whole(text: &str) {
    let rest: String =
        text.lines().filter(|line| !line.starts_with("// mark ")).map(|line| format!("{line}\n")).collect();
    assert_eq!(rest, begin(), "a torn file");
}

fn edit(server: &mut Server, (number, rounds): (usize, usize), tally: &Tally) {
    for round in 0..rounds {
        let file = FILES[(number + round) % FILES.len()];
        let (place, mark) = (format!("// p{number} end"), format!("// mark p{number} {round} in {file}"));
        let change = json!({ "path": file, "old": place, "new": format!("{mark}\n{place}") });
        let done = (0..MAX_TRIES).any(|_| {
            let read = server.read(file);
            // A file that has grown too large is shown as an outline.
            if !read.contains("is unchanged since") && !read.contains("so this is an outline") {
                assert_whole(fenced(&read));
                tally.read.fetch_add(1, Ordering::Relaxed);
            }
            match server.attempt("context_edit", &change) {
                Ok(_) => true,
                Err(error) => {
                    assert!(error.contains("has changed since you read it; nothing was written"), "{error}");
                    tally.conflicts.fetch_add(1, Ordering::Relaxed);
                    false
                }
            }
        });
        assert!(done, "{mark} was refused {MAX_TRIES} times");
        tally.acknowledged.lock().unwrap().insert(mark);
    }
}

/// Acts as a program that does not know Weir: reads a file, writes another version next to it, and renames that.
fn write_directly(project: &Path, (most, tally): (usize, &Tally)) {
    let folder: OwnedFd = rustix::fs::open(project, OFlags::DIRECTORY | OFlags::RDONLY, Mode::empty()).unwrap();
    let fresh = project.join("../direct.tmp");
    for turn in 0..most {
        if tally.over.load(Ordering::Relaxed) {
            return;
        }
        let file = FILES[turn % FILES.len()];
        let read = std::fs::read_to_string(project.join(file)).unwrap();
        assert_whole(&read);
        let mark = format!("// mark direct {turn} in {file}");
        std::fs::write(&fresh, read.replace("// direct end", &format!("{mark}\n// direct end"))).unwrap();
        // An exchange is a rename that shows what it displaced.
        rustix::fs::renameat_with(rustix::fs::CWD, &fresh, &folder, file, RenameFlags::EXCHANGE).unwrap();
        tally.direct.lock().unwrap().insert(mark);
        let known: BTreeSet<String> = marks(&read).into_iter().collect();
        let displaced = marks(&std::fs::read_to_string(&fresh).unwrap());
        let mut lost = tally.displaced.lock().unwrap();
        lost.extend(displaced.into_iter().filter(|mark| !known.contains(mark)));
        drop(lost);
        std::thread::sleep(std::time::Duration::from_millis(7));
    }
}

fn read_directly(home: &Home, tally: &Tally) {
    let mut turn = 0;
    while !tally.over.load(Ordering::Relaxed) {
        turn += 1;
        let path = home.project().join(FILES[turn % FILES.len()]);
        // Through one handle, so that it is the same file from beginning to end.
        let text = std::io::read_to_string(File::open(path).unwrap()).unwrap();
        assert_whole(&text);
        tally.read.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}
