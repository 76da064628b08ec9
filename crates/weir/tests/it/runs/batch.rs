//! Several commands in one call: concurrent, each with its own result, and questions about all of their output.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::configured;
use crate::support::{Home, parsed, text};

/// Returns a command that waits for two others like it, so that three of them end only if they run concurrently.
fn meet(name: &str) -> String {
    let others = "while [ $(ls met | wc -l) -lt 3 ]; do sleep 0.02; done";
    format!("mkdir -p met; touch met/{name}; {others}; echo {name} met the others")
}

#[test]
fn commands_run_side_by_side() {
    let home = Home::with_programs();
    let commands = ["one", "two", "three"].map(meet);
    let mut words = vec!["batch", "--json", "--timeout", "60"];
    words.extend(commands.iter().map(String::as_str));
    let answer = parsed(&home.weir(&words));
    let ended: Vec<&Value> = answer["commands"].as_array().unwrap().iter().map(|one| &one["ended"]).collect();
    assert_eq!(ended, ["exited"; 3], "{answer}");
    assert_eq!(answer["commands"][1]["text"], "two met the others", "the results are in the order of the commands");

    // One after the other, they would take six seconds.
    let begun = Instant::now();
    home.ok(&["batch", "--parallel", "6", "sleep 1", "sleep 1", "sleep 1", "sleep 1", "sleep 1", "sleep 1"]);
    assert!(begun.elapsed() < Duration::from_secs(6), "{:?}", begun.elapsed());
}

#[test]
fn no_more_run_at_once_than_asked_for() {
    let home = Home::with_programs();
    let command = "mkdir mine || echo another is at it; sleep 0.1; rmdir mine";
    let answer = home.ok(&["batch", "--parallel", "1", command, command, command]);
    assert!(!answer.contains("\nanother is at it"), "{answer}");
}

#[test]
fn each_command_fails_by_itself() {
    let home = configured("[policy]\ndeny = [\"Bash(sudo *)\"]\n");
    let commands = ["echo first", "exit 3", "sudo id", "kill -9 $$", "sleep 60", "echo last"];
    let mut words = vec!["batch", "--timeout", "2"];
    words.extend(commands);
    let output = home.weir(&words);
    assert_eq!(output.status.code(), Some(1));
    let answer = text(&output.stdout);
    let starts = [
        "6 commands, 4 failed: [2] [3] [4] [5]\n[1] echo first: exit 0 in ",
        "\nfirst\n",
        ">>>\n[2] exit 3: exit 3 in ",
        ", no output\n[3] sudo id: nothing was run. deny: `sudo id` is denied (rule `Bash(sudo *)` in ",
        "\n[4] kill -9 $$: ended by signal 9 after ",
        "\n[5] sleep 60: timed out and ended after 2",
        "\n[6] echo last: exit 0 in ",
        "\nlast",
    ];
    let mut rest = answer.as_str();
    for start in starts {
        let place = rest.find(start).unwrap_or_else(|| panic!("`{start}` is missing in\n{answer}"));
        rest = &rest[place + start.len()..];
    }
}

#[test]
fn questions_are_about_what_these_commands_printed() {
    let home = Home::with_programs();
    home.ok(&["run", "echo the elephant of an earlier run"]);
    let mut server = home.server();
    let commands =
        json!(["echo an elephant in the room", "seq 5000; echo a needle; seq 5000", "echo nothing of the sort"]);
    let queries = json!(["elephant", "needle", "mortgage"]);
    let answer = server.said("ctx_batch_execute", &json!({ "commands": commands, "queries": queries }));
    assert!(answer.starts_with("3 commands\n[1] "), "{answer}");
    let found = answer.split_once("\n\n").unwrap().1;
    assert!(found.contains("elephant in the room") && !found.contains("earlier"), "{answer}");
    assert!(found.contains("a needle"), "{answer}");
    assert!(found.contains("nothing found for `mortgage`"), "{answer}");
}

#[test]
fn an_answer_keeps_to_its_budget_however_much_is_printed() {
    let home = Home::with_programs();
    let mut server = home.server();
    let long: Vec<String> = (0..50).map(|n| format!("seq -f 'command {n} line %g' 3000")).collect();
    for (count, budget) in [(1, 1000), (5, 3000), (20, 3000), (50, 3000), (5, 500)] {
        for queries in [json!([]), json!(["command 0", "line 2999"])] {
            let arguments = json!({ "commands": long[..count], "queries": queries, "budget": budget });
            let answer = server.said("ctx_batch_execute", &arguments);
            let tokens = weir_tokens::count(&answer);
            assert!(tokens <= budget, "{count} commands, {queries}: {tokens} tokens of {budget}:\n{answer}");
            assert!(answer.starts_with(&commands(count)), "{answer}");
            let shown = (1..=count).filter(|number| answer.contains(&format!("\n[{number}] "))).count();
            let rest = format!("\n{} more did not fit", count - shown);
            assert!(shown == count || answer.contains(&rest), "{shown} of {count} are shown:\n{answer}");
        }
    }
}

#[test]
fn the_one_that_fails_is_named_among_many() {
    let home = Home::with_programs();
    let mut long: Vec<String> = (0..50).map(|n| format!("seq -f 'command {n} line %g' 3000")).collect();
    long[44] = "echo the reason; exit 3".to_owned();
    let arguments = json!({ "commands": long, "queries": ["line 2999", "line 17"], "budget": 2000 });
    let answer = home.server().said("ctx_batch_execute", &arguments);
    assert!(answer.starts_with("50 commands, 1 failed: [45]\n"), "{answer}");
}

fn commands(count: usize) -> String {
    if count == 1 { "1 command\n".to_owned() } else { format!("{count} commands\n") }
}

#[test]
fn fifty_commands_are_the_most() {
    let home = Home::with_programs();
    let commands = vec!["true"; 51];
    let output = home.weir(&[&["batch"], commands.as_slice()].concat());
    assert_eq!(output.status.code(), Some(2));
    let message = text(&output.stderr);
    assert!(message.contains("cannot run 51 commands in one batch") && message.contains("pass 1 to 50"), "{message}");
    assert!(home.ok(&[&["batch"], &commands[..50]].concat()).starts_with("50 commands\n"));
}

#[test]
fn runs_at_the_same_time_are_all_kept() {
    let home = Home::with_programs();
    let mut server = home.server();
    let calls: Vec<i64> = (0..12)
        .map(|n| server.begin("ctx_execute", json!({ "code": format!("seq -f 'call {n} line %g' 2000") })))
        .collect();
    let one = |n: usize| home.weir_command(&["run", &format!("seq -f 'process {n} line %g' 2000")]);
    let processes: Vec<_> = (0..6).map(|n| one(n).stdout(Stdio::null()).spawn().unwrap()).collect();
    for mut process in processes {
        assert!(process.wait().unwrap().success());
    }
    for _ in &calls {
        let answer = server.receive();
        assert_eq!(answer["result"]["isError"], false, "{answer}");
    }
    let listed = home.ok(&["history", "--json", "--limit", "50"]);
    let names = (0..12).map(|n| format!("call {n} line")).chain((0..6).map(|n| format!("process {n} line")));
    for name in names {
        assert_eq!(listed.matches(&format!("seq -f '{name} %g' 2000")).count(), 1, "{name}: {listed}");
        let found = home.ok(&["search", &format!("\"{name} 1999\"")]);
        assert!(found.contains(&format!("{name} 1999")), "{name}: {found}");
    }
}
