//! Outputs that were once digested wrongly: what their digests must contain, and what they must not.

use std::fmt::Write as _;

use crate::oracle::examine;
use crate::outputs::{digest, page};

/// Checks what a digest contains, what it does not contain, and that it states nothing wrong.
pub(crate) fn check(raw: &str, has: &[&str], has_not: &[&str]) {
    let text = digest(raw.as_bytes());
    for words in has {
        assert!(text.contains(words), "`{words}` is missing:\n{text}");
    }
    for words in has_not {
        assert!(!text.contains(words), "`{words}` is there:\n{text}");
    }
    let wrong = examine(raw.as_bytes(), &page(raw.as_bytes())).wrong;
    assert!(wrong.is_empty(), "{wrong:?}\n{text}");
}

pub(crate) fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).fold(String::new(), |mut all, number| {
        writeln!(all, "{}", line(number)).unwrap();
        all
    })
}

#[test]
fn errors_among_indented_lines() {
    let raw = lines(330, |n| match n {
        150 => "ERROR stage build failed".to_owned(),
        210 => "  ERROR substep 60: disk /dev/sdb1 is full".to_owned(),
        240 => "  FATAL substep 90: signature of release.tar.gz is wrong".to_owned(),
        151..270 => format!("  substep {} finished on worker {}", n - 151, n % 7),
        _ => format!("step {n} started on worker {}", n % 5),
    });
    let has = ["3 error lines", "disk /dev/sdb1 is full", "signature of release.tar.gz is wrong", "×117"];
    check(&raw, &has, &["{…}"]);
}

#[test]
fn tap_of_node() {
    let mut raw = "TAP version 13\n".to_owned();
    for suite in ["parser", "ledger", "queue"] {
        writeln!(raw, "# Subtest: {suite}").unwrap();
        for case in 0..25 {
            let bad = suite != "parser" && case == 17;
            let ok = if bad { "not ok" } else { "ok" };
            write!(raw, "    # Subtest: {suite} case {case}\n    {ok} {} - {suite} case {case}\n", case + 1).unwrap();
            write!(raw, "      ---\n      duration_ms: 0.{case}\n").unwrap();
            if bad {
                write!(raw, "      location: '/srv/test/{suite}.js:{case}:3'\n      error: '{suite} took 400 ms'\n")
                    .unwrap();
            }
            raw.push_str("      ...\n");
        }
    }
    raw.push_str("1..3\n# tests 75\n# pass 73\n# fail 2\n");
    let has = ["73 passed, 2 failed", "not ok 18 - ledger case 17", "error: 'ledger took 400 ms'", "queue.js:17:3"];
    check(&raw, &has, &[]);
}

#[test]
fn spec_reporter_of_node() {
    let mut raw = lines(120, |n| match n {
        30 | 77 => format!("  ✖ balances case {n} (5.1ms)"),
        _ => format!("  ✔ queue does thing number {n} (0.{n}ms)"),
    });
    raw.push_str("ℹ tests 120\nℹ pass 118\nℹ fail 2\n\n✖ failing tests:\n\ntest at test/ledger.js:30:3\n✖ balances case 30 (5.1ms)\n");
    raw.push_str("  Error: drain took 400 ms\n");
    let has = ["118 passed, 2 failed", "✖ balances case 30", "✖ balances case 77", "drain took 400 ms"];
    check(&raw, &has, &["  ✔ queue does thing number 31"]);
}

#[test]
fn mocha() {
    let mut raw = lines(60, |n| match n {
        20 => "    1) adds item 20".to_owned(),
        40 => "    2) adds item 40".to_owned(),
        _ => format!("    ✔ adds item {n}"),
    });
    raw.push_str(
        "\n  58 passing (42ms)\n  2 failing\n\n  1) basket\n       adds item 20:\n\n      AssertionError: wrong size\n",
    );
    raw.push_str("      + expected - actual\n\n      -3\n      +4\n\n  2) basket\n       adds item 40:\n     Error: connect ECONNREFUSED 127.0.0.1:5432\n");
    check(&raw, &["58 passed, 2 failed", "1) adds item 20", "wrong size", "ECONNREFUSED"], &["steps"]);
}

