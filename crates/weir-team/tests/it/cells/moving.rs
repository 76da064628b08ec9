//! Tests the move of a tenant between two cells while others write.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use weir_core::Scope;
use weir_records::moving::{Export as _, KeptRequest};
use weir_records::{Accounts as _, ErrorKind, Imprint, Log, Position, Readers, RecordId, RequestKey, Result, Revoked};
use weir_team::{CellMovePhase, Cells, MovedTenant};

use super::support::{World, acme, read_all, token};
use crate::postgres::support::{ids, note, removal};
use crate::support::NOW;

#[test]
fn a_move_takes_everything_along() {
    let world = World::new();
    let (cells, id) = (world.open(), ids());
    let (ana, good) = acme(&cells);
    let revoked = token(&ana);
    cells.add_token(&revoked, None).unwrap();
    cells.revoke(&ana.tenant, &Revoked::Token(revoked.id), NOW).unwrap();
    cells.set_max_records(&ana.tenant, 77).unwrap();
    let web = Scope { project: weir_core::ProjectKey("web".into()), ..ana.clone() };
    cells.append(&ana, &(0..30).map(|number| note(&ana, id(number))).collect::<Vec<_>>()).unwrap();
    cells.append(&web, &[note(&web, id(30))]).unwrap();
    cells.append(&ana, &[removal(&ana, id(31), id(3))]).unwrap();
    cells.bind_hosts(&ana, &[ids()(0).host]).unwrap();
    let key = RequestKey { name: [7; 32], content: Imprint::of("a note"), at: NOW };
    cells.append_once(&ana, &note(&ana, id(32)), &key).unwrap();
    let before = |cells: &Cells| {
        let accounts = (cells.tokens(&ana.tenant).unwrap(), cells.usage(&ana.tenant).unwrap());
        (read_all(cells, &ana), read_all(cells, &web), accounts, cells.projects(&ana.tenant).unwrap())
    };
    let expected = before(&cells);
    let audit = world.cell("one").log().audit_rows(&ana.tenant, 0, 100).unwrap();

    let moved = world.move_to(&ana.tenant, "two", &|_| {}).unwrap();
    assert_eq!((moved.records, moved.passes), (33, 3));
    assert_eq!(before(&cells), expected);
    world.check_only_in(&ana.tenant, "two", 33);
    let two = world.cell("two").log();
    let (mut moved_audit, hosts) =
        (two.audit_rows(&ana.tenant, 0, 100).unwrap(), two.bound_hosts(&ana.tenant, None, 9));
    let last = moved_audit.pop().unwrap();
    assert_eq!(
        (last.actor.as_str(), last.action.as_str(), last.target.as_str()),
        ("operator", "move tenant", "from one to two")
    );
    assert_eq!((moved_audit, hosts.unwrap().len()), (audit, 1));
    assert_eq!(two.kept_requests(&ana.tenant, None, 9).unwrap(), [KeptRequest { key, record: id(32) }]);
    assert_eq!(cells.token(good.id).unwrap(), Some(good));
    // What was erased stays so, and what was there is known.
    assert_eq!(cells.append(&ana, &[note(&ana, id(3)), note(&ana, id(4))]).unwrap(), [Position(4), Position(5)]);
    assert_eq!(cells.records(&ana, &[id(3)]).unwrap(), []);
    let left = "SELECT count(*) FROM weir.audit UNION ALL SELECT count(*) FROM weir.tokens
                UNION ALL SELECT count(*) FROM weir.requests UNION ALL SELECT count(*) FROM weir.projects";
    assert_eq!(world.cell("one").session("owner").run(left).unwrap(), ["0"; 4]);

    let refused = world.move_to(&ana.tenant, "two", &|_| {}).unwrap_err();
    assert!(refused.to_string().contains("`acme` is in the cell `two`, and no move has begun"), "{refused}");
    assert_eq!(world.move_to(&ana.tenant, "three", &|_| {}).unwrap_err().kind, ErrorKind::Missing);
    assert_eq!(world.owner().undo_move(&ana.tenant).unwrap_err().kind, ErrorKind::Invalid);
}

/// What writers of a tenant have seen while it was moved.
pub(super) struct Load {
    /// The records that were acknowledged, with their positions.
    pub(super) appended: Vec<(RecordId, Position)>,
    /// How often a call was refused in a way that a client repeats.
    pub(super) refused: u64,
    /// The longest time from the first try of a call to its success.
    pub(super) longest: Duration,
}

