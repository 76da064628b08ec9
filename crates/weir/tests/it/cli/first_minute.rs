//! The first minute: what the program says by itself, its settings, its exit codes, and how it goes away without a
//! trace.

use std::fs;

use crate::support::{Home, files_below, said, text, write};

#[test]
fn without_arguments_it_says_how_things_stand_and_makes_no_store() {
    let home = Home::new();
    let shown = home.ok(&[]);
    assert!(shown.starts_with("weir ") && shown.contains("\nclients  none found\n"), "{shown}");
    assert!(shown.contains("store    none yet") && shown.contains("\nnext: weir run "), "{shown}");
    assert!(!home.data().exists());
    home.note(&["one"]);
    home.ok(&["setup", "claude", "--yes"]);
    let shown = home.ok(&[]);
    assert!(shown.contains("clients  Claude Code set up") && shown.contains("store    1 entry, "), "{shown}");
    assert!(shown.contains("next: start a session"), "{shown}");
    home.configure("nonsense = 1\n");
    let shown = home.ok(&[]);
    assert!(shown.contains("✗ cannot use ") && shown.contains("nonsense"), "{shown}");
}

#[test]
fn doctor_looks_without_making_a_store() {
    let home = Home::new();
    let shown = said(&home.weir(&["doctor"]));
    assert!(shown.contains("✓ project store: none yet\n✓ user store: none yet"), "{shown}");
    home.weir(&["doctor", "--rebuild-index", "--drop-lost"]);
    assert!(!home.data().join("user").exists());
    let stores = fs::read_dir(home.data().join("projects")).into_iter().flatten().flatten();
    let made: Vec<_> = stores.map(|store| store.path().join("log.db")).filter(|log| log.exists()).collect();
    assert!(made.is_empty(), "{made:?}");
    home.note(&["one"]);
    let shown = home.weir(&["doctor"]);
    assert!(said(&shown).contains("✓ project store: 1 entry, "), "{}", said(&shown));
}

#[test]
fn reading_makes_no_store() {
    let home = Home::new();
    let made = || {
        let stores = fs::read_dir(home.data().join("projects")).into_iter().flatten().flatten();
        let logs = stores.map(|store| store.path().join("log.db"));
        logs.chain([home.data().join("user/log.db")]).any(|log| log.exists())
    };
    for arguments in [
        &["history"][..],
        &["history", "--sessions"],
        &["history", "--session", "last"],
        &["search", "zebra"],
        &["search", "zebra", "--scope", "user"],
        &["stats"],
        &["reflect"],
        &["context"],
        &["context", "--scope", "user"],
        &["notes"],
        &["get", "ctx:k7f2m9q4xz"],
    ] {
        let shown = home.weir(arguments);
        assert!(matches!(shown.status.code(), Some(0 | 3)) && !made(), "{arguments:?}: {}", said(&shown));
    }
    home.note(&["The zebra pool is small"]);
    assert!(made() && home.ok(&["search", "zebra"]).contains("The zebra pool is small"));
}

#[test]
fn a_folder_that_cannot_be_used_fails_every_command() {
    let home = Home::new();
    home.write("file", "");
    for arguments in [&["doctor"][..], &[], &["config"], &["completions", "bash"], &["man"], &["statusline"]] {
        for folder in ["/nonexistent", "file"] {
            let output = home.weir(&[&["-C", folder][..], arguments].concat());
            let said = said(&output);
            assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
            assert!(said.contains(&format!("cannot use {folder} as the project folder: ")), "{arguments:?}: {said}");
        }
    }
    assert_eq!(home.weir(&["-C", "/nonexistent", "run", "true"]).status.code(), Some(125));
    assert_eq!(home.weir(&["-C", "..", "config", "path"]).status.code(), Some(0));
}

