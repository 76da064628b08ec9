//! Setup and teardown for every client, on realistic files.

mod gateway;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use expect_test::expect;
use serde_json::{Value, json};
use weir_clients::RECIPES;
use weir_clients::setup::{Base, EntryContent, Part, Recipe, SetupScope};

use crate::support::{Home, WEIR, text, write};

/// JSON files as found in practice.
const JSON: &[(&str, Option<&str>)] = &[
    ("missing", None),
    ("empty", Some("")),
    ("a line", Some("\n")),
    ("nothing", Some("{}")),
    ("no final newline", Some("{\n  \"theme\": \"dark\"\n}")),
    ("tabs", Some("{\n\t\"theme\": \"dark\",\n\t\"hooks\": {\n\t\t\"Stop\": []\n\t}\n}\n")),
    ("a mark and CRLF", Some("\u{feff}{\r\n    \"theme\": \"dark\",\r\n    \"mcpServers\": {\r\n    }\r\n}\r\n")),
    ("one line", Some("{\"theme\":\"dark\",\"mcpServers\":{\"other\":{\"command\":\"other\",\"args\":[]}}}")),
    ("odd layout", Some("\n\n  { \"a\" :1 ,\n\n\n\"b\":\n[ 1,2\n, 3]\n\n }\n\n\n")),
    (
        "comments, commas at the end, hooks of others",
        Some(
            "// My settings.\n{\n  // Dark, always.\n  \"theme\": \"dark\", /* yes */\n  \"hooks\": {\n    \"SessionStart\": [\n      {\n        \
             \"matcher\": \"startup\",\n        \"hooks\": [{ \"type\": \"command\", \"command\": \"notify start\" },],\n      },\n    ],\n    \
             \"sessionStart\": [{ \"type\": \"command\", \"bash\": \"true\" }],\n  },\n  \"mcpServers\": {\n    // Theirs.\n    \"other\": { \
             \"command\": \"npx\", \"args\": [\"-y\", \"other\"], \"env\": { \"TOKEN\": \"t\" } },\n  },\n}\n",
        ),
    ),
];

const TOML: &[(&str, Option<&str>)] = &[
    ("missing", None),
    ("empty", Some("")),
    ("no final newline", Some("model = \"x\"")),
    ("comments", Some("# Mine.\nmodel = \"x\" # good\n\n[mcp_servers.other]\ncommand = \"other\"\n\n\n# the end\n")),
    ("a mark and CRLF", Some("\u{feff}model = \"x\"\r\n\r\n[tui]\r\nnotifications = true\r\n")),
];

impl Home {
    fn path_of(&self, part: &Part) -> PathBuf {
        let base = match part.place.base {
            Base::Home => self.path().to_owned(),
            Base::Config | Base::Application => self.at(".config"),
            Base::Variable(_, folder) => self.at(folder),
            Base::Project => self.project(),
        };
        base.join(part.place.path)
    }

    /// Returns every file and folder except Weir's own, with its content.
    fn all(&self) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let mut found = BTreeMap::new();
        let mut waiting = vec![self.path().to_owned()];
        while let Some(folder) = waiting.pop() {
            for entry in std::fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.ends_with(".local") {
                    continue;
                }
                let text = path.is_file().then(|| std::fs::read(&path).unwrap());
                if text.is_none() {
                    waiting.push(path.clone());
                }
                found.insert(path, text);
            }
        }
        found
    }
}

/// Returns the names of all clients that have settings of this sort.
fn names(whose: SetupScope) -> Vec<&'static str> {
    let all = RECIPES.iter().filter(|recipe| recipe.parts_for(whose).next().is_some());
    all.map(|recipe| recipe.name).collect()
}

/// Writes a text of the matching sort to every file of a client.
fn prepare(home: &Home, recipe: &Recipe, whose: SetupScope, json: Option<&str>, toml: Option<&str>) {
    for part in recipe.parts_for(whose) {
        let text = match part.what {
            EntryContent::Plugin(_) => None,
            EntryContent::ServerTable(_) => toml,
            EntryContent::Server(..) | EntryContent::Hooks(_) => json,
        };
        if let Some(text) = text {
            write(&home.path_of(part), text);
        }
    }
}

