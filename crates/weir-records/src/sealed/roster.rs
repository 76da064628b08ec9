//! Who the members of a sealed project are, as far as a machine knows. Invariants: members, removals and the current
//! data key are functions of the set of changes, whatever order they came in; a set of changes only grows; a key that a
//! member removed is never a member's again.
//!
//! A change counts if its author was a member by the changes that it follows. That never changes afterwards. What it
//! means may: if its author was removed by a change that did not know of this one, it admits nobody, because a removed
//! member could have written it later and said otherwise. What it removes stays removed.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::{ChangeId, Identity, KeyGrants, KeyId, Keyring, MAX_GRANTS, MemberKey, SealedPlace};
use crate::error::{ErrorKind, PortError, Result};
use crate::is_name;

/// What the hash of a change is for.
const FOR_CHANGES: &str = "weir 2026-11 sealed project: change of members";
/// How many signed changes may wait for those that they follow. Anybody can write such.
const MAX_WAITING: usize = 64;

/// A machine, and the user that it belongs to, by the word of the member who admitted it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Member {
    pub key: MemberKey,
    pub user: String,
}

/// What a change is to a machine that reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Learned {
    /// The machine has it already.
    Known,
    /// These changes count from now on: the one that was read, and those that waited for it.
    New(Vec<ChangeId>),
    /// It follows changes that this machine has not read yet.
    Waiting,
    /// Nothing proves that its author is a member.
    Unproven,
}

/// The changes of who the members are that a machine has read.
#[derive(Debug, Clone, Default)]
pub struct Roster {
    first: Option<ChangeId>,
    changes: BTreeMap<ChangeId, Counted>,
    waiting: BTreeMap<ChangeId, KeyGrants>,
    standing: Standing,
}

/// A change that counts, with all those before it, and the members that it adds to those. Who was a member before is
/// not admitted once more by it: its author may have taken the word of somebody who was removed.
#[derive(Debug, Clone)]
struct Counted {
    change: KeyGrants,
    past: BTreeSet<ChangeId>,
    admits: BTreeSet<MemberKey>,
}

/// What a set of changes means.
#[derive(Debug, Clone, Default)]
struct Standing {
    /// Everybody who was ever admitted, with their users.
    admitted: BTreeMap<MemberKey, String>,
    removed: BTreeSet<MemberKey>,
    /// Those who were admitted and not removed.
    members: BTreeMap<MemberKey, String>,
}

impl KeyGrants {
    /// Returns the hash of the change in a project.
    pub fn id(&self, place: SealedPlace<'_>) -> Result<ChangeId> {
        let said = serde_json::to_vec(&Self { signature: String::new(), ..self.clone() });
        let said = said.map_err(|error| PortError::new(ErrorKind::Invalid, "hash a change").because(error))?;
        Ok(ChangeId(blake3::derive_key(FOR_CHANGES, &[place.bound(), said].concat())))
    }

    /// Returns whether the change makes sense by itself.
    fn is_well_formed(&self) -> bool {
        let members: Vec<MemberKey> = self.grants.iter().map(|grant| grant.member).collect();
        self.after.is_sorted_by(|one, next| one < next)
            && self.removed.is_sorted_by(|one, next| one < next)
            && members.is_sorted_by(|one, next| one < next)
            && members.contains(&self.by)
            && members.len() <= MAX_GRANTS
            && !self.removed.iter().any(|key| members.contains(key))
            && self.grants.iter().all(|grant| is_name(&grant.user))
    }
}

impl Roster {
    /// Returns the first change, which sealed the project. Members compare it to see that no server has given them
    /// another one.
    pub fn first(&self) -> Option<ChangeId> {
        self.first
    }

    pub fn members(&self) -> impl Iterator<Item = Member> {
        self.standing.members.iter().map(|(key, user)| Member { key: *key, user: user.clone() })
    }

