//! What somebody else changes during a run stays, and the run's version is kept.

use std::path::Path;

use super::rig::{Rig, accept};
use crate::{ConflictKind, Verdict};

/// A run and a user change something at the same time. Afterwards the project has what the user left at `paths`.
fn check(setup: &str, run: &str, user: &str, conflicts: &[(&str, ConflictKind)], held: &[&str]) {
    for rig in [Rig::new, Rig::across] {
        let rig = rig(setup);
        let layer = rig.layer();
        rig.run(&layer, run);
        rig.user(user);
        let left = rig.tree();
        let told: Vec<_> =
            layer.changes().unwrap().into_iter().filter_map(|change| Some((change.path, change.conflict?))).collect();
        let applied = rig.apply(layer);
        let found: Vec<_> = applied.conflicts.iter().map(|it| (it.change.path.to_str().unwrap(), it.kind)).collect();
        assert_eq!(found, conflicts);
        assert!(
            told.iter().map(|(path, kind)| (path.to_str().unwrap(), *kind)).take(found.len()).eq(found.iter().copied())
        );
        let content = |tree: &super::rig::Tree, path: &str| {
            let below = tree.iter().filter(|(name, _)| name.starts_with(path));
            below.map(|(name, line)| (name.clone(), line.clone())).collect::<Vec<_>>()
        };
        for (path, _) in conflicts {
            assert_eq!(content(&rig.tree(), path), content(&left, path), "{path}");
        }
        assert_eq!(rig.held_names(), held);
    }
}

#[test]
fn an_edit_in_place_wins() {
    check(
        "echo a > a; echo b > b",
        "echo run > a; echo run > b",
        "echo user >> a",
        &[("a", ConflictKind::Edited)],
        &["a"],
    );
}

#[test]
fn an_edit_that_is_saved_by_renaming_wins() {
    check("echo a > a", "echo run > a", "echo user > t; mv t a", &[("a", ConflictKind::Edited)], &["a"]);
}

#[test]
fn a_file_from_elsewhere_with_an_old_time_wins() {
    let setup = "echo a > a; echo other > b; touch -d 2001-01-01 b";
    check(setup, "echo run > a", "mv b a", &[("a", ConflictKind::Edited)], &["a"]);
}

#[test]
fn a_removal_wins_over_a_write() {
    check("echo a > a", "echo run > t; mv t a", "rm a", &[("a", ConflictKind::Deleted)], &["a"]);
    check("echo a > a", "echo run >> a", "rm a", &[("a", ConflictKind::Deleted)], &["a"]);
    check("mkdir d; echo a > d/a", "echo run > d/b", "rm -r d", &[("d", ConflictKind::Deleted)], &["d"]);
}

#[test]
fn a_write_wins_over_a_removal() {
    check("echo a > a", "rm a", "echo user > a", &[("a", ConflictKind::Edited)], &[]);
    check(
        "mkdir -p d/e; echo a > d/e/a; echo b > d/b",
        "rm -r d",
        "echo user >> d/e/a",
        &[("d", ConflictKind::Edited)],
        &[],
    );
    check("mkdir d; echo a > d/a", "rm -r d; echo run > d", "echo user > d/b", &[("d", ConflictKind::Edited)], &["d"]);
}

#[test]
fn two_new_files_of_one_name_are_a_conflict() {
    check("echo x > x", "echo run > a", "echo user > a", &[("a", ConflictKind::Edited)], &["a"]);
    check("echo x > x", "mkdir a; echo run > a/b", "echo user > a", &[("a", ConflictKind::Edited)], &["a"]);
}

#[test]
fn a_folder_that_became_a_link_is_not_entered() {
    let setup = "mkdir -p real other; echo a > real/a; echo a > other/a";
    for run in ["echo run > real/a", "echo run > real/new", "rm real/a"] {
        let kind = if run.starts_with("rm") { &[][..] } else { &["real"][..] };
        for rig in [Rig::new, Rig::across] {
            let rig = rig(setup);
            let layer = rig.layer();
            rig.run(&layer, run);
            rig.user("mv real moved; ln -s other real");
            let left = rig.tree();
            let applied = rig.apply(layer);
            assert_eq!(rig.tree(), left, "{run}");
            assert_eq!(applied.done, [], "{run}: {:?}", applied.conflicts);
            let _ = kind;
        }
    }
}

