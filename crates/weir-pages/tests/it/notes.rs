//! What the page of notes says about lists that are cut, empty or continued elsewhere.

use weir_pages::notes::{Counts, NoteFilter, Notes};

use crate::samples::{self, plainly};

fn check(notes: &Notes, has: &[&str], lacks: &[&str]) {
    let page = notes.render(&samples::shell(&plainly));
    for text in has {
        assert!(page.contains(text), "no {text}:\n{page}");
    }
    for text in lacks {
        assert!(!page.contains(text), "{text}:\n{page}");
    }
}

/// The last page of all notes, which has only superseded ones.
fn last_page() -> Notes {
    let notes = samples::kept::notes(&plainly);
    Notes { doubtful: vec![], unconfirmed: vec![], current: vec![], ..notes }
}

#[test]
fn a_page_of_all_notes_says_nothing_about_lists_on_other_pages() {
    let false_there = ["There are no notes yet.", "No note was replaced.", "No note is current", "Never read</h2>"];
    check(&last_page(), &["Superseded</h2>"], &false_there);
    let first = Notes { superseded: vec![], ..samples::kept::notes(&plainly) };
    check(&first, &["Current</h2>"], &["No note was replaced."]);
    check(&Notes { filter: NoteFilter::All, ..samples::kept::no_notes() }, &["There are no notes yet."], &[]);
}

#[test]
fn notes_that_only_wait_for_the_user_are_notes() {
    let counts = Counts { unconfirmed: 1, ..Counts::default() };
    let waiting = Notes { counts, filter: NoteFilter::Review, superseded: vec![], ..last_page() };
    check(&waiting, &["1 note in harbour.", "No note is current and confirmed."], &["There are no notes yet."]);
}

#[test]
fn a_list_that_is_cut_says_so() {
    let notes = samples::kept::notes(&plainly);
    let counts = Counts { doubtful: 60, never_read: 30, ..notes.counts };
    let never_read = notes.current.clone();
    let review = Notes { counts, never_read, filter: NoteFilter::Review, ..notes };
    check(&review, &["1 of 60, newest first", "2 of 30, newest first", "?show=never-read\">Show all"], &[]);
}
