//! What happens to machines that share a sealed project, and what each of them has in the end. The server has nothing.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use weir_core::time::DAY;

use super::hazard_tests::Act::{Clock, Connect, Cut, Empty, Forget, PutBack, Save, Seal, Stop, Sync, Write};
use super::hazard_tests::{Act, LimitedServer, World, check};
use super::server::{Downloaded, Server, Uploaded};
use super::simulation_tests::{Figures, titles_on};
use super::vault::KeyWish;
use crate::error::CommandError;

/// Lets acts happen on two machines of different users, which share a sealed project.
fn check_sealed(acts: &[&[Act]], on_machines: &[&[&str]]) {
    let sealed: &[Act] = &[Seal];
    check(&["ana", "ben"], &[&[sealed], acts].concat(), &[], on_machines);
}

/// A server on which somebody seals the project just before the first upload.
struct SealedMeanwhile<'a> {
    server: &'a LimitedServer<'a>,
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
