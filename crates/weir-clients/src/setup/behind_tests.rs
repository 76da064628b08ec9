//! Tests how servers are read, taken out of settings and put back, from text to text.

use expect_test::{Expect, expect};
use serde_json::{Value, json};

use super::{ServerLaunch, movable};
use crate::recipe as find;

const PROGRAM: &str = "/usr/local/bin/weir";

/// Takes `git` out of the settings of a client, compares, and expects the old settings once it is put back.
fn check(client: &str, text: &str, expected: Expect) {
    let recipe = find(client).unwrap();
    let part = recipe.servers_part().unwrap();
    let (changed, taken) = part.take_server(recipe, text, ("git", PROGRAM)).unwrap();
    expected.assert_eq(&changed);
    assert_eq!(part.return_server(recipe, &changed, &taken).unwrap(), text);
}

#[test]
fn a_client_that_defers_keeps_the_rest_of_its_entry() {
    check(
        "claude",
        "{\n  \"mcpServers\": {\n    \"git\": {\n      \"type\": \"http\", // mine\n      \"url\": \"https://x.y\",\n      \"headers\": { \"A\": \"b\" },\n      \"timeout\": 9\n    },\n    \"z\": {}\n  }\n}\n",
        expect![[r#"
            {
              "mcpServers": {
                "git": {
                  "timeout": 9,
                  "command": "/usr/local/bin/weir",
                  "args": ["mcp", "--server", "git"]
                },
                "z": {}
              }
            }
        "#]],
    );
    check(
        "qwen",
        "{ \"mcpServers\": { \"git\": { \"command\": \"uvx\", \"args\": [\"mcp-server-git\"], \"trust\": true } } }",
        expect![[
            r#"{ "mcpServers": { "git": { "command": "/usr/local/bin/weir", "args": ["mcp", "--server", "git"], "trust": true } } }"#
        ]],
    );
}

#[test]
fn a_table_keeps_its_comments_and_its_other_keys() {
    check(
        "codex",
        "# mine\n[mcp_servers.git] # here\ncommand = \"uvx\" # why\nargs = [\n  \"mcp-server-git\",\n]\nenv.A = \"1\"\nstartup_timeout_sec = 20\n\n[tui]\nx = 1\n",
        expect![[r#"
            # mine
            [mcp_servers.git] # here
            command = "/usr/local/bin/weir"
            args = ["mcp", "--server", "git"]
            startup_timeout_sec = 20

            [tui]
            x = 1
        "#]],
    );
}

#[test]
fn a_client_that_does_not_defer_loses_the_entry() {
    check(
        "gemini",
        "{\n  \"mcpServers\": {\n    \"a\": {}, // first\n    \"git\": { /* mine */ \"command\": \"uvx\" }\n  }\n}\n",
        expect![[r#"
            {
              "mcpServers": {
                "a": {} // first
              }
            }
        "#]],
    );
}

#[test]
fn what_is_not_a_table_of_its_own_is_left() {
    let codex = find("codex").unwrap();
    for text in [
        "mcp_servers.git.command = \"x\"\n",
        "[mcp_servers]\ngit = { command = \"x\" }\n",
        "[mcp_servers.git.env]\nA = \"1\"\n",
        "",
    ] {
        let taken = codex.servers_part().unwrap().take_server(codex, text, ("git", PROGRAM));
        assert_eq!(taken.unwrap_err().why, "it is not a table of its own", "{text}");
    }
}

#[test]
fn a_server_is_read_as_its_client_writes_it() {
    let read =
        |client: &str, entry: Value| movable(find(client).unwrap(), "{}", ("git", &entry)).map(|found| found.launch);
    let program = |words: &[&str], variables: &[(&str, &str)]| ServerLaunch::Program {
        words: words.iter().map(|word| (*word).to_owned()).collect(),
        variables: variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        folder: None,
    };
    for (client, entry, expected) in [
        ("cursor", json!({ "command": "x", "args": ["y"], "env": { "A": "b" } }), program(&["x", "y"], &[("A", "b")])),
        (
            "opencode",
            json!({ "type": "local", "command": ["x", "y"], "environment": { "A": "b" } }),
            program(&["x", "y"], &[("A", "b")]),
        ),
        ("cursor", json!({ "command": "x", "env": { "A": "$b" } }), program(&["x"], &[("A", "$b")])),
    ] {
        assert!(read(client, entry.clone()) == Ok(expected), "{client} {entry}");
    }
    for (client, entry) in [
        ("gemini", json!({ "httpUrl": "https://x.y" })),
        ("gemini", json!({ "url": "https://x.y" })),
        ("windsurf", json!({ "serverUrl": "https://x.y" })),
        ("cline", json!({ "type": "streamableHttp", "url": "https://x.y" })),
        ("opencode", json!({ "type": "remote", "url": "https://x.y", "enabled": true })),
    ] {
        let address = ServerLaunch::Address { url: "https://x.y".to_owned(), headers: Vec::new() };
        assert!(read(client, entry.clone()) == Ok(address), "{client} {entry}");
    }
    for (client, entry) in
        [("cline", json!({ "url": "https://x.y" })), ("gemini", json!({ "command": "x", "env": { "A": "$b" } }))]
    {
        assert!(read(client, entry.clone()).is_err(), "{client} {entry}");
    }
}
