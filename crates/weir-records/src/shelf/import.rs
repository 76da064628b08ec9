//! Takes in records that were written elsewhere. Invariants: one result for each record, and a bad one does not fail
//! the others; taking in the same record again changes nothing; a record comes with its text, since the key alone would
//! give access to the text of anybody in the tenant; what a user sends has a host that nobody else has sent from.

use std::collections::BTreeSet;
use std::ops::Range;

use weir_core::{Scope, Timestamp};

use super::Shelf;
use super::forget::TakenText;
use crate::error::{ErrorKind, PortError, Result};
use crate::id::{HostId, TextKey};
use crate::ports::{KeptTexts, Position, Texts};
use crate::record::{Body, Record, Remover};

/// Maximum size of a title, of another field, or of the path of a file, in bytes.
const MAX_FIELD_BYTES: usize = 16 << 10;
/// How many files a note may be about.
const MAX_FILES: usize = 1_000;
/// How many records are appended at once. The log reads what it has under their ids, and a sealed record may have
/// 2 MiB.
const MAX_PART_RECORDS: usize = 100;
/// How much of the records that are removed is in memory at once, in bytes. Their texts are put back if the removal
/// fails.
const MAX_TAKEN_BYTES: usize = 16 << 20;

/// A record from elsewhere.
#[derive(Debug, Clone)]
pub struct Incoming {
    pub record: Record,
    /// Its text, if it keeps an entry.
    pub text: Option<Vec<u8>>,
}

/// Where records come from, which decides whose they may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sender {
    /// The user of the scope: every record must be their own.
    Author,
    /// Another log that this one trusts, such as that of a server: every record must be visible in the scope.
    Log,
}

impl Shelf {
    /// Appends records from elsewhere, with their texts. Returns a result for each.
    pub fn import(
        &self,
        scope: &Scope,
        incoming: &[Incoming],
        sender: &Sender,
        now: Timestamp,
    ) -> Vec<Result<Position>> {
        let mut results: Vec<Result<Position>> = Vec::with_capacity(incoming.len());
        results.extend(incoming.iter().map(|one| check(scope, one, sender, now).map(|()| Position(0))));
        if *sender == Sender::Author {
            self.refuse_foreign_hosts(scope, incoming, &mut results);
        }
        self.refuse_clear(scope, incoming, &mut results);
        let mut next = 0;
        while next < incoming.len() {
            next = self.import_part(scope, incoming, next, &mut results);
        }
        for (one, _) in incoming.iter().zip(&results).filter(|(_, result)| result.is_ok()) {
            self.writer.observe(&scope.tenant, one.record.time, now);
        }
        results
    }

    /// Appends the records from a place on that are good so far, as many as may be in memory at once, with their texts.
    /// Returns the place of the next record.
    fn import_part(
        &self,
        scope: &Scope,
        incoming: &[Incoming],
        from: usize,
        results: &mut [Result<Position>],
    ) -> usize {
        let (mut taken, end) = self.take_removed_texts(scope, incoming, from, results);
        taken.extend(self.store_texts(scope, incoming, from..end, results));
        let good: Vec<usize> = (from..end).filter(|&at| results[at].is_ok()).collect();
        let records: Vec<Record> = good.iter().map(|&at| incoming[at].record.clone()).collect();
        let texts = self.small(good.iter().filter_map(|&at| text_of(&incoming[at])));
        for (&at, result) in good.iter().zip(self.append_each(scope, &records, &texts)) {
            results[at] = result;
        }
        taken.extend(self.others(scope, incoming, &good, results));
        let (places, texts): (Vec<usize>, Vec<TakenText>) = taken.into_iter().unzip();
        if let Err(error) = self.settle(scope, &texts) {
            // It is not known which of them are stored, so all have to be sent again.
            for at in places {
                if results[at].is_ok() {
                    results[at] = Err(copy_of(&error));
                }
            }
        }
        end
    }

