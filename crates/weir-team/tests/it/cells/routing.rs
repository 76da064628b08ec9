//! Tests that each call reaches the cell of its tenant, and what a server remembers.

use weir_core::TenantId;
use weir_records::{Accounts as _, ErrorKind, Log as _, Position, Revoked};

use super::support::{NAMES, World, acme, token};
use crate::postgres::support::{ids, note, scope};
use crate::support::NOW;

#[test]
fn tenants_are_spread_over_the_cells_and_stay_where_they_are() {
    let world = World::new();
    let (cells, other, id) = (world.open(), world.open(), ids());
    for number in 0..4 {
        let place = scope(&format!("tenant {number}"), "ana", "api");
        assert!(cells.create_tenant(&place.tenant).unwrap());
        assert!(!other.create_tenant(&place.tenant).unwrap());
        cells.append(&place, &[note(&place, id(number))]).unwrap();
        assert_eq!(other.head(&place).unwrap(), Position(1));
        world.check_only_in(&place.tenant, NAMES[number as usize % 2], 1);
    }
    let named = TenantId("named".into());
    assert!(cells.create_tenant_in(&named, Some("two")).unwrap());
    world.check_only_in(&named, "two", 0);
    let refused = cells.create_tenant_in(&named, Some("one")).unwrap_err();
    assert!(refused.to_string().contains("the tenant is in the cell `two`, not in `one`"), "{refused}");
    assert_eq!(cells.create_tenant_in(&TenantId("x".into()), Some("three")).unwrap_err().kind, ErrorKind::Missing);
}

#[test]
fn a_tenant_that_the_directory_does_not_have_has_nothing() {
    let world = World::new();
    let (cells, nobody) = (world.open(), scope("nobody", "ana", "api"));
    assert_eq!(cells.head(&nobody).unwrap(), Position(0));
    assert_eq!(cells.token(token(&nobody).id).unwrap(), None);
    assert!(!cells.has_tenant(&nobody.tenant).unwrap());
    assert_eq!(cells.add_token(&token(&nobody), None).unwrap_err().kind, ErrorKind::Missing);
    let empty = World::without_cells();
    let error = empty.open().append(&nobody, &[note(&nobody, ids()(0))]).unwrap_err();
    assert!(error.to_string().contains("the directory has no cells"), "{error}");
}

#[test]
fn a_database_that_becomes_a_cell_keeps_its_tenants_and_a_lost_directory_is_made_from_the_cells() {
    let world = World::without_cells();
    // It was the only database before.
    world.cell("one").migrate().unwrap();
    let (before, ana) = (world.cell("one").log(), scope("acme", "ana", "api"));
    before.append(&ana, &[note(&ana, ids()(0))]).unwrap();
    let token = token(&ana);
    before.accounts().add_token(&token, None).unwrap();
    let added = world.add("one").unwrap();
    assert_eq!((added.tenants, added.ran.len(), added.arriving.len()), (1, 0, 0));
    world.add("two").unwrap();
    let cells = world.open();
    assert_eq!((cells.head(&ana).unwrap(), cells.token(token.id).unwrap()), (Position(1), Some(token.clone())));
    world.move_to(&ana.tenant, "two", &|_| {}).unwrap();
    world.check_only_in(&ana.tenant, "two", 1);

    world.cell("one").session("owner").run("DROP SCHEMA weir_directory CASCADE").unwrap();
    world.prepare_directory();
    assert_eq!((world.add("one").unwrap().tenants, world.add("two").unwrap().tenants), (0, 1));
    world.check_only_in(&ana.tenant, "two", 1);
    assert_eq!(world.open().token(token.id).unwrap(), Some(token));
    // A tenant in two cells, as after a backup of one that is too old.
    let row = "INSERT INTO weir.tenants (name) VALUES ('twice')";
    for name in NAMES {
        world.cell(name).session("owner").run(row).unwrap();
    }
    world.add("one").unwrap();
    let refused = world.add("two").unwrap_err();
    assert!(refused.to_string().contains("it has the tenant `twice`, which is in the cell `one`"), "{refused}");
}

#[test]
fn what_a_server_remembers_of_a_moved_tenant_changes_nothing() {
    let world = World::new();
    let (cells, id) = (world.open(), ids());
    let (ana, first) = acme(&cells);
    let second = token(&ana);
    cells.add_token(&second, None).unwrap();
    cells.append(&ana, &[note(&ana, id(0))]).unwrap();
    // It knows nothing of cells, and remembers the number of the project.
    let old = world.cell("one").log();
    assert_eq!(old.head(&ana).unwrap(), Position(1));
    world.move_to(&ana.tenant, "two", &|_| {}).unwrap();
    let kinds = [
        old.append(&ana, &[note(&ana, id(1))]).unwrap_err().kind,
        old.bind_hosts(&ana, &[ids()(0).host]).unwrap_err().kind,
        old.head(&ana).unwrap_err().kind,
        old.records(&ana, &[id(0)]).unwrap_err().kind,
        old.accounts().tokens(&ana.tenant).unwrap_err().kind,
        old.accounts().create_tenant(&ana.tenant).unwrap_err().kind,
        old.accounts().add_token(&token(&ana), None).unwrap_err().kind,
    ];
    assert_eq!(kinds, [ErrorKind::Elsewhere; 7]);
    let fresh = world.cell("one").log();
    assert_eq!(fresh.append(&ana, &[note(&ana, id(1))]).unwrap_err().kind, ErrorKind::Elsewhere);
    world.check_only_in(&ana.tenant, "two", 1);
    // Servers find it.
    assert_eq!(cells.append(&ana, &[note(&ana, id(1))]).unwrap(), [Position(2)]);
    assert_eq!(cells.token(first.id).unwrap(), Some(first.clone()));
    assert_eq!(cells.revoke(&ana.tenant, &Revoked::Token(second.id), NOW).unwrap(), 1);
    assert!(cells.token(second.id).unwrap().unwrap().revoked_at.is_some());
    // And back again, over what it had left.
    world.move_to(&ana.tenant, "one", &|_| {}).unwrap();
    world.check_only_in(&ana.tenant, "one", 2);
    assert_eq!(old.append(&ana, &[note(&ana, id(2))]).unwrap(), [Position(3)]);
    assert!(cells.token(second.id).unwrap().unwrap().revoked_at.is_some());
}