#[test]
fn teardown_brings_back_every_byte_and_setup_twice_is_setup_once() {
    let flags = [(SetupScope::User, &["--yes"][..]), (SetupScope::Project, &["--yes", "--project"])];
    for (whose, flags) in flags {
        for (at, (name, json)) in JSON.iter().enumerate() {
            let toml = TOML[at % TOML.len()].1;
            let home = Home::new();
            RECIPES.iter().for_each(|recipe| prepare(&home, recipe, whose, *json, toml));
            let before = home.all();
            let arguments = [&names(whose)[..], flags].concat();
            home.ok(&[&["setup"], &arguments[..]].concat());
            let once = home.all();
            for part in RECIPES.iter().flat_map(|recipe| recipe.parts_for(whose)) {
                let path = home.path_of(part);
                assert_ne!(once.get(&path), before.get(&path), "{name}: {}", path.display());
            }
            home.ok(&[&["setup"], &arguments[..]].concat());
            assert_eq!(home.all(), once, "{name}: twice");
            home.ok(&[&["teardown"], &arguments[..]].concat());
            assert_eq!(home.all(), before, "{name}: back");
            assert!(!home.at(".local/share/weir/setup").exists(), "{name}: ledger");
        }
    }
}

#[test]
fn after_an_edit_what_is_ours_goes_and_what_is_theirs_stays() {
    for recipe in RECIPES {
        let home = Home::new();
        let text = JSON.last().unwrap().1;
        prepare(&home, recipe, SetupScope::User, text, None);
        home.ok(&["setup", recipe.name, "--yes"]);
        let json = recipe
            .parts_for(SetupScope::User)
            .filter(|part| !matches!(part.what, EntryContent::ServerTable(_) | EntryContent::Plugin(_)));
        let paths: Vec<PathBuf> = json.map(|part| home.path_of(part)).collect();
        for path in &paths {
            let text = std::fs::read_to_string(path).unwrap();
            if !text.contains("\"added\"") {
                std::fs::write(path, text.replacen("\"theme\"", "\"added\": true,\n  \"theme\"", 1)).unwrap();
            }
        }
        let said = home.ok(&["teardown", recipe.name, "--yes"]);
        assert!(said.contains("was changed since setup"), "{}: {said}", recipe.name);
        for path in &paths {
            let left = std::fs::read_to_string(path).unwrap();
            assert!(!left.contains("weir"), "{}: {left}", recipe.name);
            let theirs = [
                "// My settings.", "// Dark, always.", "/* yes */", "notify start", "// Theirs.", "\"TOKEN\"",
                "\"added\": true",
            ];
            theirs.iter().for_each(|mark| assert!(left.contains(mark), "{} {mark}: {left}", recipe.name));
        }
    }
}

#[test]
fn nothing_is_written_unless_somebody_says_yes() {
    let home = Home::new();
    let before = home.all();
    let output = home.weir(&["setup", "claude"]);
    let shown = text(&output.stdout);
    let points: Vec<&str> = shown.lines().take_while(|line| !line.is_empty()).collect();
    assert!(points.iter().all(|line| line.chars().count() <= 80), "{shown}");
    let labels: Vec<&str> = points.iter().filter_map(|line| line.split(' ').find(|_| !line.starts_with(' '))).collect();
    assert_eq!(labels, ["runs", "how", "stored", "changes", "undo"], "{shown}");
    assert!(shown.contains("  create ~/.claude/settings.json (Claude Code)"), "{shown}");
    assert!(!shown.contains("+++ ") && shown.contains("--diff shows each change"), "{shown}");
    let output = home.weir(&["setup", "claude", "--diff"]);
    let shown = text(&output.stdout);
    assert_eq!(output.status.code(), Some(6), "{shown}");
    assert!(shown.contains("+++ ~/.claude/settings.json") && shown.contains("hook claude SessionStart"), "{shown}");
    assert!(shown.contains("nothing was written"), "{shown}");
    home.ok(&["setup", "claude", "--dry-run"]);
    home.ok(&["setup", "claude", "--dry-run", "--yes"]);
    assert_eq!(home.all(), before);
    assert_eq!(home.weir(&["setup"]).status.code(), Some(3), "no client is here");
    assert_eq!(home.weir(&["setup", "windsurf", "--project", "--yes"]).status.code(), Some(2));
    assert_eq!(home.all(), before);
}

