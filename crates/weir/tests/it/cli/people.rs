//! What people get at a terminal and in a pipe: all of a text, plain, in local time; runs with input and without a
//! limit.

use std::io::{Read as _, Write as _};
use std::process::Stdio;

use serde_json::Value;

use crate::support::{Home, WEIR, feed, parsed, said, text};

/// Runs a command line on a terminal with this many rows and columns, and returns what it shows.
fn on_terminal(home: &Home, (rows, columns): (u16, u16), variables: &[(&str, &str)], command: &str) -> String {
    let line = format!("stty rows {rows} cols {columns}; {}", command.replace("weir ", &format!("'{WEIR}' ")));
    let mut script = home.command("script", &["--quiet", "--command", &line, "/dev/null"]);
    script.env("SHELL", "/bin/sh").envs(variables.iter().copied());
    text(&script.output().unwrap().stdout)
}

fn long_text(home: &Home, lines: usize) -> String {
    home.write("long.md", (1..=lines).map(|n| format!("line {n} of a long text\n")).collect::<String>());
    home.json(&["index", "long.md"]);
    let hits = home.json(&["search", "long", "text"]);
    hits["queries"][0]["hits"][0]["reference"].as_str().unwrap().to_owned()
}

#[test]
fn a_pipe_of_a_person_is_plain_text_in_local_time() {
    let home = Home::new();
    home.note(&["the zebra pool is small"]);
    let search = |variables: &[(&str, &str)], more: &[&str]| {
        let mut command = home.command(WEIR, &[&["search", "zebra"], more].concat());
        text(&command.env("TZ", "XXX-07:01").envs(variables.iter().copied()).output().unwrap().stdout)
    };
    let plain = search(&[], &[]);
    assert!(plain.contains("the zebra pool is small") && !plain.contains("<<<") && !plain.contains("Z\n"), "{plain}");
    for name in ["CLAUDECODE", "CODEX_THREAD_ID", "GEMINI_CLI", "QWEN_CODE", "COPILOT_CLI", "OPENCODE", "AI_AGENT"] {
        let fenced = search(&[(name, "1")], &[]);
        assert!(fenced.contains("<<<") && fenced.contains("Z\n"), "{name}: {fenced}");
    }
    assert!(search(&[], &["--for-model"]).contains("<<<"));
    assert!(!search(&[("CLAUDECODE", "")], &[]).contains("<<<"));
}

#[test]
fn a_person_gets_all_of_a_text_and_a_model_what_fits() {
    let home = Home::new();
    let reference = long_text(&home, 3_000);
    let all = text(&home.piped(&["get", &reference]).stdout);
    assert_eq!(all.lines().count(), 3_001, "{}", &all[..200]);
    assert!(all.ends_with("line 3000 of a long text\n"));
    let matching = text(&home.piped(&["get", &reference, "--pattern", "long"]).stdout);
    assert!(matching.contains("3000: line 3000") && matching.contains("3000 lines match"));
    assert!(text(&home.piped(&["get", &reference, "--budget", "200"]).stdout).contains("continue with --lines"));
    assert!(home.ok(&["get", &reference]).contains("continue with --lines"));
    let none = home.ok(&["get", &reference, "--pattern", "blocker"]);
    assert!(none.contains("no line of 3000 matches `blocker`"), "{none}");
}

#[test]
fn long_texts_go_through_the_pager_of_a_terminal() {
    let home = Home::new();
    let reference = long_text(&home, 300);
    let command = format!("weir get {reference}");
    let paged = on_terminal(&home, (20, 80), &[("PAGER", "sed 's/^/paged: /'")], &command);
    assert!(paged.contains("paged: line 300 of a long text"), "{paged}");
    let whole = on_terminal(&home, (400, 80), &[("PAGER", "sed 's/^/paged: /'")], &command);
    assert!(whole.contains("line 300 of a long text") && !whole.contains("paged"), "{whole}");
    for pager in ["", "cat", "no-such-pager"] {
        let plain = on_terminal(&home, (20, 80), &[("PAGER", pager)], &command);
        assert!(plain.contains("line 300 of a long text"), "{pager}: {plain}");
    }
}

