//! What is applied is what the run saw, and undo gives back what was there.

use super::rig::{Rig, accept, check};
use crate::{ChangeKind, Verdict, What};

const MIXED: &str = "
    mkdir -p src/deep docs old/inner empty keep
    echo one > src/a; echo two > src/deep/b; echo three > docs/c; echo four > old/inner/d; echo five > old/e
    echo six > keep/f; ln -s a src/link; chmod 640 keep/f; chmod 750 docs; touch -d 2001-02-03 keep docs src/a
    echo same > same; echo file > becomes_folder; mkdir becomes_file; echo inner > becomes_file/x
    chmod 555 keep";

const CHANGES: &str = "
    echo more >> src/a; rm -r old; mkdir -p new/x/y; echo n > new/x/y/z; chmod 600 docs/c; chmod 700 docs
    ln -sf b src/link; : >> same; touch -d 2002-03-04 src/deep/b; rm becomes_folder; mkdir becomes_folder
    echo in > becomes_folder/in; rm -r becomes_file; echo now > becomes_file; rmdir empty; ln new/x/y/z new/hard
    chmod 755 keep; echo seven >> keep/f; chmod 555 keep; mkfifo pipe; chmod 000 new/x/y; touch -d 1999-01-01 new/x";

#[test]
fn a_mix_of_changes_is_applied_and_undone() {
    let rig = Rig::new(MIXED);
    let applied = check(&rig, CHANGES);
    let of = |path: &str| applied.done.iter().find(|change| change.path.as_os_str() == path).map(|change| change.kind);
    assert_eq!(of("src/a"), Some(ChangeKind::Changed));
    assert_eq!(of("docs/c"), Some(ChangeKind::Attributes));
    assert_eq!(of("src/deep/b"), Some(ChangeKind::Touched));
    assert_eq!(of("old"), Some(ChangeKind::Removed));
    assert_eq!(of("new/x/y/z"), Some(ChangeKind::Added));
    assert_eq!(of("same"), None, "only opened");
}

#[test]
fn the_same_by_copying() {
    check(&Rig::across(MIXED), CHANGES);
}

#[test]
fn names_that_are_hard_links_stay_so() {
    let rig = Rig::new("echo x > a");
    let layer = rig.layer();
    rig.run(&layer, "echo y > b; ln b c; ln a d");
    rig.apply(layer);
    let ino = |name: &str| std::os::unix::fs::MetadataExt::ino(&rig.project.join(name).metadata().unwrap());
    assert_eq!(ino("b"), ino("c"));
}

#[test]
fn names_of_any_bytes_are_applied() {
    for rig in [Rig::new, Rig::across] {
        check(
            &rig("mkdir \"$(printf 'd\\377')\""),
            "cd \"$(printf 'd\\377')\"; echo x > \"$(printf 'a\\200\\nb')\"; ln -s \"$(printf '\\376')\" ' '",
        );
    }
}

#[test]
fn folders_that_replace_folders_are_compared_with_them() {
    let rig = Rig::new("mkdir -p d/sub; echo a > d/a; echo b > d/b; echo s > d/sub/s; touch -d 2001-01-01 d/a");
    let applied = check(&rig, "rm -r d; mkdir -p d/sub; echo a > d/a; touch -d 2001-01-01 d/a; echo B > d/b");
    let paths: Vec<_> = applied.done.iter().map(|change| (change.path.to_str().unwrap(), change.kind)).collect();
    assert_eq!(paths, [("d/b", ChangeKind::Changed), ("d/sub/s", ChangeKind::Removed)]);
}

#[test]
fn folders_without_rights_are_read_and_moved() {
    let rig = Rig::new("mkdir -p d old/x; echo a > d/a; echo o > old/x/o; chmod 500 old/x old");
    check(
        &rig,
        "mkdir -p n/m; echo b > n/m/b; chmod 000 n/m/b n/m n; echo c > d/c; chmod 000 d; chmod -R 700 old; rm -r old",
    );
    let rig = Rig::new("mkdir d; echo a > d/a; chmod 555 d");
    check(&rig, "chmod 755 d; echo b > d/b; rm d/a; chmod 555 d");
    let rig = Rig::new("echo a > a; echo c > c; chmod 444 c");
    check(&rig, "echo b > b; chmod 000 a; touch -d 2001-01-01 c; mkdir d; mv c d");
}

#[test]
fn marks_of_the_run_are_not_those_of_the_overlay() {
    if let Err(why) = rustix::fs::lsetxattr(
        tempfile::NamedTempFile::new().unwrap().path(),
        "user.x",
        b"y",
        rustix::fs::XattrFlags::empty(),
    ) {
        panic!("this test needs a file system with extended attributes: {why}");
    }
    let rig = Rig::new("mkdir -p d; echo a > d/a");
    let set = "import os; os.setxattr('d', 'user.overlay.opaque', b'y'); os.setxattr('d', 'user.mine', b'1'); \
               open('f', 'w').write('f'); os.setxattr('f', 'user.overlay.whiteout', b'y'); os.setxattr('f', 'user.mine', b'2')";
    let applied = check(&rig, &format!("echo b > d/b; python3 -c \"{set}\"; ! mknod d/c c 0 0"));
    let paths: Vec<_> = applied.done.iter().map(|change| change.path.to_str().unwrap()).collect();
    assert_eq!(paths, ["d", "d/b", "f"]);
}

