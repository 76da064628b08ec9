//! What happens to machines that share a sealed project, and what each of them has in the end. The server has nothing.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use weir_core::time::DAY;
use weir_core::{EntryKind, Origin, Reference, Timestamp};
use weir_host::error::CommandError;
use weir_records::sealed::{Identity, Member};
use weir_records::{Audience, Author, Body, HostId, Kept, LogicalTime, Record, RecordId, TextKey};
use weir_store::TeamDb;

use super::exchange::Exchange;
use super::hazard_tests::Act::{Clock, Connect, Cut, Empty, Forget, PutBack, Save, Seal, Stop, Sync, Write};
use super::hazard_tests::{Act, LimitedServer, World, check};
use super::server::{Downloaded, ReceivedRecord, Server, Uploaded};
use super::simulation_tests::{Figures, NOW, Reached, local, shared, titles_on};
use super::vault::{KeyWish, Vault};

/// Lets acts happen on two machines of different users, which share a sealed project.
fn check_sealed(acts: &[&[Act]], on_machines: &[&[&str]]) {
    let sealed: &[Act] = &[Seal];
    check(&["ana", "ben"], &[&[sealed], acts].concat(), &[], on_machines);
}

/// A server on which somebody seals the project, or changes its members, just before the first upload.
struct SealedMeanwhile<'a> {
    server: &'a dyn Server,
    seal: &'a dyn Fn(),
    is_sealed: Cell<bool>,
}

impl Server for SealedMeanwhile<'_> {
    fn upload(&self, records: &[&str], texts: &BTreeMap<String, String>) -> Result<Uploaded, CommandError> {
        if !self.is_sealed.replace(true) {
            (self.seal)();
        }
        self.server.upload(records, texts)
    }

    fn download(&self, after: u64) -> Result<Downloaded, CommandError> {
        self.server.download(after)
    }
}

/// A server that says once that its log was put back, and then shows an entry in clear before everything else.
struct Forging<'a> {
    server: &'a LimitedServer<'a>,
    forged: Record,
    text: &'static str,
    has_lied: Cell<bool>,
}

impl Server for Forging<'_> {
    fn upload(&self, records: &[&str], texts: &BTreeMap<String, String>) -> Result<Uploaded, CommandError> {
        self.server.upload(records, texts)
    }

    fn download(&self, after: u64) -> Result<Downloaded, CommandError> {
        if !self.has_lied.replace(true) {
            return Ok(Downloaded::PutBack);
        }
        let Downloaded::Page(mut page) = self.server.download(after.saturating_sub(1))? else { panic!("no page") };
        page.records.iter_mut().for_each(|received| received.position += 1);
        page.next += 1;
        if after == 0 {
            let (record, text) = (self.forged.clone(), Some(self.text.to_owned()));
            page.records.insert(0, ReceivedRecord { position: 1, record, text, opened: None });
        }
        Ok(Downloaded::Page(page))
    }
}

fn in_clear(user: &str, text: &str) -> Record {
    let kept = Kept {
        reference: Reference::from_bits(5),
        kind: EntryKind::Note,
        origin: Origin::User,
        title: text.to_owned(),
        source: None,
        note: None,
        text: TextKey::of(text.as_bytes()),
        bytes: text.len() as u64,
    };
    let scope = shared(user);
    Record {
        id: RecordId { host: HostId::random().unwrap(), index: 0 },
        time: LogicalTime { millis: NOW, count: 0 },
        tenant: scope.tenant,
        project: scope.project,
        author: Author { user: scope.user, client: String::new() },
        audience: Audience::Team,
        body: Body::Kept(Box::new(kept)),
    }
}

/// Has a machine exchange with a server that forges an entry in clear. Returns how many records it could not read.
fn forge(world: &World, at: usize) -> usize {
    let text = "forged";
    let report = world.exchange(at, |exchange, server| {
        exchange.run(&Forging { server, forged: in_clear("carol", text), text, has_lied: Cell::default() })
    });
    report.unwrap().unreadable
}

#[test]
fn a_server_that_says_it_was_put_back_writes_no_note_in_the_name_of_a_member() {
    let mut world = World::new(&["ana", "ben"]);
    [Seal, Write(0, "a"), Sync(0), Sync(1)].iter().for_each(|act| world.act(act));
    for machine in [0, 1] {
        assert_eq!((forge(&world, machine), world.notes(machine)), (1, vec!["a".to_owned()]));
    }
    // Without a seal, there is only the word of the server.
    let mut world = World::new(&["ana", "ben"]);
    [Write(0, "a"), Sync(0)].iter().for_each(|act| world.act(act));
    assert_eq!((forge(&world, 0), world.notes(0).len()), (0, 2));
}

