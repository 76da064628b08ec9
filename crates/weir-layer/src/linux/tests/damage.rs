//! Whatever a file of a layer contains, nothing outside the project is touched, and nothing panics.

use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::kill_after;
use super::rig::{Rig, sh};
use crate::{LayerError, RecoveredHow, recover};

/// A layer that was left while its changes were applied, beside a folder that nobody has asked to change.
fn left_behind() -> (Rig, PathBuf, PathBuf) {
    let rig = Rig::in_memory("mkdir d; echo a > d/a; echo b > b");
    let outside = rig.place.with_file_name("outside");
    sh(rig.place.parent().unwrap(), "mkdir outside; echo x > outside/x; touch -d 2001-01-01 outside/x outside");
    let layer = rig.layer();
    rig.run(&layer, "echo 1 > d/a; rm b; mkdir n; echo 2 > n/n");
    let (result, _) = kill_after(8, || layer.apply(&rig.held, u64::MAX, &mut super::rig::accept));
    assert!(result.is_err());
    let room = super::super::room::rooms(&rig.place).unwrap().remove(0);
    assert!(room.join("journal").exists());
    (rig, room, outside)
}

fn look(path: &Path) -> Vec<(PathBuf, Vec<u8>, std::time::SystemTime)> {
    let mut found: Vec<_> = std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.sort();
    let read =
        |path: PathBuf| (path.clone(), std::fs::read(&path).unwrap(), path.metadata().unwrap().modified().unwrap());
    found.into_iter().map(read).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(48) })]

    #[test]
    fn any_bytes_in_any_file_are_survived(
        file in prop::sample::select(&["header", "journal", "progress", "finished", "undoing", "undone"][..]),
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        keep in 0..3_u8,
        at in any::<prop::sample::Index>(),
    ) {
        let (rig, room, outside) = left_behind();
        let before = look(&outside);
        let mut content = std::fs::read(room.join(file)).unwrap_or_default();
        if keep == 0 || content.is_empty() {
            content = bytes;
        } else {
            // Some of it is as it was.
            let at = at.index(content.len());
            let end = content.len().min(at + bytes.len() / 20 + 1);
            content.splice(at..end, bytes.iter().copied().take(usize::from(keep) * 3));
        }
        std::fs::write(room.join(file), content).unwrap();
        drop(recover(&rig.place));
        drop(super::super::undo(&rig.place, &rig.project));
        drop(recover(&rig.place));
        prop_assert_eq!(look(&outside), before);
    }
}

#[test]
fn paths_that_lead_out_are_refused() {
    for (from, to) in [("\"d/a\"", "\"../outside/x\""), ("\"b\"", "\"/etc/passwd\""), ("\"n\"", "\"n/../../outside\"")]
    {
        let (rig, room, outside) = left_behind();
        let before = look(&outside);
        let journal = std::fs::read_to_string(room.join("journal")).unwrap();
        assert!(journal.contains(from));
        std::fs::write(room.join("journal"), journal.replace(from, to)).unwrap();
        let found = recover(&rig.place);
        assert!(matches!(&found[0].how, RecoveredHow::Failed(LayerError::Damaged { .. })), "{found:?}");
        assert_eq!(look(&outside), before);
    }
}

#[test]
fn a_project_that_was_replaced_is_left_alone() {
    let (rig, _, _) = left_behind();
    std::fs::rename(&rig.project, rig.project.with_extension("old")).unwrap();
    std::fs::create_dir(&rig.project).unwrap();
    assert!(matches!(&recover(&rig.place)[0].how, RecoveredHow::Failed(LayerError::ProjectGone(_))));
    assert_eq!(std::fs::read_dir(&rig.project).unwrap().count(), 0);
}

#[test]
fn folders_that_are_too_deep_are_refused_and_removed() {
    let rig = Rig::new("echo a > a");
    let before = rig.tree();
    let deep = "import os\nfor n in range(3000): os.mkdir('deep'); os.chdir('deep')\nopen('x', 'w').write('x')";
    let make = |layer: &crate::Layer| sh(layer.upper(), &format!("python3 -c \"{deep}\""));
    let layer = rig.layer();
    make(&layer);
    assert!(matches!(layer.changes(), Err(LayerError::TooDeep(_))));
    let applied = layer.apply(&rig.held, u64::MAX, &mut super::rig::accept);
    assert!(matches!(applied, Err(LayerError::TooDeep(_))));
    assert!(matches!(recover(&rig.place)[0].how, RecoveredHow::Discarded));
    let layer = rig.layer();
    make(&layer);
    layer.discard().unwrap();
    assert_eq!(rig.layers(), 0);
    assert_eq!(rig.tree(), before);
}

#[test]
fn a_layer_needs_a_place_apart_from_the_project() {
    use crate::{WhyNot, check};
    let rig = Rig::new("mkdir d");
    let (project, inside) = (&rig.project, rig.project.join("d"));
    assert!(matches!(check(&inside, project), Err(WhyNot::PlaceInside(_))));
    assert!(matches!(check(project, &inside), Err(WhyNot::ProjectInside(_))));
    assert!(matches!(check(&rig.place, Path::new("/proc")), Err(WhyNot::MountBelow(_) | WhyNot::Clock(_))));
    assert!(matches!(check(&rig.place, &project.join("none")), Err(WhyNot::Io { .. })));
}
