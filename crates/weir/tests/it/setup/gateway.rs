//! Servers of clients behind Weir: `weir setup --gateway`, back with `weir teardown`, and `weir servers`.

use std::path::PathBuf;

use serde_json::{Value, json};
use weir_clients::RECIPES;
use weir_clients::setup::{EntryContent, Recipe};

use crate::support::{Home, text, write};

const SECRET: &str = "s3cret-value-of-a-variable";

/// Returns an entry as a client writes it.
fn entry(recipe: &Recipe, program: &str) -> Value {
    let variables = recipe.servers.variables;
    match recipe.servers.variables {
        "environment" => json!({ "type": "local", "command": [program, "--stdio"], variables: { "TOKEN": SECRET } }),
        _ => json!({ "command": program, "args": ["--stdio"], variables: { "TOKEN": SECRET } }),
    }
}

/// Returns settings with the servers `first`, `git` and `last`, and `odd` with a key that Weir does not know.
fn settings(recipe: &Recipe) -> String {
    if let EntryContent::ServerTable(_) = recipe.servers_part().unwrap().what {
        let server = |name: &str| {
            format!(
                "# {name}\n[mcp_servers.{name}] # here\ncommand = \"{name}-mcp\" # why\nargs = [\"--stdio\"]\ntool_timeout_sec = 9\n\
                 \n[mcp_servers.{name}.env]\nTOKEN = \"{SECRET}\"\n\n"
            )
        };
        let odd = "[mcp_servers.odd]\ncommand = \"odd-mcp\"\nunheard_of = 1\n";
        return format!(
            "model = \"x\"\n\n{}[tui]\nnotifications = true\n\n{}{}{odd}",
            server("git"),
            server("first"),
            server("last")
        );
    }
    let EntryContent::Server(at, _) = recipe.servers_part().unwrap().what else { unreachable!() };
    let one = |name: &str| {
        let text = serde_json::to_string_pretty(&entry(recipe, &format!("{name}-mcp"))).unwrap();
        format!("    \"{name}\": {},", text.replacen("{\n", "{ // of mine\n", 1).replace('\n', "\n    "))
    };
    let odd = "    \"odd\": { \"command\": \"odd-mcp\", \"unheardOf\": 1 }, // odd";
    let servers = format!("{{\n    // All of them.\n{}\n{}\n{}\n{odd}\n  }}", one("first"), one("git"), one("last"));
    let outer = |inner: String, key: &&str| format!("{{ \"{key}\": {inner} }}");
    let (key, inner) = (at[0], at[1..].iter().rev().fold(servers, outer));
    format!("// My settings.\n{{\n  \"theme\": \"dark\", /* yes */\n  \"{key}\": {inner},\n  \"version\": 1\n}}\n")
}

fn path(home: &Home, recipe: &Recipe) -> PathBuf {
    home.path_of(recipe.servers_part().unwrap())
}

fn all() -> impl Iterator<Item = &'static &'static Recipe> {
    RECIPES.iter().filter(|recipe| recipe.servers_part().is_some())
}

fn known(home: &Home) -> Value {
    let text = std::fs::read_to_string(home.at(".config/weir/servers.json")).unwrap_or_else(|_| "{}".to_owned());
    serde_json::from_str(&text).unwrap()
}

#[test]
fn servers_move_behind_weir_and_come_back_byte_for_byte() {
    let mut kept = Vec::new();
    for recipe in all() {
        let text = settings(recipe);
        for text in [text.clone(), text.replace('\n', "\r\n"), format!("\u{feff}{}", text.trim_end())] {
            let home = Home::new();
            let file = path(&home, recipe);
            write(&file, &text);
            let project = home.project().join("mcp.json");
            write(&project, &text);
            let before = home.all();
            let said = home.ok(&["setup", recipe.name, "--yes", "--gateway"]);
            assert!(said.contains("odd stays in") && said.contains("unheard"), "{}: {said}", recipe.name);
            let entries = known(&home);
            for name in ["first", "git", "last"] {
                let entry = &entries["servers"][name];
                assert_eq!(entry["command"], format!("{name}-mcp"), "{}: {entries}", recipe.name);
                assert_eq!((&entry["args"], &entry["env"]["TOKEN"]), (&json!(["--stdio"]), &json!(SECRET)));
                assert_eq!(entry["clients"], json!([recipe.name]));
            }
            assert!(entries["servers"]["odd"].is_null());
            let once = home.all();
            let now = std::fs::read_to_string(&file).unwrap();
            assert!(!now.contains("git-mcp") && now.contains("odd-mcp"), "{}: {now}", recipe.name);
            assert_eq!(now.contains("--server"), recipe.keeps_entries(), "{}: {now}", recipe.name);
            if recipe.keeps_entries() {
                kept.push(recipe.name);
            }
            home.ok(&["setup", recipe.name, "--yes"]);
            home.ok(&["setup", recipe.name, "--yes", "--gateway"]);
            home.ok(&["setup", recipe.name, "--yes", "--gateway", "git"]);
            assert_eq!(home.all(), once, "{}: twice", recipe.name);
            home.ok(&["teardown", recipe.name, "--yes"]);
            assert_eq!(home.all(), before, "{}: back", recipe.name);
        }
    }
    kept.dedup();
    assert_eq!(kept, ["claude", "codex", "qwen"]);
}

