//! What happens to a few machines step by step, and what each of them and the server have in the end.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use tempfile::TempDir;
use weir_core::time::DAY;
use weir_core::{Entry, EntryKind, Level, NewEntry, Note, NoteKind, Origin, Reference, Timestamp};
use weir_host::error::{CommandError, ErrorKind};
use weir_records::{Body, HostId, Record, Shelf, Writer, memory};
use weir_store::{Selection, TeamDb};

use super::exchange::Exchange;
use super::server::{Downloaded, Server, Uploaded};
use super::simulation_tests::{Figures, Machine, NOW, Reached, local, seal, shared, titles_on};
use super::vault::Vault;

/// What happens, on the machine with a number.
pub(super) enum Act {
    /// A model writes a note.
    Write(usize, &'static str),
    /// A model writes a note on a topic.
    Revise(usize, &'static str, &'static str),
    Confirm(usize, &'static str),
    Forget(usize, &'static str),
    /// The user looks at what would be sent.
    Preview(usize),
    Sync(usize),
    /// The connection is cut after an upload, before its answer.
    Cut(usize),
    Stop(usize),
    /// The project is connected again.
    Connect(usize),
    /// Only the notes of these users are taken from now on.
    From(usize, Option<&'static [&'static str]>),
    /// The clock is ahead by this time from now on, in milliseconds.
    Clock(usize, i64),
    /// The server is over its quota, or no longer.
    Full(bool),
    /// The server takes no more bytes than this at once.
    Limit(usize),
    /// The server is put back to its beginning.
    Empty,
    Save(usize),
    /// The disk is put back to what was saved.
    PutBack(usize),
    /// The first machine seals the project, and admits all others.
    Seal,
}

use Act::{
    Clock, Confirm, Connect, Cut, Empty, Forget, From, Full, Limit, Preview, PutBack, Revise, Save, Seal, Stop, Sync,
    Write,
};

/// The machines and their server.
pub(super) struct World {
    pub(super) shelf: Shelf,
    pub(super) machines: Vec<Machine>,
    /// How far the clock of each machine is ahead, in milliseconds.
    ahead: Vec<i64>,
    /// Whose notes each machine takes.
    from: Vec<Option<Vec<String>>>,
    saved: Option<TempDir>,
    /// Whether the server takes only removals.
    is_full: bool,
    /// The most bytes that the server takes at once.
    max_bytes: usize,
    /// Whether any machine got a new identity.
    pub(super) is_rehosted: bool,
}

/// A server that does not do everything.
pub(super) struct LimitedServer<'a> {
    server: &'a Reached<'a>,
    /// Whether its answers to uploads are lost.
    is_cut: bool,
    /// Whether it takes only removals.
    is_full: bool,
    max_bytes: usize,
}

impl Server for LimitedServer<'_> {
    fn upload(&self, records: &[&str], texts: &BTreeMap<String, String>) -> Result<Uploaded, CommandError> {
        let is_removal = |json: &&str| matches!(Record::from_json(json).unwrap().body, Body::Removed { .. });
        if self.is_full && !records.iter().all(is_removal) {
            return Ok(Uploaded::Forbidden(CommandError::new(ErrorKind::Denied, "the server is full")));
        }
        let size = records.concat().len() + texts.values().map(String::len).sum::<usize>();
        if size > self.max_bytes {
            return Ok(Uploaded::TooLarge);
        }
        let uploaded = self.server.upload(records, texts)?;
        if self.is_cut { Err(CommandError::new(ErrorKind::Failed, "the connection was cut")) } else { Ok(uploaded) }
    }

    fn download(&self, after: u64) -> Result<Downloaded, CommandError> {
        self.server.download(after)
    }
}

impl World {
    pub(super) fn new(users: &[&str]) -> Self {
        let machine = |user: &&str| Machine::new(user, HostId::random().unwrap());
        let machines: Vec<Machine> = users.iter().map(machine).collect();
        let (ahead, from) = (vec![0; machines.len()], vec![None; machines.len()]);
        Self {
            shelf: empty_shelf(),
            machines,
            ahead,
            from,
            saved: None,
            is_full: false,
            max_bytes: usize::MAX,
            is_rehosted: false,
        }
    }

