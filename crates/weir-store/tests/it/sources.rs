//! Tests files and pages: there is one entry for each source, and a newer text replaces the older one.

use weir_core::{EntryKind, Level, NewEntry, Origin, WhyGone};
use weir_store::{Found, NewFile, NewPage, Selection, Stamp, Store, Validators};

use crate::dump;
use crate::support::{
    NOW, assert_healthy, at, forget, get, here, keep, new_store, note, references, search, state, text,
};

fn stamp(modified: i64) -> Stamp {
    Stamp { bytes: 10, modified, hash: format!("hash{modified}") }
}

fn file(source: &str, text: &str, modified: i64) -> NewFile {
    let entry = NewEntry::new(EntryKind::File, Origin::User, Level::Project, source);
    NewFile { entry: NewEntry { source: Some(source.into()), text: text.into(), ..entry }, stamp: stamp(modified) }
}

fn page(text: &str) -> NewEntry {
    let entry = NewEntry::new(EntryKind::Page, Origin::Web, Level::Project, "Title");
    NewEntry { source: Some("https://example.invalid/a".into()), text: text.into(), ..entry }
}

fn keep_files(store: &mut Store, files: Vec<NewFile>) -> Vec<weir_core::Reference> {
    let kept = store.keep_files(&here(), files, NOW).unwrap();
    store.catch_up().unwrap();
    kept.into_iter().map(|kept| kept.reference).collect()
}

#[test]
fn a_changed_file_takes_the_place_of_the_old_one() {
    let (_folder, mut store) = new_store();
    let large = "a large text of many words that goes to a file of its own ".repeat(3_000);
    let first = keep_files(&mut store, vec![file("docs/a.md", &large, 1), file("docs/b.md", "needle beta", 1)]);
    let second = keep_files(&mut store, vec![file("docs/a.md", "needle alpha", 2)]);
    assert_eq!(state(&mut store, first[0]), WhyGone::Replaced.as_str());
    assert_eq!(get(&mut store, second[0]).kind, EntryKind::Document, "it never expires");
    let found = references(&search(&mut store, "needle"));
    assert!(found.len() == 2 && found.contains(&second[0]) && found.contains(&first[1]));
    assert!(search(&mut store, "large").is_empty());
    let known = store.known_files(&here(), "docs").unwrap();
    let names: Vec<_> = known.iter().map(|file| (file.source.as_str(), file.stamp.modified)).collect();
    assert_eq!(names, [("docs/a.md", 2), ("docs/b.md", 1)]);
    assert!(store.known_files(&here(), "doc").unwrap().is_empty());
    assert_eq!(store.known_files(&here(), "docs/b.md").unwrap().len(), 1);
    assert_healthy(&mut store);
}

#[test]
fn files_that_are_gone_are_dropped_and_the_same_ones_restamped() {
    let (_folder, mut store) = new_store();
    let kept = keep_files(&mut store, vec![file("a", "alpha", 1), file("b", "beta", 1)]);
    store.restamp_files(&[("a".into(), stamp(7))]).unwrap();
    assert_eq!(store.known_files(&here(), "a").unwrap()[0].stamp, stamp(7));
    assert_eq!(store.drop_files(&here(), &["b".into(), "never".into()], NOW).unwrap(), 1);
    assert!(store.known_files(&here(), "b").unwrap().is_empty() && search(&mut store, "beta").is_empty());
    assert_eq!(text(&store, kept[0]), b"alpha");
}

#[test]
fn what_a_note_cites_stays_when_its_file_changes() {
    let (_folder, mut store) = new_store();
    let old = keep_files(&mut store, vec![file("a", "alpha", 1)])[0];
    keep(&mut store, note(format!("as {old} says")));
    let new = keep_files(&mut store, vec![file("a", "beta", 2)])[0];
    assert_eq!(text(&store, old), b"alpha");
    assert_eq!(store.known_files(&here(), "a").unwrap()[0].reference, new);
}

#[test]
fn a_page_is_kept_once_and_knows_its_validators() {
    let (_folder, mut store) = new_store();
    let url = "https://example.invalid/a";
    assert_eq!(store.page(&here(), url).unwrap(), None);
    let validators = Validators { etag: Some("\"x\"".into()), last_modified: None };
    let first = NewPage { url, entry: page("alpha text"), validators: &validators };
    let first = store.keep_page(&here(), first, NOW).unwrap().reference;
    store.page_is_unchanged(&here(), url, at(5)).unwrap();
    let known = store.page(&here(), url).unwrap().unwrap();
    assert_eq!((known.reference, known.validators, known.checked_at), (first, validators, at(5)));
    let second = NewPage { url, entry: page("beta text"), validators: &Validators::default() };
    let second = store.keep_page(&here(), second, at(9)).unwrap().reference;
    assert!(matches!(store.get(&here(), first, NOW).unwrap(), Found::Gone(gone) if gone.why == WhyGone::Replaced));
    assert_eq!(references(&search(&mut store, "text")), [second]);
}

#[test]
fn the_secret_in_the_url_of_a_page_is_not_stored() {
    let (folder, mut store) = new_store();
    let (url, other) = ("https://me:geheim7x@host.invalid/a", "https://me:anders8y@host.invalid/a");
    for text in ["first", "second"] {
        let page = NewPage { url, entry: page(text), validators: &Validators::default() };
        store.keep_page(&here(), page, NOW).unwrap();
    }
    store.page_is_unchanged(&here(), url, at(5)).unwrap();
    assert_eq!(store.page(&here(), url).unwrap().map(|page| page.checked_at), Some(at(5)));
    assert_eq!(store.page(&here(), other).unwrap(), None);
    assert_eq!(dump::files_with(folder.path(), "geheim7x"), Vec::<String>::new());
    assert_eq!(search(&mut store, "first second").len(), 1);
}

#[test]
fn forgetting_a_folder_takes_what_is_below_it() {
    let (_folder, mut store) = new_store();
    let kept =
        keep_files(&mut store, vec![file("docs/a.md", "a", 1), file("docs/b/c.md", "c", 1), file("docs2", "d", 1)]);
    for source in ["docs/", "docs"] {
        let selection = Selection { source: Some(source.into()), ..Selection::default() };
        assert_eq!(store.plan_to_forget(&here(), &selection).unwrap().entries.len(), 2, "{source}");
    }
    forget(&mut store, &Selection { source: Some("docs".into()), ..Selection::default() });
    assert_eq!(
        kept.iter().map(|kept| state(&mut store, *kept)).collect::<Vec<_>>(),
        ["forgotten", "forgotten", "here"]
    );
    assert!(store.known_files(&here(), "docs").unwrap().is_empty());
}
