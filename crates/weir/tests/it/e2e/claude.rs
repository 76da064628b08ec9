//! Claude Code with hooks.

use serde_json::json;

use super::hooked::{PROMPTS, REQUEST, check_carried, check_guide, check_held, numbers};
use super::{Client, Outcome, SCRIPTS, TestHome, replayed, tax};

pub(super) const ENVIRONMENT: &[&str] = &[
    "ANTHROPIC_BASE_URL=http://127.0.0.1:{PORT}",
    "ANTHROPIC_API_KEY=made-up",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
    "DISABLE_AUTOUPDATER=1",
    "IS_SANDBOX=1",
];

/// A project with a large and a small file.
pub(super) fn place() -> TestHome {
    let place = TestHome::new();
    place.write("project/big.txt", &numbers(30_000));
    place.write("project/small.txt", "hello file\n");
    let probe = format!("{SCRIPTS}/probe_mcp.py");
    let servers =
        json!({ "mcpServers": { "probe": { "type": "stdio", "command": "/usr/bin/python3", "args": [probe] } } });
    place.write("servers.json", &servers.to_string());
    place
}

pub(super) fn run(place: &TestHome, scenario: &str, more: &[&str]) -> Outcome {
    run_in(place, "--dangerously-skip-permissions", scenario, more)
}

fn run_in(place: &TestHome, mode: &str, scenario: &str, more: &[&str]) -> Outcome {
    let fixed = ["--output-format=json", "--mcp-config=../servers.json", mode];
    let client = Client {
        name: "claude",
        scenario: Some(scenario),
        environment: ENVIRONMENT,
        arguments: &[&fixed, more].concat(),
    };
    place.run(&client)
}

#[test]
#[ignore = "needs the real clients; .ci/run installs them"]
fn outputs_are_held_and_nothing_is_asked_twice() {
    let bare = place();
    let without = run(&bare, "claude_hooks.json", &["--print", "Do it"]);
    let place = place();
    place.set_up("claude");
    let with = run(&place, "claude_hooks.json", &["--print", "Do it"]);
    assert_eq!(with.count(), without.count(), "no extra turn");
    tax::check("claude", &with, &without);
    replayed::check(&bare, "claude", 8);

    let [_, big, small, failed, mcp, file, little, agent] = with.steps()[..] else { panic!("{}", with.steps().len()) };
    check_held(&place, big, &numbers(30_000));
    assert!(big.contains("30000 lines, 164.9 KiB held as [ctx:"), "{big}");
    assert_eq!(small, without.steps()[2]);
    assert!(failed.contains("Exit code 3") && failed.contains("error: it broke"), "{failed}");
    check_held(&place, failed, &(numbers(9_000) + "error: it broke\n"));
    assert!(mcp.contains("probe/lines") && place.whole(mcp).ends_with("probe line 2000 of 2000"), "{mcp}");
    check_held(&place, file, &numbers(30_000));
    assert_eq!(little, without.steps()[6]);
    assert!(agent.contains("SUBAGENT-RESULT"), "{agent}");
    // The subagent's own output is held, and nothing was added to its prompt.
    let [begins] = with.ruled("subagent")[..] else { panic!("one subagent") };
    assert_eq!(begins["last"], without.ruled("subagent")[0]["last"]);
    let [ends] = with.ruled("subagent ends")[..] else { panic!("one subagent") };
    assert!(ends["last"].as_str().unwrap().contains("20000 lines"), "{}", ends["last"]);
    // The model's own messages come back to it unchanged.
    let history = with.requests.last().unwrap()["body"].to_string();
    assert!(!history.contains("/held/"), "our line before a command got into the conversation");
    place.assert_no_faults();
}