#[test]
fn servers_come_back_into_settings_that_were_edited() {
    for recipe in all() {
        let home = Home::new();
        let file = path(&home, recipe);
        write(&file, settings(recipe));
        home.ok(&["setup", recipe.name, "--yes", "--gateway", "git"]);
        let text = std::fs::read_to_string(&file).unwrap();
        let edited = match text.contains("\"theme\"") {
            true => text.replacen("\"theme\"", "\"added\": true,\n  \"theme\"", 1),
            false => text.replacen("model = ", "added = true\nmodel = ", 1),
        };
        write(&file, edited);
        // More of them move from the edited settings.
        home.ok(&["setup", recipe.name, "--yes", "--gateway", "last"]);
        let said = home.ok(&["teardown", recipe.name, "--yes"]);
        let text = std::fs::read_to_string(&file).unwrap();
        let marks = ["git-mcp", "last-mcp", "first-mcp", "odd-mcp", "added", SECRET];
        marks.iter().for_each(|mark| assert!(text.contains(mark), "{} {mark}: {text}\n{said}", recipe.name));
        assert!(!text.contains("weir"), "{}: {text}", recipe.name);
        if text.contains("theme") {
            assert_eq!(text.matches("// of mine").count(), 3, "{}: {text}", recipe.name);
        }
        assert_eq!(known(&home), json!({}), "{}", recipe.name);
    }
}

#[test]
fn an_entry_that_was_changed_or_removed_since_stays_so() {
    let home = Home::new();
    let file = home.at(".claude.json");
    let server = |program: &str| json!({ "command": program, "args": ["x"], "env": { "A": "b" } });
    write(
        &file,
        json!({ "mcpServers": { "a": server("a-mcp"), "b": server("b-mcp"), "c": server("c-mcp") } }).to_string(),
    );
    home.ok(&["setup", "claude", "--yes", "--gateway"]);
    let mut now: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let servers = now["mcpServers"].as_object_mut().unwrap();
    servers.remove("a");
    servers["b"] = json!({ "command": "other" });
    servers["c"]["timeout"] = json!(5);
    write(&file, now.to_string());
    home.ok(&["teardown", "claude", "--yes"]);
    let now: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let mut changed = server("c-mcp");
    changed["timeout"] = json!(5);
    assert_eq!(now, json!({ "mcpServers": { "b": { "command": "other" }, "c": changed } }));
    // The user has put the old file back.
    home.ok(&["setup", "claude", "--yes", "--gateway"]);
    write(&file, now.to_string());
    std::fs::remove_dir_all(home.at(".claude")).unwrap();
    home.ok(&["teardown", "claude", "--yes"]);
    assert_eq!((known(&home), std::fs::read_to_string(&file).unwrap()), (json!({}), now.to_string()));
}