#[test]
fn excerpts_of_source_text() {
    let mut raw = "Test results:\n".to_owned();
    for n in 0..120 {
        let (rule, severity) = if n == 30 { ("B108:tmp_directory", "Medium") } else { ("B101:assert_used", "Low") };
        write!(raw, ">> Issue: [{rule}] Found.\n   Severity: {severity}   Confidence: High\n   Location: ./tests/t{n}.py:{n}:4\n").unwrap();
        write!(
            raw,
            "{}\t    assert \"Error: Missing option\" in result.output\n{}\t    except Exception:\n\n",
            n + 2,
            n + 3
        )
        .unwrap();
    }
    raw.push_str("Run metrics:\n\tTotal issues (by severity):\n\t\tLow: 119\n\t\tMedium: 1\n\t\tHigh: 0\n");
    check(&raw, &["B108:tmp_directory", "Low: 119", "Medium: 1", "×119"], &["error line", "warning line"]);
}

#[test]
fn plans_of_a_database() {
    let mut raw = String::new();
    for n in 0..6 {
        let sort = if n == 4 { "external merge  Disk: 5032kB" } else { "quicksort  Memory: 25kB" };
        write!(raw, "{:40}QUERY PLAN\n{}\n Limit  (cost=1.0..2.0 rows=8 width=50)\n   ->  Sort  (cost=1.0..2.0 rows=8 width=50)\n", "", "-".repeat(60)).unwrap();
        write!(raw, "         Sort Method: {sort}\n         ->  Seq Scan on events e{n}  (cost=0.00..4116.88 rows=58665 width=4)\n").unwrap();
        write!(
            raw,
            "               Rows Removed by Filter: {}\n Execution Time: {}22.6 ms\n(7 rows)\n\n",
            if n == 2 { 299_998 } else { 12 },
            n + 1
        )
        .unwrap();
    }
    let text = digest(raw.as_bytes());
    let times = (1..=6).filter(|n| text.contains(&format!("Execution Time: {n}22.6 ms"))).count();
    assert_eq!(times, 6, "{text}");
    check(&raw, &["299998", "external merge  Disk: 5032kB", "Limit", "Seq Scan on events"], &["error line"]);
}

#[test]
fn profiles() {
    let head = "         3506823 function calls in 16.756 seconds\n\n   Ordered by: cumulative time\n\n   ncalls  tottime  cumtime  filename:lineno(function)\n";
    let rows = lines(800, |n| {
        let own = if n == 566 { 0.8 } else { 0.001 };
        format!("{:9}    {own:.3}   {:6.3}  module{}.py:{n}(failed_{n})", n * 3 + 1, 16.8 - n as f64 * 0.02, n % 40)
    });
    let has = ["ncalls  tottime", "module0.py:0(failed_0)", "module7.py:7(failed_7)", "module6.py:566(failed_566)"];
    check(&format!("{head}{rows}"), &has, &["error line", "{…}"]);
}

#[test]
fn verdicts_of_ansible() {
    let mut raw = "PLAY [site] ****\n".to_owned();
    for task in 0..8 {
        writeln!(raw, "\nTASK [Task number {task}] *******").unwrap();
        for host in 0..12 {
            if (task, host) == (5, 7) {
                raw.push_str(
                    "fatal: [web07]: FAILED! => {\"rc\": 3, \"stderr\": \"certificate expired 2026-10-31\"}\n",
                );
            } else {
                writeln!(raw, "ok: [web{host:02}] => {{\"cmd\": \"echo certificate expired >&2; exit 3\", \"rc\": 0}}")
                    .unwrap();
            }
        }
    }
    check(&raw, &["1 error line", "fatal: [web07]: FAILED!", "TASK [Task number 5]"], &["12 error lines"]);
}

