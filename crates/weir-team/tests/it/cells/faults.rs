//! Tests what happens while a cell or the directory cannot be reached.

use std::time::{Duration, Instant};

use weir_records::{Accounts as _, ErrorKind, HeadWalk, Log as _, Position};

use super::support::{World, acme};
use crate::postgres::support::{TestDatabase, ids, note, scope};

/// Ends all connections to a database, and refuses new ones until it is let in again.
fn shut(world: &World, database: &TestDatabase) {
    let admin = if database.name == world.cells[0].name { &world.cells[1] } else { &world.cells[0] };
    let (name, admin) = (&database.name, admin.session("postgres"));
    admin.run(&format!("ALTER DATABASE {name} ALLOW_CONNECTIONS false")).unwrap();
    let end = format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'");
    admin.run(&end).unwrap();
}

fn let_in(world: &World, database: &TestDatabase) {
    let admin = if database.name == world.cells[0].name { &world.cells[1] } else { &world.cells[0] };
    admin.session("postgres").run(&format!("ALTER DATABASE {} ALLOW_CONNECTIONS true", database.name)).unwrap();
}

#[test]
fn one_cell_that_is_down_costs_the_others_nothing() {
    let world = World::new();
    let (cells, id) = (world.open(), ids());
    let (ana, token) = acme(&cells);
    let eve = scope("umbrella", "eve", "api");
    cells.create_tenant_in(&eve.tenant, Some("two")).unwrap();
    cells.append(&ana, &[note(&ana, id(0))]).unwrap();
    cells.append(&eve, &[note(&eve, id(1))]).unwrap();
    let walk = cells.moved_heads(HeadWalk::default(), 100).unwrap();
    let walk = cells.moved_heads(walk.next, 100).unwrap();
    assert!(walk.is_last);
    shut(&world, world.cell("two"));
    let began = Instant::now();
    for number in 2..30 {
        cells.append(&ana, &[note(&ana, id(number))]).unwrap();
        let error = cells.append(&eve, &[note(&eve, id(100 + number))]).unwrap_err();
        assert_eq!(error.kind, ErrorKind::Unavailable, "{error}");
    }
    assert!(cells.token(token.id).unwrap().is_some());
    assert!(began.elapsed() < Duration::from_secs(5), "{:?}", began.elapsed());
    weir_records::Log::answers(&*cells).unwrap();
    // A walk says once that the cell cannot be read, and goes on without it.
    let page = cells.moved_heads(walk.next, 100).unwrap();
    assert_eq!(page.heads.iter().map(|head| head.position).collect::<Vec<_>>(), [Position(29)]);
    assert_eq!(cells.moved_heads(page.next, 100).unwrap_err().kind, ErrorKind::Unavailable);
    let page = cells.moved_heads(page.next, 100).unwrap();
    assert!(page.is_last && page.heads.is_empty());
    let_in(&world, world.cell("two"));
    let until = Instant::now() + Duration::from_secs(20);
    while let Err(error) = cells.append(&eve, &[note(&eve, id(200))]) {
        assert!(error.kind == ErrorKind::Unavailable && Instant::now() < until, "{error}");
        std::thread::yield_now();
    }
    // The walk finds what it has missed.
    let first = cells.moved_heads(page.next, 100).unwrap();
    let second = cells.moved_heads(first.next, 100).unwrap();
    let heads: Vec<_> =
        first.heads.into_iter().chain(second.heads).map(|head| (head.tenant.0, head.position)).collect();
    assert!(heads.contains(&("umbrella".to_owned(), Position(2))), "{heads:?}");
}

#[test]
fn without_the_directory_what_is_remembered_is_served() {
    let world = World::new();
    let cells = world.open();
    let eve = scope("umbrella", "eve", "api");
    cells.create_tenant_in(&eve.tenant, Some("two")).unwrap();
    let token = super::support::token(&eve);
    cells.add_token(&token, None).unwrap();
    assert!(cells.token(token.id).unwrap().is_some());
    // The directory is in the first database.
    shut(&world, world.cell("one"));
    cells.append(&eve, &[note(&eve, ids()(0))]).unwrap();
    assert_eq!(cells.token(token.id).unwrap(), Some(token));
    weir_records::Log::answers(&*cells).unwrap();
    let error = cells.head(&scope("acme", "ana", "api")).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Unavailable, "{error}");
    let_in(&world, world.cell("one"));
}
