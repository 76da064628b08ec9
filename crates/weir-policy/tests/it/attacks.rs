//! Ways to hide a command from a parser. `evil` represents a denied program; none of these may be allowed.

use expect_test::{expect, expect_file};
use weir_policy::judge::{Verdict, judge};

use crate::help::{denying, verdicts};

#[rustfmt::skip] // One to a line.
pub(crate) const ATTACKS: &[&str] = &[
    // Comments.
    "echo a #b\nevil",
    "echo a#b; evil",
    "echo \\#; evil",
    "a=#; evil",
    "echo ${x#y}; evil",
    ": # it's\nevil\n: '",
    "(true)#it's\nevil\n#'",
    "echo $# ; evil",
    // Quotes.
    "echo 'a'\"b\"; evil",
    "echo \"a'b\"; evil; echo \"c'd\"",
    "echo $'a\\\\'; evil; echo 'x'",
    "echo $'it\\'s'; evil",
    "echo \"$(echo \"$(evil)\")\"",
    "\"e\"'v'i\\l",
    "$'\\145vil'",
    "$'\\u0065vil'",
    "$\"evil\"",
    "ev\"\"il",
    "echo \"\\\"; evil; \\\"\"; evil",
    "'evil'",
    // Lines.
    "ev\\\nil",
    "\\\nevil",
    "true \\\n; evil",
    "echo a \\\r\nevil",
    "true\revil",
    "true\r\nevil",
    "echo x\u{b}evil",
    "x\\\tevil",
    "A=b\\\tc evil",
    "A=a\\ \\\nb evil",
    "evi\0l",
    "true\u{a0}; evil",
    // Here-documents.
    "cat <<EOF\n`evil`\nEOF",
    "cat <<EOF\n$((1+$(evil)))\nEOF",
    "cat <<'EOF'\nx\nEOF\nevil",
    "cat <<\"EOF\"\n$(x)\nEOF\nevil",
    "cat <<E\"O\"F\nx\nEOF\nevil",
    "cat <<A <<B\nx\nA\ny\nB\nevil",
    "cat <<-EOF\n\tx\n\tEOF\nevil",
    "cat <<EOF\nx\nEOF \nEOF\nevil",
    "cat <<EOF | evil\nx\nEOF",
    "cat <<EOF && evil\nx\nEOF",
    "env <<EOF evil\nx\nEOF",
    "cat <<EOF; evil\nx\nEOF",
    "cat <<< $(evil)",
    "cat <<\\EOF\n'\nEOF\nevil",
    // Redirections.
    "echo > $(evil)",
    "echo &> >(evil)",
    "echo 2> >(evil)",
    "env > a evil",
    "env >&- evil",
    "<in evil",
    "env < <(evil)",
    "f() { :; } > $(evil)",
    "while :; do :; done < <(evil)",
    "{fd}> $(evil)",
    // Arithmetic, tests and patterns.
    "((x = $(evil)))",
    "echo $((a[$(evil)]))",
    "echo $[ $(evil) ]",
    "for ((i=$(evil);;)); do :; done",
    "((evil) )",
    "$((evil) )",
    "[[ a =~ $(evil) ]]",
    "[[ $(evil) == b ]]",
    "[[ <(ls)<(evil) == b ]]",
    "[ -n \"`evil`\" ]",
    "case $(evil) in *) ;; esac",
    "case x in $(evil)) ;; esac",
    "case x in (x) evil ;; esac",
    "case x in x) ;& y) evil;; esac",
    "case evil in esac; evil",
    "echo @($(evil))",
    "echo !(a|$(evil))",
    // Expansions.
    "echo ${x:-$(evil)}",
    "echo ${x//$(evil)/b}",
    "echo ${x//a/$(evil)}",
    "echo ${x:$(evil)}",
    "echo ${x[$(evil)]}",
    "echo \"${x:-\"$(evil)\"}\"",
    "echo ${x:-`evil`}",
    "x='$(evil)'; echo ${x@P}",
    "x='a[$(evil)]'; echo $((x))",
    "a[$(evil)]=1",
    "a=([$(evil)]=1)",
    "a=(x\n$(evil))",
    "export A=$(evil)",
    "local A=`evil`",
    "declare -a 'x[$(evil)]=1'",
    "unset 'x[$(evil)]'",
    "echo `echo \\`evil\\``",
    "echo `echo $(evil)`",
    "echo `ls *.j` `evil`",
    "[[e]vil ]]",
    "echo {a,$(evil)}",
    "{evil,}",
    "e{v,}il",
    "ev?l",
    "/bin/ev[i]l",
    "~/bin/evil",
    "$(echo evil)",
    "${x}vil",
    "\"$@\"",
    // Compound commands.
    "coproc evil",
    "coproc NAME evil",
    "coproc { evil; }",
    "select x in a; do evil; done",
    "function f { evil; }",
    "f() (evil)",
    "f() if true; then evil; fi",
    "if evil; then :; fi",
    "if true; then :; elif evil; then :; fi",
    "if true; then :; else evil; fi",
    "time { evil; }",
    "time -p evil",
    "! evil",
    "! { evil; }",
    "{ { { evil; }; }; }",
    "( ( evil ) )",
    "true |& evil",
    "true & evil &",
    "true;evil",
    "true&&evil||evil",
    "until evil; do :; done",
    "\u{feff}evil; evil",
    "for x in `evil`; do :; done",
    "for x in a\nb\ndo evil; done",
    "evil() { :; }; command evil",
    "set -- evil; \"$1\"",
    "[ x ]; evil",
    "[ a\nevil ]",
    "[ a | evil ]",
    "coproc A=1 B=2 evil",
    "\"\"$$",
    "echo ${x#{x#y};evil}",
    "echo `ls a`\nb\n ` evil c`",
    "A=1\\\n B=2 evil",
    "&>$\t\"evil\"",
    "\"\"$*",
    "[ a\n+ ]; evil ]",
    "echo \"a $ $(evil)\"",
    "echo $ $(evil)",
    "echo ${x//$\\\n(evil)/b}",
    "echo \"$\\\n(evil)\"",
    "cat <<EOF\n$\\\n(evil)\nEOF",
    "echo $(evil2>&1; evil)",
    "A=1 B=2 evil",
    "{}>x; evil",
    "[e]vil",
    "if true; then :; else'v'il; fi; evil",
    "{ ls; }evil",
    "[!x]vil",
    "[ a && evil ]",
    "0<in evil",
    "A= evil",
    "a`true`; evil",
    "time -x evil",
];

