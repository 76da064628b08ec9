//! The log in memory.

use std::collections::BTreeMap;
use std::sync::Mutex;

use weir_core::{Reference, Scope, TenantId, UserId};

use super::{Place, lock, place};
use crate::erased::{Imprint, KnownContent};
use crate::error::{ErrorKind, PortError, Result};
use crate::id::{HostId, RecordId, TextKey};
use crate::ports::{
    Batch, Head, HeadPage, HeadWalk, KeptTexts, Log, MAX_READ_BYTES, Once, Position, Readers, StoredRecord,
};
use crate::record::{Body, Record};
use crate::requests::RequestKey;
use crate::sealed::GRANTS;

#[derive(Debug, Default)]
pub struct MemoryLog {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    projects: BTreeMap<Place, Project>,
    ids: BTreeMap<(TenantId, RecordId), (Place, usize)>,
    /// The keys of requests, with what each stands for.
    requests: BTreeMap<(TenantId, [u8; 32]), (RequestKey, RecordId)>,
    /// Whose each host is; `None` for that of a server.
    hosts: BTreeMap<(TenantId, HostId), Option<UserId>>,
    /// How often a head has moved.
    moves: u64,
}

#[derive(Debug, Default)]
struct Project {
    /// The records in order; `None` for an erased one. The first is at position 1.
    records: Vec<Option<Record>>,
    imprints: Vec<Imprint>,
    about: BTreeMap<RecordId, Vec<usize>>,
    /// Which of all moves was the last of its head.
    moved: u64,
}

/// What has to be undone if a later record of the same call fails.
#[derive(Debug, Default)]
struct Done {
    appended: Vec<RecordId>,
    erased: Vec<(usize, Record)>,
}

impl Log for MemoryLog {
    fn append(&self, scope: &Scope, records: &[Record]) -> Result<Vec<Position>> {
        records.iter().try_for_each(|record| record.check(scope))?;
        let mut state = lock(&self.state);
        let mut done = Done::default();
        let appended = records.iter().map(|record| state.append(&place(scope), record, &mut done)).collect();
        if Result::is_err(&appended) {
            state.undo(&place(scope), done);
        }
        appended
    }

    fn append_once(&self, scope: &Scope, record: &Record, key: &RequestKey) -> Result<Once> {
        record.check(scope)?;
        let mut state = lock(&self.state);
        if let Some(known) = state.request(scope, key) {
            return Ok(known);
        }
        let mut done = Done::default();
        let appended = state.append(&place(scope), record, &mut done);
        match appended {
            Ok(position) => {
                state.requests.insert((scope.tenant.clone(), key.name), (*key, record.id));
                Ok(Once::Appended(position))
            }
            Err(error) => {
                state.undo(&place(scope), done);
                Err(error)
            }
        }
    }

    fn max_kept_text(&self) -> usize {
        0
    }

    fn kept_texts(&self, _: &Scope, _: &[TextKey]) -> Result<KeptTexts> {
        Ok(KeptTexts::new())
    }

    fn request(&self, scope: &Scope, key: &RequestKey) -> Result<Option<Once>> {
        Ok(lock(&self.state).request(scope, key))
    }

    fn bind_hosts(&self, scope: &Scope, hosts: &[HostId]) -> Result<Vec<HostId>> {
        let mut state = lock(&self.state);
        let is_foreign = |host: &HostId| state.bind(scope, *host).as_ref() != Some(&scope.user);
        let mut others: Vec<HostId> = hosts.iter().copied().filter(is_foreign).collect();
        others.sort_unstable();
        others.dedup();
        Ok(others)
    }

    fn read_since(&self, scope: &Scope, after: Position, limit: usize, readers: Readers) -> Result<Batch> {
        let state = lock(&self.state);
        let all = state.projects.get(&place(scope)).map_or(&[][..], |project| project.records.as_slice());
        let head = Position(all.len() as u64);
        if after > head {
            return Err(PortError::new(ErrorKind::Ahead, "read the log"));
        }
        let readable = (after.0 as usize..all.len())
            .filter_map(|at| stored(all, at))
            .filter(|stored| readers == Readers::Index || stored.record.is_visible(scope));
        let (mut records, mut bytes, mut is_full) = (Vec::new(), 0, limit == 0);
        for stored in readable {
            if is_full {
                break;
            }
            bytes += stored.record.to_json()?.len();
            records.push(stored);
            is_full = records.len() == limit || bytes >= MAX_READ_BYTES;
        }
        Ok(Batch::new(records, is_full, after, head))
    }

