//! Tests texts that are written piece by piece: they come back unchanged, take bounded memory, and leave nothing behind
//! if they are not kept.

use std::io::{BufRead as _, BufReader};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, SystemTime};

use weir_core::redact::redact;
use weir_core::{EntryKind, Limits, NewEntry, Query, Reference};
use weir_store::{Kept, Line, Store, StoreError, TextWriter};

use crate::dump;
use crate::process::{self, ChildGuard};
use crate::support::{
    Dice, NOW, assert_healthy, at, entry, forget, get, here, keep, new_store, noise, noisy_word, note, open, open_with,
    run, search, state, text, these,
};

const MIB: usize = 1 << 20;

/// Returns a writer with a text that was written in pieces of random length.
fn written(store: &Store, text: &[u8], dice: &mut Dice) -> TextWriter {
    let mut writer = store.writer().unwrap();
    let mut rest = text;
    while !rest.is_empty() {
        let length = [1, 7, 4_096, 65_536, 300_000][dice.roll(5) as usize].min(rest.len());
        writer.write(&rest[..length]).unwrap();
        rest = &rest[length..];
    }
    assert_eq!(writer.bytes(), text.len() as u64);
    writer
}

fn keep_written(store: &mut Store, writer: TextWriter) -> Kept {
    store.keep_written(&here(), run(""), writer, NOW).unwrap()
}

fn log_lines(seed: u64, length: usize) -> Vec<u8> {
    let mut dice = Dice::new(seed);
    let mut text = Vec::with_capacity(length + 200);
    while text.len() < length {
        match dice.roll(60) {
            0 => text.extend(format!("password=\"hunter{}\"\n", dice.roll(100)).bytes()),
            1 => text.extend(noise(dice.roll(1_000), 200)),
            2 => text.extend(format!("<private>{}</private>\n", dice.roll(1 << 60)).bytes()),
            _ => text.extend(format!("line {} of some log\n", dice.roll(1 << 40)).bytes()),
        }
    }
    text.truncate(length);
    text
}

fn part_files(folder: &Path) -> Vec<PathBuf> {
    dump::files(folder).into_iter().filter(|file| file.extension().is_some_and(|end| end == "part")).collect()
}

#[test]
fn what_was_written_in_pieces_comes_back_by_any_range() {
    let (folder, mut store) = new_store();
    let mut dice = Dice::new(1);
    for length in [0, 1, 199, 5_000, 70_000, MIB - 1, MIB, MIB + 1, 2 * MIB, 3 * MIB + 17] {
        let given = log_lines(length as u64, length);
        let writer = written(&store, &given, &mut dice);
        let kept = keep_written(&mut store, writer);
        let whole = redact(&given);
        assert_eq!(kept.redactions.iter().map(|(_, count)| count).sum::<u64>(), whole.found.len() as u64);
        assert_eq!(get(&mut store, kept.reference).redactions as usize, whole.found.len());
        let reader = store.text(&here(), kept.reference).unwrap().unwrap();
        assert!(reader.all().unwrap() == *whole.text, "{length} bytes came back changed");
        for _ in 0..40 {
            let (a, b) = (dice.roll(reader.bytes() + 9), dice.roll(reader.bytes() + 9));
            let expected = whole.text.get(a.min(b) as usize..(a.max(b) as usize).min(whole.text.len()));
            assert!(reader.range(a.min(b)..a.max(b)).unwrap() == expected.unwrap_or_default(), "{a} {b} of {length}");
        }
    }
    assert!(part_files(folder.path()).is_empty());
    assert_healthy(&mut store);
}

#[test]
fn a_text_kept_whole_and_one_written_in_pieces_are_one_blob() {
    let (_folder, mut store) = new_store();
    for length in [10, 30_000, 300_000, 2 * MIB + 5] {
        let given = log_lines(9, length);
        keep(&mut store, run(&given));
        let stored = store.check().unwrap().stored_bytes;
        let writer = written(&store, &given, &mut Dice::new(2));
        let kept = keep_written(&mut store, writer);
        assert_eq!(store.check().unwrap().stored_bytes, stored, "{length} bytes are stored twice");
        assert!(text(&store, kept.reference) == *redact(&given).text);
    }
}

#[test]
fn a_small_text_makes_no_file() {
    let (folder, mut store) = new_store();
    for given in [Vec::new(), noise(1, 9_000), b"a line of a log\n".repeat(20_000), vec![b' '; 20 * MIB]] {
        let before = dump::files(folder.path());
        let writer = written(&store, &given, &mut Dice::new(3));
        assert_eq!(dump::files(folder.path()), before, "{} bytes", given.len());
        keep_written(&mut store, writer);
        assert!(!folder.path().join("blobs").exists(), "{} bytes", given.len());
    }
}

