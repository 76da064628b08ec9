//! One act with one failing call, and the judgement of what it left behind.
#![expect(clippy::disallowed_methods, reason = "the tests start the program")]

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use rustix::io::Errno;
use serde_json::{Value, json};
use weir_core::{Event, EventKind, Limits, Priority, ProjectKey, Scope, SessionKey, Timestamp};
use weir_store::{Owner, Spool, SpoolRecord};

use super::acts::{Act, How};
use super::state::State;
use crate::support::{Home, WEIR, feed, said, text, write};

/// The kinds of system calls, and the errors that the kernel may give for them.
pub(super) const ERRORS: &[(&str, &[(&str, i32)])] = &[
    ("open", &[EMFILE, EACCES, EIO, ENOMEM, EINTR]),
    ("read", &[EIO, EINTR]),
    ("write", &[ENOSPC, EIO]),
    ("sync", &[EIO, ENOSPC]),
    ("rename", &[EIO, EACCES, ENOSPC]),
    ("unlink", &[EIO, EACCES]),
    ("stat", &[EIO, EACCES, ENOMEM]),
    ("mkdir", &[ENOSPC, EACCES]),
    ("link", &[EIO, EACCES]),
    ("truncate", &[EIO, ENOSPC]),
    ("lock", &[ENOLCK, EIO]),
    ("list", &[EIO]),
    ("map", &[ENOMEM]),
    ("mode", &[EPERM]),
    ("random", &[EINTR]),
];

const EMFILE: (&str, i32) = ("EMFILE", Errno::MFILE.raw_os_error());
const EACCES: (&str, i32) = ("EACCES", Errno::ACCESS.raw_os_error());
const EIO: (&str, i32) = ("EIO", Errno::IO.raw_os_error());
const ENOMEM: (&str, i32) = ("ENOMEM", Errno::NOMEM.raw_os_error());
const ENOSPC: (&str, i32) = ("ENOSPC", Errno::NOSPC.raw_os_error());
const EINTR: (&str, i32) = ("EINTR", Errno::INTR.raw_os_error());
const ENOLCK: (&str, i32) = ("ENOLCK", Errno::NOLCK.raw_os_error());
const EPERM: (&str, i32) = ("EPERM", Errno::PERM.raw_os_error());

/// What an answer says if it is not complete.
const REMARKS: &[&str] = &["cannot ", "without the user's notes", "not finished", "by title only", "unreadable", "✗"];

/// One failing call in one act.
pub(super) struct Trial<'a> {
    pub(super) act: &'a Act,
    pub(super) kind: String,
    pub(super) nth: usize,
    pub(super) error: (&'a str, i32),
}

impl fmt::Display for Trial<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} {} {}", self.act.name, self.kind, self.nth, self.error.0)
    }
}

pub(super) enum Verdict {
    Done,
    /// It ended with an error that it reported, and the store is as before or as after.
    Refused,
    Broken(String),
}

/// A home with a store, and a copy of it that every trial begins with.
pub(super) struct Bench {
    home: Home,
    template: PathBuf,
    injector: PathBuf,
    /// What arguments and payloads refer to by name.
    names: BTreeMap<String, String>,
    /// The states of both stores before any act.
    before: [State; 2],
    /// Those after each act without a failure.
    after: BTreeMap<&'static str, OnceLock<[State; 2]>>,
}

/// What a supervised program did.
struct Ran {
    output: Output,
    report: String,
}

impl Bench {
    pub(super) fn new() -> Self {
        let home = Home::outside_tmp();
        let mut names = furnish(&home);
        names.insert("home".to_owned(), home.path().display().to_string());
        let template = home.path().with_extension("template");
        let injector = injector(home.path());
        let after = super::ACTS.iter().map(|act| (act.name, OnceLock::new())).collect();
        let mut bench = Self { home, template, injector, names, before: Default::default(), after };
        copy(bench.home.path(), &bench.template);
        bench.before = bench.states().unwrap_or_else(|why| panic!("before any act: {why}"));
        bench
    }

