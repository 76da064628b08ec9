//! Tests how scripts are split.

use expect_test::expect;
use proptest::prelude::*;
use weir_check::Checked;

use super::*;

fn check(script: &str) -> Checked {
    let parts = split(script);
    let shown: Vec<String> = parts.iter().map(|part| format!("{:?} {:?}", part.join, part.words)).collect();
    let CoveredCommands { commands, piped } = covered_commands(&parts);
    let piped = if piped { " (piped)" } else { "" };
    Checked(format!("{}\nsubject: {}\nspoken: {}{piped}", shown.join("\n"), subject(&parts), commands.join(" && ")))
}

#[test]
fn scripts_are_split_at_their_operators() {
    check("cd a && RUST_LOG=debug cargo test -p x 2>&1 | tail -20").shows(&expect![[r#"
        And ["cd", "a"]
        And ["cargo", "test", "-p", "x"]
        Pipe ["tail", "-20"]
        subject: cargo test -p x
        spoken: cargo test -p x (piped)"#]]);
    check("make; echo \"exit: $?\"").shows(&expect![[r#"
        And ["make"]
        Then ["echo", "exit: $?"]
        subject: make
        spoken: "#]]);
    check("set -euo pipefail\nnpm ci\nnpm test | tee log").shows(&expect![[r#"
        And ["set", "-euo", "pipefail"]
        And ["npm", "ci"]
        And ["npm", "test"]
        Pipe ["tee", "log"]
        subject: npm ci && npm test
        spoken: npm ci && npm test"#]]);
    check("sudo -u me timeout -k 5 10 env A=b git -C 'a b' push").shows(&expect![[r#"
        And ["git", "-C", "a b", "push"]
        subject: git -C a b push
        spoken: git -C a b push"#]]);
    check("if ! grep -q x f; then exit 1; fi").shows(&expect![[r#"
        And ["grep", "-q", "x", "f"]
        Then ["exit", "1"]
        subject: grep -q x f && exit 1
        spoken: exit 1"#]]);
    check("echo hi | python3 -c 'print(1)' > out.txt 2>/dev/null &").shows(&expect![[r#"
        And ["echo", "hi"]
        Pipe ["python3", "-c", "print(1)"]
        subject: python3 -c print(1)
        spoken: "#]]);
}

#[test]
fn texts_given_in_place_are_no_commands() {
    check("cat > a.txt <<'EOF'\nrm -rf / && git push\nEOF\ngit add a.txt").shows(&expect![[r#"
        And ["cat"]
        Then ["git", "add", "a.txt"]
        subject: cat && git add a.txt
        spoken: git add a.txt"#]]);
    check("git commit -m \"$(cat <<'EOF'\nFix it (don't ask)\n\n\"quoted\" :)\nEOF\n)\" && git push").shows(&expect![
        [r#"
        And ["git", "commit", "-m", "$(cat <<'EOF'\nFix it (don't ask)\n\n\"quoted\" :)\nEOF\n)"]
        And ["git", "push"]
        subject: git commit -m $(cat <<'EOF' Fix it (don't ask) "quoted" :) EOF ) && git push
        spoken: git commit -m $(cat <<'EOF' Fix it (don't ask) "quoted" :) EOF ) && git push"#]
    ]);
    check("cat <<A <<-B\none\nA\n\ttwo\n\tB\nls").shows(&expect![[r#"
        And ["cat"]
        Then ["ls"]
        subject: cat && ls
        spoken: ls"#]]);
}

#[test]
fn odd_scripts_are_taken_as_they_are() {
    check("").shows(&expect![[r#"

        subject: 
        spoken: "#]]);
    check("echo 'open").shows(&expect![[r#"
        And ["echo", "open"]
        subject: 
        spoken: "#]]);
    check("a $(b \"$(c)\" ) `d` ${e} <(f) # g && h").shows(&expect![[r#"
        And ["a", "$(b \"$(c)\" )", "`d`", "${e}", "<(f)"]
        subject: a $(b "$(c)" ) `d` ${e} <(f)
        spoken: a $(b "$(c)" ) `d` ${e} <(f)"#]]);
    check("diff <(sort a) <(sort b)").shows(&expect![[r#"
        And ["diff", "<(sort a)", "<(sort b)"]
        subject: diff <(sort a) <(sort b)
        spoken: diff <(sort a) <(sort b)"#]]);
}

#[test]
fn a_process_after_an_ampersand_ends_the_command() {
    let words: Vec<Vec<String>> = split("make &>(tee log)").into_iter().map(|part| part.words).collect();
    assert_eq!(words, [vec!["make"], vec![">(tee log)"]]);
}

proptest! {
    #[test]
    fn splitting_never_panics(script in "[a-c '\"`$(){}<>|&;\\\\\n#=é-]{0,60}|\\PC{0,40}") {
        let parts = split(&script);
        let _ = (subject(&parts), covered_commands(&parts));
    }
}
