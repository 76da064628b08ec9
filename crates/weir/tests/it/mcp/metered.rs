//! The meter of tools: what runs held back, and whose session an answer belongs to.

use serde_json::{Value, json};

use crate::support::{Home, Server};

fn stats(home: &Home) -> Value {
    home.json(&["stats"])
}

#[test]
fn what_a_run_held_back_counts() {
    let home = Home::outside_tmp();
    let mut server = home.server();
    let answer = server.call("ctx_execute", &json!({ "code": "seq 1 20000" }));
    let printed: String = (1..=20_000).map(|number| format!("{number}\n")).collect();
    let all = &stats(&home)["all"];
    let shown = weir_tokens::count(&answer);
    assert_eq!((&all["held"], &all["shown"], &all["answered"]), (&json!(1), &json!(shown), &json!(0)), "{all}");
    // How much this client shows is not known, so 30,000 characters are assumed. The output is estimated from its
    // beginning, since it is long.
    assert_eq!(all["given"], weir_tokens::count(&printed[..30_000]), "{all}");
    let (output, exact) = (all["output"].as_f64().unwrap(), weir_tokens::count(&printed) as f64);
    assert!((output / exact - 1.0).abs() < 0.1, "{output} is not about {exact}");
    let said = home.ok(&["stats"]);
    assert!(said.contains("1 output held back") && said.contains("Net: +"), "{said}");

    // An output that is shown in full is the program's; only what is around it is Weir's.
    let answer = server.call("ctx_execute", &json!({ "code": "seq 1 300" }));
    let printed: String = (1..=300).map(|number| format!("{number}\n")).collect();
    let all = &stats(&home)["all"];
    let own = weir_tokens::count(&answer) - weir_tokens::count(&printed);
    assert_eq!((&all["held"], &all["answered"]), (&json!(1), &json!(own)), "{all}");

    server.call("ctx_batch_execute", &json!({ "commands": ["seq 1 20000", "echo one"] }));
    assert_eq!(stats(&home)["tools"]["ctx_batch_execute"]["held"], 1);
}

#[test]
fn a_client_that_does_not_name_its_session_has_one_all_the_same() {
    let home = Home::new();
    let mut server = Server::start(home.weir_command(&["mcp"]));
    server.greet("opencode", "2025-11-25", &json!({}));
    let message = json!({
        "directory": home.project(), "input": { "sessionID": "ses_1" },
        "output": { "parts": [{ "type": "text", "text": "Count the boats in the harbour" }] },
    });
    home.raw_hook("opencode", "chat.message", message.to_string().as_bytes());
    server.call("ctx_history", &json!({}));
    let sessions = stats(&home)["sessions"].clone();
    assert_eq!(sessions.as_array().unwrap().len(), 1, "{sessions}");
    assert_eq!((&sessions[0]["client"], &sessions[0]["session"]), (&json!("opencode"), &json!("ses_1")), "{sessions}");
}
