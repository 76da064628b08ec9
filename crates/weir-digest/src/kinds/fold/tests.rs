//! Tests of folded lines: what is shown of them, and what is not taken for an error.

use expect_test::expect;

use crate::check::{check, digest};

#[test]
fn a_log_is_told_by_its_trouble_and_its_templates() {
    let mut raw = String::new();
    for number in 0..60 {
        raw.push_str(&format!("2026-09-02 00:00:{number:02},000 INFO app job {number} done in {} ms\n", number * 3));
        if number % 20 == 7 {
            raw.push_str(&format!("2026-09-02 00:00:{number:02},500 ERROR app job {number} lost: disk full\n"));
            raw.push_str("    while writing /var/spool/x\n");
        }
    }
    raw.push_str("2026-09-02 00:02:00,000 WARNING app stopping\n");
    check(&raw, 400).shows(&expect![[r#"
        log: levels: ERROR 3, WARNING 1, INFO 60; 3 error lines; 1 warning line
        == time: 1
        2026-09-02 00:00:00,000 to 2026-09-02 00:02:00,000 (120 s); longest gap 61 s before line 67
        == lines in order: errors 3, repeated lines 1, last lines 1
        1–66: ×60 INFO app job {0..59} done in {0..177} ms
        9: 2026-09-02 00:00:07,500 ERROR app job 7 lost: disk full
          while writing /var/spool/x
        31: 2026-09-02 00:00:27,500 ERROR app job 27 lost: disk full
          while writing /var/spool/x
        53: 2026-09-02 00:00:47,500 ERROR app job 47 lost: disk full
          while writing /var/spool/x
        67: 2026-09-02 00:02:00,000 WARNING app stopping"#]]);
}

#[test]
fn few_lines_are_shown_as_they_are() {
    check("== build\n$ make all\nok\n== test\n$ make test\nsh: 3: foo: not found\n", 400).shows(&expect![[r#"
        plain lines: 1 error line
        == lines in order: other lines 5, last lines 1
        1: == build
        2: $ make all
        3: ok
        4: == test
        5: $ make test
        6: sh: 3: foo: not found"#]]);
}

#[test]
fn totals_of_several_runs_are_summed_and_shown() {
    check("  3 passing (10ms)\n  2 failing\n\n  4 passing (9ms)\n", 400).shows(&expect![[r#"
        plain lines: tests: 7 passed, 2 failed
        == lines in order: other lines 2, last lines 1
        1:   3 passing (10ms)
        2:   2 failing
        4:   4 passing (9ms)"#]]);
    let nested = "TAP version 13\n    # pass 3\n    # fail 1\nnot ok 1 - suite\n# pass 0\n# fail 1\n";
    assert!(digest(nested, 400).contains("tests: 0 passed, 1 failed; 1 error line; "), "{}", digest(nested, 400));
}

#[test]
fn the_span_of_several_logs_is_that_of_all_lines() {
    let line =
        |minute: usize| format!("2026-09-02 {:02}:{:02}:00 INFO app job {minute} done\n", minute / 60, minute % 60);
    let raw: String = (600..660).chain(570..630).map(line).collect();
    let told = digest(&raw, 400);
    assert!(told.contains("2026-09-02 09:30:00 to 2026-09-02 10:59:00 (89 min)\n"), "{told}");
    // Without a date, times before and after midnight cannot be compared.
    let raw: String = (1_380..1_440).chain(0..60).chain(1_381..1_390).map(line).collect();
    let told = digest(&raw.replace("2026-09-02 ", ""), 400);
    assert!(!told.contains(" to "), "{told}");
}

#[test]
fn an_error_among_indented_lines_is_not_a_continuation() {
    let mut raw = String::from("stage build begins\nERROR stage build failed\n");
    for number in 0..120 {
        match number {
            60 => raw.push_str("  ERROR substep 60: disk /dev/sdb1 is full\n"),
            90 => raw.push_str("  FATAL substep 90: signature of release.tar.gz is wrong\n"),
            _ => raw.push_str(&format!("  substep {number} finished on worker {}\n", number % 7)),
        }
    }
    check(&raw, 400).shows(&expect![[r#"
        plain lines: 3 error lines
        == lines in order: errors 3, rare lines 1, repeated lines 1, last lines 3
        1: stage build begins
        2: ERROR stage build failed
          substep 0 finished on worker 0
          substep 1 finished on worker 1
          substep 2 finished on worker 2
          substep 3 finished on worker 3
          substep 4 finished on worker 4
          substep 5 finished on worker 5
          substep 6 finished on worker 6
          substep 7 finished on worker 0
        3–122: ×118 substep {0..119} finished on worker {0..6}
        63:   ERROR substep 60: disk /dev/sdb1 is full
        93:   FATAL substep 90: signature of release.tar.gz is wrong
        120:   substep 117 finished on worker 5
        121:   substep 118 finished on worker 6
        122:   substep 119 finished on worker 0"#]]);
}

#[test]
fn words_of_source_text_prose_and_cells_are_not_errors() {
    let lines = [
        "77\t        except Exception:",
        "210\t    if expect.startswith(\"Error:\"):",
        "category        | Error Handling",
        "enumvals        | {debug,log,notice,warning,error}",
        "      3234    0.005    0.000    0.005    0.000 reports.py:171(failed)",
        "import time:       512 |        512 |       traceback",
        "                 at the end will not raise an error and will be",
        "ok: [web02] => {\"cmd\": \"echo certificate expired >&2; exit 3\", \"rc\": 0}",
        "==41== Memcheck, a memory error detector",
        "Waiting for cache lock: Could not get lock /var/lib/dpkg/lock-frontend.",
    ];
    let raw = lines.map(|line| format!("{line}\n")).concat().repeat(6);
    let digest = digest(&raw, 1_000);
    assert!(!digest.contains("error line") && !digest.contains("warning line"), "{digest}");
}

#[test]
fn a_pattern_that_says_nothing_gives_way_to_a_line() {
    let raw: String = (0..90).map(|n| format!("│   ├── {}{} v0.{n}.1\n", ["ab", "cd", "ef"][n % 3], n)).collect();
    let digest = digest(&raw, 400);
    assert!(!digest.contains("{…}"), "{digest}");
}
