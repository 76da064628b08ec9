//! Tests that small texts and invitations are in the cell of their tenant, and move with it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use weir_core::{Scope, WhyGone};
use weir_records::{
    Acceptance, Accounts as _, ErrorKind, Invitation, InvitationStanding, Invitations, Log as _, Ports, Record,
    RequestKey, Revoked, SearchQuery, Shelf, TextKey, memory,
};
use weir_team::{CellMovePhase, Cells};

use super::support::{NAMES, World, acme, token};
use crate::postgres::support::scope;
use crate::support::{NOW, invitation, keep, note, shelf_of};

/// Starts a server with a store of texts of its own, so that it reads what others have written from rows alone.
fn shelf(cells: &Arc<Cells>) -> Shelf {
    shelf_of(Ports { log: Arc::clone(cells) as _, ..memory::ports() })
}

/// Returns how many texts and invitations each cell has.
fn rows(world: &World) -> [String; 2] {
    let count = "SELECT count(content), (SELECT count(*) FROM weir.invitations) FROM weir.records";
    NAMES.map(|name| world.cell(name).session("owner").run(count).unwrap().concat())
}

fn text(shelf: &Shelf, of: &Scope, record: &Record) -> Vec<u8> {
    shelf.text(of, record.id).unwrap().unwrap()
}

fn listed(cells: &Cells, of: &Scope) -> Vec<Invitation> {
    Invitations::invitations(cells, &of.tenant).unwrap()
}

#[test]
fn a_small_text_is_appended_read_searched_and_erased_in_the_cell_of_its_tenant() {
    let world = World::new();
    let cells = world.open();
    let (ana, _) = acme(&cells);
    let (here, other) = (shelf(&cells), shelf(&world.open()));
    let record = keep(&here, &ana, "a porcupine");
    let key = RequestKey::new(&ana.user, "one", "content", NOW);
    let repeated: Vec<_> = (0..2).map(|_| here.keep_once(&ana, note("a badger"), &key, NOW).unwrap()).collect();
    assert_eq!((repeated.len(), rows(&world)), (2, ["2|0", "0|0"].map(String::from)));
    assert_eq!(text(&other, &ana, &record), b"a porcupine");
    let (porcupine, badger) = (TextKey::of(b"a porcupine"), TextKey::of(b"a badger"));
    let mut look_ups = cells.look_ups(&ana);
    assert_eq!(look_ups.records(&[record.id]).unwrap().len(), 1);
    assert_eq!(look_ups.kept_texts(&[porcupine, badger]).unwrap().len(), 2);
    drop(look_ups);
    assert_eq!(other.follow(&ana, 10).unwrap(), 2);
    let found = other.search(&ana, &SearchQuery::new("porcupine", 10)).unwrap();
    assert_eq!(found.hits.iter().map(|hit| hit.kept.record.id).collect::<Vec<_>>(), [record.id]);
    for nobody in [scope("umbrella", "ana", "api"), scope("nobody", "ana", "api")] {
        assert!(cells.kept_texts(&nobody, &[porcupine]).unwrap().is_empty());
    }
    other.forget(&ana, record.id, WhyGone::Forgotten, NOW).unwrap();
    assert_eq!(rows(&world), ["1|0", "0|0"]);
    assert!(cells.kept_texts(&ana, &[porcupine]).unwrap().is_empty());
}

