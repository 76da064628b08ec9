//! Properties that hold for every script and every set of rules.

use proptest::prelude::*;
use weir_policy::judge::{judge, simple_literal};
use weir_policy::shell;

use crate::help::rules;

/// Rules of all shapes, some of them invalid.
const RULES: &[&str] = &[
    "Bash", "Bash(*)", "Bash(evil *)", "Bash(ls:*)", "Bash(git push)", "Bash(echo * b)", "Bash(", "Bash()",
    "Read(~/.ssh/**)", "Read([)", "Edit", "mcp__weir", "WebFetch(domain:x)", "",
];

fn some_rules() -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(RULES), 0..4)
}

/// Generates scripts that are nearly shell, and texts that are not.
fn scripts() -> impl Strategy<Value = String> {
    let words = prop::sample::select(
        &[
            "evil", "ls", "echo", "git push", "$x", "$(", ")", "`", "'", "\"", ";", "&&", "|", "\n", "if", "then",
            "fi", "<<EOF\n", "\nEOF\n", "{", "}", "((", "))", "[[", "]]", "case x in", "esac", "a=", "> f", "bash -c",
            "env", "xargs", "\\", "#",
        ][..],
    );
    prop_oneof![prop::collection::vec(words, 0..12).prop_map(|words| words.join(" ")), any::<String>()]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_panics(bytes in prop::collection::vec(any::<u8>(), 0..200), deny in some_rules()) {
        let script = String::from_utf8_lossy(&bytes).into_owned();
        let judgement = judge(&rules(&deny, &[], &[]), &script);
        let _ = judgement.to_string();
        let _ = simple_literal(&script);
    }

    #[test]
    fn a_stricter_list_never_makes_a_verdict_more_lenient(
        script in scripts(),
        deny in some_rules(),
        ask in some_rules(),
        allow in some_rules(),
        more in prop::sample::select(RULES),
    ) {
        let before = judge(&rules(&deny, &ask, &allow), &script).verdict;
        let mut stricter = deny.clone();
        stricter.push(more);
        prop_assert!(judge(&rules(&stricter, &ask, &allow), &script).verdict >= before);
        let mut asking = ask.clone();
        asking.push(more);
        prop_assert!(judge(&rules(&deny, &asking, &allow), &script).verdict >= before);
    }

    #[test]
    fn a_literal_command_is_the_only_one(script in scripts()) {
        if let Some(words) = simple_literal(&script) {
            let split = shell::split(&script);
            prop_assert_eq!(split.commands[0].name(), Some(words[0].as_str()));
            prop_assert_eq!(split.commands[0].words.len(), words.len());
        }
    }
}

#[test]
fn only_one_literal_command_is_one() {
    let check = |script: &str, expected: Option<&[&str]>| {
        let found = simple_literal(script);
        let expected = expected.map(|words| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>());
        assert_eq!(found, expected, "{script}");
    };
    check("gh pr list --limit 5", Some(&["gh", "pr", "list", "--limit", "5"]));
    check("gh pr view 'a b' \"c d\" e\\ f $'g'", Some(&["gh", "pr", "view", "a b", "c d", "e f", "g"]));
    check("  gh pr list\n", Some(&["gh", "pr", "list"]));
    for script in [
        "gh pr list > out", // Here the grammar splits the replacement of a character.
        "${T\u{10e74}dß=}", "-ᝳ*${T\u{10e74}d", "echo ${x%é}", "gh pr list 2>&1", "A=1 gh pr list", "gh pr view $N",
        "gh pr view \"$(x)\"", "gh pr list; ls", "gh pr list &", "gh pr list | cat", "! gh pr list",
        "gh pr list # all", "gh pr view *", "gh pr view {a,b}", "(gh pr list)", "export A", "gh <<EOF\nx\nEOF",
        "gh\\\n pr", "",
    ] {
        check(script, None);
    }
}

/// The grammar's scanner is written in C, and once read outside a table here.
#[test]
fn characters_beyond_ascii_do_not_end_the_process() {
    for character in ['\u{a0}', 'é', '\u{3000}', '💥', '\u{10ffff}'] {
        for around in ["{C", "{1C..2}", "echo {C,b}", "C=1 evil", "${C}", "$C", "<<C\nC\nC", "evilC(", "[[ C ]]"] {
            let script = around.replace('C', &character.to_string());
            let judged = judge(&rules(&["Bash(evil *)"], &[], &[]), &script);
            assert!(!judged.reasons.is_empty() || judged.verdict == weir_policy::judge::Verdict::Allow, "{script}");
        }
    }
}
