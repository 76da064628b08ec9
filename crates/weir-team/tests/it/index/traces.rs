//! Tests that removal is complete: no word in a dictionary, no file too many.

use std::path::Path;

use weir_core::{TenantId, WhyGone};
use weir_records::{Blobs as _, Index as _, NewRecord, Position};
use weir_team::ObjectBlobs;

use crate::support::{NOW, ana, assert_no_trace, files, hits, keep, note, open, scope, shelf_of, with_index};

/// Returns the words in the dictionaries of the index, without the names of their projects.
fn words_in(folder: &Path) -> Vec<String> {
    let engine = tantivy::Index::open_in_dir(folder).unwrap();
    let field = engine.schema().get_field("words").unwrap();
    let searcher = engine.reader().unwrap().searcher();
    let mut words = Vec::new();
    for segment in searcher.segment_readers() {
        let inverted = segment.inverted_index(field).unwrap();
        let mut terms = inverted.terms().stream().unwrap();
        while terms.advance() {
            words.push(String::from_utf8(terms.key()[32..].to_vec()).unwrap());
        }
    }
    words
}

/// Asserts that every file belongs to the last commit.
fn assert_no_litter(folder: &Path) {
    let engine = tantivy::Index::open_in_dir(folder).unwrap();
    let known: Vec<String> =
        engine.searchable_segment_ids().unwrap().iter().map(tantivy::index::SegmentId::uuid_string).collect();
    for path in files(folder) {
        let name = path.file_name().unwrap().to_str().unwrap();
        let is_ours = name.starts_with('.') || ["meta.json", "progress.db"].contains(&name);
        assert!(is_ours || known.iter().any(|id| name.starts_with(id.as_str())), "{name}");
    }
}

#[test]
fn a_forgotten_record_leaves_no_word_in_any_file() {
    let folder = tempfile::tempdir().unwrap();
    let shelf = shelf_of(with_index(open(folder.path())));
    for number in 0..50 {
        keep(&shelf, &ana(), &format!("ordinary number {number}"));
    }
    let given =
        NewRecord { title: "quixotical".into(), source: Some("labyrinthine/path".into()), ..note("zanzibarian") };
    let kept = shelf.keep(&ana(), given, NOW).unwrap();
    assert_eq!(hits(&shelf, &ana(), "zanzibarian"), 1);
    let traces = ["zanzibar", "quixot", "labyrinthin"];
    let has = |trace: &str| words_in(folder.path()).iter().any(|word| word.contains(trace));
    assert!(has("zanzibar") && has("quixot"));
    let left = shelf.forget(&ana(), kept.id, WhyGone::Forgotten, NOW).unwrap().left;
    assert_eq!(left.in_index, 0);
    assert!(traces.iter().all(|trace| !has(trace)));
    assert_no_trace(folder.path(), &[&traces[..], &["acme"]].concat());
    assert_no_litter(folder.path());
    assert_eq!(hits(&shelf, &ana(), "ordinary"), 50);
}

#[test]
fn removing_a_tenant_removes_its_words_and_its_texts_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let (index_folder, texts_folder) = (folder.path().join("index"), folder.path().join("texts"));
    let index = open(&index_folder);
    let blobs = std::sync::Arc::new(ObjectBlobs::in_folder(&texts_folder).unwrap());
    let ports = weir_records::Ports { blobs: blobs.clone(), ..with_index(index.clone()) };
    let shelf = shelf_of(ports);
    let theirs = [scope("umbrella", "eve", "api"), scope("umbrella", "eve", "web")];
    for place in [&theirs[0], &theirs[1], &ana()] {
        for number in 0..5 {
            keep(&shelf, place, &format!("common {}word number {number} in {}", place.tenant.0, place.project.0));
        }
        assert_eq!(hits(&shelf, place, "common"), 5);
    }
    let umbrella = TenantId("umbrella".into());
    index.remove_tenant(&umbrella).unwrap();
    assert_eq!(blobs.remove_tenant(&umbrella).unwrap(), 10);
    assert_eq!(blobs.remove_tenant(&umbrella).unwrap(), 0);
    assert_eq!(files(&texts_folder).len(), 5);
    assert!(words_in(&index_folder).iter().all(|word| !word.contains("umbrella")));
    assert_no_litter(&index_folder);
    for place in &theirs {
        assert_eq!(index.position(place).unwrap(), Position(0));
        assert_eq!(index.search(place, &weir_records::SearchQuery::new("common", 9)).unwrap().hits, []);
    }
    assert_eq!((index.figures().projects, index.figures().documents), (1, 5));
    assert_eq!(hits(&shelf, &ana(), "common acmeword"), 5);
    let text = b"common acmeword number 0 in api";
    assert_eq!(blobs.get(&ana(), &weir_records::TextKey::of(text)).unwrap().unwrap(), text);
}
