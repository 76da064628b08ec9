//! The process that parses source files: what it has access to, and what its end costs.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::texts::{fenced, source};
use crate::support::Home;

/// Returns the processes below a server that parse for it.
fn parsers(server: u32) -> Vec<PathBuf> {
    let is_parser = |folder: &PathBuf| {
        let of = |name: &str| fs::read_to_string(folder.join(name)).unwrap_or_default();
        let parent = of("stat").rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)?.parse().ok());
        parent == Some(server) && of("cmdline").contains("parse-helper")
    };
    fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path()).filter(is_parser).collect()
}

fn pid(folder: &Path) -> Pid {
    Pid::from_raw(folder.file_name().unwrap().to_str().unwrap().parse().unwrap()).unwrap()
}

/// Returns a file that takes a parser a while.
fn long() -> String {
    (0..12_000).map(|n| format!("pub fn f{n}(a: u64) -> u64 {{ if a > {n} {{ a }} else {{ {n} }} }}\n")).collect()
}

#[test]
fn files_are_parsed_in_a_process_that_has_nothing() {
    let home = Home::new();
    home.write("a.rs", source(8));
    let mut server = home.session("s1");
    let shown = server.call("context_peek", &json!({ "path": "a.rs" }));
    assert!(fenced(&shown).contains("add_7(n: u64) -> u64"), "{shown}");
    let found = parsers(server.id());
    let [parser] = found.as_slice() else { panic!("{found:?}") };
    let status = fs::read_to_string(parser.join("status")).unwrap();
    for line in ["NoNewPrivs:\t1", "Seccomp:\t2", "CapEff:\t0000000000000000", "Threads:\t1"] {
        assert!(status.contains(line), "{line}: {status}");
    }
    let limits = fs::read_to_string(parser.join("limits")).unwrap();
    let limit = |name: &str| limits.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
    assert!(limit("Max open files").split_whitespace().nth(3) == Some("0"), "{limits}");
    assert!(limit("Max address space").contains("1073741824"), "{limits}");
    assert_eq!(fs::read(parser.join("environ")).unwrap(), b"");
    // The second file needs no second process.
    home.write("b.rs", source(9));
    server.call("context_peek", &json!({ "path": "b.rs" }));
    assert_eq!(parsers(server.id()), found);
    drop(server);
    // The parser ends with its server, whatever the server did about it.
    while parser.join("cmdline").exists() && !fs::read(parser.join("cmdline")).unwrap_or_default().is_empty() {
        std::thread::yield_now();
    }
}

#[test]
fn a_parser_that_dies_takes_nothing_with_it_but_the_outline() {
    let home = Home::new();
    home.write("long.rs", long());
    home.write("a.rs", source(8));
    let mut server = home.session("s1");
    let (id, over) = (server.id(), AtomicBool::new(false));
    let shown = std::thread::scope(|threads| {
        threads.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                for parser in parsers(id) {
                    let _ = kill_process(pid(&parser), Signal::SEGV);
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        let shown = server.call("context_peek", &json!({ "path": "long.rs" }));
        over.store(true, Ordering::Relaxed);
        shown
    });
    assert!(shown.contains("long.rs: 12000 lines") && shown.contains("cannot outline: the parser crashed"), "{shown}");
    assert!(shown.contains("pub fn f0"), "{shown}");
    let shown = server.call("context_peek", &json!({ "path": "a.rs" }));
    assert!(fenced(&shown).contains("add_7(n: u64) -> u64"), "{shown}");
}

#[test]
fn a_parser_that_died_while_it_waited_is_replaced() {
    let home = Home::new();
    home.write("a.rs", source(8));
    let mut server = home.session("s1");
    for _ in 0..2 {
        let shown = server.call("context_peek", &json!({ "path": "a.rs" }));
        assert!(fenced(&shown).contains("add_7(n: u64) -> u64"), "{shown}");
        for parser in parsers(server.id()) {
            kill_process(pid(&parser), Signal::KILL).unwrap();
        }
    }
}

#[test]
fn doctor_says_how_parsers_are_confined() {
    let home = Home::new();
    let said = String::from_utf8(home.weir(&["doctor"]).stdout).unwrap();
    assert!(said.contains("✓ parsers: in a process without access to files, the network or other processes"), "{said}");
}
