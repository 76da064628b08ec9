//! Rewritten commands run as they would have: same output, same exit code, same folder afterwards.

use std::process::Command;

use serde_json::{Value, json};

use super::{Session, reference};

/// Returns what the client runs instead of a command, if it is rewritten.
fn rewritten(session: &Session, command: &str) -> Option<String> {
    let call = json!({
        "permission_mode": "bypassPermissions", "tool_name": "Bash", "tool_use_id": command,
        "tool_input": { "command": command, "description": "x" },
    });
    let answer = session.hook("PreToolUse", call);
    if answer.is_null() {
        return None;
    }
    let input = &answer["hookSpecificOutput"]["updatedInput"];
    assert_eq!(input["description"], "x", "the rest of the input stays");
    Some(input["command"].as_str().unwrap().to_owned())
}

/// A program that may print anything, and prints nothing.
const LOUD: &str = "loud() { :; }; loud; ";

/// Runs a command as Claude Code does. Returns its exit code, its output, and the folder it ended in.
fn run(session: &Session, shell: &str, command: &str) -> (i32, String, String) {
    let ended_in = session.home.path().join("ended-in");
    let _ = std::fs::remove_file(&ended_in);
    let line =
        format!("exec 2>&1; eval '{}' < /dev/null && pwd -P > {}", command.replace('\'', "'\\''"), ended_in.display());
    let mut process = Command::new(shell);
    process.args(["-c", &line]).current_dir(session.project()).env_clear();
    process.env("HOME", session.home.path()).env("PATH", "/usr/bin:/bin");
    let output = process.output().unwrap();
    let folder = std::fs::read_to_string(&ended_in).unwrap_or_default();
    let printed = [output.stdout, output.stderr].concat();
    (output.status.code().unwrap(), String::from_utf8_lossy(&printed).into_owned(), folder)
}

/// Returns the leftovers of rewritten commands, except what the next hook takes.
fn left(session: &Session) -> Vec<std::path::PathBuf> {
    let all = std::fs::read_dir(session.data().join("held")).unwrap().map(|item| item.unwrap().path());
    all.filter(|path| path.extension().is_none_or(|extension| extension != "code")).collect()
}

#[test]
fn a_rewritten_command_means_what_it_meant() {
    let session = Session::new();
    std::fs::create_dir(session.project().join("sub")).unwrap();
    for shell in ["/bin/bash", "/bin/sh"] {
        for command in [
            "echo one; echo two >&2; echo three",
            "exit 3",
            "echo FAILING; exit 4",
            "cd sub && pwd",
            "cd sub; false",
            "cat <<'END'\na 'b' \"c\" $d\nEND",
            "x='it'\\''s'; printf '%s\\n' \"$x\" # a comment",
            "set -e; false; echo never",
            "no-such-command-here",
            "echo 'never closed",
            "seq 1 5 | grep 9",
            "printf 'no newline at the end'",
            "echo one \\\n  two",
            "true",
        ] {
            let command = format!("{LOUD}{command}");
            let (code, printed, folder) = run(&session, shell, &command);
            let new = rewritten(&session, &command).unwrap();
            assert!(new.ends_with(&command), "{new}");
            // The first line is what a client shows.
            let first = command.lines().next().unwrap();
            assert_eq!(new.lines().next(), Some(format!("# {first}").as_str()));
            let (new_code, new_printed, new_folder) = run(&session, shell, &new);
            assert_eq!((code, &folder), (new_code, &new_folder), "{shell}: {command}");
            // A shell names the line of an error, and a rewritten command has two more.
            let same = |text: &str| {
                let one = |text: String, line: char| {
                    text.replace(&format!("line {line}"), "line 1").replace(&format!("{line}:"), "1:")
                };
                "02345".chars().fold(text.to_owned(), one)
            };
            assert_eq!(same(&printed), same(&new_printed), "{shell}: {command}");
        }
    }
    // A shell that aborts reports nothing; the relay notices that it is gone.
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(10);
    while !left(&session).is_empty() {
        assert!(std::time::Instant::now() < deadline, "{:?}", left(&session));
        std::thread::yield_now();
    }
    assert_eq!(session.faults(), "");
}

#[test]
fn a_large_output_of_a_failing_command_is_held_whole() {
    let session = Session::new();
    let command = rewritten(&session, "seq 1 30000; echo 'error: no such thing' >&2; exit 3").unwrap();
    let (code, printed, _) = run(&session, "/bin/bash", &command);
    assert_eq!(code, 3);
    assert!(printed.starts_with("exit 3 in ") && printed.contains("error: no such thing"), "{printed}");
    let held = session.ok(&["get", reference(&printed), "--raw"]);
    assert!(held.ends_with("30000\nerror: no such thing\n") && held.starts_with("1\n2\n"));
    // What the client then sees is small, and is not held again.
    assert_eq!(session.ran("seq", &printed), Value::Null);
}

