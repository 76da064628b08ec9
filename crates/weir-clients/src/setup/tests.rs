//! Tests every part of every client on files as users have them, from text to text.

use expect_test::expect;
use weir_check::Checked;

use super::{Call, EntryContent, Part, Recipe};
use crate::{RECIPES, recipe as find};

const PROGRAM: &str = "/usr/local/bin/weir";

/// JSON files of every sort in which nothing is ours.
const JSON: &[&str] = &[
    "",
    "\n",
    "{}",
    "{}\n",
    "{ }",
    "\u{feff}{\r\n  \"theme\": \"dark\"\r\n}\r\n",
    "{\"theme\":\"dark\",\"mcpServers\":{\"other\":{\"command\":\"other\"}},\"servers\":{},\"mcp\":{\"x\":{}}}",
    "// mine\n{\n\t// tabs\n\t\"theme\": \"dark\", // why not\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{ \"hooks\": [ { \"type\": \"command\", \
     \"command\": \"say done\" } ] },\n\t\t],\n\t\t/* empty */ \"SessionStart\": [],\n\t},\n}",
    "{\n    \"version\": 1,\n    \"hooks\": {\"stop\": [{\"command\": \"weird hook\"}], \"sessionStart\": [{\"bash\": \
     \"true\"}]},\n\n    \"context_servers\": {\n        // none yet\n    }\n}\n",
];

const TOML: &[&str] = &[
    "",
    "model = \"x\"",
    "\u{feff}model = \"x\"\r\n\r\n# mine\r\n[mcp_servers.other] # why not\r\ncommand = \"other\"\r\n",
    "[mcp_servers]\n[mcp_servers.other]\ncommand = '''\n[mcp_servers.weir]\n'''\n\n\n# the end\n",
    "mcp_servers.other.command = \"x\"\n",
];

fn call(recipe: &Recipe) -> Call<'static> {
    Call { program: PROGRAM, client: recipe.name }
}

fn samples(part: &Part) -> &'static [&'static str] {
    match part.what {
        EntryContent::ServerTable(_) => TOML,
        EntryContent::Plugin(_) => &[""],
        _ => JSON,
    }
}

/// Checks each part of each client with each text that it may find.
fn each(check: impl Fn(&Recipe, &Part, &str)) {
    for recipe in RECIPES {
        for part in recipe.parts {
            samples(part).iter().for_each(|text| check(recipe, part, text));
        }
    }
}

#[test]
fn to_add_twice_is_to_add_once() {
    each(|recipe, part, text| {
        let once = part.add(text, call(recipe)).unwrap();
        assert_ne!(once, *text, "{}", recipe.name);
        assert_eq!(part.add(&once, call(recipe)).unwrap(), once, "{} {text:?}", recipe.name);
    });
}

#[test]
fn an_older_place_of_our_program_is_replaced() {
    each(|recipe, part, text| {
        let older = Call { program: "/opt/old \"one\"/weir", client: recipe.name };
        let older = part.add(text, older).unwrap();
        let newer = part.add(text, call(recipe)).unwrap();
        assert_eq!(part.add(&older, call(recipe)).unwrap(), newer, "{} {text:?}", recipe.name);
    });
}

/// Returns what a text says, without layout and without anything that has no meaning: trailing commas, empty lists and
/// objects, the version of a format.
fn said(text: &str) -> String {
    let mut said: String = text.chars().filter(|c| !c.is_whitespace() && *c != '\u{feff}').collect();
    let nothing =
        ["\"version\":1,", "\"servers\":{},", "/*empty*/\"SessionStart\":[],", "/*empty*/\"SessionStart\":[]"];
    nothing.iter().for_each(|nothing| said = said.replace(nothing, ""));
    said = said.replace(",}", "}").replace(",]", "]").replace("{\"version\":1}", "{}");
    if said == "{}" { String::new() } else { said }
}

#[test]
fn what_is_removed_is_ours_alone() {
    each(|recipe, part, text| {
        let removed = part.remove(&part.add(text, call(recipe)).unwrap()).unwrap();
        assert_eq!(said(&removed), said(text), "{} {text:?}", recipe.name);
        assert_eq!(part.remove(&removed).unwrap(), removed);
    });
}

#[test]
fn a_table_between_ours_stays() {
    let codex = &find("codex").unwrap().parts[1];
    let ours = |more: &str| format!("[mcp_servers.weir]\ncommand = \"/usr/bin/weir\"\nenv.A = \"1\"\n{more}");
    let inner = "[mcp_servers.weir.tools.ctx_get] # allowed\napproval_mode = \"approve\"\n";
    let theirs = "model = \"x\"\n\n# mine\n[tui]\nnotifications = true\n";
    let scattered = theirs.replacen("# mine", &format!("{}\n# mine", ours("")), 1) + "\n" + inner;
    assert_eq!(codex.remove(&scattered).unwrap(), theirs);
    assert_eq!(codex.remove(&format!("{theirs}\n{}", ours(&format!("\n{inner}")))).unwrap(), theirs);
}

