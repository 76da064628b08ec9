//! Measures the cost of a sandboxed run: `echo hi` through `ctx_execute` next to a bare `sh -c`, and a gigabyte of
//! output.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::figures::Figures;
use crate::server::Server;

const ROUNDS: usize = 500;
/// The pause between two calls. A model takes seconds; this is long enough for a server to prepare the next helper.
const PAUSE: Duration = Duration::from_millis(15);
const GIGABYTE: &str = "head -c 1073741824 /dev/zero | tr '\\0' x | fold -w 120";

pub(crate) fn run(weir: &str) -> bool {
    let home = tempfile::tempdir().unwrap();
    let project = home.path().join("project");
    std::fs::create_dir(&project).unwrap();
    println!("`echo hi`, {ROUNDS} rounds, each next to a bare `sh -c 'echo hi'`");
    println!("{:<34} {:>9} {:>9} {:>9} {:>9} {:>7}", "", "p50 ms", "p99 ms", "bare p50", "bare p99", "ratio");
    let mut ratio = 0.0;
    for (name, pause) in [("a call now and then", PAUSE), ("one call right after the other", Duration::ZERO)] {
        let mut server = Server::start(weir, home.path(), &project);
        server.execute("echo hi", "sandbox full");
        let (mut ours, mut bare) = (Figures::default(), Figures::default());
        for _ in 0..ROUNDS {
            std::thread::sleep(pause);
            bare.measure(|| Command::new("/bin/sh").args(["-c", "echo hi"]).stdout(Stdio::piped()).output().unwrap());
            std::thread::sleep(pause);
            ours.measure(|| server.execute("echo hi", "sandbox full"));
        }
        server.end();
        let [ours_50, ours_99] = [0.5, 0.99].map(|share| ours.quantile(share) / 1e3);
        let [bare_50, bare_99] = [0.5, 0.99].map(|share| bare.quantile(share) / 1e3);
        println!("{name:<34} {ours_50:>9.2} {ours_99:>9.2} {bare_50:>9.2} {bare_99:>9.2} {:>7.2}", ours_50 / bare_50);
        ratio = if pause.is_zero() { ratio } else { ours_50 / bare_50 };
    }

    let mut server = Server::start(weir, home.path(), &project);
    let started = Instant::now();
    let answer = server.execute(GIGABYTE, "held as");
    let took = started.elapsed();
    let peak = server.kilobytes("VmHWM") as f64 / 1e3;
    server.end();
    let started = Instant::now();
    let mut bare = Command::new("/bin/sh").args(["-c", GIGABYTE]).stdout(Stdio::piped()).spawn().unwrap();
    std::io::copy(bare.stdout.as_mut().unwrap(), &mut std::io::sink()).unwrap();
    bare.wait().unwrap();
    println!(
        "\n1 GiB of output: {:.1} s, peak {peak:.1} MB; read and thrown away: {:.1} s",
        took.as_secs_f64(),
        started.elapsed().as_secs_f64()
    );
    println!("the answer begins: {}", answer.lines().next().unwrap_or_default());
    ratio <= 6.0 && peak <= 30.0
}
