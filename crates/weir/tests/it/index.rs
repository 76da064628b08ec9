//! Indexing of files, folders and texts, through the program itself.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use expect_test::expect;
use serde_json::Value;

use crate::support::{Home, WEIR, age, feed, parsed, text, write};

impl Home {
    /// Returns the sources in which a search finds this word. Other sources may be similar in meaning.
    fn found(&self, arguments: &[&str]) -> Vec<String> {
        let answer = self.answer(&[&["search", "--limit", "60", "--budget", "20000"], arguments].concat());
        let hits = answer["queries"][0]["hits"].as_array().unwrap().clone();
        let has_word = |hit: &&Value| hit["excerpt"].as_str().unwrap().to_lowercase().contains(arguments[0]);
        let source = |hit: &Value| hit["source"].as_str().unwrap_or_default().to_owned();
        let mut sources: Vec<String> = hits.iter().filter(has_word).map(source).collect();
        sources.sort();
        sources.dedup();
        sources
    }
}

fn counts(answer: &Value) -> [u64; 4] {
    ["new", "changed", "unchanged", "removed"].map(|key| answer[key].as_u64().unwrap())
}

fn mixed() -> Home {
    let home = Home::new();
    home.write_old("docs/install.md", "# Install\n\nUnpack the zebra archive.\n");
    home.write_old("docs/deep/er/usage.md", "# Usage\n\nFeed the zebra twice a day.\n");
    home.write_old("docs/api.json", "{\"paths\": {\"/zebra\": {\"get\": \"a list\"}}}");
    home.write_old("docs/page.html", "<html><head><title>Zebras</title></head><body><nav>menu</nav><h1>Stripes</h1><p>A zebra has stripes.</p></body></html>");
    home.write_old("docs/.gitignore", "build/\n*.tmp\n");
    home.write_old("docs/build/out.md", "zebra ignored\n");
    home.write_old("docs/a.tmp", "zebra ignored\n");
    home.write_old("docs/.hidden.md", "zebra hidden\n");
    home.write_old("docs/prod.env", "ZEBRA=secret\n");
    home.write_old("docs/server.key", "zebra key\n");
    home.write_old("docs/logo.png", b"\x89PNG\r\n\x1a\n\0\0\0\rzebra");
    home.write_old("docs/paper.pdf", b"%PDF-1.7\nzebra");
    home.write_old("docs/empty.txt", "");
    home.write_old("docs/large.txt", "zebra ".repeat(1_500_000));
    std::os::unix::fs::symlink("..", home.project().join("docs/loop")).unwrap();
    std::os::unix::fs::symlink("/etc/passwd", home.project().join("docs/users")).unwrap();
    home
}

