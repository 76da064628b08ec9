//! Every language in the real sandbox, from an empty home: its output, how it ends, and the file it works on.

use std::os::unix::fs::symlink;

use serde_json::json;

use super::answers::printed;
use crate::support::{Home, Server, text};

/// The file that the code works on, with a name and a text that are not all ASCII.
const FILE: (&str, &str) = ("a é file.txt", "café\nsecond line\n");

/// The programs of a language, written as a model would write them.
struct Programs {
    language: &'static str,
    /// Prints `hello`.
    hello: &'static str,
    /// Prints `oops` to standard error and exits with 3.
    fails: &'static str,
    /// Prints the first line of the file.
    reads: &'static str,
}

const PROGRAMS: &[Programs] = &[
    Programs {
        language: "javascript",
        hello: "console.log('hello')",
        fails: "console.error('oops'); process.exitCode = 3",
        reads: "console.log(FILE_CONTENT.split('\\n')[0])",
    },
    Programs {
        language: "typescript",
        hello: "const word: string = 'hello'\nconsole.log(word)",
        fails: "import process from 'node:process'\nconsole.error('oops' as string); process.exitCode = 3",
        reads: "declare const FILE_CONTENT: string\nconsole.log(FILE_CONTENT.split('\\n')[0])",
    },
    Programs {
        language: "python",
        hello: "print('hello')",
        fails: "import sys\nprint('oops', file=sys.stderr)\nsys.exit(3)",
        reads: "print(FILE_CONTENT.splitlines()[0])",
    },
    Programs {
        language: "shell",
        hello: "echo hello",
        fails: "echo oops >&2; exit 3",
        reads: "head -n 1 <<< \"$FILE_CONTENT\"",
    },
    Programs {
        language: "ruby",
        hello: "puts 'hello'",
        fails: "warn 'oops'; exit 3",
        reads: "puts FILE_CONTENT.lines.first",
    },
    Programs {
        language: "go",
        hello: "fmt.Println(\"hello\")",
        fails: "fmt.Fprintln(os.Stderr, \"oops\")\nos.Exit(3)",
        reads: "fmt.Println(strings.Split(FILE_CONTENT, \"\\n\")[0])",
    },
    Programs {
        language: "rust",
        hello: "println!(\"hello\");",
        fails: "eprintln!(\"oops\");\nstd::process::exit(3)",
        reads: "println!(\"{}\", FILE_CONTENT.lines().next().unwrap());",
    },
    Programs {
        language: "php",
        hello: "echo \"hello\\n\";",
        fails: "fwrite(STDERR, \"oops\\n\"); exit(3);",
        reads: "echo explode(\"\\n\", FILE_CONTENT)[0], \"\\n\";",
    },
    Programs {
        language: "perl",
        hello: "print \"hello\\n\";",
        fails: "print STDERR \"oops\\n\"; exit 3;",
        reads: "print +(split /\\n/, $FILE_CONTENT)[0], \"\\n\";",
    },
    Programs {
        language: "r",
        hello: "cat('hello\\n')",
        fails: "message('oops'); quit(status = 3)",
        reads: "cat(strsplit(FILE_CONTENT, '\\n')[[1]][1], '\\n', sep = '')",
    },
    Programs {
        language: "elixir",
        hello: "IO.puts(\"hello\")",
        fails: "IO.puts(:stderr, \"oops\")\nSystem.halt(3)",
        reads: "IO.puts(file_content |> String.split(\"\\n\") |> hd())",
    },
];

/// Returns the answer without the time it took.
fn run(server: &mut Server, tool: &str, arguments: serde_json::Value) -> (String, String) {
    let answer = server.said(tool, &arguments);
    let head = answer.lines().next().unwrap_or_default();
    let (how, sandbox) = head.split_once(" in ").unwrap_or_else(|| panic!("a missing runtime? {answer}"));
    assert!(sandbox.contains(", sandbox full"), "{answer}");
    (how.to_owned(), printed(&answer).to_owned())
}

fn check(language: &str) {
    check_in(&Home::with_programs(), language);
}

