//! Measures the time of `weir mcp` from its start to its first answer, and its memory at that point.

use std::process::Command;

use crate::figures::Figures;
use crate::server::Server;

const ROUNDS: usize = 60;

pub(crate) fn run(weir: &str) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let (mut ours, mut bare) = (Figures::default(), Figures::default());
    let mut memory = 0;
    for _ in 0..ROUNDS {
        bare.measure(|| Command::new("/bin/true").status().unwrap());
        let mut server = None;
        ours.measure(|| server = Some(Server::start(weir, folder.path(), folder.path())));
        let server = server.unwrap();
        memory = memory.max(server.kilobytes("VmRSS"));
        server.end();
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
