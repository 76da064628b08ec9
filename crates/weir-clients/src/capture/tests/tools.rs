//! Tests of the events that tool calls turn into.

use expect_test::expect;
use serde_json::json;
use weir_check::Checked;

use super::{check, failed_shell, failing, hook, in_subagent, shell, shown, used, used_with};
use crate::capture::{events, explain_fixes, fixes, without_analysis};
use crate::{Hook, Point, Tool};

#[test]
fn files_are_named_as_the_project_sees_them() {
    let read = |path: &str| used("Read", Tool::Read { path: path.into(), part: false }, "text");
    check(&read("/home/dev/project/src/a.rs"))
        .shows(&expect![[r#"file P4 | read src/a.rs | {"path":"src/a.rs","how":"read"}"#]]);
    check(&read("/home/dev/project2/a.rs")).shows(&expect![[
        r#"file P4 | read /home/dev/project2/a.rs | {"path":"/home/dev/project2/a.rs","how":"read"}"#
    ]]);
    check(&read("./a.rs")).shows(&expect![[r#"file P4 | read a.rs | {"path":"a.rs","how":"read"}"#]]);
    check(&read("/home/dev/project/CLAUDE.md"))
        .shows(&expect![[r#"rule P3 | rules of CLAUDE.md | {"path":"CLAUDE.md"}"#]]);
    check(&used("Edit", Tool::Edit { path: "/home/dev/project/a\nb.rs".into() }, ""))
        .shows(&expect![[r#"file P2 | edited a b.rs | {"path":"a b.rs","how":"edited"}"#]]);
    check(&used("Write", Tool::Write { path: "new.rs".into() }, ""))
        .shows(&expect![[r#"file P2 | wrote new.rs | {"path":"new.rs","how":"wrote"}"#]]);
    check(&used("Grep", Tool::Search { pattern: "fn main".into() }, ""))
        .shows(&expect!["file P4 | searched for fn main |"]);
    let patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-a\n+b\n*** Add File: b.rs\n+x\n*** Delete File: c.rs\n*** End Patch";
    check(&used_with("apply_patch", Tool::Other, &json!({ "input": patch }), "Done!")).shows(&expect![[r#"
        file P2 | edited src/a.rs | {"path":"src/a.rs","how":"edited"}
        file P2 | wrote b.rs | {"path":"b.rs","how":"wrote"}
        file P2 | deleted c.rs | {"path":"c.rs","how":"deleted"}"#]]);
    check(&shell(
        "cat > a.txt <<'EOF'\ntext\nEOF\nsed -i 's/a/b/' b.txt c.txt && echo x | tee -a d.txt > /dev/null",
        "",
    ))
    .shows(&expect![[r#"
        file P2 | wrote a.txt | {"path":"a.txt","how":"wrote","ran":"cat > a.txt …"}
        file P2 | edited b.txt | {"path":"b.txt","how":"edited"}
        file P2 | edited c.txt | {"path":"c.txt","how":"edited"}
        file P2 | wrote d.txt | {"path":"d.txt","how":"wrote"}"#]]);
    check(&shell("cargo test > log.txt 2>&1; echo $? > /tmp/code", "")).shows(&expect![[
        r#"tool P4 | ran cargo test | {"subject":"cargo test","ran":"cargo test > log.txt 2>&1; echo $? > /tmp/code"}"#
    ]]);
}

#[test]
fn how_a_command_in_the_background_ends_is_not_known() {
    let mut push = shell("git push", "");
    if let Point::AfterTool(call, _) = &mut push.point {
        call.background = true;
    }
    check(&push).shows(&expect![[r#"tool P4 | ran git push | {"subject":"git push"}"#]]);
}

#[test]
fn git_commands_that_change_something() {
    check(&shell("git commit -m 'Add x'", "[main 1a2b3c4] Add x\n 1 file changed")).shows(&expect![[
            r#"git P2 | git commit 1a2b3c4: Add x | {"command":"commit","branch":"main","commit":"1a2b3c4","ran":"git commit -m 'Add x'"}"#
        ]]);
    check(&shell("git add -A && git commit -qam \"Fix y\n\nbody\" && git push", "")).shows(&expect![[r#"
        git P2 | git commit: Fix y | {"command":"commit","ran":"git add -A && git commit -qam \"Fix y …"}
        git P2 | git push | {"command":"push"}"#]]);
    check(&shell("git commit -m x; git push", "On branch main\nnothing to commit, working tree clean"))
        .shows(&expect![[r#"git P2 | git push | {"command":"push","ran":"git commit -m x; git push"}"#]]);
    check(&shell("git commit -qm x && git status", "On branch main\nnothing to commit, working tree clean"))
        .shows(&expect![[r#"git P2 | git commit: x | {"command":"commit","ran":"git commit -qm x && git status"}"#]]);
    check(&shell("git commit -m \"$(cat <<'EOF'\nIt's done (really)\n\nmore\nEOF\n)\"", ""))
        .shows(&expect![[r#"git P2 | git commit: It's done (really) | {"command":"commit","ran":"git commit -m …"}"#]]);
    check(&shell("git commit -F - <<EOF\nFrom here\nEOF", "[fix/a 1234567890ab] From here")).shows(&expect![[
            r#"git P2 | git commit 1234567890ab: From here | {"command":"commit","branch":"fix/a","commit":"1234567890ab","ran":"git commit -F - …"}"#
        ]]);
    check(&shell("cd x && GIT_TRACE=1 git -C ../y --no-pager checkout -b feature/z origin/main", "")).shows(&expect![[
            r#"git P2 | git checkout -b feature/z origin/main | {"command":"checkout","branch":"feature/z","folder":"../y","ran":"GIT_TRACE=1 git -C ../y --no-pager checkout -b feature/z origin/main"}"#
        ]]);
    check(
        &shell("git switch main; git merge --no-ff feature/z; git tag v1; git branch -D feature/z; git stash pop", ""),
    )
    .shows(&expect![[r#"
        git P2 | git switch main | {"command":"switch","branch":"main","ran":"git switch main; git merge --no-ff feature/z; git tag v1; git branch -D feature/z; git stash pop"}
        git P2 | git merge --no-ff feature/z | {"command":"merge"}
        git P2 | git tag v1 | {"command":"tag"}
        git P2 | git branch -D feature/z | {"command":"branch"}
        git P2 | git stash pop | {"command":"stash"}"#]]);
    check(&shell("git checkout -- src/a.rs", "")).shows(&expect![[
        r#"git P2 | git checkout -- src/a.rs | {"command":"checkout","ran":"git checkout -- src/a.rs"}"#
    ]]);
}

#[test]
fn of_a_script_that_failed_only_commits_that_git_reports_count() {
    check(
        &failed_shell("git commit -m a && git push", 1, "[main (root-commit) 1a2b3c4] a\nerror: failed to push"),
    )
    .shows(&expect![[r#"
        error P2 | git commit -m a && git push: error: failed to push | {"subject":"git commit -m a && git push","exit":1,"ran":"git commit -m a && git push"}
        git P2 | git commit 1a2b3c4: a | {"command":"commit","branch":"main","commit":"1a2b3c4"}"#]]);
    check(&failed_shell("git push", 1, "error: failed to push some refs")).shows(&expect![[
        r#"error P2 | git push: error: failed to push some refs | {"subject":"git push","exit":1,"ran":"git push"}"#
    ]]);
}

#[test]
fn git_commands_that_only_look() {
    for command in [
        "git status", "git log --oneline -5", "git diff HEAD~1", "git -C x show abc", "git branch -a", "git branch",
        "git tag -l 'v*'", "git stash list", "git push --dry-run", "git remote -v", "echo git commit -m x",
        "cat <<EOF\ngit push\nEOF",
    ] {
        let all = events(&shell(command, ""));
        assert!(all.iter().all(|event| event.kind == weir_core::EventKind::Tool), "{command}: {}", shown(&all));
    }
}

#[test]
fn tasks_in_the_words_of_each_client() {
    let tasks = |name: &str, input| used_with(name, Tool::Tasks, &input, "");
    check(&tasks(
        "TodoWrite",
        json!({ "todos": [
        { "content": "read", "status": "completed", "activeForm": "reading" },
        { "content": "write", "status": "in_progress" },
        { "content": "test", "status": "pending" },
        { "content": "old", "status": "cancelled" },
    ] }),
    ))
    .shows(&expect![[
            r#"task P1 | 1 of 4 done; now: write; next: test | {"tasks":[{"text":"read","state":"done"},{"text":"write","state":"now"},{"text":"test","state":"open"},{"text":"old","state":"dropped"}]}"#
        ]]);
    check(&tasks("update_plan", json!({ "explanation": "x", "plan": [{ "step": "a", "status": "pending" }] })))
        .shows(&expect![[r#"task P1 | 0 of 1 done; next: a | {"tasks":[{"text":"a","state":"open"}]}"#]]);
    check(&tasks("write_todos", json!({ "todos": [{ "description": "a", "status": "in_progress" }] })))
        .shows(&expect![[r#"task P1 | 0 of 1 done; now: a | {"tasks":[{"text":"a","state":"now"}]}"#]]);
    check(&tasks("todowrite", json!({ "todos": [{ "id": 7, "content": "a", "priority": "high" }] })))
        .shows(&expect![[r#"task P1 | 0 of 1 done; next: a | {"tasks":[{"key":"7","text":"a","state":"open"}]}"#]]);
    check(&tasks(
        "manage_todo_list",
        json!({ "operation": "write", "todoList": [{ "id": 1, "title": "a", "status": "not-started" }] }),
    ))
    .shows(&expect![[r#"task P1 | 0 of 1 done; next: a | {"tasks":[{"key":"1","text":"a","state":"open"}]}"#]]);
    check(&tasks("update_todo", json!({ "todos": "# Plan\n- [x] read\n- [ ] write" }))).shows(&expect![[
            r#"task P1 | 1 of 2 done; next: write | {"tasks":[{"text":"read","state":"done"},{"text":"write","state":"open"}]}"#
        ]]);
    check(&tasks(
        "TodoWrite",
        json!({ "merge": true, "todos": [{ "id": "2", "status": "completed" }, { "id": "3" }] }),
    ))
    .shows(&expect![[r#"task P1 | task done: #2 | {"task":{"key":"2","state":"done"}}"#]]);
    check(&tasks("TodoWrite", json!({}))).shows(&expect![""]);
}

#[test]
fn a_new_task_has_the_key_that_the_client_gave_it() {
    let input = json!({ "subject": "Do it", "description": "all", "activeForm": "Doing it" });
    let created = |output: &str| used_with("TaskCreate", Tool::Tasks, &input, output);
    for output in [
        r#"{"task":{"id":"3","subject":"Do it"}}"#,
        r#"{"task":{"id":3,"subject":"Do it"}}"#,
        r#"{"taskId":"3"}"#,
        "Task #3 created successfully: Do it",
        "Created task 3: Do it",
        "Task created successfully.\n\n<system-reminder>\nNew task created: {\n  \"id\": \"3\",\n  \"title\": \"Do it\"\n}",
    ] {
        check(&created(output))
            .shows(&expect![[r#"task P1 | task open: Do it | {"task":{"key":"3","text":"Do it","state":"open"}}"#]]);
    }
    check(&created("")).shows(&expect![[r#"task P1 | task open: Do it | {"task":{"text":"Do it","state":"open"}}"#]]);
}

#[test]
fn changes_of_a_task_are_found_by_its_key() {
    let tasks = |name: &str, input, output: &str| used_with(name, Tool::Tasks, &input, output);
    let changed = r#"{"success":true,"taskId":"3","updatedFields":["status"],"statusChange":{"from":"pending","to":"completed"}}"#;
    for output in ["", "Updated task #3 status", changed] {
        check(&tasks("TaskUpdate", json!({ "taskId": "3", "status": "completed" }), output))
            .shows(&expect![[r#"task P1 | task done: #3 | {"task":{"key":"3","state":"done"}}"#]]);
    }
    check(&tasks("TaskUpdate", json!({ "taskId": "3", "status": "deleted" }), ""))
        .shows(&expect![[r#"task P1 | task dropped: #3 | {"task":{"key":"3","state":"dropped"}}"#]]);
    check(&tasks("TaskUpdate", json!({ "taskId": "3", "subject": "Do it well" }), ""))
        .shows(&expect![[r#"task P1 | task changed: Do it well | {"task":{"key":"3","text":"Do it well"}}"#]]);
    // A new description does not rename a task, and a task that waits for another is still what it was.
    check(&tasks("TaskUpdate", json!({ "taskId": "3", "status": "completed", "description": "found the cause" }), ""))
        .shows(&expect![[r#"task P1 | task done: #3 | {"task":{"key":"3","state":"done"}}"#]]);
    check(&tasks("TaskUpdate", json!({ "taskId": "3", "addBlockedBy": ["1"] }), "Updated task #3 blockedBy"))
        .shows(&expect![""]);
    let unknown = r#"{"success":false,"taskId":"9","updatedFields":[],"error":"Task not found"}"#;
    check(&tasks("TaskUpdate", json!({ "taskId": "9", "status": "completed" }), unknown)).shows(&expect![""]);
    check(&tasks(
        "tracker_update_task",
        json!({ "id": "a1b2c3", "status": "closed" }),
        "Updated task a1b2c3. Status: closed",
    ))
    .shows(&expect![[r#"task P1 | task done: #a1b2c3 | {"task":{"key":"a1b2c3","state":"done"}}"#]]);
}

#[test]
fn a_look_at_the_tasks_corrects_what_is_known() {
    let tasks = |name: &str, input, output: &str| used_with(name, Tool::Tasks, &input, output);
    for output in [
        r#"{"tasks":[{"id":"1","subject":"Read it","status":"completed","blockedBy":[]},{"id":"2","subject":"Write it","status":"in_progress","blockedBy":["1"]}]}"#,
        "#1 [completed] Read it\n#2 [in_progress] Write it [blocked by #1]",
        "- [1] Read it (closed)\n- [2] Write it (in_progress)",
    ] {
        check(&tasks("TaskList", json!({}), output)).shows(&expect![[
                r#"task P1 | 1 of 2 done; now: Write it | {"tasks":[{"key":"1","text":"Read it","state":"done"},{"key":"2","text":"Write it","state":"now"}]}"#
            ]]);
    }
    check(&tasks("TaskList", json!({}), r#"{"tasks":[]}"#))
        .shows(&expect![[r#"task P1 | 0 of 0 done | {"tasks":[]}"#]]);
    check(&tasks("TaskList", json!({}), "No tasks found")).shows(&expect![[r#"task P1 | 0 of 0 done | {"tasks":[]}"#]]);
    check(&tasks("TaskList", json!({}), "something else")).shows(&expect![""]);
    // A part of the list says nothing about the rest.
    check(&tasks("tracker_list_tasks", json!({ "status": "open" }), "- [2] Write it (open)")).shows(&expect![""]);
    check(&tasks(
        "TaskGet",
        json!({ "taskId": "2" }),
        r#"{"task":{"id":"2","subject":"Write it","description":"all","status":"completed","blocks":[]}}"#,
    ))
    .shows(&expect![[r#"task P1 | task done: Write it | {"task":{"key":"2","text":"Write it","state":"done"}}"#]]);
    check(&tasks("TaskGet", json!({ "taskId": "2" }), r#"{"task":null}"#)).shows(&expect![""]);
}

#[test]
fn tasks_of_a_session_with_claude() {
    let decode = |name: &str, input: serde_json::Value, response: serde_json::Value| {
        let payload = json!({
            "session_id": "s", "cwd": "/home/dev/project", "hook_event_name": "PostToolUse",
            "tool_name": name, "tool_input": input, "tool_response": response,
        });
        (crate::find("claude").unwrap().decode)(&crate::Wire::new("PostToolUse", &payload)).unwrap()
    };
    check(&decode("TaskCreate", json!({ "subject": "Do it" }), json!({ "task": { "id": "3", "subject": "Do it" } })))
        .shows(&expect![[r#"task P1 | task open: Do it | {"task":{"key":"3","text":"Do it","state":"open"}}"#]]);
    check(&decode(
        "TaskList",
        json!({}),
        json!({ "tasks": [{ "id": "3", "subject": "Do it", "status": "completed" }] }),
    ))
    .shows(&expect![[r#"task P1 | 1 of 1 done | {"tasks":[{"key":"3","text":"Do it","state":"done"}]}"#]]);
}

#[test]
fn failures_say_why() {
    check(&failed_shell(
        "cd a && cargo test -p x 2>&1",
        101,
        "running 2 tests\n\nthread 'a' (7) panicked at src/a.rs:3:5:\nassertion failed: x\n\ntest result: FAILED. 1 passed; 1 failed\n\nerror: test failed, to rerun pass `--lib`\n",
    ))
    .shows(&expect![[
            r#"error P1 | cargo test -p x: thread 'a' (7) panicked at src/a.rs:3:5: assertion failed: x | {"subject":"cargo test -p x","exit":101,"ran":"cargo test -p x 2>&1"}"#
        ]]);
    check(&failed_shell(
        "cargo build",
        101,
        "warning: unused\nerror[E0308]: mismatched types\n --> src/a.rs:1:1\nerror: could not compile `x`",
    ))
    .shows(&expect![[
            r#"error P1 | cargo build: error[E0308]: mismatched types | {"subject":"cargo build","exit":101,"ran":"cargo build"}"#
        ]]);
    check(&failed_shell(
        "python3 a.py",
        1,
        "Traceback (most recent call last):\n  File \"a.py\", line 1\n    x()\nValueError: bad value\n",
    ))
    .shows(&expect![[
        r#"error P2 | python3 a.py: ValueError: bad value | {"subject":"python3 a.py","exit":1,"ran":"python3 a.py"}"#
    ]]);
    check(&failed_shell("gcc a.c", 1, "a.c: In function 'main':\na.c:3:5: error: expected ';'\n")).shows(&expect![[
        r#"error P1 | gcc a.c: a.c:3:5: error: expected ';' | {"subject":"gcc a.c","exit":1,"ran":"gcc a.c"}"#
    ]]);
    check(&failed_shell("npm test", 1, "\u{1b}[31mFAIL\u{1b}[0m src/a.test.js\n  ● adds\n")).shows(&expect![[
        r#"error P1 | npm test: FAIL src/a.test.js | {"subject":"npm test","exit":1,"ran":"npm test"}"#
    ]]);
    check(&failed_shell("foo", 127, "bash: foo: command not found")).shows(&expect![[
        r#"error P4 | foo: bash: foo: command not found | {"subject":"foo","exit":127,"slip":true,"ran":"foo"}"#
    ]]);
    check(&failed_shell("exit 3", 3, ""))
        .shows(&expect![[r#"error P2 | exit 3: exit code 3 | {"subject":"exit 3","exit":3,"ran":"exit 3"}"#]]);
    check(&failed_shell("sh -c 'exit 2'; ./x.sh", 2, "one\ntwo\n"))
        .shows(&expect![[r#"error P2 | ./x.sh: two | {"subject":"./x.sh","exit":2,"ran":"sh -c 'exit 2'; ./x.sh"}"#]]);
}

#[test]
fn tools_that_failed_and_those_that_the_user_refused() {
    check(
        &failing(used("Edit", Tool::Edit { path: "a.rs".into() }, "String to replace not found in file."), None),
    )
    .shows(&expect![[
            r#"error P4 | Edit a.rs: String to replace not found in file. | {"subject":"Edit a.rs","slip":true,"file":"a.rs"}"#
        ]]);
    check(&failing(used("mcp__x__y", Tool::Mcp { server: "x".into(), tool: "y".into() }, ""), None))
        .shows(&expect![[r#"error P2 | mcp x/y: failed | {"subject":"mcp x/y"}"#]]);
    check(&failing(shell("rm -rf x", "The user doesn't want to proceed with this tool use. It was rejected"), None))
        .shows(&expect![[r#"rejected P2 | the user refused: rm -rf x | {"refused":"rm -rf x"}"#]]);
    let said =
        "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nuse git rm";
    check(&failing(shell("rm -rf x", said), None)).shows(&expect![[r#"
        rejected P2 | the user refused: rm -rf x | {"refused":"rm -rf x"}
        correction P1 | use git rm |"#]]);
    let saying = |what: &str| format!("The user doesn't want to proceed with this tool use. the user said:\n{what}");
    for question in [
        "what does lint say now?",
        "why not the other file",
        "Can we use a map? Or is it too slow?",
        "We could ask first? (then it needs an option too)",
        "Example Ltd.",
    ] {
        let all = events(&failing(shell("make", &saying(question)), None));
        let kinds: Vec<_> = all.iter().map(|event| (event.kind, event.text.as_str())).collect();
        let refused = (weir_core::EventKind::Rejected, "the user refused: make");
        assert_eq!(kinds, [refused, (weir_core::EventKind::Prompt, question)]);
    }
    let asked = Tool::Question { text: "Which one?".into() };
    let declined =
        saying("The user wants to clarify these questions.\n    This means they may have additional information.");
    check(&failing(used("AskUserQuestion", asked, &declined), None)).shows(&expect![""]);
    check(&failing(used("TaskOutput", Tool::Other, &saying("")), None)).shows(&expect!["tool P4 | tool TaskOutput |"]);
}

/// Checks the cause that is found in the output of a failed command, and whether it is a slip.
fn check_cause(command: &str, code: i32, output: &str, cause: &str, is_slip: bool) {
    let all = events(&failed_shell(command, code, output));
    let text = all[0].text.split_once(": ").unwrap().1;
    let marked = all[0].data.as_deref().unwrap().contains(r#""slip":true"#);
    assert_eq!((text, marked), (cause, is_slip), "{command}");
}

#[test]
fn the_cause_of_a_failure_is_not_its_last_line() {
    let pytest = "tests/test_shop.py::test_next[1] FAILED [  0%]\ntests/test_shop.py::test_next[2] FAILED [  1%]\n\
                  ___ test_next[1] ___\n>       return calendar.monthrange(y, m)\n\
                  E       NameError: name 'calendar' is not defined\n\nshop/dates.py:6: NameError\n\
                  FAILED tests/test_shop.py::test_next[1] - NameError: name 'calendar' is not defined\n";
    check_cause("pytest -v", 1, pytest, "shop/dates.py:6: NameError: name 'calendar' is not defined", false);
    let summary = "a.py::x FAILED [ 50%]\nFAILED a.py::x - assert 1 == 2\n1 failed in 0.1s";
    check_cause("pytest", 1, summary, "a.py::x: assert 1 == 2", false);
    let lint = "[lint] $ golangci-lint run ./...\n[lint] ERROR task failed\n\ncmd/a.go:23:3: Error return value is not checked (errcheck)\n\t_ = x()\n\t^\n1 issues:\n";
    check_cause("mise run lint", 1, lint, "cmd/a.go:23:3: Error return value is not checked (errcheck)", false);
    let named = "[lint:go] cmd/a.go:2:1: unused (unused)\n[lint:go] 1 issues:\n[lint:go] ERROR task failed";
    check_cause("mise run lint", 1, named, "cmd/a.go:2:1: unused (unused)", false);
    let go = "--- FAIL: TestAdd (0.00s)\n    add_test.go:7: got 3, want 4\nFAIL\nFAIL\texample.org/add\t0.01s\nFAIL\n";
    check_cause("go test ./...", 1, go, "TestAdd: add_test.go:7: got 3, want 4", false);
    let loud = "=== RUN   TestAdd\n    hooks.go:155: output: 2026/01/12 INFO started\n    add_test.go:7: got 3\n--- FAIL: TestAdd (0.00s)\nFAIL\n";
    check_cause("go test -v ./...", 1, loud, "TestAdd: add_test.go:7: got 3", false);
    let build = "# example.org/add\n./add.go:12:5: undefined: foo\n./add.go:13:5: undefined: bar\n";
    check_cause("go build ./...", 1, build, "./add.go:12:5: undefined: foo", false);
    let make = "cc -c a.c\na.c:3:5: error: expected ';'\nmake: *** [Makefile:2: a.o] Error 1\n";
    check_cause("make", 2, make, "a.c:3:5: error: expected ';'", false);
}

#[test]
fn the_slip_of_a_tool_is_marked() {
    for (command, code, output) in [
        ("golangci-lint run", 127, "(eval):1: command not found: golangci-lint"),
        ("cd nowhere && make", 1, "(eval):cd:1: no such file or directory: nowhere"),
        ("docker ps", 1, "bash: line 1: docker: command not found"),
        ("sed -n 1,3p a | cat -A", 1, "cat: illegal option -- A\nusage: cat [-belnstuv] [file ...]"),
        ("gh pr diff 12 --stat", 1, "unknown flag: --stat\n\nUsage:  gh pr diff"),
        ("gh pr checks 142", 8, "build\tpass\t1m\nreview bot\tpending\t0"),
        ("ls nowhere", 2, "ls: nowhere: No such file or directory"),
        ("git show HEAD:nowhere", 128, "fatal: path 'nowhere' does not exist in 'HEAD'"),
        ("git add nowhere", 128, "fatal: pathspec 'nowhere' did not match any files"),
    ] {
        let all = events(&failed_shell(command, code, output));
        assert!(all[0].data.as_deref().unwrap().contains(r#""slip":true"#), "{}", shown(&all));
    }
    for (command, code, output) in [
        ("make", 2, "a.c:3:5: error: expected ';'"),
        ("gh pr checks 142", 1, "build\tfail\t1m\nreview bot\tpending\t0"),
        ("git rebase main", 1, "CONFLICT (content): Merge conflict in a.rs"),
        ("./deploy.sh", 1, "connection refused"),
        ("cat a | python3 b.py", 1, "ValueError: bad"),
    ] {
        let all = events(&failed_shell(command, code, output));
        assert!(!all[0].data.as_deref().unwrap().contains("slip"), "{}", shown(&all));
    }
    for (tool, output) in [
        (Tool::Read { path: "a".into(), part: false }, "<tool_use_error>File does not exist.</tool_use_error>"),
        (Tool::Edit { path: "a".into() }, "<tool_use_error>File has not been read yet.</tool_use_error>"),
        (Tool::Search { pattern: "x".into() }, "<tool_use_error>Sibling tool call errored</tool_use_error>"),
        (Tool::Shell { command: "find /".into() }, "Permission to use Bash with command find / has been denied."),
    ] {
        let all = events(&failing(used("x", tool, output), None));
        assert!(all[0].data.as_deref().unwrap().contains(r#""slip":true"#), "{}", shown(&all));
    }
}

#[test]
fn a_file_is_where_the_script_is() {
    check(&shell("cd /tmp && mkdir -p tw && cd tw && cat > .env <<EOF\nA=1\nEOF", "")).shows(&expect![[
            r#"tool P4 | ran mkdir -p tw && cat in /tmp | {"subject":"mkdir -p tw && cat","folder":"/tmp","ran":"mkdir -p tw && cd tw && cat > .env …"}"#
        ]]);
    check(&shell("cd sub && cat > a.txt <<EOF\nx\nEOF\ncd .. && echo x > b.txt", "")).shows(&expect![[r#"
        file P2 | wrote sub/a.txt | {"path":"sub/a.txt","how":"wrote","ran":"cat > a.txt …"}
        file P2 | wrote b.txt | {"path":"b.txt","how":"wrote"}"#]]);
    check(&shell("(cd sub && make); echo x > b.txt; cd \"$DIR\" && echo x > c.txt", "")).shows(&expect![[
            r#"file P2 | wrote b.txt | {"path":"b.txt","how":"wrote","ran":"(cd sub && make); echo x > b.txt; cd \"$DIR\" && echo x > c.txt"}"#
        ]]);
    check(&shell("cd /home/dev/other && echo x > .env", ""))
        .shows(&expect![[r#"file P2 | wrote /home/dev/other/.env | {"path":"/home/dev/other/.env","how":"wrote"}"#]]);
    let mut inside = shell("echo x > a.txt", "");
    inside.shell = Some("/home/dev/project/sub".into());
    check(&inside).shows(&expect![[r#"file P2 | wrote sub/a.txt | {"path":"sub/a.txt","how":"wrote"}"#]]);
    check(&shell("cd /usr && ls", ""))
        .shows(&expect![[r#"tool P4 | ran ls in /usr | {"subject":"ls","folder":"/usr"}"#]]);
}

#[test]
fn what_is_no_failure_is_no_error() {
    for hook in [
        shell("cargo test", "test result: ok. 42 passed; 0 failed"),
        shell("pytest", "42 passed, 0 failed, 0 errors"),
        shell("cat log", "error: this is what the log says"),
        failed_shell("grep -r x src", 1, ""),
        failed_shell("cat a | grep x", 1, " \n"),
        failed_shell("rg x", 1, ""),
        failed_shell("test -f a", 1, ""),
        failed_shell("[ -d x ]", 1, ""),
        failed_shell("diff a b", 1, "1c1\n< a\n> b"),
        failed_shell("git diff --quiet", 1, ""),
        failed_shell("which foo", 1, ""),
        failed_shell("yes | head", 141, "y"),
        failed_shell("sleep 100", 130, ""),
    ] {
        let all = events(&hook);
        assert!(all.iter().all(|event| event.kind != weir_core::EventKind::Error), "{}", shown(&all));
    }
    check(&failed_shell("pytest", 1, "0 errors in a\nsummary: errors: 0\nlast words"))
        .shows(&expect![[r#"error P1 | pytest: last words | {"subject":"pytest","exit":1,"ran":"pytest"}"#]]);
}

/// Checks the fixes that the last hook reports, given the errors of the hooks before it, oldest first.
fn check_fix(failed: &[Hook], then: &Hook) -> Checked {
    let mut open: Vec<_> = failed.iter().flat_map(events).collect();
    open.reverse();
    let found = shown(&fixes(then, &open));
    Checked((if found.is_empty() { "nothing" } else { &found }).to_owned())
}

#[test]
fn what_failed_and_now_succeeds_is_fixed() {
    let failed = || failed_shell("cd a && cargo test -p x 2>&1 | tail -5", 101, "error[E0425]: cannot find value `y`");
    check_fix(&[failed(), failed()], &shell("cargo test -p x", "ok")).shows(&expect![[
            r#"fix P2 | passes again: cargo test -p x: error[E0425]: cannot find value `y` (after 2 attempts) | {"subject":"cargo test -p x","attempts":2}"#
        ]]);
    check_fix(&[failed()], &shell("cargo test -p x && git commit -m x", "")).shows(&expect![[
            r#"fix P2 | passes again: cargo test -p x: error[E0425]: cannot find value `y` (after 1 attempt) | {"subject":"cargo test -p x","attempts":1}"#
        ]]);
    check_fix(&[failed()], &shell("cargo test -p y", "ok")).shows(&expect!["nothing"]);
    check_fix(&[failed()], &failed_shell("cargo test -p x", 101, "error")).shows(&expect!["nothing"]);
    check_fix(&[failed()], &shell("cargo test -p x; echo done", "error: no\ndone")).shows(&expect!["nothing"]);
    check_fix(&[failed()], &shell("cargo test -p x | tail -3", "test result: FAILED. 1 failed"))
        .shows(&expect!["nothing"]);
    check_fix(&[failed()], &shell("cargo test -p x | tail -3", "test result: ok. 3 passed; 0 failed")).shows(&expect![[
            r#"fix P2 | passes again: cargo test -p x: error[E0425]: cannot find value `y` (after 1 attempt) | {"subject":"cargo test -p x","attempts":1}"#
        ]]);
    let edit = || used("Edit", Tool::Edit { path: "a.rs".into() }, "String to replace not found in file.");
    check_fix(&[failing(edit(), None)], &edit()).shows(&expect!["nothing"]);
    check_fix(
        &[failed(), failed_shell("cargo clippy", 101, "error: unused")],
        &shell("cargo test && cargo clippy", ""),
    )
    .shows(&expect![[r#"
        fix P2 | passes again: cargo clippy: error: unused (after 1 attempt) | {"subject":"cargo clippy","attempts":1}
        fix P2 | passes again: cargo test -p x: error[E0425]: cannot find value `y` (after 1 attempt) | {"subject":"cargo test -p x","attempts":1}"#]]);
    check_fix(&[failed_shell("cargo test --release", 101, "error")], &shell("cargo test", ""))
        .shows(&expect!["nothing"]);
    check_fix(&[failed_shell("cargo run -- a", 1, "error")], &shell("cargo run", "")).shows(&expect!["nothing"]);
    check_fix(&[failed()], &shell("cargo test -p x &", "")).shows(&expect!["nothing"]);
    check_fix(&[], &shell("cargo test", "")).shows(&expect!["nothing"]);
}

#[test]
fn a_fix_says_what_was_changed_since_the_failure() {
    let failed = events(&failed_shell("cargo test", 101, "error[E0425]: cannot find value `y`"));
    let edited = |path: &str| events(&used("Edit", Tool::Edit { path: path.into() }, ""));
    let read = events(&used("Read", Tool::Read { path: "b.rs".into(), part: false }, ""));
    let check = |between: &[Vec<weir_core::Event>]| {
        let recent: Vec<_> = edited("before.rs").into_iter().chain(failed.clone()).chain(between.concat()).collect();
        let recent: Vec<_> = recent.into_iter().rev().collect();
        let mut found = fixes(&shell("cargo test", "ok"), &failed);
        explain_fixes(&mut found, &recent);
        Checked(shown(&found))
    };
    check(&[edited("a.rs"), read, edited("a.rs")]).shows(&expect![[
            r#"fix P2 | passes again after a change of a.rs: cargo test: error[E0425]: cannot find value `y` (after 1 attempt) | {"subject":"cargo test","attempts":1,"files":["a.rs"]}"#
        ]]);
    check(&[]).shows(&expect![[
            r#"fix P2 | passes again: cargo test: error[E0425]: cannot find value `y` (after 1 attempt) | {"subject":"cargo test","attempts":1}"#
        ]]);
}

#[test]
fn the_last_message_and_results_of_subagents_are_kept_whole() {
    let message = "`FlushBuffer` now waits for the disk.\n\nThe tests pass.\n\nThe branch is ready.";
    let all = events(&hook(Point::Stop { last: message.into() }));
    assert_eq!((all[0].text.as_str(), all[0].whole.as_deref()), ("The branch is ready.", Some(message)));
    let long = format!("`FlushBuffer` waits.\n\n{}\n\nThe branch is ready.", "It is so. ".repeat(2_000));
    let all = events(&hook(Point::Stop { last: long.clone() }));
    let whole = all[0].whole.clone().unwrap();
    assert!(whole.len() < 4_200 && whole.starts_with("`FlushBuffer`") && whole.ends_with("ready."), "{whole}");
    let result = "Perfect! Now I have a comprehensive understanding of the code.\n\n## Findings\n\n`FlushBuffer` is called twice.";
    let all = events(&used("Agent", Tool::Subagent { task: "look".into() }, result));
    assert_eq!(all[0].text, "subagent for \"look\": Findings `FlushBuffer` is called twice.");
    assert_eq!(all[0].whole.as_deref(), Some(result));
    let notified = "<task-notification>\n<task-id>a1</task-id>\n<status>completed</status>\n<summary>Agent \"Review it\" completed</summary>\n\
                    <result>Two faults found.\n\nIn `FlushBuffer`.</result>\n</task-notification>\nFull transcript available at: /tmp/a1";
    let all = events(&hook(Point::Prompt { text: notified.into() }));
    assert_eq!(all[0].text, "subagent for \"Review it\": Two faults found. In `FlushBuffer`.");
}

#[test]
fn a_summary_is_kept_without_its_analysis() {
    let check = |summary: &str, expected: &str| assert_eq!(without_analysis(summary), expected);
    check("<analysis>\nfirst this\n</analysis>\n\n<summary>\n1. that\n</summary>", "<summary>\n1. that\n</summary>");
    check("It goes on.\n\nAnalysis:\nfirst this\n\nSummary:\n1. that", "It goes on.\n\nSummary:\n1. that");
    check("<analysis>never ends", "<analysis>never ends");
    check("1. that", "1. that");
}

#[test]
fn the_environment() {
    check(&shell("cd sub && export A=secret B=2", "")).shows(&expect![[r#"
        environment P4 | in folder sub |
        environment P4 | variables set: A, B |"#]]);
    check(&shell("cd sub && make", ""))
        .shows(&expect![[r#"tool P4 | ran make in sub | {"subject":"make","folder":"sub"}"#]]);
    check(&shell("source .venv/bin/activate && pip install -r requirements.txt", "")).shows(&expect![[r#"
        environment P3 | source .venv/bin/activate | {"ran":"source .venv/bin/activate && pip install -r requirements.txt"}
        environment P3 | pip install -r requirements.txt |"#]]);
    check(&shell("sudo apt-get install -y jq", ""))
        .shows(&expect![[r#"environment P3 | apt-get install -y jq | {"ran":"sudo apt-get install -y jq"}"#]]);
    check(&shell("npm i -D vitest; cargo add serde; nvm use 22", "")).shows(&expect![[r#"
        environment P3 | npm i -D vitest | {"ran":"npm i -D vitest; cargo add serde; nvm use 22"}
        environment P3 | cargo add serde |
        environment P3 | nvm use 22 |"#]]);
    check(&failed_shell("npm i nope", 1, "npm error code E404")).shows(&expect![[
        r#"error P2 | npm i nope: npm error code E404 | {"subject":"npm i nope","exit":1,"ran":"npm i nope"}"#
    ]]);
}

#[test]
fn plans_questions_and_other_tools() {
    let plan = "# Port the parser\n\ntext\n\n## Lexer\n- a\n## Tests\n";
    check(&used("ExitPlanMode", Tool::Plan { text: plan.into() }, "User has approved your plan."))
        .shows(&expect!["plan P1 | plan: Port the parser; Lexer; Tests |"]);
    check(&used("ExitPlanMode", Tool::Plan { text: "1. read\n2. write".into() }, ""))
        .shows(&expect!["plan P1 | plan: 1. read; 2. write |"]);
    check(&failing(
        used("ExitPlanMode", Tool::Plan { text: plan.into() }, "The user doesn't want to proceed with this tool use."),
        None,
    ))
    .shows(&expect![[r#"rejected P2 | the user refused: the plan | {"refused":"the plan"}"#]]);
    check(
        &used("AskUserQuestion", Tool::Question { text: "Which database?".into() }, "\"Which database?\"=\"SQLite\""),
    )
    .shows(&expect![[
            r#"plan P2 | asked the user: Which database?; the answer: "Which database?"="SQLite" | {"question":"Which database?","answer":"\"Which database?\"=\"SQLite\""}"#
        ]]);
    check(
        &hook(Point::Stop { last: "Done. It is fast now.\n\nShould I also **update the docs**?".into() }),
    )
    .shows(&expect![[r#"
        said P3 | Should I also **update the docs**? |
        plan P3 | asked the user: Should I also **update the docs**? | {"question":"Should I also **update the docs**?"}"#]]);
    check(&hook(Point::Stop { last: "Done?\nYes.".into() })).shows(&expect!["said P3 | Done? Yes. |"]);
    check(&hook(Point::Stop { last: "It is done. Shall I update `README.md` and commit?".into() })).shows(&expect![[r#"
        said P3 | It is done. Shall I update `README.md` and commit? |
        plan P3 | asked the user: Shall I update `README.md` and commit? | {"question":"Shall I update `README.md` and commit?"}"#]]);
    check(&used("WebFetch", Tool::Fetch { what: "https://example.com/a".into() }, ""))
        .shows(&expect!["tool P4 | fetched https://example.com/a |"]);
    check(&used("ToolSearch", Tool::Other, "")).shows(&expect!["tool P4 | tool ToolSearch |"]);
    check(&used_with("Skill", Tool::Other, &json!({ "skill": "team:review", "args": "12" }), ""))
        .shows(&expect![[r#"tool P4 | skill team:review | {"skill":"team:review"}"#]]);
    check(&used("mcp__weir__ctx_search", Tool::Ours, "")).shows(&expect![""]);
}

#[test]
fn what_a_subagent_does_matters_less() {
    check(&in_subagent(failed_shell("make", 2, "error: x")))
        .shows(&expect![[r#"error P2 | make: error: x | {"subject":"make","exit":2,"ran":"make","agent":"Explore"}"#]]);
    check(&in_subagent(used("Write", Tool::Write { path: "a".into() }, "")))
        .shows(&expect![[r#"file P3 | wrote a | {"path":"a","how":"wrote","agent":"Explore"}"#]]);
}