    fn head(&self, scope: &Scope) -> Result<Position> {
        let state = lock(&self.state);
        Ok(Position(state.projects.get(&place(scope)).map_or(0, |project| project.records.len()) as u64))
    }

    fn moved_heads(&self, walk: HeadWalk, _: usize) -> Result<HeadPage> {
        let state = lock(&self.state);
        // A mark that this log has not given finds all.
        let since = if walk.since <= state.moves { walk.since } else { 0 };
        let moved = state.projects.iter().filter(|(_, project)| project.moved > since);
        let heads = moved.map(|((tenant, project), state)| Head {
            tenant: tenant.clone(),
            project: project.clone(),
            position: Position(state.records.len() as u64),
        });
        let next = HeadWalk { mark: state.moves, ..walk }.following();
        Ok(HeadPage { heads: heads.collect(), next, is_last: true })
    }

    fn records(&self, scope: &Scope, ids: &[RecordId]) -> Result<Vec<StoredRecord>> {
        let state = lock(&self.state);
        let place_of = |id: &RecordId| state.ids.get(&(scope.tenant.clone(), *id));
        let here = ids.iter().filter_map(place_of).filter(|(known, _)| *known == place(scope)).map(|(_, at)| *at);
        Ok(state.visible(scope, here))
    }

    fn about(&self, scope: &Scope, ids: &[RecordId], limit: usize) -> Result<Vec<StoredRecord>> {
        let state = lock(&self.state);
        let Some(project) = state.projects.get(&place(scope)) else { return Ok(Vec::new()) };
        let newest = |about: &Vec<usize>| {
            let mut visible = state.visible(scope, about.iter().copied());
            visible.split_off(visible.len().saturating_sub(limit))
        };
        let mut found: Vec<StoredRecord> = ids.iter().filter_map(|id| project.about.get(id)).flat_map(newest).collect();
        found.sort_by_key(|stored| stored.position);
        Ok(found)
    }

    fn named(&self, scope: &Scope, reference: Reference, limit: usize) -> Result<Vec<StoredRecord>> {
        let state = lock(&self.state);
        let Some(project) = state.projects.get(&place(scope)) else { return Ok(Vec::new()) };
        let mut found = state.visible(scope, 0..project.records.len());
        found.retain(|stored| stored.record.body.kept().is_some_and(|kept| kept.reference == reference));
        found.truncate(limit);
        Ok(found)
    }

    fn on_topics(&self, scope: &Scope, topics: &[&str], limit: usize) -> Result<Vec<StoredRecord>> {
        let state = lock(&self.state);
        let Some(project) = state.projects.get(&place(scope)) else { return Ok(Vec::new()) };
        let visible = state.visible(scope, 0..project.records.len());
        let on_topic = |topic: &&str| {
            let mut found = visible.clone();
            found.retain(|stored| stored.record.topic() == Some(*topic));
            found.split_off(found.len().saturating_sub(limit))
        };
        let mut found: Vec<StoredRecord> = topics.iter().flat_map(on_topic).collect();
        found.sort_by_key(|stored| stored.position);
        Ok(found)
    }

    fn text_uses(&self, scope: &Scope, key: &TextKey) -> Result<u64> {
        let state = lock(&self.state);
        let of_tenant = state.projects.iter().filter(|((tenant, _), _)| *tenant == scope.tenant);
        let records = of_tenant.flat_map(|(_, project)| &project.records).flatten();
        Ok(records.filter(|record| record.body.kept().is_some_and(|kept| kept.text == *key)).count() as u64)
    }
}

