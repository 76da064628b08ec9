//! What a person at a terminal reads: commands and options in every hint, never tools, and no fences.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use crate::support::{Home, text};

/// Runs a command on a terminal of its own, and returns what it shows there.
fn shown(home: &Home, arguments: &[&str]) -> String {
    let quoted = |word: &&str| format!("'{}'", word.replace('\'', r"'\''"));
    let words: Vec<String> = [env!("CARGO_BIN_EXE_weir")].iter().chain(arguments).map(quoted).collect();
    let mut script = home.command("script", &["--quiet", "--command", &words.join(" "), "/dev/null"]);
    let output = script.env("SHELL", "/bin/sh").output().unwrap();
    assert!(output.status.success(), "{}", text(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Checks that a command shows these hints, no tool and no fence. Returns what it shows.
fn check(home: &Home, arguments: &[&str], hints: &[&str]) -> String {
    let shown = shown(home, arguments);
    for word in ["ctx_", "context_", "<<<", ">>>"] {
        assert!(!shown.contains(word), "{arguments:?} shows `{word}`:\n{shown}");
    }
    for hint in hints {
        assert!(shown.contains(hint), "{arguments:?} does not show `{hint}`:\n{shown}");
    }
    shown
}

fn reference(answer: &str) -> String {
    let start = answer.find("[ctx:").unwrap_or_else(|| panic!("no reference: {answer}"));
    answer[start + 5..start + 15].to_owned()
}

#[test]
fn a_person_who_searches_and_reads_is_told_commands() {
    let home = Home::new();
    check(&home, &["search", "zebra"], &["add content with `weir index` or `weir fetch`"]);
    check(&home, &["history"], &["nothing here yet"]);
    check(&home, &["note", ""], &["pass the note as an argument"]);
    let note = reference(&check(&home, &["note", "the zebra pool is small"], &["kept"]));
    check(&home, &["search", "zebra"], &["the zebra pool is small"]);
    check(&home, &["get", &note], &["the zebra pool is small"]);
    let long: String = (1..=3_000).map(|n| format!("line {n} of a long text about zebras\n")).collect();
    std::fs::write(home.project().join("long.md"), &long).unwrap();
    let document = reference(&check(&home, &["index", "long.md"], &["search it with --source 'long.md'"]));
    check(&home, &["get", &document], &["line 3000 of a long text"]);
    check(&home, &["get", &document, "--budget", "2000"], &["continue with --lines "]);
    let budget = ["get", &document, "--budget", "2000", "--pattern", "zebras"];
    check(&home, &budget, &["lines match", "continue with --lines "]);
    check(&home, &["get", &document, "--budget", "2000", "--lines", "b0-"], &["continue with --lines b"]);
    check(&home, &["get", &document, "--intent", "line 17"], &["more: `weir get` with --lines"]);
    check(&home, &["get", &document, "--select", "a.b"], &["use --lines, --pattern or --intent instead"]);
    check(&home, &["search", "zebra", "--limit", "1"], &["raise --limit or add words"]);
    check(&home, &["search", "zebra", "--budget", "120"], &["raise --budget or narrow the search"]);
    check(&home, &["history", "--limit", "1"], &["older: --before "]);
    check(&home, &["forget", &note], &["repeat with --confirm "]);
    for arguments in [&["reflect"][..], &["history", "--sessions"], &["stats"], &["notes"], &["doctor"]] {
        check(&home, arguments, &[]);
    }
}

#[test]
fn a_person_who_runs_and_outlines_is_told_commands() {
    let home = Home::new();
    std::fs::write(home.project().join("bytes.bin"), [0, 1, 2, 255].repeat(100)).unwrap();
    std::fs::write(home.project().join("lines.unknown"), "one more line\n".repeat(100)).unwrap();
    let code: String = (0..60).map(|n| format!("pub fn number_{n}() -> u64 {{\n    {n}\n}}\n")).collect();
    std::fs::write(home.project().join("code.rs"), code).unwrap();
    check(&home, &["outline", "bytes.bin"], &["process it with `weir run --file`"]);
    check(&home, &["outline", "lines.unknown"], &["beginning only"]);
    check(&home, &["outline", "code.rs"], &["number_7"]);
    check(&home, &["map", "--budget", "120"], &["more: --budget, --focus FILE"]);
    check(&home, &["run", "seq 1 20000"], &["19999\r\n20000\r\n", "✓ exit 0 in ", "20000 lines, 106.3 KiB kept as "]);
    check(&home, &["run", "printf x; exit 3"], &["x\r\n", "✗ exit 3 in ", "1 line, 1 B kept as "]);
    check(&home, &["run", "--intent", "17", "seq 1 20000"], &["more: `weir get` with --lines"]);
    check(&home, &["run", "--timeout", "900000", "true"], &["--timeout is in seconds", "use --timeout 900"]);
    check(&home, &["run", ""], &["pass it as an argument"]);
    let many: Vec<String> = (0..40).map(|n| format!("echo {n}; seq 1 2000")).collect();
    let batch: Vec<&str> = ["batch", "--budget", "120"].into_iter().chain(many.iter().map(String::as_str)).collect();
    check(&home, &batch, &["raise --budget, or find them with `weir history`"]);
    let started = check(&home, &["run", "--background", "sleep 1000"], &["read it with `weir get`"]);
    let reference = reference(&started);
    check(&home, &["get", &reference], &["still running"]);
    check(&home, &["run", "--end", &reference], &["ended"]);
    check(&home, &["run", "--end", &reference], &["check with `weir get`"]);
}

#[test]
fn what_others_wrote_cannot_command_the_terminal() {
    let home = Home::new();
    let (clear, folder) = ("\u{1b}[2J", "\u{1b}[2Jevil");
    std::fs::create_dir(home.project().join(folder)).unwrap();
    home.note(&[&format!("a title {clear} with a sequence"), "--topic", "evil\u{9b}2J"]);
    for arguments in [
        &["get", &format!("{clear}x")][..],
        &["run", "--cwd", &format!("{folder}/missing"), "true"],
        &["-C", &format!("{folder}/missing"), "notes"],
        &["-C", folder],
        &["notes"],
        &["notes", "--json"],
    ] {
        let shown = check(&home, arguments, &[]);
        assert!(!shown.contains(clear) && !shown.contains('\u{9b}'), "{arguments:?}: {shown:?}");
    }
}

#[test]
fn no_help_names_a_tool() {
    let home = Home::new();
    let overview = check(&home, &["--help"], &["Commands:"]);
    let commands = overview.lines().skip_while(|line| !line.starts_with("Commands:")).skip(1);
    let names: Vec<&str> = commands.map_while(|line| line.strip_prefix("  ")?.split(' ').next()).collect();
    assert!(names.len() > 20, "{names:?}");
    // `weir schema` prints tools and `weir serve` has an address for each, so their examples name some.
    for name in names.iter().filter(|name| !["", "schema", "serve"].contains(name)) {
        check(&home, &[name, "--help"], &[]);
    }
}

#[test]
fn the_output_of_a_run_is_shown_before_the_run_ends() {
    let home = Home::new();
    // The run waits for a file that is made once its first line has been seen.
    let code = "echo first; while [ ! -e go ]; do sleep 0.01; done; echo second";
    let command = format!("'{}' run '{code}'", env!("CARGO_BIN_EXE_weir"));
    let mut script = home.command("script", &["--quiet", "--flush", "--command", &command, "/dev/null"]);
    let mut child = script.env("SHELL", "/bin/sh").stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    assert!(lines.any(|line| line.contains("first")));
    home.write("go", "");
    assert!(lines.any(|line| line.contains("second")));
    assert!(lines.any(|line| line.contains("exit 0 in ")));
    child.wait().unwrap();
}

#[test]
fn a_person_reads_local_times_and_sees_the_matched_words() {
    let home = Home::new();
    home.note(&["the zebra pool is small"]);
    let script = |variables: &[(&str, &str)], command: &str| {
        let command = format!("'{}' {command}", env!("CARGO_BIN_EXE_weir"));
        let mut script = home.command("script", &["--quiet", "--command", &command, "/dev/null"]);
        script.env("SHELL", "/bin/sh").env("TERM", "xterm").envs(variables.iter().copied());
        text(&script.output().unwrap().stdout)
    };
    let found = script(&[], "search zebra");
    assert!(found.contains("\u{1b}[1mzebra\u{1b}[0m pool"), "{found}");
    let plain = script(&[("NO_COLOR", "1")], "search zebra");
    assert!(plain.contains("the zebra pool") && !plain.contains('\u{1b}'), "{plain}");
    // A quarter of a day, an hour and a minute east, so that no other zone is meant.
    let (utc, east) = (script(&[("TZ", "UTC0")], "notes"), script(&[("TZ", "XXX-07:01")], "notes"));
    let time = |shown: &str| shown.split(' ').nth(2).unwrap_or_default().to_owned();
    assert!(!utc.contains("Z ") && time(&utc) != time(&east), "{utc}{east}");
    // A time is read as it is shown.
    let plain_east = |command: &str| script(&[("TZ", "XXX-07:01"), ("NO_COLOR", "1")], command);
    let notes = plain_east("notes");
    let shown: Vec<&str> = notes.split(' ').skip(1).take(2).collect();
    let since = plain_east(&format!("history --since {}", shown.join("T")));
    assert!(since.contains("the zebra pool is small"), "{shown:?}: {since}");
    // An export is for programs wherever it goes.
    let export = plain_east("export");
    let made_at = export.split("\"made_at\":\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap_or_default();
    assert!(made_at.len() == "2026-01-31T12:00:00Z".len() && made_at.ends_with('Z'), "{export}");
}
