//! The same long work in Claude Code with compaction at three lengths, with Weir and without: what it costs, what is
//! read again, and what is left of what was said.
//!
//! The tools are the client's own and really run, over source files of this repository; builds and tests print what was
//! recorded of real ones. The model is scripted: before it changes a line it reads the file again if, and only if, the
//! line is not in the request. Tokens are counted as four characters each, and what a request has in common with the
//! one before it is taken for cached.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::hooked::PROMPTS;
use super::{Client, TestHome, list, text};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const PRICES: &str = include_str!("../../../../weir-session/src/replay/prices.toml");
const MODEL: &str = "claude-opus-5-5";
/// For comparison: there, reading from the cache costs a tenth of what input costs, and not a twentieth.
const OTHER_PRICES: &str = "claude-opus-5";
const SESSION: &str = "11111111-2222-4333-8444-777777777777";

/// Where compaction begins, and the setting for that.
const WINDOWS: [(&str, Option<u32>); 3] = [("67,000", Some(100_000)), ("167,000", Some(200_000)), ("default", None)];

/// How many files each turn reads and changes.
const FILES: usize = 12;
/// How many files are read before the first of them is changed.
const AHEAD: usize = 3;
/// How many of the names that the model wrote last are looked for after a compaction.
const NAMES: usize = 10;

/// Recorded outputs of builds and tests, three for each turn.
const RECORDED: [&str; 12] = [
    "cargo-test-ledger", "pytest-orders", "rustc-depot", "go-test-relay", "mypy-stock", "clippy-quarry",
    "vitest-courier", "jest-board", "cargo-build-gateway", "pytest-billing", "pytest-mailer", "tsc-museum",
];

#[test]
#[ignore = "needs the real clients; .ci/run installs them"]
fn nightly_a_long_session_at_three_windows() {
    let files = sources();
    let runs = WINDOWS.iter().flat_map(|window| [(*window, false), (*window, true)]);
    let mut small = Vec::new();
    println!(
        "| compaction at | Weir | requests | compactions | cache read | cache written | output | price | price of {OTHER_PRICES} | read again | goal | correction | decision | names |"
    );
    println!("|{}", " --- |".repeat(14));
    for ((name, window), with_weir) in runs {
        let played = play(&files, window, with_weir);
        println!("| {name} | {} | {} |", if with_weir { "with" } else { "without" }, played.columns());
        if window == WINDOWS[0].1 {
            small.push(played);
        }
    }
    let [without, with] = small.as_slice() else { panic!("two runs") };
    assert!(without.compactions >= 3 && with.compactions >= 3, "{} and {}", without.compactions, with.compactions);
    for (said, what) in with.kept.iter().zip(["goal", "correction", "decision"]) {
        assert_eq!(said[0], said[1], "{what} after {} compactions with Weir", said[1]);
    }
}

/// A file that is read and changed, with two lines of it that begin a function and stand there once.
struct Source {
    path: String,
    text: String,
    lines: [String; 2],
}

impl Source {
    fn name(&self, which: usize) -> &str {
        let after = self.lines[which].split("fn ").nth(1).unwrap();
        after.split(['(', '<']).next().unwrap()
    }

    /// What takes the place of one of the lines.
    fn changed(&self, which: usize) -> String {
        let line = &self.lines[which];
        let indent = &line[..line.len() - line.trim_start().len()];
        format!("{indent}// Change {which}: the fields come from here.\n{line}")
    }

    fn read(&self, project: &Path) -> Value {
        json!({ "tools": [{ "name": "Read", "args": { "file_path": project.join(&self.path) } }] })
    }

    /// Changes one of the lines, for which the model has to see it.
    fn change(&self, project: &Path, which: usize) -> Value {
        let [old, new] = [self.lines[which].clone(), self.changed(which)];
        let args = json!({ "file_path": project.join(&self.path), "old_string": old, "new_string": new });
        json!({ "tools": [{ "name": "Edit", "args": args }], "needs": old.trim(), "first": self.read(project) })
    }
}

