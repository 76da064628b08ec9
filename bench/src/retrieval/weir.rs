//! Weir itself: the documents are stored in a real store, which is searched for each question.

use std::collections::HashMap;

use weir_core::{
    EntryKind, Level, Limits, NewEntry, Note, NoteKind, Origin, ProjectKey, Query, Reference, Scope, Timestamp,
};
use weir_store::{Findings, Owner, Store};

use super::set::{Document, Question, Set};
use super::{MAX_RANKING_DEPTH, RankedDocument, Rankings};
use crate::semantic;

/// The time of a question without one: after every document.
const LATER: Timestamp = Timestamp(1_900_000_000_000);
const EMBED_BATCH_CHUNKS: usize = 4_096;

/// Returns the rankings by words alone, and those by words, meaning and time. The documents are stored once for both.
pub(crate) fn rank(set: &Set) -> (Rankings, Rankings) {
    let both = super::by_group(set, |documents, questions| {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path(), Owner::Project(key()), limits()).unwrap();
        let stored = StoredDocuments::new(&mut store, set, documents);
        let asked = || questions.iter().map(|&asked| &set.questions[asked]);
        let by_words = |store: &mut Store, query: Query| store.search(&scope(), &query).unwrap();
        let words: Rankings =
            asked().map(|question| stored.rank(by_words(&mut store, query(question, None)))).collect();
        semantic::embed_all(&mut store, EMBED_BATCH_CHUNKS);
        let now = |question: &Question| Some(question.now.unwrap_or(LATER));
        let fused = asked().map(|question| {
            let found = semantic::search(&mut store, &scope(), query(question, now(question)));
            stored.rank(found.unwrap())
        });
        words.into_iter().zip(fused.collect::<Vec<_>>()).collect()
    });
    both.into_iter().unzip()
}

enum StoredDocuments {
    Entries(HashMap<Reference, usize>),
    Turns(Vec<usize>),
}

impl StoredDocuments {
    fn new(store: &mut Store, set: &Set, documents: &[usize]) -> Self {
        if set.name == "locomo" {
            return Self::turns(store, set, documents);
        }
        let mut in_order = documents.to_vec();
        // In order of their times, as they would have been stored.
        in_order.sort_by_key(|&place| set.documents[place].at);
        let entries = in_order.into_iter().map(|place| {
            let document = &set.documents[place];
            (keep(store, entry(document), document.at.unwrap_or(Timestamp(0))), place)
        });
        Self::Entries(entries.collect())
    }

    /// Stores a conversation as one entry, with each turn as a paragraph.
    fn turns(store: &mut Store, set: &Set, documents: &[usize]) -> Self {
        let turns = documents.iter().map(|&place| set.documents[place].text.replace('\n', " "));
        let text = turns.collect::<Vec<_>>().join("\n\n");
        let title = set.documents[documents[0]].group.clone();
        let conversation = NewEntry::new(EntryKind::Import, Origin::User, Level::Project, title);
        keep(store, NewEntry { text: text.into_bytes(), ..conversation }, Timestamp(0));
        Self::Turns(documents.to_vec())
    }

    fn rank(&self, found: Findings) -> Vec<RankedDocument> {
        let ranked = found.hits.into_iter().map(|hit| RankedDocument {
            document: self.document(hit.entry.reference, hit.line),
            score: hit.score,
            shown: hit.excerpt,
        });
        ranked.collect()
    }

    fn document(&self, reference: Reference, line: u64) -> usize {
        match self {
            Self::Entries(entries) => entries[&reference],
            // Turns are on every other line, from 1; the blank line before a turn belongs to it.
            Self::Turns(turns) => turns[(line / 2).min(turns.len() as u64 - 1) as usize],
        }
    }
}

fn query(question: &Question, now: Option<Timestamp>) -> Query {
    Query { now, ..Query::new(question.text.clone(), MAX_RANKING_DEPTH) }
}

fn keep(store: &mut Store, entry: NewEntry, at: Timestamp) -> Reference {
    store.keep(&scope(), entry, at).unwrap().reference
}

fn entry(document: &Document) -> NewEntry {
    let note = || Note { topic: document.topic.clone(), ..Note::new(NoteKind::Finding) };
    let note = (document.kind == EntryKind::Note).then(note);
    // Text from files has a source, which determines its form.
    let source = matches!(document.kind, EntryKind::File).then(|| document.id.clone());
    NewEntry {
        text: document.text.clone().into_bytes(),
        source,
        note,
        ..NewEntry::new(document.kind, Origin::User, Level::Project, document.title.clone())
    }
}

/// Limits under which nothing expires and nothing is evicted during the measurement.
fn limits() -> Limits {
    Limits { run_days: 36_500, page_days: 36_500, ..Limits::default() }
}

fn key() -> ProjectKey {
    ProjectKey("retrieval".into())
}

fn scope() -> Scope {
    Scope::project(key())
}