#[test]
fn what_is_not_there_is_not_removed() {
    each(|recipe, part, text| assert_eq!(part.remove(text).unwrap(), *text, "{}", recipe.name));
}

#[test]
fn a_file_that_cannot_be_read_is_named_with_its_line() {
    let broken = ["{\n  \"a\": \n}", "{\n 'a': 1}", "[1]", "{\"hooks\": 3, \"mcpServers\": [], \"servers\": 1}"];
    for text in broken {
        for part in find("claude").unwrap().parts {
            assert!(part.add(text, call(find("claude").unwrap())).is_err(), "{text}");
        }
    }
    let claude = &find("claude").unwrap().parts[0];
    let error = |text: &str| claude.add(text, call(find("claude").unwrap())).unwrap_err().to_string();
    expect!["line 3: it is not JSON: Unexpected close brace"].assert_eq(&error(broken[0]));
    expect!["it is not an object"].assert_eq(&error(broken[2]));
    expect!["`hooks` is not an object"].assert_eq(&error(broken[3]));
    // The client reads the last one.
    expect!["it has `hooks` twice"].assert_eq(&error("{\"hooks\": {}, \"hooks\": {}}"));
    expect!["it has `Stop` twice"].assert_eq(&error("{\"hooks\": {\"Stop\": [], \"Stop\": []}}"));
    let codex = &find("codex").unwrap().parts[1];
    let error = |text: &str| codex.add(text, call(find("codex").unwrap())).unwrap_err().to_string();
    expect!["line 2: it is not TOML: unclosed table, expected `]`"].assert_eq(&error("a = 1\n[b"));
    expect![[r#"`mcp_servers` is not a table of its own; write `weir = { command = "/usr/local/bin/weir", args = ["mcp"] }` into it"#]]
        .assert_eq(&error("mcp_servers = {}"));
    expect!["it has a server `weir` that is not ours"].assert_eq(&error("[mcp_servers.weir]\ncommand = \"docker\"\n"));
}

#[test]
fn what_the_user_changed_in_our_entries_stays() {
    let claude = find("claude").unwrap();
    let server =
        "{\"mcpServers\": {\"weir\": {\"command\": \"weir\", \"args\": [\"mcp\"], \"env\": {\"WEIR_WORK\": \"x\"}}}}";
    assert_eq!(
        claude.parts[1].add(server, call(claude)).unwrap(),
        server.replace("\"weir\", \"args\"", "\"/usr/local/bin/weir\", \"args\"")
    );
    let hooks = claude.parts[0].add("", call(claude)).unwrap().replace("\"timeout\": 10", "\"timeout\": 3");
    assert_eq!(claude.parts[0].add(&hooks, call(claude)).unwrap(), hooks);
}

fn check(name: &str, part: usize, text: &str) -> Checked {
    let recipe = find(name).unwrap();
    Checked(recipe.parts[part].add(text, call(recipe)).unwrap())
}

#[test]
fn claude_code_has_servers_by_command_and_arguments() {
    check("claude", 1, "").shows(&expect![[r#"
        {
          "mcpServers": {
            "weir": {
              "command": "/usr/local/bin/weir",
              "args": ["mcp"]
            }
          }
        }
    "#]]);
}

#[test]
fn codex_has_servers_as_tables() {
    check("codex", 1, "model = \"x\"\n").shows(&expect![[r#"
        model = "x"

        [mcp_servers.weir]
        command = "/usr/local/bin/weir"
        args = ["mcp"]
    "#]]);
}

#[test]
fn opencode_has_a_command_as_a_list() {
    check("opencode", 1, "").shows(&expect![[r#"
        {
          "mcp": {
            "weir": {
              "type": "local",
              "command": ["/usr/local/bin/weir", "mcp"],
              "enabled": true
            }
          }
        }
    "#]]);
}

#[test]
fn copilot_names_the_tools_of_a_server() {
    check("copilot", 1, "").shows(&expect![[r#"
        {
          "mcpServers": {
            "weir": {
              "type": "local",
              "command": "/usr/local/bin/weir",
              "args": ["mcp"],
              "tools": ["*"]
            }
          }
        }
    "#]]);
}

#[test]
fn vs_code_calls_them_servers() {
    check("vscode", 1, "").shows(&expect![[r#"
        {
          "servers": {
            "weir": {
              "type": "stdio",
              "command": "/usr/local/bin/weir",
              "args": ["mcp"]
            }
          }
        }
    "#]]);
}

#[test]
fn zed_keeps_its_comments() {
    check("zed", 0, "// mine\n{\n  \"theme\": \"One\", // dark\n}\n").shows(&expect![[r#"
        // mine
        {
          "theme": "One", // dark
          "context_servers": {
            "weir": {
              "command": "/usr/local/bin/weir",
              "args": ["mcp"]
            }
          },
        }
    "#]]);
}

#[test]
fn amp_has_dots_in_its_keys() {
    check("amp", 0, "").shows(&expect![[r#"
        {
          "amp.mcpServers": {
            "weir": {
              "command": "/usr/local/bin/weir",
              "args": ["mcp"]
            }
          }
        }
    "#]]);
}

#[test]
fn kilo_code_is_like_opencode() {
    check("kilo", 0, "").shows(&expect![[r#"
        {
          "mcp": {
            "weir": {
              "type": "local",
              "command": ["/usr/local/bin/weir", "mcp"],
              "enabled": true
            }
          }
        }
    "#]]);
}

#[test]
fn cursor_has_hooks_without_groups() {
    check("cursor", 0, "").shows(&expect![[r#"
        {
          "version": 1,
          "hooks": {
            "sessionStart": [
              {
                "command": "\"/usr/local/bin/weir\" hook cursor sessionStart",
                "timeout": 10
              }
            ],
            "beforeSubmitPrompt": [
              {
                "command": "\"/usr/local/bin/weir\" hook cursor beforeSubmitPrompt",
                "timeout": 10
              }
            ],
            "postToolUse": [
              {
                "command": "\"/usr/local/bin/weir\" hook cursor postToolUse",
                "timeout": 10
              }
            ],
            "postToolUseFailure": [
              {
                "command": "\"/usr/local/bin/weir\" hook cursor postToolUseFailure",
                "timeout": 10
              }
            ],
            "preCompact": [
              {
                "command": "\"/usr/local/bin/weir\" hook cursor preCompact",
                "timeout": 10
              }
            ],
            "subagentStop": [
              {
                "command": "\"/usr/local/bin/weir\" hook cursor subagentStop",
                "timeout": 10
              }
            ],
            "afterAgentResponse": [
              {
                "command": "\"/usr/local/bin/weir\" hook cursor afterAgentResponse",
                "timeout": 10
              }
            ],
            "sessionEnd": [
              {
                "command": "\"/usr/local/bin/weir\" hook cursor sessionEnd",
                "timeout": 10
              }
            ]
          }
        }
    "#]]);
}

#[test]
fn hooks_of_others_stay_before_ours() {
    let gemini = find("gemini").unwrap();
    let theirs = "{\"hooks\": {\"AfterTool\": [{\"matcher\": \"x\", \"hooks\": []}]}}\n";
    let added = gemini.parts[0].add(theirs, call(gemini)).unwrap();
    let first: Vec<&str> = added.lines().take(11).collect();
    expect![[r#"
        {"hooks": {
            "AfterTool": [{"matcher": "x", "hooks": []},
              {
                "hooks": [
                  {
                    "type": "command",
                    "command": "\"/usr/local/bin/weir\" hook gemini AfterTool",
                    "timeout": 10000
                  }
                ]
              }],"#]]
    .assert_eq(&first.join("\n"));
}

#[test]
fn other_clients_have_the_form_of_claude_code() {
    let claude = find("claude").unwrap();
    let plain = claude.parts[1].add("", call(claude)).unwrap();
    for name in ["windsurf", "cline", "kiro", "jetbrains", "antigravity", "cursor", "gemini", "qwen"] {
        let server =
            find(name).unwrap().parts.iter().find(|part| matches!(part.what, EntryContent::Server(..))).unwrap();
        assert_eq!(server.add("", call(find(name).unwrap())).unwrap(), plain, "{name}");
    }
}

#[test]
fn plugins_have_the_hooks_that_setup_writes() {
    let files = [
        ("claude", include_str!("../../../../plugins/weir/hooks/hooks.json")),
        ("codex", include_str!("../../../../plugins/weir/hooks/codex.json")),
        ("copilot", include_str!("../../../../plugins/weir/hooks/copilot.json")),
        ("qwen", include_str!("../../../../plugins/weir/hooks/qwen.json")),
        ("gemini", include_str!("../../../../plugins/gemini/hooks/hooks.json")),
    ];
    for (name, packed) in files {
        let recipe = find(name).unwrap();
        let hooks = recipe.parts.iter().find(|part| matches!(part.what, EntryContent::Hooks(_))).unwrap();
        let written = hooks.add("", Call { program: "weir", client: name }).unwrap();
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(value(packed), value(&written), "{name}");
    }
}

/// The file at the root is found by the name of the repository, the one in `plugins` by a path.
#[test]
fn both_marketplaces_offer_the_same_plugin() {
    let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    let mut root = value(include_str!("../../../../.claude-plugin/marketplace.json"));
    let inner = value(include_str!("../../../../plugins/.claude-plugin/marketplace.json"));
    let plugin = value(include_str!("../../../../plugins/weir/.claude-plugin/plugin.json"));
    assert_eq!(root["plugins"][0]["source"], "./plugins/weir");
    root["plugins"][0]["source"] = inner["plugins"][0]["source"].clone();
    assert_eq!(root, inner);
    for key in ["name", "version", "description"] {
        assert_eq!(root["plugins"][0][key], plugin[key], "{key}");
    }
}
