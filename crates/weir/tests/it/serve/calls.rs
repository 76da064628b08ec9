//! Calls of tools: what they answer, what a session sees, and what happens when there are many at a time.

use serde_json::{Value, json};

use super::support::{Request, Server, print_token};
use crate::support::Home;

fn call_in(server: &Server, session: &str, tool: &str, arguments: &Value) -> Value {
    let request = Request::tool(tool, arguments).token(server.token()).header("Weir-Session", session);
    let response = server.send(&request);
    assert_eq!(response.status, 200, "{tool} {arguments}: {}", response.text());
    response.json()
}

#[test]
fn a_note_is_kept_found_and_read() {
    let home = Home::new();
    let server = Server::start(&home);
    let nothing = server.call("ctx_search", &json!({ "queries": ["zebra"] }));
    assert_eq!(nothing["found"], false);
    let kept = server.call("ctx_annotate", &json!({ "text": "zebras sleep standing", "topic": "sleep" }));
    let reference = kept["data"]["reference"].as_str().unwrap().to_owned();
    let found = server.call("ctx_search", &json!({ "queries": ["zebra"] }));
    assert_eq!(found["data"]["queries"][0]["hits"][0]["reference"], reference);
    assert!(found["found"] == true && found["text"].as_str().unwrap().contains("zebras sleep standing"), "{found}");
    let got = server.call("ctx_get", &json!({ "ref": reference }));
    assert_eq!(got["data"]["text"], "zebras sleep standing");
    // The same note is what a person sees on the command line.
    assert!(home.ok(&["get", &reference]).contains("zebras sleep standing"));
}

#[test]
fn arguments_are_read_as_meant_or_refused_with_what_there_is() {
    let home = Home::new();
    let server = Server::start(&home);
    server.call("ctx_annotate", &json!({ "note": "sixteen connections" }));
    for arguments in [json!({ "query": "sixteen" }), json!({ "queries": "[\"sixteen\"]", "limit": "3", "tags": [] })] {
        assert_eq!(server.call("ctx_search", &arguments)["found"], true, "{arguments}");
    }
    for (tool, arguments, words) in [
        ("ctx_search", json!({}), "required: queries"),
        ("ctx_search", json!({ "queries": ["x"], "user": "ada" }), "has no argument `user`"),
        ("ctx_search", json!({ "queries": ["x"], "limit": "many" }), "ctx_search takes queries"),
        ("ctx_search", json!({ "queries": ["word ".repeat(1_639)] }), "has 8195 bytes, the limit is 8192"),
        ("ctx_search", json!({ "queries": vec!["x"; 33] }), "33 queries were given, the limit is 32"),
        ("ctx_get", json!({ "ref": "not one" }), "ref"),
        ("ctx_execute", json!({}), "pass it in `code`"),
        ("ctx_annotate", json!({ "text": "x", "scope": "session" }), "Weir-Session"),
    ] {
        let problem = server.post(tool, &arguments).problem(422);
        let said = format!("{} {}", problem["detail"], problem["hint"]);
        assert!(said.contains(words), "{tool} {arguments}: {problem}");
    }
    let ignored = server.call("ctx_annotate", &json!({ "text": "kept anyway", "mood": "calm" }));
    assert!(ignored["text"].as_str().unwrap().contains("ignored unknown arguments: mood"), "{ignored}");
}

#[test]
fn a_session_and_a_work_are_seen_from_within() {
    let home = Home::new();
    let server = Server::start(&home);
    call_in(&server, "s1", "ctx_annotate", &json!({ "text": "only for s1: walrus", "scope": "session" }));
    let search = json!({ "queries": ["walrus"] });
    assert_eq!(call_in(&server, "s1", "ctx_search", &search)["found"], true);
    assert_eq!(call_in(&server, "s2", "ctx_search", &search)["found"], false);
    assert_eq!(server.call("ctx_search", &search)["found"], false);
    // The session of another client is another session, even if its key is the same.
    let other = Request::tool("ctx_search", &search).token(server.token()).header("Weir-Session", "s1");
    let other = server.send(&other.header("Weir-Client", "elsewhere"));
    assert_eq!(other.json()["found"], false, "{}", other.text());

    let in_work = |work: &str, tool: &str, arguments: &Value| {
        server.send(&Request::tool(tool, arguments).token(server.token()).header("Weir-Work", work))
    };
    let kept = in_work("WEIR-7", "ctx_annotate", &json!({ "text": "for the ticket: narwhal", "scope": "work" }));
    assert_eq!(kept.status, 200, "{}", kept.text());
    let search = json!({ "queries": ["narwhal"] });
    assert_eq!(in_work("WEIR-7", "ctx_search", &search).json()["found"], true);
    assert_eq!(in_work("WEIR-8", "ctx_search", &search).json()["found"], false);
    for value in ["", &"x".repeat(300)] {
        in_work(value, "ctx_search", &search).problem(400);
    }
}

