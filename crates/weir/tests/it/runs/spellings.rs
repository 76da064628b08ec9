//! Rules apply however a command is spelled: a denied program is not run, and a file that may not be read is not read.
//!
//! Rules are applied by a parser, which can be deceived, and by a mask over the file, which cannot. So the tests check
//! the effect: a stand-in for the denied program leaves a mark if it is run.

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};

use super::answers::printed;
use super::configured;
use crate::support::{Home, Server};

const SPELLINGS: &str = include_str!("../../../../weir-policy/tests/it/spellings.rs");
const ATTACKS: &str = include_str!("../../../../weir-policy/tests/it/attacks.rs");

/// Code in other languages, which the parser does not understand.
const OTHERS: &[(&str, &str)] = &[
    ("python", "import subprocess\nsubprocess.run(['sudo', 'id'])"),
    ("python", "import os\nos.system('sudo id')"),
    ("python", "import os\nos.execvp('sudo', ['sudo', 'id'])"),
    ("python", "import os, shutil\nos.system('sh ' + shutil.which('sudo', mode=os.F_OK))"),
    ("python", "import os, shutil\nos.system('PATH=\"$PATH\" . ' + shutil.which('sudo', mode=os.F_OK))"),
    ("python", "import os, shutil\nshutil.copy(shutil.which('sudo', mode=os.F_OK), '/tmp/s')\nos.system('sh /tmp/s')"),
    ("python", "import os, shutil\nos.link(shutil.which('sudo', mode=os.F_OK), 's')\nos.system('sh s')"),
    ("python", "import os, shutil\nos.symlink(shutil.which('sudo', mode=os.F_OK), 's')\nos.system('./s; sh s')"),
    ("python", "import os\nos.system('sh /proc/self/root' + os.environ['HOME'] + '/bin/sudo')"),
    ("python", "import os\nos.chmod(os.environ['HOME'] + '/bin/sudo', 0o777)\nos.system('sudo id')"),
    ("python", "import os\nh = os.environ['HOME']\nos.rename(h + '/bin', h + '/b')\nos.system('sh ' + h + '/b/sudo')"),
    ("perl", "system('sudo', 'id');"),
    ("perl", "exec { 'sudo' } 'sudo', 'id';"),
    ("ruby", "system('sudo', 'id')"),
    ("ruby", "puts `sudo id`"),
    ("javascript", "require('node:child_process').spawnSync('sudo', ['id'], { stdio: 'inherit' })"),
    ("php", "passthru('sudo id');"),
];

/// Returns a home with marking stand-ins for the programs of the lists, and with what the lists refer to.
fn home(rules: &str) -> Home {
    let mut home = configured(rules);
    let stand_in = format!("#!/bin/sh\necho IT RAN\necho \"$@\" > {}/mark\n", home.project().display());
    home.write("../bin/sudo", &stand_in);
    home.write("../bin/evil", &stand_in);
    home.write("script-that-calls-evil.sh", "#!/bin/sh\nevil\n");
    home.write("evil.mk", "all:\n\tevil\n");
    home.write("file", "x\n");
    home.git(&["init", "--quiet"]);
    for path in ["../bin/sudo", "../bin/evil", "script-that-calls-evil.sh"] {
        std::fs::set_permissions(home.project().join(path), PermissionsExt::from_mode(0o755)).unwrap();
    }
    home.programs.insert(0, home.path().join("bin"));
    home
}

/// Runs code and returns the outcome: not run at all, or run without the program.
fn outcome(home: &Home, server: &mut Server, arguments: Value) -> &'static str {
    let answer = server.said("ctx_execute", &arguments);
    let mark = home.project().join("mark");
    assert!(!mark.exists() && !answer.contains("IT RAN"), "{arguments} ran it:\n{answer}");
    if answer.starts_with("error: nothing was run. ") { "not run" } else { "masked" }
}

/// Tries all of them against a rule and counts the outcomes.
#[expect(clippy::print_stderr, reason = "which ones the mask stopped is what one wants to see of this")]
fn check(rule: &str, all: &[Value]) -> (usize, usize) {
    let home = home(&format!("[policy]\ndeny = [\"{rule}\"]\n"));
    let mut server = home.server();
    let (mut refused, mut masked) = (0, 0);
    for arguments in all {
        match outcome(&home, &mut server, arguments.clone()) {
            "not run" => refused += 1,
            _ => {
                masked += 1;
                eprintln!("stopped by the mask: {arguments}");
            }
        }
    }
    (refused, masked)
}