impl State {
    fn request(&self, scope: &Scope, key: &RequestKey) -> Option<Once> {
        let (known, record) = self.requests.get(&(scope.tenant.clone(), key.name))?;
        (known.at >= key.oldest()).then(|| Once::of(key, Some(known.content), *record))
    }

    /// Binds a host unless it is bound, and returns its user.
    fn bind(&mut self, scope: &Scope, host: HostId) -> Option<UserId> {
        let key = (scope.tenant.clone(), host);
        if let Some(user) = self.hosts.get(&key) {
            return user.clone();
        }
        let of_tenant = self.projects.iter().filter(|((tenant, _), _)| *tenant == scope.tenant);
        let records = of_tenant.flat_map(|(_, project)| &project.records).flatten();
        let authors: Vec<&UserId> =
            records.filter(|record| record.id.host == host).map(|record| &record.author.user).collect();
        let user = match authors.as_slice() {
            [] => Some(scope.user.clone()),
            [first, rest @ ..] => Some((*first).clone()).filter(|_| rest.iter().all(|author| author == first)),
        };
        self.hosts.insert(key, user.clone());
        user
    }

    fn append(&mut self, place: &Place, record: &Record, done: &mut Done) -> Result<Position> {
        let (id, json) = ((place.0.clone(), record.id), record.to_json()?);
        let project = self.projects.entry(place.clone()).or_default();
        if let Some((known, at)) = self.ids.get(&id) {
            let old = project.records.get(*at).and_then(Option::as_ref).map(Record::to_json).transpose()?;
            let known = match known == place {
                true => KnownContent::of_row(old.as_deref(), project.imprints.get(*at).copied()),
                false => KnownContent::Elsewhere,
            };
            known.check_same(record.id, &json)?;
            return Ok(Position(*at as u64 + 1));
        }
        let grants = project.about.get(&GRANTS).into_iter().flatten();
        record.check_sealed(grants.filter_map(|at| project.records.get(*at)?.as_ref()))?;
        if let Body::Removed { record: target, .. } = &record.body
            && let Some((known, at)) = self.ids.get(&(place.0.clone(), *target))
            && known == place
            && let Some(slot) = project.records.get_mut(*at)
            && let Some(target) = slot.as_ref()
        {
            record.check_removal_of(target)?;
            done.erased.extend(slot.take().map(|erased| (*at, erased)));
        }
        let earlier = project.about.get(&record.id).into_iter().flatten();
        let mut earlier = earlier.filter_map(|at| project.records.get(*at)?.as_ref());
        let is_erased = earlier.any(|earlier| earlier.erases_on_arrival(record));
        let at = project.records.len();
        if let Some(about) = record.body.about() {
            project.about.entry(about).or_default().push(at);
        }
        project.records.push((!is_erased).then(|| record.clone()));
        project.imprints.push(Imprint::of(&json));
        self.moves += 1;
        project.moved = self.moves;
        self.ids.insert(id, (place.clone(), at));
        done.appended.push(record.id);
        Ok(Position(at as u64 + 1))
    }

    fn undo(&mut self, place: &Place, done: Done) {
        let Some(project) = self.projects.get_mut(place) else { return };
        let before = project.records.len() - done.appended.len();
        project.about.values_mut().for_each(|about| about.retain(|at| *at < before));
        for id in done.appended {
            self.ids.remove(&(place.0.clone(), id));
        }
        for (at, record) in done.erased {
            if let Some(slot) = project.records.get_mut(at) {
                *slot = Some(record);
            }
        }
        project.records.truncate(before);
        project.imprints.truncate(before);
    }

    fn visible(&self, scope: &Scope, at: impl Iterator<Item = usize>) -> Vec<StoredRecord> {
        let all = self.projects.get(&place(scope)).map_or(&[][..], |project| project.records.as_slice());
        at.filter_map(|at| stored(all, at)).filter(|stored| stored.record.is_visible(scope)).collect()
    }
}

fn stored(all: &[Option<Record>], at: usize) -> Option<StoredRecord> {
    let record = all.get(at)?.clone()?;
    Some(StoredRecord { position: Position(at as u64 + 1), record })
}