/// Runs work while writers append single notes without a pause, each on a server of its own or shared ones, and a reader
/// follows by a cursor. Checks that the reader has seen each record once, in order.
pub(super) fn under_load<T>(world: &World, ana: &Scope, writers: usize, work: impl FnOnce() -> T) -> (T, Load) {
    let servers = [world.open(), world.open()];
    let (is_over, written) = (AtomicBool::new(false), AtomicU64::new(0));
    let load = Mutex::new(Load { appended: Vec::new(), refused: 0, longest: Duration::ZERO });
    let begin = servers[0].head(ana).unwrap();
    let (done, seen) = std::thread::scope(|threads| {
        let writing: Vec<_> = (0..writers)
            .map(|writer| {
                let (log, is_over, written, load, id) = (&servers[writer % 2], &is_over, &written, &load, ids());
                threads.spawn(move || {
                    for number in 0.. {
                        if is_over.load(Ordering::SeqCst) {
                            return;
                        }
                        let (record, began) = (note(ana, id(number)), Instant::now());
                        let mut refused = 0;
                        let position = loop {
                            match log.append(ana, std::slice::from_ref(&record)) {
                                Ok(positions) => break positions[0],
                                Err(error) => assert!(error.kind.may_pass(), "{error}"),
                            }
                            refused += 1;
                            std::thread::yield_now();
                        };
                        written.fetch_add(1, Ordering::SeqCst);
                        let mut load = load.lock().unwrap();
                        load.appended.push((record.id, position));
                        load.refused += refused;
                        load.longest = load.longest.max(began.elapsed());
                    }
                })
            })
            .collect();
        let reading = threads.spawn(|| follow(&*servers[1], ana, begin, &is_over));
        while written.load(Ordering::SeqCst) < writers as u64 {
            std::thread::yield_now();
        }
        let done = work();
        let enough = written.load(Ordering::SeqCst) + 2 * writers as u64;
        while written.load(Ordering::SeqCst) < enough {
            std::thread::yield_now();
        }
        is_over.store(true, Ordering::SeqCst);
        writing.into_iter().for_each(|writer| writer.join().unwrap());
        (done, reading.join().unwrap())
    });
    let mut load = load.into_inner().unwrap();
    load.appended.sort_by_key(|(_, position)| *position);
    let head = servers[0].head(ana).unwrap();
    // Each position after the first is one acknowledged record, so that nothing is lost and nothing is there twice.
    assert!(load.appended.iter().map(|(_, position)| position.0).eq(begin.0 + 1..=head.0));
    let rest = servers[0].read_since(ana, seen.1, usize::MAX >> 1, Readers::Scope).unwrap();
    let followed = seen.0.into_iter().chain(rest.records.into_iter().map(|stored| (stored.record.id, stored.position)));
    assert!(followed.eq(load.appended.iter().copied()), "the reader has seen something else");
    (done, load)
}

/// Follows a project by its cursor until the writers end.
fn follow(
    log: &dyn Log,
    scope: &Scope,
    begin: Position,
    is_over: &AtomicBool,
) -> (Vec<(RecordId, Position)>, Position) {
    let (mut seen, mut after) = (Vec::new(), begin);
    while !is_over.load(Ordering::SeqCst) {
        match log.read_since(scope, after, 100, Readers::Scope) {
            Ok(batch) => {
                seen.extend(batch.records.into_iter().map(|stored| (stored.record.id, stored.position)));
                after = batch.next;
            }
            Err(error) => assert!(error.kind.may_pass(), "{error}"),
        }
    }
    (seen, after)
}

fn fill(cells: &Cells, ana: &Scope, records: u64) {
    let id = ids();
    for first in (0..records).step_by(1_000) {
        let some: Vec<_> = (first..records.min(first + 1_000)).map(|number| note(ana, id(number))).collect();
        cells.append(ana, &some).unwrap();
    }
}

#[test]
fn a_move_under_writers_loses_nothing_and_repeats_nothing() {
    let world = World::new();
    let cells = world.open();
    let (ana, _) = acme(&cells);
    fill(&cells, &ana, 1_500);
    let (moved, load) = under_load(&world, &ana, 4, || {
        let moved = world.move_to(&ana.tenant, "two", &|_| {}).unwrap();
        world.move_to(&ana.tenant, "one", &|_| {}).unwrap();
        moved
    });
    assert!(moved.records >= 1_500, "{moved:?}");
    world.check_only_in(&ana.tenant, "one", 1_500 + load.appended.len());
}

/// Prints the figures of docs/results/2026-11-19-cells.md.
#[test]
fn nightly_a_large_tenant_is_moved_under_writers() {
    for records in [1_000, 10_000, 100_000] {
        let world = World::new();
        let cells = world.open();
        let (ana, _) = acme(&cells);
        fill(&cells, &ana, records);
        let began = Instant::now();
        let (MovedTenant { passes, pause, .. }, load) =
            under_load(&world, &ana, 8, || world.move_to(&ana.tenant, "two", &|_| {}).unwrap());
        let (seconds, written) = (began.elapsed().as_secs_f64(), load.appended.len());
        eprintln!(
            "{records} records: moved in {seconds:.1} s and {passes} passes while 8 writers appended {written}; paused for \
             {} ms; longest append {} ms; {} refused; 0 lost, 0 twice, cursors valid",
            pause.as_millis(),
            load.longest.as_millis(),
            load.refused,
        );
        assert!(pause <= Duration::from_secs(5));
    }
}

/// The moments at which a move may end early, in their order.
const PHASES: [CellMovePhase; 7] = [
    CellMovePhase::Copying(30),
    CellMovePhase::Paused,
    CellMovePhase::Compared,
    CellMovePhase::Left,
    CellMovePhase::Switched,
    CellMovePhase::Settled,
    CellMovePhase::Erased,
];

