//! Measures `ctx_context` on 200 notes, 5 sessions and 20 prompts: the size of its forms, and the CPU time of a call
//! next to one that reads a single event.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::server::Server;

const NOTES: usize = 200;
const SESSIONS: usize = 5;
const PROMPTS: usize = 4;
/// Enough for a clock that ticks a hundred times a second.
const CALLS: u32 = 2_000;
/// The most CPU time that a call may take more than the cheap one.
const MAX_MILLIS: f64 = 2.0;

/// The text of each note after its title, a little longer than what is shown of it.
const BODY: &str = "**What**: the list loaded the groups of every user with a statement of its own; it now joins them \
    once.\n**Why**: the page took four seconds with 2,000 users, and the database was at its limit of connections.\n\
    **Where**: src/users/list.rs, src/users/groups.rs, tests/users.rs\n**Learned**: the cache hid it in development, \
    since it is never empty there.";

pub(crate) fn run(weir: &str) -> bool {
    let (home, project) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let user = User { weir, home: home.path(), project: project.path() };
    let cheap = json!({ "limit": 1 });
    let forms = [("without arguments", json!({})), ("limit=8 compact=1", json!({ "limit": 8, "compact": "1" }))];
    for n in 0..NOTES {
        user.call(&["note", "-"], &format!("Fixed N+1 query in list {n} of users\n\n{BODY}"));
    }
    let mut server = Server::start(weir, home.path(), project.path());
    let notes_only = forms.each_ref().map(|(_, arguments)| server.call("ctx_context", arguments).len());
    (0..SESSIONS * PROMPTS).for_each(|number| user.ask(number));
    let base = millis(&mut server, "ctx_history", &cheap);
    println!("ctx_history with limit 1:        {base:.2} ms of CPU per call");
    let mut is_good = true;
    for ((name, arguments), alone) in forms.iter().zip(notes_only) {
        let bytes = server.call("ctx_context", arguments).len();
        let taken = millis(&mut server, "ctx_context", arguments);
        println!(
            "ctx_context, {name}: {taken:.2} ms of CPU per call, {:.2} more; {bytes} bytes, {alone} with notes alone",
            taken - base
        );
        is_good &= taken - base <= MAX_MILLIS;
    }
    server.end();
    let [full, compact] = notes_only;
    println!("notes alone: {:.1} % of the default", compact as f64 / full as f64 * 100.0);
    is_good && compact * 10 <= full
}

/// The user, who notes and asks things.
struct User<'a> {
    weir: &'a str,
    home: &'a Path,
    project: &'a Path,
}

impl User<'_> {
    fn ask(&self, number: usize) {
        let payload = json!({
            "session_id": format!("session {}", number / PROMPTS),
            "cwd": self.project,
            "hook_event_name": "UserPromptSubmit",
            "prompt": format!("Please make part {number} of the pool smaller, and say why it was so large before"),
        });
        self.call(&["hook", "claude", "UserPromptSubmit"], &payload.to_string());
    }

    fn call(&self, arguments: &[&str], input: &str) {
        let mut process = Command::new(self.weir)
            .args(arguments)
            .current_dir(self.project)
            .env("WEIR_DATA", self.home.join("data"))
            .env("HOME", self.home)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        process.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        assert!(process.wait().unwrap().success());
    }
}

/// Returns the CPU time of a call, in milliseconds.
fn millis(server: &mut Server, tool: &str, arguments: &Value) -> f64 {
    let before = server.cpu_seconds();
    for _ in 0..CALLS {
        server.call(tool, arguments);
    }
    (server.cpu_seconds() - before) * 1e3 / f64::from(CALLS)
}
