//! Tests rules from settings files and from our own lists, and their verdicts.

use std::path::Path;

use expect_test::expect;
use weir_check::Checked;
use weir_policy::judge::{Verdict, denied_programs, judge, judge_tool};
use weir_policy::rules::{Own, Platform, Rules, Source, SourceKind, locations};

use crate::help;

fn settings(text: &str) -> Rules {
    let source = Source {
        path: "/home/u/.claude/settings.json".into(),
        text: text.to_owned(),
        base: "/home/u/.claude".into(),
        kind: SourceKind::User,
    };
    Rules::read(&[source], &Own::default())
}

/// Reads a settings file and checks its problems and the verdict on `ls`.
fn check(text: &str) -> Checked {
    let rules = settings(text);
    let problems: String = rules
        .problems()
        .iter()
        .map(|problem| format!("{:?}: {} {}\n", problem.rule.as_deref().unwrap_or(""), problem.wrong, problem.fix))
        .collect();
    let rules_read = rules.iter().map(|rule| format!("{} {}\n", rule.verdict.as_str(), rule.text)).collect::<String>();
    Checked(format!("{rules_read}{problems}ls: {}\n", judge(&rules, "ls").verdict.as_str()))
}

#[test]
fn settings_are_read() {
    check(
        r#"{"model": "x", "permissions": {"deny": ["Bash(sudo *)", "Read(~/.ssh/**)"], "ask": ["Bash(git push:*)"],
            "allow": ["Bash(ls)", "WebFetch(domain:example.com)"], "additionalDirectories": ["../x", "~/y"]}}"#,
    )
    .shows(&expect![[r#"
        deny Bash(sudo *)
        deny Read(~/.ssh/**)
        ask Bash(git push:*)
        allow Bash(ls)
        allow WebFetch(domain:example.com)
        ls: allow
    "#]]);
    check("{}").shows(&expect![[r#"
        ls: allow
    "#]]);
    check("").shows(&expect![[r#"
        ls: allow
    "#]]);
}

#[test]
fn what_cannot_be_read_asks() {
    check("{ not json").shows(&expect![[r#"
        "": The file is not JSON: key must be a string at line 1 column 3. Fix it; until then every run needs confirmation.
        ls: ask
    "#]]);
    check(r#"{"permissions": []}"#).shows(&expect![[r#"
        "": `permissions` is not an object. Fix it; until then every run needs confirmation.
        ls: ask
    "#]]);
    check(r#"{"permissions": {"deny": "Bash(sudo)"}}"#).shows(&expect![[r#"
        "": `permissions.deny` is not a list. Fix it; until then every run needs confirmation.
        ls: ask
    "#]]);
    check(r#"{"permissions": {"deny": ["Bash(sudo", "Bash()", 7, "(x)", "Read([)"]}}"#).shows(&expect![[r#"
        "Bash(sudo": The rule has no closing parenthesis. Fix it; until then every run needs confirmation.
        "Bash()": The parentheses are empty; write `Bash` for every command. Fix it; until then every run needs confirmation.
        "7": The rule is not a string. Fix it; until then every run needs confirmation.
        "(x)": The rule does not start with a tool name. Fix it; until then every run needs confirmation.
        "Read([)": Invalid pattern: unclosed character class; missing ']'. Fix it; until then every run needs confirmation.
        ls: ask
    "#]]);
    check(r#"{"permissions": {"allow": ["Bash(sudo", 7]}}"#).shows(&expect![[r#"
        "Bash(sudo": The rule has no closing parenthesis. Fix it; until then it allows nothing.
        "7": The rule is not a string. Fix it; until then it allows nothing.
        ls: allow
    "#]]);
    check(r#"{"permissions": {"ask": ["mcp__weir__ctx_execute(x)"]}}"#).shows(&expect![[r#"
        "mcp__weir__ctx_execute(x)": A rule about one of Weir's tools takes no parentheses. Fix it; until then every run needs confirmation.
        ls: ask
    "#]]);
}

#[test]
fn deny_comes_before_ask_comes_before_allow() {
    let rules = help::rules(&["Bash(git push --force *)"], &["Bash(git push *)"], &["Bash(git *)"]);
    expect![[r#"
        allow git status
        ask   git push
        ask   git push origin
        deny  git push --force origin
        allow ls
    "#]]
    .assert_eq(&help::verdicts(
        &rules,
        &["git status", "git push", "git push origin", "git push --force origin", "ls"],
    ));
}

#[test]
fn every_command_of_a_script_is_explained() {
    let rules = help::rules(&["Bash(sudo *)"], &["Bash(git push:*)"], &["Bash(ls *)"]);
    expect![[r#"
        deny
          deny: `sudo id` (inside env) is denied (rule `Bash(sudo *)` in weir.toml)
          ask: `git push` needs confirmation (rule `Bash(git push:*)` in weir.toml)
          ask: `$X` needs confirmation, because it could match a deny rule (rule `Bash(sudo *)` in weir.toml)
          ask: `$X` cannot be judged: it has a name that is only known when it runs, so it needs confirmation while any rule denies or asks about commands
          allow: `ls -l` is allowed (rule `Bash(ls *)` in weir.toml)
          allow: `env sudo id` is allowed: no rule mentions it, and the sandbox contains it
          allow: `id` (inside env, sudo) is allowed: no rule mentions it, and the sandbox contains it
          allow: `cat` is allowed: no rule mentions it, and the sandbox contains it
    "#]].assert_eq(&judge(&rules, "ls -l && git push; env sudo id | cat; $X").to_string());
}

#[test]
fn whole_tools_are_denied_by_name() {
    let check = |rule: &str, tool: &str, expected: Verdict| {
        let rules = help::denying(&[rule]);
        assert_eq!(judge_tool(&rules, tool).verdict, expected, "{rule} {tool}");
    };
    check("mcp__weir__ctx_execute", "mcp__weir__ctx_execute", Verdict::Deny);
    check("mcp__weir__ctx_execute", "mcp__weir__ctx_search", Verdict::Allow);
    check("mcp__weir", "mcp__weir__ctx_search", Verdict::Deny);
    check("mcp__weir__*", "mcp__weir__ctx_search", Verdict::Deny);
    check("mcp__weird", "mcp__weir__ctx_search", Verdict::Allow);
}

#[test]
fn all_commands_and_all_reading() {
    assert_eq!(judge(&help::denying(&["Bash"]), "ls").verdict, Verdict::Deny);
    assert_eq!(judge(&help::denying(&["Bash(*)"]), "ls").verdict, Verdict::Deny);
    assert_eq!(judge(&help::denying(&["Read"]), "ls").verdict, Verdict::Ask);
    assert_eq!(judge(&help::denying(&["Edit"]), "ls").verdict, Verdict::Allow);
}

#[test]
fn programs_denied_as_such_are_masked() {
    let rules = help::denying(&[
        "Bash(sudo *)", "Bash(doas:*)", "Bash(/usr/bin/curl)", "Bash(git push *)", "Bash(ls*)", "Bash(* x)",
        "Read(sudo)",
    ]);
    assert_eq!(denied_programs(&rules), ["curl", "doas", "sudo"]);
}

#[cfg(unix)]
#[test]
fn settings_lie_in_four_places_and_where_a_variable_says() {
    let paths = |platform| {
        locations(Path::new("/home/u"), Some(Path::new("/n")), Path::new("/p"), platform)
            .into_iter()
            .map(|(path, base, kind)| format!("{kind:?} {} from {}\n", path.display(), base.display()))
            .collect::<String>()
    };
    expect![[r#"
        Managed /etc/claude-code/managed-settings.json from /etc/claude-code
        User /home/u/.claude/settings.json from /home/u/.claude
        Project /p/.claude/settings.json from /p
        Local /p/.claude/settings.local.json from /p
        Named /n/settings.json from /n
        Managed /Library/Application Support/ClaudeCode/managed-settings.json from /Library/Application Support/ClaudeCode
        User /home/u/.claude/settings.json from /home/u/.claude
        Project /p/.claude/settings.json from /p
        Local /p/.claude/settings.local.json from /p
        Named /n/settings.json from /n
    "#]].assert_eq(&(paths(Platform::Linux) + &paths(Platform::MacOs)));
}
