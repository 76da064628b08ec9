//! A process that is killed anywhere leaves something that can be finished.

use super::kill_after;
use super::rig::{Rig, Tree};
use crate::{Change, Layer, RecoveredHow, Verdict, recover};

const SETUP: &str = "
    mkdir -p d/e gone/x; echo a > a; echo b > d/b; echo c > d/e/c; echo g > gone/x/g; echo t > t; mkdir u; echo u > u/u
    touch -d 2001-01-01 d d/e a; chmod 555 gone/x";
const RUN: &str = "
    echo 1 > a; echo 2 > d/b; rm d/e/c; chmod -R 755 gone; rm -r gone; rm t; mkdir t; echo 3 > t/t; rm -r u; echo 4 > u
    mkdir n; echo 5 > n/n; echo evil > n/hook; echo evil > hook; chmod 700 d/e; : >> d/b; ln -s a l";

fn apply(rig: &Rig, layer: Layer) -> bool {
    let mut judge = |change: &Change| match change.path.ends_with("hook") {
        true => Verdict::Hold("hook".to_owned()),
        false => Verdict::Apply,
    };
    layer.apply(&rig.held, u64::MAX, &mut judge).is_ok()
}

fn expected(mut seen: Tree) -> Tree {
    seen.retain(|path, _| !path.ends_with("hook"));
    seen
}

/// Starts again for every change that an apply makes, and has it killed there. `then` gets the project as it was and
/// as it should be. Says how many there were.
fn at_every_change(make: fn(&str) -> Rig, then: impl Fn(&Rig, &Tree, &Tree)) -> u64 {
    for changes in 0.. {
        let rig = make(SETUP);
        let before = rig.tree();
        let layer = rig.layer();
        let after = expected(rig.run(&layer, RUN));
        let (done, killed) = kill_after(changes, || apply(&rig, layer));
        if done && !killed {
            assert_eq!(rig.tree(), after);
            return changes;
        }
        then(&rig, &before, &after);
    }
    unreachable!()
}

fn finish(rig: &Rig, before: &Tree, after: &Tree) {
    let found = recover(&rig.place);
    match found.as_slice() {
        // The last change had been made: only the clean-up was missing.
        [] => assert_eq!(&rig.tree(), after),
        [one] => match &one.how {
            RecoveredHow::Discarded => assert_eq!(&rig.tree(), before),
            RecoveredHow::Finished(finished) => {
                assert_eq!(&rig.tree(), after);
                assert!(finished.undo);
                assert_eq!(finished.apart.len(), 2);
            }
            other => panic!("{other:?}"),
        },
        more => panic!("{more:?}"),
    }
    assert!(recover(&rig.place).is_empty());
    if &rig.tree() == after {
        assert_eq!(rig.held_names(), ["hook", "hook"]);
        assert_eq!(rig.undo().refused, []);
        assert_eq!(&rig.tree(), before);
    }
    assert_eq!(rig.layers(), 0);
}

#[test]
fn a_kill_at_any_change_of_an_apply_is_recovered_from() {
    assert!(at_every_change(Rig::in_memory, finish) > 20);
}

#[test]
fn a_kill_at_any_change_of_an_apply_by_copying_is_recovered_from() {
    assert!(at_every_change(Rig::across, finish) > 60);
}

fn cut_power(rig: &Rig, before: &Tree, after: &Tree) {
    for layer in super::super::room::rooms(&rig.place).unwrap() {
        let header = std::fs::read_to_string(layer.join("header")).unwrap();
        let boot = super::super::room::boot_id().unwrap();
        std::fs::write(layer.join("header"), header.replace(&boot, "another")).unwrap();
    }
    let tree = |found: &[crate::Recovered]| match found {
        [] => after.clone(),
        [one] => match &one.how {
            RecoveredHow::Discarded => before.clone(),
            RecoveredHow::RolledBack(undone) => {
                assert_eq!(undone.refused, []);
                before.clone()
            }
            other => panic!("{other:?}"),
        },
        more => panic!("{more:?}"),
    };
    assert_eq!(tree(&recover(&rig.place)), rig.tree());
}

