//! Outputs designed to cost time and memory: for every kind, input that never ends, nests, repeats or never repeats.

use std::io::{self, BufRead, Read};

use weir_digest::Source;

pub(crate) struct Hostile {
    pub name: &'static str,
    /// Its beginning, which makes a kind claim it.
    head: &'static str,
    piece: fn(usize) -> Vec<u8>,
}

/// A list of outputs: the name, the beginning, and the rest.
macro_rules! hostile {
    ($($name:literal $head:literal $piece:expr;)*) => { &[$(Hostile { name: $name, head: $head, piece: $piece },)*] };
}

pub(crate) const HOSTILE: &[Hostile] = hostile! {
    // Bytes, and what a terminal does with them.
    "NULs" "" |_| [0; 64].into();
    "NULs after a page of text" "" |n| if n < 900 { "a line of text\n".into() } else { [0; 64].into() };
    "invalid UTF-8" "" |_| b"\xff\xfe\xc3\x28\n".into();
    "invalid UTF-8 on one line" "" |_| b"\x80\xbf\xe2\x28\xf0\x90".into();
    "escapes" "" |_| "\x1b".into();
    "escapes that set a colour" "" |n| format!("\x1b[{}m{}", n % 50, if n % 9 == 0 { "\n" } else { "x" }).into();
    "titles that never end" "" |n| format!("\x1b]0;title {n}").into();
    "carriage returns" "" |_| "\r".into();
    "a progress bar" "" |n| format!("\r{n} of 100000").into();
    "backspaces" "" |n| if n % 2 == 0 { "ab".into() } else { "\x08\x08".into() };
    "erased lines" "" |n| format!("step {n}\x1b[2K\r").into();
    "base64" "" |n| format!("{:x}TWFuIGlzIGRpc3Rpbmd1aXNoZWQ{}", n % 16, if n % 3 == 0 { "\n" } else { "" }).into();
    // Lines.
    "a line of letters" "" |_| "abcdefgh".into();
    "a line of words" "" |n| format!("word{n} ").into();
    "a line of characters of four bytes" "" |_| "\u{1f980}\u{1f30a}".into();
    "a line of combining characters" "e" |_| "\u{301}".into();
    "line ends" "" |_| "\n".into();
    "lines of a byte" "" |n| vec![b'a' + (n % 26) as u8, b'\n'];
    "lines of a space" "" |_| " \n".into();
    "lines of digits" "" |n| format!("{n}\n").into();
    "a long beginning" "" |n| format!("{}{n}\n", "the same beginning of every line, ".repeat(8)).into();
    "templates that are all different" "" |n| format!("{} did {} to {}\n", word(n), word(n * 7 + 1), word(n * 13 + 2)).into();
    "lines of many words" "" |n| format!("{}\n", "a b c d ".repeat(n % 90)).into();
    "errors that are all different" "" |n| format!("2026-01-01 00:00:{:02} ERROR {} {}\n", n % 60, word(n), word(n * 3)).into();
    "stamps" "" |n| format!("2026-01-01T00:{:02}:{:02}.{:03}Z INFO x{n}=y\n", n / 60 % 60, n % 60, n % 999).into();
    "stamps that go back" "" |n| format!("[{:05}.000000] x: {}\n", 99_999 - n % 99_999, word(n)).into();
    "deep indentation" "" |n| format!("{}x\n", " ".repeat(n % 2_000)).into();
    "tabs" "" |_| "\t\t\t\t".into();
    "headings like ours" "" |n| format!("== part {n}\n").into();
    "marks" "" |_| "==".into();
    "prefixes of containers" "" |n| format!("web-{} | line {n}\n", n % 300).into();
    // Tests.
    "names of passed tests" "running 9 tests\n" |n| format!("test a::t{n} ... ok\n").into();
    "names of failed tests" "running 9 tests\n" |n| format!("test a::t{n} ... FAILED\n").into();
    "blocks of failed tests" "running 9 tests\n" |n| format!("---- a::t{n} stdout ----\nthread 'a::t{n}' panicked at src/a.rs:{n}:1:\nno {n}\n").into();
    "nextest" "" |n| format!("        FAIL [   0.00{}s] crate{} a::t{n}\n", n % 9, n % 700).into();
    "pytest" "=== test session starts ===\ncollected 9 items\n" |n| format!("tests/t{}.py::test_{n} FAILED [ 1%]\n", n % 999).into();
    "pytest that never ends a failure" "=== test session starts ===\n=== FAILURES ===\n___ test_x ___\n" |n| format!("E       assert {n} == {n}\n").into();
    "pytest failures" "=== test session starts ===\n=== FAILURES ===\n" |n| format!("___ test_{n} ___\n\n>       x\nE       Error{n}\n\ntests/a.py:{n}: Error\n").into();
    "jest" "" |n| format!("FAIL src/a{n}.test.ts\n  ● suite › test {n}\n\n    expect(1).toBe({n})\n").into();
    "vitest" " RUN  v1.0.0 /a\n\n" |n| format!(" FAIL  src/a{n}.test.ts > b{n}\nAssertionError: {n}\n").into();
    "go test" "" |n| format!("--- FAIL: Test{n} (0.00s)\n    x_test.go:{n}: got {n}\n").into();
    "go test that runs" "" |n| format!("=== RUN   Test{n}\n=== PAUSE Test{n}\n").into();
    "go test in JSON" "" |n| format!("{{\"Action\":\"run\",\"Package\":\"p{n}\",\"Test\":\"Test{n}\"}}\n").into();
    "test reports" "<?xml version=\"1.0\"?>\n<testsuites><testsuite name=\"a\">\n" |n| format!("<testcase name=\"t{n}\"><failure message=\"m{n}\">x</failure></testcase>\n").into();
    "test reports that nest" "<?xml version=\"1.0\"?>\n<testsuites>" |_| "<testsuite name=\"a\">".into();
    "a test report with attributes" "<?xml version=\"1.0\"?>\n<testsuites><testsuite " |n| format!("a{n}=\"b\" ").into();
    // Compilers and linters.
    "rustc" "" |n| format!("error[E{:04}]: x{n}\n --> src/a{n}.rs:{n}:1\n  |\n{n} | x\n  | ^\n\n", n % 700).into();
    "rustc that never ends an error" "error[E0308]: x\n --> a.rs:1:1\n  |\n" |n| format!("{n} | x\n").into();
    "tsc" "" |n| format!("src/a{n}.ts({n},1): error TS{}: x{n}\n", n % 9_999).into();
    "eslint" "" |n| format!("/srv/a{n}.js\n  {n}:1  error  x{n}  rule-{n}\n\n").into();
    "gcc" "" |n| format!("a{n}.c:{n}:1: error: x{n}\n").into();
    "gcc that includes" "" |n| format!("In file included from a{n}.h:{n},\n").into();
    "ruff" "" |n| format!("a{n}.py:{n}:1: F{n} x{n}\n").into();
    "mypy" "" |n| format!("a{n}.py:{n}: error: x{n}  [c{n}]\n").into();
    // git.
    "git log" "" |n| format!("commit {n:040x}\nAuthor: a{n} <a{n}@example.org>\nDate:   Mon Jan 1 00:00:00 2026 +0000\n\n    x{n}\n\n").into();
    "a commit that never ends" "commit 0123456789012345678901234567890123456789\nAuthor: a <a>\n\n" |n| format!("    x{n}\n").into();
    "a diff of many files" "" |n| format!("diff --git a/x{n} b/x{n}\n--- a/x{n}\n+++ b/x{n}\n@@ -1 +1 @@ f{n}\n-a\n+b{n}\n").into();
    "a diff of one file" "diff --git a/x b/x\n--- a/x\n+++ b/x\n" |n| format!("@@ -{n} +{n} @@ f{n}\n-a{n}\n+b{n}\n").into();
    "a hunk that never ends" "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,9 +1,9 @@\n" |n| format!("+{n}\n").into();
    "git status" "On branch main\nChanges not staged for commit:\n" |n| format!("\tmodified:   d{n}/a{n}\n").into();
    "git status, short" "" |n| format!(" M d{n}/a{n}\n").into();
    "git blame" "" |n| format!("{:08x} (a{n} 2026-01-01 00:00:00 +0000 {n}) x\n", n % 999).into();
    "a stat" "" |n| format!(" d{n}/a{n} | {} +++---\n", n % 99).into();
    // Packages.
    "cargo build" "" |n| format!("   Compiling a{n} v1.0.{n}\n").into();
    "npm" "" |n| format!("npm warn deprecated a{n}@1.0.{n}: x{n}\n").into();
    "npm errors" "" |n| format!("npm error a{n}\n").into();
    "npm ls" "a@1.0.0 /a\n" |n| format!("{}├─┬ a{n}@1.0.{n}\n", "│ ".repeat(n % 60)).into();
    "pip" "" |n| format!("Collecting a{n}\n  Downloading a{n}-1.0.whl (1 kB)\n").into();
    "pip installed" "Successfully installed" |n| format!(" a{n}-1.0.{n}").into();
    "apt" "" |n| format!("Get:{n} x a{n} amd64 1.0 [1 kB]\nSetting up a{n} (1.0) ...\n").into();
    // Data.
    "braces" "" |_| "{".into();
    "brackets" "" |_| "[".into();
    "quotes" "" |_| "\"".into();
    "a string that never ends" "{\"a\":\"" |_| "xxxxxxxx".into();
    "escaped quotes" "[\"" |_| "\\\"".into();
    "escapes of JSON" "[\"" |_| "\\u00e9\\ud83d".into();
    "JSON that nests objects" "" |_| "{\"a\":".into();
    "JSON that nests and closes" "[" |n| format!("{}{}{}0", "[".repeat(n % 100), "]".repeat(n % 100), ",").into();
    "names in an object" "{" |n| format!("\"k{n}\":{n},").into();
    "rows of JSON" "[" |n| format!("{{\"id\":{n},\"name\":\"n{n}\"}},").into();
    "rows with their own names" "[" |n| format!("{{\"a{n}\":{n}}},").into();
    "numbers" "[" |n| format!("{n}e{n},").into();
    "a long number" "[1" |_| "11111111".into();
    "JSON by the line" "" |n| format!("{{\"id\":{n},\"level\":\"l{n}\",\"k{n}\":[{n}]}}\n").into();
    "CSV" "a,b,c\n" |n| format!("{n},x{n},{}\n", n * 7 % 1_000).into();
    "CSV of many columns" "" |n| format!("c{}{}", n % 10_000, if n % 10_000 == 9_999 { "\n" } else { "," }).into();
    "CSV whose quote never closes" "a,b\n1,2\n3,4\n5,\"" |n| format!("{n},x\n").into();
    "CSV of quotes" "a,b\n1,2\n3,4\n" |_| "\"\"\"\",\"\"\n".into();
    "TSV" "a\tb\tc\n" |n| format!("{n}\tx{n}\t{}\n", n * 7 % 1_000).into();
    "commas" "" |_| ",".into();
    // Requests and traces.
    "an access log" "" |n| format!("10.{}.{}.1 - - [01/Jan/2026:00:00:{:02} +0000] \"GET /a{n}?b={n} HTTP/1.1\" {} {n}\n", n / 250 % 250, n % 250, n % 60, 200 + n % 400).into();
    "requests that never end" "" |n| format!("10.0.0.1 - - [01/Jan/2026:00:00:00 +0000] \"GET /{n}{}\n", "/a".repeat(200)).into();
    "a trace of Python that never ends" "Traceback (most recent call last):\n" |n| format!("  File \"a{n}.py\", line {n}, in f{n}\n    x()\n").into();
    "traces of Python" "" |n| format!("Traceback (most recent call last):\n  File \"a{n}.py\", line {n}, in f\n    x()\nE{n}: x{n}\n").into();
    "a chain of Python" "" |n| format!("Traceback (most recent call last):\n  File \"a.py\", line {n}, in f\nE: {n}\n\nDuring handling of the above exception, another exception occurred:\n\n").into();
    "a trace of Java that never ends" "Exception in thread \"main\" x.Y: z\n" |n| format!("\tat x.Y{n}.z(Y.java:{n})\n").into();
    "causes of Java" "Exception in thread \"main\" x.Y: z\n" |n| format!("Caused by: x.Y{n}: z\n\tat x.Y.z(Y.java:{n})\n\t... 3 more\n").into();
    "threads of Java" "Full thread dump OpenJDK\n\n" |n| format!("\"t{n}\" #{n} prio=5 tid=0x{n:x} nid=0x{n:x} waiting\n   java.lang.Thread.State: WAITING\n\tat x.Y{n}.z(Y.java:1)\n\n").into();
    "a trace of Node that never ends" "Error: x\n" |n| format!("    at f{n} (/a{n}.js:{n}:1)\n").into();
    "goroutines" "panic: x\n\n" |n| format!("goroutine {n} [running]:\nmain.f{n}(0x1)\n\t/a.go:{n} +0x1\n\n").into();
    "a backtrace of Rust" "thread 'main' panicked at a.rs:1:1:\nx\nstack backtrace:\n" |n| format!("  {n}: a::f{n}\n             at ./a{n}.rs:{n}:1\n").into();
    // Lists and pages.
    "ls" "total 9\n" |n| format!("-rw-r--r-- 1 a{n} a {n} Jan  1 00:00 f{n}.e{n}\n").into();
    "folders of ls" "" |n| format!("./a{n}:\ntotal 1\n-rw-r--r-- 1 a a 1 Jan  1 00:00 x{n}\n\n").into();
    "find" "" |n| format!("./{}f{n}.e{n}\n", "d/".repeat(n % 50)).into();
    "a path that never ends" "./a\n./b\n./c\n." |n| format!("/d{n}").into();
    "tree" ".\n" |n| format!("{}├── f{n}.e{n}\n", "│   ".repeat(n % 60)).into();
    "glyphs of trees" ".\n" |_| "│   ".into();
    "grep" "" |n| format!("src/a{n}.rs:{n}:x{n}\n").into();
    "colons" "" |_| ":".into();
    "a table" "USER       PID  NAME\n" |n| format!("a{:<9} {n:>4} {}\n", n % 99, word(n)).into();
    "spaces between letters" "" |n| format!("x{}", " ".repeat(n % 300)).into();
    "tags that never close" "<!doctype html><html><body>" |n| format!("<div class=\"c{n}\"><p>x{n}").into();
    "an attribute that never ends" "<!doctype html><html><body><a href=\"" |_| "xxxxxxxx".into();
    "attributes" "<!doctype html><html><body><a " |n| format!("a{n}=b ").into();
    "a comment that never ends" "<!doctype html><html><body><!-- " |_| "- x ->".into();
    "entities" "<!doctype html><html><body>" |_| "&amp;&#x41;&nosuch".into();
    "links" "<!doctype html><html><body>" |n| format!("<a href=\"/p{n}\">l{n}</a>\n").into();
    "a script that never ends" "<!doctype html><html><script>" |n| format!("var a{n}=\"</scrip\";").into();
    "tables of tables" "<!doctype html><html><body>" |_| "<table><tr><td>".into();
    "angles" "" |_| "<".into();
    "an accessibility tree" "- document [ref=e1]:\n" |n| format!("{}- button \"b{n}\" [ref=e{n}]\n", "  ".repeat(1 + n % 60)).into();
    "markdown" "# Title\n\n" |n| format!("{} Heading {n}\n\n- a [link](u{n}) and *text*\n\n", "#".repeat(1 + n % 6)).into();
    "a fence that never closes" "# Title\n\n```rust\n" |n| format!("let x{n} = {n};\n").into();
    "brackets of links" "# Title\n\n" |_| "[a](".into();
    "source" "use std::io;\n\nfn main() {\n" |n| format!("    fn f{n}(a: u{n}) -> B{n} {{ x({n}) }}\n").into();
    "minified source" "" |n| format!("function f{n}(a){{return a+{n}}}").into();
    "prose" "It began on a Monday. " |n| format!("Then {} came, and said that {} was not well. ", word(n), word(n * 3)).into();
    "a dump in hexadecimal" "" |n| format!("{n:08x}  {:02x} {:02x} 00 00  |..|\n", n % 256, n / 256 % 256).into();
};

