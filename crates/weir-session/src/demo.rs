//! `weir demo`: plays a recorded session through the hooks, and shows what the model gets without and with Weir.
//!
//! Invariants: nothing of the user's is read or written, and the folder in which the hooks work is removed in the end,
//! also if the demo is stopped; every number of tokens is counted from a text that a hook or the client gives.

mod report;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde::Deserialize;
use serde_json::{Value, json};
use weir_clients::{Client, Point, Reply, Wire};
use weir_context::cancelled;
use weir_hook::{FileState, HookContext, faults};
use weir_host::answer::Answer;
use weir_host::env::{Env, Paths};
use weir_host::error::{CommandError, ErrorKind};
use weir_host::switch::Switch;
use weir_host::when;
use weir_store::private;

pub use report::HEADINGS;

pub const DEMO: &str = "demo";

const LONG_ABOUT: &str = "\
Play a short recorded session through Weir's hooks, and show at each step what the model gets without and with Weir: a failing test run, \
a flood from an MCP server, and a compaction.

The outputs are recordings of Jest and of a GitHub MCP server, unchanged; the conversation around them was written for this example. The \
hooks are those that your clients would call. They work in a temporary folder, which is removed in the end: nothing of yours is read, \
written or sent. `weir replay` does the same for your own sessions.";

const AFTER_HELP: &str = "\
Examples:
  weir demo           the beginning of each text
  weir demo --full    each text in full
  weir demo --json    for scripts";

/// The session: the calls of OpenCode's hooks, one in each line.
const SESSION: &str = include_str!("../fixtures/demo.jsonl");
/// What stands for the folder of the session.
const FOLDER: &str = "{folder}";
const CLIENT: &str = "opencode";

pub fn command() -> Command {
    let full = Arg::new("full").long("full").action(ArgAction::SetTrue).help("Show every text in full");
    Command::new(DEMO)
        .about("Show what Weir does in a recorded session, without touching anything of yours")
        .long_about(LONG_ABOUT)
        .after_long_help(AFTER_HELP)
        .arg(full)
}

/// A call of a hook in the recording.
#[derive(Deserialize)]
struct RecordedCall {
    event: String,
    input: Value,
    output: Value,
    /// What the reader is told about it. A call without a title is played, and not shown.
    title: Option<String>,
    /// The client's own summary, if the call follows a compaction.
    summary: Option<String>,
}

struct CountedText {
    text: String,
    tokens: usize,
}

impl From<String> for CountedText {
    fn from(text: String) -> Self {
        Self { tokens: weir_tokens::count(&text), text }
    }
}

/// What the model gets at one step.
struct PlayedStep {
    title: String,
    without: CountedText,
    with: CountedText,
    /// Where the part of `with` begins that is not in `without`, if Weir added something instead of replacing it.
    added_at: Option<usize>,
}

/// Plays the session, unless `is_stopped` becomes true meanwhile.
pub fn run(env: &Env, arguments: &ArgMatches, is_stopped: &AtomicBool) -> Result<Answer, CommandError> {
    let steps = play(env, &env.temporary_folder(), is_stopped)?;
    Ok(report::answer(client()?, &steps, arguments.get_flag("full")))
}

fn play(env: &Env, temporary: &Path, is_stopped: &AtomicBool) -> Result<Vec<PlayedStep>, CommandError> {
    let cannot = |error: std::io::Error| {
        CommandError::new(ErrorKind::Failed, format!("cannot play the session in a temporary folder: {error}"))
            .hint("set TMPDIR to a folder that you own, with a few MiB of free space")
    };
    let place = tempfile::Builder::new().prefix("weir-demo-").tempdir_in(temporary).map_err(cannot)?;
    let stage = Stage::new(env, place.path()).map_err(cannot)?;
    faults::keep_in(&stage.paths);
    let mut steps = Vec::new();
    for line in SESSION.lines() {
        if is_stopped.load(Ordering::Relaxed) {
            return Err(cancelled());
        }
        let line = line.replace(FOLDER, &stage.folder_in_json());
        let call: RecordedCall =
            serde_json::from_str(&line).map_err(|error| CommandError::broken(&error.to_string()))?;
        steps.extend(stage.play(call)?);
    }
    if let Some(fault) = faults::read(&stage.paths).into_iter().flatten().next() {
        return Err(CommandError::broken(&format!("a hook failed: {fault}")));
    }
    place.close().map_err(cannot)?;
    Ok(steps)
}

fn client() -> Result<&'static Client, CommandError> {
    weir_clients::find(CLIENT).ok_or_else(|| CommandError::broken("the client of the demo is not known"))
}

/// Where the session is played.
struct Stage {
    env: Env,
    paths: Paths,
    project: PathBuf,
}

