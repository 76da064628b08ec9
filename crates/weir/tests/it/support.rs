//! What the suites share: an empty home with a project, and the program there as a command and as an MCP server.
#![expect(clippy::disallowed_methods, reason = "the tests start the program")]

mod server;

use std::ffi::{OsStr, OsString};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant, SystemTime};

use expect_test::Expect;
use serde_json::{Value, json};
use tempfile::TempDir;

pub(crate) use server::{Server, text_of};

pub(crate) const WEIR: &str = env!("CARGO_BIN_EXE_weir");
/// Long, because a loaded machine is slow. It is half of what `.config/nextest.toml` allows a test, so that a test
/// whose event never occurs fails with its own message.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(120);

/// An empty home with an empty project. It is removed on drop.
pub(crate) struct Home {
    _folder: TempDir,
    root: PathBuf,
    pub(crate) programs: Vec<PathBuf>,
    variables: Vec<(&'static str, OsString)>,
}

impl Home {
    /// Returns a home among the temporary files of the machine.
    pub(crate) fn new() -> Self {
        Self::in_folder(tempfile::tempdir().unwrap())
    }

    /// Returns a home outside of `/tmp`, which is private to a run: on most machines, a home is elsewhere.
    pub(crate) fn outside_tmp() -> Self {
        Self::in_folder(tempfile::Builder::new().prefix("weir-runs-").tempdir_in("/var/tmp").unwrap())
    }

    /// Returns a home outside of `/tmp`, whose user has the programs and the Rust toolchains of this machine.
    pub(crate) fn with_programs() -> Self {
        let mut home = Self::outside_tmp();
        home.programs = std::env::split_paths(&std::env::var_os("PATH").unwrap()).collect();
        // The home is empty, and rustup looks for its toolchains there.
        home.variables.push(("RUSTUP_HOME", rustup_home()));
        home
    }

    fn in_folder(folder: TempDir) -> Self {
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("project")).unwrap();
        let programs = vec![PathBuf::from("/usr/bin"), PathBuf::from("/bin")];
        // The tests run a slow build on a loaded machine. Tests of the deadline set their own value.
        let variables = vec![("WEIR_HOOK_SECONDS", OsString::from("60"))];
        Self { _folder: folder, root, programs, variables }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.root
    }

    pub(crate) fn at(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.at("project")
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.at(".local/share/weir")
    }

