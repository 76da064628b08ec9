//! Finds notes by their topic, which the index does not have.

use weir_context::LockedStores;
use weir_core::{Entry, EntryKind, Level, Query, Scope};
use weir_host::error::CommandError;
use weir_store::{Hit, Store};

use super::{QueryResult, coverage};

/// How many notes of each store are looked at, newest first.
const MAX_NOTES: usize = 500;

const MAX_EXCERPT_BYTES: u64 = 600;

/// Puts notes whose topic has all words of the query before the other hits.
pub(super) fn add(open: &mut LockedStores<'_>, scope: &Scope, found: &mut QueryResult) -> Result<(), CommandError> {
    let Query { kind, source, since, within, limit, .. } = &found.query;
    if !matches!(kind, None | Some(EntryKind::Note)) || source.is_some() || since.is_some() {
        return Ok(());
    }
    let (within, limit) = (*within, *limit);
    let mut hits = Vec::new();
    let levels: &[Level] = match within {
        None => &[Level::Project, Level::User],
        Some(Level::User) => &[Level::User],
        Some(_) => &[Level::Project],
    };
    for level in levels {
        let of_level = match open.existing(*level) {
            Ok(Some(store)) => of_store(store, scope, found),
            Ok(None) => continue,
            Err(error) => Err(error),
        };
        match of_level {
            Ok(more) => hits.extend(more),
            // The search of that store has failed too, and the answer says so.
            Err(_) if !found.left_out.is_empty() && *level == Level::User => {}
            Err(error) => return Err(error),
        }
    }
    hits.append(&mut found.findings.hits);
    found.more |= hits.len() > limit;
    hits.truncate(limit);
    found.findings.hits = hits;
    Ok(())
}

fn of_store(store: &Store, scope: &Scope, found: &QueryResult) -> Result<Vec<Hit>, CommandError> {
    let mut hits = Vec::new();
    for note in store.notes(scope, MAX_NOTES)? {
        if is_meant(&note.entry, found) {
            hits.extend(hit(store, scope, note.entry)?);
        }
    }
    Ok(hits)
}

/// Whether a note is on the topic that the query names, and not among the hits yet.
fn is_meant(entry: &Entry, found: &QueryResult) -> bool {
    let topic = entry.note.as_ref().and_then(|note| note.topic.as_deref());
    let is_within = found.query.within.is_none_or(|level| entry.level == level);
    let is_known = found.findings.hits.iter().any(|hit| hit.entry.reference == entry.reference);
    let is_named = || topic.is_some_and(|topic| coverage(&found.query.text, topic) >= 1.0);
    entry.superseded_by.is_none() && is_within && !is_known && is_named()
}

fn hit(store: &Store, scope: &Scope, entry: Entry) -> Result<Option<Hit>, CommandError> {
    let read = store.text(scope, entry.reference).and_then(|text| {
        text.map(|text| Ok((text.bytes(), text.range(0..text.bytes().min(MAX_EXCERPT_BYTES))?))).transpose()
    });
    let (bytes, excerpt, unreadable) = match read {
        Ok(None) => return Ok(None),
        Ok(Some((bytes, excerpt))) => (bytes, excerpt, None),
        Err(error) => (0, Vec::new(), Some(error.unreadable_text().ok_or(error)?)),
    };
    Ok(Some(Hit {
        entry,
        ordinal: 0,
        line: 1,
        heading: String::new(),
        excerpt: String::from_utf8_lossy(&excerpt).trim_end().to_owned(),
        unreadable,
        partial: bytes > MAX_EXCERPT_BYTES,
        score: 1.0,
        by_meaning: false,
        also: Vec::new(),
    }))
}
