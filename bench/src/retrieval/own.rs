//! Our own set: tool outputs, documentation, notes and source files, with questions as they are asked at work.
//!
//! Invariant: nothing of the held-out half of `bench/recall` is in it. `bench/retrieval/README.md` describes how it was
//! made.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use weir_core::{EntryKind, Timestamp};

use super::set::{Document, Question, Set, time};

/// Outputs about this project repeat its documents and source files, which are in the set themselves.
const REPEATS: &str = "-weir";

#[derive(serde::Deserialize)]
struct Notes {
    note: Vec<WrittenNote>,
}

#[derive(serde::Deserialize)]
struct WrittenNote {
    id: String,
    date: String,
    topic: Option<String>,
    text: String,
}

#[derive(serde::Deserialize)]
struct Questions {
    question: Vec<WrittenQuestion>,
}

#[derive(serde::Deserialize)]
struct WrittenQuestion {
    id: String,
    sort: String,
    ask: String,
    document: String,
    /// The older document that this one supersedes.
    older: Option<String>,
    /// Other documents that answer it as well.
    #[serde(default)]
    also: Vec<String>,
    answer: String,
}

#[derive(serde::Deserialize)]
struct RecordedCommand {
    command: String,
}

pub(crate) fn load() -> Set {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("retrieval/own/fixtures");
    let mut documents = notes(&folder.join("notes.toml"));
    documents.extend(files(&folder.join("project.tar.zst")));
    documents.extend(outputs(&Path::new(env!("CARGO_MANIFEST_DIR")).join("recall/development")));
    let read: Questions = read(&folder.join("questions.toml"));
    let questions = read.question.into_iter().map(question).collect();
    Set { name: "own".to_owned(), documents, questions }
}

fn question(written: WrittenQuestion) -> Question {
    let best = if written.older.is_some() { 2 } else { 1 };
    let others = written.older.into_iter().chain(written.also).map(|id| (id, 1));
    let grades: HashMap<String, u8> = others.chain([(written.document, best)]).collect();
    Question {
        id: written.id,
        group: String::new(),
        text: written.ask,
        sort: written.sort,
        // A few weeks after the last note.
        now: time("2026-11-15"),
        grades,
        answer: Some(written.answer),
    }
}

fn notes(path: &Path) -> Vec<Document> {
    let read: Notes = read(path);
    let notes = read.note.into_iter().map(|note| Document {
        topic: note.topic.clone(),
        at: time(&note.date),
        title: note.topic.unwrap_or_default(),
        ..document(format!("notes/{}", note.id), EntryKind::Note, note.text)
    });
    notes.collect()
}

/// Returns the files of an archive in the order of their paths, each titled with its path below the top folder.
fn files(archive: &Path) -> Vec<Document> {
    let unpacked = zstd::Decoder::new(std::fs::File::open(archive).unwrap()).unwrap();
    let mut archive = tar::Archive::new(unpacked);
    let mut files: Vec<(PathBuf, String)> = archive
        .entries()
        .unwrap()
        .map(Result::unwrap)
        .filter(|entry| entry.header().entry_type().is_file())
        .map(|mut entry| (entry.path().unwrap().into_owned(), std::io::read_to_string(&mut entry).unwrap()))
        .collect();
    files.sort();
    let documents = files.into_iter().map(|(path, text)| {
        let below: PathBuf = path.components().skip(1).collect();
        let title = below.to_string_lossy().into_owned();
        Document { title, ..document(path.to_string_lossy().into_owned(), EntryKind::File, text) }
    });
    documents.collect()
}

fn outputs(folder: &Path) -> Vec<Document> {
    let ours = |path: &PathBuf| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        path.extension().is_some_and(|end| end == "zst") && !name.ends_with(REPEATS)
    };
    let outputs = sorted(folder).into_iter().filter(ours).map(|path| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let raw = zstd::decode_all(std::fs::File::open(&path).unwrap()).unwrap();
        let text = String::from_utf8_lossy(&raw).into_owned();
        let described: RecordedCommand = read(&path.with_extension("toml"));
        Document { title: described.command, ..document(format!("outputs/{name}"), EntryKind::Run, text) }
    });
    outputs.collect()
}

/// Returns a document with the time of the first note, since only the times of notes matter.
fn document(id: String, kind: EntryKind, text: String) -> Document {
    let at: Option<Timestamp> = time("2026-02-01");
    Document { id, group: String::new(), title: String::new(), text, kind, at, topic: None }
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn read<T: serde::de::DeserializeOwned>(path: &Path) -> T {
    let text = std::fs::read_to_string(path).unwrap();
    toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::score::spaced;
    use super::*;

    #[test]
    fn every_answer_stands_in_its_document() {
        let set = load();
        let texts: HashMap<&str, String> =
            set.documents.iter().map(|document| (document.id.as_str(), spaced(&document.text))).collect();
        for question in &set.questions {
            let best = question.grades.values().max().unwrap();
            let document = question.grades.iter().find(|(_, grade)| *grade == best && question.is_update());
            let mut right = document.into_iter().chain(question.grades.iter().filter(|_| !question.is_update()));
            let answer = spaced(question.answer.as_ref().unwrap());
            assert!(right.any(|(id, _)| texts[id.as_str()].contains(&answer)), "{}: {answer}", question.id);
            assert!(question.grades.keys().all(|id| texts.contains_key(id.as_str())), "{}", question.id);
        }
    }

    #[test]
    fn there_are_enough_questions_of_each_sort_and_none_twice() {
        let set = load();
        let count = |sort: &str| set.questions.iter().filter(|question| question.sort == sort).count();
        assert!(set.documents.len() >= 150 && set.questions.len() >= 150);
        assert!(count("paraphrase") >= 60 && count("identifier") >= 30 && count("typo") >= 20 && count("update") >= 20);
        let ids: HashSet<&str> = set.questions.iter().map(|question| question.id.as_str()).collect();
        assert_eq!(ids.len(), set.questions.len());
    }

    #[test]
    fn an_answer_that_was_overtaken_does_not_hold_the_new_one() {
        let set = load();
        for question in set.questions.iter().filter(|question| question.is_update()) {
            let (older, _) = question.grades.iter().find(|(_, grade)| **grade == 1).unwrap();
            let older = set.documents.iter().find(|document| document.id == *older).unwrap();
            assert!(!older.text.contains(question.answer.as_ref().unwrap()), "{}", question.id);
        }
    }
}