    pub(crate) fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        write(&self.project().join(path), text);
    }

    /// Writes a file of the project that was last modified a minute ago.
    pub(crate) fn write_old(&self, path: &str, text: impl AsRef<[u8]>) {
        self.write(path, text);
        age(&self.project().join(path), 60);
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.project().join(path)).unwrap()
    }

    /// Writes Weir's configuration.
    pub(crate) fn configure(&self, text: &str) {
        write(&self.at(".config/weir/config.toml"), text);
    }

    /// Writes the user's rules, as Claude Code stores them.
    pub(crate) fn rules(&self, permissions: &Value) {
        write(&self.at(".claude/settings.json"), json!({ "permissions": permissions }).to_string());
    }

    /// Returns a command that the user starts in the project. Its input is empty.
    pub(crate) fn command(&self, program: impl AsRef<OsStr>, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(self.project()).stdin(Stdio::null());
        command.env_clear().env("HOME", self.path()).env("PATH", std::env::join_paths(&self.programs).unwrap());
        command.envs(self.variables.iter().cloned());
        command
    }

    /// Returns a command of the program, as a client starts it, so that it prints what a model reads.
    pub(crate) fn weir_command(&self, arguments: &[&str]) -> Command {
        let mut command = self.command(WEIR, arguments);
        command.env("AI_AGENT", "tests");
        command
    }

    /// Runs the program to its end, as a person does in a pipe.
    pub(crate) fn piped(&self, arguments: &[&str]) -> Output {
        self.command(WEIR, arguments).output().unwrap()
    }

    /// Runs the program to its end.
    pub(crate) fn weir(&self, arguments: &[&str]) -> Output {
        self.weir_in(&self.project(), arguments)
    }

    /// Runs the program in another folder.
    pub(crate) fn weir_in(&self, folder: &Path, arguments: &[&str]) -> Output {
        self.weir_command(arguments).current_dir(folder).output().unwrap()
    }

    /// Returns the output of a command that must succeed.
    pub(crate) fn ok(&self, arguments: &[&str]) -> String {
        let output = self.weir(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
        text(&output.stdout)
    }

    /// Returns a command of the team server's program, which is built next to this one.
    pub(crate) fn server_command(&self, arguments: &[&str]) -> Command {
        let program = Path::new(WEIR).with_file_name("weir-server");
        assert!(program.exists(), "no {}: build it with `cargo build -p weir-server`", program.display());
        self.command(program.to_str().unwrap(), arguments)
    }

    /// Runs the team server's program to its end.
    pub(crate) fn weir_server(&self, arguments: &[&str]) -> Output {
        self.server_command(arguments).output().unwrap()
    }

    /// Returns the output of a command of the team server's program, which must succeed.
    pub(crate) fn team(&self, arguments: &[&str]) -> String {
        let output = self.weir_server(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
        text(&output.stdout)
    }

    /// Returns the JSON answer of a command that must succeed.
    pub(crate) fn json(&self, arguments: &[&str]) -> Value {
        serde_json::from_str(&self.ok(&[arguments, &["--json"]].concat())).unwrap()
    }

    /// Returns the JSON answer of a command, whatever its exit code.
    pub(crate) fn answer(&self, arguments: &[&str]) -> Value {
        parsed(&self.weir(&[arguments, &["--json"]].concat()))
    }

    pub(crate) fn note(&self, arguments: &[&str]) -> String {
        self.json(&[&["note"], arguments].concat())["reference"].as_str().unwrap().to_owned()
    }

    /// Runs git in the project, which must succeed, and returns its output.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        self.git_in(&self.project(), arguments)
    }

    pub(crate) fn git_in(&self, folder: &Path, arguments: &[&str]) -> String {
        let identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "init.defaultBranch=main"];
        let output = self.command("git", &[&identity, arguments].concat()).current_dir(folder).output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", said(&output));
        text(&output.stdout).trim().to_owned()
    }

    /// Calls a hook with bytes. Returns what it prints.
    pub(crate) fn raw_hook(&self, client: &str, event: &str, input: &[u8]) -> Vec<u8> {
        hooked(self.weir_command(&["hook", client, event]), input)
    }

    /// Calls a hook of Claude Code in a session. Returns the answer, or `null` if there is none.
    pub(crate) fn hook(&self, session: &str, event: &str, more: &Value) -> Value {
        let mut payload = json!({ "session_id": session, "cwd": self.project(), "hook_event_name": event });
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let answer = self.raw_hook("claude", event, payload.to_string().as_bytes());
        if answer.is_empty() { Value::Null } else { serde_json::from_slice(&answer).unwrap() }
    }

    /// Starts the program as the server of a client without capabilities.
    pub(crate) fn server(&self) -> Server {
        self.server_with(&json!({}))
    }

    /// Starts the program as the server of a client with these capabilities.
    pub(crate) fn server_with(&self, capabilities: &Value) -> Server {
        let mut server = Server::start(self.weir_command(&["mcp"]));
        server.greet("tester", "2025-11-25", capabilities);
        server
    }

    /// Starts the program as the server of a session of Claude Code.
    pub(crate) fn session(&self, key: &str) -> Server {
        self.session_in(&self.project(), key)
    }

    pub(crate) fn session_in(&self, folder: &Path, key: &str) -> Server {
        let mut command = self.weir_command(&["mcp"]);
        command.current_dir(folder).env("CLAUDE_CODE_SESSION_ID", key);
        let mut server = Server::start(command);
        server.greet("claude-code", "2025-11-25", &json!({}));
        server
    }

    /// Waits until a file of the project exists.
    pub(crate) fn wait_for(&self, path: &str) {
        let path = self.project().join(path);
        assert!(wait_until(TIMEOUT, || path.exists()), "{} never came", path.display());
    }

    /// Runs a command, and compares what it prints and its exit code.
    pub(crate) fn check(&self, arguments: &[&str], expected: Expect) {
        expected.assert_eq(&self.shown(&self.weir(arguments)));
    }

    /// Returns what a command printed and its exit code, without what differs from run to run: references, marks,
    /// times, durations and the home folder.
    pub(crate) fn shown(&self, output: &Output) -> String {
        let mut shown = said(output);
        while let Some(start) = shown.find("[ctx:") {
            let reference = shown[start + 5..start + 15].to_owned();
            shown = shown.replace(&format!("[ctx:{reference}]"), "[REF]").replace(&reference, "REF");
        }
        let marks: Vec<String> = shown.lines().filter_map(|line| line.strip_prefix("<<<")).map(str::to_owned).collect();
        for mark in marks.iter().filter(|mark| mark.len() == 10) {
            shown = shown.replace(mark, "MARK");
        }
        while let Some(at) = (0..shown.len()).find(|&at| shown.get(at..at + 17).is_some_and(is_time)) {
            shown.replace_range(at..at + 17, "DATE");
        }
        let shown = shown.replace(self.path().to_str().unwrap(), "HOME");
        let lines = shown.lines().map(|line| match line.split_once(" in ") {
            Some((before, after)) if after.ends_with(" s)") => format!("{before} in TIME)"),
            _ => line.to_owned(),
        });
        let shown = lines.collect::<Vec<_>>().join("\n");
        format!("{shown}\nexit {}", output.status.code().unwrap_or(-1))
    }
}