#[test]
fn what_weir_cannot_stand_in_front_of_stays_with_a_reason() {
    let reasons = [
        ("gemini", json!({ "command": "x", "disabled": true }), "it is disabled"),
        ("gemini", json!({ "command": "x", "env": { "T": "$TOKEN" } }), "the client fills in variables"),
        ("cursor", json!({ "command": "x", "env": { "T": "${env:TOKEN}" } }), "the client fills in variables"),
        ("claude", json!({ "type": "sse", "url": "https://x.y/mcp" }), "it speaks SSE"),
        ("qwen", json!({ "url": "https://x.y/mcp" }), "it speaks SSE"),
        ("claude", json!({ "type": "http", "url": "https://x.y/sse" }), "it speaks SSE"),
        ("claude", json!({ "type": "ws", "url": "https://x.y/mcp" }), "Weir does not know its type"),
        ("claude", json!({ "command": "x", "headersHelper": "y" }), "Weir does not know its setting `headersHelper`"),
        ("gemini", json!({ "command": "x", "includeTools": [] }), "cannot take over its rule `includeTools`"),
        ("copilot", json!({ "command": "x", "args": [1] }), "its arguments are not texts"),
        ("copilot", json!({}), "neither a command nor an address"),
    ];
    for (client, entry, reason) in reasons {
        let home = Home::new();
        let recipe = weir_clients::recipe(client).unwrap();
        write(&path(&home, recipe), json!({ "mcpServers": { "it": entry } }).to_string());
        let said = home.ok(&["setup", client, "--yes", "--gateway"]);
        assert!(said.contains(&format!("it stays in {}: ", recipe.title)) && said.contains(reason), "{entry}: {said}");
        assert_eq!(known(&home), json!({}));
    }
    let home = Home::new();
    write(&home.at(".gemini/settings.json"), json!({ "mcpServers": { "Off": { "command": "x" } } }).to_string());
    write(&home.at(".gemini/mcp-server-enablement.json"), json!({ "off": { "enabled": false } }).to_string());
    let said = home.ok(&["setup", "gemini", "--yes", "--gateway"]);
    assert!(said.contains("Off stays in Gemini CLI: it is disabled"), "{said}");
}

#[test]
fn a_name_that_is_none_is_shown_and_never_used() {
    let evil = ["../../x", "a\u{1b}[2J", "a__b", "a b", "", "ä", "x\n  git moves", "a.b"];
    for name in evil {
        let home = Home::new();
        write(&home.at(".gemini/settings.json"), json!({ "mcpServers": { name: { "command": "x" } } }).to_string());
        let before = home.all().len();
        let said = home.ok(&["setup", "gemini", "--yes", "--gateway"]);
        assert!(said.contains("its name is used in names of tools"), "{name:?}: {said}");
        assert!(!said.contains('\u{1b}') && !said.contains("\n  git moves"), "{said:?}");
        assert_eq!((known(&home), home.all().len()), (json!({}), before));
    }
}

/// Moves the server `hub` of a client. Returns Weir's entry, and what setup said.
fn moved(client: &str, settings: &Value) -> (Value, String) {
    let home = Home::new();
    write(&path(&home, weir_clients::recipe(client).unwrap()), settings.to_string());
    let said = home.ok(&["setup", client, "--yes", "--gateway"]);
    (known(&home)["servers"]["hub"].clone(), said)
}

/// Returns settings of OpenCode with the server `hub` and these rules.
fn opencode(rules: &Value) -> Value {
    let mut settings = json!({ "mcp": { "hub": { "type": "local", "command": ["hub_x"] } } });
    settings.as_object_mut().unwrap().extend(rules.as_object().unwrap().clone());
    settings
}

#[test]
fn rules_move_with_their_server_and_nothing_becomes_wider() {
    let lists = |entry: &Value| {
        let of = |key: &str| {
            entry[key].as_array().into_iter().flatten().filter_map(Value::as_str).collect::<Vec<_>>().join(" ")
        };
        (of("only"), of("allow"), of("deny"))
    };
    let gemini = |more: Value| {
        let mut entry = json!({ "command": "x", "timeout": 90_500 });
        entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({ "mcpServers": { "hub": entry } })
    };
    let (entry, said) = moved("gemini", &gemini(json!({ "trust": true, "excludeTools": ["drop"] })));
    assert_eq!((lists(&entry), &entry["timeout"]), ((String::new(), "*".into(), "drop".into()), &json!(91)));
    assert!(said.contains("trust: true") && said.contains("calls of its tools are not asked about"), "{said}");
    let (entry, _) = moved("gemini", &gemini(json!({ "trust": false, "includeTools": ["get"] })));
    assert_eq!(lists(&entry), ("get".into(), String::new(), String::new()));
    let (entry, _) = moved("copilot", &json!({ "mcpServers": { "hub": { "command": "x", "tools": ["*"] } } }));
    assert_eq!(lists(&entry), Default::default());
    let (entry, _) = moved(
        "kiro",
        &json!({ "mcpServers": { "hub": { "command": "x", "autoApprove": ["get"], "disabledTools": ["drop"] } } }),
    );
    assert_eq!(lists(&entry), (String::new(), "get".into(), "drop".into()));
    for (rules, allow, deny) in [
        (json!({ "permission": { "hub_*": "deny", "hub_get": "allow" } }), "get", "*"),
        (json!({ "permission": { "hub_get": "deny", "hub_*": "allow" } }), "*", ""),
        (json!({ "permission": { "*": "ask", "bash": "allow", "hub_get_*": "allow" } }), "", ""),
        (json!({ "tools": { "hub_drop": false }, "permission": { "hub_get": "allow" } }), "get", "drop"),
    ] {
        let (entry, _) = moved("opencode", &opencode(&rules));
        assert_eq!(lists(&entry), (String::new(), allow.into(), deny.into()), "{rules}");
    }
}

