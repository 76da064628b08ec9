//! Decisions about calls: files, folders, texts and scripts.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use weir_policy::gate::{Access, Action, Caller, Gate, OwnFolders, Refusal, Request, Surroundings, Target};
use weir_policy::rules::{Own, Places, Rules, Verdict};

const TOOL: &str = "mcp__weir__context_edit";

/// A gate for a project in a home folder, with the user's own rules.
fn gate(rules: &[(&str, &str)], change: impl FnOnce(&mut Surroundings)) -> Gate {
    let of = |list: &str| rules.iter().filter(|(name, _)| *name == list).map(|(_, rule)| (*rule).to_owned()).collect();
    let own = Own {
        path: "/home/me/.config/weir/config.toml".into(),
        base: "/home/me/app".into(),
        deny: of("deny"),
        ask: of("ask"),
        allow: of("allow"),
        readable: of("readable"),
    };
    let folder = |path: &str| PathBuf::from(path);
    let mut around = Surroundings {
        places: Places { home: folder("/home/me"), project: folder("/home/me/app"), folder: folder("/home/me/app") },
        additional: vec![folder("/home/me/shared")],
        own: OwnFolders {
            data: vec![folder("/home/me/.local/share/weir")],
            others: vec![folder("/home/me/.config/weir")],
        },
        caller: Caller::Model,
    };
    change(&mut around);
    Gate::new(Rules::read(&[], &own), || around)
}

fn verdict(gate: &Gate, path: &str, access: Access) -> Verdict {
    let target = Target { named: Path::new(path), path: Path::new(path), is_read_only: false };
    gate.decide(&Request { tool: TOOL, action: Action::File(target, access) }).verdict
}

#[test]
fn a_file_is_used_where_the_project_is_and_where_the_user_says_so() {
    let plain = gate(&[], |_| ());
    for (path, read, change) in [
        ("/home/me/app/src/main.rs", Verdict::Allow, Verdict::Allow),
        ("/home/me/shared/notes.md", Verdict::Allow, Verdict::Allow),
        ("/home/me/other/main.rs", Verdict::Deny, Verdict::Deny),
        ("/home/me/app/.git/config", Verdict::Allow, Verdict::Deny),
        ("/home/me/app/.git/hooks/pre-commit", Verdict::Allow, Verdict::Deny),
        ("/home/me/app/.env", Verdict::Deny, Verdict::Deny),
        ("/home/me/.ssh/id_ed25519", Verdict::Deny, Verdict::Deny),
        ("/home/me/.SSH/id_ed25519", Verdict::Deny, Verdict::Deny),
        ("/home/me/.local/share/weir/log.db", Verdict::Deny, Verdict::Deny),
        ("/home/me/app/.vscode/tasks.json", Verdict::Allow, Verdict::Ask),
    ] {
        assert_eq!(
            (verdict(&plain, path, Access::Read), verdict(&plain, path, Access::Change)),
            (read, change),
            "{path}"
        );
    }
    let allowed = gate(&[("allow", "Read(//home/me/other/**)")], |_| ());
    assert_eq!(verdict(&allowed, "/home/me/other/main.rs", Access::Read), Verdict::Allow);
    assert_eq!(verdict(&allowed, "/home/me/other/main.rs", Access::Change), Verdict::Deny);
    let readable = gate(&[("readable", "~/app/.env")], |_| ());
    assert_eq!(verdict(&readable, "/home/me/app/.env", Access::Read), Verdict::Allow);
}

