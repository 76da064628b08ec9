//! An empty home with an empty project in it, and the program there as a command and as a server.

use std::ffi::OsString;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;

/// Long, because a loaded machine is slow. An event that never occurs still fails the test.
pub(super) const TIMEOUT: Duration = Duration::from_secs(200);

/// An empty home with an empty project. It is removed on drop.
pub(super) struct World {
    folder: TempDir,
    /// The folders of the user's programs.
    pub(super) path: Vec<PathBuf>,
}

impl World {
    pub(super) fn new() -> Self {
        // Not below /tmp, which is private to a run: on most machines, a home is elsewhere.
        let folder = tempfile::Builder::new().prefix("weir-runs-").tempdir_in("/var/tmp").unwrap();
        fs::create_dir(folder.path().join("project")).unwrap();
        let path = std::env::var_os("PATH").unwrap();
        Self { folder, path: std::env::split_paths(&path).collect() }
    }

    /// Returns a world with a configuration.
    pub(super) fn configured(text: &str) -> Self {
        let world = Self::new();
        world.write("../.config/weir/config.toml", text);
        world
    }

    pub(super) fn home(&self) -> &Path {
        self.folder.path()
    }

    pub(super) fn project(&self) -> PathBuf {
        self.home().join("project")
    }

    /// Writes a file of the project.
    pub(super) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        let path = self.project().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Returns a command started by the user, in the project.
    pub(super) fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.project()).stdin(Stdio::null());
        command.env_clear().env("HOME", self.home()).env("PATH", std::env::join_paths(&self.path).unwrap());
        // The home is empty, and rustup looks for its toolchains there.
        command.env("RUSTUP_HOME", rustup_home());
        command
    }

    pub(super) fn weir(&self, arguments: &[&str]) -> Output {
        self.command(env!("CARGO_BIN_EXE_weir"), arguments).output().unwrap()
    }

    /// Returns a command's answer, which must exist whatever the outcome of the run.
    pub(super) fn json(&self, arguments: &[&str]) -> Value {
        let output = self.weir(arguments);
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}{}", text(&output.stdout), text(&output.stderr)))
    }

    /// Returns the output of a command that must succeed.
    pub(super) fn ok(&self, arguments: &[&str]) -> String {
        let output = self.weir(arguments);
        assert!(output.status.success(), "{arguments:?}: {}{}", text(&output.stdout), text(&output.stderr));
        text(&output.stdout)
    }

    /// Runs a program of the user's outside, which must succeed.
    pub(super) fn outside(&self, program: &str, arguments: &[&str]) {
        let output = self.command(program, arguments).output().unwrap();
        assert!(output.status.success(), "{program} {arguments:?}: {}{}", text(&output.stdout), text(&output.stderr));
    }

    pub(super) fn server(&self) -> Server {
        self.server_with(json!({}))
    }

    /// Starts the program as the server of a client with these capabilities.
    pub(super) fn server_with(&self, capabilities: Value) -> Server {
        let mut command = self.command(env!("CARGO_BIN_EXE_weir"), &["mcp"]);
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let (input, output) = (process.stdin.take(), process.stdout.take().unwrap());
        let (sender, lines) = channel();
        // The thread ends with the program's output.
        std::thread::spawn(move || {
            BufReader::new(output).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        let mut server = Server { process, input, lines, last_id: 0 };
        let client = json!({ "name": "tester", "version": "1.0.0" });
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": client });
        server.send("initialize", hello);
        server.receive();
        server.notify("notifications/initialized", json!({}));
        server
    }

    /// Waits until a file of the project exists.
    pub(super) fn wait_for(&self, path: &str) {
        let path = self.project().join(path);
        assert!(wait_until(TIMEOUT, || path.exists()), "{} never came", path.display());
    }
}

/// The program as a server. It ends with the test.
pub(super) struct Server {
    pub(super) process: Child,
    pub(super) input: Option<ChildStdin>,
    lines: Receiver<String>,
    last_id: i64,
}

impl Server {
    pub(super) fn notify(&mut self, method: &str, parameters: Value) {
        self.write(&json!({ "jsonrpc": "2.0", "method": method, "params": parameters }));
    }

    fn send(&mut self, method: &str, parameters: Value) -> i64 {
        self.last_id += 1;
        self.write(&json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": parameters }));
        self.last_id
    }

    /// Answers a request of the server's.
    pub(super) fn answer(&mut self, id: &Value, result: Value) {
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    fn write(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    /// Calls a tool without waiting for its answer.
    pub(super) fn begin(&mut self, tool: &str, arguments: Value) -> i64 {
        self.send("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    pub(super) fn receive(&self) -> Value {
        let line = self.lines.recv_timeout(TIMEOUT).unwrap_or_else(|error| panic!("no answer: {error}"));
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
    }

    /// Returns the text of a tool's answer.
    pub(super) fn call(&mut self, tool: &str, arguments: Value) -> String {
        let id = self.begin(tool, arguments);
        let answer = self.receive();
        assert_eq!(answer["id"], id, "{answer}");
        answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text: {answer}")).to_owned()
    }

    /// Returns the peak memory of the program, in megabytes.
    pub(super) fn peak_megabytes(&self) -> f64 {
        self.megabytes("VmHWM:")
    }

    /// Returns the memory of file-backed pages, mostly the program's own, in megabytes.
    pub(super) fn program_megabytes(&self) -> f64 {
        self.megabytes("RssFile:")
    }

    /// Returns the current memory of the program, in megabytes.
    pub(super) fn resident_megabytes(&self) -> f64 {
        self.megabytes("VmRSS:")
    }

    fn megabytes(&self, name: &str) -> f64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let size = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        size.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1024.0
    }

    /// Returns the CPU time of the program itself so far.
    pub(super) fn cpu(&self) -> Duration {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
        // A hundred ticks per second, on every Linux.
        Duration::from_millis(ticks * 10)
    }

    /// Waits until the program has ended on its own, and returns how long that took.
    pub(super) fn wait_for_end(&mut self) -> Duration {
        let begun = Instant::now();
        let ended = wait_until(TIMEOUT, || self.process.try_wait().unwrap().is_some());
        assert!(ended, "the program goes on");
        begun.elapsed()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Returns the reference in an answer.
pub(super) fn reference(answer: &str) -> String {
    let start = answer.find("ctx:").unwrap_or_else(|| panic!("no reference: {answer}"));
    answer[start..].chars().take_while(|c| c.is_ascii_alphanumeric() || *c == ':').collect()
}

/// Returns the output of a run, which is between the marks of its answer.
pub(super) fn printed(answer: &str) -> &str {
    let marked = answer.split_once("\n<<<").and_then(|(_, rest)| rest.split_once('\n'));
    let inside = marked.and_then(|(mark, rest)| rest.split_once(&format!("\n{mark}>>>")));
    inside.map_or("", |(text, _)| text)
}

pub(super) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Waits until a condition holds. Returns false if it does not hold in time.
pub(super) fn wait_until(most: Duration, mut is_so: impl FnMut() -> bool) -> bool {
    let end = Instant::now() + most;
    // Nothing is sent: the channel is a clock.
    let (_sender, clock) = channel::<()>();
    while !is_so() {
        if Instant::now() > end {
            return false;
        }
        let _ = clock.recv_timeout(Duration::from_millis(5));
    }
    true
}

fn rustup_home() -> OsString {
    let home = || std::env::home_dir().map(|home| home.join(".rustup").into_os_string());
    std::env::var_os("RUSTUP_HOME").or_else(home).unwrap_or_default()
}