    /// Binds the hosts of the records that were admitted to the user of the scope, and refuses records of other users'
    /// hosts, and ids that this server gives itself.
    fn refuse_foreign_hosts(&self, scope: &Scope, incoming: &[Incoming], results: &mut [Result<Position>]) {
        let own = self.writer.host();
        let admitted = incoming.iter().zip(results.iter()).filter(|(_, result)| result.is_ok());
        let hosts: BTreeSet<HostId> = admitted.map(|(one, _)| one.record.id.host).filter(|host| *host != own).collect();
        let hosts: Vec<HostId> = hosts.into_iter().collect();
        let bound = if hosts.is_empty() { Ok(Vec::new()) } else { self.ports.log.bind_hosts(scope, &hosts) };
        for (Incoming { record, .. }, result) in incoming.iter().zip(results).filter(|(_, result)| result.is_ok()) {
            match &bound {
                Ok(others) if others.contains(&record.id.host) || self.writer.may_give(record.id) => {
                    *result = Err(refused(record, ErrorKind::ForeignHost));
                }
                Ok(_) => {}
                Err(error) => *result = Err(copy_of(error)),
            }
        }
    }

    /// Appends records at once, or one by one if some are refused.
    fn append_each(&self, scope: &Scope, records: &[Record], texts: &Texts<'_>) -> Vec<Result<Position>> {
        match self.ports.log.append_with_texts(scope, records, texts) {
            Ok(positions) => positions.into_iter().map(Ok).collect(),
            // Each would wait as long as all of them did.
            Err(error) if error.kind.may_pass() => records.iter().map(|_| Err(copy_of(&error))).collect(),
            Err(_) => records.iter().map(|record| self.append_record(scope, record, texts)).collect(),
        }
    }

    /// Refuses clear records of a sealed project, before their texts are stored, except those that the log has had
    /// since before it was sealed.
    fn refuse_clear(&self, scope: &Scope, incoming: &[Incoming], results: &mut [Result<Position>]) {
        let clear = incoming.iter().zip(results).filter(|(one, result)| one.text.is_some() && result.is_ok());
        let mut clear = clear.peekable();
        if clear.peek().is_none() {
            return;
        }
        let sealed = self.is_sealed(scope);
        for (Incoming { record, .. }, result) in clear {
            let checked = match &sealed {
                Ok(false) => return,
                Ok(true) => self.one(scope, record.id).map(|known| known.as_ref() == Some(record)),
                Err(error) => Err(copy_of(error)),
            };
            match checked {
                Ok(true) => {}
                Ok(false) => {
                    let hint = "run `weir sync` of a version that can seal it";
                    *result = Err(refused(record, ErrorKind::Sealed).because(hint));
                }
                Err(error) => *result = Err(error),
            }
        }
    }

    /// Takes the texts of the records that those from a place on remove, until the part is full. Returns them with the
    /// places of the records that remove them, and the place where the next part begins. The texts have to be settled
    /// once the records are in the log or refused.
    fn take_removed_texts(
        &self,
        scope: &Scope,
        incoming: &[Incoming],
        from: usize,
        results: &mut [Result<Position>],
    ) -> (Vec<(usize, TakenText)>, usize) {
        let end = incoming.len().min(from + MAX_PART_RECORDS);
        let (mut taken, mut bytes) = (Vec::new(), 0);
        for (at, one) in incoming.iter().enumerate().take(end).skip(from) {
            if results[at].is_err() {
                continue;
            }
            match self.take_removed(scope, &one.record) {
                Ok((text, size)) => {
                    taken.extend(text.map(|text| (at, text)));
                    bytes = size.saturating_add(bytes);
                }
                // Each of the others would wait as long.
                Err(error) if error.kind.may_pass() => {
                    let rest = results.iter_mut().skip(at).filter(|result| result.is_ok());
                    rest.for_each(|result| *result = Err(copy_of(&error)));
                    return (taken, incoming.len());
                }
                Err(error) => results[at] = Err(error),
            }
            if bytes >= MAX_TAKEN_BYTES {
                return (taken, at + 1);
            }
        }
        (taken, end)
    }

    /// Stores the texts of the records at these places that are good so far and that the log does not keep. Returns them
    /// with the places; they have to be settled too.
    fn store_texts(
        &self,
        scope: &Scope,
        incoming: &[Incoming],
        places: Range<usize>,
        results: &mut [Result<Position>],
    ) -> Vec<(usize, TakenText)> {
        let of = |at: usize| incoming[at].text.as_deref().filter(|text| !self.keeps(text.len()));
        let with_text: Vec<usize> = places.filter(|&at| results[at].is_ok() && of(at).is_some()).collect();
        let texts: Vec<&[u8]> = with_text.iter().filter_map(|&at| of(at)).collect();
        let mut stored = Vec::new();
        for ((at, text), put) in with_text.into_iter().zip(&texts).zip(self.ports.blobs.put_all(scope, &texts)) {
            match put {
                Ok(key) => stored.push((at, TakenText { key, text: Some(text.to_vec()) })),
                Err(error) => results[at] = Err(error),
            }
        }
        stored
    }