#[test]
fn a_file_that_is_not_json_is_named_and_nothing_is_written() {
    let home = Home::new();
    write(&home.at(".claude.json"), "{\n  \"a\": 1,\n  b\n}\n");
    let before = home.all();
    let output = home.weir(&["setup", "claude", "codex", "--yes"]);
    let said = text(&output.stderr).replace(home.path().to_str().unwrap(), "HOME");
    expect![[r#"
        error: HOME/.claude.json:3: it is not JSON: Expected string for object property
        hint: nothing was written; fix the file and run this again
    "#]]
    .assert_eq(&said);
    assert_eq!((output.status.code(), home.all()), (Some(5), before));
}

#[test]
fn clients_that_share_a_file_do_not_take_it_from_each_other() {
    let home = Home::new();
    let before = home.all();
    let servers = home.at("project/.mcp.json");
    home.ok(&["setup", "claude", "--project", "--yes"]);
    home.ok(&["setup", "copilot", "--project", "--yes"]);
    let said = home.ok(&["teardown", "claude", "--project", "--yes"]);
    assert!(said.contains("copilot uses it too") && servers.exists(), "{said}");
    home.ok(&["teardown", "--project", "--yes"]);
    assert_eq!(home.all(), before);
}

#[test]
fn a_project_names_no_path_of_this_machine() {
    let home = Home::new();
    let bin = Path::new(WEIR).parent().unwrap();
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let output = home.weir_command(&["setup", "claude", "--project", "--yes"]).env("PATH", &path).output().unwrap();
    assert!(output.status.success());
    let servers = std::fs::read_to_string(home.at("project/.mcp.json")).unwrap();
    let hooks = std::fs::read_to_string(home.at("project/.claude/settings.json")).unwrap();
    assert!(
        servers.contains("\"command\": \"weir\"") && !hooks.contains(&bin.display().to_string()),
        "{servers}{hooks}"
    );
    let settings: Value = serde_json::from_str(&hooks).unwrap();
    let stop = settings["hooks"]["Stop"][0]["hooks"][0]["command"].as_str().unwrap();
    let missing = home.command("/bin/sh", &["-c", stop]).output().unwrap();
    assert!(missing.status.success() && missing.stdout.is_empty() && missing.stderr.is_empty(), "{missing:?}");
}

#[test]
fn settings_that_a_variable_has_moved_are_found() {
    let home = Home::new();
    let folder = home.at("elsewhere");
    let run = |command: &str| {
        let mut command = home.weir_command(&[command, "claude", "--yes"]);
        let output = command.env("CLAUDE_CONFIG_DIR", &folder).output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
    };
    run("setup");
    assert!(folder.join("settings.json").exists() && folder.join(".claude.json").exists());
    assert!(!home.at(".claude").exists() && !home.at(".claude.json").exists());
    run("teardown");
    assert!(!folder.exists());
}

#[test]
fn uninstall_finds_settings_that_no_variable_names_any_more() {
    let home = Home::new();
    let folder = home.at("elsewhere");
    write(&folder.join("settings.json"), "{ \"theme\": \"dark\" }");
    let before = home.all();
    let mut setup = home.weir_command(&["setup", "claude", "--yes"]);
    assert!(setup.env("CLAUDE_CONFIG_DIR", &folder).output().unwrap().status.success());
    assert_ne!(home.all(), before);
    let said = home.ok(&["uninstall", "--yes"]);
    assert!(said.contains("restored ~/elsewhere/settings.json, byte for byte"), "{said}");
    assert_eq!(home.all(), before);
}

#[cfg(unix)]
#[test]
fn uninstall_goes_on_past_a_file_that_it_cannot_use() {
    let home = Home::new();
    home.ok(&["setup", "claude", "--project", "--yes"]);
    home.ok(&["setup", "claude", "--yes"]);
    write(&home.project().join(".gemini/settings.json"), "not JSON, and weir hook");
    std::fs::create_dir_all(home.project().join(".cursor")).unwrap();
    let (kind, mode) = (rustix::fs::FileType::Fifo, rustix::fs::Mode::from_raw_mode(0o644));
    rustix::fs::mknodat(rustix::fs::CWD, home.project().join(".cursor/mcp.json"), kind, mode, 0).unwrap();
    let plan = home.ok(&["uninstall", "--dry-run"]);
    assert!(plan.contains("left alone: ") && plan.contains("mcp.json"), "{plan}");
    let output = home.weir(&["uninstall", "--yes"]);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let left: Vec<&str> = said.lines().filter(|line| line.starts_with("✗ left alone: ")).collect();
    assert!(left.iter().any(|line| line.contains("mcp.json") && line.contains("not a regular file")), "{said}");
    assert!(!home.at(".claude.json").exists() && !home.project().join(".mcp.json").exists(), "{said}");
    let settings = home.project().join(".claude/settings.json");
    assert!(!std::fs::read_to_string(settings).is_ok_and(|text| text.contains("weir hook")), "{said}");
}

#[cfg(unix)]
#[test]
fn links_and_modes_are_kept() {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    let home = Home::new();
    let real = home.at("dotfiles/claude.json");
    write(&real, "{}");
    // Only root can give a file to another user.
    let _ = std::os::unix::fs::chown(&real, Some(1234), Some(1234));
    let owner = |path: &Path| (path.metadata().unwrap().uid(), path.metadata().unwrap().gid());
    let own = owner(&real);
    std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o640)).unwrap();
    std::fs::create_dir(home.at(".claude")).unwrap();
    let link = home.at(".claude/settings.json");
    std::os::unix::fs::symlink("../dotfiles/claude.json", &link).unwrap();
    home.ok(&["setup", "claude", "--yes"]);
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert!(link.is_symlink() && std::fs::read_to_string(&real).unwrap().contains("hook claude Stop"));
    assert_eq!((mode(&real), mode(&home.at(".claude.json"))), (0o640, 0o600));
    assert_eq!(owner(&real), own);
    home.ok(&["teardown", "claude", "--yes"]);
    assert!(link.is_symlink() && !home.at(".claude.json").exists());
    assert_eq!((std::fs::read_to_string(&real).unwrap().as_str(), mode(&real)), ("{}", 0o640));
}

