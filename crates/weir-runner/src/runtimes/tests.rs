//! Checks the plans, and runs real programs in every language with every runtime that the gate installs.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use expect_test::expect;
use weir_check::Checked;

use super::{Found, LANGUAGES, Language, Plan, find};

/// Formats a plan as text. Long files are shown by their first line.
fn show(plan: &Plan) -> String {
    let mut shown = String::new();
    for (path, text) in &plan.files {
        let text = String::from_utf8_lossy(text);
        shown += &format!("{}: {}\n", path.display(), text.lines().next().unwrap_or_default());
    }
    for step in &plan.steps {
        let words: Vec<_> = step.iter().map(|word| word.to_string_lossy()).collect();
        shown += &format!("$ {}\n", words.join(" "));
    }
    for (name, value) in &plan.env {
        let cache = if plan.cache.is_some_and(|cache| cache == name) { " (cache)" } else { "" };
        shown += &format!("{}={}{cache}\n", name.display(), value.display());
    }
    shown
}

fn check(name: &str, code: &str, file: Option<&str>) -> Checked {
    let language = Language::find(name).unwrap();
    let mut shown = String::new();
    for runtime in language.runtimes {
        let found = Found { language, runtime, program: Path::new("/bin").join(runtime.program) };
        shown += &show(&found.plan(code, file.map(Path::new), Path::new("/tmp/s")));
    }
    Checked(shown)
}