fn is_time(text: &str) -> bool {
    let fits = |(shape, found): (u8, u8)| if shape == b'0' { found.is_ascii_digit() } else { found == shape };
    text.len() == 17 && b"0000-00-00 00:00Z".iter().copied().zip(text.bytes()).all(fits)
}

fn rustup_home() -> OsString {
    let home = || std::env::home_dir().map(|home| home.join(".rustup").into_os_string());
    std::env::var_os("RUSTUP_HOME").or_else(home).unwrap_or_default()
}

pub(crate) fn write(path: &Path, text: impl AsRef<[u8]>) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// Sets a file's modification time to this many seconds ago.
pub(crate) fn age(path: &Path, seconds: u64) {
    let then = SystemTime::now() - Duration::from_secs(seconds);
    std::fs::File::options().write(true).open(path).unwrap().set_modified(then).unwrap();
}

pub(crate) fn feed(mut command: Command, input: &[u8]) -> Output {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A program that does not read all of its input closes the pipe.
    let _ = child.stdin.take().unwrap().write_all(input);
    child.wait_with_output().unwrap()
}

/// Runs a hook. For any input, it must succeed and print nothing on the terminal. Returns what it prints.
pub(crate) fn hooked(command: Command, input: &[u8]) -> Vec<u8> {
    let output = feed(command, input);
    assert!(output.status.success() && output.stderr.is_empty(), "{}: {}", output.status, said(&output));
    output.stdout
}

/// Returns the JSON that a command printed, whatever its exit code.
pub(crate) fn parsed(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", said(output)))
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub(crate) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let entry = entry.unwrap();
        match entry.file_type().unwrap().is_dir() {
            true => found.extend(files_below(&entry.path())),
            false => found.push(entry.path()),
        }
    }
    found
}

/// Returns everything that a command printed.
pub(crate) fn said(output: &Output) -> String {
    text(&output.stdout) + &text(&output.stderr)
}

/// Waits until a condition holds. Returns false if it does not hold in time.
pub(crate) fn wait_until(most: Duration, mut is_so: impl FnMut() -> bool) -> bool {
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