/// Four harmless-looking writes would make a folder a repository, whose settings git then runs.
#[test]
fn a_folder_does_not_become_a_repository_unasked() {
    let home =
        crate::masks::Home::with(&["p/x/objects/y", "p/y/HEAD", "p/z/HEAD", "p/z/commondir", "p/src/hooks/a.ts"]);
    home.write("p/src/objects/b.ts", "");
    let gate = gate(&[], |around| around.places = home.places());
    for (path, expected) in [
        ("x/HEAD", Verdict::Ask),
        ("x/config", Verdict::Ask),
        ("x/CONFIG", Verdict::Ask),
        ("y/objects/.keep", Verdict::Ask),
        ("y/refs", Verdict::Ask),
        ("y/commondir", Verdict::Ask),
        ("z/hooks/pre-commit", Verdict::Ask),
        ("y/config", Verdict::Allow),
        ("x/refs/heads/a", Verdict::Allow),
        ("src/hooks/useThis.ts", Verdict::Allow),
        ("src/config/app.ts", Verdict::Allow),
        ("src/objects/c.ts", Verdict::Allow),
    ] {
        let path = home.path("home/p").join(path);
        assert_eq!(verdict(&gate, path.to_str().unwrap(), Access::Change), expected, "{}", path.display());
    }
}

#[test]
fn a_person_may_look_at_what_is_theirs_and_changes_no_more_than_a_model() {
    let person = gate(&[], |around| around.caller = Caller::Person);
    assert_eq!(verdict(&person, "/etc/hosts", Access::Read), Verdict::Allow);
    assert_eq!(verdict(&person, "/etc/hosts", Access::Change), Verdict::Deny);
    assert_eq!(verdict(&person, "/home/me/.ssh/id_ed25519", Access::Read), Verdict::Deny);
}

#[test]
fn weirs_own_folders_are_protected_by_name_also_inside_a_project() {
    let dotfiles = gate(&[], |around| around.places.project = "/home/me".into());
    for path in ["/home/me/.config/weir/config.toml", "/home/me/.config/weir/rules/new.toml"] {
        assert_eq!(verdict(&dotfiles, path, Access::Change), Verdict::Deny, "{path}");
    }
    let target = Target {
        named: Path::new("/home/me/app/../.config/weir/config.toml"),
        path: Path::new("/home/me/elsewhere.toml"),
        is_read_only: false,
    };
    let request = Request { tool: TOOL, action: Action::File(target, Access::Change) };
    assert_eq!(dotfiles.decide(&request).verdict, Verdict::Deny);
}

#[test]
fn what_is_unusual_needs_the_user() {
    let home = gate(&[], |around| around.places.project = "/home/me".into());
    assert_eq!(verdict(&home, "/home/me/app/a.rs", Access::Change), Verdict::Ask);
    let target = Target { named: Path::new("a.rs"), path: Path::new("/home/me/app/a.rs"), is_read_only: true };
    let decision = gate(&[], |_| ()).decide(&Request { tool: TOOL, action: Action::File(target, Access::Change) });
    assert_eq!((decision.verdict, decision.why().as_str()), (Verdict::Ask, "it is read-only"));
}

#[test]
fn a_rule_about_reading_holds_for_changes_and_for_every_file_of_a_folder() {
    let denied = gate(&[("deny", "Read(secret/**)"), ("ask", "Edit(docs/**)")], |_| ());
    assert_eq!(verdict(&denied, "/home/me/app/secret/a", Access::Change), Verdict::Deny);
    assert_eq!(verdict(&denied, "/home/me/app/docs/a", Access::Change), Verdict::Ask);
    assert_eq!(verdict(&denied, "/home/me/app/docs/a", Access::Read), Verdict::Allow);
    assert_eq!(denied.refuses(Path::new("/home/me/app/secret/a")), Some(Refusal::Rule));
    assert_eq!(denied.refuses(Path::new("/home/me/app/.env")), Some(Refusal::Secret));
    assert_eq!(denied.refuses(Path::new("/home/me/app/docs/a")), None);
}

#[test]
fn a_text_is_no_file_and_a_folder_outside_is_refused() {
    let tool = "mcp__weir__ctx_index";
    let strict = gate(&[("deny", "Read(/**)")], |_| ());
    assert_eq!(strict.decide(&Request { tool, action: Action::Text }).verdict, Verdict::Allow);
    let named = gate(&[("deny", tool)], |_| ());
    assert_eq!(named.decide(&Request { tool, action: Action::Text }).verdict, Verdict::Deny);
    let tree = |path| Action::Tree(Target { named: Path::new(path), path: Path::new(path), is_read_only: false });
    let plain = gate(&[], |_| ());
    assert_eq!(plain.decide(&Request { tool, action: tree("/home/me/app/docs") }).verdict, Verdict::Allow);
    let refused = plain.decide(&Request { tool, action: tree("/etc") });
    assert!(refused.verdict == Verdict::Deny && refused.why().starts_with("/etc: it is outside"), "{}", refused.why());
}

