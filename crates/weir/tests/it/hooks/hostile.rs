//! For any input, a hook succeeds: bounded, silent, and without losing anything.

use std::time::Instant;

use serde_json::{Value, json};

use super::{Session, bash, numbers, reference, shown};

#[test]
fn what_cannot_be_understood_is_no_ones_trouble() {
    let session = Session::new();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let bad: [&[u8]; 8] =
        [b"", b"{", b"null", b"[]", b"\xff\xfe", b"{\"cwd\": 7}", deep.as_bytes(), b"{\"cwd\": \"/nowhere/at/all\"}"];
    for input in bad {
        assert!(session.raw_hook("claude", "PostToolUse", input).is_empty());
    }
    assert!(session.raw_hook("nobody", "PostToolUse", b"{}").is_empty());
    assert!(session.raw_hook("claude", "NeverHeardOf", b"{}").is_empty());
    let faults = session.faults();
    assert!(faults.lines().count() >= 4 && faults.contains("there is no client `nobody`"), "{faults}");
    assert!(session.weir(&["hook"]).output().unwrap().status.success());
}

/// A client that counts in UTF-16 may cut an output in the middle of a character.
#[test]
fn half_a_character_costs_nothing_but_itself() {
    let session = Session::new();
    let mut payload = bash("seq 1 9000", &format!("{}HALF\n", numbers(9_000)));
    payload["session_id"] = json!("s1");
    payload["cwd"] = json!(session.project());
    let payload = payload.to_string().replace("HALF", "\\ud83d");
    let answer: Value = serde_json::from_slice(&session.raw_hook("claude", "PostToolUse", payload.as_bytes())).unwrap();
    let held = session.ok(&["get", reference(shown(&answer)), "--raw"]);
    assert_eq!(held, format!("{}\u{fffd}\n", numbers(9_000)));
    assert_eq!(session.faults(), "");
}

#[test]
fn a_payload_of_100_mb_is_bounded_and_whole() {
    let session = Session::new();
    let text = numbers(14_000_000);
    assert!(text.len() > 100_000_000);
    let payload = {
        let mut payload = bash("seq 1 14000000", &text);
        payload["session_id"] = json!("s1");
        payload["cwd"] = json!(session.project());
        payload.to_string()
    };
    let started = Instant::now();
    let mut command = std::process::Command::new("/usr/bin/python3");
    // The parent process asks the system for the peak memory.
    let script = "import resource,subprocess,sys\n\
                  done = subprocess.run(sys.argv[1:])\n\
                  print('\\npeak', resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)\n\
                  sys.exit(done.returncode)";
    command.args(["-c", script, env!("CARGO_BIN_EXE_weir"), "hook", "claude", "PostToolUse"]);
    command.env_clear().env("HOME", session.home.path()).env("PATH", "/usr/bin:/bin").env("WEIR_HOOK_SECONDS", "600");
    let output = String::from_utf8(super::hooked(command, payload.as_bytes())).unwrap();
    let took = started.elapsed();
    let (answer, peak) = output.trim_end().rsplit_once("\npeak ").unwrap();
    let peak: u64 = peak.parse().unwrap();
    assert!(peak < 80_000, "{peak} KB");
    assert!(took.as_secs() < 60, "{took:?}");
    let answer: Value = serde_json::from_str(answer).unwrap();
    let held = reference(shown(&answer)).to_owned();
    assert_eq!(session.ok(&["get", &held, "--raw"]).len(), text.len());
    assert_eq!(session.faults(), "");
}

#[test]
fn a_prompt_of_many_megabytes_is_an_event_of_its_beginning() {
    let session = Session::new();
    let prompt = format!("look at this log\n{}", "x ".repeat(3_000_000));
    assert_eq!(session.hook("UserPromptSubmit", json!({ "prompt": prompt })), Value::Null);
    let events = session.events();
    assert!(events.iter().any(|(kind, text)| kind == "prompt" && text.starts_with("look at this log")), "{events:?}");
    assert!(events.iter().all(|(_, text)| text.len() < 4_000));
}

#[test]
fn odd_paths_are_kept_as_they_are() {
    let session = Session::new();
    for name in ["a b", "quote's \"d\"", "new\nline", "tab\t", "émoji 🦀", "-rf", "$(touch owned)", "\u{1b}[31mred"]
    {
        let folder = session.project().join(name);
        std::fs::create_dir(&folder).unwrap();
        let answer = session.hook("PostToolUse", {
            let mut payload = bash("seq", &numbers(9_000));
            payload["cwd"] = json!(folder);
            payload
        });
        assert!(shown(&answer).contains("9000 lines"), "{name:?}: {answer}");
        let edit =
            json!({ "tool_name": "Edit", "tool_input": { "file_path": folder.join(name) }, "tool_response": {} });
        assert_eq!(session.hook("PostToolUse", edit), Value::Null);
    }
    assert_eq!(session.faults(), "");
    assert!(!session.project().join("owned").exists());
}

#[test]
fn secrets_are_redacted_before_they_are_stored() {
    let session = Session::new();
    let secret = ["ghp", "_0123456789abcdefghijABCDEFGHIJ012345"].concat();
    session.hook("UserPromptSubmit", json!({ "prompt": format!("use the token {secret}") }));
    let answer = session.ran("env", &format!("{}TOKEN={secret}\n", numbers(9_000)));
    let held = session.ok(&["get", reference(shown(&answer)), "--raw"]);
    assert!(!held.contains(&secret) && !session.ok(&["history"]).contains(&secret));
}