#[test]
fn a_folder_that_becomes_a_link_while_changes_are_judged_is_not_entered() {
    for rig in [Rig::new, Rig::across] {
        let rig = rig("mkdir -p d/e other/e; echo a > d/e/a; echo a > other/e/a; echo x > d/e/x; echo x > other/e/x");
        let layer = rig.layer();
        rig.run(&layer, "echo run > d/e/a; echo new > d/e/b; rm d/e/x");
        let mut first = true;
        let mut left = None;
        let applied = layer.apply(&rig.held, u64::MAX, &mut |_| {
            if std::mem::take(&mut first) {
                rig.user("mv d moved; ln -s other d");
                left = Some(rig.tree());
            }
            Verdict::Apply
        });
        let applied = applied.unwrap();
        // The time of the project's own folder was read before that.
        let (mut now, mut left) = (rig.tree(), left.unwrap());
        assert!(now.remove(Path::new("")).is_some() && left.remove(Path::new("")).is_some());
        assert_eq!(now, left);
        assert_eq!(applied.done, []);
        assert!(applied.conflicts.iter().all(|conflict| conflict.kind == ConflictKind::Unreachable));
        assert_eq!(applied.conflicts.len(), 3);
        assert_eq!(rig.held_names(), ["a", "b"]);
    }
}

#[test]
fn an_edit_while_changes_are_judged_wins() {
    for rig in [Rig::new, Rig::across] {
        let rig = rig("echo a > a; echo b > b; echo c > c");
        let layer = rig.layer();
        rig.run(&layer, "echo run > a; rm b; echo run > n; echo run > c");
        let applied = layer.apply(&rig.held, u64::MAX, &mut |change| {
            if change.path == Path::new("a") {
                rig.user("echo user >> a; echo user >> b; echo user > n");
            }
            Verdict::Apply
        });
        let applied = applied.unwrap();
        assert_eq!(applied.conflicts.len(), 3);
        assert_eq!(rig.held_names(), ["a", "n"]);
        let read = |name: &str| std::fs::read_to_string(rig.project.join(name)).unwrap();
        assert_eq!(
            (read("a"), read("b"), read("n"), read("c")),
            ("a\nuser\n".into(), "b\nuser\n".into(), "user\n".into(), "run\n".into())
        );
    }
}

#[test]
fn other_files_in_the_same_folder_are_no_conflict() {
    let rig = Rig::new("mkdir d; echo a > d/a; echo b > d/b");
    let layer = rig.layer();
    rig.run(&layer, "echo run > d/a; echo run > d/n; rm -r d; mkdir d; echo run > d/a; echo run > d/n");
    rig.user("echo user > d/t; mv d/t d/user; chmod 700 d");
    let applied = rig.apply(layer);
    assert_eq!(applied.conflicts.iter().map(|it| it.change.path.to_str().unwrap()).collect::<Vec<_>>(), ["d"]);
    let read = |name: &str| std::fs::read_to_string(rig.project.join(name)).unwrap();
    assert_eq!((read("d/a"), read("d/n"), read("d/user")), ("run\n".into(), "run\n".into(), "user\n".into()));
    assert!(!rig.project.join("d/b").exists());
    assert!(rig.tree()[Path::new("d")].starts_with("40700 "));
}

#[test]
fn the_second_of_two_runs_finds_the_first() {
    let rig = Rig::new("echo a > a; echo b > b");
    let (one, two) = (rig.layer(), rig.layer());
    rig.run(&one, "echo one > a");
    rig.run(&two, "echo two > a; echo two > b");
    assert_eq!(rig.apply(one).conflicts, []);
    let applied = two.apply(&rig.held, u64::MAX, &mut accept).unwrap();
    assert_eq!((applied.conflicts.len(), applied.done.len()), (1, 1));
    assert_eq!(std::fs::read(rig.project.join("a")).unwrap(), b"one\n");
}
