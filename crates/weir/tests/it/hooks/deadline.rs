//! A hook is answered in time, or not at all.

use std::process::Stdio;
use std::time::Instant;

use serde_json::{Value, json};

use super::{Session, bash, numbers};

#[test]
fn a_hook_that_takes_too_long_ends_without_an_answer() {
    let session = Session::new();
    std::fs::create_dir_all(session.data()).unwrap();
    let mut command = session.weir(&["hook", "claude", "UserPromptSubmit"]);
    command.env_remove("WEIR_HOOK_SECONDS").stdin(Stdio::piped()).stdout(Stdio::piped());
    let started = Instant::now();
    let mut child = command.spawn().unwrap();
    // Held open, so the payload never arrives.
    let input = child.stdin.take().unwrap();
    let output = child.wait_with_output().unwrap();
    let took = started.elapsed().as_secs_f64();
    drop(input);
    assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
    assert!((2.5..10.0).contains(&took), "{took} s");
    let faults = session.faults();
    assert!(faults.contains("UserPromptSubmit: not answered within 3 s") && faults.lines().count() == 1, "{faults}");
}

#[test]
fn a_file_of_200_gb_that_a_client_reads_is_not_read_again() {
    let session = Session::new();
    let path = session.project().join("sparse.txt");
    std::fs::File::create(&path).unwrap().set_len(200 << 30).unwrap();
    let text = numbers(20_000);
    let started = Instant::now();
    let answer = session.hook(
        "PostToolUse",
        json!({
            "tool_name": "Read", "tool_use_id": "t1", "tool_input": { "file_path": path },
            "tool_response": { "type": "text", "file": { "filePath": path, "content": text, "numLines": 20_000,
                "startLine": 1, "totalLines": 20_000 } },
        }),
    );
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
    assert_ne!(answer, Value::Null);
    assert_eq!(session.faults(), "");
    assert!(session.events().iter().any(|(_, text)| text.contains("sparse.txt")), "{:?}", session.events());
}

#[test]
fn what_was_told_is_kept_when_the_answer_misses_the_deadline() {
    let session = Session::new();
    let saved = session.home.path().join(".claude/projects/p/s1/tool-results/b.txt");
    super::write(&saved, "");
    std::fs::File::options().write(true).open(&saved).unwrap().set_len(200 << 30).unwrap();
    let mut payload = bash("git commit -m 'all of it'", "[main 1234567] all of it\n");
    payload["tool_response"]["persistedOutputPath"] = json!(saved);
    payload["session_id"] = json!("s1");
    payload["cwd"] = json!(session.project());
    payload["transcript_path"] = json!(session.home.path().join(".claude/projects/p/s1.jsonl"));
    let mut command = session.weir(&["hook", "claude", "PostToolUse"]);
    command.env_remove("WEIR_HOOK_SECONDS");
    let answer = super::hooked(command, payload.to_string().as_bytes());
    assert!(answer.is_empty());
    assert!(session.faults().contains("not answered within 3 s"), "{}", session.faults());
    assert!(session.events().iter().any(|(_, text)| text.contains("all of it")), "{:?}", session.events());
}
