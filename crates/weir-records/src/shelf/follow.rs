//! Brings the index up to the head of the log. This is the only way into the index.

use weir_core::{Scope, entry, terminal};

use super::Shelf;
use crate::error::{ErrorKind, PortError, Result};
use crate::id::RecordId;
use crate::ports::{IndexChange, IndexedRecord, Position, Readers, Step, StoredRecord, TextPart};
use crate::record::{Body, Kept, Record};

/// How many records are read at once, and how many texts are waited for together.
const BATCH: usize = 512;
/// How many changes are indexed at once. An index that is far behind needs few commits this way.
const MAX_CHANGES: usize = 16 << 10;
/// How much text is indexed at once, in bytes. A step ends with the record that exceeds it.
const MAX_STEP_BYTES: usize = 16 << 20;

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

    /// Indexes as much as fits in one step, but not many more than `most` changes.
    fn step(&self, scope: &Scope, most: usize) -> Result<StepDone> {
        let from = self.ports.index.position(scope)?;
        let (mut changes, mut bytes, mut to, mut head) = (Vec::new(), 0, from, from);
        while changes.len() < most.min(MAX_CHANGES) && bytes <= MAX_STEP_BYTES {
            let limit = BATCH.min(most - changes.len());
            let batch = match self.ports.log.read_since(scope, to, limit, Readers::Index) {
                // The log was put back to an older state, so the index has followed what is gone.
                Err(PortError { kind: ErrorKind::Ahead, .. }) => {
                    self.ports.index.clear(scope)?;
                    return Ok(StepDone { changes: Some(0), behind: self.ports.log.head(scope)?.0 });
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
                let fits = bytes <= MAX_STEP_BYTES;
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
        let behind = head.0.saturating_sub(to.0);
        if to == from {
            return Ok(StepDone { changes: None, behind });
        }
        // If another process was faster, the next step begins where it has come.
        let is_applied = self.ports.index.apply(scope, &changes, Step { from, to })?;
        let behind = if is_applied { behind } else { self.lag(scope)? };
        Ok(StepDone { changes: Some(changes.len().max(1)), behind })
    }

    /// Returns what these records change in the index. Their texts are fetched together.
    fn changes(&self, scope: &Scope, records: &[StoredRecord]) -> Result<Vec<IndexChange>> {
        let kept = || records.iter().filter_map(|stored| stored.record.body.kept());
        let parts_of = |kept: &Kept| {
            let key = kept.text;
            entry::indexed(kept.bytes).into_iter().map(move |range| TextPart { key, range })
        };
        let parts: Vec<TextPart> = kept().flat_map(parts_of).collect();
        let mut read = self.ports.blobs.range_all(scope, &parts).into_iter();
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
