//! Notes as cards, with their texts and their revisions.

use std::collections::HashMap;
use std::sync::Arc;

use weir_core::{Entry, Level, Reference, Scope};
use weir_host::error::CommandError;
use weir_pages::notes::{NoteCard, Revision};
use weir_pages::words::{Badge, Mark, Span};
use weir_store::Store;

use super::super::known::{ViewedProject, Visit};
use super::super::view::{View, reach_of, words_of};
use super::review::ReviewedNote;

/// The longest part of a note that a card shows, in bytes.
const MAX_TEXT_BYTES: u64 = 8 << 10;
const MAX_REVISIONS: usize = 8;

/// The text of a note, and its older revisions.
struct LoadedNote {
    text: NoteText,
    /// The newest first.
    older: Vec<(Entry, NoteText)>,
}

#[derive(Default)]
struct NoteText {
    text: String,
    is_whole: bool,
}

/// Returns the cards of notes, in their order.
pub(super) async fn load<'a>(
    view: &View<'_>,
    notes: &[&'a ReviewedNote],
) -> Result<Vec<(&'a ReviewedNote, NoteCard)>, CommandError> {
    let mut loaded: HashMap<Reference, LoadedNote> = HashMap::new();
    let mut places: Vec<Option<Arc<ViewedProject>>> = Vec::new();
    for note in notes {
        let is_known = |place: &Option<Arc<ViewedProject>>| key_of(place.as_ref()) == key_of(note.project.as_ref());
        if !places.iter().any(is_known) {
            places.push(note.project.clone());
        }
    }
    for place in places {
        let of_place = notes.iter().filter(|note| key_of(note.project.as_ref()) == key_of(place.as_ref()));
        let wanted: Vec<Entry> = of_place.map(|note| note.entry.clone()).collect();
        let visit = match &place {
            Some(project) => project.visit().await,
            None => view.ui.projects.visit().await,
        };
        let level = if place.is_some() { Level::Project } else { Level::User };
        loaded.extend(read(&visit, level, wanted).await?);
    }
    let card = |note: &&'a ReviewedNote| {
        let loaded = loaded.remove(&note.entry.reference);
        (*note, card(view, note, loaded))
    };
    Ok(notes.iter().map(card).collect())
}

fn key_of(project: Option<&Arc<ViewedProject>>) -> Option<&str> {
    project.map(|project| project.address_key())
}

async fn read(visit: &Visit, level: Level, wanted: Vec<Entry>) -> Result<HashMap<Reference, LoadedNote>, CommandError> {
    let scope = visit.scope();
    visit
        .with_stores(move |open| {
            let store = open.store(level)?;
            Ok(wanted.iter().map(|entry| (entry.reference, loaded(store, &scope, entry))).collect())
        })
        .await
}

/// Reads a note and those that it supersedes, in order. What cannot be read is left out.
fn loaded(store: &Store, scope: &Scope, entry: &Entry) -> LoadedNote {
    let mut older: Vec<(Entry, NoteText)> = Vec::new();
    let mut waiting: Vec<Reference> = superseded(entry);
    while let Some(reference) = waiting.pop() {
        let is_known = older.iter().any(|(known, _)| known.reference == reference);
        if is_known || older.len() == MAX_REVISIONS {
            continue;
        }
        if let Ok(Some(revision)) = store.entry(scope, reference) {
            waiting.extend(superseded(&revision));
            let text = text_of(store, scope, &revision);
            older.push((revision, text));
        }
    }
    older.sort_by_key(|(revision, _)| std::cmp::Reverse(revision.at));
    LoadedNote { text: text_of(store, scope, entry), older }
}

fn superseded(entry: &Entry) -> Vec<Reference> {
    entry.note.as_ref().map(|note| note.supersedes.clone()).unwrap_or_default()
}

fn text_of(store: &Store, scope: &Scope, entry: &Entry) -> NoteText {
    let bytes = store.text(scope, entry.reference).ok().flatten();
    let bytes = bytes.and_then(|text| text.range(0..MAX_TEXT_BYTES).ok());
    let is_whole = bytes.is_some() && entry.bytes <= MAX_TEXT_BYTES;
    let text = bytes.map_or_else(|| entry.title.clone(), |bytes| String::from_utf8_lossy(&bytes).into_owned());
    NoteText { text, is_whole }
}

