//! Many machines with one server: random pauses, uploads that are repeated, reordered or cut, and a cloned machine.
//! Every note must be on every machine exactly once.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use tempfile::TempDir;
use weir_core::{
    EntryKind, Level, Limits, NewEntry, Note, NoteKind, Origin, ProjectKey, Scope, TenantId, Timestamp, UserId,
};
use weir_host::error::{CommandError, ErrorKind};
use weir_records::sealed::Member;
use weir_records::{
    ErrorKind as RecordErrorKind, HostId, Incoming, Position, Record, Sender, Shelf, StoredRecord, Writer, memory,
};
use weir_store::{Owner, Store, TeamConnection, TeamDb};

use super::exchange::{Exchange, Report};
use super::server::{Downloaded, Page, ReceivedRecord, RefusedRecord, Server, Uploaded};
use super::vault::{KeyWish, Vault};

const PROJECT: &str = "api";
const TENANT: &str = "team";
const ROUNDS: usize = 8;
pub(super) const NOW: i64 = 1_790_000_000_000;

/// Numbers that look random and are the same every time.
pub(super) struct Numbers(u64);

impl Numbers {
    fn below(&mut self, most: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % most
    }
}

/// The server as one user reaches it.
pub(super) struct Reached<'a> {
    pub(super) shelf: &'a Shelf,
    pub(super) scope: Scope,
    /// Decides what goes wrong; nothing does without it.
    pub(super) faults: Option<&'a RefCell<Numbers>>,
    pub(super) figures: &'a RefCell<Figures>,
}

#[derive(Default)]
pub(super) struct Figures {
    exchanges: usize,
    /// Exchanges of a machine that did not take place, since it was offline.
    offline: usize,
    uploads: usize,
    /// Uploads that arrived twice.
    doubled: usize,
    /// Uploads whose records arrived in the reverse order.
    reversed: usize,
    /// Connections that were cut before, during or after an upload or a download.
    cut: usize,
    /// Machines that found another one with their identity.
    clones: usize,
    records: usize,
}

impl Reached<'_> {
    fn fault(&self) -> u64 {
        self.faults.map_or(9, |numbers| numbers.borrow_mut().below(8))
    }

    fn cut(&self) -> CommandError {
        self.figures.borrow_mut().cut += 1;
        CommandError::new(ErrorKind::Failed, "the connection was cut")
    }
}

impl Server for Reached<'_> {
    fn upload(&self, records: &[&str], texts: &BTreeMap<String, String>) -> Result<Uploaded, CommandError> {
        let read = |json: &&str| {
            let record = Record::from_json(json).unwrap();
            let text = record.body.kept().and_then(|kept| texts.get(&kept.text.to_string()));
            let text = text.map(|text| text.clone().into_bytes());
            Incoming::new(record, text)
        };
        let mut incoming: Vec<Incoming> = records.iter().map(read).collect();
        let fault = self.fault();
        self.figures.borrow_mut().uploads += 1;
        match fault {
            0 => return Err(self.cut()),
            1 => {
                incoming.reverse();
                self.figures.borrow_mut().reversed += 1;
            }
            2 => incoming.truncate(incoming.len() / 2),
            3 => {
                drop(self.shelf.import(&self.scope, &incoming, &Sender::Author, Timestamp(NOW)));
                self.figures.borrow_mut().doubled += 1;
            }
            _ => {}
        }
        let results = self.shelf.import(&self.scope, &incoming, &Sender::Author, Timestamp(NOW));
        if fault == 2 || fault == 4 {
            return Err(self.cut());
        }
        let refused = incoming.iter().zip(results).filter_map(|(one, result)| Some((one, result.err()?)));
        let refused: Vec<_> = refused.collect();
        if refused.iter().any(|(_, error)| error.kind == RecordErrorKind::Conflict) {
            return Ok(Uploaded::Cloned);
        }
        let name = |(one, error): &(&Incoming, weir_records::PortError)| RefusedRecord {
            id: one.record.id.to_string(),
            reason: error.to_string(),
        };
        let named: Vec<RefusedRecord> = refused.iter().map(name).collect();
        if named.is_empty() { Ok(Uploaded::Taken) } else { Ok(Uploaded::Refused { count: named.len() as u64, named }) }
    }

    fn download(&self, after: u64) -> Result<Downloaded, CommandError> {
        if self.fault() == 0 {
            return Err(self.cut());
        }
        let batch = match self.shelf.read_since(&self.scope, Position(after), 7) {
            Err(error) if error.kind == RecordErrorKind::Ahead => return Ok(Downloaded::PutBack),
            batch => batch.unwrap(),
        };
        let Position(head) = self.shelf.ports().log.head(&self.scope).unwrap();
        let received = |StoredRecord { position: Position(position), record }: StoredRecord| {
            let text = record.body.kept().and_then(|_| self.shelf.text(&self.scope, record.id).unwrap());
            ReceivedRecord { position, record, text: text.map(|text| String::from_utf8(text).unwrap()), opened: None }
        };
        let next = batch.next.0;
        let records = batch.records.into_iter().map(received).collect();
        Ok(Downloaded::Page(Page { records, unreadable: Vec::new(), next, more: next < head }))
    }
}