    /// Returns the small texts of the records at these places that the log does not keep, because a server that keeps
    /// none appended those, with the places. They have to be settled as well.
    fn others(
        &self,
        scope: &Scope,
        incoming: &[Incoming],
        places: &[usize],
        results: &mut [Result<Position>],
    ) -> Vec<(usize, TakenText)> {
        let good = places.iter().filter(|&&at| results[at].is_ok());
        let with_key = good.filter_map(|&at| Some((at, text_of(&incoming[at])?)));
        let small: Vec<(usize, (TextKey, &[u8]))> = with_key.filter(|(_, (_, text))| self.keeps(text.len())).collect();
        let keys: Vec<TextKey> = small.iter().map(|(_, (key, _))| *key).collect();
        let kept = if keys.is_empty() { Ok(KeptTexts::new()) } else { self.ports.log.kept_texts(scope, &keys) };
        match kept {
            Ok(kept) => {
                let others = small.into_iter().filter(|(_, (key, _))| !kept.contains_key(key));
                others.map(|(at, (key, text))| (at, TakenText { key, text: Some(text.to_vec()) })).collect()
            }
            Err(error) => {
                // It is not known which of them are stored, so all have to be sent again.
                small.iter().for_each(|(at, _)| results[*at] = Err(copy_of(&error)));
                Vec::new()
            }
        }
    }

    /// Takes the text of the record that this one removes, if it removes one. Also returns how large that record is.
    fn take_removed(&self, scope: &Scope, record: &Record) -> Result<(Option<TakenText>, usize)> {
        let Body::Removed { record: target, .. } = &record.body else { return Ok((None, 0)) };
        let Some(target) = self.one(scope, *target)? else { return Ok((None, 0)) };
        record.check_removal_of(&target)?;
        let size = match &target.body {
            Body::Kept(kept) => usize::try_from(kept.bytes).unwrap_or(usize::MAX),
            Body::Sealed(sealed) => sealed.content.len(),
            _ => 0,
        };
        Ok((self.take_text(scope, &target, record.remover())?, size))
    }
}

/// Returns the text of a record with its key, if it has one.
fn text_of(one: &Incoming) -> Option<(TextKey, &[u8])> {
    Some((one.record.body.kept()?.text, one.text.as_deref()?))
}

fn check(scope: &Scope, one: &Incoming, sender: &Sender, now: Timestamp) -> Result<()> {
    let Incoming { record, text } = one;
    record.check(scope)?;
    // That its author is an admin is the word of a server.
    let is_allowed = record.author.user == scope.user && !matches!(record.remover(), Remover::Admin);
    if *sender == Sender::Author && !is_allowed {
        return Err(refused(record, ErrorKind::NotAuthor));
    }
    record.check_size()?;
    if let Some(wrong) = too_much(record) {
        return Err(refused(record, ErrorKind::Invalid).because(wrong));
    }
    record.time.check(now).map_err(|error| refused(record, ErrorKind::Invalid).because(error))?;
    let matches = match (record.body.kept(), text) {
        (None, None) => true,
        (Some(kept), Some(text)) => kept.bytes == text.len() as u64 && kept.text == TextKey::of(text),
        _ => false,
    };
    if !matches {
        return Err(refused(record, ErrorKind::Invalid).because("its text is missing or is another"));
    }
    Ok(())
}

/// Returns the same error, for another record.
pub(super) fn copy_of(error: &PortError) -> PortError {
    let copy = PortError::new(error.kind, error.at.clone());
    match &error.source {
        Some(reason) => copy.because(reason.to_string()),
        None => copy,
    }
}

fn refused(record: &Record, kind: ErrorKind) -> PortError {
    PortError::new(kind, format!("take in record {}", record.id))
}