#[cfg(unix)]
#[test]
fn a_read_only_file_is_refused_and_nothing_is_written() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    let settings = home.at(".claude/settings.json");
    write(&settings, "{}");
    std::fs::set_permissions(&settings, std::fs::Permissions::from_mode(0o444)).unwrap();
    let before = home.all();
    let output = home.weir(&["setup", "claude", "--yes"]);
    let said = text(&output.stderr);
    assert!(!output.status.success() && said.contains(".claude/settings.json: it is read-only"), "{said}");
    assert_eq!(home.all(), before);
}

#[cfg(unix)]
#[test]
fn a_link_of_a_repository_leads_setup_nowhere_else() {
    let own = "{ \"theme\": \"dark\" }";
    let links: [(&str, &str); 5] = [
        (".claude/settings.json", "../../.claude/settings.json"),
        (".claude/settings.json", "../../absent.json"),
        (".claude/settings.json", "absent/../../../absent.json"),
        (".claude", "../.claude"),
        (".claude", "../absent"),
    ];
    for (link, to) in links {
        let home = Home::new();
        write(&home.at(".claude/settings.json"), own);
        let link = home.project().join(link);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(to, &link).unwrap();
        let output = home.weir(&["setup", "claude", "--project", "--yes"]);
        let said = text(&output.stderr);
        assert!(said.contains("it is a link that leads out of the project"), "{to}: {said}");
        assert!(!output.status.success() && !home.project().join(".mcp.json").exists(), "{to}");
        home.ok(&["teardown", "claude", "--project", "--yes"]);
        assert_eq!(std::fs::read_to_string(home.at(".claude/settings.json")).unwrap(), own, "{to}");
        assert!(link.is_symlink() && !home.at("absent").exists() && !home.at("absent.json").exists(), "{to}");
    }
    // A link that stays in the project is kept.
    let home = Home::new();
    let real = home.project().join("shared.json");
    write(&real, own);
    std::fs::create_dir(home.project().join(".claude")).unwrap();
    std::os::unix::fs::symlink("../shared.json", home.project().join(".claude/settings.json")).unwrap();
    home.ok(&["setup", "claude", "--project", "--yes"]);
    assert!(std::fs::read_to_string(&real).unwrap().contains("hook claude Stop"));
}