#[test]
fn a_writer_that_is_dropped_or_refused_leaves_nothing() {
    let (folder, mut store) = new_store();
    keep(&mut store, run("so that all files are there"));
    let before = dump::files(folder.path());
    let large = noise(1, 3 * MIB);
    let writer = written(&store, &large, &mut Dice::new(4));
    assert_eq!(part_files(folder.path()).len(), 1);
    drop(writer);
    assert_eq!(dump::files(folder.path()), before);
    let writer = written(&store, &large, &mut Dice::new(4));
    let elsewhere = weir_core::Scope::project(weir_core::ProjectKey("q".into()));
    assert!(matches!(store.keep_written(&elsewhere, run(""), writer, NOW), Err(StoreError::OtherProject)));
    assert_eq!(dump::files(folder.path()), before);
}

#[test]
fn a_reference_drawn_earlier_is_kept_and_never_used_twice() {
    let (folder, mut store) = new_store();
    let drawn = store.draw_reference().unwrap();
    assert_eq!(state(&mut store, drawn), "never");
    let under = |reference: Reference| NewEntry { reference: Some(reference), ..run("") };
    let writer = written(&store, b"first", &mut Dice::new(5));
    assert_eq!(store.keep_written(&here(), under(drawn), writer, NOW).unwrap().reference, drawn);
    assert_eq!(text(&store, drawn), b"first");
    let refused = |store: &mut Store| {
        let writer = written(store, &noise(7, 50_000), &mut Dice::new(5));
        store.keep_written(&here(), under(drawn), writer, NOW).err()
    };
    let before = store.check().unwrap();
    let error = refused(&mut store);
    assert!(matches!(error, Some(StoreError::ReferenceTaken { reference }) if reference == drawn), "{error:?}");
    forget(&mut store, &these(&[drawn]));
    assert!(matches!(refused(&mut store), Some(StoreError::ReferenceTaken { .. })));
    assert_eq!((before.entries, store.check().unwrap().entries), (1, 0));
    assert_eq!(store.check().unwrap().stored_bytes, 0);
    assert!(part_files(folder.path()).is_empty());
}

#[test]
fn the_output_of_a_run_is_indexed_by_the_next_search() {
    let (folder, mut store) = new_store();
    let writer = written(&store, b"zqxjwv at last", &mut Dice::new(6));
    let kept = keep_written(&mut store, writer);
    assert!(kept.unfinished.is_none() && !folder.path().join("index.db").exists());
    assert_eq!(search(&mut store, "zqxjwv")[0].entry.reference, kept.reference);
    let writer = written(&store, b"a page of zqxjwv", &mut Dice::new(6));
    store.keep_written(&here(), entry(EntryKind::Page, ""), writer, NOW).unwrap();
    let index = dump::look_at(&folder.path().join("index.db"));
    assert_eq!(dump::number(&index, "SELECT count(*) FROM documents"), 2, "all else is indexed at once");
}

#[test]
fn a_note_written_in_pieces_pins_what_it_cites() {
    let (_folder, mut store) = new_store();
    let cited = keep(&mut store, run("output")).reference;
    for length in [0, 60_000] {
        let given = format!("see {cited}\n{}", "x".repeat(length));
        let writer = written(&store, given.as_bytes(), &mut Dice::new(7));
        let kept = store.keep_written(&here(), note(""), writer, NOW).unwrap();
        assert_eq!(kept.pinned, [cited]);
        assert_eq!(text(&store, kept.reference), given.as_bytes());
    }
}

#[test]
fn a_text_in_the_entry_follows_what_was_written() {
    let (_folder, mut store) = new_store();
    let writer = written(&store, b"first, ", &mut Dice::new(8));
    let kept = store.keep_written(&here(), run("then"), writer, NOW).unwrap();
    assert_eq!(text(&store, kept.reference), b"first, then");
}

#[test]
fn the_quota_counts_written_texts_and_evicts_the_oldest() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open_with(folder.path(), Limits { quota_bytes: 5 * MIB as u64, ..Limits::default() });
    let kept: Vec<Reference> = (0..4)
        .map(|n| {
            let writer = written(&store, &noise(n, 2 * MIB), &mut Dice::new(n));
            store.keep_written(&here(), run(""), writer, at(n as i64)).unwrap().reference
        })
        .collect();
    let states: Vec<_> = kept.iter().map(|reference| state(&mut store, *reference)).collect();
    assert_eq!(states, ["evicted", "evicted", "here", "here"]);
    let health = store.check().unwrap();
    assert!(health.stored_bytes <= health.quota_bytes);
    let files = dump::files(&folder.path().join("blobs"));
    assert_eq!(files.len(), 2, "{files:?}");
}

