//! The documents, next to the program: every block of commands runs, and the references are what the program says.
//!
//! A block of `sh` or `console` runs in an empty home, in a project of its own, and must succeed. Comments above it can
//! say more:
//!
//! - `<!-- given: COMMANDS -->`: these run first. `$REPOSITORY` is the repository, to copy files from.
//! - `<!-- answers: WORD -->`: it runs on a terminal, and every question gets this answer.
//! - `<!-- serves -->`: it is a server, which must say where it listens.
//! - `<!-- server: COMMANDS -->`: this server runs meanwhile.
//! - `<!-- not run: REASON -->`: it is not run.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use expect_test::{expect, expect_file};
use serde_json::{Value, json};

use crate::support::{Home, WEIR, said};

/// The beginning of docs/cli.md.
const COMMANDS_HEAD: &str = "\
# Command line

Every command of `weir` and of `weir-server`, as `--help` prints it. Options that every command has are listed once, with the program.
`UPDATE_EXPECT=1 cargo test -p weir -p weir-server --test it docs` writes this page, and the tests compare it with the programs.
";

/// The beginning of docs/settings.md.
const COMMON_OPTIONS: [&str; 3] = ["--json", "-C, --folder", "-h, --help"];

const SETTINGS_HEAD: &str = "\
# All settings

Every setting with its default, as `weir config show` prints them. [Configuration](configuration.md) explains them, and
has an example of the whole file. `UPDATE_EXPECT=1 cargo test -p weir --test it docs` writes this page, and the tests
compare it with the program.
";

/// Has a network with nothing but a loopback, and a folder `/srv` of its own. `serve` starts a server, and returns when
/// it says where it listens. All processes end with the first.
const SERVE: &str = r#"
PATH="$PATH:/usr/sbin:/sbin" ip link set lo up
mount -t tmpfs none /srv
serve() {
  exec 3< <(exec bash -euo pipefail -c "$1" 2>&1)
  while read -r line <&3; do
    echo "$line"
    case "$line" in *http://*) return ;; esac
  done
  return 1
}
"#;

const ON_TERMINAL: &str = r#"script --quiet --return --command 'exec bash -euo pipefail -c "$BLOCK"' /dev/null"#;

struct Block {
    /// The page, and the line of the block's fence.
    place: String,
    commands: String,
    /// Commands that run first.
    given: String,
    answer: Option<String>,
    server: Option<String>,
    serves: bool,
    /// Why it is not run.
    not_run: Option<String>,
}

impl Block {
    fn script(&self) -> String {
        let Self { commands, given, .. } = self;
        let quoted = |commands: &str| format!("'{}'", commands.replace('\'', r"'\''"));
        match (&self.server, &self.answer) {
            (Some(server), _) => format!("{SERVE}\n{given}\nserve {}\n{commands}\n", quoted(server)),
            (None, Some(answer)) => {
                let answers = format!("{answer}\n").repeat(9);
                format!(
                    "{given}\nprintf {} | SHELL=/bin/bash BLOCK={} {ON_TERMINAL}\n",
                    quoted(&answers),
                    quoted(commands)
                )
            }
            (None, None) if self.serves => format!("{SERVE}\n{given}\nserve {}\n", quoted(commands)),
            (None, None) => format!("{given}\n{commands}\n"),
        }
    }

    /// Returns why it cannot be run.
    fn left_out(&self) -> Option<&str> {
        self.not_run.as_deref()
    }
}

fn at(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// Returns the paths of the README and of the pages in `docs`.
fn pages() -> Vec<String> {
    let listed = fs::read_dir(at("docs")).unwrap();
    let names = listed.map(|entry| format!("docs/{}", entry.unwrap().file_name().to_string_lossy()));
    let mut pages: Vec<String> = names.filter(|name| name.ends_with(".md")).collect();
    pages.push("README.md".to_owned());
    pages.sort();
    pages
}

fn blocks(page: &str, text: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut comments: Vec<&str> = Vec::new();
    let mut lines = (1_usize..).zip(text.lines());
    while let Some((number, line)) = lines.next() {
        let line = line.trim();
        let (fence, form) = line.split_at(line.len() - line.trim_start_matches('`').len());
        if fence.len() >= 3 {
            let inside = lines.by_ref().map(|(_, line)| line).take_while(|line| !line.trim().starts_with(fence));
            let inside: Vec<&str> = inside.collect();
            if matches!(form, "sh" | "console") {
                blocks.push(Block {
                    place: format!("{page}:{number}"),
                    commands: commands(form, &inside),
                    given: marked(&comments, "given:").join("\n"),
                    answer: marked(&comments, "answers:").first().map(|answer| (*answer).to_owned()),
                    server: marked(&comments, "server:").first().map(|server| (*server).to_owned()),
                    serves: !marked(&comments, "serves").is_empty(),
                    not_run: marked(&comments, "not run:").first().map(|reason| (*reason).to_owned()),
                });
            }
        }
        if line.starts_with("<!--") {
            comments.push(line);
        } else {
            comments.clear();
        }
    }
    blocks
}

/// Returns what comments say after a mark.
fn marked<'a>(comments: &[&'a str], mark: &str) -> Vec<&'a str> {
    let inside = comments.iter().copied().filter_map(|comment| comment.strip_prefix("<!--")?.strip_suffix("-->"));
    inside.filter_map(|text| text.trim().strip_prefix(mark)).map(str::trim).collect()
}