#[test]
fn a_folder_is_indexed_as_git_sees_it_and_without_secrets() {
    let home = mixed();
    home.check(
        &["index", "docs"],
        expect![[r#"
        docs: 4 files (4 new; 232 B in TIME)
        skipped: 2 hidden as secret, 1 binary, 1 PDF, 1 larger than 8 MiB, 1 empty, 2 symbolic links
        search it with --source 'docs'
        exit 0"#]],
    );
    assert_eq!(home.found(&["zebra"]), ["docs/api.json", "docs/deep/er/usage.md", "docs/install.md", "docs/page.html"]);
    let page = home.answer(&["search", "stripes"]);
    let hit = &page["queries"][0]["hits"][0];
    assert!(hit["title"] == "Zebras" && hit["excerpt"].as_str().unwrap().contains("# Stripes"), "{hit}");
    assert!(!hit["excerpt"].as_str().unwrap().contains("menu"), "{hit}");
}

#[test]
fn only_what_changed_is_read_again_and_what_is_gone_is_removed() {
    let home = mixed();
    assert_eq!(counts(&home.answer(&["index", "docs"])), [4, 0, 0, 0]);
    let again = home.answer(&["index", "docs"]);
    assert_eq!((counts(&again), again["bytes"].as_u64()), ([0, 0, 4, 0], Some(0)));
    // Newer, but the same content.
    age(&home.project().join("docs/install.md"), 30);
    assert_eq!(counts(&home.answer(&["index", "docs"])), [0, 0, 4, 0]);
    home.write_old("docs/install.md", "# Install\n\nUnpack the okapi archive.\n");
    std::fs::rename(home.project().join("docs/api.json"), home.project().join("docs/renamed.json")).unwrap();
    std::fs::remove_dir_all(home.project().join("docs/deep")).unwrap();
    assert_eq!(counts(&home.answer(&["index", "docs"])), [1, 1, 1, 2]);
    assert_eq!(home.found(&["zebra"]), ["docs/page.html", "docs/renamed.json"]);
    assert_eq!(home.found(&["okapi"]), ["docs/install.md"]);
    // A file that is no longer text is removed too.
    home.write_old("docs/install.md", b"\0okapi");
    assert_eq!(counts(&home.answer(&["index", "docs"])), [0, 0, 2, 1]);
    assert_eq!(home.found(&["okapi"]), [""; 0]);
}

#[test]
fn a_file_that_changes_without_looking_newer_is_seen_while_it_is_fresh() {
    let home = Home::new();
    let path = home.project().join("a.txt");
    std::fs::write(&path, "okapi").unwrap();
    let modified = path.metadata().unwrap().modified().unwrap();
    home.answer(&["index", "a.txt"]);
    std::fs::write(&path, "zebra").unwrap();
    std::fs::File::options().write(true).open(&path).unwrap().set_modified(modified).unwrap();
    assert_eq!(counts(&home.answer(&["index", "a.txt"])), [0, 1, 0, 0]);
}

#[test]
fn globs_choose_and_leave_alone_what_they_do_not_choose() {
    let home = mixed();
    assert_eq!(counts(&home.answer(&["index", "docs", "--include", "*.md"])), [2, 0, 0, 0]);
    assert_eq!(counts(&home.answer(&["index", "docs", "--include", "*.json", "--exclude", "deep"])), [1, 0, 0, 0]);
    assert_eq!(home.found(&["zebra"]), ["docs/api.json", "docs/deep/er/usage.md", "docs/install.md"]);
    let output = home.weir(&["index", "docs", "--include", "a["]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_label_stands_for_all_below_it() {
    let home = mixed();
    let outside = home.at("handbook");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("zebra.md"), "# Care\n\nA zebra in the handbook.\n").unwrap();
    home.answer(&["index", "docs"]);
    home.answer(&["index", "../handbook", "--source", "handbook"]);
    assert_eq!(home.found(&["zebra", "--source", "handbook"]), ["handbook/zebra.md"]);
    assert_eq!(home.found(&["zebra", "--source", "docs/deep"]), ["docs/deep/er/usage.md"]);
    assert_eq!(home.found(&["zebra", "--source", "doc"]), [""; 0]);
    // Without a label, a folder outside the project is labelled with its full path.
    let answer = home.answer(&["index", "../handbook"]);
    assert_eq!(answer["source"].as_str().unwrap(), outside.canonicalize().unwrap().to_str().unwrap());
}

#[test]
fn a_file_of_the_project_is_indexed_once_whichever_folder_was_named() {
    let home = mixed();
    home.answer(&["index", "docs"]);
    home.answer(&["index", "docs/install.md"]);
    home.answer(&["index", ".", "--exclude", "*.html"]);
    assert_eq!(home.found(&["archive"]), ["./docs/install.md"]);
    assert_eq!(counts(&home.answer(&["index", "docs/install.md"])), [0, 0, 1, 0]);
    home.answer(&["index", "docs"]);
    assert_eq!(home.found(&["archive"]), ["./docs/install.md"]);
}

#[test]
fn a_rule_that_denies_reading_holds_for_every_file() {
    let home = mixed();
    assert_eq!(counts(&home.answer(&["index", "docs"])), [4, 0, 0, 0]);
    home.write_old(".claude/settings.json", r#"{"permissions": {"deny": ["Read(./docs/deep/**)", "Read(*.html)"]}}"#);
    let answer = home.answer(&["index", "docs"]);
    assert_eq!((counts(&answer), answer["skipped"]["denied"].as_u64()), ([0, 0, 2, 2], Some(2)));
    assert_eq!(home.found(&["zebra"]), ["docs/api.json", "docs/install.md"]);
    home.check(
        &["index", "docs/deep/er/usage.md"],
        expect![[r#"
        error: cannot index HOME/project/docs/deep/er/usage.md: a rule denies reading it
        hint: blocked by a user rule or because it holds secrets; do not work around this
        exit 6"#]],
    );
    home.check(
        &["index", "docs/prod.env"],
        expect![[r#"
        error: cannot index HOME/project/docs/prod.env: it is hidden as a secret
        hint: blocked by a user rule or because it holds secrets; do not work around this
        exit 6"#]],
    );
    home.write_old(".claude/settings.json", r#"{"permissions": {"deny": ["mcp__weir__ctx_index"]}}"#);
    home.check(&["index", "docs"], expect![[r#"
        error: nothing was indexed. deny: `mcp__weir__ctx_index` is denied (rule `mcp__weir__ctx_index` in HOME/project/.claude/settings.json)
        hint: if it is your rule, change it to allow this; if it is not, do not work around it
        exit 6"#]]);
}

#[test]
fn secrets_at_home_and_what_weir_keeps_are_not_read_by_any_name() {
    let home = mixed();
    home.write_old("../.aws/credentials", "zebra = 1\n");
    home.write_old("../.config/gh/hosts.yml", "zebra: 1\n");
    std::os::unix::fs::symlink("../../.aws/credentials", home.project().join("docs/notes.txt")).unwrap();
    for path in ["../.aws/credentials", "../.config/gh/hosts.yml", "docs/notes.txt"] {
        assert_eq!(home.weir(&["index", path]).status.code(), Some(6), "{path}");
    }
    home.answer(&["index", "docs"]);
    for path in ["../.aws", "../.config", "../.local/share/weir"] {
        let answer = home.answer(&["index", path]);
        assert_eq!(counts(&answer), [0; 4], "{answer}");
        assert!(answer["skipped"]["secret"].as_u64() > Some(0), "{answer}");
    }
}

#[test]
fn a_text_in_utf_16_is_read() {
    let home = Home::new();
    let text = "a zebra and an ökapi\n".repeat(600);
    let units = text.encode_utf16().flat_map(u16::to_le_bytes);
    home.write_old("a.txt", [0xff, 0xfe].into_iter().chain(units).collect::<Vec<u8>>());
    home.answer(&["index", "a.txt"]);
    assert_eq!(home.found(&["ökapi"]), ["a.txt"]);
}

#[test]
fn what_cannot_be_read_is_named_and_not_taken_for_gone() {
    const NOBODY: u32 = 65_534;
    let home = mixed();
    // Root can read every file, so another user must run this.
    let is_root = rustix::process::geteuid().is_root();
    let program = home.at("weir");
    std::fs::copy(WEIR, &program).unwrap();
    let index = || {
        let mut words = vec![program.to_str().unwrap(), "index", "docs", "--json"];
        if is_root {
            give(home.path(), NOBODY);
            words.splice(0..0, ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--"]);
        }
        parsed(&home.command(words[0], &words[1..]).output().unwrap())
    };
    let shut = |path: &str, mode: u32| {
        std::fs::set_permissions(home.project().join(path), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    assert_eq!(counts(&index()), [4, 0, 0, 0]);
    home.write_old("docs/install.md", "# Install\n\nanother zebra\n");
    shut("docs/install.md", 0o000);
    shut("docs/deep", 0o000);
    let answer = index();
    shut("docs/deep", 0o755);
    let named: Vec<_> = answer["not_read_first"].as_array().unwrap().iter().map(|it| it["path"].clone()).collect();
    assert_eq!((counts(&answer), named), ([0, 0, 2, 0], vec!["deep".into(), "install.md".into()]), "{answer}");
    assert_eq!(counts(&index()), [0, 0, 3, 0]);
}

/// Changes the owner of a folder and everything in it.
fn give(path: &Path, user: u32) {
    std::os::unix::fs::lchown(path, Some(user), Some(user)).unwrap();
    if path.symlink_metadata().unwrap().is_dir() {
        std::fs::read_dir(path).unwrap().for_each(|entry| give(&entry.unwrap().path(), user));
    }
}

#[test]
fn a_text_comes_from_the_command_line_or_standard_input() {
    let home = Home::new();
    home.check(
        &["index", "--text", "# Zebras\n\nThey have stripes.", "--source", "animals"],
        expect![[r#"
        indexed animals as [REF] (28 B)
        search it with --source 'animals'
        exit 0"#]],
    );
    home.check(
        &["index", "--text", "# Zebras\n\nThey have stripes.", "--source", "animals"],
        expect![[r#"
        unchanged: animals is [REF]
        search it with --source 'animals'
        exit 0"#]],
    );
    let output = feed(home.weir_command(&["index", "-", "--source", "animals"]), b"Okapis have some.");
    assert!(text(&output.stdout).starts_with("reindexed animals as [ctx:"));
    assert_eq!(home.found(&["stripes"]), [""; 0]);
    assert_eq!(home.found(&["okapis"]), ["animals"]);
    home.check(
        &["index"],
        expect![[r#"
        error: nothing to index, or both a path and a text
        hint: pass either a file or folder, or --text
        exit 2"#]],
    );
    home.check(
        &["index", "a", "--text", "b"],
        expect![[r#"
        error: nothing to index, or both a path and a text
        hint: pass either a file or folder, or --text
        exit 2"#]],
    );
    home.check(
        &["index", "missing"],
        expect![[r#"
        error: no such file or folder: missing
        hint: paths are relative to HOME/project
        hint: what was indexed from it before is still searchable
        exit 3"#]],
    );
}

#[test]
fn a_secret_in_a_file_is_redacted() {
    let home = Home::new();
    let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2).split_at(36).0);
    home.write_old("a.md", format!("the token is {secret}\n"));
    let answer = home.answer(&["index", "a.md"]);
    assert_eq!(answer["redacted"].as_object().unwrap().len(), 1, "{answer}");
    assert!(!home.answer(&["search", "token"]).to_string().contains(&secret));
}

#[test]
fn a_file_whose_name_looks_like_a_secret_is_known_again() {
    let home = Home::new();
    let secret = format!("ghp_{}", "a1B2c3D4e5F6g7H8i9J0".repeat(2).split_at(36).0);
    home.write_old(&format!("docs/{secret}.md"), "walruses sleep on ice\n");
    home.write_old("docs/other.md", "penguins do too\n");
    for expected in [[2, 0, 0, 0], [0, 0, 2, 0], [0, 0, 2, 0]] {
        let answer = home.answer(&["index", "docs"]);
        assert_eq!(counts(&answer), expected, "{answer}");
        assert_eq!(home.found(&["walruses"]).len(), 1);
    }
    let file = home.answer(&["index", &format!("docs/{secret}.md")]);
    assert_eq!(counts(&file), [0, 0, 1, 0], "{file}");
}

#[test]
fn fifty_sections_of_one_title_are_all_found() {
    let home = Home::new();
    let section =
        |at: usize| format!("## Example\n\nThe zebra of number n{at}x.\n{}\n", "Some more words.\n".repeat(12));
    home.write_old("long.md", (0..50).map(section).collect::<String>());
    home.answer(&["index", "long.md"]);
    let answer = home.answer(&["search", "zebra", "example", "--limit", "50", "--budget", "20000"]);
    let text = answer.to_string();
    let missing: Vec<usize> = (0..50).filter(|at| !text.contains(&format!("n{at}x"))).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn thousands_of_files_are_taken_in_batches() {
    let home = Home::new();
    for at in 0..1_203 {
        home.write_old(&format!("many/{}/{at}.txt", at % 7), format!("number n{at}x and zebra\n"));
    }
    assert_eq!(counts(&home.answer(&["index", "many"])), [1_203, 0, 0, 0]);
    assert_eq!(counts(&home.answer(&["index", "many"])), [0, 0, 1_203, 0]);
    assert_eq!(home.found(&["n1202x"]), ["many/5/1202.txt"]);
    std::fs::remove_dir_all(home.project().join("many/3")).unwrap();
    assert_eq!(counts(&home.answer(&["index", "many"])), [0, 0, 1_031, 172]);
}

#[test]
fn rules_and_memories_of_clients_are_found_where_they_are() {
    let home = Home::new();
    home.ok(&["note", "anything"]);
    let name = home.project().display().to_string().replace(|char: char| !char.is_ascii_alphanumeric(), "-");
    let memory = format!(".claude/projects/{name}/memory/lessons.md");
    for (path, text) in [
        ("project/AGENTS.md".to_owned(), "Always run the porcupine before a release.\n"),
        (".claude/CLAUDE.md".to_owned(), "The wombat is mine.\n"),
        (memory.clone(), "The ocelot port is 4711.\n"),
    ] {
        write(&home.at(&path), text);
        age(&home.at(&path), 60);
    }
    assert_eq!(home.found(&["porcupine"]), ["AGENTS.md"]);
    assert_eq!(home.found(&["wombat"]), ["~/.claude/CLAUDE.md"]);
    assert_eq!(home.found(&["ocelot"]), [format!("~/{memory}")]);
    home.write("AGENTS.md", "Always feed the heron.\n");
    assert_eq!(home.found(&["heron"]), ["AGENTS.md"]);
    assert!(home.found(&["porcupine"]).is_empty());
    std::fs::remove_file(home.at(&memory)).unwrap();
    assert!(home.found(&["ocelot"]).is_empty());
    // What was indexed with the project keeps its one name.
    home.ok(&["index", "."]);
    assert_eq!(home.found(&["heron"]), ["./AGENTS.md"]);
}
