//! Statements that digests once made and that were false: what they must say instead.

use std::fmt::Write as _;

use weir_digest::{About, intent, select};

use crate::faults::{check, lines};
use crate::outputs::{digest, page, render};

#[test]
fn how_much_of_a_value_is_missing() {
    let text = "word ".repeat(12_000);
    check(
        &format!("{{\"id\":7,\"name\":\"env\",\"text\":\"{text}\",\"ok\":true}}"),
        &["JSON: 5 values", "(59800 more bytes)"],
        &[],
    );
    check(&format!("{{\"text\":\"{text}\"}}"), &["JSON: 2 values", "; 1 line, "], &["plain lines"]);
    let rows = lines(40, |n| format!("{n},b,c,d,e,f,g,h,i,j,k,{}", "y".repeat(600)));
    check(&format!("a,b,c,d,e,f,g,h,i,j,k,note\n{rows}"), &["(202 more bytes)"], &[]);
}

#[test]
fn values_that_begin_alike_are_not_the_same() {
    let record = |n: usize| format!("{{\"id\":{n},\"body\":\"{}{n}\"}}", "same ".repeat(1_000 + n % 2));
    let raw = format!("[{}]", (0..30).map(record).collect::<Vec<_>>().join(","));
    check(&raw, &["body: all different"], &["the same in all: body"]);
}

#[test]
fn settings_named_after_errors() {
    let row = |name: &str, value: &str| format!(" {name:<32} | {value:<7} |      | Sets what is logged.\n");
    let rule = format!("{}+{}+------+{}\n", "-".repeat(34), "-".repeat(9), "-".repeat(22));
    let mut raw = format!(" {:<32} | {:<7} | {:<4} | short_desc\n{rule}", "name", "setting", "unit");
    for n in 0..60 {
        raw.push_str(&row(&format!("log_setting_{n}"), "off"));
    }
    raw.push_str(&row("log_min_error_statement", "error"));
    check(&raw, &["table: 61 rows"], &["errors"]);
    let record = |n: usize| format!("{{\"name\":\"s{n}\",\"setting\":\"{}\"}}", if n == 9 { "error" } else { "off" });
    check(&format!("[{}]", (0..40).map(record).collect::<Vec<_>>().join(",")), &["40 records"], &["errors, grouped"]);
    check(&lines(60, |n| format!("package/{}", ["errors", "fmt", "io"][n % 3])), &[], &["error line"]);
}

#[test]
fn sums_of_what_does_not_add_up() {
    let head = "name,max_val,min_val,oid,port,line_number,reltuples,price\n";
    let rows = lines(60, |n| {
        let max = if n % 9 == 0 { "1.79769e+308".to_owned() } else { n.to_string() };
        format!(
            "s{n},{max},{n},{},{},{},{},{}.25",
            9_000 - n * 3,
            5_432 + n % 7,
            n * 31 % 900,
            if n % 5 == 0 { -1 } else { i64::try_from(40 + n * 7 % 90).unwrap() },
            n * 13 % 50
        )
    });
    let told = digest(format!("{head}{rows}").as_bytes());
    check(&format!("{head}{rows}"), &["price: ", ", sum "], &["NaN", "inf", "e307"]);
    for name in ["max_val", "min_val", "oid", "port", "line_number", "reltuples"] {
        let line = told.lines().find(|line| line.starts_with(&format!("{name}: "))).unwrap();
        assert!(!line.contains("sum ") && !line.contains("mean "), "{line}");
    }
    let calls = lines(30, |n| format!("{:>8} {:>6} call_{n}", n * 11 + 1, n * 11 * 2 + 1));
    check(&format!("   CALLS  TOTAL SYSCALL\n{calls}    4815   9600 total\n"), &["CALLS: "], &["sum ", "mean "]);
}