/// Source files of this repository, of middling size.
fn sources() -> Vec<Source> {
    let mut paths: Vec<PathBuf> = Vec::new();
    let crates = ["weir-core", "weir-digest", "weir-policy", "weir-store"];
    let mut folders: Vec<PathBuf> = crates.map(|name| Path::new(ROOT).join("crates").join(name).join("src")).into();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let size = entry.metadata().unwrap().len();
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path if path.extension().is_some_and(|end| end == "rs") && (8_000..16_000).contains(&size) => {
                    paths.push(path);
                }
                _ => {}
            }
        }
    }
    paths.sort();
    let files: Vec<Source> = paths.iter().filter_map(|path| source(path)).take(FILES * PROMPTS.len()).collect();
    assert_eq!(files.len(), FILES * PROMPTS.len());
    files
}

fn source(path: &Path) -> Option<Source> {
    let text = std::fs::read_to_string(path).unwrap();
    let begins =
        |line: &str| ["fn ", "pub fn ", "pub(super) fn "].iter().any(|word| line.trim_start().starts_with(word));
    let lines: Vec<&str> = text.lines().filter(|line| begins(line) && text.matches(*line).count() == 1).collect();
    let lines = [lines.get(lines.len() / 2)?, lines.last()?].map(|line| (*line).to_owned());
    let path = path.strip_prefix(ROOT).unwrap().to_str().unwrap().to_owned();
    Some(Source { path, text, lines })
}

/// The files that the turn before has read too, and that are changed once more.
fn changed_again(turn: usize) -> Vec<usize> {
    let of_turn = |turn: usize| [1, 4, 8].map(|at| turn * FILES + at).to_vec();
    turn.checked_sub(1).map(of_turn).unwrap_or_default()
}

/// What the model does in one turn, and the names that it has written by the end of each step.
fn steps(files: &[Source], commands: &[String], (turn, project): (usize, &Path)) -> (Vec<Value>, Vec<Option<String>>) {
    let shell = |command: &str| json!({ "tools": [{ "name": "Bash", "args": { "command": command, "description": "Looks" } }] });
    let own = &files[turn * FILES..(turn + 1) * FILES];
    let folder = own[0].path.split("/src/").next().unwrap();
    let mut steps = vec![(shell(&format!("grep -rn 'pub fn ' {folder}/src --include=*.rs")), None)];
    let mut commands = commands[turn * 3..].iter();
    for (at, file) in own.iter().enumerate() {
        steps.push((file.read(project), None));
        if at % 4 == 2 {
            steps.extend(commands.next().map(|command| (shell(command), None)));
        }
        if let Some(before) = at.checked_sub(AHEAD) {
            steps.push((own[before].change(project, 0), Some(own[before].name(0).to_owned())));
        }
    }
    for file in changed_again(turn).into_iter().map(|at| &files[at]) {
        steps.push((file.change(project, 1), Some(file.name(1).to_owned())));
    }
    steps.push((json!({ "text": "This part is done; the callers come next." }), None));
    steps.into_iter().unzip()
}

/// What the model makes of the conversation: what the work is and its files, and nothing else that was said.
fn summary(files: &[Source]) -> String {
    let file =
        |file: &Source| format!("- {}: part of the work; looked at, and changed in one place or more.\n", file.path);
    let files: String = files.iter().map(file).collect();
    format!(
        "<analysis>I go through the conversation in order.</analysis>\n<summary>\n1. Primary request: \"{}\"\n2. Files:\n{files}\
         3. Builds and tests were run on the way, and some of them fail.\n4. Next: go on with the files that are left.\n</summary>",
        PROMPTS[0]
    )
}

