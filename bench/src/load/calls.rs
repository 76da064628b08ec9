//! The calls of a worker, each with its own mark, which is looked up at the end.

use std::io::Write as _;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{CallOutcome, KILLED_PERCENT, LoadState, STOPPED_PERCENT, WriteKind, mcp, stop_for};
use crate::text::{RandomNumbers, word};

/// The time after which a hook ends without an answer, whatever it was doing.
const HOOK_DEADLINE: Duration = Duration::from_secs(3);

/// Makes calls until the benchmark is over.
pub(super) fn work(state: &LoadState, worker: usize) {
    let mut numbers = RandomNumbers::new(worker as u64 + 1_000);
    let mut count = 0;
    while !state.is_over() {
        count += 1;
        let mark = format!("storm{worker}x{count:07}x");
        match numbers.next() % 100 {
            0..38 => hook_file(state, &mark, &mut numbers),
            38..50 => hook_output(state, &mark, &mut numbers),
            50..64 => hook_prompt(state, &mark, &mut numbers),
            64..67 => hook_compact(state, &mark, &mut numbers),
            67..77 => note(state, &mark, &mut numbers),
            77..84 => search(state, &mut numbers),
            84..88 => get(state, &mut numbers),
            88..93 => run(state, &mark, &mut numbers),
            _ => mcp::session(state, &mark, &mut numbers),
        }
    }
}

/// Returns the text of an output: 28 KB that compress badly, so that half of them are in separate files.
pub(super) fn output_of(mark: &str) -> String {
    let seed = mark.bytes().fold(7, |seed: u64, byte| seed.wrapping_mul(31).wrapping_add(u64::from(byte)));
    let mut numbers = RandomNumbers::new(seed);
    let spread = if numbers.next().is_multiple_of(2) { 200 } else { 20_000 };
    let mut text = format!("{mark}\n");
    while text.len() < 28_000 {
        text.push_str(&word(numbers.next() % spread));
        text.push(if numbers.next().is_multiple_of(9) { '\n' } else { ' ' });
    }
    text
}

pub(super) fn note_of(mark: &str) -> String {
    format!("{mark} is a thing that somebody has found out about the {} of this project", word(mark.len() as u64))
}

/// Calls the program, and occasionally kills it or stops it for a while.
fn call(state: &LoadState, arguments: &[&str], input: &[u8], numbers: &mut RandomNumbers) -> CallOutcome {
    let (fate, moment) = (numbers.next() % 100, Duration::from_millis(numbers.next() % 120));
    let pause = Duration::from_millis(200 + numbers.next() % 2_500);
    let started = Instant::now();
    let was_full = state.disk.is_full();
    let mut command = state.command(arguments);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A killed process does not read to the end.
    let _ = child.stdin.take().unwrap().write_all(input);
    let (mut killed, mut stopped) = (false, false);
    if fate < KILLED_PERCENT {
        std::thread::sleep(moment);
        killed = child.try_wait().unwrap().is_none();
        child.kill().unwrap();
    } else if fate < KILLED_PERCENT + STOPPED_PERCENT {
        std::thread::sleep(moment);
        stopped = child.try_wait().unwrap().is_none() && stop_for(child.id(), pause);
    }
    let output = child.wait_with_output().unwrap();
    let full = was_full || state.disk.was_full_since(started);
    CallOutcome { output: (!killed).then_some(output), stopped, full, took: started.elapsed() }
}

fn hook(state: &LoadState, event: &str, more: Value, numbers: &mut RandomNumbers) -> (CallOutcome, Value) {
    // The session changes over time, because a session with very many events drops the least important ones.
    let session = format!("load{}", state.begun.elapsed().as_secs() / 60);
    let mut payload = json!({
        "session_id": session, "cwd": state.project, "hook_event_name": event, "permission_mode": "default",
        "transcript_path": state.home.join(".claude/projects/p/load.jsonl"),
    });
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let outcome = call(state, &["hook", "claude", event], payload.to_string().as_bytes(), numbers);
    let answer = outcome.output.as_ref().map_or(Value::Null, |output| {
        if !output.status.success() || !output.stderr.is_empty() {
            state.wrong(format!("{event}: {}: {}", output.status, String::from_utf8_lossy(&output.stderr)));
        }
        serde_json::from_slice(&output.stdout).unwrap_or(Value::Null)
    });
    (outcome, answer)
}

/// A hook cannot say that it failed. It has kept what it was told, unless it was killed, the disk was full, or it ran
/// into its deadline, which `hook-faults.log` says.
fn was_kept(outcome: &CallOutcome) -> bool {
    outcome.output.is_some() && !outcome.full && outcome.took < HOOK_DEADLINE
}

fn hook_file(state: &LoadState, mark: &str, numbers: &mut RandomNumbers) {
    let path = state.project.join(format!("src/{mark}.rs"));
    let more = json!({
        "tool_name": "Write", "tool_use_id": mark, "tool_input": { "file_path": path, "content": "fn main() {}" },
        "tool_response": { "type": "create", "filePath": path, "content": "fn main() {}" },
    });
    let (outcome, _) = hook(state, "PostToolUse", more, numbers);
    state.remember(mark, WriteKind::File, was_kept(&outcome));
    state.count("hook small", &outcome, true);
}