#[test]
fn a_chain_of_causes_is_one_exception() {
    let frames = |indent: &str| {
        (0..6).map(|n| format!("{indent}at org.apache.maven.cli.Main{n}.run (Main{n}.java:{n}7)\n")).collect::<String>()
    };
    let mut raw = lines(20, |n| format!("[INFO] step {n} of the build"));
    write!(
        raw,
        "[ERROR] Plugin x could not be resolved\norg.apache.maven.PluginException: Plugin x\n{}",
        frames("    ")
    )
    .unwrap();
    for cause in ["ArtifactException: no x", "TransferException: no host", "java.net.UnknownHostException: repo"] {
        write!(raw, "Caused by: org.{cause}\n{}", frames("    ")).unwrap();
    }
    raw.push_str("[ERROR] read the documentation\n");
    check(
        &raw,
        &["java: 1 exception;", "org.apache.maven.PluginException: Plugin x", "caused by: org.java.net.Unknown"],
        &["4 exceptions"],
    );
    let anyhow = |n: usize| {
        format!(
            "job {n} begins\nError: request {n} failed\n\nCaused by:\n    0: cannot save order {n}\n    1: No space left on device\n\ndone\n"
        )
    };
    check(
        &(0..20).map(anyhow).collect::<String>(),
        &["20 error lines", "cannot save order 0"],
        &["40 error", "60 error"],
    );
    let remote = "Traceback (most recent call last):\n  File \"/a.py\", line 3, in go\n    go()\nValueError: no\n\"\"\"\n\nThe above exception was the direct cause of the following exception:\n\nTraceback (most recent call last):\n  File \"/b.py\", line 9, in run\n    run()\nValueError: no\n";
    check(&lines(9, |n| format!("job {n}")).replace("job 4\n", remote), &["python: 1 traceback;"], &[]);
}

#[test]
fn traces_of_other_languages_are_not_those_of_node() {
    let backtrace = "Error: cannot start\n\nCaused by:\n    connection refused\n\nStack backtrace:\n   0: anyhow::error::from\n             at /home/ada/.cargo/registry/src/anyhow-1.0.80/src/error.rs:565:25\n   1: shop::main\n             at ./src/main.rs:9:5\n";
    let raw = format!("{}{backtrace}", lines(30, |n| format!("order {n} came in")));
    check(
        &raw,
        &["rust: 1 error with a backtrace", "Error: cannot start", "shop::main at ./src/main.rs:9:5"],
        &["node:"],
    );
    let aggregate = "[AggregateError: All promises were rejected] {\n  [errors]: [\n    Error: replica 1 is down\n        at call (/srv/a.js:4:5),\n    Error: replica 2 is down\n        at call (/srv/a.js:4:5)\n  ]\n}\n";
    check(
        &lines(9, |n| format!("job {n}")).replace("job 4\n", aggregate),
        &["node: 1 stack trace;", "AggregateError: All promises"],
        &[],
    );
    let syntax = "SyntaxError: Invalid or unexpected token\n    at compile (node:vm:1:2)\n    at run (/srv/b.js:3:4)\n";
    check(&lines(9, |n| format!("job {n}")).replace("job 4\n", syntax), &["node: 1 stack trace;"], &["ruff"]);
}

#[test]
fn a_line_of_a_difference_is_not_an_exception() {
    let mut raw = lines(40, |n| format!("  ✔ keeps item {n}"));
    raw.push_str("\n  40 passing (9ms)\n  1 failing\n\n  1) basket\n       tells the size:\n\n      AssertionError: expected 'damaged' to equal 'wrong size'\n      + expected - actual\n\n      -damaged\n      +wrong size\n      \n      at Context.<anonymous> (test/basket.js:12:8)\n      at process.processImmediate (node:internal/timers:483:21)\n  ----\n      at Test.assert (node_modules/supertest/lib/test.js:63:5)\n");
    let logged: String =
        raw.lines().enumerate().map(|(n, line)| format!("2026-11-12T08:14:{:02}.1234567Z {line}\n", n % 60)).collect();
    for raw in [raw, logged] {
        check(
            &raw,
            &["node: 1 stack trace;", "AssertionError: expected 'damaged'"],
            &["2 stack traces", ": +wrong size", ": ----"],
        );
    }
}