#[test]
fn a_slow_command_is_digested_once_behind_a_few_whole_lines() {
    let session = Session::new();
    let line = "tests/test_a.py::test_case_$n PASSED and some words that make this a longer line";
    let script = format!(
        "for n in $(seq 1 80); do echo \"{line}\"; done; sleep 1.6; for n in $(seq 81 900); do echo \"{line}\"; done; \
         echo '===== 900 passed in 1.71s ====='; exit 1"
    );
    let command = rewritten(&session, &script).unwrap();
    let (_, printed, _) = run(&session, "/bin/bash", &command);
    let (live, digest) = printed.split_once("exit 1 in ").unwrap();
    assert!(
        live.len() <= 501 && live.lines().filter(|line| !line.is_empty()).all(|line| line.ends_with("longer line")),
        "{printed}"
    );
    assert!(digest.contains("901 lines"), "{printed}");
    // What was shown already is not shown again.
    let lines = live.lines().filter(|line| !line.is_empty()).count();
    assert!(digest.contains(&format!("\nlines 1-{lines} are shown above\n")), "{printed}");
    let repeated = (1..=lines).filter(|n| digest.contains(&format!("\n{n}: tests/test_a.py::test_case_{n} "))).count();
    assert_eq!(repeated, 0, "{printed}");
    // However long head and digest are together, they are not digested again.
    let mut payload = super::bash(&script, &printed.replace("901 lines", &"901 lines ".repeat(2_000)));
    payload["tool_use_id"] = json!(script);
    assert_eq!(session.hook("PostToolUse", payload), Value::Null);
}

#[test]
fn commands_with_ways_of_their_own_are_left_alone() {
    let session = Session::new();
    for command in
        ["npm start &", "exec bash", "trap 'echo x' EXIT", "nohup ./server", "sleep 1 & wait", "seq 9 # weir:off"]
    {
        assert_eq!(rewritten(&session, command), None, "{command}");
    }
    // A user would be asked about our words, and a safety check would judge them.
    for mode in ["default", "acceptEdits", "plan", "dontAsk", "auto"] {
        let input = json!({ "command": "seq 1 9" });
        let asked = json!({ "permission_mode": mode, "tool_name": "Bash", "tool_use_id": "t1", "tool_input": input });
        assert_eq!(session.hook("PreToolUse", asked), Value::Null, "{mode}");
    }
    for command in ["cat src/main.rs", "rg -n main src", "git status --short", "ls -la && pwd", "make 2>&1 | tail -30"]
    {
        assert_eq!(rewritten(&session, command), None, "it cannot flood: {command}");
    }
    let called = |input: Value| {
        let mode = "bypassPermissions";
        json!({ "permission_mode": mode, "tool_name": "Bash", "tool_use_id": "t1", "tool_input": input })
    };
    let background = called(json!({ "command": "seq 1 9", "run_in_background": true }));
    assert_eq!(session.hook("PreToolUse", background), Value::Null);
    // The answer repeats the whole input, and memory has no room for this one.
    for long in
        [json!({ "command": "seq 1 9 ".repeat(300_000) }), json!({ "command": "seq", "x": "x".repeat(2 << 20) })]
    {
        assert_eq!(session.hook("PreToolUse", called(long)), Value::Null);
    }
    assert!(!session.hook("PreToolUse", called(json!({ "command": "seq 1 9" }))).is_null());
}

#[test]
fn where_nothing_can_be_written_or_run_the_command_still_runs() {
    let session = Session::new();
    let command = rewritten(&session, &format!("{LOUD}echo here; exit 5")).unwrap();
    let script = command.lines().nth(1).and_then(|line| line.split('\'').nth(1)).unwrap();
    let script = std::fs::read_to_string(script).unwrap();
    // The program is gone.
    let path = session.home.path().join("script");
    std::fs::write(&path, script.replace(env!("CARGO_BIN_EXE_weir"), "/nowhere/weir")).unwrap();
    let (code, printed, _) = run(&session, "/bin/bash", &format!(". {}\necho here; exit 5", path.display()));
    assert_eq!(code, 5);
    assert!(printed.ends_with("here\n"), "{printed}");
    // The next hook knows the exit code, although the client does not report it.
    let command = rewritten(&session, "cargo check; exit 5").unwrap();
    run(&session, "/bin/bash", &command);
    let mut payload = super::bash("cargo check; exit 5", "error: nothing here compiles");
    payload["tool_use_id"] = json!("cargo check; exit 5");
    session.hook("PostToolUse", payload);
    assert!(session.events().iter().any(|(kind, _)| kind == "error"), "{:?}", session.events());
    // The folder is gone.
    std::fs::remove_dir_all(session.data().join("held")).unwrap();
    let (code, printed, _) = run(&session, "/bin/bash", &format!(". {}\necho here; exit 5", path.display()));
    assert_eq!((code, printed.as_str()), (5, "here\n"));
}