fn hook_output(state: &LoadState, mark: &str, numbers: &mut RandomNumbers) {
    let more = json!({
        "tool_name": "Bash", "tool_use_id": mark, "duration_ms": 27, "tool_input": { "command": format!("./{mark}") },
        "tool_response": { "stdout": output_of(mark), "stderr": "", "interrupted": false, "isImage": false },
    });
    let (outcome, answer) = hook(state, "PostToolUse", more, numbers);
    let shown = answer["hookSpecificOutput"]["updatedToolOutput"]["stdout"].as_str().unwrap_or_default();
    if let Some(reference) = reference(shown) {
        state.observations.lock().unwrap().references.push((reference, mark.to_owned()));
    }
    // A replaced output promises that the original is stored, whatever the state of the disk.
    state.remember(mark, WriteKind::Output, !shown.is_empty() || was_kept(&outcome));
    state.count("hook 28 KB", &outcome, true);
}

fn hook_prompt(state: &LoadState, mark: &str, numbers: &mut RandomNumbers) {
    let more = json!({ "prompt": format!("Look at {mark} once more") });
    let (outcome, _) = hook(state, "UserPromptSubmit", more, numbers);
    state.remember(mark, WriteKind::Prompt, was_kept(&outcome));
    state.count("hook prompt", &outcome, true);
}

fn hook_compact(state: &LoadState, mark: &str, numbers: &mut RandomNumbers) {
    let (event, more, name) = match numbers.next().is_multiple_of(2) {
        true => ("PreCompact", json!({ "trigger": "manual", "custom_instructions": mark }), "hook PreCompact"),
        false => ("SessionStart", json!({ "source": "compact" }), "hook SessionStart"),
    };
    let (outcome, _) = hook(state, event, more, numbers);
    state.count(name, &outcome, true);
}

fn note(state: &LoadState, mark: &str, numbers: &mut RandomNumbers) {
    let outcome = call(state, &["note", &note_of(mark)], b"", numbers);
    let good = outcome.output.as_ref().is_some_and(|output| output.status.success());
    if let Some(reference) = outcome.output.as_ref().filter(|_| good).and_then(|output| reference(&said(output))) {
        state.observations.lock().unwrap().references.push((reference, mark.to_owned()));
    }
    state.remember(mark, WriteKind::Note, good);
    state.count("note", &outcome, good);
}

fn search(state: &LoadState, numbers: &mut RandomNumbers) {
    let Some((_, mark)) = some_reference(state, numbers) else { return };
    let outcome = call(state, &["search", &mark], b"", numbers);
    let good = outcome.output.as_ref().is_some_and(|output| matches!(output.status.code(), Some(0 | 3)));
    state.count("search", &outcome, good);
}

fn get(state: &LoadState, numbers: &mut RandomNumbers) {
    let Some((reference, mark)) = some_reference(state, numbers) else { return };
    let outcome = call(state, &["get", &reference, "--raw"], b"", numbers);
    let good = outcome.output.as_ref().is_some_and(|output| matches!(output.status.code(), Some(0 | 3)));
    if let Some(output) = outcome.output.as_ref().filter(|output| output.status.success()) {
        let text = said(output);
        if text != expected(state, &mark) {
            state.wrong(format!("{reference} of {mark} reads {} bytes of something else", text.len()));
        }
    }
    state.count("get", &outcome, good);
}

fn run(state: &LoadState, mark: &str, numbers: &mut RandomNumbers) {
    let outcome = call(state, &["run", "--json", &format!("echo {mark}; exit 3")], b"", numbers);
    let (mut good, mut kept) = (false, false);
    if let Some(output) = &outcome.output {
        let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
        // Whether or not it could be stored, its output is shown, with the exit code of the run. Only a run that never
        // started says nothing.
        good = output.status.code() == Some(3) && answer["text"].as_str().is_some_and(|text| text.trim() == mark);
        kept = answer["reference"].is_string();
        if !good && !String::from_utf8_lossy(&output.stderr).contains("error:") {
            state.wrong(format!("run {mark}: {}: {}", output.status, said(output)));
        }
    }
    state.remember(mark, WriteKind::Run, kept);
    state.count("run", &outcome, good);
}

pub(super) fn expected(state: &LoadState, mark: &str) -> String {
    match state.observations.lock().unwrap().calls.get(mark).map(|call| call.kind) {
        Some(WriteKind::Output) => output_of(mark),
        Some(WriteKind::Run) => format!("{mark}\n"),
        _ => note_of(mark),
    }
}

fn some_reference(state: &LoadState, numbers: &mut RandomNumbers) -> Option<(String, String)> {
    let observations = state.observations.lock().unwrap();
    let at = numbers.next() as usize % observations.references.len().max(1);
    observations.references.get(at).filter(|(_, mark)| observations.calls.contains_key(mark)).cloned()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(super) fn reference(text: &str) -> Option<String> {
    let at = text.find("[ctx:")? + "[ctx:".len();
    Some(text[at..].split(']').next()?.to_owned())
}
