//! A run gets the sandbox that it reports: if the system provides less, nothing runs.

use std::process::Output;

use super::world::{User, World, announce_skip};

/// Reads a secret and writes outside.
const ATTACK: &str = "cat ~/.ssh/id_ed25519; echo x > ../escaped";

fn check_refusal(sandbox: &str, denied: &'static [&'static str], said: &[&str]) {
    let Some(world) = World::in_container(User::Plain, denied) else { return announce_skip() };
    world.configure(&format!("sandbox = \"{sandbox}\""));
    let output = world.weir(&["run", ATTACK]).output().unwrap();
    let text = text(&output);
    assert_eq!(output.status.code(), Some(126), "{text}");
    assert!(!text.contains("hidden-ssh-key") && !world.home().join("escaped").exists(), "{text}");
    for words in said {
        assert!(text.contains(words), "no `{words}` in: {text}");
    }
    let doctor = text_of_doctor(&world);
    assert!(doctor.contains("✗ sandbox") && doctor.contains("fix:"), "{doctor}");
}

fn text_of_doctor(world: &World) -> String {
    let output = world.weir(&["doctor"]).output().unwrap();
    let text = text(&output);
    text.lines().skip_while(|line| !line.contains("sandbox")).take(3).collect::<Vec<_>>().join("\n")
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

#[test]
fn without_namespaces_and_without_landlock_nothing_runs() {
    check_refusal("best-effort", &["no-namespaces", "no-landlock"], &["Landlock", "landlock_*"]);
}

#[test]
fn rules_that_the_kernel_does_not_enforce_are_no_fence() {
    check_refusal("best-effort", &["no-namespaces", "no-enforcement"], &["Landlock"]);
}

#[test]
fn a_required_sandbox_that_is_not_to_be_had_says_the_way_out() {
    check_refusal("required", &["no-namespaces"], &["unshare", "seccomp", "best-effort"]);
}

/// The doctor builds the full view of a run, not only its namespaces.
#[test]
fn the_doctor_finds_what_stops_a_run() {
    check_refusal("required", &["no-mounts"], &["read-only"]);
}

#[test]
fn with_landlock_alone_the_fence_holds_and_says_what_it_is() {
    let Some(world) = World::in_container(User::Plain, &["no-namespaces"]) else { return announce_skip() };
    world.configure("sandbox = \"best-effort\"");
    let answer = world.run(ATTACK);
    assert_eq!(answer["sandbox"], "landlock", "{answer}");
    assert!(!answer["text"].as_str().unwrap().contains("hidden-ssh-key"), "{answer}");
    assert!(!world.home().join("escaped").exists(), "{answer}");
    let doctor = text_of_doctor(&world);
    assert!(doctor.contains("✓ sandbox: landlock"), "{doctor}");
}