#[test]
fn a_program_is_judged_by_rules_about_it_and_a_script_by_every_command() {
    let tool = "mcp__weir__ctx_execute";
    let denied = gate(&[("deny", "Bash(python3)")], |_| ());
    assert_eq!(denied.decide(&Request { tool, action: Action::Program("python3") }).verdict, Verdict::Deny);
    assert_eq!(denied.decide(&Request { tool, action: Action::Program("ruby") }).verdict, Verdict::Allow);
    let script = Action::Script("echo a && python3 -c 'print(1)'");
    assert_eq!(denied.decide(&Request { tool, action: script }).verdict, Verdict::Deny);
}

#[test]
fn a_script_is_judged_without_looking_around() {
    let gate = Gate::new(Rules::read(&[], &Own::default()), || panic!("no path is judged"));
    let script = Request { tool: "mcp__weir__ctx_execute", action: Action::Script("cat ~/notes") };
    assert_eq!(gate.decide(&script).verdict, Verdict::Allow);
}

proptest! {
    /// A rule that denies or asks never makes a decision more lenient, and one that allows never opens what is
    /// protected.
    #[test]
    fn strict_rules_only_restrict(
        folder in prop::sample::select(vec!["app", "app/src", "other", ".ssh", "shared", ".config/weir", "app/.git"]),
        pattern in prop::sample::select(vec!["src/**", "//home/me/**", "~/other/**", "*.rs", "/**", "secret"]),
        list in prop::sample::select(vec!["deny", "ask"]),
        tool in prop::sample::select(vec!["Read", "Edit"]),
        changes in any::<bool>(),
    ) {
        let path = format!("/home/me/{folder}/a.rs");
        let access = if changes { Access::Change } else { Access::Read };
        let rule = format!("{tool}({pattern})");
        let before = verdict(&gate(&[], |_| ()), &path, access);
        prop_assert!(verdict(&gate(&[(list, &rule)], |_| ()), &path, access) >= before);
        if [".ssh", ".config/weir", "app/.git"].contains(&folder) && changes {
            prop_assert_eq!(verdict(&gate(&[("allow", &rule)], |_| ()), &path, access), Verdict::Deny);
        }
    }
}

/// Git has the content of files that are hidden in the work tree.
#[test]
fn what_must_not_be_read_is_not_read_from_git_either() {
    let gate = gate(&[("deny", "Read(./secret/**)"), ("ask", "Read(./notes.md)")], |_| ());
    let verdict = |script: &str| gate.judge_script("mcp__weir__ctx_execute", script).verdict;
    for denied in [
        "git show HEAD:.env", "git show HEAD~1:./secret/k.txt", "git -C . cat-file -p HEAD:secret/k.txt",
        "git log -p -- .env", "cd src; git diff HEAD~3 -- .env", "git grep PASSWORD HEAD -- secret/k.txt",
        "git archive HEAD .env | tar x", "git checkout HEAD~1 -- .env", "git restore --source HEAD~1 .env",
        "git stash show -p -- secret/k.txt", "env git blame secret/k.txt", "sh -c 'git show HEAD:.env'",
    ] {
        assert_eq!(verdict(denied), Verdict::Deny, "{denied}");
    }
    assert_eq!(verdict("git show HEAD:notes.md"), Verdict::Ask);
    for allowed in ["git show HEAD:src/main.rs", "git log -p -- src", "git diff", "git status", "git check-ignore .env"]
    {
        assert_eq!(verdict(allowed), Verdict::Allow, "{allowed}");
    }
}
