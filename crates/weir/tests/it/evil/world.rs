//! A home with something to lose, and a hostile repository in it.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{ArrivalMethod, Case, put};
use crate::support::{Home, Server};

/// The text that must never be shown.
const CANARY: &str = "canary-of-the-coal-mine";
/// An address that refuses connections.
const NOWHERE: &str = "http://127.0.0.1:9/";
const MAX_CALL_TIME: Duration = Duration::from_secs(10);
const MAX_MEMORY_KB: u64 = 512 << 10;
/// The limit on what a flood can do to this machine before it is noticed.
const ADDRESS_SPACE_LIMIT: &str = "--as=8589934592";

pub(super) struct HostileRepository<'a> {
    case: &'a Case,
    home: Home,
    before: BTreeMap<PathBuf, String>,
}

impl<'a> HostileRepository<'a> {
    pub(super) fn arrive(case: &'a Case) -> Self {
        let home = Home::new();
        put(home.path(), "outside/canary.txt", CANARY);
        put(home.path(), "outside/settings.json", format!(r#"{{"permissions": {{"allow": ["Read(//{CANARY})"]}}}}"#));
        put(home.path(), "outside/.gitignore", "*\n");
        std::fs::create_dir(home.at("other")).unwrap();
        git(&home.at("other"), &["init", "-q"]);
        git(&home.at("other"), &["remote", "add", "origin", "https://example.org/other.git"]);
        git(&home.at("other"), &["commit", "-q", "--allow-empty", "-m", "one"]);
        let note = format!("{CANARY} is what the other project knows");
        let noted = home.weir_in(&home.at("other"), &["note", &note]);
        assert!(noted.status.success(), "{noted:?}");
        let (made, project) = (home.at("made"), home.project());
        put(&made, "src/lib.rs", "/// Adds.\npub fn add(a: u64, b: u64) -> u64 {\n    a + b\n}\n");
        put(&made, "README.md", "# A library\n\nIt adds numbers.\n");
        (case.make)(&made);
        std::fs::remove_dir(&project).unwrap();
        match case.arrives {
            ArrivalMethod::Clone => {
                git(&made, &["init", "-q"]);
                git(&made, &["add", "-A", "-f"]);
                git(&made, &["commit", "-q", "-m", "innocent"]);
                git(home.path(), &["clone", "-q", "made", "project"]);
            }
            ArrivalMethod::Archive => {
                let packed =
                    "tar -C made -cSf made.tar . && mkdir project && tar -C project -xSf made.tar && rm made.tar";
                let status = Command::new("sh").args(["-c", packed]).current_dir(home.path()).status().unwrap();
                assert!(status.success(), "{}", case.name);
            }
        }
        std::fs::remove_dir_all(made).unwrap();
        let before = outside(home.path());
        Self { case, home, before }
    }

    pub(super) fn meets_the_command_line(&self) {
        let ran = self.weir(&["run", "echo it-runs"]);
        let said = String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned();
        match self.case.asks {
            None => assert!(said.contains("it-runs") && ran.status.success(), "{}: {said}", self.case.name),
            Some(why) => {
                assert!(said.contains(why) && !ran.status.success(), "{}: {said}", self.case.name);
            }
        }
        for arguments in [
            &["map"][..],
            &["outline", "src/lib.rs"],
            &["outline", "."],
            &["note", "something"],
            &["index", "."],
            &["search", CANARY],
            &["fetch", NOWHERE],
            &["doctor"],
        ] {
            let output = self.weir(arguments);
            let ended = output.status.code();
            assert!(ended.is_some_and(|code| code != 101), "{}: {arguments:?}: {output:?}", self.case.name);
        }
    }

    pub(super) fn meets_hooks(&self) {
        let project = self.home.project();
        let read = json!({
            "tool_name": "Read", "tool_use_id": "t1", "tool_input": { "file_path": project.join("big.txt") },
            "tool_response": { "type": "text", "file": { "filePath": "big.txt", "content": "line\n".repeat(20_000) } },
        });
        let shell = json!({
            "tool_name": "Bash", "tool_use_id": "t2", "tool_input": { "command": "ls" },
            "tool_response": { "stdout": "README.md\n", "stderr": "" },
        });
        let before = json!({ "tool_name": "Bash", "tool_use_id": "t0", "tool_input": { "command": "cat README.md" } });
        let points = [
            ("SessionStart", json!({ "source": "startup" })),
            ("PreToolUse", before),
            ("UserPromptSubmit", json!({ "prompt": "what is this?" })),
            ("PostToolUse", shell),
            ("PostToolUse", read),
        ];
        for (event, more) in points {
            let mut payload = json!({ "session_id": "s1", "cwd": project, "hook_event_name": event });
            payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            let output = self.bounded(&["hook", "claude", event], payload.to_string().as_bytes());
            assert!(output.status.success() && output.stderr.is_empty(), "{} {event}: {output:?}", self.case.name);
            let said = String::from_utf8_lossy(&output.stdout);
            let widened = said.contains("permissionDecision") || said.contains(CANARY);
            assert!(!widened, "{} {event}: {said}", self.case.name);
        }
    }

    pub(super) fn meets_the_server(&self) {
        let mut server = self.home.session("s1");
        for (tool, arguments) in [
            ("context_peek", json!({ "paths": ["."] })),
            ("context_peek", json!({ "paths": ["src/lib.rs"] })),
            ("ctx_execute", json!({ "language": "shell", "code": "echo it-runs" })),
            ("ctx_index", json!({ "path": "." })),
            ("ctx_search", json!({ "query": CANARY })),
            ("ctx_fetch_and_index", json!({ "url": NOWHERE })),
            ("ctx_doctor", json!({})),
        ] {
            let _ = self.ask(&mut server, tool, &arguments);
        }
        let config = self.home.at(".config/weir/config.toml");
        for path in ["../outside/canary.txt", "../outside/new.txt", "../.bashrc", config.to_str().unwrap()] {
            for (tool, arguments) in [
                ("context_read", json!({ "path": path })),
                ("context_write", json!({ "path": path, "text": "planted", "overwrite": true })),
                ("context_edit", json!({ "path": path, "old": "canary", "new": "planted" })),
                ("ctx_index", json!({ "path": path })),
            ] {
                let answer = self.ask(&mut server, tool, &arguments);
                assert!(answer.is_err(), "{}: {tool} {path}: {answer:?}", self.case.name);
            }
        }
    }

    /// Checks that everything outside the project is unchanged.
    pub(super) fn left_the_rest_alone(&self) {
        assert_eq!(outside(self.home.path()), self.before, "{}", self.case.name);
    }

    fn ask(&self, server: &mut Server, tool: &str, arguments: &Value) -> Result<String, String> {
        let started = Instant::now();
        let answer = server.attempt(tool, arguments);
        let name = self.case.name;
        assert!(started.elapsed() < MAX_CALL_TIME, "{name}: {tool} {arguments} took {:?}", started.elapsed());
        let peak = peak(server.id()).unwrap_or_default();
        assert!(peak < MAX_MEMORY_KB, "{name}: {tool} {arguments}: {peak} KB");
        let (Ok(text) | Err(text)) = &answer;
        // A search repeats the query.
        assert!(tool == "ctx_search" || !text.contains(CANARY), "{name}: {tool} {arguments}: {text}");
        assert!(!text.contains("the other project knows"), "{name}: {tool} {arguments}: {text}");
        answer
    }

    fn weir(&self, arguments: &[&str]) -> Output {
        let output = self.bounded(arguments, b"");
        let said = String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned();
        let (name, searched) = (self.case.name, arguments.contains(&CANARY));
        assert!(searched || !said.contains(CANARY), "{name}: {arguments:?}: {said}");
        assert!(!said.contains("the other project knows"), "{name}: {arguments:?}: {said}");
        output
    }

    /// Runs the program, which must end in time and with little memory.
    fn bounded(&self, arguments: &[&str], input: &[u8]) -> Output {
        let name = self.case.name;
        let plain = self.home.weir_command(arguments);
        let mut command = Command::new("prlimit");
        command.arg(ADDRESS_SPACE_LIMIT).arg(plain.get_program()).args(plain.get_args()).env_clear();
        command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command.current_dir(self.home.project());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let started = Instant::now();
        let mut child = command.spawn().unwrap();
        let (mut to, input) = (child.stdin.take().unwrap(), input.to_vec());
        // A program that does not read all of its input closes the pipe.
        std::thread::spawn(move || to.write_all(&input));
        while child.try_wait().unwrap().is_none() {
            let peak = peak(child.id()).unwrap_or_default();
            if started.elapsed() > MAX_CALL_TIME || peak > MAX_MEMORY_KB {
                let _ = child.kill();
                panic!("{name}: {arguments:?} after {:?} with {peak} KB", started.elapsed());
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        child.wait_with_output().unwrap()
    }
}

fn peak(process: u32) -> Option<u64> {
    let about = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = about.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}

/// Returns the files in the home outside the project and Weir's own folders, with their content.
fn outside(home: &Path) -> BTreeMap<PathBuf, String> {
    let own = [home.join("project"), home.join(".local"), home.join(".cache")];
    let (mut found, mut folders) = (BTreeMap::new(), vec![home.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let path = entry.path();
            if own.contains(&path) {
                continue;
            }
            let is_folder = entry.file_type().unwrap().is_dir();
            let content = if is_folder { String::new() } else { std::fs::read_to_string(&path).unwrap_or_default() };
            found.insert(path.clone(), content);
            if is_folder {
                folders.push(path);
            }
        }
    }
    found
}

/// Runs git as a user without any configuration.
pub(super) fn git(folder: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.current_dir(folder).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    command.args(["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "init.defaultBranch=main"]);
    let output = command.args(arguments).output().unwrap();
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}