impl Stage {
    fn new(env: &Env, place: &Path) -> std::io::Result<Self> {
        let mut env = env.clone();
        (env.home, env.work, env.session, env.client_session) = (Some(place.to_owned()), None, None, None);
        let paths =
            Paths { data: place.join("data"), cache: place.join("cache"), config: place.join("config/config.toml") };
        let project = place.join("board");
        private::folder(&paths.data)?;
        private::folder(&project)?;
        Ok(Self { env, paths, project })
    }

    /// Returns the session's folder as a part of a string in JSON.
    fn folder_in_json(&self) -> String {
        let quoted = json!(self.project.to_string_lossy()).to_string();
        quoted.trim_matches('"').to_owned()
    }

    /// Calls a hook. Returns what the model gets, if the reader is to see it.
    fn play(&self, call: RecordedCall) -> Result<Option<PlayedStep>, CommandError> {
        let RecordedCall { event, input, output, title, summary } = call;
        let payload = json!({ "directory": self.project.to_string_lossy(), "input": input, "output": output });
        let reply = self.reply(&event, &payload)?;
        let Some(title) = title else { return Ok(None) };
        let without = match summary {
            Some(summary) => summary,
            None => self.shown_by_client(&event, &payload)?,
        };
        let (with, added_at) = match reply {
            Some(Reply::Output(text)) => (text, None),
            Some(Reply::Context(text)) => (format!("{without}\n\n{text}"), Some(without.len() + 2)),
            _ => (without.clone(), None),
        };
        Ok(Some(PlayedStep { title, without: without.into(), with: with.into(), added_at }))
    }

    fn reply(&self, event: &str, payload: &Value) -> Result<Option<Reply>, CommandError> {
        let (env, paths) = (&self.env, self.paths.clone());
        let (switch, files) = (Switch::default(), FileState::OfThePast);
        let at = HookContext { env, paths, switch, now: when::now(), started: Instant::now(), files };
        let answered = at.answer(client()?, event, &mut payload.to_string().as_bytes())?;
        Ok(answered.map(|(reply, _)| reply))
    }

    /// Returns what the client shows of an output if nothing replaces it.
    fn shown_by_client(&self, event: &str, payload: &Value) -> Result<String, CommandError> {
        let client = client()?;
        let output = &payload["output"];
        let text = output["content"][0]["text"].as_str().or(output["output"].as_str()).unwrap_or_default();
        let hook = (client.decode)(&Wire::new(event, payload));
        let cut = hook.and_then(|hook| match hook.point {
            Point::AfterTool(call, done) => client.cut(&call.tool, done.failed),
            _ => None,
        });
        Ok(cut.map_or_else(|| text.to_owned(), |cut| cut.shown(text).into_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn played() -> Vec<PlayedStep> {
        let env = Env::capture().unwrap();
        let temporary = tempfile::tempdir().unwrap();
        play(&env, temporary.path(), &AtomicBool::new(false)).unwrap()
    }

    #[test]
    fn outputs_get_smaller_and_a_compaction_gets_a_guide() {
        let steps = played();
        let [run, flood, compaction] = &steps[..] else { panic!("{} steps", steps.len()) };
        for step in [run, flood] {
            assert!(step.with.tokens * 2 < step.without.tokens && step.added_at.is_none(), "{}", step.with.text);
            assert!(step.with.text.contains("[ctx:"), "{}", step.with.text);
        }
        let guide = &compaction.with.text[compaction.added_at.unwrap()..];
        for part in ["5 requests per second", "never log the token", "decorateRequest", "src/server.js"] {
            assert!(guide.contains(part), "{part} is not in\n{guide}");
        }
        assert!(steps.iter().all(|step| step.with.tokens == weir_tokens::count(&step.with.text)));
    }

    #[test]
    fn the_outputs_are_those_of_the_recordings() {
        let bench = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench");
        let recorded = ["recall/development/jest-board.zst", "flood/development/github-code-fastify.zst"].map(|name| {
            let packed = std::fs::read(bench.join(name)).unwrap();
            String::from_utf8(zstd::decode_all(&packed[..]).unwrap()).unwrap()
        });
        let shown: Vec<String> = played().into_iter().map(|step| step.without.text).take(2).collect();
        assert_eq!(shown, recorded);
    }

    #[test]
    fn a_demo_that_is_stopped_leaves_nothing_behind() {
        let temporary = tempfile::tempdir().unwrap();
        let env = Env::capture().unwrap();
        let stopped = play(&env, temporary.path(), &AtomicBool::new(true)).err().unwrap();
        assert_eq!(stopped.kind, ErrorKind::Cancelled);
        play(&env, temporary.path(), &AtomicBool::new(false)).unwrap();
        assert_eq!(std::fs::read_dir(temporary.path()).unwrap().count(), 0);
    }
}