#[test]
fn lines_are_broken_between_words_at_any_width() {
    let home = Home::new();
    for columns in [80, 100] {
        for command in ["weir setup claude --dry-run", "weir doctor", "weir --help", "weir get x", "weir config"] {
            let shown = on_terminal(&home, (50, columns), &[("NO_COLOR", "1")], command);
            let is_long = |line: &&str| line.chars().count() > usize::from(columns) && line.trim().contains(' ');
            let long: Vec<&str> = shown.lines().map(str::trim_end).filter(is_long).collect();
            // A path is not broken, so that it can be copied.
            assert!(long.iter().all(|line| line.contains(home.path().to_str().unwrap())), "{command}: {long:#?}");
        }
    }
}

#[test]
fn a_reference_may_be_short_or_left_out() {
    let home = Home::new();
    let note = home.note(&["the first note"]);
    let newest = home.note(&["the newest note"]);
    let bare = &note[5..15];
    for short in [&bare[..9], &note, bare] {
        assert!(text(&home.piped(&["get", short]).stdout).contains("the first note"), "{short}");
    }
    assert!(text(&home.piped(&["get"]).stdout).contains("the newest note"));
    home.ok(&["note", "a better note", "--supersedes", &bare[..9]]);
    assert!(text(&home.piped(&["get", &newest]).stdout).contains("the newest note"));
    let unknown = home.piped(&["get", "zzzz"]);
    assert_eq!(unknown.status.code(), Some(3));
    assert!(said(&unknown).contains("no reference here begins with `zzzz`"), "{}", said(&unknown));
}

#[test]
fn a_note_is_removed_after_asking() {
    let home = Home::new();
    let note = home.note(&["a note to remove"]);
    let refused = home.piped(&["notes", "--remove", &note]);
    assert!(!refused.status.success() && said(&refused).contains("--yes removes notes"), "{}", said(&refused));
    assert!(home.piped(&["notes", "--remove", &note[5..14], "--yes"]).status.success());
    assert!(said(&home.piped(&["notes"])).contains("no notes yet"));
}

#[test]
fn a_run_of_a_person_has_input_and_no_limit_and_says_seconds() {
    let home = Home::new();
    home.configure("[run]\ntimeout_seconds = 1\n");
    let shown = text(&feed(home.command(WEIR, &["run", "cat"]), b"from a pipe\n").stdout);
    assert!(shown.starts_with("exit 0 in 0.") && shown.ends_with("from a pipe\n"), "{shown}");
    assert!(text(&feed(home.weir_command(&["run", "cat"]), b"from a pipe\n").stdout).contains("no output"));
    let slow = ["run", "sleep 1.5; echo done"];
    assert!(text(&home.piped(&slow).stdout).contains("done"));
    let limited = home.weir(&slow);
    assert_eq!(limited.status.code(), Some(124));
    assert!(said(&limited).contains("timed out and ended after") && said(&limited).contains("--timeout allows more"));
}

#[test]
fn a_run_reads_the_file_or_the_terminal_that_its_input_is_and_nothing_else() {
    let home = Home::new();
    home.write("input", "from a file\n");
    let read = std::fs::File::open(home.project().join("input")).unwrap();
    let output = home.command(WEIR, &["run", "cat"]).stdin(read).output().unwrap();
    assert!(text(&output.stdout).ends_with("from a file\n"), "{}", said(&output));
    // A folder would lead out of the sandbox.
    let folder = std::fs::File::open(home.path()).unwrap();
    let output = home.command(WEIR, &["run", "ls /proc/self/fd/0/; echo $?"]).stdin(folder).output().unwrap();
    assert!(!said(&output).contains("project"), "{}", said(&output));
    // What a run writes to the terminal must pass the filter of its output.
    let typed =
        interactive(&home, "read line; echo got $line; printf secret > /proc/self/fd/0; touch ready", b"hello\n");
    assert!(typed.contains("got hello") && !typed.contains("secret\r"), "{typed}");
}

