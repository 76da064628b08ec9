//! A project is not trusted: its content grants no access, and Weir's own folders are out of reach.

use std::os::unix::fs::{PermissionsExt as _, symlink};

use serde_json::{Value, json};

use super::texts::source;
use crate::support::Home;

fn write(path: &str) -> Value {
    json!({ "path": path, "text": "planted\n", "overwrite": true })
}

#[test]
fn settings_of_the_project_open_nothing() {
    for name in [".claude/settings.json", ".claude/settings.local.json"] {
        for permissions in [
            json!({ "additionalDirectories": ["~", "/", ".."] }),
            json!({ "allow": ["Read(//**)", "Edit(//**)", "Read(~/**)", "Edit(~/**)", "Read", "Edit"] }),
        ] {
            let home = Home::new();
            home.write("../private.txt", "private\n");
            home.write(name, json!({ "permissions": permissions }).to_string());
            let mut server = home.session("s1");
            let private = home.path().join("private.txt").display().to_string();
            for path in ["../private.txt", "/etc/passwd", &private] {
                for (tool, arguments) in [
                    ("context_read", json!({ "path": path })),
                    ("context_peek", json!({ "paths": [path] })),
                    ("context_edit", json!({ "path": path, "old": "private", "new": "x" })),
                    ("ctx_index", json!({ "path": path })),
                ] {
                    let refused = server.refused(tool, &arguments);
                    assert!(refused.contains("outside the project"), "{name} {permissions} {tool}: {refused}");
                }
            }
            for path in ["../.bash_aliases", "../bin/git", "../.config/weir/config.toml", "../new.txt"] {
                server.refused("context_write", &write(path));
            }
            assert_eq!(std::fs::read_to_string(home.path().join("private.txt")).unwrap(), "private\n");
            for made in [".bash_aliases", "bin", ".config", "new.txt"] {
                assert!(!home.path().join(made).exists(), "{made}");
            }
        }
    }
}

#[test]
fn a_project_may_restrict() {
    let home = Home::new();
    home.write("src/a.rs", source(1));
    home.write(".claude/settings.json", r#"{"permissions": {"deny": ["Read(src/**)"], "allow": ["Read(src/**)"]}}"#);
    let refused = home.session("s1").refused("context_read", &json!({ "path": "src/a.rs" }));
    assert!(refused.contains("denies it"), "{refused}");
}

#[test]
fn weirs_own_places_are_not_written_whether_they_exist_or_not() {
    for make in [false, true] {
        let home = Home::new();
        // A user who allows changes to everything in the home.
        home.rules(&json!({ "allow": ["Read(~/**)", "Edit(~/**)"] }));
        let own = [".config/weir", ".local/share/weir", ".cache/weir"];
        if make {
            own.iter().for_each(|folder| std::fs::create_dir_all(home.path().join(folder)).unwrap());
        }
        let mut server = home.session("s1");
        server.call("context_write", &write("../notes.txt"));
        for path in ["../.config/weir/config.toml", "../.local/share/weir/x", "../.cache/weir/runs/x/y"] {
            let refused = server.refused("context_write", &write(path));
            assert!(refused.contains("Weir's own"), "{path}: {refused}");
        }
        assert!(!home.path().join(".config/weir/config.toml").exists());
    }
}

#[test]
fn weirs_own_places_are_known_by_where_their_name_leads() {
    let home = Home::new();
    home.rules(&json!({ "allow": ["Edit(~/**)"] }));
    // A home whose configuration is elsewhere, as with dotfile managers, and does not contain Weir's yet.
    std::fs::create_dir_all(home.path().join("dotfiles/config")).unwrap();
    symlink("dotfiles/config", home.path().join(".config")).unwrap();
    let mut server = home.session("s1");
    for path in ["../.config/weir/config.toml", "../dotfiles/config/weir/config.toml"] {
        let refused = server.refused("context_write", &write(path));
        assert!(refused.contains("Weir's own configuration"), "{path}: {refused}");
    }
}

#[test]
fn a_home_folder_is_not_a_project() {
    let home = Home::new();
    home.write("../notes.txt", "mine\n");
    let mut server = home.session_in(home.path(), "s1");
    for path in [".bash_aliases", ".config/autostart/x.desktop", "notes.txt", "project/new.txt"] {
        let refused = server.refused("context_write", &write(path));
        assert!(refused.contains("contains the home folder"), "{path}: {refused}");
    }
    let refused = server.refused("context_write", &write(".config/weir/config.toml"));
    assert!(refused.contains("Weir's own configuration"), "{refused}");
    server.refused("context_edit", &json!({ "path": "notes.txt", "old": "mine", "new": "yours" }));
    assert_eq!(std::fs::read_to_string(home.path().join("notes.txt")).unwrap(), "mine\n");
    assert!(!home.path().join(".bash_aliases").exists() && !home.path().join(".config").exists());
}

#[test]
fn settings_that_cannot_be_read_safely_make_every_call_ask() {
    for (target, why) in [
        ("/dev/zero", "points outside its folder"),
        ("/dev/stdin", "points outside its folder"),
        ("../../private.json", "points outside its folder"),
        ("settings.json", "symbolic links"),
    ] {
        let home = Home::new();
        home.write("a.txt", "text\n");
        home.write("../private.json", r#"{"permissions": {"allow": ["Read(//**)"]}}"#);
        std::fs::create_dir(home.project().join(".claude")).unwrap();
        symlink(target, home.project().join(".claude/settings.json")).unwrap();
        let refused = home.session("s1").refused("context_read", &json!({ "path": "a.txt" }));
        assert!(refused.contains(why) && refused.contains("settings.json"), "{target}: {refused}");
        let run = home.weir(&["run", "echo it ran"]);
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        assert!(!run.status.success() && said.contains(why), "{target}: {said}");
    }
}

#[test]
fn settings_of_the_user_may_be_links() {
    let home = Home::new();
    home.write("a.txt", "text\n");
    home.write("../dotfiles/settings.json", r#"{"permissions": {"deny": ["Read(a.txt)"]}}"#);
    std::fs::create_dir(home.path().join(".claude")).unwrap();
    symlink("../dotfiles/settings.json", home.path().join(".claude/settings.json")).unwrap();
    let refused = home.session("s1").refused("context_read", &json!({ "path": "a.txt" }));
    assert!(refused.contains("the rule Read(a.txt)"), "{refused}");
}

#[test]
fn a_new_content_does_not_inherit_the_rights_of_a_program() {
    let home = Home::new();
    home.write("tool", "old\n");
    let path = home.project().join("tool");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o6755)).unwrap();
    home.session("s1").call("context_write", &write("tool"));
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o7777, 0o755);
}

