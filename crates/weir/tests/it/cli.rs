//! The command line as a person uses it: real runs in an empty home.

mod first_minute;
mod off;
mod people;
mod terminal;

use expect_test::expect;

use crate::support::{Home, feed, files_below, parsed, text};

#[test]
fn a_note_is_kept_found_read_listed_and_forgotten() {
    let home = Home::new();
    let note = ["note", "The pool has 16 connections", "--kind", "decision", "--topic", "pool"];
    home.check(
        &note,
        expect![[r#"
        kept [REF] in project scope
        exit 0"#]],
    );
    home.check(
        &["search", "how", "many", "connections"],
        expect![[r#"
        [REF] note/decision on pool (rev 1) by user, DATE
        <<<REF
        The pool has 16 connections
        REF>>>
        exit 0"#]],
    );
    home.check(
        &["history"],
        expect![[r#"
        <<<MARK
        1 DATE note The pool has 16 connections [REF]
        MARK>>>
        exit 0"#]],
    );
    let plan = home.json(&["forget", "--topic", "pool"]);
    let confirmation = plan["confirm"].as_str().unwrap();
    home.check(
        &["forget", "--topic", "pool", "--confirm", confirmation],
        expect![[r#"
            removed from the project store: 1 entry, 0 events, 1 text
            remaining: entries 0, events 0, runs 0, texts 0, documents 0, chunks 0, words 0, vectors 0
            exit 0"#]],
    );
    home.check(
        &["search", "connections"],
        expect![[r#"
            nothing found for `connections`: only what happened in sessions is kept here yet; `weir history` lists it; add content with `weir index` or `weir fetch`
            exit 3"#]],
    );
    home.check(
        &["history"],
        expect![[r#"
        <<<MARK
        2 DATE forgotten [REF]
        MARK>>>
        exit 0"#]],
    );
}

#[test]
fn expired_and_never_existed_are_told_apart_from_a_typing_error() {
    let home = Home::new();
    let reference = home.note(&["soon gone"]);
    let plan = home.json(&["forget", &reference]);
    home.ok(&["forget", &reference, "--confirm", plan["confirm"].as_str().unwrap()]);
    home.check(
        &["get", &reference],
        expect![[r#"
        error: [REF] was forgotten on request on DATE; it was a note
        hint: nothing is left of it
        exit 3"#]],
    );
    home.check(
        &["get", "0000000000"],
        expect![[r#"
        error: [REF] never existed in this project, or was removed more than 365 days ago
        hint: check the ten characters of the reference and the project that it is from, or search for the entry
        exit 3"#]],
    );
    home.check(
        &["get", "nonsense"],
        expect![[r#"
        error: no reference here begins with `nonsense`
        hint: `weir history` and `weir search` list references
        exit 3"#]],
    );
    home.check(
        &["get", "no reference"],
        expect![[r#"
        error: `no reference` is not a reference; one looks like [REF]
        hint: `weir history` and `weir search` list references
        exit 2"#]],
    );
}

#[test]
fn forgetting_needs_a_choice_and_the_right_confirmation() {
    let home = Home::new();
    let reference = home.note(&["stays"]);
    home.check(
        &["forget"],
        expect![[r#"
        error: no entries selected
        hint: select entries by reference, topic, source, session or time, or select the whole project
        exit 2"#]],
    );
    home.check(
        &["forget", &reference, "--confirm", "00000000"],
        expect![[r#"
        error: the store has changed since the dry run
        hint: repeat the dry run and use its new code
        exit 2"#]],
    );
    home.check(
        &["forget", "--session", "no-such-session"],
        expect![[r#"
        no entries match; nothing would be removed
        exit 3"#]],
    );
    assert!(home.ok(&["get", &reference]).contains("stays"));
}

#[test]
fn work_trees_share_a_project_and_others_do_not() {
    let home = Home::new();
    home.git(&["init", "-q"]);
    home.git(&["commit", "-q", "--allow-empty", "-m", "one"]);
    home.git(&["worktree", "add", "-q", "-b", "side", "../side"]);
    home.note(&["seen from every work tree"]);
    home.note(&["only on this branch", "--scope", "work"]);
    home.note(&["everywhere", "--scope", "user"]);
    let side = text(&home.weir_in(&home.at("side"), &["search", "seen branch everywhere"]).stdout);
    assert!(side.contains("seen from every work tree") && side.contains("everywhere"), "{side}");
    assert!(!side.contains("only on this branch"), "{side}");
    let other = home.at("other");
    std::fs::create_dir(&other).unwrap();
    let other = text(&home.weir_in(&other, &["search", "seen branch everywhere"]).stdout);
    assert!(other.contains("everywhere") && !other.contains("seen from"), "{other}");
}

#[test]
fn a_secret_never_reaches_the_disk() {
    let home = Home::new();
    let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2).split_at(36).0);
    let answer = home.ok(&["note", &format!("the token is {secret}, rotate it"), "--topic", &format!("t {secret}")]);
    assert!(answer.contains("redacted before storing: github"), "{answer}");
    for entry in files_below(&home.data()) {
        let bytes = std::fs::read(&entry).unwrap();
        assert!(!bytes.windows(20).any(|part| part == &secret.as_bytes()[4..24]), "{}", entry.display());
    }
}

#[test]
fn files_are_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    home.note(&["private"]);
    for path in files_below(&home.data()).into_iter().chain([home.data()]) {
        let mode = path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, if path.is_dir() { 0o700 } else { 0o600 }, "{}", path.display());
    }
}

#[test]
fn bytes_come_back_as_they_went_in_and_long_texts_are_cut_by_the_line() {
    let home = Home::new();
    let long: String = (1..=3_000).map(|n| format!("line number {n} of a long text\n")).collect();
    let answer = parsed(&feed(home.weir_command(&["note", "-", "--json"]), long.as_bytes()));
    let reference = answer["reference"].as_str().unwrap();
    assert_eq!(home.ok(&["get", reference, "--raw"]), long);
    let cut = home.ok(&["get", reference, "--budget", "300"]);
    assert!(cut.contains("continue with --lines "), "{cut}");
    assert!(weir_tokens::count(&cut) <= 300);
    let from: u64 = cut.split("continue with --lines ").nth(1).unwrap().split('-').next().unwrap().parse().unwrap();
    let next = home.ok(&["get", reference, "--lines", &format!("{from}-{}", from + 1)]);
    assert!(next.contains(&format!("line number {from} of")), "{next}");
    assert!(home.ok(&["get", reference, "--lines", "-1"]).contains("line number 3000 of"));
    assert!(home.ok(&["get", reference, "--pattern", "number 29[0-9]0 "]).contains("2910: line number 2910"));
}

#[test]
fn a_damaged_store_is_named_and_left_alone() {
    let home = Home::new();
    home.note(&["precious"]);
    let projects = home.data().join("projects");
    let folder = std::fs::read_dir(projects).unwrap().next().unwrap().unwrap().path();
    std::fs::write(folder.join("index.db"), "not a database, not at all, but long enough to look like one".repeat(9))
        .unwrap();
    let output = home.weir(&["search", "precious"]);
    let message = text(&output.stderr);
    assert!(message.contains("damaged") && message.contains("weir doctor --rebuild-index"), "{message}");
    assert_eq!(output.status.code(), Some(4));
    home.ok(&["doctor", "--rebuild-index"]);
    assert!(home.ok(&["search", "precious"]).contains("precious"));
    let damaged = "garbage ".repeat(600);
    std::fs::write(folder.join("log.db"), &damaged).unwrap();
    let output = home.weir(&["search", "precious"]);
    let message = text(&output.stderr);
    assert!(message.contains("damaged") && message.contains("nothing was changed"), "{message}");
    assert_eq!(std::fs::read_to_string(folder.join("log.db")).unwrap(), damaged);
}

#[test]
fn a_wrong_configuration_is_refused_with_where_to_look() {
    let home = Home::new();
    home.configure("[retention]\nrun_weeks = 3\n");
    let output = home.weir(&["history"]);
    let message = text(&output.stderr);
    assert!(
        message.contains("run_weeks") && message.contains("hint: `weir config show` lists every setting"),
        "{message}"
    );
    assert_eq!(output.status.code(), Some(5));
}

#[test]
fn the_model_is_what_the_settings_say_and_without_one_words_decide() {
    let home = Home::new();
    home.note(&["Images are resized before they are uploaded"]);
    home.note(&["The invoice template is written in German"]);
    let ask = || text(&home.weir(&["search", "scale pictures"]).stdout);
    let doctor = || text(&home.weir(&["doctor"]).stdout);
    assert!(ask().contains("; similar in meaning") && ask().contains("Images are resized"), "{}", ask());
    assert!(doctor().contains("✓ semantic search: weir-static-256-v1"), "{}", doctor());
    home.configure("[search]\nmodel = \"off\"\n");
    assert!(ask().contains("nothing found"), "{}", ask());
    assert!(doctor().contains("✓ semantic search: off"), "{}", doctor());
    home.configure("[search]\nmodel = \"/nowhere\"\n");
    assert!(ask().contains("keyword matches only: cannot use the model in /nowhere"), "{}", ask());
    assert!(doctor().contains("✗ semantic search: cannot use the model in /nowhere"), "{}", doctor());
    home.configure("[search]\nendpoint = \"http://127.0.0.1:9\"\n");
    assert_eq!(home.weir(&["history"]).status.code(), Some(5), "an endpoint without a model");
    home.configure("[search]\nendpoint = \"http://127.0.0.1:9/v1\"\nmodel = \"some\"\n");
    assert!(ask().contains("keyword matches only: "), "{}", ask());
}

#[test]
fn help_and_completions_are_there_for_every_command() {
    let home = Home::new();
    let commands = [
        "run", "batch", "index", "fetch", "note", "notes", "search", "get", "history", "forget", "doctor",
        "policy check", "mcp", "proxy", "serve", "completions", "man", "config", "upgrade", "uninstall",
    ];
    let completions = home.ok(&["completions", "bash"]);
    for command in commands {
        let words: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        let help = home.ok(&words);
        assert!(help.contains("Example"), "{command}: {help}");
        let summary = home.ok(&command.split(' ').chain(["-h"]).collect::<Vec<_>>());
        assert!(!summary.contains("Example") && summary.len() < help.len(), "{command}: {summary}");
        assert!(completions.contains(words[0]));
    }
    let summary = home.ok(&["-h"]);
    assert!(summary.lines().count() <= 24 && summary.contains("weir --help lists all commands"), "{summary}");
    assert!(home.ok(&["--help"]).lines().count() > 24);
    assert!(!home.data().exists(), "asking for help makes no store");
}
