//! Tests the map: what the store keeps of the files of a folder.

use weir_core::Scope;
use weir_store::{MapChange, MapFile, Selection};

use crate::support::{NOW, entry, here, new_store, open};

fn file(path: &str, symbols: &str) -> MapFile {
    MapFile {
        path: path.into(),
        bytes: 3,
        modified: 1,
        spec: "rust 1".into(),
        symbols: symbols.into(),
        ..MapFile::default()
    }
}

fn change(files: Vec<MapFile>) -> MapChange {
    MapChange { files, ..MapChange::default() }
}

fn paths(store: &mut weir_store::Store, scope: &Scope) -> Vec<String> {
    store.map_files(scope, "/p", "").unwrap().into_iter().map(|file| file.path).collect()
}

#[test]
fn files_are_kept_changed_and_dropped_and_survive_reopening() {
    let (folder, mut store) = new_store();
    let scope = here();
    store.update_map(&scope, "/p", change(vec![file("b.rs", "one"), file("a.rs", "two")])).unwrap();
    store.update_map(&scope, "/p", change(vec![file("a.rs", "three")])).unwrap();
    drop(store);
    let mut store = open(folder.path());
    assert_eq!(paths(&mut store, &scope), ["a.rs", "b.rs"]);
    assert_eq!(store.map_symbols(&scope, "/p", &["a.rs", "c.rs"]).unwrap(), ["three", ""]);
    let gone = MapChange { gone: vec!["b.rs".into()], restamped: vec![("a.rs".into(), 9)], ..MapChange::default() };
    store.update_map(&scope, "/p", gone).unwrap();
    assert_eq!(paths(&mut store, &scope), ["a.rs"]);
    assert_eq!(store.map_files(&scope, "/p", "").unwrap()[0].modified, 9);
    assert!(paths(&mut store, &scope).len() == 1 && store.map_files(&scope, "/other", "").unwrap().is_empty());
}

#[test]
fn secrets_in_signatures_are_redacted() {
    let (_folder, mut store) = new_store();
    let scope = here();
    let secret = format!("1\t+\tKEY\tconst KEY: &str = \"ghp_{}\"\t\n", "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5");
    store.update_map(&scope, "/p", change(vec![file("a.rs", &secret)])).unwrap();
    let kept = store.map_symbols(&scope, "/p", &["a.rs"]).unwrap().remove(0);
    assert!(kept.starts_with("1\t+\tKEY\tconst KEY: &str = ") && !kept.contains("ghp_"), "{kept}");
}

#[test]
fn forgetting_a_source_or_everything_takes_the_map_along() {
    let (_folder, mut store) = new_store();
    let scope = here();
    let all = ["a.rs", "src/a.rs", "src/b.rs", "src2/c.rs"].map(|path| file(path, "x"));
    store.update_map(&scope, "/p", change(all.to_vec())).unwrap();
    for (selection, left) in [
        (Selection { source: Some("src/b.rs".into()), ..Selection::default() }, vec!["a.rs", "src/a.rs", "src2/c.rs"]),
        (Selection { source: Some("./src".into()), ..Selection::default() }, vec!["a.rs", "src2/c.rs"]),
        (Selection { everything: true, ..Selection::default() }, vec![]),
    ] {
        let kept =
            weir_core::NewEntry { source: Some("src/b.rs".into()), ..entry(weir_core::EntryKind::Document, "words") };
        store.keep(&scope, kept, NOW).unwrap();
        let plan = store.plan_to_forget(&scope, &selection).unwrap();
        store.forget(&scope, &selection, &plan.confirmation, NOW).unwrap();
        assert_eq!(paths(&mut store, &scope), left);
    }
    assert!(store.mapped_folders(&scope).unwrap().is_empty());
}