/// Runs code on a terminal, types something once the run has begun, and returns what the terminal shows.
fn interactive(home: &Home, code: &str, typed: &[u8]) -> String {
    let command = format!("'{WEIR}' run 'touch begun; {code}'");
    let mut script = home.command("script", &["--quiet", "--flush", "--command", &command, "/dev/null"]);
    let mut child = script.env("SHELL", "/bin/sh").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    home.wait_for("begun");
    let mut input = child.stdin.take().unwrap();
    input.write_all(typed).unwrap();
    let mut shown = String::new();
    child.stdout.take().unwrap().read_to_string(&mut shown).unwrap();
    child.wait().unwrap();
    shown
}

#[test]
fn an_interrupted_run_says_what_was_kept() {
    let home = Home::new();
    let shown = interactive(&home, "echo one; echo two; echo three; sleep 1000", b"\x03");
    assert!(shown.contains("✗ interrupted after ") && shown.contains("; 3 lines, 14 B kept as [ctx:"), "{shown}");
    let kept = text(&home.piped(&["get"]).stdout);
    assert!(kept.ends_with("one\ntwo\nthree\n"), "{kept}");
}

#[test]
fn the_errors_of_a_long_run_are_named_by_path_and_line() {
    let home = Home::new();
    let code = "for i in $(seq 1 40); do echo compiling $i; done; \
                echo src/lib.rs:12:5: error: expected a semicolon; exit 1";
    let shown = on_terminal(&home, (24, 100), &[("NO_COLOR", "1")], &format!("weir run '{code}'"));
    let summary = shown.split("✗ exit 1 in ").nth(1).unwrap_or_else(|| panic!("{shown}"));
    assert!(summary.contains("\n  src/lib.rs:12:5: error: expected a semicolon"), "{shown}");
}

#[test]
fn runs_in_the_background_are_listed_and_ended_and_their_output_is_there_at_once() {
    let home = Home::new();
    assert!(text(&home.piped(&["runs"]).stdout).contains("no runs in the background"));
    let start = |code: &str| {
        let started = parsed(&home.piped(&["run", "--background", "--json", code]));
        started["reference"].as_str().unwrap().to_owned()
    };
    let first = start("echo hello; touch begun; sleep 1000");
    home.wait_for("begun");
    let second = start("sleep 1000");
    let listed = text(&home.piped(&["runs"]).stdout);
    assert!(listed.contains(&first) && listed.contains(&second) && listed.contains("sleep 1000"), "{listed}");
    let ended = home.piped(&["run", "--end", &first[5..14]]);
    assert!(text(&ended.stdout).starts_with(&format!("ended {first}")), "{}", said(&ended));
    let got = text(&home.piped(&["get", &first]).stdout);
    assert!(got.ends_with("hello\n") && !got.contains("still running"), "{got}");
    assert!(text(&home.piped(&["runs", "--end", "all"]).stdout).contains(&second));
    assert_eq!(parsed(&home.piped(&["runs", "--json"]))["runs"], Value::Array(Vec::new()));
}

#[test]
fn history_has_one_line_for_all_files_indexed_at_once_and_the_result_of_each_run() {
    let home = Home::new();
    home.ok(&["note", "before"]);
    (0..120).for_each(|n| home.write(&format!("src/file{n}.md"), format!("text {n}\n")));
    home.ok(&["index", "src"]);
    home.weir(&["run", "exit 3"]);
    home.weir(&["run", "true"]);
    let shown = text(&home.piped(&["history"]).stdout);
    let lines: Vec<&str> =
        shown.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit() || c == ' ')).collect();
    assert_eq!(lines.len(), 4, "{shown}");
    assert!(lines[0].contains("✓ run true (0."), "{shown}");
    assert!(lines[1].contains("✗ run exit 3 (exit 3, 0."), "{shown}");
    assert!(lines[2].contains("indexed 120 files, the last is "), "{shown}");
    assert!(lines[3].contains("note before"), "{shown}");
    let page = home.json(&["history", "--limit", "3"]);
    assert_eq!((&page["moments"][2]["files"], &page["more"]), (&120.into(), &true.into()));
}