#[test]
fn reports_of_sanitizers() {
    let mut raw = String::new();
    for (n, (kind, place)) in
        [("heap-buffer-overflow", "copy_name"), ("heap-use-after-free", "read_later")].iter().enumerate()
    {
        write!(
            raw,
            "==77==ERROR: AddressSanitizer: {kind} on address 0x60{n}\nWRITE of size 17 at 0x60{n} thread T0\n"
        )
        .unwrap();
        write!(
            raw,
            "    #0 0x7f in strcpy asan_interceptors.cpp:425\n    #1 0x55 in {place} /srv/nodes.c:{}\n\n",
            n * 10 + 8
        )
        .unwrap();
        raw.push_str(&lines(20, |at| format!("  0x0c{at:02}: fa fa fa fa fd fd fa fa")));
    }
    check(
        &raw,
        &["2 error lines", "heap-use-after-free", "copy_name /srv/nodes.c:8", "read_later /srv/nodes.c:18"],
        &[],
    );
    let mut raw = "==41== Memcheck, a memory error detector\n==41== Command: ./nodes\n".to_owned();
    for n in 0..8 {
        write!(raw, "==41== Invalid read of size {n}\n==41==    at 0x10{n}: copy_{n} (nodes.c:{})\n==41==    by 0x10A: main (nodes.c:70)\n==41== \n", n + 8).unwrap();
    }
    raw.push_str("==41== ERROR SUMMARY: 8 errors from 8 contexts (suppressed: 0 from 0)\n");
    raw.push_str(&lines(40, |n| format!("==41== trailer {n}")));
    check(&raw, &["8 error lines", "copy_0 (nodes.c:8)", "ERROR SUMMARY: 8 errors"], &["9 error lines"]);
}

#[test]
fn builds_that_repeat_what_failed() {
    let mut raw = lines(60, |n| format!("#7 {n}.02 unpacking layer part {n}"));
    let errors = "src/useBasket.ts(48,17): error TS2339: Property 'couponCode' does not exist on type 'Basket'.\n";
    writeln!(raw, "#11 14.02 {errors}#11 ERROR: process \"npm run build\" did not complete successfully: exit code: 2")
        .unwrap();
    write!(
        raw,
        "------\n > [build 9/9] RUN npm run build:\n14.02 {errors}------\nERROR: failed to solve: exit code: 2\n"
    )
    .unwrap();
    check(&raw, &["tsc: 1 error in 1 file", "couponCode"], &["2 errors in 2 files"]);
}

#[test]
fn one_line_for_each_commit() {
    let raw = lines(300, |n| match n % 30 {
        0 => format!("{:08x} 5.{}.0", n * 7_654_321 + 0x1000_0000, n / 30),
        _ => format!("{:08x} fix: handle case {n} in the router", n * 7_654_321 + 0x1000_0000),
    });
    check(&raw, &["300 commits"], &[]);
    let raw = lines(200, |n| format!("{:6}\tPerson {n}", 2_000 - n * 7));
    check(&raw, &["2000\tPerson 0", "1993\tPerson 1", "1965\tPerson 5"], &[]);
}

#[test]
fn names_of_columns_in_two_words() {
    let head = "NAME          READY   STATUS    AGE   NODE      NOMINATED NODE   READINESS GATES\n";
    let rows = lines(120, |n| format!("pod-{n:<9} 1/1     Running   4d    node-{:<4} <none>           <none>", n % 5));
    check(&format!("{head}{rows}"), &["NOMINATED NODE=<none>"], &["without a value", "0 different"]);
}

#[test]
fn the_first_of_many_diagnostics() {
    let mut raw = lines(12, |n| {
        format!("src/shop/A{n}.java:3: error: package org.slf4j does not exist\nimport org.slf4j.Logger;\n      ^")
    });
    for n in 0..80 {
        writeln!(
            raw,
            "src/shop/B{n}.java:8: error: incompatible types: String cannot be converted to B{n}\n    x = 1;\n    ^"
        )
        .unwrap();
    }
    check(&raw, &["package org.slf4j does not exist"], &["rare ones first"]);
}

#[test]
fn numbers_that_are_not_times() {
    let raw = lines(80, |n| format!("setting number {n} is {} of this", 1_073_741_823 + n));
    check(&raw, &[], &["== time"]);
    let raw = lines(80, |n| format!("2026-01-01 {:02}:00:00 backwards {n}", 23 - n % 24));
    check(&raw, &[], &[" to 2026-01-01 16:00:00"]);
}
