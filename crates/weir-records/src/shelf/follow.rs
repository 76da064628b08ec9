//! Brings the index up to the head of the log. This is the only way into the index.

use std::panic::resume_unwind;
use std::thread::ScopedJoinHandle;

use weir_core::{Scope, entry, terminal};

use super::Shelf;
use super::texts::EntryPart;
use crate::error::{ErrorKind, PortError, Result};
use crate::id::RecordId;
use crate::ports::{IndexChange, IndexedRecord, Position, ProjectChanges, Readers, Step, StoredRecord};
use crate::record::{Body, Kept, Record};

/// How many records are read at once, and how many texts are waited for together.
const BATCH: usize = 512;
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
        /// The head of the log when it was read.
        head: Position,
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
        Ok(self.catch_up(scope, most)?.changes)
    }

    /// Does what [`follow`](Self::follow) does, and also returns how far the index is behind then.
    pub(super) fn catch_up(&self, scope: &Scope, most: usize) -> Result<CaughtUp> {
        let mut done = CaughtUp { changes: 0, behind: 0 };
        while done.changes < most {
            let step = self.step(scope, most - done.changes)?;
            done.behind = step.behind;
            match step.changes {
                Some(changes) => done.changes += changes,
                None => break,
            }
            if step.behind == 0 {
                break;
            }
        }
        Ok(done)
    }

    /// Returns how many positions the index is behind the log.
    fn lag(&self, scope: &Scope) -> Result<u64> {
        // The position is read first, since the log only grows.
        let Position(at) = self.ports.index.position(scope)?;
        Ok(self.ports.log.head(scope)?.0.saturating_sub(at))
    }

    /// Brings the index at least up to a position.
    pub(super) fn follow_up_to(&self, scope: &Scope, position: Position) -> Result<()> {
        while self.ports.index.position(scope)? < position {
            if self.step(scope, MAX_CHANGES)?.changes.is_none() {
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
            Gathered::Changes { step, head, .. } => {
                // If another thread was faster, the next turn begins where it has come.
                let is_applied = applied.next().unwrap_or(Ok(false))?;
                Ok(Followed { positions: step.to.0 - step.from.0, is_behind: !is_applied || step.to < head })
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

    /// Indexes as much as fits in one step, but not many more than `most` changes.
    fn step(&self, scope: &Scope, most: usize) -> Result<StepDone> {
        match self.gather(scope, Room { changes: most.min(MAX_CHANGES), bytes: MAX_STEP_BYTES })? {
            Gathered::Nothing => Ok(StepDone { changes: None, behind: 0 }),
            Gathered::Cleared | Gathered::Later => {
                Ok(StepDone { changes: Some(0), behind: self.ports.log.head(scope)?.0 })
            }
            Gathered::Changes { changes, step, head } => {
                // If another process was faster, the next step begins where it has come.
                let is_applied = self.ports.index.apply(scope, &changes, step)?;
                let behind = if is_applied { head.0.saturating_sub(step.to.0) } else { self.lag(scope)? };
                Ok(StepDone { changes: Some(changes.len().max(1)), behind })
            }
        }
    }

    /// Reads what is new in the log of a project, until the room is used up.
    fn gather(&self, scope: &Scope, room: Room) -> Result<Gathered> {
        let from = self.ports.index.position(scope)?;
        let (mut changes, mut bytes, mut to, mut head) = (Vec::new(), 0, from, from);
        while changes.len() < room.changes && bytes <= room.bytes {
            let limit = BATCH.min(room.changes - changes.len());
            let batch = match self.ports.log.read_since(scope, to, limit, Readers::Index) {
                // The log was put back to an older state, so the index has followed what is gone.
                Err(PortError { kind: ErrorKind::Ahead, .. }) => {
                    self.ports.index.clear(scope)?;
                    return Ok(Gathered::Cleared);
                }
                other => other?,
            };
            head = batch.head;
            if batch.next == to {
                break;
            }
            to = batch.next;
            let mut records = batch.records;
            let fitting = records.iter().take_while(|stored| {
                let fits = bytes <= room.bytes;
                bytes = if fits { bytes.saturating_add(indexed_bytes(&stored.record)) } else { bytes };
                fits
            });
            let count = fitting.count();
            if count < records.len() {
                records.truncate(count);
                to = records.last().map_or(to, |last| last.position);
            }
            changes.extend(self.changes(scope, &records)?);
            if to >= head {
                break;
            }
        }
        if to == from {
            return Ok(Gathered::Nothing);
        }
        Ok(Gathered::Changes { changes, step: Step { from, to }, head })
    }

    /// Returns what these records change in the index. Their texts are fetched together.
    fn changes(&self, scope: &Scope, records: &[StoredRecord]) -> Result<Vec<IndexChange>> {
        let kept = || records.iter().filter_map(|stored| stored.record.body.kept());
        let parts: Vec<EntryPart<'_>> = kept().flat_map(indexed_parts).collect();
        let mut read = self.read_parts(scope, &parts).into_iter();
        let mut changes = Vec::new();
        for StoredRecord { record, .. } in records {
            changes.extend(match &record.body {
                Body::Kept(kept) => Some(IndexChange::Put(Box::new(IndexedRecord {
                    id: record.id,
                    kind: kept.kind,
                    audience: record.audience,
                    author: record.author.user.clone(),
                    source: kept.source.clone(),
                    at: record.time.timestamp(),
                    title: kept.title.clone(),
                    text: indexed_text(read.by_ref().take(entry::indexed(kept.bytes).len()))?,
                }))),
                Body::Removed { record, .. } => Some(IndexChange::Remove(*record)),
                // What is sealed is searched on the machines of members.
                Body::Superseded { .. } | Body::Confirmed { .. } | Body::Sealed(_) | Body::Granted(_) => None,
            });
        }
        Ok(changes)
    }

    pub(super) fn indexed(&self, scope: &Scope, id: RecordId) -> Result<u64> {
        self.ports.index.holds(scope, &[id])
    }
}

/// How far an index was brought.
pub(super) struct CaughtUp {
    pub(super) changes: usize,
    /// How many positions of the log it does not have.
    pub(super) behind: u64,
}

/// What a step did.
struct StepDone {
    /// How many changes it followed, or `None` if there was nothing to do.
    changes: Option<usize>,
    /// How many positions of the log the index does not have.
    behind: u64,
}

/// Returns the parts of a text that are indexed.
fn indexed_parts(entry: &Kept) -> impl Iterator<Item = EntryPart<'_>> {
    entry::indexed(entry.bytes).into_iter().map(move |range| EntryPart { entry, range })
}

/// Returns the text that is indexed from its parts, as a terminal would show it. A text that is missing or damaged is
/// indexed by its title alone, so that it does not keep everything after it from being found.
fn indexed_text(parts: impl Iterator<Item = Result<Option<Vec<u8>>>>) -> Result<String> {
    let (mut text, mut is_lost) = (Vec::new(), false);
    // Every part is taken, because those of the next text follow.
    for part in parts {
        match part {
            Ok(Some(part)) => text.extend(part),
            Ok(None) | Err(PortError { kind: ErrorKind::Damaged, .. }) => is_lost = true,
            Err(error) => return Err(error),
        }
    }
    if is_lost {
        return Ok(String::new());
    }
    if terminal::is_binary(&text) {
        text.truncate(text.iter().position(|&byte| byte == 0).unwrap_or_default());
    }
    Ok(String::from_utf8_lossy(&terminal::clean(&text)).into_owned())
}

/// Returns how much of a record an index gets, in bytes.
fn indexed_bytes(record: &Record) -> usize {
    record.body.kept().map_or(0, |kept| {
        let text: u64 = entry::indexed(kept.bytes).iter().map(|range| range.end - range.start).sum();
        kept.title.len().saturating_add(usize::try_from(text).unwrap_or(usize::MAX))
    })
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