/// Returns the commands of a block. In a console they begin with `$ `, and continue after a `\`.
fn commands(form: &str, lines: &[&str]) -> String {
    if form == "sh" {
        return lines.join("\n");
    }
    let mut commands = Vec::new();
    let mut continues = false;
    for line in lines.iter().copied() {
        let command = if continues { Some(line) } else { line.strip_prefix("$ ") };
        continues = command.is_some_and(|command| command.ends_with('\\'));
        commands.extend(command);
    }
    commands.join("\n")
}

/// Runs a block in a home of its own, whose user has both programs, the Rust toolchain and what the system has. Returns
/// what went wrong.
fn failure(block: &Block) -> Option<String> {
    let mut home = Home::outside_tmp();
    let programs = home.at("programs");
    fs::create_dir(&programs).unwrap();
    let server = Path::new(WEIR).with_file_name("weir-server");
    for (program, name) in [(Path::new(WEIR), "weir"), (&server, "weir-server")] {
        std::os::unix::fs::symlink(program, programs.join(name)).unwrap();
    }
    let toolchain = Path::new(env!("CARGO")).parent().unwrap().to_owned();
    home.programs.insert(0, toolchain);
    home.programs.insert(0, programs);
    home.git(&["init", "--quiet"]);
    let script = block.script();
    let shell = ["bash", "-euo", "pipefail", "-c", script.as_str()];
    let alone = ["unshare", "--user", "--map-root-user", "--net", "--mount", "--pid", "--fork", "--kill-child"];
    let is_alone = block.serves || block.server.is_some();
    let words = if is_alone { [&alone[..], &shell].concat() } else { shell.to_vec() };
    let output = home.command(words[0], &words[1..]).env("REPOSITORY", at("")).output().unwrap();
    (!output.status.success()).then(|| format!("{}: {}\n{}\n", block.place, output.status, said(&output)))
}

#[test]
fn every_block_of_commands_runs_or_says_why_not() {
    let (mut run, mut failures) = (0, String::new());
    for page in pages() {
        for block in blocks(&page, &fs::read_to_string(at(&page)).unwrap()) {
            match block.left_out() {
                Some(reason) => {
                    assert!(!reason.is_empty(), "{}: no reason why it is not run", block.place);
                    eprintln!("{}: not run: {reason}", block.place);
                }
                None => {
                    run += 1;
                    failures.extend(failure(&block));
                }
            }
        }
    }
    eprintln!("{run} blocks of commands were run");
    assert!(run > 0 && failures.is_empty(), "{failures}");
}

