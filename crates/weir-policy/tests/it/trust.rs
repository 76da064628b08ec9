//! Files that come with a project restrict, and never widen.

use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::json;
use weir_policy::judge::{judge, judge_tool};
use weir_policy::rules::{Own, Places, Rules, Source, SourceKind, Subject, Verdict};

/// Rules of all shapes: about commands, paths and tools, valid and invalid.
const RULES: &[&str] = &[
    "Bash", "Bash(*)", "Bash(ls:*)", "Bash(git push *)", "Bash(", "Read", "Read(//**)", "Read(~/**)", "Read(/src/**)",
    "Read([)", "Edit", "Edit(//**)", "Edit(~/.config/**)", "Write(./**)", "mcp__weir", "mcp__weir__context_write",
    "WebFetch(domain:x)", "",
];
const FOLDERS: &[&str] = &["~", "/", "..", "/etc", "~/.config", "src"];
const SCRIPTS: &[&str] = &["ls", "ls -l && git push", "git push -f", "$(x)", "if", "cat ~/.ssh/id_rsa > out", ""];
const PATHS: &[&str] = &["/etc/passwd", "/home/u/.bashrc", "/home/u/.config/weir/config.toml", "/home/u/p/src/a.rs"];

/// Generates the text of a settings file: lists of rules and folders, or something invalid.
fn settings() -> impl Strategy<Value = String> {
    let list = || prop::collection::vec(prop::sample::select(RULES), 0..4);
    let folders = prop::collection::vec(prop::sample::select(FOLDERS), 0..3);
    let whole = (list(), list(), list(), folders).prop_map(|(deny, ask, allow, folders)| {
        json!({ "permissions": {
            "deny": deny, "ask": ask, "allow": allow, "additionalDirectories": folders, "defaultMode": "bypassPermissions",
        } })
        .to_string()
    });
    let odd = prop::sample::select(
        &["", "{", "[]", r#"{"permissions": 1}"#, r#"{"permissions": {"allow": 1, "additionalDirectories": "/"}}"#][..],
    );
    prop_oneof![8 => whole, 1 => odd.prop_map(str::to_owned)]
}

fn source(kind: SourceKind, text: String) -> Source {
    let base = if kind.may_widen() { "/home/u/.claude" } else { "/home/u/p" };
    Source { path: Path::new(base).join("settings.json"), text, base: base.into(), kind }
}

fn trusted() -> impl Strategy<Value = Source> {
    let kinds = prop::sample::select(&[SourceKind::Managed, SourceKind::User][..]);
    (kinds, settings()).prop_map(|(kind, text)| source(kind, text))
}

fn of_the_project() -> impl Strategy<Value = Source> {
    let kinds = prop::sample::select(&[SourceKind::Project, SourceKind::Local, SourceKind::Named][..]);
    (kinds, settings()).prop_map(|(kind, text)| source(kind, text))
}

/// Returns whether a path may be used, from the rules alone.
fn of_path(rules: &Rules, path: &Path, edit: bool) -> Verdict {
    let places = Places { home: "/home/u".into(), project: "/home/u/p".into(), folder: "/home/u/p".into() };
    let about = |subject: &Subject| match subject {
        Subject::Read(pattern) => pattern.covers(path, &places),
        Subject::Edit(pattern) => edit && pattern.covers(path, &places),
        _ => false,
    };
    let spoken = rules.iter().filter(|rule| about(&rule.subject));
    let outside = if is_inside(rules, path) { Verdict::Allow } else { Verdict::Deny };
    match spoken.map(|rule| rule.verdict).max() {
        Some(Verdict::Allow) => Verdict::Allow,
        Some(strict) => strict.max(outside),
        None => outside,
    }
}

fn is_inside(rules: &Rules, path: &Path) -> bool {
    let folders = rules.additional_folders().iter().map(|folder| match folder.strip_prefix("~") {
        Ok(rest) => Path::new("/home/u").join(rest),
        Err(_) => folder.clone(),
    });
    folders.chain([PathBuf::from("/home/u/p")]).any(|folder| path.starts_with(folder))
}

/// Returns everything in a set of rules that permits something.
fn widening(rules: &Rules) -> String {
    let allows = rules.iter().filter(|rule| rule.verdict == Verdict::Allow);
    let allows: Vec<_> = allows.map(|rule| (&rule.text, &rule.path)).collect();
    format!("{allows:?} {:?} {:?}", rules.additional_folders(), rules.readable())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_file_of_the_project_never_makes_a_verdict_more_lenient(
        trusted in prop::collection::vec(trusted(), 0..3),
        more in prop::collection::vec(of_the_project(), 1..3),
        at in any::<prop::sample::Index>(),
        allow in prop::collection::vec(prop::sample::select(RULES), 0..2),
    ) {
        let own = Own { allow: allow.into_iter().map(str::to_owned).collect(), ..Own::default() };
        let before = Rules::read(&trusted, &own);
        let mut all = trusted.clone();
        for source in more {
            all.insert(at.index(all.len() + 1), source);
        }
        let after = Rules::read(&all, &own);
        prop_assert_eq!(widening(&before), widening(&after));
        for script in SCRIPTS {
            prop_assert!(judge(&after, script).verdict >= judge(&before, script).verdict, "{}", script);
        }
        for tool in ["mcp__weir__ctx_execute", "mcp__weir__context_write"] {
            prop_assert!(judge_tool(&after, tool).verdict >= judge_tool(&before, tool).verdict);
        }
        for path in PATHS.iter().map(Path::new) {
            prop_assert!(is_inside(&before, path) || !is_inside(&after, path));
            for edit in [false, true] {
                prop_assert!(of_path(&after, path, edit) >= of_path(&before, path, edit), "{}", path.display());
            }
        }
    }
}

#[test]
fn a_project_is_heard_when_it_denies_and_not_when_it_allows() {
    let text = r#"{"permissions": {"deny": ["Bash(git push *)"], "ask": ["Edit(/src/**)"], "allow": ["Read(//**)", "Bash"],
        "additionalDirectories": ["~"]}}"#;
    for (kind, allows) in
        [(SourceKind::Project, 0), (SourceKind::Named, 0), (SourceKind::User, 2), (SourceKind::Managed, 2)]
    {
        let rules = Rules::read(&[source(kind, text.to_owned())], &Own::default());
        assert_eq!(rules.iter().filter(|rule| rule.verdict == Verdict::Allow).count(), allows, "{kind:?}");
        assert_eq!(rules.additional_folders().is_empty(), allows == 0, "{kind:?}");
        assert_eq!(judge(&rules, "git push -f").verdict, Verdict::Deny, "{kind:?}");
        assert_eq!(rules.iter().filter(|rule| rule.verdict == Verdict::Ask).count(), 1, "{kind:?}");
    }
}