/// Returns these lines in turn, so that no stretch gets two in a row.
pub(crate) fn in_turn(lines: &[&str], bytes: usize) -> Vec<u8> {
    let all = (0..).flat_map(|n| format!("{}{n}\n", lines[n % lines.len()]).into_bytes());
    all.take(bytes).collect()
}

fn word(number: usize) -> String {
    let mut left = number.wrapping_mul(2_654_435_761) % 308_915_776;
    let letters = (0..6).map(|_| {
        let letter = b'a' + (left % 26) as u8;
        left /= 26;
        char::from(letter)
    });
    letters.collect()
}

impl Hostile {
    pub(crate) fn first(&self, bytes: usize) -> Vec<u8> {
        let mut all = Vec::with_capacity(bytes);
        Endless { output: self, left: bytes as u64 }.open().and_then(|mut read| read.read_to_end(&mut all)).unwrap();
        all
    }
}

/// A hostile output of this many bytes, which is generated while it is read and never held in memory.
pub(crate) struct Endless<'a> {
    pub output: &'a Hostile,
    pub left: u64,
}

impl Source for Endless<'_> {
    fn open(&self) -> io::Result<Box<dyn BufRead + '_>> {
        let made = HostileReader { output: self.output, next: 0, held: self.output.head.into(), used: 0 };
        Ok(Box::new(io::BufReader::new(made.take(self.left))))
    }

    fn bytes(&self) -> u64 {
        self.left
    }
}

struct HostileReader<'a> {
    output: &'a Hostile,
    next: usize,
    held: Vec<u8>,
    used: usize,
}

impl Read for HostileReader<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.used == self.held.len() {
            self.held = (self.output.piece)(self.next);
            self.next += 1;
            self.used = 0;
        }
        let length = into.len().min(self.held.len() - self.used);
        into[..length].copy_from_slice(&self.held[self.used..self.used + length]);
        self.used += length;
        Ok(length)
    }
}
