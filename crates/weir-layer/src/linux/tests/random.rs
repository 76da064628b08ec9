//! Random changes to random trees: the same result as without a layer.

use proptest::prelude::*;

use super::rig::{Rig, Tree, check};

const NAMES: [&str; 7] = ["a", "b", "d", "d/a", "d/e", "d/e/a", "f/a"];

fn operation() -> impl Strategy<Value = String> {
    let name = || prop::sample::select(&NAMES[..]);
    let mode = prop::sample::select(&["700", "755", "750"][..]);
    prop_oneof![
        (name(), 0..9_u8).prop_map(|(path, text)| format!("echo {text} > {path}")),
        (name(), 0..9_u8).prop_map(|(path, text)| format!("echo {text} >> {path}")),
        name().prop_map(|path| format!(": >> {path}")),
        (name(), mode).prop_map(|(path, mode)| format!("chmod {mode} {path}")),
        name().prop_map(|path| format!("rm {path}")),
        name().prop_map(|path| format!("rm -r {path}")),
        (name(), name()).prop_map(|(from, to)| format!("[ -f {from} ] && [ ! -d {to} ] && mv {from} {to}")),
        name().prop_map(|path| format!("mkdir {path}")),
        name().prop_map(|path| format!("mkdir -p {path}/n/m")),
        name().prop_map(|path| format!("rmdir {path}")),
        (name(), name()).prop_map(|(target, path)| format!("ln -sfn {target} {path}")),
        (name(), 1..9_u8).prop_map(|(path, day)| format!("touch -c -d 2001-01-0{day} {path}")),
    ]
}

fn script(operations: &[String]) -> String {
    operations.iter().map(|operation| format!("( {operation} ) 2>/dev/null || true\n")).collect()
}

/// Two runs of a script do not have the same times.
fn without_times(tree: Tree) -> Tree {
    let strip = |line: String| {
        line.split(' ')
            .enumerate()
            .filter(|(at, _)| ![1, 2].contains(at))
            .map(|(_, word)| word.to_owned() + " ")
            .collect()
    };
    tree.into_iter().map(|(path, line)| (path, strip(line))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(24) })]

    #[test]
    fn random_changes_give_what_they_give_without_a_layer(
        before in prop::collection::vec(operation(), 0..12),
        run in prop::collection::vec(operation(), 0..16),
        across: bool,
    ) {
        let make = if across { Rig::across } else { Rig::in_memory };
        let direct = make(&script(&before));
        direct.user(&script(&run));
        let rig = make(&script(&before));
        check(&rig, &script(&run));
        let layer = rig.layer();
        rig.run(&layer, &script(&run));
        rig.apply(layer);
        prop_assert_eq!(without_times(rig.tree()), without_times(direct.tree()));
    }
}
