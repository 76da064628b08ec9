//! Brings the index up to the head of the log. This is the only way into the index.

use std::panic::resume_unwind;
use std::thread::ScopedJoinHandle;

use weir_core::{Scope, entry, terminal};

use super::Shelf;
use crate::error::{ErrorKind, PortError, Result};
use crate::id::RecordId;
use crate::ports::{IndexChange, IndexedRecord, Position, ProjectChanges, Readers, Step, StoredRecord};
use crate::record::{Body, Kept, Record};

/// How many records are read at once. A sealed one may have 2 MiB.
const BATCH: usize = 32;
/// How many changes are indexed at once. An index that is far behind needs few commits this way.
const MAX_CHANGES: usize = 16 << 10;
/// How much text is indexed at once, in bytes. A step ends with the record that exceeds it.
const MAX_STEP_BYTES: usize = 16 << 20;
/// How many threads read when several projects are followed.
const MAX_READERS: usize = 4;

/// How far a project was followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Followed {
    /// How many positions of the log the index has gone past.
    pub positions: u64,
    /// Whether there may be more to follow.
    pub is_behind: bool,
}

/// How much is gathered at once.
#[derive(Clone, Copy)]
struct Room {
    changes: usize,
    bytes: usize,
}

/// What is new in the log of a project.
enum Gathered {
    Nothing,
    /// The index had to be emptied first.
    Cleared,
    /// It was not looked at.
    Later,
    Changes {
        changes: Vec<IndexChange>,
        step: Step,
        is_all: bool,
    },
}

impl Shelf {
    /// Drops the index of the scope's project and makes it again from the log. Returns how many changes it followed.
    pub fn rebuild_index(&self, scope: &Scope) -> Result<usize> {
        self.ports.index.clear(scope)?;
        self.follow(scope, usize::MAX)
    }

    /// Brings the index of the scope's project up to the head of the log, and returns how many changes it followed.
    /// Stops after about `most`.
    pub fn follow(&self, scope: &Scope, most: usize) -> Result<usize> {
        let mut followed = 0;
        while followed < most {
            match self.step(scope, most - followed)? {
                None => break,
                Some(changes) => followed += changes,
            }
        }
        Ok(followed)
    }

    /// Returns how many positions the index is behind the log.
    pub(super) fn lag(&self, scope: &Scope) -> Result<u64> {
        // The position is read first, since the log only grows.
        let Position(at) = self.ports.index.position(scope)?;
        Ok(self.ports.log.head(scope)?.0.saturating_sub(at))
    }

    /// Brings the index at least up to a position.
    pub(super) fn follow_up_to(&self, scope: &Scope, position: Position) -> Result<()> {
        while self.ports.index.position(scope)? < position {
            if self.step(scope, MAX_CHANGES)?.is_none() {
                break;
            }
        }
        Ok(())
    }

    /// Brings the index of several projects up to the head of the log, in one go for all of them, and returns how far
    /// each was followed. Indexes about `most` changes at once, and gives each project the same share, so that a large
    /// one leaves room for others.
    pub fn follow_all(&self, scopes: &[Scope], most: usize) -> Vec<Result<Followed>> {
        let count = scopes.len().max(1);
        let room = Room { changes: (most.min(MAX_CHANGES) / count).max(1), bytes: MAX_STEP_BYTES / count };
        let gathered = self.gather_all(scopes, room);
        let ready = scopes.iter().zip(&gathered).filter_map(|(scope, gathered)| match gathered {
            Ok(Gathered::Changes { changes, step, .. }) => Some(ProjectChanges { scope, changes, step: *step }),
            _ => None,
        });
        let mut applied = self.ports.index.apply_all(&ready.collect::<Vec<_>>()).into_iter();
        let followed = gathered.into_iter().map(|gathered| match gathered? {
            Gathered::Nothing => Ok(Followed { positions: 0, is_behind: false }),
            Gathered::Cleared | Gathered::Later => Ok(Followed { positions: 0, is_behind: true }),
            Gathered::Changes { step, is_all, .. } => {
                // If another thread was faster, the next turn begins where it has come.
                let is_applied = applied.next().unwrap_or(Ok(false))?;
                Ok(Followed { positions: step.to.0 - step.from.0, is_behind: !(is_applied && is_all) })
            }
        });
        followed.collect()
    }

