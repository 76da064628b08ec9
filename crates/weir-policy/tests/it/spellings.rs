//! Ways to spell a denied `sudo`: none of them may be allowed.

use expect_test::expect_file;
use weir_policy::judge::{Verdict, judge};

use crate::help::{denying, verdicts};

/// The spellings that were tried against a peer's rule `Bash(sudo *)`, and more of the same kinds.
#[rustfmt::skip] // One to a line.
pub(crate) const SPELLINGS: &[&str] = &[
    "sudo id",
    "sudo",
    "bash -c 'sudo id'",
    "(sudo id)",
    "{ sudo id; }",
    "FOO=1 sudo id",
    "env sudo id",
    "command sudo id",
    "\\sudo id",
    "su''do id",
    "S=sudo; $S id",
    "eval 'sudo id'",
    "echo id | xargs sudo",
    "if true; then sudo id; fi",
    "for i in 1; do sudo id; done",
    "cat <(sudo id)",
    "sudo\tid",
    "python3 -c 'import os; os.popen(\"sudo id\")'",
    "/usr/bin/sudo id",
    "true\nsudo id",
    "true; sudo id",
    "true && sudo id",
    "false || sudo id",
    "echo x | sudo tee y",
    "true & sudo id",
    "echo `sudo id`",
    "echo $(sudo id)",
    "sh <<EOF\nsudo id\nEOF",
    "exec sudo id",
    "nohup sudo id",
    "time sudo id",
    "f() { sudo id; }; f",
    "alias s='sudo id'; s",
    "case x in x) sudo id;; esac",
    "while sudo id; do :; done",
    "until sudo id; do :; done",
    "busybox sudo id",
    "find . -exec sudo id \\;",
    "nice -n 5 sudo id",
    "timeout 5 sudo id",
    "\"sudo\" id",
    "'s'udo id", // typos: allow
    "$'sudo' id",
    "$'\\x73udo' id",
    "${x:-sudo} id",
    "{sudo,-n} id",
    "/usr/bin/sud? id",
    "! sudo id",
    "sud\\\no id",
    "bash <<< 'sudo id'",
    "echo 'sudo id' | sh",
    "ssh host sudo id",
    "\"$(which sudo)\" id",
    "coproc sudo id",
    "env -S 'sudo id'",
    "xargs -I{} sh -c 'sudo {}'",
    "trap 'sudo id' EXIT",
    ". <(echo sudo id)",
    "watch sudo id",
    "su root -c 'sudo id'",
    "script -qc 'sudo id' /dev/null",
    "setsid -w sudo id",
    "stdbuf -oL sudo id",
    "parallel sudo ::: id",
    "/lib64/ld-linux-x86-64.so.2 /usr/bin/sudo id",
    "GIT_SSH_COMMAND='sudo id' git fetch",
    "> out sudo id",
    "env > out sudo id",
    "2>&1 sudo id",
    "[[ -n $(sudo id) ]]",
    "echo \"${x:=$(sudo id)}\"",
    "cat <<EOF\n$(sudo id)\nEOF",
    "a=(1 $(sudo id))",
    "echo $((1 + $(sudo id)))",
    "git -c alias.x='!sudo id' x",
    "awk 'BEGIN { system(\"sudo id\") }'",
    "sed '1e sudo id' file",
    "perl -e 'exec \"sudo\", \"id\"'",
];

#[test]
fn no_spelling_of_a_denied_program_is_allowed() {
    for rule in ["Bash(sudo *)", "Bash(sudo:*)", "Bash(sudo)"] {
        let rules = denying(&[rule]);
        let allowed: Vec<_> =
            SPELLINGS.iter().filter(|script| judge(&rules, script).verdict == Verdict::Allow).collect();
        assert!(allowed.is_empty(), "{rule} let through: {allowed:#?}");
    }
    assert!(SPELLINGS.len() >= 37);
}

