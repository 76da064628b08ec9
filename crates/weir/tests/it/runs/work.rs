//! The usual work of a project inside the default sandbox: what works, and what fails with an explanation.

use std::time::Instant;

use serde_json::Value;

use crate::support::{Home, parsed};

struct WorkCase {
    /// Files of the project, below a separate folder.
    files: &'static [(&'static str, &'static str)],
    language: &'static str,
    code: &'static str,
    exit_code: i64,
    /// What the output must contain.
    says: &'static [&'static str],
}

const SHELL: WorkCase = WorkCase { files: &[], language: "shell", code: "", exit_code: 0, says: &[] };

const CRATE: &[(&str, &str)] = &[
    ("Cargo.toml", "[package]\nname = \"small\"\nversion = \"0.1.0\"\nedition = \"2021\"\n"),
    ("src/lib.rs", "pub fn two() -> i32 { 2 }\n\n#[test]\nfn two_is_two() { assert_eq!(two(), 2) }\n"),
    ("tests/it.rs", "#[test]\nfn from_outside() { assert_eq!(small::two(), 2) }\n"),
];
const DEPENDENT: &[(&str, &str)] = &[
    ("Cargo.toml", "[package]\nname = \"small\"\nversion = \"0.1.0\"\n[dependencies]\nserde = \"1\"\n"),
    ("src/lib.rs", ""),
];
const PACKAGE: &[(&str, &str)] = &[
    ("package.json", r#"{ "name": "small", "version": "1.0.0", "scripts": { "test": "node --test" } }"#),
    (
        "two.test.js",
        "const test = require('node:test')\ntest('two is two', () => require('node:assert').equal(2, 1 + 1))\n",
    ),
];
const MODULE: &[(&str, &str)] = &[
    ("go.mod", "module small\n\ngo 1.19\n"),
    (
        "main.go",
        "package main\n\nimport \"fmt\"\n\nfunc two() int { return 2 }\nfunc main() { fmt.Println(\"two is\", two()) }\n",
    ),
    (
        "two_test.go",
        "package main\n\nimport \"testing\"\n\nfunc TestTwo(t *testing.T) { if two() != 2 { t.Fatal() } }\n",
    ),
];

/// Returns a home with a git repository that has one commit and a change.
fn home(files: &[(&str, &str)]) -> Home {
    let home = Home::with_programs();
    files.iter().for_each(|(path, text)| home.write(path, text));
    home.write("notes.txt", "first\n");
    home.git(&["init", "--quiet", "--initial-branch=main"]);
    home.git(&["add", "--all"]);
    let who = ["-c", "user.name=Tester", "-c", "user.email=tester@example.com"];
    home.git(&[&who[..], &["commit", "--quiet", "--message", "the first"]].concat());
    home.write("notes.txt", "second\n");
    home
}

#[expect(clippy::print_stderr, reason = "what a piece of work comes to is what one wants to see of this")]
fn check(work: &WorkCase) {
    let home = home(work.files);
    let begun = Instant::now();
    let answer = parsed(&home.weir(&["run", "--json", "--timeout", "150", "-l", work.language, work.code]));
    let said = answer["text"].as_str().unwrap();
    let last = said.lines().last().unwrap_or_default();
    eprintln!("{:?}: exit {} in {:.1} s: {last}", work.code, answer["exit_code"], begun.elapsed().as_secs_f64());
    assert_eq!(answer["sandbox"], "full", "{answer}");
    assert_eq!(answer["exit_code"], work.exit_code, "{}:\n{said}", work.code);
    for words in work.says {
        assert!(said.contains(words), "{} should say `{words}`:\n{said}", work.code);
    }
    // A failure may say that the sandbox is the reason, and new programs are named. Nothing else is said.
    let says = |remark: &Value, words| remark.as_str().is_some_and(|text| text.contains(words));
    let is_blame = |remark: &Value| work.exit_code != 0 && says(remark, "which may be why it failed");
    let is_expected = |remark: &Value| is_blame(remark) || says(remark, "programs, scripts and hidden files written");
    let remarks = answer["remarks"].as_array().unwrap();
    assert!(remarks.len() <= 1 && remarks.iter().all(is_expected), "{}: {remarks:?}", work.code);
}

#[test]
fn git_is_read_as_ever() {
    check(&WorkCase {
        code: "git status --short && git log --format=%s && git diff && git show --stat HEAD && git blame notes.txt",
        says: &[" M notes.txt\n", "\nthe first\n", "\n-first\n+second\n", " notes.txt | 1 +\n", "1) second"],
        ..SHELL
    });
}

#[test]
fn git_is_read_in_a_work_tree_too() {
    let home = home(&[]);
    home.git(&["worktree", "add", "--quiet", "../project/side"]);
    home.write("side/new.txt", "new\n");
    let arguments =
        ["run", "--json", "--cwd", "side", "git status --short && git log --format=%s && git commit --all -m x"];
    let answer = parsed(&home.weir(&arguments));
    let said = answer["text"].as_str().unwrap();
    assert!(said.contains("?? new.txt\nthe first\n") && said.contains("Read-only file system"), "{answer}");
}

/// Git runs programs from the repository's own files, so a run cannot change them.
#[test]
fn what_changes_the_repository_fails_and_names_the_reason() {
    const LOCK: &[&str] = &[".git/index.lock': Read-only file system"];
    check(&WorkCase { code: "git add notes.txt", exit_code: 128, says: LOCK, ..SHELL });
    let commit = "git -c user.name=a -c user.email=a@example.com commit --all --message two";
    check(&WorkCase { code: commit, exit_code: 128, says: LOCK, ..SHELL });
    check(&WorkCase { code: "git checkout -b other", exit_code: 128, says: &["Read-only file system"], ..SHELL });
    check(&WorkCase { code: "git restore notes.txt", exit_code: 128, says: LOCK, ..SHELL });
    check(&WorkCase { code: "git config user.name x", exit_code: 255, says: &["Read-only file system"], ..SHELL });
    check(&WorkCase { code: "git stash", exit_code: 1, says: &["could not write index"], ..SHELL });
}

#[test]
fn files_are_written_and_read_in_the_project_and_in_tmp() {
    check(&WorkCase {
        code: "mkdir -p a/b && echo inside > a/b/c && cat a/b/c && echo outside > /tmp/x && cat /tmp/x && \
            mv a/b/c d && chmod +x d && rm -r a && stat -c %A d && echo \"$TMPDIR\" && mktemp",
        says: &["inside\noutside\n-rwx", "\n/tmp\n/tmp/tmp."],
        ..SHELL
    });
    check(&WorkCase { code: "touch ~/x", exit_code: 1, says: &["/x': Read-only file system"], ..SHELL });
    check(&WorkCase { code: "touch /etc/x", exit_code: 1, says: &["'/etc/x': Read-only file system"], ..SHELL });
}

#[test]
fn shells_pipe_and_make_makes() {
    check(&WorkCase {
        code: "set -o pipefail; seq 100000 | grep 7 | sort -rn | uniq | awk 'END { print NR, $1 }'; \
            paste <(echo a) <(echo b) | tee /dev/stderr; (echo in; exit 3) || echo \"came to $?\"; wait",
        says: &["40951 7\n", "a\tb\na\tb\n", "in\ncame to 3"],
        ..SHELL
    });
    check(&WorkCase {
        files: &[
            ("Makefile", "program: program.c\n\t$(CC) -o $@ $<\n\ncheck: program\n\t./program\n"),
            ("program.c", "#include <stdio.h>\nint main(void) { puts(\"made and run\"); }\n"),
        ],
        code: "make --jobs=4 check",
        says: &["made and run"],
        ..SHELL
    });
}

#[test]
fn processes_work_together() {
    check(&WorkCase {
        language: "python",
        code: "from multiprocessing import Pool, Queue, Lock, get_context\n\
            from concurrent.futures import ProcessPoolExecutor\n\
            def square(x): return x * x\n\
            if __name__ == '__main__':\n    \
                with Pool(4) as pool: print('pool', sum(pool.map(square, range(100))))\n    \
                with ProcessPoolExecutor(4) as pool: print('executor', sum(pool.map(square, range(100))))\n    \
                with get_context('spawn').Pool(2) as pool: print('spawn', sum(pool.map(abs, range(100))))",
        says: &["pool 328350\n", "executor 328350\n", "spawn 4950"],
        ..SHELL
    });
    check(&WorkCase {
        language: "python",
        code: "import asyncio, threading, socket, subprocess, tempfile\n\
            async def main():\n    \
                process = await asyncio.create_subprocess_exec('echo', 'from a child', stdout=asyncio.subprocess.PIPE)\n    \
                print((await process.communicate())[0].decode(), end='')\n\
            asyncio.run(main())\n\
            a, b = socket.socketpair(); a.send(b'a pair'); print(b.recv(9).decode())\n\
            with tempfile.TemporaryDirectory() as folder: print(subprocess.check_output(['ls', '-A', folder]))",
        says: &["from a child\na pair\nb''"],
        ..SHELL
    });
}

#[test]
fn databases_work_in_the_project_and_in_tmp() {
    let code = "import sqlite3\n\
        for path in ['here.db', '/tmp/there.db']:\n    \
            db = sqlite3.connect(path)\n    \
            print(db.execute('pragma journal_mode = wal').fetchone()[0])\n    \
            db.execute('create table t (a)'); db.execute('insert into t values (42)'); db.commit()\n    \
            print(sqlite3.connect(path).execute('select a from t').fetchone())";
    check(&WorkCase { language: "python", code, says: &["wal\n(42,)\nwal\n(42,)"], ..SHELL });
}

#[test]
fn there_is_no_network_and_it_is_said_at_once() {
    let code = "import socket, time\n\
        begun = time.monotonic()\n\
        try: socket.create_connection(('192.0.2.1', 80), 20)\n\
        except OSError as error: print(error)\n\
        try: socket.getaddrinfo('example.com', 80)\n\
        except OSError as error: print(error)\n\
        print('quick' if time.monotonic() - begun < 10 else 'slow')";
    check(&WorkCase { language: "python", code, says: &["Network is unreachable\n", "\nquick"], ..SHELL });
}

/// With toolchains, which are heavy and installed by the gate.
mod e2e {
    use super::*;

    #[test]
    #[ignore = "needs all runtimes; .ci/run installs them"]
    fn cargo_builds_tests_and_runs() {
        check(&WorkCase {
            files: CRATE,
            code: "cargo test 2>&1 && cargo check 2>&1",
            says: &["test two_is_two ... ok", "test from_outside ... ok", "Finished `dev` profile"],
            ..SHELL
        });
        check(&WorkCase {
            files: DEPENDENT,
            code: "cargo check 2>&1",
            exit_code: 101,
            says: &["no matching package named `serde` found", "offline"],
            ..SHELL
        });
    }

    #[test]
    #[ignore = "needs all runtimes; .ci/run installs them"]
    fn npm_tests_and_installs_nothing() {
        check(&WorkCase { files: PACKAGE, code: "npm test 2>&1", says: &["two is two", "# pass 1"], ..SHELL });
        check(&WorkCase {
            files: PACKAGE,
            code: "npm install left-pad 2>&1",
            exit_code: 1,
            says: &["/left-pad failed, reason: getaddrinfo EAI_AGAIN"],
            ..SHELL
        });
    }

    #[test]
    #[ignore = "needs all runtimes; .ci/run installs them"]
    fn a_server_of_node_is_reached_on_the_loopback() {
        check(&WorkCase {
            language: "javascript",
            code: "const server = require('node:http').createServer((_, answer) => answer.end('served'))\n\
                server.listen(0, '127.0.0.1', async () => {\n\
                console.log(await (await fetch(`http://127.0.0.1:${server.address().port}/`)).text())\n\
                server.close()\n})",
            says: &["served"],
            ..SHELL
        });
    }

    #[test]
    #[ignore = "needs all runtimes; .ci/run installs them"]
    fn pytest_tests() {
        let files = &[("test_two.py", "def test_two(tmp_path):\n    assert 1 + 1 == 2 and tmp_path.exists()\n")];
        check(&WorkCase { files, code: "pytest 2>&1", says: &["collected 1 item", "1 passed"], ..SHELL });
    }

    #[test]
    #[ignore = "needs all runtimes; .ci/run installs them"]
    fn go_builds_tests_and_runs() {
        let code = "go build -o small . && ./small && go test ./... && go vet ./... && go run .";
        check(&WorkCase { files: MODULE, code, says: &["two is 2\nok  \tsmall", "two is 2"], ..SHELL });
    }

    /// See the document on the sandbox: these are its price.
    #[test]
    #[ignore = "needs all runtimes; .ci/run installs them"]
    fn what_the_sandbox_takes_away_fails_and_names_the_reason() {
        let unix = "import socket\ntry: socket.socket(socket.AF_UNIX)\nexcept OSError as error: print(error)";
        let says: &[&str] = &["Operation not permitted"];
        check(&WorkCase { language: "python", code: unix, says, ..SHELL });
        // From Python 3.14 on, this is how a pool starts its processes by default.
        let server = "import multiprocessing\n\
            if __name__ == '__main__':\n    \
                try: multiprocessing.get_context('forkserver').Pool(2)\n    \
                except PermissionError as error: print(error)";
        check(&WorkCase { language: "python", code: server, says, ..SHELL });
        let trace = "import ctypes\nlibc = ctypes.CDLL(None, use_errno=True)\nprint(libc.ptrace(0, 0, 0, 0), ctypes.get_errno())";
        check(&WorkCase { language: "python", code: trace, says: &["-1 1"], ..SHELL });
        check(&WorkCase {
            code: "unshare --user true",
            exit_code: 1,
            says: &["unshare failed: Operation not permitted"],
            ..SHELL
        });
    }
}