#[test]
fn a_rule_that_weir_cannot_follow_keeps_its_server() {
    for (client, settings) in [
        ("opencode", opencode(&json!({ "permission": { "hub_*": "ask" } }))),
        ("opencode", opencode(&json!({ "permission": { "hub_drop_*": "deny" } }))),
        ("opencode", opencode(&json!({ "permission": { "*_drop": "deny" } }))),
        ("opencode", opencode(&json!({ "permission": { "h*": "ask" } }))),
        ("opencode", opencode(&json!({ "permission": { "*": "ask", "weir_*": "allow" } }))),
        ("opencode", opencode(&json!({ "tools": { "hub*": false } }))),
        ("opencode", opencode(&json!({ "agent": { "plan": { "tools": { "hub_*": false } } } }))),
        ("gemini", json!({ "mcp": { "excluded": ["hub"] }, "mcpServers": { "hub": { "command": "x" } } })),
        ("gemini", json!({ "tools": { "exclude": ["mcp_hub_drop"] }, "mcpServers": { "hub": { "command": "x" } } })),
        (
            "zed",
            json!({ "context_servers": { "hub": { "command": "x" } }, "agent": { "tool_permissions": { "tools": { "mcp:hub:drop": {} } } } }),
        ),
        (
            "amp",
            json!({ "amp.mcpServers": { "hub": { "command": "x" } }, "amp.permissions": [{ "tool": "mcp__hub__*", "action": "ask" }] }),
        ),
    ] {
        let (entry, said) = moved(client, &settings);
        assert!(entry.is_null() && said.contains("hub stays in"), "{settings}: {said}");
    }
}

#[test]
fn two_clients_share_a_server_only_if_it_is_the_same() {
    let home = Home::new();
    let settings = |program: &str| json!({ "mcpServers": { "hub": { "command": program } } }).to_string();
    write(&home.at(".gemini/settings.json"), settings("one"));
    write(&home.at(".cursor/mcp.json"), settings("one"));
    write(&home.at(".claude.json"), settings("two"));
    let before = home.all();
    let said = home.ok(&["setup", "gemini", "cursor", "claude", "--yes", "--gateway"]);
    assert!(said.contains("hub stays in Cursor: ") || said.contains("hub stays in Claude Code: "), "{said}");
    assert!(said.contains("another server or other rules under this name"), "{said}");
    home.ok(&["teardown", "--yes"]);
    assert_eq!(home.all(), before);
    home.ok(&["setup", "gemini", "cursor", "--yes", "--gateway"]);
    assert_eq!(known(&home)["servers"]["hub"]["clients"], json!(["gemini", "cursor"]));
    home.ok(&["teardown", "gemini", "--yes"]);
    assert_eq!(known(&home)["servers"]["hub"]["clients"], json!(["cursor"]));
    home.ok(&["teardown", "--yes"]);
    assert_eq!(home.all(), before);
    let unknown = home.weir(&["setup", "gemini", "--yes", "--gateway", "absent"]);
    assert!(text(&unknown.stderr).contains("no client has a server `absent`"), "{unknown:?}");
    assert_eq!((unknown.status.code(), home.all()), (Some(2), before));
}

