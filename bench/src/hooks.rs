//! Measures the cost of a hook: each event next to `/bin/true`, next to a peer's hooks where they can be run, and of
//! several builds next to each other.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike as _;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::figures::Figures;

const ROUNDS: usize = 200;

/// The cost of a process, over all rounds.
#[derive(Default)]
struct HookCost {
    wall: Figures,
    cpu: Figures,
}

impl HookCost {
    fn run(&mut self, mut command: Command, input: &[u8]) {
        let before = cpu_of_children();
        self.wall.measure(|| {
            let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            // `/bin/true` does not read its input.
            let _ = child.stdin.take().unwrap().write_all(input);
            assert!(child.wait().unwrap().success());
        });
        self.cpu.add(cpu_of_children() - before);
    }
}

fn cpu_of_children() -> Duration {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN).unwrap();
    let micros = usage.user_time().num_microseconds() + usage.system_time().num_microseconds();
    Duration::from_micros(micros.cast_unsigned())
}

/// Returns a title, the event, the peer's script for it and the payload of each measured hook.
fn events() -> Vec<(&'static str, &'static str, &'static str, Value)> {
    let bash = |stdout: &str| {
        let response = json!({ "stdout": stdout, "stderr": "", "interrupted": false, "isImage": false });
        json!({ "tool_name": "Bash", "tool_input": { "command": "make all" }, "tool_response": response })
    };
    let log: String = (0..2_600)
        .map(|n| format!("2026-11-15 10:{:02}:{:02} INFO job {n} done in {} ms\n", n / 60 % 60, n % 60, n * 7 % 900))
        .collect();
    vec![
        ("prompt", "UserPromptSubmit", "userpromptsubmit.mjs", json!({ "prompt": "please make the export stream" })),
        (
            "before a command",
            "PreToolUse",
            "pretooluse.mjs",
            json!({ "tool_name": "Bash", "tool_input": { "command": "ls" } }),
        ),
        ("after a command", "PostToolUse", "posttooluse.mjs", bash("one\ntwo\n")),
        (
            "after an edit",
            "PostToolUse",
            "posttooluse.mjs",
            json!({ "tool_name": "Edit", "tool_input": { "file_path": "a.rs" }, "tool_response": {} }),
        ),
        ("turn ends", "Stop", "stop.mjs", json!({ "last_assistant_message": "done" })),
        ("before compaction", "PreCompact", "precompact.mjs", json!({ "trigger": "auto" })),
        ("session begins", "SessionStart", "sessionstart.mjs", json!({ "source": "startup" })),
        ("100 KB of output", "PostToolUse", "posttooluse.mjs", bash(&log[..100_000])),
    ]
}

/// A home folder with a project, and nothing else in the environment.
struct Home {
    folder: TempDir,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("project")).unwrap();
        Self { folder }
    }

    fn project(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env_clear().env("HOME", self.folder.path()).env("PATH", "/usr/bin:/bin").current_dir(self.project());
        command
    }

    fn payload(&self, event: &str, more: &Value) -> String {
        let transcript = self.folder.path().join("s1.jsonl");
        let mut payload = json!({
            "session_id": "s1", "cwd": self.project(), "hook_event_name": event, "transcript_path": transcript,
        });
        payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        payload.to_string()
    }
}

/// Measures every event with several builds, one after the other in each round, and each in a home of its own.
pub(crate) fn compare(builds: &[&str]) -> bool {
    println!(
        "{ROUNDS} rounds of each event, builds in turn; p50 and mean CPU in ms, and the ratio of p50 to the first"
    );
    for (number, build) in builds.iter().enumerate() {
        println!("{:>2}  {build}, {} bytes", number + 1, std::fs::metadata(build).unwrap().len());
    }
    let homes: Vec<Home> = builds.iter().map(|_| Home::new()).collect();
    let row = |name: &str, round: &dyn Fn(&Home, &str) -> (Command, String)| {
        let mut costs: Vec<HookCost> = builds.iter().map(|_| HookCost::default()).collect();
        for _ in 0..ROUNDS {
            for ((build, home), cost) in builds.iter().zip(&homes).zip(&mut costs) {
                let (command, input) = round(home, build);
                cost.run(command, input.as_bytes());
            }
        }
        print!("{name:<18}");
        let first = costs[0].wall.quantile(0.5);
        for HookCost { wall, cpu } in &costs {
            let p50 = wall.quantile(0.5);
            print!(" {:>7.2} {:>7.2} {:>6.2}", p50 / 1e3, cpu.mean() / 1e3, p50 / first);
        }
        println!();
    };
    row("--version", &|home, build| {
        let mut command = home.command(build);
        command.arg("--version");
        (command, String::new())
    });
    for (name, event, _, more) in events() {
        row(name, &|home, build| {
            let mut command = home.command(build);
            command.args(["hook", "claude", event]);
            (command, home.payload(event, &more))
        });
    }
    true
}

pub(crate) fn run(weir: &str, peer: Option<&str>) -> bool {
    let home = Home::new();
    println!("{ROUNDS} rounds of each event, next to /bin/true; times in ms");
    println!(
        "{:<18} {:>8} {:>8} {:>8} {:>9} {:>7} {:>9} {:>9} {:>9}",
        "", "p50", "p95", "CPU", "true p50", "ratio", "peer p50", "peer CPU", "peer/ours"
    );
    let mut good = true;
    for (name, event, script, more) in events() {
        let payload = home.payload(event, &more);
        let (mut ours, mut nothing, mut theirs) = (HookCost::default(), HookCost::default(), HookCost::default());
        for _ in 0..ROUNDS {
            nothing.run(home.command("/bin/true"), b"");
            let mut command = home.command(weir);
            command.args(["hook", "claude", event]);
            ours.run(command, payload.as_bytes());
            if let Some(folder) = peer {
                let (program, folder) = folder.split_once(' ').unwrap();
                let mut command = home.command(program);
                command.arg(Path::new(folder).join(script));
                theirs.run(command, payload.as_bytes());
            }
        }
        let ms = |figures: &Figures, share: f64| figures.quantile(share) / 1e3;
        let (p50, cpu, true50) = (ms(&ours.wall, 0.5), ours.cpu.mean() / 1e3, ms(&nothing.wall, 0.5));
        let their = ms(&theirs.wall, 0.5);
        println!(
            "{name:<18} {p50:>8.2} {:>8.2} {cpu:>8.2} {true50:>9.2} {:>7.2} {their:>9.1} {:>9.1} {:>9.1}",
            ms(&ours.wall, 0.95),
            p50 / true50,
            theirs.cpu.mean() / 1e3,
            their / p50,
        );
        good &= if name == "100 KB of output" { cpu <= 20.0 } else { p50 / true50 <= 3.0 && cpu <= 5.0 };
    }
    good
}