#[test]
fn a_read_only_file_is_replaced_only_with_consent() {
    let home = Home::new();
    home.write("locked", "old\n");
    let path = home.project().join("locked");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
    let mut server = home.session("s1");
    let refused = server.refused("context_write", &write("locked"));
    assert!(refused.contains("it is read-only"), "{refused}");
    server.refused("context_edit", &json!({ "path": "locked", "old": "old", "new": "new" }));
    assert_eq!(home.read("locked"), "old\n");
}

#[test]
fn what_is_outside_is_indexed_for_the_user_and_by_rule_only() {
    let home = Home::new();
    home.write("../outside/a.md", "# Zebras\n\nstripes\n");
    home.write("docs/b.md", "# Giraffes\n\nspots\n");
    symlink("../outside", home.project().join("link")).unwrap();
    symlink("docs", home.project().join("inside")).unwrap();
    let outside = home.path().join("outside").canonicalize().unwrap();
    let mut server = home.session("s1");
    for path in ["link", "link/a.md", "../outside", outside.to_str().unwrap()] {
        let refused = server.refused("ctx_index", &json!({ "path": path }));
        assert!(refused.contains("outside the project"), "{path}: {refused}");
    }
    server.call("ctx_index", &json!({ "path": "inside" }));
    assert!(!String::from_utf8_lossy(&home.weir(&["search", "zebras"]).stdout).contains("stripes"));
    home.rules(&json!({ "allow": [format!("Read(/{}/**)", outside.display())] }));
    server.call("ctx_index", &json!({ "path": "link" }));
    // A person at a terminal may.
    home.rules(&json!({}));
    assert!(home.weir(&["index", "../outside", "--source", "elsewhere"]).status.success());
}

#[test]
fn folders_and_files_that_differ_in_bytes_are_different() {
    use std::os::unix::ffi::OsStrExt as _;
    let home = Home::new();
    let folder = |bytes: &'static [u8]| home.path().join(std::ffi::OsStr::from_bytes(bytes));
    let (one, other) = (folder(b"a\xff"), folder(b"a\xfe"));
    for (path, text) in [(&one, "first giraffe"), (&other, "second zebra")] {
        std::fs::create_dir(path).unwrap();
        assert!(home.weir_command(&["note", text]).current_dir(path).status().unwrap().success());
    }
    let found = home.weir_command(&["search", "giraffe"]).current_dir(&other).output().unwrap();
    assert!(!String::from_utf8_lossy(&found.stdout).contains("first giraffe"), "{found:?}");
    let name = |bytes: &'static [u8]| one.join(std::ffi::OsStr::from_bytes(bytes));
    std::fs::write(name(b"f\xfd.txt"), "okapi in one file\n").unwrap();
    std::fs::write(name(b"f\xfc.txt"), "quagga in another\n").unwrap();
    assert!(home.weir_command(&["index", "."]).current_dir(&one).status().unwrap().success());
    for text in ["okapi in one file", "quagga in another"] {
        let found = home.weir_command(&["search", text]).current_dir(&one).output().unwrap();
        assert!(String::from_utf8_lossy(&found.stdout).contains(text), "{text}: {found:?}");
    }
}