/// Puts programs in the place that print what was recorded of them. Returns their commands.
fn put_programs(place: &TestHome) -> Vec<String> {
    let mut cases = String::new();
    let mut commands = Vec::new();
    for name in RECORDED {
        let recorded = Path::new(ROOT).join("bench/recall/development").join(name);
        let facts: toml::Table = std::fs::read_to_string(recorded.with_extension("toml")).unwrap().parse().unwrap();
        let printed = zstd::decode_all(std::fs::File::open(recorded.with_extension("zst")).unwrap()).unwrap();
        place.write(&format!("recorded/{name}"), std::str::from_utf8(&printed).unwrap());
        let command = facts["command"].as_str().unwrap();
        let code = facts["exit_code"].as_integer().unwrap();
        let file = place.path("recorded").join(name);
        cases.push_str(&format!("'{command}') sed '' '{}'; exit {code} ;;\n", file.display()));
        commands.push(command.to_owned());
    }
    for command in &commands {
        let program = format!("bin/{}", command.split(' ').next().unwrap());
        place.write(&program, &format!("#!/bin/sh\ncase \"${{0##*/}} $*\" in\n{cases}esac\nexit 64\n"));
        let runs = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(place.path(&program), runs).unwrap();
    }
    commands
}

/// Does all the work once.
fn play(files: &[Source], window: Option<u32>, with_weir: bool) -> SessionFigures {
    let place = TestHome::new();
    for file in files {
        place.write(&format!("project/{}", file.path), &file.text);
    }
    let commands = put_programs(&place);
    if with_weir {
        place.set_up("claude");
    }
    let settings = window.map_or(json!({}), |window| json!({ "autoCompactWindow": window })).to_string();
    let path = format!("PATH={}:/usr/local/bin:/usr/bin:/bin", place.path("bin").display());
    let environment = [super::claude::ENVIRONMENT, &[&path]].concat();
    let rule = json!({ "name": "compaction", "when": { "last": "create a detailed summary" },
        "reply": { "text": summary(files) } });
    let scenario = place.path("scenario.json");
    let mut names = Vec::new();
    let mut requests = Vec::new();
    for (turn, prompt) in PROMPTS.into_iter().enumerate() {
        let (steps, of_steps) = steps(files, &commands, (turn, &place.path("project")));
        names.push(of_steps);
        place.write("scenario.json", &json!({ "cached": true, "rules": [rule], "steps": steps }).to_string());
        let session = if turn == 0 { "--session-id" } else { "--resume" };
        let model = format!("--model={MODEL}");
        let fixed = ["--output-format=json", "--strict-mcp-config", "--dangerously-skip-permissions"];
        let arguments = [&fixed[..], &[&model, "--settings", &settings, "--print", prompt, session, SESSION]].concat();
        let outcome = place.run(&Client {
            name: "claude",
            scenario: scenario.to_str(),
            environment: &environment,
            arguments: &arguments,
        });
        requests = outcome.requests;
    }
    place.assert_no_faults();
    check_work(&place, files);
    SessionFigures::new(&requests, &names)
}

/// Checks that every file has become what it should be, however often the conversation was compacted.
fn check_work(place: &TestHome, files: &[Source]) {
    let again: Vec<usize> = (0..PROMPTS.len()).flat_map(changed_again).collect();
    for (at, file) in files.iter().enumerate() {
        let mut expected = file.text.clone();
        if at % FILES < FILES - AHEAD {
            expected = expected.replacen(&file.lines[0], &file.changed(0), 1);
        }
        if again.contains(&at) {
            expected = expected.replacen(&file.lines[1], &file.changed(1), 1);
        }
        assert_eq!(place.read(&format!("project/{}", file.path)), expected, "{}", file.path);
    }
}

#[derive(Default)]
struct SessionFigures {
    requests: usize,
    compactions: usize,
    read_again: usize,
    cache_read: u64,
    cache_written: u64,
    output: u64,
    /// Of the goal, the correction, the decision and the names: in how many first requests after a compaction they
    /// were, of how many that came after they had been said.
    kept: [[usize; 2]; 4],
}

