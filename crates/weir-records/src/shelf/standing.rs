//! What later records say about a record.

use std::collections::{BTreeMap, BTreeSet};

use weir_core::{Scope, Timestamp, UserId};

use super::Shelf;
use crate::error::Result;
use crate::id::RecordId;
use crate::ports::{LookUps, MAX_ABOUT, StoredRecord};
use crate::record::{Body, Kept, Record};

/// A record that keeps an entry, with what later records say about it. Only records that the scope sees count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptRecord {
    pub record: Record,
    /// The newest record that took its place. A record whose successor was removed stands again.
    pub superseded_by: Option<RecordId>,
    /// Who has confirmed it, oldest first, each user once.
    pub confirmed: Vec<Confirmation>,
    /// Whether there are older records about it than the [`MAX_ABOUT`] that this is taken from.
    pub has_more: bool,
}

/// How many revisions of a topic are looked at for forks, the newest.
const MAX_REVISIONS: usize = 200;
/// How many records are in memory at once to see that they exist. Each may have 256 KiB.
const MAX_READ: usize = 100;

/// A user's confirmation of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confirmation {
    pub by: UserId,
    pub at: Timestamp,
}

impl KeptRecord {
    pub fn entry(&self) -> Option<&Kept> {
        self.record.body.kept()
    }
}

/// How many topics are looked at together. Each may have [`MAX_TOPIC_BYTES`](crate::MAX_TOPIC_BYTES).
const MAX_TOPICS: usize = 20;

impl Shelf {
    /// Returns the other current notes on the topic of each of these records: a fork, if there are any. A superseded
    /// record has one only if several took its place.
    pub fn forks_of(&self, scope: &Scope, kept: &[KeptRecord]) -> Result<Vec<Vec<KeptRecord>>> {
        forks(&mut *self.ports.log.look_ups(scope), kept)
    }

    /// Adds to records what later ones say about them, and leaves out those that keep no entry. Keeps their order.
    pub(super) fn with_standing(&self, scope: &Scope, found: Vec<StoredRecord>) -> Result<Vec<KeptRecord>> {
        standing(&mut *self.ports.log.look_ups(scope), found)
    }
}

/// Does what [`Shelf::forks_of`] does.
pub(super) fn forks(look_ups: &mut dyn LookUps, kept: &[KeptRecord]) -> Result<Vec<Vec<KeptRecord>>> {
    let topics: BTreeSet<&str> = kept.iter().filter_map(|kept| kept.record.topic()).collect();
    let mut heads: BTreeMap<&str, Vec<KeptRecord>> = BTreeMap::new();
    for some in Vec::from_iter(topics.iter().copied()).chunks(MAX_TOPICS) {
        let found = look_ups.on_topics(some, MAX_REVISIONS)?;
        for head in standing(look_ups, found)?.into_iter().filter(|kept| kept.superseded_by.is_none()) {
            let Some(topic) = head.record.topic().and_then(|topic| topics.get(topic)) else { continue };
            let of_topic = heads.entry(topic).or_default();
            // Of each user, the newest counts.
            of_topic.retain(|known| known.record.author.user != head.record.author.user);
            of_topic.push(head);
        }
    }
    Ok(kept.iter().map(|kept| fork(kept, &heads)).collect())
}

/// Returns the other current notes on the topic of a record, oldest first, from those of all topics.
fn fork(kept: &KeptRecord, heads: &BTreeMap<&str, Vec<KeptRecord>>) -> Vec<KeptRecord> {
    let of_topic = kept.record.topic().and_then(|topic| heads.get(topic)).map_or(&[][..], Vec::as_slice);
    let mut others: Vec<KeptRecord> =
        of_topic.iter().filter(|head| head.record.id != kept.record.id).cloned().collect();
    let is_own = |head: &KeptRecord| head.record.author.user == kept.record.author.user;
    // A newer revision by the same user takes the place of this one, whether it says so or not.
    if (kept.superseded_by.is_some() || others.iter().any(is_own)) && others.len() < 2 {
        others.clear();
    }
    others
}

/// Does what [`Shelf::with_standing`] does.
pub(super) fn standing(look_ups: &mut dyn LookUps, found: Vec<StoredRecord>) -> Result<Vec<KeptRecord>> {
    let entries = found.into_iter().map(|stored| stored.record).filter(|record| record.body.kept().is_some());
    let mut kept: Vec<KeptRecord> = entries
        .map(|record| KeptRecord { record, superseded_by: None, confirmed: Vec::new(), has_more: false })
        .collect();
    if kept.is_empty() {
        return Ok(kept);
    }
    let ids: Vec<RecordId> = kept.iter().map(|kept| kept.record.id).collect();
    let later = look_ups.about(&ids, MAX_ABOUT + 1)?;
    let successors = visible_successors(look_ups, &later)?;
    let mut by_target: BTreeMap<RecordId, Vec<Record>> = BTreeMap::new();
    for StoredRecord { record, .. } in later {
        if let Some(about) = record.body.about() {
            by_target.entry(about).or_default().push(record);
        }
    }
    for kept in &mut kept {
        let later = by_target.get(&kept.record.id).map_or(&[][..], Vec::as_slice);
        let unread = later.len().saturating_sub(MAX_ABOUT);
        kept.has_more = unread > 0;
        later.iter().skip(unread).for_each(|later| kept.add(later, &successors));
    }
    Ok(kept)
}

fn visible_successors(look_ups: &mut dyn LookUps, later: &[StoredRecord]) -> Result<BTreeSet<RecordId>> {
    let named = later.iter().filter_map(|stored| match stored.record.body {
        Body::Superseded { by, .. } => Some(by),
        _ => None,
    });
    let named: BTreeSet<RecordId> = named.collect();
    let mut visible = BTreeSet::new();
    for some in Vec::from_iter(named).chunks(MAX_READ) {
        visible.extend(look_ups.records(some)?.into_iter().map(|stored| stored.record.id));
    }
    Ok(visible)
}

impl KeptRecord {
    fn add(&mut self, later: &Record, successors: &BTreeSet<RecordId>) {
        match &later.body {
            Body::Superseded { by, .. } if successors.contains(by) => self.superseded_by = Some(*by),
            Body::Confirmed { by, .. } if self.confirmed.iter().all(|known| known.by != *by) => {
                self.confirmed.push(Confirmation { by: by.clone(), at: later.time.timestamp() });
            }
            _ => {}
        }
    }
}
