//! Tests of the events that the user's words turn into.

use expect_test::{Expect, expect};
use weir_check::Checked;

use super::{check, in_subagent, prompt, shown};
use crate::capture::{choices, events};

/// Checks the events apart from the prompt itself.
fn found(text: &str, expected: Expect) {
    let all = events(&prompt(text));
    expected.assert_eq(&shown(all.get(1..).unwrap_or_default()));
}

#[test]
fn a_prompt_is_kept_in_the_users_words() {
    check(&prompt("  fix the parser\nand add a test ")).shows(&expect!["prompt P1 | fix the parser and add a test |"]);
    let text = "word ".repeat(1_000);
    let long = events(&prompt(&text));
    assert!(long[0].text.ends_with("wor… (3021 more bytes)"), "{}", long[0].text);
    assert_eq!(long[0].whole.as_deref(), Some(text.trim()));
    let endless = events(&prompt(&"word ".repeat(300_000)));
    let whole = endless[0].whole.as_deref().unwrap_or_default();
    assert!(whole.len() < (1 << 20) + 40 && whole.ends_with("more bytes)"), "{}", whole.len());
    check(&prompt("/home/dev/a.rs is broken")).shows(&expect!["prompt P1 | /home/dev/a.rs is broken |"]);
    check(&prompt("/review the parser")).shows(&expect![[r#"prompt P1 | /review the parser | {"command":"/review"}"#]]);
    check(&prompt("is a < b and c <b> d?")).shows(&expect!["prompt P1 | is a < b and c <b> d? |"]);
}

#[test]
fn what_the_client_says_is_not_the_users() {
    check(&prompt("<system-reminder>\nuse tools\n</system-reminder>\nfix it<hook_context>x</hook_context> now"))
        .shows(&expect!["prompt P1 | fix it now |"]);
    check(&prompt("<command-name>/review</command-name><command-args>only the parser</command-args>"))
        .shows(&expect![[r#"prompt P1 | /review only the parser | {"command":"/review"}"#]]);
    check(&prompt(
        "<command-message>fix-issue</command-message>\n<command-name>/fix-issue</command-name>\n<command-args>14</command-args>",
    ))
    .shows(&expect![[r#"prompt P1 | /fix-issue 14 | {"command":"/fix-issue"}"#]]);
    check(&prompt("/my-own-command"))
        .shows(&expect![[r#"tool P4 | command /my-own-command | {"command":"/my-own-command"}"#]]);
    for noise in [
        "",
        " \n",
        "/compact",
        "/compact keep the tests",
        "/model opus",
        "<command-name>/exit</command-name>\n<command-message>exit</command-message>\n<command-args></command-args>",
        "<task-notification><status>completed</status></task-notification>",
        "<task-notification>\n<status>completed</status>\n</task-notification>\nFull transcript available at: /tmp/t.output",
        "<task-notification>\n</task-notification>\nRead the output file to retrieve the result: /tmp/t.output",
        "<teammate-message teammate_id=\"lead\">\nAlways use the shared queue.\n</teammate-message>",
        "Stop hook feedback:\n[check.sh]: always run the tests",
        "The user wants to clarify these questions.\n    This means they may have additional information.",
        "Base directory for this skill: /home/dev/.claude/skills/release",
        "<system-reminder>never ends",
        "<local-command-stdout>ok</local-command-stdout>",
        "This session is being continued from a previous conversation that ran out of context. The goal is x.",
        "[Request interrupted by user for tool use]",
        "Operation stopped by hook: Another session is active.",
        "<user_shell_command>\n<command>\nls\n</command>\n<result>\nWe decided nothing.\n</result>\n</user_shell_command>",
        "<skill>\n<name>release</name>\nAlways run the tests first.\n</skill>",
    ] {
        check(&prompt(noise)).shows(&expect![""]);
    }
    check(&in_subagent(prompt("let's use this"))).shows(&expect![""]);
}

#[test]
fn decisions() {
    found("Let's use SQLite for the store.", expect!["decision P1 | Let's use SQLite for the store. |"]);
    found("OK, so let’s go with a plain file. Thanks!", expect!["decision P1 | OK, so let’s go with a plain file. |"]);
    found("We decided to drop Python 2. Then run the tests.", expect!["decision P1 | We decided to drop Python 2. |"]);
    found("Use tabs instead of spaces", expect!["decision P1 | Use tabs instead of spaces |"]);
    found("from now on commit after every step", expect!["decision P1 | from now on commit after every step |"]);
    found("- we'll use axum\n- and serde", expect!["decision P1 | we'll use axum |"]);
    found(
        "let's completely remove the `trailer` command",
        expect!["decision P1 | let's completely remove the `trailer` command |"],
    );
    found(
        "That hook never worked, and nobody uses it, so let's just remove that entirely.",
        expect!["decision P1 | That hook never worked, and nobody uses it, so let's just remove that entirely. |"],
    );
    found("yeah let's do length only", expect!["decision P1 | yeah let's do length only |"]);
    found("always write steps_count now", expect!["decision P1 | always write steps_count now |"]);
    found("HARD CONSTRAINT: no network in tests", expect!["decision P1 | HARD CONSTRAINT: no network in tests |"]);
    found(
        "He said \"fine. Remember to check git status and recent commits.\"",
        expect!["decision P1 | Remember to check git status and recent commits. |"],
    );
}

#[test]
fn a_choice_repeats_what_was_chosen() {
    let message = "There are two ways.\n\n**Option A: keep the index in memory** - fast\n**Option B: write it to disk** - small\n\n\
                   1. rename the flag\n2. drop the flag\n\nWhich one?";
    let check = |text: &str| Checked(shown(&choices(&prompt(text), message)));
    check("yes, let's go with A")
        .shows(&expect!["decision P1 | yes, let's go with A (Option A: keep the index in memory - fast) |"]);
    check("option b please").shows(&expect!["decision P1 | option b please (Option B: write it to disk - small) |"]);
    check("I'd prefer the second one.")
        .shows(&expect!["decision P1 | I'd prefer the second one. (2. drop the flag) |"]);
    for text in [
        "let's go with C", "do it", "take a look", "I'd prefer that", "do 1 and 2", "use a map",
        "go with A, B and then C",
    ] {
        assert_eq!(events(&prompt(text)).len(), 1, "{text}");
        let found = choices(&prompt(text), message);
        assert!(found.is_empty() || text.contains(','), "{text}: {}", shown(&found));
    }
}

#[test]
fn corrections() {
    found("No, don't touch the public API.", expect!["correction P1 | No, don't touch the public API. |"]);
    found("no, I meant the other file", expect!["correction P1 | no, I meant the other file |"]);
    found("Don't add dependencies!", expect!["correction P1 | Don't add dependencies! |"]);
    found("please do not reformat", expect!["correction P1 | please do not reformat |"]);
    found("That's not what I asked for. Only the header.", expect!["correction P1 | That's not what I asked for. |"]);
    found("Never push to main.", expect!["correction P1 | Never push to main. |"]);
    found("stop using unwrap", expect!["correction P1 | stop using unwrap |"]);
    found("Use the tokenizer instead.", expect!["correction P1 | Use the tokenizer instead. |"]);
    found("Add a cache, but don't touch the API", expect!["correction P1 | Add a cache, but don't touch the API |"]);
}

#[test]
fn given_up_goals_blockers_and_intents() {
    found(
        "I already tried upgrading, but it didn't help.",
        expect!["rejected P2 | I already tried upgrading, but it didn't help. |"],
    );
    found("We ruled out Redis.", expect!["rejected P2 | We ruled out Redis. |"]);
    found("Let's not use a trait here.", expect!["rejected P2 | Let's not use a trait here. |"]);
    found("The goal is a binary under 5 MB.", expect!["goal P1 | The goal is a binary under 5 MB. |"]);
    found("I'm blocked by the review of #12.", expect!["blocker P1 | I'm blocked by the review of #12. |"]);
    found("We're waiting for the new API key.", expect!["blocker P1 | We're waiting for the new API key. |"]);
    found(
        "I'm trying to port the parser to nom. I want to keep the tests.",
        expect!["intent P2 | I'm trying to port the parser to nom. |"],
    );
}

#[test]
fn what_decides_nothing_is_not_found() {
    for text in [
        "Don't worry about the tests.",
        "don't you think so?",
        "I don't know why it fails",
        "Do not hesitate to ask.",
        "No problem, go on.",
        "no, that's fine",
        "No, thanks.",
        "Should we use SQLite or Postgres?",
        "What if we decided to use Redis?",
        "Maybe let's use Redis.",
        "If we're blocked by CI, skip it.",
        "I'm not sure we decided that.",
        "The request is blocked by CORS.",
        "Why did you use a map instead of a list?",
        "it prints 'no, don't' and stops",
        "Explain the goal of this module.",
        "I want to know how it works.",
        "> we decided to use X",
        "```\nlet's use this\n```",
        "Never mind.",
        "Never seen this before.",
        "never worked for me",
        "Right now we use Redis.",
        "never mind, I found it",
        "Use the debugger",
        "Run the tests and never mind the warnings",
        "It runs and never fails",
        "thanks, looks good",
        "continue",
        "--- FAIL: TestEnable (0.04s)",
        "why?\n--- FAIL: TestEnable (0.04s)\n    PASS: TestDisable",
        "ERROR: Shadow branch does not exist!",
        "INFO: always use the cache",
        "NOTE: let's use a map",
        "ok let's keep going",
        "let's keep it",
        "let's move on",
        "let's make sure it works",
        "ok, let's rename to \"steps\" instead.",
        "let's fix the ending next",
        "I'd prefer that",
        "yes, let's go with A",
        "Always stores in the `sessions` branch",
        "Decision:",
        "**Decision:**",
        "Going forward:",
        "+ let's use a map",
    ] {
        found(text, expect![""]);
    }
}

#[test]
fn pasted_data_becomes_an_event_of_its_own() {
    let log: String =
        (0..60).map(|n| format!("2026-01-01 10:00:{n:02} [WARN] pool={n} retry=3 code=0x{n:x}\n")).collect();
    check(&prompt(&format!("why does this happen?\n{log}\nLet's use a longer timeout."))).shows(&expect![[r#"
        prompt P1 | why does this happen? [pasted: 3.1 KiB] Let's use a longer timeout. |
        decision P1 | Let's use a longer timeout. |
        data P3 | pasted 3.1 KiB, 61 lines, beginning: 2026-01-01 10:00:00 [WARN] pool=0 retry=3 code=0x0 |"#]]);
    check(&prompt(&format!("look:\n```\n{log}```\nand fix it"))).shows(&expect![[r#"
        prompt P1 | look: [pasted: 3.1 KiB] and fix it |
        data P3 | pasted 3.1 KiB, 62 lines, beginning: 2026-01-01 10:00:00 [WARN] pool=0 retry=3 code=0x0 |"#]]);
    check(&prompt(&format!("{{\"a\":\"{}\"}}", "x1,".repeat(2_000)))).shows(&expect![[r#"
        prompt P1 | [pasted: 5.9 KiB] |
        data P3 | pasted 5.9 KiB, 1 line, beginning: {"a":"x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x1,x… (5830 more bytes) |"#]]);
    let both = events(&prompt(&format!("why does this happen?\n{log}")));
    assert!(both.iter().all(|event| event.whole.as_deref().is_some_and(|whole| whole.ends_with("code=0x3b"))));
}

#[test]
fn a_prompt_of_nothing_but_data_begins_with_its_first_sentence() {
    let line = "<context>\\nYour repository is at /srv/blosc2\\n</context>\\n".to_owned() + &"0x1f,".repeat(400);
    let all = events(&prompt(&line));
    assert_eq!(all[0].text, "Your repository is at /srv/blosc2 [pasted: 2.0 KiB]");
}

#[test]
fn a_long_request_is_no_pasted_data() {
    let request = "Please make the parser faster and keep every error message as it is, because people rely on them. ";
    let all = events(&prompt(&request.repeat(15)));
    assert_eq!(all.len(), 1, "{}", shown(&all));
}