#[test]
fn no_command_is_hidden_from_the_parser() {
    let rules = denying(&["Bash(evil *)"]);
    let allowed: Vec<_> = ATTACKS.iter().filter(|script| judge(&rules, script).verdict == Verdict::Allow).collect();
    assert!(allowed.is_empty(), "let through: {allowed:#?}");
    assert!(ATTACKS.len() >= 51);
}

#[test]
fn attacks_are_denied_where_they_are_understood_and_ask_where_not() {
    expect_file!["golden/attacks.txt"].assert_eq(&verdicts(&denying(&["Bash(evil *)"]), ATTACKS));
}

#[test]
fn too_long_and_too_deep_ask() {
    let rules = denying(&["Bash(evil *)"]);
    let long = format!("echo {}", "a".repeat(10_001));
    let deep = format!("{}evil{}", "$(".repeat(40), ")".repeat(40));
    let deeper = format!("{}evil{}", "( ".repeat(2_000), " )".repeat(2_000));
    let many = "env -i ".repeat(1_000) + "evil";
    let chain = "a&&".repeat(3_000) + "evil";
    for script in [long, deep, deeper, many, chain] {
        assert!(judge(&rules, &script).verdict >= Verdict::Ask, "{}", &script[..40]);
    }
}

/// Attacks that no shell parser can see, since a builtin or another program evaluates its argument.
#[rustfmt::skip] // One to a line.
const INVISIBLE: &[&str] = &[
    "printf -v 'a[$(evil)]' x",
    "test -v 'a[$(evil)]'",
    "let 'a[$(evil)]'",
    "hash -p /usr/bin/evil ls; ls",
    "sed 'e evil' file",
    "sed 's/x/evil/e' file",
    "awk 'BEGIN { system(\"evil\") }'",
    "awk 'BEGIN { \"evil\" | getline }'",
    "git -c alias.x='!evil' x",
    "git -c core.pager=evil log",
    "ssh -o ProxyCommand=evil host",
    "make -f - <<< 'x:; evil'",
    "printf 'x:; evil' | make --file=- x",
    "make -f /dev/stdin < notes",
    "pwsh -c evil",
    "pwsh -NoProfile -Command evil",
    "echo evil | pwsh",
    "ed <<< '!evil'",
    "less '+!evil' notes",
    "python -c 'import os; os.system(\"evil\")'",
    "perl -e 'system(\"evil\")'",
    // From here on nothing is noticed: only the masked binary stops these.
    "x='a['; y='$('; z=\"$x${y}evil)]\"; echo $((z))",
    "python -c 'f = vars(__builtins__)[\"ev\" \"al\"]; f(input())'",
    "make -f evil.mk",
    "cargo run",
    "go run .",
    "pwsh evil.ps1",
    "./script-that-calls-evil.sh",
];

#[test]
fn what_parsers_cannot_see_mostly_asks() {
    expect![[r#"
        ask   printf -v 'a[$(evil)]' x
        ask   test -v 'a[$(evil)]'
        ask   let 'a[$(evil)]'
        ask   hash -p /usr/bin/evil ls; ls
        ask   sed 'e evil' file
        ask   sed 's/x/evil/e' file
        ask   awk 'BEGIN { system("evil") }'
        ask   awk 'BEGIN { "evil" | getline }'
        deny  git -c alias.x='!evil' x
        deny  git -c core.pager=evil log
        deny  ssh -o ProxyCommand=evil host
        ask   make -f - <<< 'x:; evil'
        ask   printf 'x:; evil' | make --file=- x
        ask   make -f /dev/stdin < notes
        ask   pwsh -c evil
        ask   pwsh -NoProfile -Command evil
        ask   echo evil | pwsh
        ask   ed <<< '!evil'
        ask   less '+!evil' notes
        ask   python -c 'import os; os.system("evil")'
        ask   perl -e 'system("evil")'
        allow x='a['; y='$('; z="$x${y}evil)]"; echo $((z))
        allow python -c 'f = vars(__builtins__)["ev" "al"]; f(input())'
        allow make -f evil.mk
        allow cargo run
        allow go run .
        allow pwsh evil.ps1
        allow ./script-that-calls-evil.sh
    "#]]
    .assert_eq(&verdicts(&denying(&["Bash(evil *)"]), INVISIBLE));
}
