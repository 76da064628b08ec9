//! What a run sees of home folders: the project, toolchains and what the user names.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::json;

use super::configured;
use crate::support::{Home, text};

/// Creates a home with files. Each contains its own name after `text of`.
fn with_files(config: &str, files: &[&str]) -> Home {
    let home = configured(config);
    for file in files {
        home.write(&format!("../{file}"), format!("text of {file}\n"));
    }
    home
}

fn readable<'a>(home: &Home, files: &[&'a str]) -> Vec<&'a str> {
    let said = text(&home.weir(&["run", &format!("cd ~ && cat {} 2>&1; true", files.join(" "))]).stdout);
    files.iter().copied().filter(|file| said.contains(&format!("text of {file}"))).collect()
}

#[test]
fn nothing_of_the_home_is_seen_but_the_project_and_toolchains() {
    const HIDDEN: &[&str] = &[
        "notes.txt", "other/main.c", "other/.env", "other/server.key", ".databrickscfg",
        ".claude/projects/p/session.jsonl", ".codex/history.jsonl", ".supabase/access-token",
        ".config/configstore/x.json", ".config/weir/other.toml", ".cargo/credentials.toml", ".m2/settings.xml",
        ".gradle/gradle.properties", ".npm/_logs/x.log", ".local/share/keyrings/login",
    ];
    const SEEN: &[&str] = &[
        "project/a.txt", ".cargo/registry/index", ".rustup/settings.toml", ".m2/repository/a.pom", ".gradle/caches/a",
        ".npm/_cacache/a", ".nvm/nvm.sh", "go/pkg/mod/a", ".local/bin/tool", ".gitconfig",
    ];
    let home = with_files("", &[HIDDEN, SEEN].concat());
    assert_eq!(readable(&home, SEEN), SEEN);
    assert_eq!(readable(&home, HIDDEN), [""; 0]);
    let listed = home.ok(&["run", "ls -A ~ ~/.config ~/.local/share 2>&1; true"]);
    assert!(listed.contains("project") && !listed.contains("notes.txt") && !listed.contains("keyrings"), "{listed}");
}

#[test]
fn the_home_cannot_be_written_to() {
    let home = with_files("", &[".cargo/config.toml"]);
    let said = home.ok(&[
        "run",
        "for f in ~/x ~/.bashrc ~/.cargo/x ~/.local/x; do touch $f 2>/dev/null && echo made $f; done; true",
    ]);
    assert!(!said.contains("made"), "{said}");
}

#[test]
fn what_the_user_names_is_seen() {
    const FILES: &[&str] = &["notes/deep/a.txt", "data/a.csv", "data/a.txt", ".npmrc", ".pypirc"];
    let home = with_files("[run]\nreadable = [\"~/notes\", \"~/data/*.csv\", \"~/.npmrc\"]\n", FILES);
    assert_eq!(readable(&home, FILES), ["notes/deep/a.txt", "data/a.csv", ".npmrc"]);
}

#[test]
fn a_toolchain_is_seen_through_links_and_where_path_names_it() {
    let mut home = with_files("", &["opt/tool/lib/data", "opt/tool/.env", "checkout/.git/HEAD", "checkout/main.c"]);
    for program in ["opt/tool/bin/mytool", "checkout/bin/other", "elsewhere/real/linked"] {
        home.write(
            &format!("../{program}"),
            "#!/bin/sh\ncat \"$(dirname \"$0\")/../lib/data\" 2>/dev/null; echo ran\n",
        );
        fs::set_permissions(home.path().join(program), fs::Permissions::from_mode(0o755)).unwrap();
    }
    symlink("elsewhere/real", home.path().join("links")).unwrap();
    for folder in ["opt/tool/bin", "checkout/bin", "links"] {
        let folder = home.path().join(folder);
        home.programs.insert(0, folder);
    }
    let said = home.ok(&["run", "mytool; other; linked; cat ~/checkout/main.c 2>&1; true"]);
    assert_eq!(said.matches("ran").count(), 3, "{said}");
    assert!(said.contains("text of opt/tool/lib/data") && !said.contains("text of checkout"), "{said}");
}

/// A repository, or an earlier run, makes links where `PATH` and variables point into the project.
#[test]
fn a_link_in_the_project_shows_nothing_more() {
    let mut home = with_files("", &["other/.env", "other/bin/x", "other/lib/y", "project/node_modules/x"]);
    symlink("../..", home.at("project/node_modules/.bin")).unwrap();
    symlink("../other", home.at("project/.venv")).unwrap();
    for folder in ["project/.venv/bin", "project/node_modules/.bin"] {
        home.programs.insert(0, home.at(folder));
    }
    let run = |code: &str| {
        let mut run = home.weir_command(&["run", code]);
        run.env("VIRTUAL_ENV", home.at("project/.venv")).env("GOPATH", home.at("project/node_modules/.bin"));
        text(&run.output().unwrap().stdout)
    };
    let said = run("cat ../other/.env ../other/lib/y 2>&1; ls -A ..; rm .venv; ln -s .. .venv");
    assert!(said.contains("project") && !said.contains("other/.env\n") && !said.contains("text of"), "{said}");
    let said = run("cat ../other/.env ../other/lib/y 2>&1; true");
    assert!(said.contains("No such file") && !said.contains("text of"), "{said}");
}