    pub(super) fn act(&mut self, act: &Act) {
        match *act {
            Write(at, text) => self.write(at, None, text),
            Revise(at, topic, text) => self.write(at, Some(topic), text),
            Confirm(at, title) => self.confirm(at, title),
            Forget(at, title) => self.forget(at, title),
            Preview(at) => drop(self.exchange(at, |exchange, _| exchange.preview()).unwrap()),
            Sync(at) => {
                let report = self.exchange(at, |exchange, server| exchange.run(server)).unwrap();
                self.is_rehosted |= report.is_rehosted;
            }
            Cut(at) => {
                let cut = |exchange: Exchange<'_>, server: &LimitedServer<'_>| {
                    exchange.run(&LimitedServer { is_cut: true, ..*server })
                };
                let cut = self.exchange(at, cut);
                assert_eq!(cut.unwrap_err().message, "the connection was cut");
            }
            Stop(at) => TeamDb::open(self.machines[at].path()).unwrap().disconnect().unwrap(),
            Connect(at) => self.machines[at].connect(HostId::random().unwrap()),
            From(at, names) => {
                self.from[at] = names.map(|names| names.iter().map(|&name| name.to_owned()).collect());
            }
            Clock(at, ahead) => self.ahead[at] = ahead,
            Empty => self.shelf = empty_shelf(),
            Limit(bytes) => self.max_bytes = bytes,
            Full(is_full) => self.is_full = is_full,
            Save(at) => self.saved = Some(copy_of(self.machines[at].path())),
            PutBack(at) => self.machines[at].folder = copy_of(self.saved.as_ref().unwrap().path()),
            Seal => seal(&self.shelf, &self.machines),
        }
    }

    fn now(&self, at: usize) -> Timestamp {
        Timestamp(NOW + self.ahead[at])
    }

    fn write(&self, at: usize, topic: Option<&str>, text: &str) {
        let entry = NewEntry {
            text: text.as_bytes().to_vec(),
            note: Some(Note { topic: topic.map(str::to_owned), ..Note::new(NoteKind::Finding) }),
            ..NewEntry::new(EntryKind::Note, Origin::Model, Level::Project, text.lines().next().unwrap())
        };
        self.machines[at].store().keep(&local(), entry, self.now(at)).unwrap();
    }

    fn confirm(&self, at: usize, title: &str) {
        let (machine, reference) = (&self.machines[at], self.reference(at, title));
        machine.store().confirm(&local(), reference, self.now(at)).unwrap();
        TeamDb::open(machine.path()).unwrap().wish_to_confirm(reference).unwrap();
    }

    fn forget(&self, at: usize, title: &str) {
        let (machine, reference) = (&self.machines[at], self.reference(at, title));
        let mut store = machine.store();
        let selection = Selection { references: vec![reference], ..Selection::default() };
        let plan = store.plan_to_forget(&local(), &selection).unwrap();
        store.forget(&local(), &selection, &plan.confirmation, self.now(at)).unwrap();
        TeamDb::open(machine.path()).unwrap().erase(&[reference]).unwrap();
    }

    pub(super) fn exchange<T>(
        &self,
        at: usize,
        work: impl FnOnce(Exchange<'_>, &LimitedServer<'_>) -> Result<T, CommandError>,
    ) -> Result<T, CommandError> {
        let (machine, figures) = (&self.machines[at], RefCell::new(Figures::default()));
        let server = Reached { shelf: &self.shelf, scope: shared(&machine.user), faults: None, figures: &figures };
        let server = LimitedServer { server: &server, is_cut: false, is_full: self.is_full, max_bytes: self.max_bytes };
        let db = TeamDb::open(machine.path()).unwrap();
        let connection = db.connection().unwrap().unwrap();
        let mut store = machine.store();
        let exchange = Exchange::new(db, connection, &mut store, local(), self.now(at)).unwrap();
        let exchange = exchange.sealed_by(Vault::read(machine.path()).unwrap(), Option::default());
        work(exchange.taking_from(self.from[at].as_deref()), &server)
    }

    pub(super) fn reference(&self, at: usize, title: &str) -> Reference {
        let notes = self.machines[at].store().notes(&local(), usize::MAX).unwrap();
        notes.into_iter().map(|note| note.entry).find(|entry| entry.title == title).unwrap().reference
    }

