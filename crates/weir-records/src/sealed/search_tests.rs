//! Searches all orders in which a few changes can be made, forged and delivered, for one that breaks a promise of
//! `docs/team.md`. Three honest machines make changes with what they know; mallory, who may be removed, and a second
//! machine of theirs, whom no honest member admits, write what they can sign; the server delivers what it likes to whom
//! it likes, in any order, again, or never. A machine never loses what it has read, so a server that is put back can
//! only deliver again.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::tests::{Machine, acme, place};
use super::*;

/// How many changes are made after the first two. `WEIR_SEARCHED_CHANGES` asks for more.
const CHANGES: usize = 2;
const MOST_CHANGES: usize = 6;
const HONEST: usize = 3;

/// Who does something, as places in [`Search::machines`].
const ANA: usize = 0;
const BEN: usize = 1;
const CAROL: usize = 2;
const MALLORY: usize = 3;
const PUPPET: usize = 4;
const DORA: usize = 5;

/// A set of changes: their places in [`Search::changes`] plus one, the largest first, then zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
struct Changes([u16; MOST_CHANGES]);

impl Changes {
    fn iter(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().filter(|place| *place > 0).map(|place| usize::from(place) - 1)
    }

    fn with(mut self, at: usize) -> Self {
        if self.iter().all(|one| one != at) {
            // The last one is zero, or there are too many.
            assert_eq!(std::mem::replace(&mut self.0[MOST_CHANGES - 1], at as u16 + 1), 0);
            self.0.sort_unstable_by(|one, other| other.cmp(one));
        }
        self
    }
}

/// Something that can be done: by whom, whom it admits, whom it removes, and what its author knew, or says they did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Act {
    by: usize,
    admits: Option<usize>,
    removes: Option<usize>,
    knowing: Changes,
}

/// What an honest machine has read, and what it makes of it.
#[derive(Clone)]
struct View {
    read: Changes,
    order: Vec<usize>,
    roster: Rc<Roster>,
}

/// What exists, and what each honest machine has read of it.
#[derive(Clone)]
struct State {
    made: Changes,
    views: [View; HONEST],
}

type StateKey = (Changes, [Changes; HONEST]);

struct Search {
    machines: Vec<Machine>,
    base: Roster,
    acts: BTreeMap<Act, usize>,
    changes: Vec<KeyGrants>,
    /// The data keys that mallory's machines get from each change.
    leaked: Vec<[Option<Keyring>; 2]>,
    /// What each set of changes means: the members, and the key that seals.
    meanings: BTreeMap<Changes, (Vec<MemberKey>, Option<KeyId>)>,
    /// What a machine makes of changes in an order.
    learned: BTreeMap<Vec<usize>, Rc<Roster>>,
    /// Whether a machine of mallory's gets a key from a change.
    leaks: BTreeMap<(usize, usize, KeyId), bool>,
    /// The sets of changes after which members were seen to go on.
    alive: BTreeSet<Changes>,
    deliveries: usize,
}

impl State {
    fn key(&self) -> StateKey {
        (self.made, std::array::from_fn(|at| self.views[at].read))
    }
}

impl Search {
    fn new() -> (Self, State) {
        let mut machines = ["ana", "ben", "carol", "mallory", "mallory", "dora"].map(Machine::new);
        let seal = machines[ANA].change(&[&machines[ANA]], &[]);
        machines[ANA].learn(&seal);
        let admission = machines[ANA].change(&[&machines[BEN], &machines[CAROL], &machines[MALLORY]], &[]);
        for machine in &mut machines {
            machine.learn(&seal);
            machine.learn(&admission);
        }
        let base = machines[ANA].roster.clone();
        let view = View { read: Changes::default(), order: Vec::new(), roster: Rc::new(base.clone()) };
        let state = State { made: Changes::default(), views: std::array::from_fn(|_| view.clone()) };
        let search = Self {
            machines: machines.into(),
            base,
            acts: BTreeMap::new(),
            changes: Vec::new(),
            leaked: Vec::new(),
            meanings: BTreeMap::new(),
            learned: BTreeMap::new(),
            leaks: BTreeMap::new(),
            alive: BTreeSet::new(),
            deliveries: 0,
        };
        (search, state)
    }

    fn acts_in(&self, state: &State) -> Vec<Act> {
        let mut acts = Vec::new();
        let mut add = |by, admits, removes, knowing| acts.push(Act { by, admits, removes, knowing });
        for (by, view) in state.views.iter().enumerate() {
            let has = |one: usize| view.roster.has(self.machines[one].key());
            if !has(by) {
                continue;
            }
            if has(MALLORY) && by != CAROL {
                add(by, None, Some(MALLORY), view.read);
            }
            if by == BEN && !has(DORA) {
                add(by, Some(DORA), None, view.read);
            }
            if by == CAROL && has(ANA) {
                add(by, None, Some(ANA), view.read);
            }
            if view.roster.current_key().is_none() {
                add(by, None, None, view.read);
            }
        }
        let admitting = |act: &Act| act.by == MALLORY && act.admits == Some(PUPPET);
        let admissions: Vec<usize> = self.acts.iter().filter(|(act, _)| admitting(act)).map(|(_, at)| *at).collect();
        for knowing in BTreeSet::from([Changes::default(), state.made]) {
            add(MALLORY, Some(PUPPET), None, knowing);
            add(MALLORY, Some(PUPPET), Some(BEN), knowing);
        }
        for admission in state.made.iter().filter(|made| admissions.contains(made)) {
            let knowing = Changes::default().with(admission);
            add(PUPPET, None, Some(ANA), knowing);
            add(PUPPET, None, None, knowing);
        }
        acts
    }