#[test]
fn settings_are_shown_with_the_line_that_sets_them_and_checked_after_an_edit() {
    let home = Home::new();
    let path = home.at(".config/weir/config.toml");
    assert_eq!(home.ok(&["config", "path"]).trim(), path.to_str().unwrap());
    assert!(home.ok(&["config"]).contains("timeout_seconds = 50"));
    let edit = |editor: &str| home.weir_command(&["config", "edit"]).env("EDITOR", editor).output().unwrap();
    let untouched = edit("true");
    assert!(untouched.status.success() && !path.exists(), "{}", said(&untouched));
    let good = edit("printf '[run]\\ntimeout_seconds = 7\\n' >");
    assert!(good.status.success() && text(&good.stdout).contains("is valid"), "{}", said(&good));
    let shown = home.ok(&["config", "show", "--set"]);
    let line = format!("# {}:2", path.display());
    assert!(shown.contains("timeout_seconds = 7") && shown.contains(&line), "{shown}");
    assert!(!shown.contains("output_mb"), "{shown}");
    let bad = edit("printf 'nonsense = 1\\n' >");
    assert_eq!(bad.status.code(), Some(5), "{}", said(&bad));
    assert!(text(&bad.stderr).contains("`weir config edit` opens it again"), "{}", said(&bad));
    assert_eq!(home.ok(&["config", "path"]).trim(), path.to_str().unwrap(), "with a file that cannot be used");
}

#[test]
fn the_exit_code_of_a_run_is_the_command_s_and_failures_of_weir_have_others() {
    let home = Home::new();
    home.configure("[policy]\ndeny = [\"Bash(sudo *)\"]\n");
    for (arguments, code) in [
        (&["run", "exit 1"][..], 1),
        (&["run", "exit 6"], 6),
        (&["run", "--timeout", "1", "sleep 60"], 124),
        (&["run", "sudo id"], 126),
        (&["run", ""], 125),
        (&["run", "--timeout", "x", "true"], 125),
        (&["search"], 2),
        (&["get", "0000000000"], 3),
        (&["nonsense"], 2),
        (&["run", "--keep", "true"], 125),
        (&["run", "--end", "0000000000", "--background"], 125),
        (&["get", "0000000000", "--context", "3"], 2),
        (&["notes", "--confirm", "0000000000", "--all"], 2),
        (&["index", "--text", "some", "--include", "*.md"], 2),
        (&["import", "old.json", "--all", "--project-name", "api"], 2),
        (&["--help"], 0),
    ] {
        let output = home.weir(arguments);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {}", said(&output));
    }
}

#[test]
fn an_option_that_cannot_be_followed_is_an_error_and_a_filter_is_named() {
    let home = Home::new();
    let reference = home.note(&["one"]);
    let both = home.weir(&["get", &reference, "--raw", "--json"]);
    assert_eq!((both.status.code(), text(&both.stdout).as_str()), (Some(2), ""), "{}", said(&both));
    let none = said(&home.weir(&["history", "--sessions", "--client", "nobody"]));
    assert!(none.contains("no sessions match"), "{none}");
    let none = said(&home.weir(&["stats", "--client", "nobody"]));
    assert!(none.contains("that matches the filters: remove a filter"), "{none}");
}

#[test]
fn options_may_follow_a_script() {
    let home = Home::new();
    let answer = home.json(&["run", "echo hi"]);
    assert_eq!(answer["text"].as_str().map(str::trim), Some("hi"));
    let verdict = home.json(&["policy", "check", "echo hi; ls"]);
    assert_eq!(verdict["verdict"], "allow");
}

#[test]
fn a_failure_in_the_sandbox_says_what_to_change() {
    let home = Home::new();
    let shown = text(&home.weir(&["run", "touch /etc/x"]).stdout);
    assert!(shown.contains("the sandbox lets a run change only the project"), "{shown}");
    assert!(shown.contains("set writable in [run] of "), "{shown}");
    let shown = text(&home.weir(&["run", "echo Network is unreachable; exit 1"]).stdout);
    assert!(shown.contains("the sandbox has no network"), "{shown}");
    assert!(!home.ok(&["run", "echo Network is unreachable"]).contains("sandbox has no network"));
}

