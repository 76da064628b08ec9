//! How long `weir mcp` takes from its start to its first answer, and how much memory it has then.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Command, Stdio};

use crate::figures::Figures;

const ROUNDS: usize = 60;
const INITIALIZE: &str = "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"bench\",\"version\":\"0\"}}}\n";

pub(crate) fn run(weir: &str) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let (mut ours, mut bare) = (Figures::default(), Figures::default());
    let mut memory = 0;
    for _ in 0..ROUNDS {
        bare.measure(|| Command::new("/bin/true").status().unwrap());
        let mut child = None;
        ours.measure(|| child = Some(initialize(weir, folder.path())));
        let mut child = child.unwrap();
        memory = memory.max(resident_kb(child.id()));
        drop(child.stdin.take());
        assert!(child.wait().unwrap().success());
    }
    println!(
        "weir mcp, start to initialize: p50 {:.1} ms, p95 {:.1} ms",
        ours.quantile(0.5) / 1e3,
        ours.quantile(0.95) / 1e3
    );
    println!(
        "/bin/true:                     p50 {:.1} ms; ratio {:.1}",
        bare.quantile(0.5) / 1e3,
        ours.quantile(0.5) / bare.quantile(0.5)
    );
    println!("memory after initialize:       {:.1} MB", memory as f64 / 1e3);
    memory <= 15_000
}

fn initialize(weir: &str, home: &std::path::Path) -> std::process::Child {
    let mut child = Command::new(weir)
        .arg("mcp")
        .current_dir(home)
        .env("WEIR_DATA", home)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.as_mut().unwrap().write_all(INITIALIZE.as_bytes()).unwrap();
    let mut answer = String::new();
    BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut answer).unwrap();
    assert!(answer.contains("serverInfo"), "{answer}");
    child
}

fn resident_kb(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
