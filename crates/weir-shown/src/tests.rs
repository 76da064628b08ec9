//! Tests of shown lines: which are found again, which are not, and what happens to a damaged file.

use std::fmt::Write as _;
use std::ops::Range;

use super::*;

const SESSION: &str = "a session";
const MIN_LINES: usize = 6;

fn numbered(range: Range<usize>) -> String {
    range.fold(String::new(), |mut text, n| {
        let _ = writeln!(text, "let value_{n} = compute({n});");
        text
    })
}

fn repeats(shown: &ShownLines, text: &str) -> Vec<(Range<usize>, String)> {
    shown.repeats(&shown.hash(text), MIN_LINES).into_iter().map(|found| (found.lines, found.label)).collect()
}

#[test]
fn lines_are_found_again_by_another_process() {
    let folder = tempfile::tempdir().unwrap();
    let mut shown = ShownLines::open(folder.path(), SESSION).unwrap();
    assert_eq!(repeats(&shown, &numbered(0..50)), []);
    shown.add("the first read", &shown.hash(&numbered(0..50))).unwrap();
    let shown = ShownLines::open(folder.path(), SESSION).unwrap();
    let text = format!("new\n{}changed\n{}", numbered(10..30), numbered(30..40));
    assert_eq!(repeats(&shown, &text), [(1..21, "the first read".to_owned()), (22..32, "the first read".to_owned())]);
    let other = ShownLines::open(folder.path(), "another session").unwrap();
    assert_eq!(repeats(&other, &text), []);
}

#[test]
fn short_runs_and_other_orders_are_not_repeats() {
    let folder = tempfile::tempdir().unwrap();
    let mut shown = ShownLines::open(folder.path(), SESSION).unwrap();
    shown.add("a read", &shown.hash(&numbered(0..50))).unwrap();
    assert_eq!(repeats(&shown, &numbered(10..15)), []);
    let backwards: String = numbered(0..50).lines().rev().map(|line| format!("{line}\n")).collect();
    assert_eq!(repeats(&shown, &backwards), []);
    assert_eq!(repeats(&shown, "\n\n\n\n\n\n\n\n\n\n"), []);
}

#[test]
fn numbers_before_lines_do_not_matter() {
    let folder = tempfile::tempdir().unwrap();
    let mut shown = ShownLines::open(folder.path(), SESSION).unwrap();
    shown.add("a read", &shown.hash(&numbered(0..20))).unwrap();
    let number =
        |text: &str| text.lines().enumerate().map(|(n, line)| format!("{:6}\t{line}\n", n + 7)).collect::<String>();
    assert_eq!(repeats(&shown, &number(&numbered(5..20))), [(0..15, "a read".to_owned())]);
}

#[test]
fn sizes_and_counts_before_lines_matter() {
    let folder = tempfile::tempdir().unwrap();
    let mut shown = ShownLines::open(folder.path(), SESSION).unwrap();
    let sizes = |factor: usize| (0..20).map(|n| format!("{}\t./folder_{n}\n", n * factor)).collect::<String>();
    shown.add("the output of `du`", &shown.hash(&sizes(4))).unwrap();
    assert_eq!(repeats(&shown, &sizes(8)), []);
    assert_eq!(repeats(&shown, &sizes(4)).len(), 1);
}

#[test]
fn a_file_that_another_process_removed_is_no_fault() {
    let folder = tempfile::tempdir().unwrap();
    let mut shown = ShownLines::open(folder.path(), SESSION).unwrap();
    shown.add("a read", &shown.hash(&numbered(0..20))).unwrap();
    ShownLines::clear(folder.path(), SESSION).unwrap();
    shown.add("a read", &shown.hash(&numbered(20..40))).unwrap();
    shown.restart().unwrap();
    assert_eq!(repeats(&ShownLines::open(folder.path(), SESSION).unwrap(), &numbered(20..40)), []);
}

