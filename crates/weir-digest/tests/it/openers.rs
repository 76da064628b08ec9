//! Lines that open kinds, used to reach their less common paths. The fuzzer reads them too.

/// The lines, in the order in which they are used.
#[rustfmt::skip]
pub(crate) const OPENERS: &[&str] = &[
    "running 3 tests", "test a::b ... FAILED", "test result: FAILED. 1 passed; 2 failed;", "---- a::b stdout ----",
    "thread 'main' panicked at src/main.rs:1:2:", "note: run with `RUST_BACKTRACE=1`", "error[E0308]: mismatched types",
    "  --> src/lib.rs:1:2", "warning: unused variable: `x`", "   |", "   Compiling serde v1.0.0", "    Finished `dev`",
    "============================= test session starts =====", "=== FAILURES ===",
    "FAILED tests/a.py::b - assert 1 == 2", "E       assert 1 == 2", "tests/a.py:12: AssertionError",
    " FAIL  src/a.test.ts", "  ● suite › test", "Tests: 1 failed", " ✓ src/a.test.ts (3 tests) 5ms",
    "--- FAIL: TestX (0.00s)", "    x_test.go:12: got 1", "ok  \texample.org/x\t0.01s",
    "{\"Time\":\"2026-01-01T00:00:00Z\",\"Action\":\"fail\",\"Test\":\"TestX\"}",
    "<testsuite name=\"x\" tests=\"3\" failures=\"1\">", "src/a.ts(1,2): error TS2322: no", "/srv/a.js",
    "  1:2  error  Unexpected  no-x", "✖ 3 problems (2 errors, 1 warning)", "a.c:1:2: error: expected ';'",
    "a.c: In function 'f':", "a.py:1:2: F401 unused", "a.py:1: error: no  [x]",
    "commit 0123456789012345678901234567890123456789", "Author: a team <a@example.org>",
    "Date:   Mon Jan 1 00:00:00 2026 +0000", "diff --git a/x b/x", "@@ -1,2 +1,2 @@ fn x()", "+added", "-removed",
    "On branch main", "\tmodified:   a.rs", " M a.rs", "?? b", "0123abcd (a team 2026-01-01 00:00:00 +0000 1) x",
    "npm warn deprecated a@1.0.0: x", "npm error code ERESOLVE", "├── a@1.0.0", "Collecting a", "ERROR: Cannot install",
    "Get:1 x", "Setting up a (1.0)", "[1, {\"a\": null}]", "{\"a\":1}", "a,b,c", "1,\"x\ny\",3", "a\tb",
    "2026-01-01 00:00:00 ERROR x", "127.0.0.1 - - [01/Jan/2026:00:00:00 +0000] \"GET / HTTP/1.1\" 500 1",
    "Traceback (most recent call last):", "  File \"a.py\", line 1, in x", "ValueError: x",
    "Exception in thread \"main\" x.Y: z", "\tat x.Y.z(Y.java:1)", "Caused by: x", "    at f (/a.js:1:2)",
    "goroutine 1 [running]:", "panic: x", "stack backtrace:", "total 12", "-rw-r--r-- 1 a a 12 Jan  1 00:00 x", "./a:",
    "./a/b.rs", "a.rs:1:x", "USER PID %CPU COMMAND", "root 1 0.0 x", "<!doctype html><html><body>",
    "<a href=\"x\">y</a>", "- heading \"x\" [level=1] [ref=e1]", "# Title", "```rust", "fn x() {",
    "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo=", "00000000  00 01 02 03", "\u{1b}[31merror\u{1b}[0m", "== step", "$ make",
    "",
];