#[test]
fn what_was_there_before_the_seal_is_taken_once_and_marked() {
    let mut world = World::new(&["ana", "ben"]);
    [Write(0, "old"), Sync(0), Seal, Write(0, "new"), Sync(0), Sync(1)].iter().for_each(|act| world.act(act));
    assert_eq!(world.notes(1), ["new", "old"]);
    let marked = |title: &str| {
        let db = TeamDb::open(world.machines[1].path()).unwrap();
        let [known] = db.attributions(&[world.reference(1, title)]).unwrap().try_into().unwrap();
        known.is_in_clear
    };
    assert_eq!((marked("old"), marked("new")), (true, false));
    // Connecting again finds what is here, and takes nothing else in clear.
    [Stop(1), Connect(1), Sync(1)].iter().for_each(|act| world.act(act));
    assert_eq!((forge(&world, 1), world.notes(1)), (1, vec!["new".to_owned(), "old".to_owned()]));
}

#[test]
fn a_server_that_forgets_a_removal_does_not_bring_the_removed_machine_back() {
    let mut world = World::new(&["ana", "ben", "carol"]);
    [Seal, Write(0, "a"), Sync(0), Sync(1), Sync(2)].iter().for_each(|act| world.act(act));
    let figures = RefCell::new(Figures::default());
    let carol = world.machines[2].as_member().key;
    let revoke = Some(KeyWish::Revoke(vec![carol]));
    let report = world.machines[0].sync_and(revoke, &world.shelf, Option::default(), &figures).unwrap();
    assert_eq!(report.sealed.unwrap().members.len(), 2);
    world.act(&Sync(1));
    // The removed machine is the first to write to the log that was put back.
    [Empty, Sync(2)].iter().for_each(|act| world.act(act));
    let report = world.exchange(1, |exchange, server| exchange.run(server)).unwrap();
    assert!(report.is_put_back && report.lost_changes > 0, "{report:?}");
    let sealed = report.sealed.unwrap();
    assert!(sealed.can_seal && sealed.members.iter().all(|member| member.key != carol), "{:?}", sealed.members);
    [Sync(0), Write(0, "b"), Sync(0), Sync(1), Sync(2)].iter().for_each(|act| world.act(act));
    assert_eq!((world.notes(1), world.notes(2)), (vec!["a".to_owned(), "b".to_owned()], vec!["a".to_owned()]));
}

#[test]
fn members_changed_at_the_same_time_are_the_same_everywhere() {
    let mut world = World::new(&["ana", "ben", "carol", "dora"]);
    [Seal, Sync(1), Sync(2), Sync(3)].iter().for_each(|act| world.act(act));
    let figures = RefCell::new(Figures::default());
    let [carol, dora] = [2, 3].map(|at| world.machines[at].as_member().key);
    let revoke = |at: usize, key| {
        world.machines[at].sync_and(Some(KeyWish::Revoke(vec![key])), &world.shelf, Option::default(), &figures)
    };
    // Ben removes dora while ana, who has read everything, removes carol.
    let meanwhile = || drop(revoke(1, dora).unwrap());
    let report = {
        let machine = &world.machines[0];
        let server = Reached { shelf: &world.shelf, scope: shared("ana"), faults: None, figures: &figures };
        let db = TeamDb::open(machine.path()).unwrap();
        let connection = db.connection().unwrap().unwrap();
        let mut store = machine.store();
        let exchange = Exchange::new(db, connection, &mut store, local(), Timestamp(NOW)).unwrap();
        let vault = Vault::read(machine.path()).unwrap();
        let server = SealedMeanwhile { server: &server, seal: &meanwhile, is_sealed: Cell::default() };
        exchange.sealed_by(vault, Some(KeyWish::Revoke(vec![carol]))).run(&server).unwrap()
    };
    let sealed = report.sealed.unwrap();
    assert!(report.is_renewed && sealed.can_seal, "{sealed:?}");
    [Write(0, "a"), Sync(0), Sync(1), Sync(2), Sync(3)].iter().for_each(|act| world.act(act));
    let on_ben = world.exchange(1, |exchange, server| exchange.run(server)).unwrap().sealed.unwrap();
    assert_eq!((on_ben.members, sealed.members.len()), (sealed.members, 2));
    assert_eq!([1, 2, 3].map(|at| world.notes(at).len()), [1, 0, 0]);
}