/// Options in unusual forms, before or around the command that they carry.
#[rustfmt::skip] // One to a line.
const UNUSUAL_OPTIONS: &[&str] = &[
    "xargs --process-slot-var X sudo id",
    "xargs --max-arg 1 sudo id",
    "xargs --max-arg 1 --null -P 2 sudo id",
    "xargs --no-run-if-empty sudo id",
    "sed -ne's/.*/sudo id/e' data",
    "sed -ne'1e sudo id' data",
    "sed -Ene '1e sudo id' data",
    "sed --expr='1e sudo id' data",
    "sed --expr '1e sudo id' data",
    "sed -i.e '1e sudo id' data",
    "git clone --config=core.sshCommand='sudo id' ssh://host/r",
    "git clone --config=core.sshCommand=\"$X\" ssh://host/r",
    "git clone -u 'sudo id' host:r",
    "git -c submodule.x.update='!sudo id' submodule update",
    "git -c remote.o.uploadpack='sudo id' fetch o",
];

#[test]
fn no_unusual_form_of_an_option_hides_a_denied_program() {
    let rules = denying(&["Bash(sudo *)"]);
    let allowed: Vec<_> =
        UNUSUAL_OPTIONS.iter().filter(|script| judge(&rules, script).verdict == Verdict::Allow).collect();
    assert!(allowed.is_empty(), "let through: {allowed:#?}");
    for script in [
        "sed -ne p data", "sed -n -e1p data", "sed -ie 's/a/b/' data", "xargs --null -n 1 wc -l",
        "git push -u origin main",
    ] {
        assert_eq!(judge(&rules, script).verdict, Verdict::Allow, "{script}");
    }
}

#[test]
fn spellings_are_denied_where_they_are_understood_and_ask_where_not() {
    expect_file!["golden/spellings.txt"].assert_eq(&verdicts(&denying(&["Bash(sudo *)"]), SPELLINGS));
}

/// A rule, spellings of what it denies, and commands that it does not deny.
const ORDERS: &[(&str, &[&str], &[&str])] = &[
    (
        "Bash(git push *)",
        &[
            "git push", "git -C . push", "git --no-pager push origin", "git -c a.b=c push", "git -c alias.x=push x",
            "git config alias.x push; git x", "git -P push", "git -p push", "git --git-dir .git push",
            "git --git-dir=.git --work-tree . push", "git --bare push", "git --namespace=x push",
            "git --namespace x push", "git --literal-pathspecs push", "git -C a -C b --no-optional-locks push",
            "/usr/bin/git -C . push", "runuser -u x git push", "runuser -u x -- git -P push",
            "sudo -u x git -C . push", "sudo-rs git push", "setuidgid x git push",
        ],
        &["git status", "git -C push status", "git stash push", "git log --grep push"],
    ),
    (
        "Bash(npm publish:*)",
        &["npm --silent publish", "npm -w x publish", "npm --prefix a publish --tag b", "npm --workspace=x publish"],
        &["npm test", "npm run publish-docs", "npm -w publish test"],
    ),
    (
        "Bash(rm -rf *)",
        &[
            "rm -rf x", "rm -fr x", "rm -r -f x", "rm -f -v -r x", "rm -rfv x", "rm x -rf", "rm -vfr -- x",
            "rm --recursive --force x", "rm --rec -f x", "rm -Rf x",
        ],
        &["rm -f x", "rm -r x", "rm -r -- -f", "rm x", "rm --force x", "rm --recursive x"],
    ),
    (
        "Bash(git push --force *)",
        &["git push origin --force", "git -C . push o main --force", "git push -f origin"],
        &["git push origin", "git push --follow-tags origin"],
    ),
    (
        "Bash(cargo publish *)",
        &["cargo +nightly publish", "cargo -q publish", "cargo --config a=b publish"],
        &["cargo test"],
    ),
    (
        "Bash(kubectl delete *)",
        &["kubectl -n x delete pod a", "kubectl --context=y delete pod a"],
        &["kubectl get pods"],
    ),
];

#[test]
fn options_before_a_subcommand_and_their_order_hide_nothing_that_is_denied() {
    for (rule, same, other) in ORDERS {
        let rules = denying(&[rule]);
        for script in *same {
            assert_eq!(judge(&rules, script).verdict, Verdict::Deny, "{rule} with {script}");
        }
        for script in *other {
            assert_eq!(judge(&rules, script).verdict, Verdict::Allow, "{rule} with {script}");
        }
    }
}