#[test]
fn calls_of_a_session_are_metered() {
    let home = Home::new();
    let mut server = Server::start(&home);
    call_in(&server, "s1", "ctx_history", &json!({}));
    call_in(&server, "s1", "ctx_history", &json!({}));
    server.call("ctx_history", &json!({}));
    server.terminate();
    assert!(server.wait_for_end().success());
    let stats = home.json(&["stats"]).to_string();
    assert!(stats.contains("ctx_history"), "{stats}");
}

#[test]
fn code_runs_and_its_output_is_found() {
    let home = Home::outside_tmp();
    let server = Server::start(&home);
    let ran = server.call("ctx_execute", &json!({ "code": "echo a rare word: xylophone; exit 3" }));
    assert!(ran["text"].as_str().unwrap().contains("xylophone"), "{ran}");
    let found = server.call("ctx_search", &json!({ "queries": ["xylophone"], "kind": "run" }));
    assert_eq!(found["found"], true, "{found}");
}

#[test]
fn what_needs_consent_is_refused_because_nobody_can_be_asked() {
    let home = Home::outside_tmp();
    home.configure("[policy]\nask = [\"Bash(touch *)\"]\ndeny = [\"Bash(shred *)\"]\n");
    let server = Server::start(&home);
    let asked = server.post("ctx_execute", &json!({ "code": "touch made" })).problem(403);
    assert!(asked["hint"].as_str().unwrap().contains("could not be asked over HTTP"), "{asked}");
    let denied = server.post("ctx_execute", &json!({ "code": "shred made" })).problem(403);
    assert!(denied["hint"].as_str().unwrap().contains("do not work around this"), "{denied}");
    assert!(!home.project().join("made").exists());
}

#[test]
fn many_calls_at_a_time_are_all_answered() {
    const CALLERS: usize = 12;
    const CALLS: usize = 6;
    let home = Home::new();
    let server = Server::start(&home);
    std::thread::scope(|scope| {
        for caller in 0..CALLERS {
            let server = &server;
            scope.spawn(move || {
                for call in 0..CALLS {
                    let text = format!("note {call} of caller{caller}");
                    let kept = server.call("ctx_annotate", &json!({ "text": text }));
                    let reference = kept["data"]["reference"].as_str().unwrap();
                    assert_eq!(server.call("ctx_get", &json!({ "ref": reference }))["data"]["text"], text);
                }
            });
        }
    });
    let history = server.call("ctx_history", &json!({ "limit": 100, "budget": 20_000 }));
    assert_eq!(history["data"]["moments"].as_array().unwrap().len(), CALLERS * CALLS, "{history}");
}

#[test]
fn searches_are_answered_while_a_folder_is_indexed() {
    const FILES: usize = 60;
    let home = Home::new();
    let server = Server::start(&home);
    server.call("ctx_annotate", &json!({ "text": "an ocelot was here first" }));
    for file in 0..FILES {
        let lines: Vec<String> =
            (0..2_000).map(|line| format!("line {line} of file {file}: {}", word(file, line))).collect();
        home.write(&format!("docs/{file}.md"), lines.join("\n"));
    }
    let reader = print_token(&home, "read");
    std::thread::scope(|scope| {
        let indexing = scope.spawn(|| server.call("ctx_index", &json!({ "path": "docs" })));
        let mut answered = 0;
        while !indexing.is_finished() {
            let search = Request::tool("ctx_search", &json!({ "queries": ["ocelot"] })).token(&reader);
            let found = server.send(&search);
            assert_eq!((found.status, &found.json()["found"]), (200, &json!(true)), "{}", found.text());
            answered += 1;
        }
        assert!(answered > 1, "no search was answered before everything was indexed");
        let indexed = indexing.join().unwrap();
        assert!(indexed["text"].as_str().unwrap().contains(&FILES.to_string()), "{indexed}");
    });
    let found = server.call("ctx_search", &json!({ "queries": [word(7, 1_234)] }));
    assert_eq!(found["found"], true, "{found}");
}

fn word(file: usize, line: usize) -> String {
    let letters = format!("{:06}", file * 10_000 + line);
    letters.bytes().map(|digit| char::from(b'g' + (digit - b'0'))).collect::<String>() + "ax"
}