#[test]
fn after_a_power_cut_every_file_is_the_old_one() {
    at_every_change(Rig::in_memory, cut_power);
    at_every_change(Rig::across, cut_power);
}

#[test]
fn a_header_that_did_not_reach_the_disk_is_not_missed() {
    let rig = Rig::in_memory(SETUP);
    let before = rig.tree();
    let layer = rig.layer();
    rig.run(&layer, RUN);
    kill_after(12, || apply(&rig, layer));
    let layer = super::super::room::rooms(&rig.place).unwrap().remove(0);
    assert!(layer.join("journal").exists());
    std::fs::write(layer.join("header"), "").unwrap();
    let journal = std::fs::read_to_string(layer.join("journal")).unwrap();
    let boot = super::super::room::boot_id().unwrap();
    std::fs::write(layer.join("journal"), journal.replace(&boot, "another")).unwrap();
    let found = recover(&rig.place);
    assert!(matches!(found.as_slice(), [one] if matches!(one.how, RecoveredHow::RolledBack(_))), "{found:?}");
    assert_eq!(rig.tree(), before);
    assert_eq!(rig.layers(), 0);
}

/// Everything that comes after an apply, killed at every change.
fn killed_later(make: fn(&str) -> Rig, apply_first: bool) {
    // Copies are synced, which takes its time.
    for changes in (0..).step_by(if make("").is_across() { 4 } else { 1 }) {
        let rig = make(SETUP);
        let before = rig.tree();
        let layer = rig.layer();
        let after = expected(rig.run(&layer, RUN));
        if apply_first {
            assert!(apply(&rig, layer));
            let (_, killed) = kill_after(changes, || super::super::undo(&rig.place, &rig.project).ok());
            recover(&rig.place);
            if rig.layers() > 0 {
                assert_eq!(rig.tree(), after);
                rig.undo();
            }
            assert_eq!(rig.tree(), before, "{changes}");
            if !killed {
                return;
            }
        } else {
            // In the middle of the steps, and again while that is recovered from.
            kill_after(12, || apply(&rig, layer));
            let (_, killed) = kill_after(changes, || recover(&rig.place));
            recover(&rig.place);
            assert_eq!(rig.tree(), after, "{changes}");
            rig.undo();
            assert_eq!(rig.tree(), before, "{changes}");
            if !killed {
                return;
            }
        }
        assert_eq!(rig.layers(), 0);
    }
}

#[test]
fn a_kill_during_undo_is_recovered_from() {
    killed_later(Rig::in_memory, true);
    killed_later(Rig::across, true);
}

#[test]
fn a_kill_during_recovery_is_recovered_from() {
    killed_later(Rig::in_memory, false);
    killed_later(Rig::across, false);
}

#[test]
fn a_step_that_fails_takes_the_others_back() {
    let rig = Rig::new("echo a > a; echo b > b");
    let before = rig.tree();
    let layer = rig.layer();
    rig.run(&layer, "echo 1 > a; echo 2 > b; echo evil > hook");
    // The folder for held files cannot be made.
    std::fs::write(&rig.held, "").unwrap();
    assert!(!apply(&rig, layer));
    assert_eq!(rig.tree(), before);
    assert_eq!(rig.layers(), 0);
}

#[test]
fn a_layer_in_use_is_left_alone() {
    let rig = Rig::new("echo a > a");
    let layer = rig.layer();
    assert!(recover(&rig.place).is_empty());
    rig.run(&layer, "echo b > a");
    drop(layer);
    assert!(matches!(recover(&rig.place).as_slice(), [one] if matches!(one.how, RecoveredHow::Discarded)));
    assert_eq!(rig.layers(), 0);
}