    /// Returns the notes of a machine by their titles, with what is said of them.
    pub(super) fn notes(&self, at: usize) -> Vec<String> {
        let notes = self.machines[at].store().notes(&local(), usize::MAX).unwrap();
        let show = |entry: Entry| {
            let is_confirmed = entry.note.is_some_and(|note| note.confirmed_at.is_some());
            let superseded = entry.superseded_by.map_or("", |_| ", superseded");
            entry.title + superseded + if is_confirmed { ", confirmed" } else { "" }
        };
        let mut shown: Vec<String> = notes.into_iter().map(|note| show(note.entry)).collect();
        shown.sort();
        shown
    }
}

fn empty_shelf() -> Shelf {
    Shelf::new(memory::ports(), Writer::new().unwrap())
}

fn copy_of(folder: &Path) -> TempDir {
    let copy = tempfile::tempdir().unwrap();
    copy_into(folder, copy.path());
    copy
}

fn copy_into(folder: &Path, copy: &Path) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let (from, to) = (entry.as_ref().unwrap().path(), copy.join(entry.unwrap().file_name()));
        if from.is_dir() {
            std::fs::create_dir(&to).unwrap();
            copy_into(&from, &to);
        } else {
            std::fs::copy(&from, &to).unwrap();
        }
    }
}

/// Lets acts happen on machines of these users. In the end the server must have the notes that are named first, and
/// each machine the notes that are named for it.
pub(super) fn check(users: &[&str], acts: &[&[Act]], on_server: &[&str], on_machines: &[&[&str]]) {
    let mut world = World::new(users);
    acts.iter().copied().flatten().for_each(|act| world.act(act));
    assert_eq!(titles_on(&world.shelf).0, on_server, "the server");
    for (at, expected) in on_machines.iter().enumerate() {
        assert_eq!(world.notes(at), *expected, "machine {at}");
    }
}

#[test]
fn a_machine_that_was_put_back_does_not_use_an_id_of_a_forgotten_note() {
    let before = [Write(0, "first"), Sync(0), Save(0), Write(0, "a"), Sync(0), Forget(0, "a"), Sync(0), PutBack(0)];
    let after = [Sync(0), Sync(1), Sync(0)];
    let all: &[&str] = &["b", "first"];
    check(&["ana", "ben"], &[&before, &[Write(0, "b")], &after], all, &[all; 2]);
    // What was written is numbered before the server's log is read.
    check(&["ana", "ben"], &[&before, &[Write(0, "b"), Preview(0)], &after], all, &[all; 2]);
}

#[test]
fn a_note_that_was_forgotten_after_a_cut_upload_is_no_sign_of_another_machine() {
    let mut world = World::new(&["ana"]);
    [Write(0, "a"), Cut(0), Forget(0, "a"), Sync(0)].iter().for_each(|act| world.act(act));
    assert_eq!((titles_on(&world.shelf).0, world.is_rehosted), (Vec::new(), false));
}

#[test]
fn a_note_that_another_machine_of_the_user_forgot_does_not_take_a_later_one_with_it() {
    let before = [Save(0), Write(0, "a"), Sync(0), Sync(1), Forget(1, "a"), Sync(1), PutBack(0)];
    check(&["ana", "ana"], &[&before, &[Write(0, "b"), Sync(0), Sync(1)]], &["b"], &[&["b"], &["b"]]);
}

#[test]
fn a_clock_that_was_wrong_for_a_while_keeps_nothing_from_the_team() {
    let users = ["ana", "ben"];
    let acts = [Clock(0, 7 * DAY), Write(0, "a"), Clock(0, 0), Sync(0), Write(0, "b"), Sync(0), Sync(1)];
    check(&users, &[&acts], &["a", "b"], &[&["a", "b"], &["a", "b"]]);
    // The server refuses what is sent meanwhile.
    let wrong = [Clock(0, 7 * DAY), Forget(0, "a"), Write(0, "b"), Sync(0), Clock(0, 0)];
    let acts: [&[Act]; 3] = [&[Write(0, "a"), Sync(0), Sync(1)], &wrong, &[Sync(0), Sync(1)]];
    check(&users, &acts, &["b"], &[&["b"], &["b"]]);
}