fn check_in(home: &Home, language: &str) {
    let programs = PROGRAMS.iter().find(|programs| programs.language == language).unwrap();
    home.write(FILE.0, FILE.1);
    let mut server = home.server();
    let execute = |code: &str| json!({ "language": language, "code": code });
    let said = |how: &str, what: &str| (how.to_owned(), what.to_owned());
    assert_eq!(run(&mut server, "ctx_execute", execute(programs.hello)), said("exit 0", "hello"), "{language}");
    assert_eq!(run(&mut server, "ctx_execute", execute(programs.fails)), said("exit 3", "oops"), "{language}");
    let over_file = json!({ "path": FILE.0, "language": language, "code": programs.reads });
    assert_eq!(run(&mut server, "ctx_execute_file", over_file), said("exit 0", "café"), "{language}");
    let left: Vec<_> = std::fs::read_dir(home.project()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, [FILE.0], "{language} leaves something in the project");
}

fn home_with(runtime: &str) -> Home {
    let mut home = Home::with_programs();
    let own = home.path().join("bin");
    let usual = std::mem::replace(&mut home.programs, vec![own.clone()]);
    // The last one, since what the gate installs is the newest.
    let find = |program: &str| usual.iter().rev().map(|folder| folder.join(program)).find(|path| path.is_file());
    let found = find(runtime).unwrap_or_else(|| panic!("no {runtime}: run .ci/runtimes"));
    std::fs::create_dir(&own).unwrap();
    symlink(found, own.join(runtime)).unwrap();
    home
}

/// Checks a language with a runtime other than the preferred one.
fn check_by(language: &str, runtime: &str) {
    let home = home_with(runtime);
    let which = "console.log('Deno' in globalThis ? 'deno' : 'Bun' in globalThis ? 'bun' : 'node')";
    let ran = run(&mut home.server(), "ctx_execute", json!({ "language": language, "code": which }));
    assert_eq!(ran.1, runtime);
    check_in(&home, language);
}

/// Checks that relative names are of the project, although the code is elsewhere.
fn check_relative(runtime: &str) {
    let home = home_with(runtime);
    home.write("package.json", r#"{ "name": "app", "version": "1.2.3" }"#);
    home.write("src/one.js", "exports.one = require('./two').two;\n");
    home.write("src/two.js", "exports.two = 2;\n");
    home.write("src/three.mjs", "export const three = 3;\n");
    let mut server = home.server();
    for (code, expected) in [
        ("console.log(require('./package.json').version, require('./src/one.js').one)", "1.2.3 2"),
        ("import { three } from './src/three.mjs'\nconsole.log(three)", "3"),
        ("const { three } = await import('./src/three.mjs')\nconsole.log(three)", "3"),
    ] {
        let ran = run(&mut server, "ctx_execute", json!({ "language": "javascript", "code": code }));
        assert_eq!(ran, ("exit 0".to_owned(), expected.to_owned()), "{runtime}: {code}");
    }
}

#[test]
fn every_language_is_tried() {
    let home = Home::with_programs();
    let output = home.weir(&["run", "-l", "cobol", "stop run."]);
    let message = text(&output.stderr);
    let known = message.split("supported languages: ").nth(1).unwrap_or_else(|| panic!("{message}")).trim();
    let mut known: Vec<&str> = known.split(", ").collect();
    let mut tried: Vec<&str> = PROGRAMS.iter().map(|programs| programs.language).collect();
    known.sort_unstable();
    tried.sort_unstable();
    assert_eq!(tried, known);
}

/// One at a time, since compilers are heavy.
mod e2e {
    use super::{check, check_by, check_relative};

    #[test]
    #[ignore = "needs all runtimes; .ci/run installs them"]
    fn javascript() {
        check("javascript");
        ["bun", "node", "deno"].iter().for_each(|runtime| check_by("javascript", runtime));
        ["bun", "node"].iter().for_each(|runtime| check_relative(runtime));
    }

    #[test]
    #[ignore = "needs all runtimes; .ci/run installs them"]
    fn typescript() {
        check("typescript");
        ["bun", "deno", "node"].iter().for_each(|runtime| check_by("typescript", runtime));
    }

    macro_rules! tests_of {
        ($($language:ident)*) => {$(
            #[test]
            #[ignore = "needs all runtimes; .ci/run installs them"]
            fn $language() {
                check(stringify!($language));
            }
        )*};
    }

    tests_of! { python shell ruby go rust php perl r elixir }
}