    /// Returns the change that an act comes to. One by mallory's machines follows what it says even if they are no
    /// members by that.
    fn change_of(&mut self, act: Act) -> usize {
        if let Some(at) = self.acts.get(&act) {
            return *at;
        }
        let names = acme();
        let known = self.roster_of(act.knowing);
        let (machine, ring) = (&self.machines[act.by], self.ring_of(act.by, act.knowing));
        let admitted: Vec<Member> = act.admits.iter().map(|one| self.machines[*one].member()).collect();
        let removed: Vec<MemberKey> = act.removes.iter().map(|one| self.machines[*one].key()).collect();
        let wanted = (admitted.as_slice(), removed.as_slice());
        let honest = known.change(place(&names), &machine.identity, &ring, wanted);
        let change = honest.unwrap_or_else(|error| {
            assert!(act.by >= MALLORY, "{act:?}: {error}");
            let removed: Vec<MemberKey> =
                removed.iter().copied().filter(|key| self.base.has(*key) && act.by == MALLORY).collect();
            let wanted = (admitted.as_slice(), removed.as_slice());
            let old = self.base.change(place(&names), &self.machines[MALLORY].identity, &ring, wanted).unwrap();
            let mut forged = KeyGrants { by: machine.key(), after: heads(&known), ..old };
            forged.signature = machine.identity.sign(&forged.id(place(&names)).unwrap().0);
            forged
        });
        let leaked = [MALLORY, PUPPET].map(|one| {
            let identity = &self.machines[one].identity;
            Keyring::default().extended_by(identity, place(&names), &change).unwrap()
        });
        let at = self.changes.len();
        self.changes.push(change);
        self.leaked.push(leaked);
        self.acts.insert(act, at);
        at
    }

    fn roster_of(&self, changes: Changes) -> Roster {
        let (mut roster, names) = (self.base.clone(), acme());
        for change in self.each(changes) {
            roster.learn(place(&names), change).unwrap();
        }
        roster
    }

    /// Returns the keys that a machine has from changes. An honest one takes them only from changes that count.
    fn ring_of(&self, machine: usize, changes: Changes) -> Keyring {
        let (is_honest, machine, names) = (machine < HONEST, &self.machines[machine], acme());
        let roster = self.roster_of(changes);
        let counts = |change: &&KeyGrants| !is_honest || roster.get(change.id(place(&names)).unwrap()).is_some();
        self.each(changes).filter(counts).fold(machine.ring.clone(), |ring, change| {
            ring.extended_by(&machine.identity, place(&names), change).unwrap().unwrap_or(ring)
        })
    }

    fn each(&self, changes: Changes) -> impl Iterator<Item = &KeyGrants> {
        changes.iter().map(|at| &self.changes[at])
    }

    /// Delivers a change to a machine, and checks what it makes of it.
    fn deliver(&mut self, state: &State, to: usize, at: usize) -> State {
        let mut next = state.clone();
        let before = &state.views[to];
        let order = [before.order.as_slice(), &[at]].concat();
        let read = before.read.with(at);
        self.deliveries += 1;
        let roster = match self.learned.get(&order) {
            Some(roster) => Rc::clone(roster),
            None => {
                let roster = Rc::new(self.learn(&before.roster, read, at));
                self.learned.insert(order.clone(), Rc::clone(&roster));
                roster
            }
        };
        next.views[to] = View { read, order, roster };
        self.check_closed(next.made, &next.views[to]);
        next
    }

    /// Learns of a change, and checks what may come of that.
    fn learn(&mut self, before: &Roster, read: Changes, at: usize) -> Roster {
        let (mut roster, names) = (before.clone(), acme());
        roster.learn(place(&names), &self.changes[at]).unwrap();
        // What was removed stays so, and what began it too.
        assert_eq!(roster.first(), self.base.first());
        let had_removed = |machine: &&Machine| before.has_removed(machine.key());
        assert!(self.machines.iter().filter(had_removed).all(|one| roster.has_removed(one.key())));
        // The same changes mean the same to everybody, whatever order they came in.
        let members: Vec<MemberKey> = roster.members().map(|member| member.key).collect();
        let meaning = (members, roster.current_key());
        assert_eq!(*self.meanings.entry(read).or_insert_with(|| meaning.clone()), meaning);
        // To read it again changes nothing.
        assert!(!matches!(roster.learn(place(&names), &self.changes[at]).unwrap(), Learned::New(_)));
        roster
    }