#[test]
fn two_writers_of_one_text_share_it() {
    let (folder, mut store) = new_store();
    let mut other = open(folder.path());
    let given = noise(3, 2 * MIB);
    let (mut one, mut two) = (store.writer().unwrap(), other.writer().unwrap());
    for piece in given.chunks(100_000) {
        one.write(piece).unwrap();
        two.write(piece).unwrap();
    }
    assert_eq!(part_files(folder.path()).len(), 2);
    let threads = [(one, &mut store), (two, &mut other)];
    let kept: Vec<Reference> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            threads.into_iter().map(|(writer, store)| scope.spawn(|| keep_written(store, writer).reference)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(kept.iter().all(|reference| text(&store, *reference) == given));
    assert_eq!(dump::files(&folder.path().join("blobs")).len(), 1);
    assert_eq!(store.check().unwrap().stored_bytes, other.check().unwrap().stored_bytes);
}

#[test]
fn lines_are_visited_in_bounded_memory_and_counted() {
    let (_folder, mut store) = new_store();
    let mut given: Vec<u8> = (0..100_000).flat_map(|n| format!("line number {n}\n").into_bytes()).collect();
    given.extend(vec![b'x'; 3 * MIB]);
    given.extend(b"\n\nthe last");
    let writer = written(&store, &given, &mut Dice::new(12));
    let kept = keep_written(&mut store, writer).reference;
    let reader = store.text(&here(), kept).unwrap().unwrap();
    let expected: Vec<&[u8]> = given.split(|&byte| byte == b'\n').collect();
    for first in [1, 2, 61_680, 61_681, 99_999, 100_000, 100_001, 100_003, 100_004] {
        let mut number = first;
        reader
            .each_line(first, |line: Line<'_>| {
                let whole = expected[number as usize - 1];
                assert_eq!((line.number, line.text.len() as u64 + line.left_out), (number, whole.len() as u64));
                assert!(whole.starts_with(line.text) && line.text.len() <= MIB);
                number += 1;
                ControlFlow::Continue(())
            })
            .unwrap();
        assert_eq!(number, (expected.len() as u64 + 1).max(first), "from {first}");
    }
    for position in [0, 1, MIB - 1, MIB, 2 * MIB + 3, given.len()] {
        let count = given[..position].iter().filter(|&&byte| byte == b'\n').count() as u64;
        assert_eq!(reader.line_ends_before(position as u64).unwrap(), count, "before {position}");
    }
}

#[test]
fn the_ends_of_a_large_text_are_indexed_with_their_lines() {
    let (_folder, mut store) = new_store();
    let blank = format!("{}\n", " ".repeat(499));
    let blanks = |mib: usize| blank.repeat(mib * MIB / blank.len());
    let given = format!("headword\n{}middleword\n{}tailword\nend", blanks(6), blanks(6));
    let writer = written(&store, given.as_bytes(), &mut Dice::new(13));
    let kept = keep_written(&mut store, writer).reference;
    assert!(search(&mut store, "middleword").is_empty());
    for word in ["headword", "tailword"] {
        let hits = search(&mut store, word);
        let at = given.find(word).unwrap();
        let line = given[..at].matches('\n').count() as u64 + 1;
        assert_eq!((hits.len(), hits[0].entry.reference), (1, kept), "{word}");
        let before = hits[0].excerpt.find(word).map(|at| hits[0].excerpt[..at].matches('\n').count() as u64);
        assert_eq!(hits[0].line + before.unwrap(), line, "{word}");
    }
    let entry = get(&mut store, kept);
    assert!(!entry.is_indexed_whole());
    assert_eq!(entry.indexed(), [0..4 << 20, entry.bytes - (4 << 20)..entry.bytes]);
}

#[test]
fn colours_do_not_break_words_and_binary_is_not_searched() {
    let (_folder, mut store) = new_store();
    let coloured = keep(&mut store, run("\x1b[1;31mERR\x1b[0mOR in col\x1b[3mour\n50%\r\x1b]0;t\x07done")).reference;
    let hits = search(&mut store, "colour");
    assert_eq!((hits.len(), hits[0].entry.reference), (1, coloured));
    assert_eq!(hits[0].excerpt, "ERROR in colour\ndone");
    let binary = [b"\x7fELF\x02\x01\x01\x00 hiddenword".to_vec(), noise(1, 9_000)].concat();
    let entry = NewEntry { title: "a program titled zqxjwv".into(), ..run(binary) };
    let kept = keep(&mut store, entry).reference;
    assert!(search(&mut store, "hiddenword").is_empty());
    assert_eq!(search(&mut store, "zqxjwv")[0].entry.reference, kept);
    assert!(store.text(&here(), kept).unwrap().unwrap().is_binary().unwrap());
}