#[test]
fn what_a_killed_command_had_printed_is_told_by_the_next_hook() {
    let session = Session::new();
    for (command, bytes, expected) in [
        ("seq 1000000 1000000; sleep 60", 8, "1000000"),
        ("seq 1 30000; sleep 60", 168_894, "30000 lines, 164.9 KiB held as [ctx:"),
    ] {
        let new = rewritten(&session, command).unwrap();
        let mut shell = Command::new("/bin/bash");
        shell.args(["-c", &new]).current_dir(session.project()).env_clear().stdout(std::process::Stdio::piped());
        std::os::unix::process::CommandExt::process_group(&mut shell, 0);
        let mut shell = shell.env("HOME", session.home.path()).env("PATH", "/usr/bin:/bin").spawn().unwrap();
        let printed = || {
            std::fs::read_dir(session.data().join("held")).unwrap().any(|item| {
                let item = item.unwrap();
                item.path().extension().is_some_and(|extension| extension == "out")
                    && item.metadata().unwrap().len() == bytes
            })
        };
        while !printed() {
            std::thread::yield_now();
        }
        // Like a client whose timeout has expired: kills the shell and everything that it started.
        Command::new("/bin/kill").args(["-9", "--", &format!("-{}", shell.id())]).status().unwrap();
        shell.wait().unwrap();
        let failure = json!({
            "tool_name": "Bash", "tool_use_id": command, "tool_input": { "command": command },
            "error": "Command timed out after 2m 0s",
        });
        let answer = session.hook("PostToolUseFailure", failure);
        let told = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default();
        assert!(told.contains(expected), "{answer}");
    }
}

#[test]
fn a_command_that_goes_on_in_the_background_was_not_killed() {
    let session = Session::new();
    let command = "seq 1 9; sleep 60";
    let new = rewritten(&session, command).unwrap();
    let script = std::fs::read_dir(session.data().join("held")).unwrap().next().unwrap().unwrap().path();
    let output = script.with_extension("out");
    super::write(&output, "so far\n");
    let mut payload = super::bash(&new, "so far\n");
    payload["tool_use_id"] = json!(command);
    payload["tool_response"]["backgroundTaskId"] = json!("b1");
    assert_eq!(session.hook("PostToolUse", payload), Value::Null);
    assert!(output.exists(), "the relay still needs it");
}

#[test]
fn a_server_that_says_that_it_is_up_is_heard_at_once() {
    let session = Session::new();
    let command = rewritten(&session, &format!("{LOUD}echo listening on 3000; sleep 60")).unwrap();
    let mut shell = Command::new("/bin/bash");
    shell.args(["-c", &command]).current_dir(session.project()).env_clear().stdout(std::process::Stdio::piped());
    std::os::unix::process::CommandExt::process_group(&mut shell, 0);
    let mut shell = shell.env("HOME", session.home.path()).env("PATH", "/usr/bin:/bin").spawn().unwrap();
    let mut heard = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(shell.stdout.take().unwrap()), &mut heard).unwrap();
    assert_eq!(heard, "listening on 3000\n");
    Command::new("/bin/kill").args(["-9", "--", &format!("-{}", shell.id())]).status().unwrap();
    shell.wait().unwrap();
}

/// Checks what a rewritten command is counted as: what the client would have shown of it alone.
fn check_counted(command: &str, alone: &str) {
    let session = Session::new();
    let (_, printed, _) = run(&session, "/bin/bash", &rewritten(&session, command).unwrap());
    let all = serde_json::from_str::<Value>(&session.ok(&["stats", "--json"])).unwrap()["all"].clone();
    let shown = weir_tokens::count(printed.trim_end());
    assert_eq!((&all["held"], &all["given"]), (&json!(1), &json!(weir_tokens::count(alone))), "{command}: {all}");
    assert_eq!(all["shown"], shown, "{command}: {all}");
    assert!(shown <= weir_tokens::count(alone), "{command}: longer than the client's own cut: {printed}");
}

#[test]
fn what_a_rewritten_command_held_back_is_counted_as_the_client_would_have_shown_it() {
    let numbers = super::numbers;
    check_counted("seq 1 6000", &numbers(6_000));
    let claude = weir_clients::find("claude").unwrap();
    let shown = |text: &str, failed: bool| {
        let cut = claude.cut(&weir_clients::Tool::Shell { command: String::new() }, failed).unwrap();
        cut.shown(text).into_owned()
    };
    check_counted("seq 1 30000", &shown(&numbers(30_000), false));
    check_counted("seq 1 6000; exit 3", &shown(&numbers(6_000), true));
    check_counted("seq 1 30000; exit 3", &shown(&numbers(30_000), true));
}