fn card(view: &View<'_>, note: &ReviewedNote, loaded: Option<LoadedNote>) -> NoteCard {
    let entry = &note.entry;
    let fields = entry.note.as_ref();
    let LoadedNote { text, older } =
        loaded.unwrap_or_else(|| LoadedNote { text: NoteText::default(), older: Vec::new() });
    NoteCard {
        reference: entry.reference.as_str().into(),
        topic: fields.and_then(|fields| fields.topic.as_deref()).map(Into::into),
        kind: fields.map_or("note", |fields| fields.kind.as_str()).into(),
        revision: fields.map_or(1, |fields| u64::from(fields.revision)),
        at: view.moment(entry.at),
        read: note.is_unused.then_some(0),
        words: words_of(entry),
        reach: reach_of(entry),
        files: fields
            .map(|fields| fields.files.iter().map(|file| file.path.as_str().into()).collect())
            .unwrap_or_default(),
        doubts: note.doubts.iter().map(|doubt| Badge::Doubt(doubt.to_string().into())).collect(),
        revisions: revisions(view, entry, &text, &older),
        is_superseded: note.is_superseded(),
        is_whole: text.is_whole,
        text: text.text.into(),
    }
}

/// Returns all revisions, the newest first; none if there is only one.
fn revisions(view: &View<'_>, entry: &Entry, text: &NoteText, older: &[(Entry, NoteText)]) -> Vec<Revision> {
    if older.is_empty() {
        return Vec::new();
    }
    let all: Vec<(&Entry, &str)> = std::iter::once((entry, text.text.as_str()))
        .chain(older.iter().map(|(entry, text)| (entry, text.text.as_str())))
        .collect();
    let revision = |(at, (entry, text)): (usize, &(&Entry, &str))| Revision {
        number: entry.note.as_ref().map_or(1, |note| u64::from(note.revision)),
        at: view.moment(entry.at),
        words: words_of(entry),
        reference: entry.reference.as_str().into(),
        text: match (at.checked_sub(1).and_then(|newer| all.get(newer)), all.get(at + 1)) {
            (Some((_, newer)), _) => difference(text, newer, Mark::Removed),
            (None, Some((_, older))) => difference(text, older, Mark::Added),
            (None, None) => vec![Span { text: (*text).into(), mark: Mark::None }],
        },
        is_superseded: at > 0,
    };
    all.iter().enumerate().map(revision).collect()
}

/// Returns a text with the part marked in which it differs from another.
fn difference(text: &str, other: &str, mark: Mark) -> Vec<Span> {
    let same = |one: &str, other: &str| one.chars().zip(other.chars()).take_while(|(one, other)| one == other).count();
    let (letters, of_other) = (text.chars().count(), other.chars().count());
    let start = same(text, other);
    let backwards = |text: &str| text.chars().rev().collect::<String>();
    let end = same(&backwards(text), &backwards(other)).min(letters.min(of_other) - start);
    let part = |from: usize, to: usize| text.chars().skip(from).take(to - from).collect::<String>();
    let spans = [(0, start, Mark::None), (start, letters - end, mark), (letters - end, letters, Mark::None)];
    let filled = spans.into_iter().filter(|(from, to, _)| from < to);
    filled.map(|(from, to, mark)| Span { text: part(from, to).into(), mark }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_shows_what_it_changed() {
        let check = |text: &str, other: &str, expected: &str| {
            let spans = difference(text, other, Mark::Added);
            let shown: Vec<String> = spans
                .iter()
                .map(|span| match span.mark {
                    Mark::Added => format!("[{}]", span.text.plain()),
                    _ => span.text.plain(),
                })
                .collect();
            assert_eq!(shown.concat(), expected);
        };
        check("Four uploads at once", "Eight uploads at once", "[Four] uploads at once");
        check("aXa", "aa", "a[X]a");
        check("aa", "aXa", "aa");
        check("same", "same", "same");
        check("é", "", "[é]");
    }
}