#[test]
fn a_move_takes_small_texts_and_invitations_along() {
    let world = World::new();
    let cells = world.open();
    let (ana, good) = acme(&cells);
    let (here, other) = (shelf(&cells), token(&ana));
    cells.add_token(&other, None).unwrap();
    let [kept, gone] = ["a porcupine", "a badger"].map(|text| keep(&here, &ana, text));
    let [open, revoked, ended] = [&good, &good, &other].map(invitation);
    [&open, &revoked, &ended].into_iter().for_each(|one| cells.add_invitation(one).unwrap());
    assert_eq!(rows(&world), ["2|3", "0|0"]);
    let ben = scope("acme", "ben", "api");
    // Everything changes once more after it was copied.
    let (has_changed, old) = (AtomicBool::new(false), world.cell("one").log());
    let tell = |phase| match phase {
        CellMovePhase::Copying(_) if !has_changed.swap(true, Ordering::SeqCst) => {
            assert_eq!(rows(&world)[1], "2|3");
            here.forget(&ana, gone.id, WhyGone::Forgotten, NOW).unwrap();
            keep(&here, &ana, "a stoat");
            assert_eq!(cells.accept(open.id, &token(&ben)).unwrap(), Acceptance::Added);
            assert!(cells.revoke_invitation(revoked.id, &good, NOW).unwrap());
            cells.revoke(&ana.tenant, &Revoked::Token(other.id), NOW).unwrap();
        }
        CellMovePhase::Left => {
            let elsewhere = old.accounts().invitation(open.id).unwrap_err();
            assert_eq!(elsewhere.kind, ErrorKind::Elsewhere);
        }
        _ => {}
    };
    world.move_to(&ana.tenant, "two", &tell).unwrap();
    assert_eq!(rows(&world), ["0|0", "2|3"]);
    world.check_only_in(&ana.tenant, "two", 4);
    let standings = |id| cells.invitation(id).unwrap().unwrap().standing(NOW);
    assert_eq!(standings(open.id), InvitationStanding::Open);
    assert_eq!([revoked.id, ended.id].map(standings), [InvitationStanding::Revoked; 2]);
    assert_eq!(listed(&cells, &ana).iter().map(|one| one.uses).sum::<u32>(), 1);
    assert_eq!(text(&shelf(&world.open()), &ana, &kept), b"a porcupine");
    assert_eq!(here.text(&ana, gone.id).unwrap(), None);
    // It goes on in its new cell.
    let fay = token(&scope("acme", "fay", "api"));
    assert_eq!(cells.accept(open.id, &fay).unwrap(), Acceptance::Added);
    assert_eq!(cells.token(fay.id).unwrap(), Some(fay.clone()));
    assert_eq!(cells.accept(open.id, &token(&ben)).unwrap(), Acceptance::NameTaken);

    // A lost directory is made from the cells, with the invitations.
    let expected = listed(&cells, &ana);
    world.cell("one").session("owner").run("DROP SCHEMA weir_directory CASCADE").unwrap();
    world.prepare_directory();
    NAMES.into_iter().for_each(|name| drop(world.add(name).unwrap()));
    assert_eq!(world.open().invitation(open.id).unwrap().unwrap().uses, 2);
    // And back again.
    world.move_to(&ana.tenant, "one", &|_| {}).unwrap();
    assert_eq!((rows(&world), listed(&cells, &ana)), (["2|3", "0|0"].map(String::from), expected));
}

#[test]
fn a_move_that_changes_a_small_text_fails_and_is_taken_back() {
    let world = World::new();
    let cells = world.open();
    let (ana, good) = acme(&cells);
    let kept = keep(&shelf(&cells), &ana, "a porcupine");
    cells.add_invitation(&invitation(&good)).unwrap();
    let damage = "UPDATE weir.records SET content = 'a hedgehog' WHERE content IS NOT NULL";
    let tell = |phase| {
        if matches!(phase, CellMovePhase::Copying(_)) {
            world.cell("two").session("owner").run(damage).unwrap();
        }
    };
    let error = world.move_to(&ana.tenant, "two", &tell).unwrap_err();
    assert!(error.kind == ErrorKind::Damaged && error.to_string().contains("records of api"), "{error}");
    world.owner().undo_move(&ana.tenant).unwrap();
    assert_eq!(rows(&world), ["1|1", "0|0"]);
    world.move_to(&ana.tenant, "two", &|_| {}).unwrap();
    assert_eq!(
        (rows(&world), text(&shelf(&cells), &ana, &kept)),
        (["0|0", "1|1"].map(String::from), b"a porcupine".to_vec())
    );
}

#[test]
fn a_cell_that_older_servers_can_still_start_on_is_refused_until_it_is_added_again() {
    let world = World::new();
    world.cell("one").session("owner").run("UPDATE weir.migrations SET oldest_server = 4").unwrap();
    let (cells, ana) = (world.open(), scope("acme", "ana", "api"));
    let error = cells.create_tenant_in(&ana.tenant, Some("one")).unwrap_err();
    assert!(error.kind == ErrorKind::Unavailable && error.to_string().contains("add the cell once more"), "{error}");
    world.add("one").unwrap();
    world.open().create_tenant_in(&ana.tenant, Some("one")).unwrap();
}