#[test]
fn no_mark_of_the_overlay_reaches_the_project() {
    let rig = Rig::new("mkdir -p d/e; echo a > d/a; echo b > d/e/b");
    let layer = rig.layer();
    rig.run(&layer, "echo x >> d/a; mv d/e/b d/b; mkdir n; mv d/a n/a; mkdir n/o; rm -r d/e; mkdir d/e");
    rig.apply(layer);
    for path in ["", "d", "d/b", "d/e", "n", "n/a", "n/o"] {
        assert!(!super::super::tree::is_marked(&rig.project.join(path)).unwrap(), "{path}");
    }
}

#[test]
fn sockets_are_left_out() {
    let rig = Rig::new("mkdir d");
    let layer = rig.layer();
    rig.run(&layer, "mkdir n; echo a > n/a; cd n; python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('s')\"; cd ..; cp -a n/s d/s 2>/dev/null || true");
    let applied = rig.apply(layer);
    assert!(applied.skipped.iter().any(|path| path.as_os_str() == "n/s"), "{applied:?}");
    assert_eq!(rig.tree().keys().filter(|path| path.ends_with("s")).count(), 0);
    assert!(rig.project.join("n/a").exists());
}

#[test]
fn a_run_without_changes_leaves_nothing() {
    let rig = Rig::new("mkdir d; echo a > d/a; echo same > b");
    let before = rig.tree();
    let layer = rig.layer();
    rig.run(&layer, "echo x > d/t; rm d/t; : >> b; cat d/a");
    assert_eq!(layer.changes().unwrap(), []);
    assert_eq!(rig.apply(layer), crate::Applied::default());
    assert_eq!(rig.tree(), before);
    assert_eq!(rig.layers(), 0);
}

#[test]
fn changes_say_what_a_judge_needs() {
    let rig = Rig::new("mkdir d; echo a > d/a; echo '#!/bin/sh' > run");
    let layer = rig.layer();
    rig.run(&layer, "chmod 755 run; printf 'ELF' > d/bin; chmod 4755 d/bin; ln -s ../../out d/out; ln -s ../run d/in; ln -s /etc/passwd abs; ln -s \"$PWD/d\" back; rm d/a");
    let changes = layer.changes().unwrap();
    let find = |path: &str| changes.iter().find(|change| change.path.as_os_str() == path).unwrap();
    assert!(find("run").executable && find("run").script && !find("run").was_executable && !find("run").setuid);
    assert!(find("d/bin").setuid && find("d/bin").executable && !find("d/bin").script && find("d/bin").size == 3);
    assert!(find("d/out").leads_out && !find("d/in").leads_out && find("abs").leads_out && !find("back").leads_out);
    assert_eq!(find("d/out").target.as_deref(), Some("../../out".as_ref()));
    assert_eq!(
        (find("d/a").kind, find("d/a").what, find("d/a").was),
        (ChangeKind::Removed, What::File, Some(What::File))
    );
    assert_eq!(layer.versions(find("d/bin"), 10).unwrap(), (None, Some(b"ELF".to_vec())));
    assert_eq!(layer.versions(find("d/bin"), 2).unwrap(), (None, None));
    assert_eq!(layer.versions(find("d/a"), 10).unwrap(), (Some(b"a\n".to_vec()), None));
    assert_eq!(layer.versions(find("abs"), 10_000).unwrap(), (None, None), "links are not followed");
    assert_eq!(layer.changes().unwrap(), changes, "looking changes nothing");
    layer.discard().unwrap();
    assert_eq!(rig.layers(), 0);
}

#[test]
fn undo_is_bounded_and_only_for_the_last_layer() {
    let rig = Rig::new("echo a > a; echo b > b");
    let layer = rig.layer();
    rig.run(&layer, "echo 1 > a");
    assert!(rig.apply(layer).undo.is_some());
    let between = rig.tree();
    let layer = rig.layer();
    rig.run(&layer, "echo 2 > b");
    assert!(rig.apply(layer).undo.is_some());
    assert_eq!(rig.layers(), 1);
    assert_eq!(rig.undo().done, [std::path::PathBuf::from("b")]);
    assert_eq!(rig.tree(), between);
    assert!(matches!(super::super::undo(&rig.place, &rig.project), Err(crate::LayerError::NothingToUndo)));
    let layer = rig.layer();
    rig.run(&layer, "echo 3 > b");
    let applied = layer.apply(&rig.held, 1, &mut accept).unwrap();
    assert!(applied.undo.is_none() && applied.undo_refused.is_some());
    assert_eq!(rig.layers(), 0);
    let layer = rig.layer();
    rig.run(&layer, "echo 4 > b");
    assert_eq!(layer.apply(&rig.held, 1, &mut |_| Verdict::Hold(String::new())).unwrap().undo_refused, None);
}

#[test]
fn undo_leaves_alone_what_changed_since() {
    let rig = Rig::new("mkdir d; echo a > a; echo b > d/b; echo c > c; mkdir gone; echo g > gone/g");
    let layer = rig.layer();
    rig.run(&layer, "echo 1 > a; echo 2 > d/b; mkdir n m; echo 3 > n/x; echo 4 > m/x; rm c; rm -r gone");
    rig.apply(layer);
    rig.user("echo mine >> a; echo mine > n/y; echo mine > c; rm -r d; ln -s m d");
    let undone = rig.undo();
    let mut refused: Vec<_> = undone.refused.iter().map(|refused| refused.path.to_str().unwrap()).collect();
    refused.sort_unstable();
    assert_eq!(refused, ["a", "c", "d/b", "n"]);
    assert_eq!(undone.done, ["gone", "m"].map(std::path::PathBuf::from));
    assert_eq!(std::fs::read_to_string(rig.project.join("a")).unwrap(), "1\nmine\n");
    assert_eq!(std::fs::read_to_string(rig.project.join("gone/g")).unwrap(), "g\n");
    assert!(!rig.project.join("m").exists());
}