#[test]
fn a_machine_that_the_user_has_not_heard_of_gets_no_key_before_they_have() {
    let mut world = World::new(&["ana", "ben", "carol"]);
    [Seal, Sync(1), Sync(2)].iter().for_each(|act| world.act(act));
    let figures = RefCell::new(Figures::default());
    let ask = |at: usize, wish| world.machines[at].sync_and(Some(wish), &world.shelf, Option::default(), &figures);
    let second = Member { key: Identity::random().unwrap().public(), user: "ben".to_owned() };
    ask(1, KeyWish::Admit(vec![second.clone()])).unwrap();
    let carol = world.machines[2].as_member().key;
    let error = ask(0, KeyWish::Revoke(vec![carol])).unwrap_err();
    let said = format!("ben ({}) is a member now, admitted by ben", second.key);
    assert!(error.message.contains(&said), "{}", error.message);
    assert_eq!(ask(0, KeyWish::Revoke(vec![carol])).unwrap().sealed.unwrap().members.len(), 3);
}

#[test]
fn a_machine_that_was_put_back_loses_no_sealed_note() {
    let before = [Write(0, "first"), Sync(0), Save(0), Write(0, "a"), Sync(0), Forget(0, "a"), Sync(0), PutBack(0)];
    let all: &[&str] = &["b", "first"];
    check_sealed(&[&before, &[Write(0, "b"), Sync(0), Sync(1), Sync(0)]], &[all; 2]);
}

#[test]
fn a_sealed_note_that_was_forgotten_after_a_cut_upload_is_no_sign_of_another_machine() {
    let mut world = World::new(&["ana", "ben"]);
    [Seal, Write(0, "a"), Cut(0), Forget(0, "a"), Sync(0), Sync(1)].iter().for_each(|act| world.act(act));
    assert_eq!((world.notes(0), world.notes(1), world.is_rehosted), (Vec::new(), Vec::new(), false));
}

#[test]
fn a_clock_that_was_wrong_for_a_while_keeps_no_sealed_note_from_the_team() {
    let acts = [Clock(0, 7 * DAY), Write(0, "a"), Sync(0), Clock(0, 0), Write(0, "b"), Sync(0), Sync(1)];
    check_sealed(&[&acts], &[&["a", "b"], &["a", "b"]]);
}

#[test]
fn a_server_that_was_put_back_gets_keys_and_sealed_notes_again() {
    let shared = [Write(0, "a"), Sync(0), Sync(1), Stop(0), Connect(0), Write(1, "b"), Sync(1), Sync(0)];
    let all: &[&str] = &["a", "b"];
    check_sealed(&[&shared, &[Empty, Sync(0), Sync(1), Sync(0), Sync(1)]], &[all; 2]);
}

#[test]
fn connecting_again_brings_no_sealed_note_back_that_was_forgotten() {
    let shared = [Write(0, "a"), Sync(0), Sync(1)];
    check_sealed(&[&shared, &[Stop(0), Forget(0, "a"), Connect(0), Sync(0), Sync(1)]], &[&[], &[]]);
    check_sealed(&[&shared, &[Stop(1), Forget(1, "a"), Connect(1), Sync(1), Sync(1)]], &[&["a"], &[]]);
}

#[test]
fn a_forgotten_note_stays_away_if_the_keys_for_it_come_later() {
    let mut world = World::new(&["ana", "ben"]);
    let acts = [Seal, Write(0, "a"), Sync(0), Sync(1), Stop(1), Forget(1, "a"), Connect(1)];
    acts.iter().for_each(|act| world.act(act));
    let folder = world.machines[1].path().to_owned();
    std::fs::remove_file(folder.join("team.key")).unwrap();
    let locked = world.exchange(1, |exchange, server| exchange.run(server)).unwrap().sealed.unwrap().locked;
    let figures = RefCell::new(Figures::default());
    let admit = Some(KeyWish::Admit(vec![world.machines[1].as_member()]));
    world.machines[0].sync_and(admit, &world.shelf, Option::default(), &figures).unwrap();
    let report = world.exchange(1, |exchange, server| exchange.run(server)).unwrap();
    assert_eq!((locked, report.sealed.unwrap().locked, world.notes(1)), (1, 0, Vec::new()));
}

#[test]
fn a_note_does_not_leave_in_clear_if_the_project_is_sealed_while_it_is_sent() {
    let mut world = World::new(&["ana", "ben"]);
    world.act(&Write(1, "a"));
    let figures = RefCell::new(Figures::default());
    let ana = |wish| world.machines[0].sync_and(Some(wish), &world.shelf, Option::default(), &figures).unwrap();
    let seal = || drop(ana(KeyWish::Seal));
    let report = world.exchange(1, |exchange, server| {
        exchange.run(&SealedMeanwhile { server, seal: &seal, is_sealed: Cell::default() })
    });
    assert_eq!((report.unwrap().refused, titles_on(&world.shelf).0), (Vec::new(), Vec::<String>::new()));
    ana(KeyWish::Admit(vec![world.machines[1].as_member()]));
    [Sync(1), Sync(0)].iter().for_each(|act| world.act(act));
    assert_eq!((titles_on(&world.shelf).0, world.notes(0)), (Vec::new(), vec!["a".to_owned()]));
}