#[test]
fn an_address_moves_with_its_headers() {
    let home = Home::new();
    let of = |entry: Value| json!({ "mcpServers": { "hub": entry } }).to_string();
    let headers = json!({ "Authorization": SECRET });
    write(&home.at(".gemini/settings.json"), of(json!({ "httpUrl": "https://x.y/a", "headers": headers })));
    write(
        &home.at(".codeium/windsurf/mcp_config.json"),
        of(json!({ "serverUrl": "https://x.y/a", "headers": headers })),
    );
    write(&home.at(".claude.json"), of(json!({ "type": "http", "url": "https://x.y/a", "headers": headers })));
    let codex = format!(
        "[mcp_servers.hub]\nurl = \"https://x.y/a\"\nhttp_headers = {{ Authorization = \"{SECRET}\" }}\nrequired = true\n"
    );
    write(&home.at(".codex/config.toml"), codex);
    let before = home.all();
    let clients = ["gemini", "windsurf", "claude", "codex"];
    home.ok(&[&["setup", "--yes"], &clients[..], &["--gateway"]].concat());
    let entry = &known(&home)["servers"]["hub"];
    assert_eq!((&entry["url"], &entry["headers"]["Authorization"]), (&json!("https://x.y/a"), &json!(SECRET)));
    assert_eq!(entry["clients"].as_array().unwrap().len(), 4, "{entry}");
    let claude: Value = serde_json::from_str(&std::fs::read_to_string(home.at(".claude.json")).unwrap()).unwrap();
    let ours = &claude["mcpServers"]["hub"];
    assert_eq!((&ours["args"], ours.as_object().unwrap().len()), (&json!(["mcp", "--server", "hub"]), 2), "{ours}");
    let codex = std::fs::read_to_string(home.at(".codex/config.toml")).unwrap();
    assert!(
        codex.contains("args = [\"mcp\", \"--server\", \"hub\"]\nrequired = true") && !codex.contains(SECRET),
        "{codex}"
    );
    home.ok(&["teardown", "--yes"]);
    assert_eq!(home.all(), before);
}

#[test]
fn no_value_is_ever_shown() {
    let home = Home::new();
    for client in ["gemini", "codex", "opencode"] {
        let recipe = weir_clients::recipe(client).unwrap();
        write(&path(&home, recipe), settings(recipe).replace("odd-mcp\"", "odd-mcp\" "));
    }
    let mut said = Vec::new();
    let clients = ["gemini", "codex", "opencode"];
    for last in [&["--dry-run", "--diff"][..], &["--dry-run", "--json"], &["--yes", "--diff"]] {
        said.push(home.ok(&[&["setup"], &clients[..], last, &["--gateway"]].concat()));
    }
    for arguments in [
        &["servers"][..],
        &["servers", "--json"],
        &["teardown", "--dry-run", "--diff"],
        &["teardown", "--dry-run", "--json"],
        &["teardown", "--yes"],
    ] {
        said.push(home.ok(arguments));
    }
    for said in said {
        assert!(!said.contains(SECRET), "{said}");
    }
}

#[cfg(unix)]
#[test]
fn settings_behind_a_link_stay_behind_it() {
    let home = Home::new();
    let (real, link) = (home.at("dotfiles/gemini.json"), home.at(".gemini/settings.json"));
    write(&real, json!({ "mcpServers": { "hub": { "command": "x" } } }).to_string());
    std::fs::create_dir(home.at(".gemini")).unwrap();
    std::os::unix::fs::symlink("../dotfiles/gemini.json", &link).unwrap();
    let before = home.all();
    home.ok(&["setup", "gemini", "--yes", "--gateway"]);
    assert!(link.is_symlink() && !std::fs::read_to_string(&real).unwrap().contains("hub"));
    home.ok(&["teardown", "gemini", "--yes"]);
    assert!(link.is_symlink());
    assert_eq!(home.all(), before);
}

#[cfg(unix)]
#[test]
fn entries_that_others_can_change_are_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let entries = json!({ "servers": { "hub": { "command": "evil" } } }).to_string();
    let home = Home::new();
    let file = home.at(".config/weir/servers.json");
    write(&file, &entries);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o666)).unwrap();
    write(&home.at(".gemini/settings.json"), json!({ "mcpServers": { "hub": { "command": "x" } } }).to_string());
    let before = home.all();
    for arguments in [&["servers"][..], &["setup", "gemini", "--yes", "--gateway"]] {
        let output = home.weir(arguments);
        assert!(text(&output.stderr).contains("another user can change it"), "{output:?}");
    }
    assert_eq!(home.all(), before);
    // A variable of a repository leads to a file of that repository.
    let home = Home::new();
    std::fs::create_dir(home.project().join(".git")).unwrap();
    write(&home.project().join(".config/weir/servers.json"), &entries);
    let mut list = home.weir_command(&["servers"]);
    let output = list.env("XDG_CONFIG_HOME", home.project().join(".config")).output().unwrap();
    assert!(!output.status.success() && text(&output.stderr).contains("it is in the project"), "{output:?}");
}