#[test]
fn a_program_hears_what_was_done() {
    let home = Home::new();
    write(&home.at(".codex/config.toml"), "model = \"x\"\n");
    let data: Value = serde_json::from_str(&home.ok(&["setup", "--yes", "--json"])).unwrap();
    let files = data["files"].as_array().unwrap();
    let does: Vec<_> =
        files.iter().map(|file| (file["clients"][0].as_str().unwrap(), file["does"].as_str().unwrap())).collect();
    assert_eq!((&data["written"], does), (&Value::Bool(true), vec![("codex", "make"), ("codex", "change")]), "{data}");
    let again: Value = serde_json::from_str(&home.ok(&["setup", "--yes", "--json"])).unwrap();
    assert_eq!(again["files"].as_array().unwrap().len(), 0);
}

#[test]
fn doctor_says_how_clients_are_set_up_and_what_to_do() {
    let home = Home::new();
    let lines = |home: &Home| {
        let output = text(&home.weir(&["doctor"]).stdout);
        let about = output.lines().skip_while(|line| !line.contains("Codex") && !line.contains("Claude")).take(4);
        about.collect::<Vec<_>>().join("\n")
    };
    home.ok(&["setup", "claude", "codex", "--yes"]);
    expect![[r#"
        ✓ Claude Code: its program is not on the PATH, set up for the user
        ✗ Codex: its program is not on the PATH, set up for the user; 10 hooks are not trusted yet
          fix: start Codex and trust Weir's hooks when it asks, or later with `/hooks`; until then, Codex skips them
        ✓ project store: none yet"#]]
    .assert_eq(&lines(&home));
    home.ok(&["setup", "claude", "--project", "--yes"]);
    expect![[r#"
        ✗ Claude Code: its program is not on the PATH, set up for the user and for this project, so its hooks run more than once
          fix: weir teardown claude --project
        ✗ Codex: its program is not on the PATH, set up for the user; 10 hooks are not trusted yet
          fix: start Codex and trust Weir's hooks when it asks, or later with `/hooks`; until then, Codex skips them"#]].assert_eq(&lines(&home));
}

#[test]
fn doctor_says_what_hooks_do_not_see() {
    let home = Home::new();
    home.ok(&["setup", "codex", "--yes"]);
    let (config, hooks) = (home.at(".codex/config.toml"), home.at(".codex/hooks.json"));
    let written: Value = serde_json::from_str(&std::fs::read_to_string(&hooks).unwrap()).unwrap();
    let mut trusted = std::fs::read_to_string(&config).unwrap();
    for event in written["hooks"].as_object().unwrap().keys() {
        let snake: String = event
            .chars()
            .flat_map(|c| if c.is_uppercase() { vec!['_', c.to_ascii_lowercase()] } else { vec![c] })
            .collect();
        let key = format!("{}:{}:0:0", hooks.display(), snake.trim_start_matches('_'));
        trusted.push_str(&format!("[hooks.state.{key:?}]\ntrusted_hash = \"sha256:00\"\n"));
    }
    write(&config, trusted);
    let said = text(&home.weir(&["doctor"]).stdout);
    let line = said.lines().find(|line| line.contains("Codex")).unwrap_or_else(|| panic!("{said}"));
    assert!(
        line.starts_with("✓ Codex") && line.contains("in code mode, which most of its models use, hooks do not see"),
        "{line}"
    );
}

#[test]
fn doctor_reads_memory_files_and_starts_servers_only_when_asked() {
    let home = Home::new();
    write(&home.project().join("CLAUDE.md"), "See [the rules](docs/rules.md).\n@docs/more.md\n");
    let started = home.at("started");
    let script = format!(
        "touch '{}'; read a; echo '{{\"id\":0,\"result\":{{}}}}'; read b; read c; \
         echo '{{\"id\":1,\"result\":{{\"tools\":[{{\"name\":\"one\"}}]}}}}'; read d",
        started.display()
    );
    let server = |name: &str| json!({ "mcpServers": { name: { "command": "/bin/sh", "args": ["-c", script] } } });
    write(&home.project().join(".mcp.json"), server("foreign").to_string());
    write(&home.at(".claude.json"), server("probe").to_string());
    let said = text(&home.weir(&["doctor"]).stdout);
    assert!(said.contains("2 paths lead nowhere: docs/rules.md (line 1), docs/more.md (line 2)"), "{said}");
    assert!(said.contains("MCP servers: probe (Claude Code); `weir doctor --mcp` starts each once"), "{said}");
    assert!(!started.exists(), "nobody asked for it");
    let said = text(&home.weir(&["doctor", "--mcp"]).stdout);
    assert!(said.contains("MCP servers: probe (Claude Code): 1 tool, described in "), "{said}");
    assert!(started.exists() && !said.contains("foreign"), "{said}");
    write(&home.at(".claude.json"), "{ \"mcpServers\": { broken");
    let said = text(&home.weir(&["doctor", "--mcp"]).stdout);
    let reason = "~/.claude.json (Claude Code): not counted: the settings cannot be parsed";
    assert!(said.contains(reason) && said.contains("; 1 not counted;"), "{said}");
}

#[test]
fn a_window_and_a_status_line_are_set_and_brought_back() {
    let home = Home::new();
    let settings = home.at(".claude/settings.json");
    let config = home.at(".codex/config.toml");
    let (json, toml) = ("{\n  // Mine.\n  \"autoCompactWindow\": 500000\n}\n", "# Mine.\nmodel = \"x\"\n");
    write(&settings, json);
    write(&config, toml);
    home.ok(&["setup", "claude", "--window", "80000", "--status-line", "--yes"]);
    home.ok(&["setup", "codex", "--window", "90000", "--yes"]);
    let both = home.ok(&["setup", "claude", "codex", "--status-line", "--yes"]);
    assert!(both.contains("Codex has no status line that can be set"), "{both}");
    let read = |path: &Path| std::fs::read_to_string(path).unwrap();
    assert!(read(&settings).contains("// Mine.\n  \"autoCompactWindow\": 113000"), "{}", read(&settings));
    assert!(read(&settings).contains(" statusline\""), "{}", read(&settings));
    assert!(read(&config).starts_with("model_auto_compact_token_limit = 90000\n# Mine.\n"), "{}", read(&config));
    // Setup again with another length: teardown still restores the original.
    home.ok(&["setup", "claude", "--window", "120000", "--yes"]);
    assert!(read(&settings).contains("153000"), "{}", read(&settings));
    home.ok(&["teardown", "--yes"]);
    assert_eq!((read(&settings).as_str(), read(&config).as_str()), (json, toml));
}

#[test]
fn the_lifetime_of_the_cache_is_set_and_brought_back() {
    let home = Home::new();
    let settings = home.at(".claude/settings.json");
    let before = "{\n  // Mine.\n  \"promptCacheTtl\": \"5m\"\n}\n";
    write(&settings, before);
    let read = || std::fs::read_to_string(&settings).unwrap();
    let shown = home.ok(&["setup", "claude", "--cache", "1h", "--diff", "--dry-run"]);
    assert!(shown.contains("+  \"promptCacheTtl\": \"1h\",") && read() == before, "{shown}");
    home.ok(&["setup", "claude", "--cache", "1h", "--yes"]);
    assert!(read().contains("// Mine.\n  \"promptCacheTtl\": \"1h\""), "{}", read());
    assert!(read().contains("\"subagentPromptCacheTtl\": \"1h\""), "{}", read());
    home.ok(&["setup", "claude", "--subagent-cache", "5m", "--yes"]);
    assert!(read().contains("\"promptCacheTtl\": \"1h\""), "{}", read());
    assert!(read().contains("\"subagentPromptCacheTtl\": \"5m\""), "{}", read());
    home.ok(&["teardown", "claude", "--yes"]);
    assert_eq!(read(), before);
    let refused = home.weir(&["setup", "codex", "--cache", "1h", "--yes"]);
    let said = text(&refused.stderr);
    assert!(said.contains("Codex has no lifetime of the cache that can be set"), "{said}");
    assert!(!home.at(".codex/config.toml").exists());
}

#[test]
fn a_window_in_a_file_that_was_changed_since_is_brought_back_too() {
    let home = Home::new();
    let settings = home.at(".claude/settings.json");
    for (before, wanted) in [
        ("{\n  \"autoCompactWindow\": 500000\n}\n", "{\n  \"autoCompactWindow\": 500000,\n  \"theme\": \"dark\"\n}\n"),
        ("{\n  \"a\": 1\n}\n", "{\n  \"a\": 1,\n  \"theme\": \"dark\"\n}\n"),
    ] {
        write(&settings, before);
        home.ok(&["setup", "claude", "--window", "80000", "--yes"]);
        let text = std::fs::read_to_string(&settings).unwrap();
        let end = text.rfind("\n}").unwrap();
        write(&settings, format!("{},\n  \"theme\": \"dark\"\n}}\n", &text[..end]));
        home.ok(&["teardown", "claude", "--yes"]);
        assert_eq!(std::fs::read_to_string(&settings).unwrap(), wanted);
    }
    // A value that the user set afterwards is kept.
    home.ok(&["setup", "claude", "--window", "80000", "--yes"]);
    let text = std::fs::read_to_string(&settings).unwrap().replace("113000", "700000");
    write(&settings, text);
    home.ok(&["teardown", "claude", "--yes"]);
    assert!(std::fs::read_to_string(&settings).unwrap().contains("700000"));
}

#[test]
fn a_window_that_cannot_be_is_refused() {
    let home = Home::new();
    for (arguments, why) in [
        (["setup", "claude", "--window", "50000", "--yes"], "its smallest length is 67000"),
        (["setup", "zed", "--window", "80000", "--yes"], "none of these clients has that setting"),
        (["setup", "codex", "--yes", "--status-line", "codex"], "none of these clients has that setting"),
    ] {
        let output = home.weir(&arguments);
        let said = text(&output.stderr);
        assert!(!output.status.success() && said.contains(why), "{arguments:?}: {said}");
    }
    // A session that begins with 60,000 tokens has no room at 67,000.
    let row = |request: u64| {
        let usage = serde_json::json!({ "cache_read_input_tokens": 60_000 + 300 * request, "output_tokens": 1 });
        let message = serde_json::json!({ "id": format!("m{request}"), "model": "m", "content": [], "usage": usage });
        serde_json::json!({ "type": "assistant", "sessionId": "s", "message": message }).to_string() + "\n"
    };
    let transcript: String = (0..40).map(row).collect();
    write(&home.at(".claude/projects/p/s.jsonl"), transcript);
    let output = home.weir(&["setup", "claude", "--window", "67000", "--yes"]);
    let said = text(&output.stderr);
    assert!(said.contains("in 1 of your 1 longer sessions it would have to compact again at once"), "{said}");
}