#[test]
fn unlike_lines_are_not_said_to_be_alike() {
    let names = ["setup.py", "README.md", "exp/data.json", "docs/index.html", "lib/a/b/deep.c", "Makefile"];
    let mut raw = String::from("<warning>The output was cut.</warning><output_head>\n");
    for n in 0..18 {
        writeln!(raw, "{}{}", ["a", "bc", "def"][n % 3].repeat(n / 3), names[n % 6]).unwrap();
    }
    raw.push_str(&lines(40, |n| format!("  -- part {n} of the listing was read again in {} ms", n * 3)));
    check(&raw, &["setup.py", "exp/data.json", "lib/a/b/deep.c", "Makefile"], &[" like "]);
    let raw = lines(400, |n| {
        format!("{}{}", ["alpha", "beta/x", "gamma.txt", "delta"][n % 4], char::from(b'a' + (n % 23) as u8))
    });
    check(&raw, &[], &[" like "]);
}

#[test]
fn totals_stand_below_their_headings() {
    let mut raw =
        lines(200, |n| format!(">> Issue: [B101] Use of assert number {n}.\n   Severity: Low   Confidence: High"));
    raw.push_str("\nRun metrics:\n\tTotal issues (by severity):\n\t\tUndefined: 0\n\t\tLow: 200\n\t\tMedium: 3\n\t\tHigh: 0\n\tTotal issues (by confidence):\n\t\tUndefined: 0\n\t\tLow: 0\n\t\tMedium: 4\n\t\tHigh: 199\nFiles skipped (0):\n");
    check(
        &raw,
        &[
            "by severity):\n  Undefined: 0\n  Low: 200\n  Medium: 3\n  High: 0",
            "by confidence):\n  Undefined: 0\n  Low: 0\n  Medium: 4",
        ],
        &[],
    );
}

#[test]
fn findings_of_a_type_checker_are_not_prose() {
    let raw = lines(79, |n| {
        format!(
            "src/click/part_{n}.py\n  src/click/part_{n}.py:{n}:5 - error: Type of this value is not known at all, and it cannot be used in this place"
        )
    });
    check(&format!("{raw}79 errors, 0 warnings, 0 informations\n"), &["pyright: 79 errors in 79 files"], &["text: "]);
}

#[test]
fn commits_are_neither_references_nor_left_out() {
    let raw = lines(300, |n| match n % 50 {
        0 => format!("* {:08x} 4.{n}.0 (#{})", n * 7_654_321 + 0x1000_0000, 6_000 + n),
        7 => format!("* {:08x} docs: fix the release date of 4.{n}.0", n * 7_654_321 + 0x1000_0000),
        _ => format!("| * {:08x} fix: handle case {n} in the router", n * 7_654_321 + 0x1000_0000),
    });
    check(
        &raw,
        &["300 commits", "releases and tags: 5", "4.50.0 (#6050)"],
        &["releases and tags: 6", "releases and tags: 11"],
    );
    let raw = lines(60, |n| format!("{:040x} commit\trefs/tags/v1.{n}", 0x1234_5678_9abc_u64 * (n as u64 + 1)));
    check(&raw, &[], &["commits"]);
}

#[test]
fn the_second_level_of_a_tree_is_not_the_top() {
    let raw =
        lines(30, |n| format!("base{n} v0.{n}.0\n├── needs{n} v1.0.0\n│   └── shop v0.1.0\n└── wants{n} v2.0.0\n"));
    check(&raw, &["90 entries below 30 at the top", "base0 v0.0.0 (2): needs0 v1.0.0, wants0 v2.0.0"], &["top level"]);
}

#[test]
fn commas_of_a_last_column_without_quotes() {
    let agents = ["Mozilla/5.0 (X11; Linux) AppleWebKit/537.36 (KHTML, like Gecko)", "curl/8.5.0"];
    let rows = lines(120, |n| {
        format!("2026-01-{:02},u{},{},{},{}", n % 28 + 1, n % 9, ["view", "buy"][n % 2], n * 37 % 900, agents[n % 2])
    });
    let raw = format!("day,user,action,duration_ms,agent\n{rows}");
    let has = [
        "table of 120 rows, 5 columns between commas, commas without quotes in the last of 60 rows",
        "action: view ×60, buy ×60",
    ];
    check(&raw, &has, &["plain lines"]);
    let wanted = select::Wanted { first: 1, last: 2, room: 1_000 };
    let selected = select::select(&raw.as_bytes(), "agent", wanted, &|_| true).unwrap();
    assert_eq!(selected.lines, ["\"Mozilla/5.0 (X11; Linux) AppleWebKit/537.36 (KHTML, like Gecko)\"", "curl/8.5.0"]);
}