#[test]
fn a_person_adds_servers_and_rules() {
    let home = Home::new();
    let run = |arguments: &[&str]| {
        let output = home.piped(&[&["servers"], arguments].concat());
        (output.status.code(), text(&output.stdout) + &text(&output.stderr))
    };
    assert!(run(&[]).1.contains("no server is behind Weir"));
    let variable = format!("TOKEN={SECRET}");
    assert_eq!(
        run(&[
            "add",
            "hub",
            "--env",
            &variable,
            "--",
            "npx",
            "-y",
            "--api-key=sk-ant-api03-abcdefghijklmnopqrstuvwxyz",
            "hub"
        ])
        .0,
        Some(0)
    );
    let header = format!("Authorization=Bearer {SECRET}");
    assert_eq!(run(&["add", "docs", "--url", "https://x.y/mcp?key=s3cret", "--header", &header]).0, Some(0));
    assert_eq!(known(&home)["servers"]["docs"]["headers"]["Authorization"], format!("Bearer {SECRET}"));
    for arguments in
        [&["allow", "hub", "commit", "reset"][..], &["deny", "hub", "reset", "drop"], &["ask", "hub", "drop"]]
    {
        assert_eq!(run(arguments).0, Some(0), "{arguments:?}");
    }
    let (_, list) = run(&["list"]);
    for shown in [
        "hub: npx -y", "gets TOKEN", "docs: https://x.y/mcp\n", "gets Authorization", "allowed: commit\n",
        "denied: reset\n",
    ] {
        assert!(list.contains(shown), "{shown}: {list}");
    }
    assert!(!list.contains("s3cret") && !list.contains("abcdefghij"), "{list}");
    let data: Value = serde_json::from_str(&run(&["--json"]).1).unwrap();
    assert_eq!(data["servers"][1]["gets"], json!(["TOKEN"]));
    for (arguments, why) in [
        (&["add", "hub", "--", "x"][..], "there already is a server `hub`"),
        (&["add", "../x", "--", "x"], "cannot name a server"),
        (&["add", "x", "--url", "file:///x"], "not one of HTTP"),
        (&["add", "x", "--env", "s3cret", "--", "x"], "a value of --env has no name"),
        (&["add", "x"], "required"),
        (&["allow", "absent", "x"], "there is no server `absent`"),
        (&["allow", "hub", "get_*"], "is not the name of a tool"),
        (&["remove", "absent"], "there are: docs, hub"),
    ] {
        let (code, said) = run(arguments);
        assert!(code != Some(0) && said.contains(why) && !said.contains("s3cret"), "{arguments:?}: {said}");
    }
}

#[test]
fn a_client_allows_nothing_and_what_setup_moved_goes_back() {
    let home = Home::new();
    let run = |arguments: &[&str]| {
        let output = home.piped(&[&["servers"], arguments].concat());
        (output.status.code(), text(&output.stdout) + &text(&output.stderr))
    };
    assert_eq!(run(&["add", "hub", "--", "x"]).0, Some(0));
    // What a client starts may not widen anything.
    let output = home.weir(&["servers", "allow", "hub", "*"]);
    assert!(text(&output.stderr).contains("a client started this command"), "{output:?}");
    assert_eq!(home.weir(&["servers", "deny", "hub", "commit"]).status.code(), Some(0));
    // A server that setup moved is given back by teardown; those that the user added stay.
    write(&home.at(".gemini/settings.json"), json!({ "mcpServers": { "git": { "command": "x" } } }).to_string());
    home.ok(&["setup", "gemini", "--yes", "--gateway"]);
    assert!(run(&["remove", "git"]).1.contains("`weir teardown` gives it back"));
    home.ok(&["teardown", "gemini", "--yes"]);
    assert_eq!(known(&home)["servers"].as_object().unwrap().len(), 1);
    assert_eq!(run(&["remove", "hub"]).0, Some(0));
    assert!(run(&[]).1.contains("no server is behind Weir"));
}