#[test]
fn a_block_is_its_commands_and_what_the_comments_above_it_say() {
    let page = "<!-- given: touch a -->\n<!-- given: touch b -->\n```sh\nls a b\n```\n\n<!-- not run: it waits -->\n\
                ```console\n$ weir x\nlistening\n$ curl y \\\n  -H z\nanswer\n```\n```json\n{}\n```\n\
                <!-- not run: no -->\ntext\n```sh\nls\n```\n<!-- serves -->\n```sh\nserve\n```\n\
                <!-- needs: team -->\n<!-- server: it's -->\n```sh\nask\n```\n\
                <!-- answers: y -->\n```sh\nsetup\n```\n";
    let shown = blocks("a.md", page).into_iter().map(|block| {
        let script = block.script().replace(SERVE, "SERVE").replace(ON_TERMINAL, "TERMINAL");
        let script = script.replace(&"y\n".repeat(9), "y…");
        format!("{} {:?}: {script:?}\n", block.place, block.not_run)
    });
    expect![[r#"
        a.md:3 None: "touch a\ntouch b\nls a b\n"
        a.md:8 Some("it waits"): "\nweir x\ncurl y \\\n  -H z\n"
        a.md:20 None: "\nls\n"
        a.md:24 None: "SERVE\n\nserve 'serve'\n"
        a.md:29 None: "SERVE\n\nserve 'it'\\''s'\nask\n"
        a.md:33 None: "\nprintf 'y…' | SHELL=/bin/bash BLOCK='setup' TERMINAL\n"
    "#]]
    .assert_eq(&shown.collect::<String>());
}

#[test]
fn the_guide_in_the_readme_is_what_a_session_is_told() {
    let home = Home::new();
    let file = home.project().join("src/login.rs");
    let say = |prompt: &str| home.hook("s", "UserPromptSubmit", &json!({ "prompt": prompt }));
    let edit = |old: &str, new: &str| {
        let input = json!({ "file_path": file, "old_string": old, "new_string": new });
        home.hook("s", "PostToolUse", &json!({ "tool_name": "Edit", "tool_input": input, "tool_response": {} }));
    };
    say("Add token refresh to the login flow in src/login.rs. The API limit is 5 requests per second.");
    edit("fn login() {}", "fn login() { refresh_token(); }");
    say("No, don't use a regex. Use the tokenizer module instead, and never log the token.");
    edit("refresh_token();", "tokenizer::parse(header); schedule_refresh(expires_at);");
    say("We decided: refresh 60 s before expiry, not after a 401.");
    let input = json!({ "command": "cargo test login" });
    let error = "Exit code 101\nerror[E0425]: cannot find function `schedule_refresh` in this scope";
    home.hook("s", "PostToolUseFailure", &json!({ "tool_name": "Bash", "tool_input": input, "error": error }));
    say("ok go on");
    home.hook("s", "PreCompact", &json!({ "trigger": "auto" }));
    let answer = home.hook("s", "SessionStart", &json!({ "source": "compact" }));
    let guide = answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
    let readme = fs::read_to_string(at("README.md")).unwrap();
    assert!(
        readme.contains(&format!("```text\n{}\n```", guide.trim_end())),
        "README.md has another guide than:\n{guide}"
    );
}

#[test]
fn the_page_of_commands_is_what_the_program_says() {
    let home = Home::new();
    let mut page = COMMANDS_HEAD.to_owned();
    describe(&|arguments| home.ok(arguments), &["weir"], &mut page);
    describe(&|arguments| home.team(arguments), &["weir-server"], &mut page);
    expect_file![at("docs/cli.md")].assert_eq(&page);
}

/// Adds the help of a command and of those below it. The first of its words is the program.
fn describe(program: &dyn Fn(&[&str]) -> String, words: &[&str], page: &mut String) {
    let help = program(&[&words[1..], &["--help"]].concat());
    let lines: Vec<&str> = help.trim_end().lines().map(str::trim_end).collect();
    let name = words.join(" ");
    let shown = if words.len() > 1 { shortened(&lines) } else { lines.clone() };
    writeln!(page, "\n## {name}\n\n```text\n{}\n```", shown.join("\n")).unwrap();
    let listed = lines.iter().skip_while(|line| **line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let first_lines = listed.filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
    for command in first_lines.filter_map(|line| line.split(' ').next()).filter(|command| *command != "help") {
        describe(program, &[words, &[command]].concat(), page);
    }
}

/// Returns the help of a command without blank lines between its options, and without the options that every command
/// has.
fn shortened<'a>(help: &[&'a str]) -> Vec<&'a str> {
    let (mut kept, mut in_list, mut is_common) = (Vec::new(), false, false);
    for (at, line) in help.iter().copied().enumerate() {
        let is_indented = line.starts_with(' ');
        let goes_on = help[at..].iter().find(|line| !line.is_empty()).is_some_and(|line| line.starts_with(' '));
        if in_list && is_indented && line.trim_start().starts_with('-') && !line.starts_with("        ") {
            is_common = COMMON_OPTIONS.iter().any(|option| line.trim_start().starts_with(option));
        }
        if !is_indented && !line.is_empty() {
            (in_list, is_common) = (matches!(line, "Options:" | "Arguments:"), false);
        }
        let is_left_out = in_list && goes_on && (line.is_empty() || (is_indented && is_common));
        // A list of which nothing is left has no heading.
        if line.is_empty() && kept.last() == Some(&"Options:") {
            kept.pop();
        } else if !is_left_out {
            kept.push(line);
        }
    }
    let end = kept.iter().rposition(|line| !matches!(*line, "" | "Options:")).map_or(0, |last| last + 1);
    kept.truncate(end);
    kept
}

#[test]
fn the_page_of_settings_is_what_the_program_says() {
    let home = Home::new();
    let shown = home.json(&["config", "show"]);
    let mut page = SETTINGS_HEAD.to_owned();
    let mut table = None;
    for setting in shown["settings"].as_array().unwrap() {
        if table != Some(part(setting, "table")) {
            table = Some(part(setting, "table"));
            let heading = table.filter(|name| !name.is_empty()).map(|name| format!("[{name}]"));
            let heading = heading.unwrap_or_else(|| "Top of the file".to_owned());
            writeln!(page, "\n## {heading}\n\n| setting | default | what it is |\n| --- | --- | --- |").unwrap();
        }
        let (name, value, about) = (part(setting, "name"), part(setting, "value"), part(setting, "about"));
        writeln!(page, "| `{name}` | {} | {about} |", shown_value(value)).unwrap();
    }
    expect_file![at("docs/settings.md")].assert_eq(&page);
}

fn part<'a>(setting: &'a Value, name: &str) -> &'a str {
    setting[name].as_str().unwrap()
}

/// Returns a value as code, unless it is a description.
fn shown_value(value: &str) -> String {
    let is_word = matches!(value, "true" | "false");
    let is_literal = is_word || value.starts_with(|c: char| c.is_ascii_digit() || "\"[".contains(c));
    if is_literal { format!("`{value}`") } else { value.to_owned() }
}