    /// Checks that who was removed, and whom they admitted without the knowledge of the one who removed them, are no
    /// members and have no key that seals.
    fn check_closed(&mut self, made: Changes, view: &View) {
        let View { read, roster, .. } = view;
        if !roster.has_removed(self.machines[MALLORY].key()) {
            return;
        }
        let made_by = |at: usize| self.acts.iter().find(|(_, made)| **made == at).map(|(act, _)| *act).unwrap();
        let is_admission = |at: usize| made_by(at).by == MALLORY;
        let mut removals = read.iter().map(made_by).filter(|act| act.removes == Some(MALLORY));
        let is_known = removals.all(|act| act.knowing.iter().any(is_admission));
        let out: &[usize] = if is_known { &[MALLORY] } else { &[MALLORY, PUPPET] };
        assert!(out.iter().all(|one| !roster.has(self.machines[*one].key())), "they are back");
        let Some(key) = roster.current_key() else { return };
        for (at, who) in made.iter().flat_map(|at| (0..out.len()).map(move |who| (at, who))) {
            let has_key = || self.leaked[at][who].as_ref().is_some_and(|ring| ring.has(key));
            let is_leaked = *self.leaks.entry((at, who, key)).or_insert_with(has_key);
            let acts = || made.iter().map(|at| (at, made_by(at))).collect::<Vec<_>>();
            assert!(!is_leaked, "they can read what is written now, from {at}: {read:?} of {:?}", acts());
        }
    }

    /// Checks that machines that have read everything can go on: one of the members can give all of them a key.
    fn check_alive(&mut self, state: &State) {
        let view = &state.views[ANA];
        if state.views.iter().any(|view| view.read != state.made) || view.roster.current_key().is_some() {
            return;
        }
        if !self.alive.insert(state.made) {
            return;
        }
        let Some(at) = (0..HONEST).find(|one| view.roster.has(self.machines[*one].key())) else { return };
        let (names, machine) = (acme(), &self.machines[at]);
        let renewal = view.roster.change(place(&names), &machine.identity, &machine.ring, (&[], &[])).unwrap();
        let mut after = Roster::clone(&view.roster);
        after.learn(place(&names), &renewal).unwrap();
        assert_eq!(after.current_key(), Some(renewal.key));
    }

    fn read_in_all_orders(&mut self, before: &View, left: Changes) {
        for at in left.iter().filter(|at| !before.order.contains(at)) {
            let order = [before.order.as_slice(), &[at]].concat();
            let read = before.read.with(at);
            let roster = Rc::new(self.learn(&before.roster, read, at));
            self.learned.insert(order.clone(), Rc::clone(&roster));
            self.read_in_all_orders(&View { read, order, roster }, left);
        }
    }

    fn next(&mut self, state: &State, most: usize) -> Vec<State> {
        let mut next = Vec::new();
        if state.made.iter().count() < most {
            for act in self.acts_in(state) {
                let made = state.made.with(self.change_of(act));
                if made != state.made {
                    next.push(State { made, ..state.clone() });
                }
            }
        }
        for to in 0..HONEST {
            let read = state.views[to].read;
            for at in state.made.iter().filter(|at| read.iter().all(|one| one != *at)) {
                next.push(self.deliver(state, to, at));
            }
        }
        next
    }
}

fn heads(roster: &Roster) -> Vec<ChangeId> {
    let changes = roster.changes();
    let followed: BTreeSet<ChangeId> = changes.iter().flat_map(|(_, change)| &change.after).copied().collect();
    let heads: BTreeSet<ChangeId> = changes.iter().map(|(id, _)| *id).filter(|id| !followed.contains(id)).collect();
    heads.into_iter().collect()
}

#[test]
fn no_order_of_changes_forgeries_and_deliveries_breaks_a_promise() {
    let most = searched_changes();
    let (mut search, first) = Search::new();
    let mut level: BTreeMap<StateKey, (State, u128)> = BTreeMap::from([(first.key(), (first, 1))]);
    let (mut states, mut orders) = (0, 0);
    while !level.is_empty() {
        let mut following: BTreeMap<StateKey, (State, u128)> = BTreeMap::new();
        for (state, ways) in level.into_values() {
            states += 1;
            search.check_alive(&state);
            let next = search.next(&state, most);
            if next.is_empty() {
                orders += ways;
            }
            for one in next {
                following.entry(one.key()).or_insert_with(|| (one, 0)).1 += ways;
            }
        }
        level = following;
    }
    let nothing = View { read: Changes::default(), order: Vec::new(), roster: Rc::new(search.base.clone()) };
    for changes in search.meanings.keys().copied().collect::<Vec<_>>() {
        search.read_in_all_orders(&nothing, changes);
    }
    println!(
        "{most} changes out of {}: {states} states, {} deliveries in {} orders of one machine, {orders} orders of all, \
         {} sets of changes",
        search.changes.len(),
        search.deliveries,
        search.learned.len(),
        search.meanings.len()
    );
    assert!(states > 1000);
}

/// Returns how many changes are made after the first two.
#[expect(clippy::disallowed_methods, reason = "a test reads its own variable")]
fn searched_changes() -> usize {
    std::env::var("WEIR_SEARCHED_CHANGES").ok().and_then(|count| count.parse().ok()).unwrap_or(CHANGES)
}