#[test]
fn words_that_every_line_has_select_none() {
    let raw = lines(401, |n| {
        format!("test shop::orders::test_names_of_case_{n} ... {}", if n == 222 { "FAILED" } else { "ok" })
    });
    let source = raw.as_bytes();
    let page = page(source);
    let parts = intent::find(&source, "failing test names and the assertion that broke").unwrap().parts(&page);
    let shown = weir_digest::Page { parts, ..Default::default() };
    let told = render(&shown, source, 800).to_string();
    assert!(told.contains("test_names_of_case_222"), "{told}");
    assert!(told.matches(" ... ok").count() < 16, "{told}");
}

#[test]
fn names_of_very_many_crates_do_not_fill_the_room() {
    let mut raw = lines(3_000, |n| format!("   Compiling crate-{:03}-{n} v{}.{}.{}", n % 977, n % 9, n % 13, n % 5));
    raw.push_str("    Finished `dev` profile [unoptimized + debuginfo] target(s) in 12m 03s\n");
    check(&raw, &["3000 crates compiled", "crate-068-2999"], &["crate-045-1999"]);
    let tokens = weir_tokens::count(&digest(raw.as_bytes()));
    assert!(tokens < 833, "{tokens}");
}

#[test]
fn changed_lines_are_all_counted() {
    let changes: String =
        (0..20).map(|n| if n % 3 == 2 { "+\n".to_owned() } else { format!("+let value_{n} = {n};\n") }).collect();
    let hunk = |n: usize| format!("@@ -{n}0,0 +{n}0,20 @@ fn part_{n}() {{\n{changes}");
    let raw = format!(
        "diff --git a/src/a.rs b/src/a.rs\nindex 1..2 100644\n--- a/src/a.rs\n+++ b/src/a.rs\n{}",
        (1..9).map(hunk).collect::<String>()
    );
    check(&raw, &["(12 more changed lines)"], &["(6 more"]);
}

#[test]
fn columns_modes_and_warnings_are_what_they_are() {
    let rows = lines(12, |n| format!("package-{n:<5}  1.{n:0<3}    2.{n:0<3}   node_modules/package-{n:<3}  shop"));
    let head = "Package        Current  Wanted  Location                  Depended by\n";
    check(&format!("{head}{rows}"), &["Depended by=shop"], &["without a value"]);
    let raw = lines(60, |n| {
        format!(
            "100644 {:040x} 0\tsrc/{}",
            0x1234_5678_9abc_u64 * (n as u64 + 1),
            if n == 7 { "LICENSE".to_owned() } else { format!("part_{n}.py") }
        )
    });
    check(&raw, &["60 entries"], &["biggest", "sum "]);
    let warnings = "warning: `D203` and `D211` are incompatible.\n";
    let raw =
        format!("{warnings}{}Found 40 errors.\n", lines(40, |n| format!("a.py:{n}:1: E501 Line too long (90 > 88)")));
    check(&raw, &["1 warning; ", "40 errors in 1 file"], &["; 0 errors"]);
}

#[test]
fn nothing_is_said_of_one_as_if_it_were_many() {
    let told = digest(b"Full thread dump OpenJDK 64-Bit Server VM (17.0.15):\n\n\"main\" #1 prio=5 tid=0x1 nid=0x2 runnable\n   java.lang.Thread.State: RUNNABLE\n\tat A.b(A.java:1)\n\n");
    assert!(told.contains("1 thread, 0 deadlocks"), "{told}");
    let page = weir_digest::read(&b".\n\xe2\x94\x9c\xe2\x94\x80\xe2\x94\x80 a\n\xe2\x94\x9c\xe2\x94\x80\xe2\x94\x80 b\n\xe2\x94\x94\xe2\x94\x80\xe2\x94\x80 c\n".as_slice(), About::default()).unwrap();
    let told = format!("{:?}", page.parts);
    assert!(told.contains("deepest, 1 level:"), "{told}");
}