#[test]
fn connecting_again_brings_nothing_back_that_was_forgotten() {
    let (users, shared) = (["ana", "ben"], [Write(0, "a"), Sync(0), Sync(1)]);
    // The author's forgetting reaches the team.
    check(&users, &[&shared, &[Stop(0), Forget(0, "a"), Connect(0), Sync(0), Sync(1)]], &[], &[&[], &[]]);
    // A teammate's stays here, whether it was before or after the end of the connection.
    for forgotten in [[Forget(1, "a"), Sync(1), Stop(1)], [Sync(1), Stop(1), Forget(1, "a")]] {
        check(&users, &[&shared, &forgotten, &[Connect(1), Sync(1), Sync(1)]], &["a"], &[&["a"], &[]]);
    }
}

#[test]
fn what_others_confirm_and_supersede_follows_whose_notes_are_taken() {
    let users = ["ana", "ben", "eve"];
    let none: &[Act] = &[];
    let narrowed: &[Act] = &[From(1, Some(&["ana"])), Sync(1)];
    let widened: &[Act] = &[From(1, None), Sync(1)];

    let confirmed: &[Act] = &[Write(0, "a"), Sync(0), Sync(2), Confirm(2, "a"), Sync(2), Sync(1)];
    let steps = [([none, none], "a, confirmed"), ([narrowed, none], "a"), ([narrowed, widened], "a, confirmed")];
    for (then, ben) in steps {
        check(&users, &[confirmed, then[0], then[1]], &["a"], &[&["a"], &[ben], &["a, confirmed"]]);
    }

    let revised: &[Act] = &[Revise(0, "t", "old"), Sync(0), Sync(2), Revise(2, "t", "new"), Sync(2), Sync(1)];
    let (old, both): (&[&str], &[&str]) = (&["old"], &["new", "old, superseded"]);
    for (then, ben) in [([none, none], both), ([narrowed, none], old), ([narrowed, widened], both)] {
        check(&users, &[revised, then[0], then[1]], &["new", "old"], &[old, ben, both]);
    }
}

#[test]
fn what_is_forgotten_leaves_a_server_that_takes_nothing_else() {
    let users = ["ana", "ben"];
    let full = [Write(0, "a"), Sync(0), Sync(1), Full(true), Write(0, "b"), Forget(0, "a"), Sync(0), Sync(1)];
    check(&users, &[&full], &[], &[&["b"], &[]]);
    check(&users, &[&full, &[Full(false), Sync(0), Sync(1)]], &["b"], &[&["b"], &["b"]]);
}

#[test]
fn a_server_that_was_put_back_gets_notes_again_from_before_the_connection() {
    let shared = [Write(0, "a"), Write(0, "b"), Sync(0), Sync(1), Stop(0), Connect(0), Sync(0)];
    let all: &[&str] = &["a", "b"];
    check(&["ana", "ben"], &[&shared, &[Empty, Sync(0), Sync(1), Sync(0)]], all, &[all; 2]);
}

#[test]
fn a_server_that_takes_only_small_requests_gets_what_fits() {
    let long: &str = format!("long{}", "\nlong".repeat(1_000)).leak();
    let written = [Write(0, "a"), Write(0, "b"), Write(0, long), Write(0, "c"), Write(0, "d")];
    let all: &[&str] = &["a", "b", "c", "d"];
    check(
        &["ana", "ben"],
        &[&[Limit(1_500)], &written, &[Sync(0), Sync(1)]],
        all,
        &[&["a", "b", "c", "d", "long"], all],
    );
}

#[test]
fn a_wish_ends_with_the_record_that_says_so() {
    let mut world = World::new(&["ana", "ben"]);
    let wishes = |world: &World, at: usize| {
        let db = TeamDb::open(world.machines[at].path()).unwrap();
        [db.to_include().unwrap().len(), db.to_confirm().unwrap().len()]
    };
    [Write(0, "a"), Sync(0), Sync(1), Confirm(1, "a"), Write(1, "b")].iter().for_each(|act| world.act(act));
    let named = world.reference(1, "b");
    TeamDb::open(world.machines[1].path()).unwrap().wish_to_include(named).unwrap();
    assert_eq!(wishes(&world, 1), [1, 1]);
    world.act(&Sync(1));
    assert_eq!(wishes(&world, 1), [0, 0]);
    assert_eq!(world.notes(1), ["a, confirmed", "b"]);
}