    pub fn has(&self, key: MemberKey) -> bool {
        self.standing.members.contains_key(&key)
    }

    /// Returns whether a machine was removed. It never becomes a member again.
    pub fn has_removed(&self, key: MemberKey) -> bool {
        self.standing.removed.contains(&key)
    }

    pub fn user_of(&self, key: MemberKey) -> Option<&str> {
        self.standing.admitted.get(&key).map(String::as_str)
    }

    pub fn get(&self, id: ChangeId) -> Option<&KeyGrants> {
        self.changes.get(&id).map(|counted| &counted.change)
    }

    /// Returns the changes with their hashes: those that count, each after the ones that it follows, then the others.
    pub fn changes(&self) -> Vec<(ChangeId, &KeyGrants)> {
        let mut counted: Vec<_> = self.changes.iter().collect();
        counted.sort_by_key(|(_, counted)| counted.past.len());
        let counted = counted.into_iter().map(|(id, counted)| (*id, &counted.change));
        counted.chain(self.waiting.iter().map(|(id, change)| (*id, change))).collect()
    }

    /// Returns the data key that seals, if there is one that all members have and nobody else. Otherwise a member has
    /// to make a change, which brings one.
    pub fn current_key(&self) -> Option<KeyId> {
        let is_current = |counted: &Counted| {
            let granted = counted.change.grants.iter().map(|grant| grant.member);
            self.has(counted.change.by) && granted.eq(self.standing.members.keys().copied())
        };
        let heads = self.heads().filter_map(|id| Some((id, self.changes.get(&id)?)));
        let current = heads.filter(|(_, counted)| is_current(counted));
        let newest = current.min_by_key(|(id, counted)| (Reverse(counted.past.len()), *id));
        newest.map(|(_, counted)| counted.change.key)
    }

    pub fn learn(&mut self, place: SealedPlace<'_>, change: &KeyGrants) -> Result<Learned> {
        let id = change.id(place)?;
        if self.changes.contains_key(&id) {
            return Ok(Learned::Known);
        }
        let is_second_seal = change.after.is_empty() && self.first.is_some();
        if is_second_seal || !change.is_well_formed() || !change.by.has_signed(&id.0, &change.signature) {
            return Ok(Learned::Unproven);
        }
        self.waiting.insert(id, change.clone());
        let new = self.count_waiting();
        Ok(match self.waiting.contains_key(&id) {
            false if new.contains(&id) => Learned::New(new),
            false => Learned::Unproven,
            true if self.waiting.len() <= MAX_WAITING => Learned::Waiting,
            true => {
                self.waiting.remove(&id);
                Learned::Unproven
            }
        })
    }

    /// Writes a change that admits and removes machines, with a new data key. It counts once it is learned.
    pub fn change(
        &self,
        place: SealedPlace<'_>,
        identity: &Identity,
        ring: &Keyring,
        (admitted, removed): (&[Member], &[MemberKey]),
    ) -> Result<KeyGrants> {
        let refused = |why: &str| PortError::new(ErrorKind::Invalid, "change the members").because(why);
        if let Some(gone) = admitted.iter().find(|member| self.has_removed(member.key)) {
            return Err(refused(&format!("{} was removed, and a removed key does not come back", gone.key)));
        }
        let mut members = self.standing.members.clone();
        members.retain(|key, _| !removed.contains(key));
        for member in admitted {
            members.entry(member.key).or_insert_with(|| member.user.clone());
        }
        let new = ring.new_key(place, members.into_iter())?;
        let removed: BTreeSet<MemberKey> = removed.iter().copied().collect();
        let mut change = KeyGrants {
            by: identity.public(),
            after: self.heads().collect(),
            removed: removed.into_iter().collect(),
            key: new.key,
            older: new.older,
            grants: new.grants,
            signature: String::new(),
        };
        change.signature = identity.sign(&change.id(place)?.0);
        let is_accepted = change.is_well_formed() && self.counted(&change).is_some();
        is_accepted.then_some(change).ok_or_else(|| refused("this machine is not a member, or nothing can be so"))
    }