#[test]
fn the_longest_and_last_text_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let mut shown = ShownLines::open(folder.path(), SESSION).unwrap();
    for (label, range) in [("short", 0..10), ("long", 0..30), ("long again", 0..30)] {
        let text = shown.hash(&numbered(range));
        shown.add(label, &text).unwrap();
    }
    assert_eq!(repeats(&shown, &numbered(0..30)), [(0..30, "long again".to_owned())]);
}

#[test]
fn what_is_forgotten_is_shown_again() {
    let folder = tempfile::tempdir().unwrap();
    let mut shown = ShownLines::open(folder.path(), SESSION).unwrap();
    let text = shown.hash(&numbered(0..20));
    shown.add("the read of src/a.rs", &text).unwrap();
    shown.forget_about("src/b.rs").unwrap();
    assert_eq!(repeats(&shown, &numbered(0..20)).len(), 1);
    shown.forget_about("src/a.rs").unwrap();
    assert_eq!(repeats(&shown, &numbered(0..20)), []);
    shown.add("the read of src/a.rs", &text).unwrap();
    assert_eq!(repeats(&shown, &numbered(0..20)).len(), 1);
    ShownLines::clear(folder.path(), SESSION).unwrap();
    assert_eq!(repeats(&ShownLines::open(folder.path(), SESSION).unwrap(), &numbered(0..20)), []);
}

#[test]
fn a_call_that_was_shortened_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let mut shown = ShownLines::open(folder.path(), SESSION).unwrap();
    shown.add_shortened("Read src/a.rs").unwrap();
    let (transcript, other) = (Path::new("/t/a.jsonl"), Path::new("/t/b.jsonl"));
    assert_eq!(shown.transcript_searched(transcript), None);
    shown.set_transcript_searched(transcript, 700).unwrap();
    let mut shown = ShownLines::open(folder.path(), SESSION).unwrap();
    assert!(shown.was_shortened("Read src/a.rs") && !shown.was_shortened("Read src/b.rs") && shown.is_empty());
    assert_eq!((shown.transcript_searched(transcript), shown.transcript_searched(other)), (Some(700), None));
    shown.set_transcript_searched(other, 9).unwrap();
    assert_eq!((shown.transcript_searched(transcript), shown.transcript_searched(other)), (None, Some(9)));
}

#[test]
fn a_torn_file_counts_as_nothing_shown() {
    let folder = tempfile::tempdir().unwrap();
    let mut shown = ShownLines::open(folder.path(), SESSION).unwrap();
    shown.add("a read", &shown.hash(&numbered(0..20))).unwrap();
    let whole = std::fs::read(&shown.path).unwrap();
    for length in 0..whole.len() {
        std::fs::write(&shown.path, &whole[..length]).unwrap();
        let torn = ShownLines::open(folder.path(), SESSION).unwrap();
        assert_eq!(repeats(&torn, &numbered(0..20)), [], "{length}");
    }
}

#[test]
fn a_file_never_grows_past_its_limit() {
    let folder = tempfile::tempdir().unwrap();
    let mut shown = ShownLines::open(folder.path(), SESSION).unwrap();
    let text = shown.hash(&numbered(0..20_000));
    for _ in 0..40 {
        shown.add("a read", &text).unwrap();
        assert!(std::fs::metadata(&shown.path).unwrap().len() <= MAX_BYTES + HEADER_BYTES as u64);
    }
    assert_eq!(repeats(&shown, &numbered(0..20)).len(), 1);
}

#[test]
fn repeated_lines_take_linear_time() {
    let folder = tempfile::tempdir().unwrap();
    let mut shown = ShownLines::open(folder.path(), SESSION).unwrap();
    let same = shown.hash(&"the same line\n".repeat(100_000));
    for _ in 0..4 {
        shown.add("a read", &same).unwrap();
    }
    let started = std::time::Instant::now();
    assert_eq!(shown.repeats(&same, MIN_LINES).len(), 1);
    assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
}