pub(super) struct Machine {
    pub(super) folder: TempDir,
    pub(super) user: String,
    notes: usize,
}

impl Machine {
    pub(super) fn new(user: &str, host: HostId) -> Self {
        let machine = Self { folder: tempfile::tempdir().unwrap(), user: user.to_owned(), notes: 0 };
        drop(machine.store());
        machine.connect(host);
        machine
    }

    pub(super) fn connect(&self, host: HostId) {
        let connection = TeamConnection {
            server: "http://127.0.0.1".to_owned(),
            tenant: TENANT.to_owned(),
            user: self.user.clone(),
            project: PROJECT.to_owned(),
            host: host.to_string(),
            ..TeamConnection::default()
        };
        TeamDb::open(self.path()).unwrap().connect(&connection).unwrap();
    }

    pub(super) fn as_member(&self) -> Member {
        let key = Vault::read(self.path()).unwrap().expect_sealed().unwrap();
        Member { key, user: self.user.clone() }
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn store(&self) -> Store {
        Store::open(self.path(), Owner::Project(ProjectKey("local".into())), Limits::default()).unwrap()
    }

    fn write(&mut self, machine: usize) {
        self.notes += 1;
        let text = format!("note {} of machine {machine}", self.notes);
        let entry = NewEntry {
            text: text.clone().into_bytes(),
            note: Some(Note::new(NoteKind::Finding)),
            ..NewEntry::new(EntryKind::Note, Origin::User, Level::Project, text)
        };
        self.store().keep(&local(), entry, Timestamp(NOW)).unwrap();
    }

    fn sync(
        &self,
        shelf: &Shelf,
        faults: Option<&RefCell<Numbers>>,
        figures: &RefCell<Figures>,
    ) -> Result<(), CommandError> {
        self.sync_and(Option::default(), shelf, faults, figures).map(drop)
    }

    /// Exchanges, and changes who has the keys of the project.
    pub(super) fn sync_and(
        &self,
        wish: Option<KeyWish>,
        shelf: &Shelf,
        faults: Option<&RefCell<Numbers>>,
        figures: &RefCell<Figures>,
    ) -> Result<Report, CommandError> {
        figures.borrow_mut().exchanges += 1;
        let server = Reached { shelf, scope: shared(&self.user), faults, figures };
        let db = TeamDb::open(self.path()).unwrap();
        let connection = db.connection().unwrap().unwrap();
        let mut store = self.store();
        let exchange = Exchange::new(db, connection, &mut store, local(), Timestamp(NOW))?;
        let report = exchange.sealed_by(Vault::read(self.path())?, wish).run(&server)?;
        figures.borrow_mut().clones += usize::from(report.is_rehosted);
        Ok(report)
    }

    /// Returns how far this machine has read the server's log.
    fn position(&self) -> u64 {
        TeamDb::open(self.path()).unwrap().connection().unwrap().unwrap().position
    }

    fn titles(&self) -> Vec<String> {
        let notes = self.store().notes(&local(), usize::MAX).unwrap();
        let mut titles: Vec<String> = notes.into_iter().map(|note| note.entry.title).collect();
        titles.sort();
        titles
    }
}

pub(super) fn local() -> Scope {
    Scope::project(ProjectKey("local".into()))
}

/// Returns the project of the team as a user of it reaches it.
pub(super) fn shared(user: &str) -> Scope {
    Scope {
        tenant: TenantId(TENANT.into()),
        user: UserId(user.to_owned()),
        ..Scope::project(ProjectKey(PROJECT.into()))
    }
}

/// Returns the titles of everything in the server's log, and how many records that are. Each has its own id.
pub(super) fn titles_on(shelf: &Shelf) -> (Vec<String>, usize) {
    let mut all: Vec<StoredRecord> = Vec::new();
    loop {
        let after = all.last().map_or(Position(0), |last| last.position);
        let batch = shelf.read_since(&shared("user0"), after, 500).unwrap();
        if batch.records.is_empty() {
            break;
        }
        all.extend(batch.records);
    }
    let ids: BTreeSet<String> = all.iter().map(|stored| stored.record.id.to_string()).collect();
    assert_eq!(ids.len(), all.len(), "an id is there twice");
    let mut titles: Vec<String> =
        all.iter().filter_map(|stored| stored.record.body.kept()).map(|kept| kept.title.clone()).collect();
    titles.sort();
    (titles, all.len())
}

/// Lets machines work and exchange at random, then lets each finish. Returns what happened, and whether the server can
/// read the titles.
fn check(count: usize, seed: u64, prepare: impl Fn(&Shelf, &[Machine])) -> (Figures, bool) {
    let shelf = Shelf::new(memory::ports(), Writer::new().unwrap());
    let hosts: Vec<HostId> = (1..count).map(|_| HostId::random().unwrap()).collect();
    let named = hosts.iter().enumerate().map(|(at, host)| Machine::new(&format!("user{at}"), *host));
    let mut machines: Vec<Machine> = named.collect();
    // A copy of the first machine's disk.
    machines.push(Machine::new("user0", hosts[0]));
    prepare(&shelf, &machines);
    let (numbers, figures) = (RefCell::new(Numbers(seed)), RefCell::new(Figures::default()));
    for _ in 0..ROUNDS {
        for (at, machine) in machines.iter_mut().enumerate() {
            if numbers.borrow_mut().below(2) == 0 {
                machine.write(at);
            }
            let is_online = numbers.borrow_mut().below(3) > 0;
            if is_online {
                // What is cut is completed by a later exchange.
                let _ = machine.sync(&shelf, Some(&numbers), &figures);
            } else {
                figures.borrow_mut().offline += 1;
            }
        }
    }
    for _ in 0..2 {
        machines.iter().for_each(|machine| machine.sync(&shelf, None, &figures).unwrap());
    }
    let written = machines.iter().enumerate();
    let mut expected: Vec<String> = written
        .flat_map(|(at, machine)| (1..=machine.notes).map(move |number| format!("note {number} of machine {at}")))
        .collect();
    expected.sort();
    let (titles, records) = titles_on(&shelf);
    let is_readable = !titles.is_empty();
    assert!(titles == expected || !is_readable, "the server has some in clear: {titles:?}");
    let Position(head) = shelf.ports().log.head(&shared("user0")).unwrap();
    for (at, machine) in machines.iter().enumerate() {
        assert_eq!(machine.titles(), expected, "machine {at}");
        assert_eq!(machine.position(), head, "machine {at} has read everything");
    }
    (Figures { records, ..figures.into_inner() }, is_readable)
}

/// Seals the project on the first machine, and admits all others.
pub(super) fn seal(shelf: &Shelf, machines: &[Machine]) {
    let figures = RefCell::new(Figures::default());
    let ask = |wish| machines[0].sync_and(Some(wish), shelf, None, &figures).unwrap().sealed.unwrap();
    assert!(ask(KeyWish::Seal).can_seal);
    let others = machines[1..].iter().map(Machine::as_member);
    assert_eq!(ask(KeyWish::Admit(others.collect())).members.len(), machines.len());
}

#[test]
fn every_sealed_note_is_on_every_machine_exactly_once_and_on_no_server() {
    let (figures, is_readable) = check(machine_count(), 0x9e37_79b9_7f4a_7c15, seal);
    assert!(!is_readable && figures.records > machine_count());
}

#[test]
fn every_note_is_on_every_machine_exactly_once() {
    let count = machine_count();
    let (figures, is_readable) = check(count, 0x9e37_79b9_7f4a_7c15, |_, _| ());
    assert!(is_readable);
    let Figures { exchanges, offline, uploads, doubled, reversed, cut, clones, records } = figures;
    println!(
        "{count} machines: {records} records, each once everywhere; {exchanges} exchanges, {offline} left out offline, \
         {uploads} uploads, {doubled} doubled, {reversed} reversed, {cut} connections cut, {clones} clones found"
    );
}

#[test]
fn a_log_that_was_put_back_and_written_again_is_read_from_the_beginning() {
    let [before, after] = [(); 2].map(|()| Shelf::new(memory::ports(), Writer::new().unwrap()));
    let [mut ana, mut ben] = ["user0", "user1"].map(|user| Machine::new(user, HostId::random().unwrap()));
    let figures = RefCell::new(Figures::default());
    (0..3).for_each(|_| ana.write(0));
    ana.sync(&before, None, &figures).unwrap();
    // As many records as before are at the same places, and more.
    (0..5).for_each(|_| ben.write(1));
    for machine in [&ben, &ana, &ben] {
        machine.sync(&after, None, &figures).unwrap();
    }
    assert_eq!(ana.titles().len(), 8);
    assert_eq!(ana.titles(), ben.titles());
    assert_eq!(titles_on(&after), (ana.titles(), 8));
}

/// Returns how many machines there are. `WEIR_SIMULATED_MACHINES` asks for more.
#[expect(clippy::disallowed_methods, reason = "a test reads its own variable")]
fn machine_count() -> usize {
    std::env::var("WEIR_SIMULATED_MACHINES").ok().and_then(|count| count.parse().ok()).unwrap_or(12)
}