/// Says which field of a record is longer than any machine writes it, if one is.
fn too_much(record: &Record) -> Option<&'static str> {
    let is_long = |text: &str| text.len() > MAX_FIELD_BYTES;
    if is_long(&record.author.client) {
        return Some("the name of its client is too long");
    }
    let kept = record.body.kept()?;
    if is_long(&kept.title) {
        return Some("its title is too long");
    }
    if kept.source.as_deref().is_some_and(is_long) {
        return Some("its source is too long");
    }
    let note = kept.note.as_ref()?;
    let fields = [&note.topic, &note.commit, &note.branch];
    if fields.into_iter().flatten().any(|field| is_long(field)) {
        return Some("its topic, commit or branch is too long");
    }
    if note.files.len() > MAX_FILES {
        return Some("it is about too many files");
    }
    note.files.iter().any(|file| is_long(&file.path) || is_long(&file.hash)).then_some("the path of a file is too long")
}

impl Incoming {
    pub fn new(record: Record, text: Option<Vec<u8>>) -> Self {
        Self { record, text }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use weir_core::{EntryKind, ProjectKey, TenantId, UserId};

    use super::*;
    use crate::memory::{self, MemoryBlobs};
    use crate::{Audience, Blobs, NewRecord, Ports, RecordId, Writer};

    const NOW: Timestamp = Timestamp(1_700_000_000_000);

    /// Texts in memory that count how many are read before texts are settled.
    #[derive(Default)]
    struct WatchedBlobs {
        inner: MemoryBlobs,
        /// How many were read since, and the most there ever were.
        read: Mutex<(usize, usize)>,
    }

    impl Blobs for WatchedBlobs {
        fn put(&self, scope: &Scope, text: &[u8]) -> Result<TextKey> {
            self.inner.put(scope, text)
        }

        fn put_all(&self, scope: &Scope, texts: &[&[u8]]) -> Vec<Result<TextKey>> {
            self.read.lock().unwrap().0 = 0;
            self.inner.put_all(scope, texts)
        }

        fn get(&self, scope: &Scope, key: &TextKey) -> Result<Option<Vec<u8>>> {
            let mut read = self.read.lock().unwrap();
            *read = (read.0 + 1, read.1.max(read.0 + 1));
            self.inner.get(scope, key)
        }

        fn range(&self, scope: &Scope, key: &TextKey, range: Range<u64>) -> Result<Option<Vec<u8>>> {
            self.inner.range(scope, key, range)
        }

        fn delete(&self, scope: &Scope, key: &TextKey) -> Result<bool> {
            self.inner.delete(scope, key)
        }
    }

    #[test]
    fn few_texts_of_removed_records_are_in_memory_at_once() {
        let blobs = Arc::new(WatchedBlobs::default());
        let ports = Ports { blobs: blobs.clone(), ..memory::ports() };
        let shelf = Shelf::new(ports, Writer::new().unwrap());
        let scope = Scope {
            tenant: TenantId("acme".into()),
            user: UserId("ana".into()),
            ..Scope::project(ProjectKey("api".into()))
        };
        let note = NewRecord::new(EntryKind::Note, Audience::Team, "a note", "first");
        let first = shelf.keep(&scope, note, NOW).unwrap();
        let host = HostId::random().unwrap();
        let with = |index, body| Record { id: RecordId { host, index }, body, ..first.clone() };
        let large = |index: u64| {
            let text = index.to_string().repeat(MAX_TAKEN_BYTES / 2);
            let mut kept = first.body.kept().unwrap().clone();
            (kept.text, kept.bytes) = (TextKey::of(text.as_bytes()), text.len() as u64);
            Incoming::new(with(index, Body::Kept(Box::new(kept))), Some(text.into_bytes()))
        };
        for index in 0..5 {
            assert!(shelf.import(&scope, &[large(index)], &Sender::Author, NOW)[0].is_ok());
        }
        let removal = |index| Body::forgets(RecordId { host, index });
        let removals: Vec<Incoming> =
            (0..5).map(|index| Incoming::new(with(10 + index, removal(index)), None)).collect();
        let results = shelf.import(&scope, &removals, &Sender::Author, NOW);
        let positions: Vec<u64> = results.into_iter().map(|result| result.unwrap().0).collect();
        assert_eq!(positions, [7, 8, 9, 10, 11]);
        assert_eq!(blobs.read.lock().unwrap().1, 2);
        let ids: Vec<RecordId> = (0..5).map(|index| RecordId { host, index }).collect();
        assert_eq!(shelf.ports().log.records(&scope, &ids).unwrap(), []);
    }
}
