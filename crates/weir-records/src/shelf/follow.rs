//! Brings the index up to the head of the log. This is the only way into the index.

use weir_core::{Scope, entry, terminal};

use super::Shelf;
use crate::error::{ErrorKind, PortError, Result};
use crate::id::RecordId;
use crate::ports::{IndexChange, IndexedRecord, Position, Readers, Step, StoredRecord};
use crate::record::{Body, Kept, Record};

/// How many records are read at once. A sealed one may have 2 MiB.
const BATCH: usize = 32;
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

    /// Indexes as much as fits in one step, but not many more than `most` changes. Returns how many changes that were,
    /// or `None` if there was nothing to do.
    fn step(&self, scope: &Scope, most: usize) -> Result<Option<usize>> {
        let from = self.ports.index.position(scope)?;
        let (mut changes, mut bytes, mut to) = (Vec::new(), 0, from);
        while changes.len() < most.min(MAX_CHANGES) && bytes <= MAX_STEP_BYTES {
            let batch = match self.ports.log.read_since(scope, to, BATCH, Readers::Index) {
                // The log was put back to an older state, so the index has followed what is gone.
                Err(PortError { kind: ErrorKind::Ahead, .. }) => {
                    self.ports.index.clear(scope)?;
                    return Ok(Some(0));
                }
                other => other?,
            };
            if batch.next == to {
                break;
            }
            to = batch.next;
            let count = batch.records.len();
            for (number, StoredRecord { position, record }) in batch.records.into_iter().enumerate() {
                changes.extend(self.change(scope, &record)?.inspect(|change| bytes += size(change)));
                if bytes > MAX_STEP_BYTES && number + 1 < count {
                    to = position;
                    break;
                }
            }
        }
        if to == from {
            return Ok(None);
        }
        // If another process was faster, the next step begins where it has come.
        self.ports.index.apply(scope, &changes, Step { from, to })?;
        Ok(Some(changes.len().max(1)))
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
