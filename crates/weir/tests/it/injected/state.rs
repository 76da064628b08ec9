//! What is in a store, without what differs from run to run: references, times and numbers.

use std::collections::BTreeMap;
use std::path::Path;

use weir_core::{Limits, ProjectKey, Query, Scope};
use weir_store::{Depth, Exported, Owner, Store};

/// Words to search for: of outputs, notes, files and events, kept before and during an act.
const WORDS: [&str; 8] = ["albatross", "penguin", "port", "deploy", "tide", "cormorant", "lighthouse", "wide"];

/// The content of a store, and what a search of it finds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct State {
    /// Entries and events, each with the number of times that it is there.
    pub(super) content: BTreeMap<String, usize>,
    /// The titles that each word finds.
    pub(super) found: Vec<(String, Vec<String>)>,
}

impl State {
    /// Reads the store in a folder, as the next call would: takes in the spool, and brings the index up to date.
    /// Returns what is wrong with it, if anything is.
    pub(super) fn read(folder: &Path, owner: &Owner) -> Result<Self, String> {
        if !Store::exists(folder).map_err(|error| error.to_string())? {
            return Ok(Self::default());
        }
        let failed = |error: weir_store::StoreError| error.to_string();
        let mut store = Store::open(folder, owner.clone(), Limits::default()).map_err(failed)?;
        store.take_in().map_err(failed)?;
        let scope = Scope::project(ProjectKey(match owner {
            Owner::Project(key) => key.0.clone(),
            Owner::User => "user".to_owned(),
        }));
        // A search makes entries of what was said, if none has done so before.
        let found = find(&mut store, &scope)?;
        let content = content(&store)?;
        let health = store.check_to(Depth::Deep).map_err(failed)?;
        let problems = [health.log_problems.clone(), health.index_problems.clone()].concat();
        let unread = health.unread.lost.len() + health.unread.unavailable.len();
        if !problems.is_empty() || unread > 0 || health.index_unchecked.is_some() || health.stray_texts > 0 {
            return Err(format!("the store is not well: {health:?}"));
        }
        store.rebuild_index(|_| ()).map_err(failed)?;
        let rebuilt = find(&mut store, &scope)?;
        if found != rebuilt {
            return Err(format!("the index is not as good as a new one: {found:?}, then {rebuilt:?}"));
        }
        Ok(Self { content, found })
    }

    /// Returns how this state differs from what lies between two others: everything in it that neither has as often,
    /// and everything that is there less often than in both.
    pub(super) fn outside_of(&self, one: &Self, other: &Self) -> Vec<String> {
        let keys = self.content.keys().chain(one.content.keys()).chain(other.content.keys());
        let mut keys: Vec<&String> = keys.collect();
        keys.sort();
        keys.dedup();
        let count = |state: &Self, key: &String| state.content.get(key).copied().unwrap_or_default();
        let is_outside = |key: &&&String| {
            let (here, low, high) =
                (count(self, key), count(one, key).min(count(other, key)), count(one, key).max(count(other, key)));
            here < low || here > high
        };
        keys.iter().filter(is_outside).map(|key| format!("{} × {key:.200}", count(self, key))).collect()
    }
}

fn content(store: &Store) -> Result<BTreeMap<String, usize>, String> {
    let mut content = BTreeMap::new();
    let mut add = |line: String| *content.entry(line).or_default() += 1;
    let exported = store.export(|thing| -> Result<(), String> {
        match thing {
            Exported::Event(event) => {
                let session = event.session.as_ref().map(|(_, key)| session_name(key));
                let (kind, text, data, work) = (&event.kind, &event.text, &event.data, &event.work);
                // That something is gone is said once for any number of events.
                if kind != "gone" {
                    add(format!("event {kind} {text} {data:?} {session:?} {work:?}"));
                }
            }
            Exported::Entry(entry, text) => {
                let text = text.and_then(|text| text.all()).map_err(|error| format!("{}: {error}", entry.title))?;
                let (text, event) = (blake3::hash(&text).to_hex(), &entry.event);
                let session = event.session.as_ref().map(|(_, key)| session_name(key));
                let note = entry.note.as_ref().map(|note| (&note.kind, &note.topic, &note.revision, &note.branch));
                let commit = entry.note.as_ref().and_then(|note| note.commit.as_ref());
                add(format!(
                    "entry {} {} {:?} {session:?} {:?} {note:?} {commit:?} {}",
                    entry.kind,
                    entry.title,
                    entry.source,
                    event.work,
                    &text[..16]
                ));
            }
        }
        Ok(())
    });
    exported.map_err(|error| error.to_string())??;
    Ok(content)
}

/// Returns the name of a session that a client named. Another one has a random name.
fn session_name(key: &str) -> &str {
    if key == "s1" { key } else { "unnamed" }
}

fn find(store: &mut Store, scope: &Scope) -> Result<Vec<(String, Vec<String>)>, String> {
    let mut all = Vec::new();
    for word in WORDS {
        let found = store.search(scope, &Query::new(word, 50)).map_err(|error| format!("search `{word}`: {error}"))?;
        if found.behind || !found.lost.is_empty() || !found.unavailable.is_empty() {
            return Err(format!("search `{word}` is incomplete: {found:?}"));
        }
        let mut titles: Vec<String> =
            found.hits.iter().map(|hit| format!("{} {}", hit.entry.title, hit.line)).collect();
        titles.sort();
        all.push((word.to_owned(), titles));
    }
    Ok(all)
}
