//! Output of runs of any size and kind: the answer is short and describes the output, the reference returns every byte,
//! and the server stays small.

use std::io::Read as _;
use std::process::Stdio;
use std::time::Instant;

use serde_json::{Value, json};

use super::answers::reference;
use super::configured;
use crate::support::{Home, Server};

/// The maximum peak memory of the server in megabytes, in addition to the pages of the program itself, of which a debug
/// build has about 25 MB.
const MAX_MEMORY_MB: f64 = 12.0;
/// The maximum growth by a long output, in megabytes.
const MAX_GROWTH_MB: f64 = 8.0;
/// The maximum tokens of an answer that shows a part of a long output.
const MAX_TOKENS: usize = 1_000;

/// A program, and what happens to its output.
struct Case {
    language: &'static str,
    code: &'static str,
    /// The time limit in seconds.
    timeout: u32,
    config: &'static str,
    /// What the answer must contain.
    answer: &'static [&'static str],
    whole: bool,
    /// Calls of `ctx_get`, each with what its answer must contain.
    gets: &'static [(GetRequest, &'static [&'static str])],
    /// The output in pieces. `None` if where it is cut off is unknown.
    printed: Option<Pieces>,
}

type Pieces = fn(usize) -> Option<Vec<u8>>;

/// A request to `ctx_get`.
enum GetRequest {
    All,
    Lines(&'static str),
    Pattern(&'static str),
    Both(&'static str, &'static str),
}

const SHELL: Case = Case {
    language: "shell",
    code: "",
    timeout: 50,
    config: "",
    answer: &["exit 0 in "],
    whole: true,
    gets: &[],
    printed: None,
};

#[expect(clippy::print_stderr, reason = "the figures are what one wants to see of this")]
fn check(name: &str, case: &Case) {
    let home = configured(case.config);
    let mut server = one_heap(&home);
    let small = resident_after_a_short_one(&mut server);
    let (begun, before) = (Instant::now(), server.cpu());
    let arguments = json!({ "language": case.language, "code": case.code, "timeout": case.timeout });
    let answer = server.said("ctx_execute", &arguments);
    let (took, cpu, tokens) = (begun.elapsed(), server.cpu() - before, weir_tokens::count(&answer));
    eprintln!(
        "{name}: {:.1} s, {:.2} s of processor, {small:.1} MB, then {:.1} MB, {tokens} tokens: {}",
        took.as_secs_f64(),
        cpu.as_secs_f64(),
        server.peak_megabytes(),
        answer.lines().next().unwrap_or_default()
    );
    for said in case.answer {
        assert!(answer.contains(said), "{name} should say `{said}`:\n{answer}");
    }
    assert_eq!(answer.contains("held as [ctx:"), !case.whole, "{name}: {answer}");
    assert!(case.whole || tokens <= MAX_TOKENS, "{name} takes {tokens} tokens:\n{answer}");
    let reference = if case.whole { newest(&mut server) } else { reference(&answer) };
    for (get, says) in case.gets {
        let got = server.said("ctx_get", &get.arguments(&reference));
        assert!(says.iter().all(|said| got.contains(said)), "{name} should be got with {says:?}:\n{got}");
    }
    let peak = server.peak_megabytes();
    let own = peak - server.program_megabytes();
    assert!(own < MAX_MEMORY_MB, "{name}: the server has had {own:.1} MB beside its program, {peak:.1} MB in all");
    assert!(peak - small < MAX_GROWTH_MB, "{name}: the server has grown from {small:.1} to {peak:.1} MB");
    if let Some(printed) = case.printed {
        compare(&home, &reference, printed);
    }
}

/// Starts a server with one heap, as the released program has with musl. With a heap for each thread, as with glibc,
/// the peak would depend on which threads answered.
fn one_heap(home: &Home) -> Server {
    let mut command = home.weir_command(&["mcp"]);
    command.env("MALLOC_ARENA_MAX", "1");
    let mut server = Server::start(command);
    server.greet("tester", "2025-11-25", &json!({}));
    server
}

/// Compares the stored text with the output, byte by byte.
fn compare(home: &Home, reference: &str, printed: Pieces) {
    let mut raw = home.weir_command(&["get", reference, "--raw"]);
    let mut process = raw.stdout(Stdio::piped()).spawn().unwrap();
    let mut output = process.stdout.take().unwrap();
    let mut place = 0_usize;
    for expected in (0..).map_while(printed) {
        let mut found = vec![0; expected.len()];
        output.read_exact(&mut found).unwrap_or_else(|error| panic!("after {place} bytes: {error}"));
        assert!(found == expected, "another piece of {} bytes after {place}", expected.len());
        place += expected.len();
    }
    let mut more = Vec::new();
    output.read_to_end(&mut more).unwrap();
    assert_eq!(more.len(), 0, "more than the {place} bytes that were printed");
    assert!(process.wait().unwrap().success());
}

/// Returns the server's memory after it has shown a digest and some lines once. The program itself is in memory then,
/// so any growth is due to the output.
fn resident_after_a_short_one(server: &mut Server) -> f64 {
    let answer = server.said("ctx_execute", &json!({ "code": "seq 3000" }));
    server.said("ctx_get", &json!({ "ref": reference(&answer), "pattern": "7$" }));
    server.resident_megabytes()
}

/// Returns the reference of the previous run, if its answer did not name it.
fn newest(server: &mut Server) -> String {
    reference(&server.said("ctx_history", &json!({ "limit": 1 })))
}

impl GetRequest {
    fn arguments(&self, reference: &str) -> Value {
        match self {
            Self::All => json!({ "ref": reference }),
            Self::Lines(lines) => json!({ "ref": reference, "lines": lines }),
            Self::Pattern(pattern) => json!({ "ref": reference, "pattern": pattern }),
            Self::Both(lines, pattern) => json!({ "ref": reference, "lines": lines, "pattern": pattern }),
        }
    }
}

/// The pieces of an output that is printed once, as a whole.
macro_rules! once {
    ($bytes:expr) => {
        Some((|piece| (piece == 0).then(|| Vec::from($bytes))) as Pieces)
    };
}

/// Heavy, so it is among those that run one at a time.
mod e2e {
    use super::*;

    const BLOCKS: usize = 1 << 14;

    /// Returns a block of 64 KiB that states its number in every line.
    fn block(number: usize) -> Option<Vec<u8>> {
        let first = format!("{:.63}\n", format!("block {number:06} ").repeat(5));
        let others = format!("{}\n", format!("{number:06} ").repeat(9)).repeat(1023);
        (number < BLOCKS).then(|| [first, others].concat().into_bytes())
    }

    #[test]
    fn a_gibibyte_comes_back_whole_and_the_server_stays_small() {
        check(
            "1 GiB of stdout",
            &Case {
                language: "python",
                code: "import sys\n\
                    for i in range(1 << 14):\n    \
                        first = (b'block %06d ' % i * 5)[:63] + b'\\n'\n    \
                        sys.stdout.buffer.write(first + (b'%06d ' % i * 9 + b'\\n') * 1023)",
                timeout: 200,
                answer: &[
                    "exit 0 in ",
                    "sandbox full; plain lines; 16777216 lines, 1.0 GiB held as [ctx:",
                    "\nfacts and counts cover only the first and last 4 MiB\n",
                    " such as 000000 000000 000000 ",
                    " block {000000..016383} block {000000..016383} ",
                    "\n16777216: 016383 016383 ",
                ],
                whole: false,
                gets: &[
                    (GetRequest::Lines("8192001-8192002"), &["\nblock 008000 block", "\n008000 008000"]),
                    (GetRequest::Both("16384000-16384003", "block"), &["\n16384001: block 016000"]),
                    (GetRequest::Lines("-1"), &["\n016383 016383"]),
                ],
                printed: Some(block),
                ..SHELL
            },
        );
    }
}

#[test]
fn what_never_ends_is_ended_and_what_it_printed_is_kept() {
    let lines: &[&str] = &["\n<<<", "\ny\n", "left out, "];
    let gets: &[(GetRequest, &[&str])] = &[(GetRequest::Lines("400000-400001"), &["\ny\ny\n"])];
    let case = Case { code: "yes", timeout: 2, answer: lines, whole: false, gets, ..SHELL };
    check("yes, for 2 seconds", &Case { answer: &["timed out and ended after 2", "held as"], ..case });
    let config = "[run]\noutput_mb = 1\n";
    let answer: &[&str] = &["it printed more than ", "; 524288 lines, 1.0 MiB held as"];
    let printed = once!("y\n".repeat(1 << 19));
    check("yes, up to 1 MiB", &Case { answer, config, printed, timeout: 50, ..case });
}

#[test]
fn errors_count_as_output_and_a_failure_is_no_longer_than_a_success() {
    check(
        "100,000 lines of stderr and exit 1",
        &Case {
            language: "python",
            code: "import sys\n\
                for i in range(1, 100001): print(f'line {i} of stderr', file=sys.stderr)\n\
                print('the last words')\n\
                sys.exit(1)",
            answer: &[
                "exit 1 in ",
                "sandbox full; plain lines; 100001 lines, 2.0 MiB held as [ctx:",
                "\n1–100000: ×100000 line {1..100000} of stderr\n",
                "\n100001: the last words\n",
            ],
            whole: false,
            gets: &[
                (GetRequest::Lines("50000-50001"), &["\nline 50000 of stderr\nline 50001 of stderr\n"]),
                (GetRequest::Pattern("^line 7[0-3]000 "), &["\n70000: line 70000 of stderr\n71000: ", "\n73000: "]),
            ],
            printed: once!(
                (1..=100_000).map(|n| format!("line {n} of stderr\n")).collect::<String>() + "the last words\n"
            ),
            ..SHELL
        },
    );
}

#[test]
fn bytes_that_are_no_text_are_kept_as_they_are() {
    check(
        "100,000 bytes of all values",
        &Case {
            language: "python",
            code: "import sys\nsys.stdout.buffer.write(bytes(i * 7 % 256 for i in range(100000)))",
            answer: &["exit 0 in ", "; binary, not text: ", " 97.7 KiB held as [ctx:"],
            whole: false,
            printed: once!((0..100_000_u32).map(|i| (i * 7 % 256) as u8).collect::<Vec<u8>>()),
            ..SHELL
        },
    );
    check(
        "invalid UTF-8",
        &Case {
            code: r"printf 'a\377\376b\nc\n'",
            answer: &["exit 0 in ", "\na\u{fffd}\u{fffd}b\nc"],
            gets: &[
                (GetRequest::All, &["\na\u{fffd}\u{fffd}b\nc\n", "some bytes are not UTF-8"]),
                (GetRequest::Pattern("b$"), &["\n1: a\u{fffd}\u{fffd}b\n"]),
            ],
            printed: once!(b"a\xff\xfeb\nc\n"),
            ..SHELL
        },
    );
}

#[test]
fn an_escape_sequence_without_an_end_hides_nothing() {
    for (start, bytes) in [(r"\033]0;", "\x1b]0;"), (r"\033P", "\x1bP"), (r"\033_", "\x1b_"), (r"\033[", "\x1b[")] {
        let home = Home::with_programs();
        let code = format!("printf '{start}'; echo visible; echo after");
        let answer = home.ok(&["run", &code]);
        let reference = reference(&home.ok(&["history"]));
        let got = home.ok(&["get", &reference]);
        for said in [&answer, &got] {
            assert!(said.contains("isible\nafter"), "{start} hides what comes after it: {said}");
            assert!(!said.contains('\x1b'), "{start} goes through: {said:?}");
        }
        assert!(home.ok(&["get", &reference, "--pattern", "isible"]).contains("isible"), "{start}");
        assert_eq!(home.ok(&["get", &reference, "--raw"]), format!("{bytes}visible\nafter\n"));
    }
    check(
        "an OSC without an end",
        &Case {
            code: r"printf '\033]0;'; echo visible; echo after",
            answer: &["exit 0 in ", "visible\nafter"],
            gets: &[(GetRequest::All, &["visible\nafter"]), (GetRequest::Pattern("visible"), &["visible"])],
            printed: once!("\x1b]0;visible\nafter\n"),
            ..SHELL
        },
    );
}

#[test]
fn a_progress_bar_is_its_last_state_and_colours_are_none() {
    check(
        "5,000 updates of a progress bar",
        &Case {
            code: r#"for i in $(seq 5000); do printf '\rprogress %d/5000' $i; done; echo; echo done"#,
            answer: &["exit 0 in ", "\nprogress 5000/5000\ndone"],
            gets: &[(GetRequest::All, &["\nprogress 5000/5000\ndone\n"]), (GetRequest::Lines("2"), &["\ndone\n"])],
            printed: once!((1..=5000).map(|n| format!("\rprogress {n}/5000")).collect::<String>() + "\ndone\n"),
            ..SHELL
        },
    );
    check(
        "colours",
        &Case {
            code: r"printf '\033[31mred\033[0m and \033[1;38;5;82mgreen\033[0m\n'",
            answer: &["exit 0 in ", "\nred and green"],
            gets: &[(GetRequest::Pattern("^red and green$"), &["\n1: red and green\n"])],
            printed: once!("\x1b[31mred\x1b[0m and \x1b[1;38;5;82mgreen\x1b[0m\n"),
            ..SHELL
        },
    );
}

#[test]
fn a_line_of_ten_megabytes_is_a_line_like_others() {
    check(
        "one line of 10 MB",
        &Case {
            code: "head -c 10000000 /dev/zero | tr '\\0' x; echo ' the end'; echo another",
            answer: &["exit 0 in ", "; 2 lines, 9.5 MiB held as [ctx:", "1: xxxx", "more bytes)", "2: another\n"],
            whole: false,
            gets: &[
                (GetRequest::Lines("1"), &["\nxxxx", "cut inside line 1: read more by bytes, with lines b"]),
                (GetRequest::Lines("b9999990-10000010"), &["\nxxxxxxxxxx the end\n"]),
                (GetRequest::Pattern("the end"), &["1 line"]),
                (GetRequest::Lines("2"), &["\nanother\n"]),
                (GetRequest::Pattern("^anoth"), &["\n2: another\n"]),
            ],
            printed: once!("x".repeat(10_000_000) + " the end\nanother\n"),
            ..SHELL
        },
    );
}