    /// Runs an act without a failure, and returns how many calls of each kind it makes.
    pub(super) fn count(&self, act: &Act) -> Vec<(String, usize)> {
        self.reset();
        let ran = self.perform(act, "all", 0, 0);
        let (_, code) = ran.report.trim_end().rsplit_once(' ').unwrap();
        assert!(["0", "3"].contains(&code), "{} fails by itself: {}\n{}", act.name, ran.report, said(&ran.output));
        let states = self.states().unwrap_or_else(|why| panic!("after {}: {why}", act.name));
        let _ = self.after[act.name].set(states);
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for line in ran.report.lines().filter_map(|line| line.strip_prefix("count ")) {
            let (kind, count) = line.split_once(' ').unwrap();
            *counts.entry(kind.to_owned()).or_default() += count.parse::<usize>().unwrap();
        }
        assert!(counts.values().sum::<usize>() > 10, "{} makes no calls: {}", act.name, ran.report);
        counts.into_iter().collect()
    }

    pub(super) fn run(&self, trial: &Trial<'_>) -> Verdict {
        self.reset();
        let ran = self.perform(trial.act, &trial.kind, trial.nth, trial.error.1);
        let has_fault = self.home.data().join("hook-faults.log").exists();
        let end = ran.report.lines().last().unwrap_or_default().to_owned();
        let code: Option<i32> = end.strip_prefix("exit ").and_then(|code| code.parse().ok());
        if let Some(problem) = misbehaved(trial.act, &ran, code) {
            return Verdict::Broken(format!("{problem}\n    {}", said(&ran.output).replace('\n', "\n    ")));
        }
        let states = match self.states() {
            Ok(states) => states,
            Err(why) => return Verdict::Broken(format!("{end}: {why}")),
        };
        // An output that the client shows as it is was not taken over, and a run ends with its own code, stored or not.
        let out = text(&ran.output.stdout);
        let is_lost = said(&ran.output).contains("its output was not stored");
        // A server whose input has ended may end before it answers.
        let is_answered = trial.act.name != "mcp" || out.contains(r#""id":2,"#);
        let is_acknowledged = match trial.act.is_hook() {
            true => !has_fault && (!trial.act.holds() || out.contains("[ctx:")),
            false => code == Some(0) && !out.contains(r#""isError":true"#) && !is_lost && is_answered,
        };
        match self.judge(trial, &states, is_acknowledged) {
            Some(why) => Verdict::Broken(format!("{end}: {why}\n    {}", said(&ran.output).replace('\n', "\n    "))),
            None if is_acknowledged => Verdict::Done,
            None => Verdict::Refused,
        }
    }

    fn judge(&self, trial: &Trial<'_>, states: &[State; 2], is_acknowledged: bool) -> Option<String> {
        let Some(after) = self.after[trial.act.name].get() else { return Some("it was not counted first".to_owned()) };
        for (at, state) in states.iter().enumerate() {
            let (before, after) = (&self.before[at], &after[at]);
            let low = if is_acknowledged { after } else { before };
            let mut outside = state.outside_of(low, after);
            // A run that could not begin is kept as it ended.
            outside.retain(|line| is_acknowledged || trial.act.name != "run" || !line.contains(" × entry run echo "));
            if !outside.is_empty() {
                return Some(format!("the store differs: {}", outside.join("; ")));
            }
            // What a search finds follows from the content, as far as a state is one of the two.
            for known in [before, after] {
                if known.content == state.content && known.found != state.found {
                    return Some(format!("a search differs: {:?}, not {:?}", state.found, known.found));
                }
            }
        }
        let folders = std::fs::read_dir(self.home.data().join("projects")).into_iter().flatten().flatten();
        let names: Vec<String> = folders.map(|folder| folder.file_name().to_string_lossy().into_owned()).collect();
        let stores = names.iter().filter(|name| !name.contains(".replaced-") && !name.starts_with(".making-")).count();
        (stores > 1).then(|| format!("there is another store: {names:?}"))
    }

    fn states(&self) -> Result<[State; 2], String> {
        let owner = Owner::Project(self.key());
        Ok([State::read(&self.store(), &owner)?, State::read(&self.home.data().join("user"), &Owner::User)?])
    }

    fn key(&self) -> ProjectKey {
        key_of(&self.home)
    }

    fn store(&self) -> PathBuf {
        PathBuf::from(&self.names["store"])
    }

    /// Puts everything back as it was before any act.
    fn reset(&self) {
        empty(self.home.path());
        copy(&self.template, self.home.path());
    }

    fn perform(&self, act: &Act, kind: &str, nth: usize, error: i32) -> Ran {
        let report = self.home.path().with_extension("report");
        let _ = std::fs::remove_file(&report);
        let (arguments, input) = match act.how {
            How::Command(arguments) => (self.filled(arguments), String::new()),
            How::Fed(arguments, input) => (self.filled(arguments), self.fill(input)),
            How::Hook(event, payload) => {
                let mut all = json!({
                    "session_id": "s1", "cwd": self.home.project(), "hook_event_name": event,
                    "transcript_path": self.home.at("none.jsonl"),
                });
                let payload: Value = serde_json::from_str(&self.fill(payload)).unwrap();
                all.as_object_mut().unwrap().extend(payload.as_object().unwrap().clone());
                (["hook", "claude", event].map(str::to_owned).to_vec(), all.to_string())
            }
        };
        let supervised = [report.display().to_string(), kind.to_owned(), nth.to_string(), error.to_string()];
        let supervised: Vec<&str> = supervised.iter().map(String::as_str).chain([WEIR]).collect();
        let arguments: Vec<&str> = supervised.into_iter().chain(arguments.iter().map(String::as_str)).collect();
        let output = feed(self.home.command(&self.injector, &arguments), input.as_bytes());
        let report = std::fs::read_to_string(&report)
            .unwrap_or_else(|_| panic!("{}: the calls cannot be supervised here: {}", act.name, said(&output)));
        Ran { output, report }
    }

    fn filled(&self, arguments: &[&str]) -> Vec<String> {
        arguments.iter().map(|argument| self.fill(argument)).collect()
    }

    fn fill(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (name, value) in &self.names {
            text = text.replace(&format!("{{{name}}}"), value);
        }
        text
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.template);
        for extension in ["report", "inject"] {
            let _ = std::fs::remove_file(self.home.path().with_extension(extension));
        }
    }
}

/// Returns what a program did that it must never do, whatever fails.
fn misbehaved(act: &Act, ran: &Ran, code: Option<i32>) -> Option<String> {
    let (out, all) = (text(&ran.output.stdout), said(&ran.output));
    if act.is_hook() {
        let is_answer = out.is_empty() || serde_json::from_str::<Value>(&out).is_ok();
        return (code != Some(0) || !ran.output.stderr.is_empty() || !is_answer)
            .then(|| format!("a hook ended with {}", ran.report.trim_end()));
    }
    let is_known = code.is_some_and(|code| matches!(code, 0..=7 | 125 | 126 | 130));
    if !is_known || all.contains("panicked") {
        return Some(format!("it ended with {}", ran.report.lines().last().unwrap_or_default()));
    }
    // An answer, even that there is none, is true or says what it leaves out.
    let claims = matches!(code, Some(0 | 3)) && !out.is_empty();
    let is_true = act.says.is_empty() || out.contains(act.says) || REMARKS.iter().any(|remark| all.contains(remark));
    (claims && !is_true).then(|| "it gives a false answer".to_owned())
}

/// Fills a home with a repository and stores that have everything: notes, outputs in files, of which one is not indexed
/// yet, a file, events, a record in the spool, a note of the user, and a backup. Returns the names of things.
fn furnish(home: &Home) -> BTreeMap<String, String> {
    let words = |word: &str| {
        let others: String =
            (0..6_000_u32).map(|n| format!(" {}", &blake3::hash(&n.to_le_bytes()).to_hex()[..8])).collect();
        format!("the {word} flies{others}")
    };
    home.git(&["init", "-q"]);
    home.write("docs/guide.md", "# Guide\n\nThe lighthouse is white.\n");
    home.git(&["add", "."]);
    home.git(&["commit", "-q", "-m", "one"]);
    let port = home.note(&["Port 7071 is for tests", "--topic", "ports"]);
    home.note(&["The wide screen is mine", "--scope", "user"]);
    home.hook("s1", "UserPromptSubmit", &json!({ "prompt": "Look into the tide" }));
    let kept = |command: &str, output: &str| {
        let done = json!({ "stdout": output, "stderr": "" });
        let told = json!({ "tool_name": "Bash", "tool_input": { "command": command }, "tool_response": done });
        let answer = home.hook("s1", "PostToolUse", &told).to_string();
        let start = answer.find("[ctx:").unwrap_or_else(|| panic!("it is not held: {answer}")) + 5;
        answer[start..start + 10].to_owned()
    };
    let birds = kept("birds", &words("albatross"));
    home.ok(&["search", "albatross"]);
    kept("other birds", &words("penguin"));
    write(&home.project().join("docs/tables.md"), "# Tables\n\nThe tide comes at noon.\n");
    home.ok(&["backup", home.at("old.weir").to_str().unwrap()]);
    let store = std::fs::read_dir(home.data().join("projects")).unwrap().next().unwrap().unwrap().path();
    spool(home, &store);
    // A dry run takes in the spool, and every act is to begin with a full one.
    let aside = home.path().with_extension("aside");
    copy(home.path(), &aside);
    let confirm = |arguments: &[&str]| home.json(arguments)["confirm"].as_str().unwrap().to_owned();
    let (confirm_port, confirm_all) = (confirm(&["forget", &port]), confirm(&["forget", "--project"]));
    empty(home.path());
    copy(&aside, home.path());
    std::fs::remove_dir_all(&aside).unwrap();
    [
        ("port", port),
        ("birds", birds),
        ("birds text", words("albatross")),
        ("large", words("cormorant")),
        ("confirm port", confirm_port),
        ("confirm all", confirm_all),
        ("store", store.display().to_string()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .into()
}

fn key_of(home: &Home) -> ProjectKey {
    ProjectKey(format!("git:{}", home.project().join(".git").display()))
}

/// Leaves what a hook could not write in the spool.
fn spool(home: &Home, store: &Path) {
    let event = Event {
        kind: EventKind::Prompt,
        priority: Priority::P1,
        text: "a prompt that waits".into(),
        data: None,
        whole: None,
    };
    let told = SpoolRecord { told: vec![event], ..SpoolRecord::default() };
    let session = SessionKey { client: "claude-code".into(), key: "s1".into() };
    let scope = Scope { session: Some(session), ..Scope::project(key_of(home)) };
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let now = Timestamp(i64::try_from(now.as_millis()).unwrap());
    Spool::beside(store).put(&scope, &told, &Limits::default(), now).unwrap();
}

/// Compiles the program that fails calls.
fn injector(home: &Path) -> PathBuf {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/injected/inject.c");
    let program = home.with_extension("inject");
    let compiled = Command::new("cc").args(["-O1", "-o"]).arg(&program).arg(source).output().unwrap();
    assert!(compiled.status.success(), "{}", said(&compiled));
    program
}

fn empty(folder: &Path) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() { std::fs::remove_dir_all(path).unwrap() } else { std::fs::remove_file(path).unwrap() }
    }
}

fn copy(from: &Path, to: &Path) {
    let status = Command::new("cp").arg("-a").arg(from.join(".")).arg(to).status().unwrap();
    assert!(status.success(), "{} cannot be copied", from.display());
}