#[test]
fn a_wrong_configuration_is_explained_and_does_not_stop_the_other_checks() {
    let home = Home::new();
    home.configure("[hold]\nby_product_token = 4000\n");
    let refused = said(&home.piped(&["notes"]));
    assert!(
        refused.contains("did you mean `by_product_tokens`?") && refused.contains("`weir config show`"),
        "{refused}"
    );
    let doctor = home.piped(&["doctor"]);
    assert_eq!(doctor.status.code(), Some(3));
    let doctor = said(&doctor);
    assert!(doctor.contains("✗ configuration: ") && doctor.contains("project store"), "{doctor}");
    let shown = home.piped(&["config", "show"]);
    assert_eq!(shown.status.code(), Some(5));
    assert!(said(&shown).contains("did you mean") && said(&shown).contains("by_product_tokens = 2000"));
}

#[test]
fn doctor_names_hidden_files_that_git_has() {
    let home = Home::outside_tmp();
    let remark =
        || said(&home.piped(&["doctor"])).lines().find(|line| line.contains("hidden files:")).map(str::to_owned);
    home.git(&["init", "-q"]);
    home.write("main.py", "print()\n");
    home.git(&["add", "main.py"]);
    home.git(&["commit", "-qm", "one"]);
    home.write("deploy/id_rsa", "secret\n");
    assert_eq!(remark(), None);
    for number in 1..=7 {
        home.write(&format!("{number}/.env"), "SECRET=1\n");
        home.git(&["add", "--force", &format!("{number}/.env")]);
    }
    home.git(&["commit", "-qm", "two"]);
    let named = "git has 1/.env, 2/.env, 3/.env, 4/.env, 5/.env and 2 more, which runs can read from its objects";
    assert!(remark().is_some_and(|line| line.contains(named)), "{:?}", remark());
}

#[test]
fn a_setting_is_changed_and_the_rest_of_the_file_stays() {
    let home = Home::new();
    home.configure("# mine\nnetwork = \"off\" # for now\n\n[hold]\n# why\nasked_tokens = 9000\n");
    let set = |words: &[&str]| home.piped(&[&["config"], words].concat());
    assert!(said(&set(&["set", "by_product_tokens", "4000"])).contains("✓ hold.by_product_tokens = 4000"));
    assert!(said(&set(&["set", "network", "on"])).contains("✓ network = \"on\""));
    assert!(said(&set(&["set", "hold.off", "Read", "Bash(npm test*)"])).contains("[\"Read\", \"Bash(npm test*)\"]"));
    assert!(set(&["unset", "hold.asked_tokens"]).status.success());
    let file = std::fs::read_to_string(home.at(".config/weir/config.toml")).unwrap();
    assert!(file.starts_with("# mine\nnetwork = \"on\" # for now\n\n[hold]\n"), "{file}");
    assert!(!file.contains("asked_tokens") && file.contains("by_product_tokens = 4000"), "{file}");
    for (words, hint) in [
        (["set", "hold.by_product_token", "1"], "did you mean `hold.by_product_tokens`?"),
        (["set", "timeout_seconds", "1"], "use one of run.timeout_seconds, fetch.timeout_seconds"),
        (["set", "sandbox", "complete"], "nothing was written"),
    ] {
        let refused = set(&words);
        assert!(!refused.status.success() && said(&refused).contains(hint), "{}", said(&refused));
    }
    assert_eq!(file, std::fs::read_to_string(home.at(".config/weir/config.toml")).unwrap());
}

#[test]
fn slips_on_the_command_line_are_understood_or_explained() {
    let home = Home::new();
    let verdict = parsed(&home.piped(&["policy", "check", "ls", "--json"]));
    assert!(!verdict.to_string().contains("--json"), "{verdict}");
    let schema = said(&home.piped(&["schema", "openai"]));
    assert!(schema.contains("'openai-chat'"), "{schema}");
    home.write("a.rs", "fn main() {}\n");
    assert!(home.piped(&["note", "about a file", "--file", "a.rs"]).status.success());
    let ruby = said(&home.piped(&["run", "-l", "ruby", "puts 1"]));
    assert_eq!(ruby.matches("apt install ruby").count(), usize::from(!ruby.contains("exit 0")), "{ruby}");
}

#[test]
fn weir_suggests_the_test_command_of_the_project() {
    for (file, command) in [("Cargo.toml", "cargo test"), ("package.json", "npm test"), ("Makefile", "make test")] {
        let home = Home::new();
        home.write(file, "");
        let shown = text(&home.piped(&[]).stdout);
        assert!(shown.contains(&format!("weir run '{command}'")), "{shown}");
    }
}
