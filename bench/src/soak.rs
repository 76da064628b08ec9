//! Executes many runs that end in every possible way, and then checks that they leave nothing behind.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

/// The mark in the command line of every process that must not survive.
const MARK: &str = "8642";
/// A child that does its best to outlive its run.
const STUBBORN: &str = "(setsid sh -c 'trap \"\" TERM HUP INT; sleep 8642' &) ; sleep 8642";
/// The maximum time for ended processes to disappear.
const MAX_WAIT: Duration = Duration::from_secs(10);

pub(crate) fn run(weir: &str, runs: usize) -> bool {
    let home = tempfile::tempdir().unwrap();
    std::fs::create_dir(home.path().join("project")).unwrap();
    let before = SystemCensus::take(home.path());
    let started = Instant::now();
    let mut server = SoakServer::start(weir, home.path());
    let mut counts = [0usize; 8];
    for number in 0..runs {
        // Any fixed order of kinds would do; this one mixes them.
        let kind = (number * 7 + number / 8) % 8;
        counts[kind] += 1;
        match kind {
            0 => server.call("echo hi", 30, "exit 0"),
            1 => server.call("seq 1 50000; exit 3", 30, "exit 3"),
            2 => server.call(STUBBORN, 1, "timed out"),
            3 => server.cancelled(STUBBORN),
            4 => {
                server.start_call(STUBBORN);
                server.process.kill().unwrap();
                server.process.wait().unwrap();
                server = SoakServer::start(weir, home.path());
            }
            5 => server.call("(setsid sleep 8642 &) ; head -c 300000 /dev/urandom", 30, "exit 0"),
            6 => server.background(STUBBORN),
            _ => killed_command(weir, home.path()),
        }
    }
    drop(server.process.stdin.take());
    server.process.wait().unwrap();
    let seconds = started.elapsed().as_secs_f64();
    let kinds =
        ["plain", "failing", "timeout", "cancelled", "server killed", "left a child", "background", "command killed"];
    let summary: Vec<String> = kinds.iter().zip(counts).map(|(kind, count)| format!("{kind} {count}")).collect();
    println!("{runs} runs in {seconds:.0} s: {}", summary.join(", "));
    let left = wait_for(|| SystemCensus::take(home.path()).beyond(&before));
    for thing in &left {
        println!("left: {thing}");
    }
    println!("left: {} (processes, mounts, namespaces, files)", left.len());
    left.is_empty()
}

/// Kills a command while it runs something.
fn killed_command(weir: &str, home: &Path) {
    let mut command = Command::new(weir);
    let mut child = in_home(&mut command, home).args(["run", STUBBORN]).spawn().unwrap();
    wait_until_marked();
    child.kill().unwrap();
    child.wait().unwrap();
}

fn in_home<'a>(command: &'a mut Command, home: &Path) -> &'a mut Command {
    command.current_dir(home.join("project")).env_clear().env("HOME", home).env("PATH", "/usr/bin:/bin")
}

/// Waits until a process that must not survive exists.
fn wait_until_marked() {
    let since = Instant::now();
    while !processes().iter().any(|(_, line)| line.starts_with("sleep") && line.contains(MARK)) {
        assert!(since.elapsed() < MAX_WAIT, "nothing was started");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Everything that a run could leave behind.
struct SystemCensus {
    things: BTreeSet<String>,
}

impl SystemCensus {
    fn take(home: &Path) -> Self {
        let mut things = BTreeSet::new();
        for (pid, line) in processes() {
            if line.contains(MARK) || line.contains("sandbox-helper") || line.contains("background-run") {
                things.insert(format!("process {pid}: {line}"));
            }
            if let Ok(namespace) = std::fs::read_link(format!("/proc/{pid}/ns/mnt")) {
                things.insert(format!("mount namespace {}", namespace.display()));
            }
        }
        let mounts = std::fs::read_to_string("/proc/self/mountinfo").unwrap();
        things.extend(mounts.lines().map(|line| format!("mount {line}")));
        let temporary = std::fs::read_dir("/tmp").unwrap().flatten();
        things.extend(temporary.map(|entry| format!("in /tmp: {}", entry.file_name().display())));
        files(&home.join(".cache/weir/scratch"), &mut things);
        for project in std::fs::read_dir(home.join(".local/share/weir/projects")).into_iter().flatten().flatten() {
            files(&project.path().join("runs"), &mut things);
            files(&project.path().join("blobs/parts"), &mut things);
        }
        Self { things }
    }

    fn beyond(&self, before: &Self) -> Vec<String> {
        self.things.difference(&before.things).cloned().collect()
    }
}

fn files(folder: &Path, things: &mut BTreeSet<String>) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    things.extend(entries.map(|entry| format!("file {}", entry.path().display())));
}

fn processes() -> Vec<(u32, String)> {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let line = |pid: u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        (pid, String::from_utf8_lossy(&line).replace('\0', " "))
    };
    numbers.filter(|pid| *pid != std::process::id()).map(line).collect()
}

/// Polls until nothing is left or [`MAX_WAIT`] is exhausted.
fn wait_for(look: impl Fn() -> Vec<String>) -> Vec<String> {
    let since = Instant::now();
    loop {
        let left = look();
        if left.is_empty() || since.elapsed() > MAX_WAIT {
            return left;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A server that is called in ways that no client should use.
struct SoakServer {
    process: Child,
    output: BufReader<ChildStdout>,
    last: u64,
}

impl SoakServer {
    fn start(weir: &str, home: &Path) -> Self {
        let mut command = Command::new(weir);
        let command = in_home(&mut command, home).arg("mcp").stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let mut server = Self { process, output, last: 0 };
        server.send("initialize", "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"soak\",\"version\":\"0\"}}");
        server.answer();
        server
    }

    fn send(&mut self, method: &str, parameters: &str) {
        self.last += 1;
        let line =
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"{method}\",\"params\":{parameters}}}\n", self.last);
        self.process.stdin.as_mut().unwrap().write_all(line.as_bytes()).unwrap();
    }

    fn execute(&mut self, code: &str, more: &str) {
        let code = code.replace('\\', "\\\\").replace('"', "\\\"");
        self.send("tools/call", &format!("{{\"name\":\"ctx_execute\",\"arguments\":{{\"code\":\"{code}\"{more}}}}}"));
    }

    fn answer(&mut self) -> String {
        let mut answer = String::new();
        self.output.read_line(&mut answer).unwrap();
        answer
    }

    fn call(&mut self, code: &str, timeout: u32, expected: &str) {
        self.execute(code, &format!(",\"timeout\":{timeout}"));
        let answer = self.answer();
        assert!(answer.contains(expected), "{code}: {answer}");
    }

    fn start_call(&mut self, code: &str) {
        self.execute(code, "");
        wait_until_marked();
    }

    fn cancelled(&mut self, code: &str) {
        self.start_call(code);
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{{\"requestId\":{}}}}}\n",
            self.last
        );
        self.process.stdin.as_mut().unwrap().write_all(line.as_bytes()).unwrap();
        // A cancelled call is not answered; the next one is.
        self.call("echo still here", 30, "still here");
    }

    /// Starts a background run. It ends with the server, which may be killed later or told to end.
    fn background(&mut self, code: &str) {
        self.execute(code, ",\"background\":true");
        let answer = self.answer();
        assert!(answer.contains("started [ctx:"), "{answer}");
    }
}