/// The commands are ones that the client runs in every mode without asking.
#[test]
#[ignore = "needs the real clients; .ci/run installs them"]
fn a_failed_command_costs_no_more_than_without_weir_in_any_permission_mode() {
    let modes = ["--permission-mode=auto", "--permission-mode=default", "--dangerously-skip-permissions"];
    for mode in modes {
        let without = run_in(&place(), mode, "claude_fails.json", &["--print", "Do it"]);
        let place = place();
        place.set_up("claude");
        let with = run_in(&place, mode, "claude_fails.json", &["--print", "Do it"]);
        assert_eq!(with.count(), without.count(), "no extra turn in {mode}");
        let [_, big, failed, small] = with.steps()[..] else { panic!("{mode}: {}", with.steps().len()) };
        let alone = without.steps();
        check_held(&place, big, &numbers(30_000));
        let tokens = weir_tokens::count;
        assert!(tokens(big) <= tokens(alone[1]), "{mode}: {big}");
        assert!(failed.contains("Exit code 2"), "{mode}: {failed}");
        match mode.contains("skip") {
            // The command was rewritten.
            true => {
                assert!(failed.contains("cannot access 'no-such-folder'"), "{failed}");
                assert!(place.whole(failed).starts_with(&numbers(9_000)), "{failed}");
                assert!(tokens(failed) <= tokens(alone[2]), "{failed}");
            }
            // The client accepts no replacement, so it is told that something is missing.
            false => {
                let remark = failed.strip_prefix(alone[2]).unwrap_or_else(|| panic!("{mode}: {failed}"));
                assert!(remark.contains("the client cut this output") && tokens(remark) < 80, "{remark}");
            }
        }
        assert_eq!(small, alone[3], "{mode}");
        place.assert_no_faults();
    }
}

#[test]
#[ignore = "needs the real clients; .ci/run installs them"]
fn the_users_rules_still_see_the_commands() {
    let place = place();
    place.set_up("claude");
    let settings = place.read("home/.claude/settings.json");
    let mut settings: serde_json::Value = serde_json::from_str(&settings).unwrap();
    settings["permissions"] = json!({ "deny": ["Bash(seq:*)"] });
    place.write("home/.claude/settings.json", &settings.to_string());
    let with = run(&place, "claude_hooks.json", &["--print", "Do it"]);
    let denied = with.steps()[1];
    assert!(denied.contains("denied") && !denied.contains("held as"), "{denied}");
}

#[test]
#[ignore = "needs the real clients; .ci/run installs them"]
fn what_was_said_is_carried_over_a_compaction() {
    let place = place();
    place.write("project/.git/HEAD", "ref: refs/heads/invoices\n");
    place.write("project/.git/config", "[core]\n\trepositoryformatversion = 0\n");
    place.write("project/.git/objects/info/packs", "");
    place.write("project/.git/refs/heads/.keep", "");
    place.set_up("claude");
    let key = "11111111-2222-4333-8444-666666666666";
    let [first, correction, decision, nothing] = PROMPTS;
    run(&place, "says_end.json", &["--print", first, "--session-id", key]);
    run(&place, "says_end.json", &["--print", correction, "--resume", key]);
    run(&place, "says_end.json", &["--print", decision, "--resume", key]);
    let last = run(&place, "claude_carries.json", &["--print", nothing, "--resume", key]);
    let [summary] = last.ruled("compaction")[..] else { panic!("{:?}", last.ruled("compaction").len()) };
    let asked = summary["body"].to_string();
    let keep = asked.find("Keep the following in the summary").unwrap_or_else(|| panic!("nothing to keep in {asked}"));
    for text in [first, correction, decision, "no such table", "export_rows"] {
        assert!(asked[keep..].contains(text), "no {text} in {}", &asked[keep..]);
    }
    check_carried(&last.requests.last().unwrap()["body"].to_string());
    // Another session finds it, and a new session on the branch is told what was asked last.
    let found = place.weir(&["search", "never log", "--kind", "said"]);
    assert!(String::from_utf8_lossy(&found.stdout).contains(correction), "{found:?}");
    let new = run(&place, "says_end.json", &["--print", "Hello"]);
    let told = new.requests.last().unwrap()["body"].to_string();
    assert!(told.contains("on branch invoices") && told.contains("kept by weir; data"), "{told}");
    place.assert_no_faults();
}

#[test]
#[ignore = "needs the real clients; .ci/run installs them"]
fn the_guide_is_there_after_compaction_and_when_resumed() {
    let place = place();
    place.set_up("claude");
    let key = "11111111-2222-4333-8444-555555555555";
    let first = run(&place, "claude_compacts.json", &["--print", REQUEST, "--session-id", key]);
    assert_eq!(first.ruled("compaction").len(), 1);
    let after = first.requests.last().unwrap()["body"].to_string();
    check_guide(&after);

    // Resumed under another key.
    let again = run(&place, "says_end.json", &["--print", "Go on", "--resume", key, "--fork-session"]);
    check_guide(&again.requests.last().unwrap()["body"].to_string());
    place.assert_no_faults();
}
