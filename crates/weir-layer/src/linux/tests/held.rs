//! What a judge holds back does not reach the project, and is not lost.

use super::rig::Rig;
use crate::{Applied, Change, Layer, Verdict};

fn apply(rig: &Rig, layer: Layer, hold: &[&str]) -> Applied {
    let mut judge = |change: &Change| match hold.iter().any(|path| change.path.as_os_str() == *path) {
        true => Verdict::Hold("because".to_owned()),
        false => Verdict::Apply,
    };
    layer.apply(&rig.held, u64::MAX, &mut judge).unwrap()
}

/// Runs a script and holds some paths. Applied, the project lacks exactly those changes; undone, it is as before.
fn check(rig: &Rig, script: &str, hold: &[&str], lacks: &[&str]) -> Applied {
    let before = rig.tree();
    let layer = rig.layer();
    let mut expected = rig.run(&layer, script);
    let applied = apply(rig, layer, hold);
    for path in lacks {
        expected.retain(|name, _| !name.starts_with(path));
        expected.extend(before.iter().filter(|(name, _)| name.starts_with(path)).map(|(a, b)| (a.clone(), b.clone())));
    }
    assert_eq!(rig.tree(), expected);
    assert_eq!(applied.conflicts, []);
    assert_eq!(rig.undo().refused, []);
    assert_eq!(rig.tree(), before);
    applied
}

#[test]
fn held_files_are_moved_apart_with_their_content() {
    for rig in [Rig::new, Rig::across] {
        let rig = rig("echo a > a; mkdir d");
        let applied = check(&rig, "echo evil > d/hook; echo 1 > a; echo b > b", &["d/hook", "a"], &["d/hook", "a"]);
        assert_eq!(rig.held_names(), ["a", "hook"]);
        let held = &applied.held[1];
        assert_eq!((held.why.as_str(), held.change.path.to_str()), ("because", Some("d/hook")));
        assert_eq!(std::fs::read(held.to.as_ref().unwrap()).unwrap(), b"evil\n");
    }
}

#[test]
fn held_content_of_a_new_folder_stays_out_of_it() {
    let rig = Rig::new("echo a > a");
    check(
        &rig,
        "mkdir -p n/m; echo evil > n/m/x; echo y > n/m/y; mkdir n/h; echo z > n/h/z",
        &["n/m/x", "n/h"],
        &["n/m/x", "n/h"],
    );
    assert_eq!(rig.held_names(), ["h", "x"]);
}

#[test]
fn held_content_of_a_replaced_folder_keeps_the_old_one() {
    let rig = Rig::new("mkdir -p d; echo old > d/x; echo old > d/y; echo old > d/z");
    let applied = check(&rig, "rm -r d; mkdir d; echo new > d/x; echo new > d/y", &["d/x", "d/z"], &["d/x", "d/z"]);
    assert_eq!(applied.held[1].to, None, "a removal has no version to keep");
}

#[test]
fn held_changes_of_type_leave_the_old_one() {
    let rig = Rig::new("echo f > f; mkdir d; echo x > d/x; echo g > g");
    check(&rig, "rm f; mkdir f; echo i > f/i; rm -r d; echo d > d; echo b > b", &["f", "d"], &["f", "d"]);
    check(&rig, "rm g; mkdir g; echo i > g/i; echo j > g/j", &["g/i"], &["g/i"]);
}

#[test]
fn held_removal_of_a_parent_keeps_everything_in_it() {
    let rig = Rig::new("mkdir -p d/e; echo x > d/e/x; echo a > a");
    check(&rig, "rm -r d; echo 1 > a", &["d"], &["d"]);
}

#[test]
fn held_attributes_of_a_folder_stay() {
    let rig = Rig::new("mkdir d; chmod 755 d; touch -d 2001-01-01 d");
    let layer = rig.layer();
    rig.run(&layer, "chmod 777 d; echo x > d/x");
    let applied = apply(&rig, layer, &["d"]);
    assert_eq!(applied.held[0].to, None);
    assert!(rig.tree()[std::path::Path::new("d")].starts_with("40755 "));
    assert!(rig.project.join("d/x").exists());
}

#[test]
fn a_held_file_has_no_second_name_in_the_project() {
    let rig = Rig::new("echo a > a");
    let layer = rig.layer();
    rig.run(&layer, "echo x > evil; ln evil fine");
    let applied = apply(&rig, layer, &["evil"]);
    std::fs::write(rig.project.join("fine"), "changed").unwrap();
    assert_eq!(std::fs::read(applied.held[0].to.as_ref().unwrap()).unwrap(), b"x\n");
}

#[test]
fn a_run_of_which_everything_is_held_keeps_the_older_undo() {
    let rig = Rig::new("echo a > a");
    let before = rig.tree();
    let layer = rig.layer();
    rig.run(&layer, "echo b > a");
    rig.apply(layer);
    let after = rig.tree();
    let layer = rig.layer();
    rig.run(&layer, "echo c > c");
    let applied = apply(&rig, layer, &["c"]);
    assert_eq!((applied.done.len(), applied.undo, applied.undo_refused), (0, None, None));
    assert_eq!(rig.tree(), after);
    rig.undo();
    assert_eq!(rig.tree(), before);
}