/// A folder of programs is no installation because of its name alone.
#[test]
fn the_folder_around_programs_is_shown_only_if_it_is_an_installation() {
    let mut home = with_files("", &["src/bin/tool", "src/other/.env", "tools/bin/x", "tools/lib/y", "tools/a/.git"]);
    for folder in ["src/bin", "tools/bin"] {
        home.programs.insert(0, home.at(folder));
    }
    assert_eq!(readable(&home, &["src/bin/tool", "src/other/.env", "tools/lib/y"]), ["src/bin/tool"]);
}

#[test]
fn the_home_itself_in_path_is_not_shown() {
    let mut home = with_files("", &["notes.txt"]);
    let folder = home.path().to_owned();
    home.programs.insert(0, folder);
    assert_eq!(readable(&home, &["notes.txt"]), [""; 0]);
}

#[test]
fn a_linked_work_tree_finds_its_repository() {
    let home = Home::with_programs();
    home.git(&["init", "-q"]);
    home.write("a.txt", "text of a\n");
    home.git(&["add", "."]);
    home.git(&["commit", "-q", "-m", "the first"]);
    home.git(&["worktree", "add", "-q", "../tree"]);
    let tree = home.path().join("tree");
    let mut run = home.weir_command(&["run", "git log --oneline; git status; cat ../project/a.txt"]);
    let said = text(&run.current_dir(&tree).output().unwrap().stdout);
    assert!(said.contains("the first") && said.contains("On branch tree"), "{said}");
    assert!(!said.contains("text of a"), "{said}");
}

#[test]
fn a_client_that_was_started_at_home_sees_no_more() {
    let home = with_files("", &["notes.txt", ".ssh/id_rsa", "folder/a.txt"]);
    let mut run = home.weir_command(&["run", "pwd; ls -A; cat notes.txt folder/a.txt .ssh/id_rsa"]);
    let said = text(&run.current_dir(home.path()).output().unwrap().stdout);
    assert!(said.contains("contains the home folder") && !said.contains("text of"), "{said}");
}

#[test]
fn a_run_outside_of_what_is_seen_is_refused_before_it_starts() {
    let home = with_files("", &["other/a.txt"]);
    let output = home.weir(&["run", "--cwd", "../other", "pwd"]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(126), "{said}");
    assert!(said.contains("cannot start in") && said.contains("`readable`"), "{said}");
}

#[test]
fn a_hidden_path_in_the_code_is_said_to_be_hidden() {
    let home = with_files("", &["other/a.txt", ".cargo/config.toml"]);
    let said = home.ok(&["run", "cat ../other/a.txt; true"]);
    assert!(said.contains("other/a.txt is hidden from runs") && said.contains("`readable`"), "{said}");
    let said = home.ok(&["run", "cat ~/.cargo/config.toml ../nothing; true"]);
    assert!(!said.contains("hidden from runs"), "{said}");
    home.configure("sandbox = \"off\"\n");
    let said = text(&home.piped(&["run", "cat ../other/a.txt"]).stdout);
    assert!(said.contains("text of") && !said.contains("hidden from runs"), "{said}");
}

/// Tests run as root where possible.
#[test]
fn other_homes_and_passwords_are_hidden_from_root() {
    let home = Home::with_programs();
    let code = "cat /etc/shadow /etc/gshadow /etc/sudoers 2>/dev/null | wc -c; ls -A /root /home 2>/dev/null; true";
    let said = home.ok(&["run", code]);
    assert!(said.lines().any(|line| line == "0") && !said.contains(".bashrc"), "{said}");
}

#[test]
fn a_file_that_a_person_names_is_given_to_the_run_wherever_it_lies() {
    let home = with_files("", &["notes.txt", ".ssh/id_rsa"]);
    let log = tempfile::Builder::new().prefix("weir-named-").suffix(".log").tempfile_in("/tmp").unwrap();
    fs::write(log.path(), "text of the log\n").unwrap();
    let path = log.path().to_str().unwrap();
    let code = "print(FILE_CONTENT, open(FILE_PATH).read())";
    let said = home.ok(&["run", "-l", "python", "--file", path, code]);
    assert_eq!(said.matches("text of the log").count(), 2, "{said}");
    // The file cannot be changed, and nothing next to it is visible.
    let said = home.ok(&["run", "--file", path, "echo x > \"$FILE_PATH\" || ls /tmp"]);
    assert_eq!(fs::read_to_string(log.path()).unwrap(), "text of the log\n", "{said}");
    let mut server = home.server();
    // For a model, the rule is that of `context_read`: the project, and what the user allows.
    for path in [log.path(), &home.path().join("notes.txt")] {
        let said = server.said("ctx_execute_file", &json!({ "path": path, "language": "python", "code": code }));
        assert!(said.contains("nothing was run") && said.contains("it is outside the project"), "{said}");
        assert!(
            server.said("context_read", &json!({ "path": path })).contains("it is outside the project"),
            "{path:?}"
        );
    }
    assert!(home.ok(&["run", "-l", "python", "--file", "../notes.txt", code]).contains("text of notes.txt"));
    let secret = home.weir(&["run", "-l", "python", "--file", "../.ssh/id_rsa", code]);
    let said = text(&secret.stderr);
    assert!(secret.status.code() == Some(126) && said.contains("hidden as a secret"), "{said}");
}