    /// Gathers the changes of several projects. A log or a store of texts that is far away answers several at once. If
    /// one of them cannot be used, the rest is left for the next turn instead of waiting for it each time.
    fn gather_all(&self, scopes: &[Scope], room: Room) -> Vec<Result<Gathered>> {
        let each = scopes.len().div_ceil(MAX_READERS).max(1);
        let gather = |scopes: &[Scope]| -> Vec<Result<Gathered>> {
            let mut is_down = false;
            let gather = |scope| {
                let gathered = if is_down { Ok(Gathered::Later) } else { self.gather(scope, room) };
                is_down |= gathered.as_ref().is_err_and(|error| error.kind == ErrorKind::Unavailable);
                gathered
            };
            scopes.iter().map(gather).collect()
        };
        if scopes.len() == 1 {
            return gather(scopes);
        }
        std::thread::scope(|threads| {
            let readers = scopes.chunks(each).map(|scopes| threads.spawn(move || gather(scopes)));
            let readers: Vec<_> = readers.collect();
            let join = |reader: ScopedJoinHandle<'_, _>| reader.join().unwrap_or_else(|panic| resume_unwind(panic));
            readers.into_iter().flat_map(join).collect()
        })
    }

    /// Indexes as much as fits in one step, but not many more than `most` changes. Returns how many changes that were,
    /// or `None` if there was nothing to do.
    fn step(&self, scope: &Scope, most: usize) -> Result<Option<usize>> {
        match self.gather(scope, Room { changes: most.min(MAX_CHANGES), bytes: MAX_STEP_BYTES })? {
            Gathered::Nothing => Ok(None),
            Gathered::Cleared | Gathered::Later => Ok(Some(0)),
            Gathered::Changes { changes, step, .. } => {
                // If another process was faster, the next step begins where it has come.
                self.ports.index.apply(scope, &changes, step)?;
                Ok(Some(changes.len().max(1)))
            }
        }
    }

    /// Reads what is new in the log of a project, until the room is used up.
    fn gather(&self, scope: &Scope, room: Room) -> Result<Gathered> {
        let from = self.ports.index.position(scope)?;
        let (mut changes, mut bytes, mut to, mut is_all) = (Vec::new(), 0, from, false);
        while !is_all && changes.len() < room.changes && bytes <= room.bytes {
            let batch = match self.ports.log.read_since(scope, to, BATCH, Readers::Index) {
                // The log was put back to an older state, so the index has followed what is gone.
                Err(PortError { kind: ErrorKind::Ahead, .. }) => {
                    self.ports.index.clear(scope)?;
                    return Ok(Gathered::Cleared);
                }
                other => other?,
            };
            let count = batch.records.len();
            is_all = count < BATCH;
            to = batch.next;
            for (number, StoredRecord { position, record }) in batch.records.into_iter().enumerate() {
                changes.extend(self.change(scope, &record)?.inspect(|change| bytes += size(change)));
                if bytes > room.bytes && number + 1 < count {
                    (to, is_all) = (position, false);
                    break;
                }
            }
        }
        if to == from {
            return Ok(Gathered::Nothing);
        }
        Ok(Gathered::Changes { changes, step: Step { from, to }, is_all })
    }

