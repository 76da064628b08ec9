//! Codex with hooks.

use super::hooked::{PROMPTS, REQUEST, check_carried, check_guide, check_held, numbers};
use super::{CODEX_CONFIG, Client, Outcome, SCRIPTS, TestHome, replayed, tax};

pub(super) fn place() -> TestHome {
    let place = TestHome::new();
    place.write("project/big.txt", &numbers(30_000));
    let config = CODEX_CONFIG.split("[mcp_servers.weir]").next().unwrap();
    let probe = format!("[mcp_servers.probe]\ncommand = \"/usr/bin/python3\"\nargs = [\"{SCRIPTS}/probe_mcp.py\"]\n");
    place.write("home/.codex/config.toml", &format!("{config}{probe}"));
    place
}

pub(super) fn run(place: &TestHome, scenario: &str, more: &[&str]) -> Outcome {
    let fixed = [
        "exec",
        "--json",
        "--skip-git-repo-check",
        "--disable=plugins",
        "--dangerously-bypass-hook-trust",
        "--config=model_providers.scripted.base_url=\"http://127.0.0.1:{PORT}/v1\"",
    ];
    let client =
        Client { name: "codex", scenario: Some(scenario), environment: &[], arguments: &[&fixed, more].concat() };
    place.run(&client)
}

#[test]
#[ignore = "needs the real clients; .ci/run installs them"]
fn outputs_are_held_and_nothing_is_asked_twice() {
    let bare = place();
    let without = run(&bare, "codex_hooks.json", &["Do it"]);
    let place = place();
    place.set_up("codex");
    let with = run(&place, "codex_hooks.json", &["Do it"]);
    assert_eq!(with.count(), without.count(), "no extra turn");
    tax::check("codex", &with, &without);
    replayed::check(&bare, "codex", 5);
    let [_, big, small, failed, mcp, file] = with.steps()[..] else { panic!("{}", with.steps().len()) };
    check_held(&place, big, &numbers(30_000));
    assert!(small.contains("SMALL-OUTPUT") && !small.contains("ctx:"), "{small}");
    assert!(failed.contains("exited with code 3") && failed.contains("error: it broke"), "{failed}");
    check_held(&place, failed, &(numbers(9_000) + "error: it broke\n"));
    assert!(mcp.contains("probe/lines") && place.whole(mcp).ends_with("probe line 2000 of 2000"), "{mcp}");
    // A file that was asked for stays as the client shows it.
    assert!(file.contains("Warning: truncated output") && !file.contains("ctx:"), "{file}");
    place.assert_no_faults();
}

#[test]
#[ignore = "needs the real clients; .ci/run installs them"]
fn what_was_said_is_carried_over_a_compaction() {
    let place = place();
    place.set_up("codex");
    let [first, correction, decision, nothing] = PROMPTS;
    run(&place, "says_end.json", &[first]);
    run(&place, "says_end.json", &["resume", "--last", correction]);
    run(&place, "says_end.json", &["resume", "--last", decision]);
    let last = run(&place, "codex_carries.json", &["resume", "--last", nothing]);
    assert_eq!(last.ruled("compaction").len(), 1);
    check_carried(&last.requests.last().unwrap()["body"].to_string());
    place.assert_no_faults();
}

#[test]
#[ignore = "needs the real clients; .ci/run installs them"]
fn the_guide_is_there_after_compaction_and_when_resumed() {
    let place = place();
    place.set_up("codex");
    let first = run(&place, "codex_compacts.json", &[REQUEST]);
    assert!(!first.ruled("compaction").is_empty());
    check_guide(&first.requests.last().unwrap()["body"].to_string());
    let again = run(&place, "says_end.json", &["resume", "--last", "Go on"]);
    check_guide(&again.requests.last().unwrap()["body"].to_string());
    place.assert_no_faults();
}

#[test]
#[ignore = "needs the real clients; .ci/run installs them"]
fn a_script_of_code_mode_gets_the_bytes() {
    let place = place();
    place.set_up("codex");
    let with = run(&place, "codex_code_mode.json", &["--enable=code_mode", "Do it"]);
    let [_, counted] = with.steps()[..] else { panic!("{}", with.steps().len()) };
    assert!(counted.contains("COUNTED 8000"), "{counted}");
    place.assert_no_faults();
}