#[test]
fn plans_of_scripts_in_javascript_and_typescript() {
    check("javascript", "1", None).shows(&expect![[r#"
        /tmp/s/code.js: 1
        $ /bin/bun run --no-install --no-env-file /tmp/s/code.js
        BUN_RUNTIME_TRANSPILER_CACHE_PATH=0
        DO_NOT_TRACK=1
        /tmp/s/code.js: 1
        $ /bin/node /tmp/s/code.js
        /tmp/s/code.js: 1
        $ /bin/deno run --quiet --allow-all /tmp/s/code.js
        DENO_NO_UPDATE_CHECK=1
        DENO_DIR=/tmp/s/deno (cache)
    "#]]);
    check("typescript", "1", None).shows(&expect![[r#"
        /tmp/s/code.ts: 1
        $ /bin/bun run --no-install --no-env-file /tmp/s/code.ts
        BUN_RUNTIME_TRANSPILER_CACHE_PATH=0
        DO_NOT_TRACK=1
        /tmp/s/code.ts: 1
        $ /bin/deno run --quiet --allow-all /tmp/s/code.ts
        DENO_NO_UPDATE_CHECK=1
        DENO_DIR=/tmp/s/deno (cache)
        /tmp/s/code.ts: 1
        $ /bin/node --no-warnings /tmp/s/code.ts
        /tmp/s/code.ts: 1
        $ /bin/node --experimental-strip-types --no-warnings /tmp/s/code.ts
    "#]]);
}

#[test]
fn plans_of_other_scripts() {
    check("python", "1", None).shows(&expect![[r#"
        /tmp/s/code.py: 1
        /tmp/s/start.py: import os as _os, sys as _sys
        $ /bin/python3 /tmp/s/start.py /tmp/s/code.py
        /tmp/s/code.py: 1
        /tmp/s/start.py: import os as _os, sys as _sys
        $ /bin/python /tmp/s/start.py /tmp/s/code.py
    "#]]);
    check("shell", "true", None).shows(&expect![[r#"
        /tmp/s/code.sh: true
        $ /bin/bash /tmp/s/code.sh
        /tmp/s/code.sh: true
        $ /bin/sh /tmp/s/code.sh
    "#]]);
    check("ruby", "1", None).shows(&expect![[r#"
        /tmp/s/code.rb: 1
        /tmp/s/prelude.rb: $stdout.sync = true
        $ /bin/ruby -EUTF-8 -r /tmp/s/prelude.rb /tmp/s/code.rb
    "#]]);
}

#[test]
fn plans_of_compiled_languages() {
    check("go", "fmt.Print(1)", None).shows(&expect![[r#"
        /tmp/s/code.go: package main; import "fmt"; var _ = fmt.Print; func main() { fmt.Print(1)
        $ /bin/go build -o /tmp/s/program /tmp/s/code.go
        $ /tmp/s/program
        GOTOOLCHAIN=local
        GOTELEMETRY=off
        GOCACHE=/tmp/s/go-cache (cache)
    "#]]);
    check("rust", "print!()", None).shows(&expect![[r#"
        /tmp/s/code.rs: fn main() -> Result<(), Box<dyn std::error::Error>> { print!()
        $ /bin/rustc --edition=2024 -Copt-level=1 -Cdebug-assertions=on --cap-lints=allow -o /tmp/s/program /tmp/s/code.rs
        $ /tmp/s/program
    "#]]);
}

#[test]
fn plans_of_still_other_scripts() {
    check("php", "echo 1;", None).shows(&expect![[r#"
        /tmp/s/code.php: <?php echo 1;
        /tmp/s/prelude.php: <?php
        $ /bin/php -d display_errors=stderr -d log_errors=0 -d auto_prepend_file=/tmp/s/prelude.php /tmp/s/code.php
    "#]]);
    check("perl", "1;", None).shows(&expect![[r#"
        /tmp/s/code.pl: 1;
        /tmp/s/WeirPrelude.pm: package WeirPrelude;
        $ /bin/perl -I/tmp/s -MWeirPrelude /tmp/s/code.pl
    "#]]);
    check("r", "1", None).shows(&expect![[r#"
        /tmp/s/code.R: 1
        $ /bin/Rscript --vanilla /tmp/s/code.R
        LC_CTYPE=C.UTF-8
    "#]]);
    check("elixir", "1", None).shows(&expect![[r#"
        /tmp/s/code.exs: 1
        $ /bin/elixir /tmp/s/code.exs
        ELIXIR_ERL_OPTIONS=+fnu
        LC_CTYPE=C.UTF-8
    "#]]);
}

#[test]
fn a_prelude_is_loaded_where_it_can_matter() {
    check("javascript", "require('p')", None).shows(&expect![[r#"
        /tmp/s/code.js: require('p')
        /tmp/s/prelude.cjs: const fs = require("node:fs");
        $ /bin/bun run --no-install --no-env-file --preload /tmp/s/prelude.cjs /tmp/s/code.js
        BUN_RUNTIME_TRANSPILER_CACHE_PATH=0
        DO_NOT_TRACK=1
        /tmp/s/code.js: require('p')
        /tmp/s/prelude.cjs: const fs = require("node:fs");
        $ /bin/node --require /tmp/s/prelude.cjs /tmp/s/code.js
        /tmp/s/code.js: require('p')
        $ /bin/deno run --quiet --allow-all /tmp/s/code.js
        DENO_NO_UPDATE_CHECK=1
        DENO_DIR=/tmp/s/deno (cache)
    "#]]);
    check("javascript", "1", Some("/a b")).shows(&expect![[r#"
        /tmp/s/code.js: 1
        /tmp/s/prelude.cjs: const fs = require("node:fs");
        $ /bin/bun run --no-install --no-env-file --preload /tmp/s/prelude.cjs /tmp/s/code.js
        BUN_RUNTIME_TRANSPILER_CACHE_PATH=0
        DO_NOT_TRACK=1
        WEIR_FILE=/a b
        /tmp/s/code.js: 1
        /tmp/s/prelude.cjs: const fs = require("node:fs");
        $ /bin/node --require /tmp/s/prelude.cjs /tmp/s/code.js
        WEIR_FILE=/a b
        /tmp/s/code.js: globalThis.FILE_PATH = Deno.env.get("WEIR_FILE"); globalThis.FILE_CONTENT = new TextDecoder().decode(Deno.readFileSync(globalThis.FILE_PATH)); 1
        $ /bin/deno run --quiet --allow-all /tmp/s/code.js
        DENO_NO_UPDATE_CHECK=1
        DENO_DIR=/tmp/s/deno (cache)
        WEIR_FILE=/a b
    "#]]);
}

#[test]
fn plans_with_a_file() {
    check("shell", "true", Some("/a b")).shows(&expect![[r#"
        /tmp/s/code.sh: FILE_PATH=$WEIR_FILE; FILE_CONTENT=$(tr -d '\000' <"$FILE_PATH" && printf x) || exit 1; FILE_CONTENT=${FILE_CONTENT%x}; true
        $ /bin/bash /tmp/s/code.sh
        WEIR_FILE=/a b
        /tmp/s/code.sh: FILE_PATH=$WEIR_FILE; FILE_CONTENT=$(tr -d '\000' <"$FILE_PATH" && printf x) || exit 1; FILE_CONTENT=${FILE_CONTENT%x}; true
        $ /bin/sh /tmp/s/code.sh
        WEIR_FILE=/a b
    "#]]);
    check("go", "package main", Some("/a b")).shows(&expect![[r#"
        /tmp/s/code.go: package main
        /tmp/s/prelude.go: package main
        $ /bin/go build -o /tmp/s/program /tmp/s/code.go /tmp/s/prelude.go
        $ /tmp/s/program
        GOTOOLCHAIN=local
        GOTELEMETRY=off
        GOCACHE=/tmp/s/go-cache (cache)
        WEIR_FILE=/a b
    "#]]);
    check("r", "1", Some("/a b")).shows(&expect![[r#"
        /tmp/s/code.R: FILE_PATH <- Sys.getenv("WEIR_FILE"); FILE_CONTENT <- (function(bytes) iconv(rawToChar(bytes[bytes != 0]), "UTF-8", "UTF-8", sub = "\uFFFD"))(readBin(FILE_PATH, "raw", file.size(FILE_PATH))); 1
        $ /bin/Rscript --vanilla /tmp/s/code.R
        LC_CTYPE=C.UTF-8
        WEIR_FILE=/a b
    "#]]);
    check("elixir", "1", Some("/a b")).shows(&expect![[r#"
        /tmp/s/code.exs: file_path = System.fetch_env!("WEIR_FILE"); file_content = file_path |> File.read!() |> String.chunk(:valid) |> Enum.map_join(&if(String.valid?(&1), do: &1, else: "\uFFFD")); _ = file_path; _ = file_content; 1
        $ /bin/elixir /tmp/s/code.exs
        ELIXIR_ERL_OPTIONS=+fnu
        LC_CTYPE=C.UTF-8
        WEIR_FILE=/a b
    "#]]);
}

#[test]
fn languages_are_found_by_every_name_and_by_one_only() {
    let mut names: Vec<&str> = Vec::new();
    for language in LANGUAGES {
        names.push(language.name);
        names.extend(language.aliases);
    }
    for name in &names {
        assert_eq!(names.iter().filter(|other| other == &name).count(), 1, "{name}");
        assert!(Language::find(&name.to_uppercase()).is_some(), "{name}");
    }
    assert!(Language::find("cobol").is_none());
}

#[test]
fn a_language_is_suggested_by_the_extension() {
    for (path, name) in [("a/b.PY", "python"), ("x.r", "r"), ("x.R", "r"), ("m.mts", "typescript"), ("x.exs", "elixir")]
    {
        assert_eq!(Language::detect(Path::new(path)).map(|found| found.name), Some(name), "{path}");
    }
    assert!(Language::detect(Path::new("Makefile")).is_none());
}

/// The test programs of a language, written as a model would write them.
struct Programs {
    language: &'static str,
    runtimes: &'static [&'static str],
    /// Prints `hello`.
    hello: &'static str,
    /// Exits with code 3.
    exits: &'static str,
    /// Prints `oops` to stderr.
    complains: &'static str,
    /// Prints the path of the file, and then its content.
    reads: &'static str,
    /// Fails on the second line, with a message that names that line.
    fails: (&'static str, &'static str),
}

const PROGRAMS: &[Programs] = &[
    Programs {
        language: "javascript",
        runtimes: &["bun", "node", "deno"],
        hello: "const os = await import('node:os');\nconsole.log(os ? 'hello' : '')",
        exits: "process.exit(3)",
        complains: "console.error('oops')",
        reads: "process.stdout.write(`${FILE_PATH}\\n${FILE_CONTENT}`)",
        fails: ("const a = 1\nnull.x()", ".js:2"),
    },
    Programs {
        language: "typescript",
        runtimes: &["bun", "deno", "node"],
        hello: "interface A { a: string }\nconst a: A = { a: 'hello' }\nconsole.log(a.a)",
        exits: "import * as process from 'node:process'\nprocess.exit(3 as number)",
        complains: "console.error('oops' as string)",
        reads: "import * as process from 'node:process'\n\
            declare const FILE_PATH: string, FILE_CONTENT: string\n\
            process.stdout.write(`${FILE_PATH}\\n${FILE_CONTENT}`)",
        fails: ("const a: number = 1\n;(null as any).x()", ".ts:2"),
    },
    Programs {
        language: "python",
        runtimes: &["python3"],
        hello: "from __future__ import annotations\nprint('hello')",
        exits: "import sys\nsys.exit(3)",
        complains: "import sys\nprint('oops', file=sys.stderr)",
        reads: "def f():\n    print(FILE_PATH)\n    print(FILE_CONTENT, end='')\nf()",
        fails: ("def f():\n    raise ValueError('x')\nf()", "code.py\", line 2, in f"),
    },
    Programs {
        language: "shell",
        runtimes: &["bash", "sh"],
        hello: "#!/bin/bash\necho hello",
        exits: "exit 3",
        complains: "echo oops >&2",
        reads: "# The file.\nprintf '%s\\n%s' \"$FILE_PATH\" \"$FILE_CONTENT\"",
        fails: ("true\nno-such-program\nexit 1", "2: no-such-program: "),
    },
    Programs {
        language: "ruby",
        runtimes: &["ruby"],
        hello: "puts 'hello'",
        exits: "exit 3",
        complains: "warn 'oops'",
        reads: "def f = print(FILE_PATH, \"\\n\", FILE_CONTENT)\nf",
        fails: ("a = 1\nraise 'x'", "code.rb:2:"),
    },
    Programs {
        language: "go",
        runtimes: &["go"],
        hello: "package main\nimport \"fmt\"\nfunc main() {\n\tfmt.Println(\"hello\")\n}",
        exits: "os.Exit(3)",
        complains: "fmt.Fprintln(os.Stderr, \"oops\")",
        reads: "import \"fmt\"\nfunc main() { fmt.Print(FILE_PATH, \"\\n\", FILE_CONTENT) }",
        fails: ("a := 1\nb := 2\nfmt.Println(a)", "code.go:2:"),
    },
    Programs {
        language: "rust",
        runtimes: &["rustc"],
        hello: "fn main() {\n    println!(\"hello\");\n}",
        exits: "std::process::exit(3)",
        complains: "eprintln!(\"oops\");",
        reads: "print!(\"{}\\n{}\", *FILE_PATH, *FILE_CONTENT)",
        fails: ("let a = 1;\nlet b: u8 = \"\";", "code.rs:2:"),
    },
    Programs {
        language: "php",
        runtimes: &["php"],
        hello: "echo \"hello\\n\";",
        exits: "<?php\nexit(3);",
        complains: "fwrite(STDERR, \"oops\\n\");",
        reads: "function f() { echo FILE_PATH; }\nf(); echo \"\\n$FILE_CONTENT\";",
        fails: ("$a = 1;\nthrow new Exception('x');", "code.php:2"),
    },
    Programs {
        language: "perl",
        runtimes: &["perl"],
        hello: "print \"hello\\n\";",
        exits: "exit 3;",
        complains: "print STDERR \"oops\\n\";",
        reads: "use strict; use warnings;\nprint \"$FILE_PATH\\n$FILE_CONTENT\";",
        fails: ("my $a = 1;\ndie 'x';", "line 2."),
    },
    Programs {
        language: "r",
        runtimes: &["Rscript"],
        hello: "cat('hello\\n')",
        exits: "quit(status = 3)",
        complains: "message('oops')",
        reads: "# The file.\ncat(FILE_PATH, '\\n', FILE_CONTENT, sep = '')",
        fails: ("a <- 1\nstop('the reason')", "the reason"),
    },
    Programs {
        language: "elixir",
        runtimes: &["elixir"],
        hello: "IO.puts(\"hello\")",
        exits: "System.halt(3)",
        complains: "IO.puts(:stderr, \"oops\")",
        reads: "# The file.\nIO.write(file_path <> \"\\n\" <> file_content)",
        fails: ("_a = 1\nraise \"x\"", "code.exs:2"),
    },
];

/// Runs programs outside the sandbox, with an environment that sets no locale.
mod e2e {
    use super::*;

    #[expect(clippy::disallowed_methods, reason = "a test looks for the runtimes where the shell would")]
    fn variable(name: &str) -> OsString {
        std::env::var_os(name).unwrap_or_default()
    }

    #[expect(clippy::disallowed_methods, reason = "the test of a plan starts what it says")]
    fn start(step: &[OsString], plan: &Plan, folder: &Path) -> std::process::Output {
        let mut command = std::process::Command::new(&step[0]);
        command.args(&step[1..]).env_clear().current_dir(folder).stdin(std::process::Stdio::null());
        for name in ["PATH", "HOME", "RUSTUP_HOME", "CARGO_HOME"] {
            let value = variable(name);
            if !value.is_empty() {
                command.env(name, value);
            }
        }
        // As in the sandbox, where output does not go to a terminal.
        command.env("NO_COLOR", "1").env("TERM", "dumb");
        command.envs(plan.env.iter().cloned()).output().unwrap()
    }

    #[expect(clippy::disallowed_methods, reason = "only the runner asks for versions, and this is its test")]
    fn version(program: &Path) -> Option<String> {
        let output = std::process::Command::new(program).arg("--version").output().ok()?;
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Returns every runtime that the table names; a missing one fails the test.
    fn found(programs: &Programs) -> Vec<Found> {
        let language = Language::find(programs.language).unwrap();
        let path = variable("PATH");
        let one = |program: &&str| {
            let runtimes = language.runtimes.iter().filter(|runtime| runtime.program == *program);
            let mut found = runtimes.flat_map(|runtime| {
                find::executables(runtime.program, &path)
                    .filter(|program| find::fits(runtime, program, &version).is_ok())
                    .map(|program| Found { language, runtime, program })
            });
            found.next().unwrap_or_else(|| panic!("no {program} that runs {}: run .ci/runtimes", language.name))
        };
        programs.runtimes.iter().map(one).collect()
    }

    struct RunOutput {
        code: Option<i32>,
        stdout: String,
        stderr: String,
    }

    fn run(found: &Found, code: &str, file: Option<&Path>) -> RunOutput {
        let folder = tempfile::tempdir().unwrap();
        let (scratch, project): (PathBuf, PathBuf) = (folder.path().join("scratch"), folder.path().join("project"));
        fs::create_dir(&scratch).unwrap();
        fs::create_dir(&project).unwrap();
        let plan = found.plan(code, file, &scratch);
        for (path, text) in &plan.files {
            fs::write(path, text).unwrap();
        }
        let mut last = None;
        for step in &plan.steps {
            let output = start(step, &plan, &project);
            let failed = !output.status.success();
            last = Some(RunOutput {
                code: output.status.code(),
                stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
                stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            });
            if failed {
                break;
            }
        }
        assert_eq!(fs::read_dir(&project).unwrap().count(), 0, "nothing is left in the current folder");
        last.unwrap()
    }

    fn check(name: &str) {
        let programs = PROGRAMS.iter().find(|programs| programs.language == name).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a é file.txt");
        fs::write(&file, "café\n\n").unwrap();
        for found in found(programs) {
            let by = found.program.display();
            let ran = run(&found, programs.hello, None);
            assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "hello\n", ""), "{by}");
            let ran = run(&found, programs.exits, None);
            assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(3), "", ""), "{by}");
            let ran = run(&found, programs.complains, None);
            assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (Some(0), "", "oops\n"), "{by}");
            let ran = run(&found, programs.reads, Some(&file));
            let expected = format!("{}\ncafé\n\n", file.display());
            assert_eq!((ran.code, ran.stdout, ran.stderr.as_str()), (Some(0), expected, ""), "{by}");
            let (code, line) = programs.fails;
            for file in [None, Some(file.as_path())] {
                let ran = run(&found, code, file);
                let stderr = ran.stderr.replace("line 2: no-such", "2: no-such");
                assert_ne!(ran.code, Some(0), "{by}");
                assert!(stderr.contains(line), "{by} should name `{line}`:\n{stderr}");
                assert!(!stderr.contains("start.py"), "{by} shows what started the code:\n{stderr}");
            }
        }
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

    tests_of! { javascript typescript python shell ruby go rust php perl r elixir }

    #[test]
    #[ignore = "needs all runtimes; .ci/run installs them"]
    fn every_language_has_real_programs() {
        let tested: Vec<_> = PROGRAMS.iter().map(|programs| programs.language).collect();
        let known: Vec<_> = LANGUAGES.iter().map(|language| language.name).collect();
        assert_eq!(tested, known);
    }

    #[test]
    #[ignore = "needs all runtimes; .ci/run installs them"]
    fn bytes_that_are_no_text_are_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("bytes");
        fs::write(&file, b"a\xffb\xc3\xa9").unwrap();
        for programs in PROGRAMS.iter().filter(|programs| !["shell", "perl"].contains(&programs.language)) {
            for found in found(programs) {
                let ran = run(&found, programs.reads, Some(&file));
                let by = found.program.display();
                assert_eq!(ran.stdout, format!("{}\na\u{fffd}bé", file.display()), "{by}: {}", ran.stderr);
            }
        }
    }

    /// Packages of the project are found from the scratch folder.
    #[test]
    #[ignore = "needs all runtimes; .ci/run installs them"]
    fn packages_are_those_of_the_current_folder() {
        for (name, file, code) in [
            ("javascript", "node_modules/p/index.js", "const p = require('p')\nconsole.log(p.a)"),
            ("typescript", "node_modules/p/index.js", "import p from 'p'\nconsole.log(p.a)"),
            ("python", "p.py", "import p\nprint(p.a)"),
        ] {
            let programs = PROGRAMS.iter().find(|programs| programs.language == name).unwrap();
            for found in found(programs).into_iter().filter(|found| found.runtime.program != "deno") {
                let folder = tempfile::tempdir().unwrap();
                let (scratch, project) = (folder.path().join("scratch"), folder.path().join("project"));
                fs::create_dir(&scratch).unwrap();
                fs::create_dir_all(project.join(file).parent().unwrap()).unwrap();
                fs::write(project.join(file), if name == "python" { "a = 5" } else { "exports.a = 5" }).unwrap();
                let plan = found.plan(code, None, &scratch);
                for (path, text) in &plan.files {
                    fs::write(path, text).unwrap();
                }
                let output = start(&plan.steps[0], &plan, &project);
                let stderr = String::from_utf8_lossy(&output.stderr);
                assert_eq!(String::from_utf8_lossy(&output.stdout), "5\n", "{}: {stderr}", found.program.display());
            }
        }
    }
}