    fn change(&self, scope: &Scope, record: &Record) -> Result<Option<IndexChange>> {
        Ok(match &record.body {
            Body::Kept(kept) => Some(IndexChange::Put(Box::new(IndexedRecord {
                id: record.id,
                kind: kept.kind,
                audience: record.audience,
                author: record.author.user.clone(),
                source: kept.source.clone(),
                at: record.time.timestamp(),
                title: kept.title.clone(),
                text: self.indexed_text(scope, kept)?,
            }))),
            Body::Removed { record, .. } => Some(IndexChange::Remove(*record)),
            // What is sealed is searched on the machines of members.
            Body::Superseded { .. } | Body::Confirmed { .. } | Body::Sealed(_) | Body::Granted(_) => None,
        })
    }

    /// Returns the part of a text that is indexed, as a terminal would show it. A text that is missing or damaged is
    /// indexed by its title alone, so that it does not keep everything after it from being found.
    fn indexed_text(&self, scope: &Scope, kept: &Kept) -> Result<String> {
        let mut text = Vec::new();
        for range in entry::indexed(kept.bytes) {
            match self.ports.blobs.range(scope, &kept.text, range) {
                Ok(Some(part)) => text.extend(part),
                Ok(None) | Err(PortError { kind: ErrorKind::Damaged, .. }) => return Ok(String::new()),
                Err(error) => return Err(error),
            }
        }
        if terminal::is_binary(&text) {
            text.truncate(text.iter().position(|&byte| byte == 0).unwrap_or_default());
        }
        Ok(String::from_utf8_lossy(&terminal::clean(&text)).into_owned())
    }

    pub(super) fn indexed(&self, scope: &Scope, id: RecordId) -> Result<u64> {
        self.ports.index.holds(scope, &[id])
    }
}

fn size(change: &IndexChange) -> usize {
    match change {
        IndexChange::Put(record) => record.text.len() + record.title.len(),
        IndexChange::Remove(_) => 0,
    }
}

#[cfg(test)]
mod tests {
    use weir_core::{EntryKind, ProjectKey, Timestamp};

    use super::*;
    use crate::{Audience, NewRecord, Writer, memory};

    #[test]
    fn following_several_projects_gives_each_its_share() {
        let shelf = Shelf::new(memory::ports(), Writer::new().unwrap());
        let scope = |name: &str| Scope::project(ProjectKey(name.into()));
        let scopes = [scope("large"), scope("small"), scope("empty")];
        for (scope, count) in scopes.iter().zip([5 * BATCH, 2, 0]) {
            for number in 0..count {
                let note = NewRecord::new(EntryKind::Note, Audience::Team, "a note", number.to_string());
                shelf.keep(scope, note, Timestamp(1)).unwrap();
            }
        }
        let turn =
            || -> Vec<Followed> { shelf.follow_all(&scopes, 6 * BATCH).into_iter().map(Result::unwrap).collect() };
        let followed = |positions: usize, is_behind| Followed { positions: positions as u64, is_behind };
        assert_eq!(turn(), [followed(2 * BATCH, true), followed(2, false), followed(0, false)]);
        assert_eq!(turn(), [followed(2 * BATCH, true), followed(0, false), followed(0, false)]);
        assert_eq!(turn()[0], followed(BATCH, false));
        assert_eq!(turn()[0], followed(0, false));
        assert!(shelf.follow_all(&[], 1).is_empty());
    }

    #[test]
    fn following_stops_soon_after_as_many_changes_as_were_asked_for() {
        let shelf = Shelf::new(memory::ports(), Writer::new().unwrap());
        let scope = Scope::project(ProjectKey("api".into()));
        for number in 0..5 * BATCH {
            let note = NewRecord::new(EntryKind::Note, Audience::Team, "a note", number.to_string());
            shelf.keep(&scope, note, Timestamp(1)).unwrap();
        }
        let most = BATCH + 1;
        let followed = shelf.follow(&scope, most).unwrap();
        assert!((most..most + BATCH).contains(&followed), "{followed}");
        assert_eq!(shelf.lag(&scope).unwrap(), (5 * BATCH - followed) as u64);
        assert_eq!(shelf.follow(&scope, usize::MAX).unwrap(), 5 * BATCH - followed);
    }
}