    /// Counts the changes whose past is complete. Those that no member wrote are dropped.
    fn count_waiting(&mut self) -> Vec<ChangeId> {
        let mut new = Vec::new();
        let is_ready = |known: &BTreeMap<ChangeId, Counted>, change: &KeyGrants| {
            change.after.iter().all(|id| known.contains_key(id))
        };
        while let Some(id) = self.waiting.iter().find(|(_, one)| is_ready(&self.changes, one)).map(|(id, _)| *id) {
            let Some(change) = self.waiting.remove(&id) else { break };
            if let Some(counted) = self.counted(&change) {
                self.first.get_or_insert(id);
                self.changes.insert(id, counted);
                new.push(id);
            }
        }
        self.standing = self.standing(&self.changes.keys().copied().collect());
        new
    }

    /// Returns a change with what came before it, if a member wrote it.
    fn counted(&self, change: &KeyGrants) -> Option<Counted> {
        let mut past: BTreeSet<ChangeId> = change.after.iter().copied().collect();
        for id in &change.after {
            past.extend(&self.changes.get(id)?.past);
        }
        if past.is_empty() {
            // A machine seals a project for itself alone.
            let is_alone = change.removed.is_empty() && change.grants.len() == 1;
            let counted = Counted { change: change.clone(), past, admits: BTreeSet::from([change.by]) };
            return (self.first.is_none() && is_alone).then_some(counted);
        }
        let before = self.standing(&past);
        let admits = change.grants.iter().map(|grant| grant.member);
        let admits = admits.filter(|key| !before.members.contains_key(key)).collect();
        let is_granted = |key| change.grants.iter().any(|grant| grant.member == key);
        let is_by_member = before.members.contains_key(&change.by)
            && change.removed.iter().all(|key| before.members.contains_key(key))
            && before.members.keys().all(|key| is_granted(*key) || change.removed.contains(key))
            && change.grants.iter().all(|grant| {
                let is_same_user = before.members.get(&grant.member).is_none_or(|user| *user == grant.user);
                is_same_user && !before.removed.contains(&grant.member)
            });
        is_by_member.then(|| Counted { change: change.clone(), past, admits })
    }

    fn standing(&self, among: &BTreeSet<ChangeId>) -> Standing {
        let mut changes: Vec<(ChangeId, &Counted)> =
            among.iter().filter_map(|id| Some((*id, self.changes.get(id)?))).collect();
        // What a change follows has less before it.
        changes.sort_by_key(|(id, counted)| (counted.past.len(), *id));
        let removals: Vec<&(ChangeId, &Counted)> =
            changes.iter().filter(|(_, counted)| !counted.change.removed.is_empty()).collect();
        let mut standing = Standing::default();
        standing.removed.extend(removals.iter().flat_map(|(_, removal)| &removal.change.removed));
        for (id, counted) in &changes {
            let by = &counted.change.by;
            let is_void =
                removals.iter().any(|(_, removal)| removal.change.removed.contains(by) && !removal.past.contains(id));
            if counted.past.is_empty() || (standing.admitted.contains_key(by) && !is_void) {
                for grant in counted.change.grants.iter().filter(|grant| counted.admits.contains(&grant.member)) {
                    standing.admitted.entry(grant.member).or_insert_with(|| grant.user.clone());
                }
            }
        }
        standing.members.clone_from(&standing.admitted);
        standing.members.retain(|key, _| !standing.removed.contains(key));
        standing
    }

    /// Returns the changes that no other one follows, in order.
    fn heads(&self) -> impl Iterator<Item = ChangeId> {
        let followed: BTreeSet<ChangeId> =
            self.changes.values().flat_map(|counted| &counted.change.after).copied().collect();
        self.changes.keys().copied().filter(move |id| !followed.contains(id))
    }
}