#[test]
fn uninstalling_leaves_nothing() {
    let home = Home::new();
    write(&home.at(".claude/settings.json"), "{}\n");
    home.note(&["one"]);
    home.ok(&["run", "echo hi"]);
    home.ok(&["setup", "claude", "codex", "--yes"]);
    home.ok(&["setup", "claude", "--project", "--yes"]);
    home.configure("[run]\ntimeout_seconds = 7\n");
    assert_eq!(home.weir(&["uninstall", "--purge"]).status.code(), Some(6));
    let plan = home.ok(&["uninstall", "--purge", "--dry-run"]);
    assert!(plan.contains(home.data().to_str().unwrap()) && plan.contains(" files, "), "{plan}");
    assert!(home.data().exists(), "a dry run");
    // In another folder, where the project's settings are found through the ledger.
    let folder = home.at("elsewhere");
    fs::create_dir(&folder).unwrap();
    let output = home.weir_in(&folder, &["uninstall", "--purge", "--yes"]);
    assert!(output.status.success(), "{}", said(&output));
    assert!(text(&output.stdout).contains("then remove the program itself: rm "), "{}", said(&output));
    assert_eq!(fs::read_to_string(home.at(".claude/settings.json")).unwrap(), "{}\n");
    for gone in [".local/share/weir", ".config/weir", ".cache/weir", ".codex", "project/.mcp.json", "project/.claude"] {
        assert!(!home.at(gone).exists(), "{gone} is still there");
    }
}

#[test]
fn purging_a_chosen_folder_removes_only_what_weir_made() {
    let home = Home::new();
    let data = home.at("chosen/weir");
    let theirs = ["cache/page", "config.toml", "notes.txt", "projects/mine/main.rs"];
    for name in theirs {
        write(&data.join(name), "theirs");
    }
    let weir = |arguments: &[&str]| {
        let output = home.weir_command(arguments).env("WEIR_DATA", &data).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
    };
    weir(&["note", "one"]);
    weir(&["setup", "claude", "--yes"]);
    write(&data.join("team-tokens/a"), "secret");
    weir(&["uninstall", "--purge", "--yes"]);
    let left = files_below(&data).into_iter();
    let mut left: Vec<String> = left.map(|path| path.strip_prefix(&data).unwrap().display().to_string()).collect();
    left.sort();
    assert_eq!(left, theirs);
}

#[cfg(unix)]
#[test]
fn purging_follows_a_link_to_the_data() {
    let home = Home::new();
    let elsewhere = home.at("elsewhere");
    write(&elsewhere.join("theirs"), "theirs");
    fs::create_dir_all(home.data().parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(&elsewhere, home.data()).unwrap();
    home.note(&["one"]);
    home.ok(&["uninstall", "--purge", "--yes"]);
    assert!(!home.data().is_symlink());
    assert_eq!(files_below(&elsewhere), [elsewhere.join("theirs")]);
}

#[test]
fn upgrade_names_the_command_and_man_pages_exist_for_every_command() {
    let home = Home::new();
    let shown = home.ok(&["upgrade"]);
    assert!(shown.contains("\norigin   unknown\nupdate   not known: replace "), "{shown}");
    assert!(home.ok(&["man", "run"]).contains(".TH weir-run 1"), "{}", home.ok(&["man", "run"]));
    let folder = home.at("man1");
    home.ok(&["man", "--into", folder.to_str().unwrap()]);
    for page in ["weir.1", "weir-run.1", "weir-policy-check.1"] {
        assert!(folder.join(page).exists(), "{page}");
    }
}

#[test]
fn a_note_is_found_by_its_topic() {
    let home = Home::new();
    home.note(&["Use spaces", "--topic", "code style", "--kind", "convention"]);
    home.note(&["Tabs are fine", "--topic", "editors"]);
    let found = home.ok(&["search", "style"]);
    assert!(found.contains("on 'code style' (rev 1)") && found.contains("Use spaces"), "{found}");
    assert!(!found.contains("Tabs"), "{found}");
    assert_eq!(home.json(&["search", "code", "style"])["queries"][0]["hits"].as_array().unwrap().len(), 1);
}