impl SessionFigures {
    /// `names` has what the model wrote, by turn and step.
    fn new(requests: &[Value], names: &[Vec<Option<String>>]) -> Self {
        let mut played = Self::default();
        let mut turn = 0;
        let mut written: Vec<&str> = Vec::new();
        let mut is_compacted = false;
        for request in requests {
            turn += usize::from(request["n"] == 0);
            let why = text(&request["why"]);
            if why == "stray" {
                continue;
            }
            check_form(&request["body"]);
            let usage = |kind: &str| request["usage"][kind].as_u64().unwrap();
            played.requests += 1;
            played.cache_read += usage("cache_read_input_tokens");
            played.cache_written += usage("cache_creation_input_tokens");
            played.output += usage("output_tokens");
            played.read_again += usize::from(why.starts_with("first:"));
            if why == "rule:compaction" {
                played.compactions += 1;
                is_compacted = true;
                continue;
            }
            if std::mem::take(&mut is_compacted) {
                let names = &written[written.len().saturating_sub(NAMES)..];
                played.look(&request["body"]["messages"].to_string(), turn, names);
            }
            if let Some(step) = why.strip_prefix("step:") {
                written.extend(names[turn - 1][step.parse::<usize>().unwrap()].as_deref());
            }
        }
        played
    }

    /// Looks for what was said up to a turn in the first request after a compaction.
    fn look(&mut self, messages: &str, turn: usize, names: &[&str]) {
        for (kept, said) in self.kept.iter_mut().zip(&PROMPTS[..turn.min(3)]) {
            kept[0] += usize::from(messages.contains(said));
            kept[1] += 1;
        }
        self.kept[3][0] += names.iter().filter(|name| messages.contains(**name)).count();
        self.kept[3][1] += names.len();
    }

    fn price(&self, model: &str) -> f64 {
        let prices: toml::Table = PRICES.parse().unwrap();
        let models = prices["model"].as_array().unwrap();
        let is_named =
            |listed: &&toml::Value| listed["names"].as_array().unwrap().iter().any(|name| name.as_str() == Some(model));
        let listed = models.iter().find(is_named).unwrap();
        let of = |kind: &str, tokens: u64| {
            let price = &listed[kind];
            price.as_float().or(price.as_integer().map(|whole| whole as f64)).unwrap() * tokens as f64 / 1e6
        };
        of("cache_read", self.cache_read) + of("cache_write", self.cache_written) + of("output", self.output)
    }

    fn columns(&self) -> String {
        let mut columns = [self.requests, self.compactions].map(|count| count.to_string()).to_vec();
        columns.extend([self.cache_read, self.cache_written, self.output].map(|tokens| tokens.to_string()));
        columns.extend([MODEL, OTHER_PRICES].map(|model| format!("${:.2}", self.price(model))));
        columns.push(self.read_again.to_string());
        columns.extend(self.kept.map(|[there, all]| if all == 0 { "–".to_owned() } else { format!("{there}/{all}") }));
        columns.join(" | ")
    }
}

/// Checks that every use of a tool in a request is answered, right after it.
fn check_form(body: &Value) {
    let ids = |message: &Value, key: &str| -> Vec<String> {
        let parts = message["content"].as_array().map_or(&[][..], Vec::as_slice);
        parts.iter().filter_map(|part| part[key].as_str()).map(str::to_owned).collect()
    };
    let messages: Vec<&Value> = list(&body["messages"]).iter().filter(|message| message["role"] != "system").collect();
    for pair in messages.windows(2) {
        if pair[0]["role"] == "assistant" {
            assert_eq!(ids(pair[0], "id"), ids(pair[1], "tool_use_id"), "{} then {}", pair[0], pair[1]);
        }
    }
    assert!(messages.last().is_some_and(|last| last["role"] == "user"), "{body}");
}