/// Begins a move that ends at a phase as if its process were killed: connections are closed, and nothing is taken back.
fn killed_at(world: &World, ana: &Scope, phase: CellMovePhase) {
    let tell = |reached| {
        if reached == phase {
            std::panic::resume_unwind(Box::new("killed"));
        }
    };
    let moving = std::panic::AssertUnwindSafe(|| world.move_to(&ana.tenant, "two", &tell));
    std::panic::catch_unwind(moving).unwrap_err();
}

/// How many cells let a tenant write.
fn owners(world: &World, ana: &Scope) -> usize {
    world.presences(&ana.tenant).iter().filter(|presence| presence.starts_with("here")).count()
}

#[test]
fn a_move_that_is_killed_anywhere_is_finished_by_the_next_call() {
    for phase in PHASES {
        let world = World::new();
        let (cells, id) = (world.open(), ids());
        let (ana, _) = acme(&cells);
        fill(&cells, &ana, 30);
        killed_at(&world, &ana, phase);
        assert!(owners(&world, &ana) <= 1, "{phase:?}");
        // Nobody answers between leaving and settling; before and afterwards everybody may write.
        let is_between = matches!(phase, CellMovePhase::Left | CellMovePhase::Switched);
        let late = cells.append(&ana, &[note(&ana, id(0))]);
        assert_eq!(late.as_ref().err().map(|error| error.kind), is_between.then_some(ErrorKind::Busy), "{phase:?}");
        world.move_to(&ana.tenant, "two", &|_| {}).unwrap();
        cells.append(&ana, &[note(&ana, id(0))]).unwrap();
        world.check_only_in(&ana.tenant, "two", 31);
    }
}

#[test]
fn a_move_that_is_killed_is_taken_back_until_the_directory_has_switched() {
    for phase in PHASES {
        let world = World::new();
        let (cells, id) = (world.open(), ids());
        let (ana, _) = acme(&cells);
        fill(&cells, &ana, 30);
        killed_at(&world, &ana, phase);
        let undone: Result<()> = world.owner().undo_move(&ana.tenant);
        if matches!(phase, CellMovePhase::Switched | CellMovePhase::Settled | CellMovePhase::Erased) {
            let error = undone.unwrap_err().to_string();
            assert!(error.contains("`acme` has arrived in `two`"), "{phase:?}: {error}");
            world.move_to(&ana.tenant, "two", &|_| {}).unwrap();
            world.check_only_in(&ana.tenant, "two", 30);
            continue;
        }
        undone.unwrap();
        world.check_only_in(&ana.tenant, "one", 30);
        cells.append(&ana, &[note(&ana, id(0))]).unwrap();
        world.move_to(&ana.tenant, "two", &|_| {}).unwrap();
        world.check_only_in(&ana.tenant, "two", 31);
    }
}

#[test]
fn of_two_moves_the_earlier_one_has_no_effect_any_more() {
    // At each of these moments, somebody takes the move back and writes, or another call finishes it.
    for phase in [CellMovePhase::Copying(30), CellMovePhase::Left] {
        for finishes in [false, true] {
            let world = World::new();
            let (cells, id) = (world.open(), ids());
            let (ana, _) = acme(&cells);
            fill(&cells, &ana, 30);
            let has_met = AtomicBool::new(false);
            let tell = |reached| {
                if reached == phase && !has_met.swap(true, Ordering::SeqCst) {
                    match finishes {
                        true => drop(world.move_to(&ana.tenant, "two", &|_| {}).unwrap()),
                        false => world.owner().undo_move(&ana.tenant).unwrap(),
                    }
                    cells.append(&ana, &[note(&ana, id(0))]).unwrap();
                }
            };
            let error = world.move_to(&ana.tenant, "two", &tell).unwrap_err();
            assert!(error.kind.may_pass(), "{phase:?}: {error}");
            world.check_only_in(&ana.tenant, if finishes { "two" } else { "one" }, 31);
            cells.append(&ana, &[note(&ana, id(1))]).unwrap();
        }
    }
}

#[test]
fn a_copy_that_is_not_the_same_does_not_become_the_tenant() {
    let world = World::new();
    let cells = world.open();
    let (ana, _) = acme(&cells);
    fill(&cells, &ana, 30);
    let damage = "DELETE FROM weir.records WHERE position = 7";
    let tell = |reached| {
        if reached == CellMovePhase::Paused {
            world.cell("two").session("owner").run(damage).unwrap();
        }
    };
    let error = world.move_to(&ana.tenant, "two", &tell).unwrap_err();
    let differs = "the old cell has records of api: head 30";
    assert!(error.kind == ErrorKind::Damaged && error.to_string().contains(differs), "{error}");
    fill(&cells, &ana, 1);
    world.owner().undo_move(&ana.tenant).unwrap();
    world.check_only_in(&ana.tenant, "one", 31);
    world.move_to(&ana.tenant, "two", &|_| {}).unwrap();
    world.check_only_in(&ana.tenant, "two", 31);
}