fn shell(code: &str) -> Value {
    json!({ "code": code, "timeout": 3 })
}

#[test]
fn the_stand_in_is_run_where_no_rule_is_against_it() {
    for (language, code) in OTHERS.iter().filter(|(_, code)| !code.contains("HOME") && !code.contains("link")) {
        let home = home("");
        let answer = home.server().said("ctx_execute", &json!({ "language": language, "code": code }));
        assert!(answer.contains("IT RAN") && home.project().join("mark").exists(), "{code}: {answer}");
    }
    let home = home("");
    let answer = home.server().said("ctx_execute", &shell("sudo id"));
    assert_eq!(printed(&answer), "IT RAN", "{answer}");
}

#[test]
fn no_spelling_runs_a_denied_program() {
    let spellings = listed(SPELLINGS, "SPELLINGS");
    assert!(spellings.len() >= 37, "{}", spellings.len());
    let all: Vec<Value> = spellings.iter().map(|code| shell(code)).collect();
    let (refused, masked) = check("Bash(sudo *)", &all);
    assert_eq!((refused, masked), (all.len(), 0), "the parser knows all of these");
}

#[test]
fn no_trick_on_the_parser_runs_a_denied_program() {
    let attacks = listed(ATTACKS, "ATTACKS");
    assert!(attacks.len() >= 100, "{}", attacks.len());
    let all: Vec<Value> = attacks.iter().map(|code| shell(code)).collect();
    let (refused, masked) = check("Bash(evil *)", &all);
    assert_eq!((refused, masked), (all.len(), 0), "the parser is deceived by none of these");
}

#[test]
fn what_no_parser_sees_is_stopped_by_the_mask() {
    let invisible = listed(ATTACKS, "INVISIBLE");
    let all: Vec<Value> = invisible.iter().map(|code| shell(&code.replace("python ", "python3 "))).collect();
    let (_, masked) = check("Bash(evil *)", &all);
    assert!(masked >= 4, "some of these are seen by no parser, and the mask was tried by {masked} only");
    // The mask alone: without the rule, these do run it.
    for code in ["make -f evil.mk", "./script-that-calls-evil.sh", "x='a['; y='$('; z=\"$x${y}evil)]\"; echo $((z))"] {
        let home = home("");
        let answer = home.server().said("ctx_execute", &shell(code));
        assert!(home.project().join("mark").exists(), "{code}: {answer}");
    }
}

#[test]
fn no_other_language_runs_a_denied_program() {
    let all: Vec<Value> = OTHERS.iter().map(|(language, code)| json!({ "language": language, "code": code })).collect();
    for rule in ["Bash(sudo *)", "Bash(sudo:*)", "Bash(sudo)"] {
        let (refused, masked) = check(rule, &all);
        assert_eq!((refused, masked), (0, all.len()), "{rule}");
    }
}

/// Returns the strings of a list in the source of another test.
fn listed(source: &str, name: &str) -> Vec<String> {
    let start = source.find(&format!("const {name}: &[&str] = &[")).unwrap_or_else(|| panic!("no list {name}"));
    let lines = source[start..].lines().skip(1).map(str::trim).take_while(|line| *line != "];");
    // A comment may follow the literal.
    let literal = |line: &str| line.strip_prefix('"')?.rsplit_once("\",").map(|(text, _)| unescaped(text));
    lines.filter(|line| !line.starts_with("//")).map(|line| literal(line).unwrap_or_else(|| panic!("{line}"))).collect()
}

fn unescaped(literal: &str) -> String {
    let (mut text, mut rest) = (String::new(), literal.chars());
    while let Some(next) = rest.next() {
        let character = match (next, next == '\\') {
            (_, true) => match rest.next().unwrap() {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                '0' => '\0',
                'u' => {
                    let number: String = rest.by_ref().skip(1).take_while(|c| *c != '}').collect();
                    char::from_u32(u32::from_str_radix(&number, 16).unwrap()).unwrap()
                }
                other => other,
            },
            (plain, false) => plain,
        };
        text.push(character);
    }
    text
}