// The tests below need another process: one that is killed, and one whose memory is measured.

#[test]
fn child() {
    let Some(task) = process::task() else { return };
    let folder = PathBuf::from(&task[1]);
    match task[0].as_str() {
        "write" => write_until_killed(&folder),
        "measure" => measure(&folder),
        "full" => fill_the_disk(&folder),
        other => panic!("no such task: {other}"),
    }
}

fn write_until_killed(folder: &Path) {
    let store = open(folder);
    let mut writer = store.writer().unwrap();
    for n in 0.. {
        writer.write(&noise(n, 100_000)).unwrap();
        if n == 30 {
            println!("ack writing");
        }
    }
}

#[test]
fn what_a_killed_writer_left_goes_with_the_next_writer() {
    let (folder, mut store) = new_store();
    let folder_name = folder.path().to_str().unwrap();
    let mut command = process::child("written::child", &["write", folder_name]);
    let mut child = ChildGuard(command.stdout(Stdio::piped()).spawn().unwrap());
    let mut lines = BufReader::new(child.0.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.by_ref().any(|line| line.contains("ack writing")), "the child did not begin");
    let parts = part_files(folder.path());
    assert_eq!(parts.len(), 1);
    // However old it looks, another process is using it.
    let old = SystemTime::now() - Duration::from_secs(100 * 3600);
    std::fs::File::options().append(true).open(&parts[0]).unwrap().set_modified(old).unwrap();
    drop(store.writer().unwrap());
    assert_eq!(store.sweep(NOW).unwrap().orphans, 0);
    assert_eq!(part_files(folder.path()), parts);
    child.kill();
    drop(lines);
    assert_eq!(part_files(folder.path()), parts);
    let writer = store.writer().unwrap();
    assert!(part_files(folder.path()).is_empty());
    keep_written(&mut store, writer);
    assert_healthy(&mut store);
}

#[test]
fn a_large_text_takes_bounded_memory() {
    let folder = tempfile::tempdir().unwrap();
    let task = ["measure", folder.path().to_str().unwrap()];
    process::succeed(&mut process::child("written::child", &task));
}

/// In the child: writes, keeps, indexes and reads 256 MiB, and checks its peak memory.
fn measure(folder: &Path) {
    const MAX_KIB: u64 = 30 << 10;
    let mut store = open(folder);
    let mut writer = store.writer().unwrap();
    let line = |n: u64| match n % 50 {
        0 => format!("{n} password=hunter{n}\n").into_bytes(),
        _ => format!("{n} {} of some log\n", noisy_word(n, 40)).into_bytes(),
    };
    let block: Vec<u8> = (0..800).flat_map(line).collect();
    while writer.bytes() < 256 << 20 {
        writer.write(&block).unwrap();
    }
    let written = peak();
    let kept = keep_written(&mut store, writer).reference;
    assert!(!store.search(&here(), &Query::new("log", 3)).unwrap().hits.is_empty());
    let indexed = peak();
    let reader = store.text(&here(), kept).unwrap().unwrap();
    let mut bytes = 0;
    let count = |line: Line<'_>| {
        bytes += line.text.len() as u64 + 1;
        ControlFlow::Continue(())
    };
    reader.each_line(1, count).unwrap();
    let read = peak();
    println!("{bytes} bytes: {written} KiB written, {indexed} KiB indexed, {read} KiB read");
    assert!(read < MAX_KIB, "{read} KiB");
}

/// Returns the peak memory of this process, in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[cfg(unix)]
#[test]
fn a_full_disk_is_told_to_the_writer_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    crate::faults::in_namespace("mount -t tmpfs -o size=6m none \"$1\"", folder.path(), ("written::child", "full"));
}

fn fill_the_disk(disk: &Path) {
    let folder = disk.join("store");
    let mut store = open(&folder);
    let mut writer = store.writer().unwrap();
    let refused = (0..100).find_map(|n| writer.write(&noise(n, 200_000)).err());
    assert!(matches!(refused, Some(StoreError::Full { .. })), "{refused:?}");
    assert!(writer.write(b"more").is_err());
    assert!(store.keep_written(&here(), run(""), writer, NOW).is_err());
    assert!(part_files(&folder).is_empty());
    let kept = keep(&mut store, note("there is room")).reference;
    assert_eq!(text(&store, kept), b"there is room");
    assert_healthy(&mut store);
}
