//! Plays recorded runs with MCP servers through the hooks of Claude Code, next to both ends of each result.
//!
//! A run is a JSON file: a list of messages in the form of OpenAI's APIs, or an object with that list in `messages`.
//! Prices are relative (input 1, written to a cache 1.25, read from it 0.1, output 5), with 15,000 tokens before the
//! first message, and a token is 3.6 characters. A result that hides something used later is assumed to be asked for
//! again, which costs a request and 2,000 tokens.

use std::collections::HashSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

const WRITTEN: f64 = 1.25;
const READ: f64 = 0.1;
const OUTPUT: f64 = 5.0;
const PREFIX_TOKENS: f64 = 15_000.0;
const ASKED_AGAIN_TOKENS: f64 = 2_000.0;
const CALL_TOKENS: f64 = 150.0;
const CHARS_PER_TOKEN: f64 = 3.6;
/// Claude Code writes a longer result to a file, in tokens.
const MAX_CLIENT_TOKENS: f64 = 25_000.0;
/// Hooks leave shorter results alone, in bytes.
const MIN_BYTES: usize = 1_000;

#[derive(PartialEq)]
enum StepKind {
    User,
    Said,
    Result { tool: String, given: Value },
}

struct Step {
    kind: StepKind,
    text: String,
    /// The number of the request, from 0.
    request: usize,
}

#[derive(Default)]
struct Sums {
    runs: usize,
    results: usize,
    touched: usize,
    before: f64,
    after: f64,
    used: usize,
    visible: usize,
    ends: usize,
    client: usize,
    losses: usize,
    saved: f64,
    again: f64,
    cost: f64,
}

/// Plays every run below some folders, and prints one row for each folder.
pub(crate) fn run(weir: &str, folders: &[&str]) -> bool {
    println!(
        "| runs | number | results | touched | tokens less | used later | visible | both ends | client's cut | \
         with a loss | saved | asked again | net |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for folder in folders {
        let mut sums = Sums::default();
        let mut paths = Vec::new();
        find(Path::new(folder), &mut paths);
        paths.sort();
        for path in paths {
            if let Some(steps) = std::fs::read(&path).ok().and_then(|bytes| steps(&path, &bytes)) {
                play(weir, &steps, &mut sums);
            }
        }
        row(folder, &sums);
    }
    true
}

fn find(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_run = path.extension().is_some_and(|extension| extension == "json") && !path.ends_with("meta.json");
        if path.is_dir() {
            find(&path, paths);
        } else if is_run {
            paths.push(path);
        }
    }
}

fn row(name: &str, sums: &Sums) {
    let share = |part: f64, whole: f64| format!("{:.1} %", 100.0 * part / whole.max(1.0));
    let of_used = |count: usize| share(count as f64, sums.used as f64);
    let name = Path::new(name).file_name().map_or(name.into(), |name| name.to_string_lossy());
    println!(
        "| {name} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
        sums.runs,
        sums.results,
        sums.touched,
        share(sums.before - sums.after, sums.before),
        sums.used,
        of_used(sums.visible),
        of_used(sums.ends),
        of_used(sums.client),
        sums.losses,
        share(sums.saved, sums.cost),
        share(sums.again, sums.cost),
        share(sums.saved - sums.again, sums.cost),
    );
}

fn tokens(text: &str) -> f64 {
    text.chars().count() as f64 / CHARS_PER_TOKEN
}

/// Returns the steps of a run, or `None` if the file is not one.
fn steps(path: &Path, bytes: &[u8]) -> Option<Vec<Step>> {
    let document: Value = serde_json::from_slice(bytes).ok()?;
    let messages = document.as_array().or(document["messages"].as_array())?;
    let server = path.ancestors().nth(4).and_then(|folder| folder.file_name()).unwrap_or_default();
    let mut calls: Vec<(String, String, String)> = Vec::new();
    let (mut steps, mut requests, mut is_said) = (Vec::new(), 0_usize, false);
    for message in messages {
        let (role, sort) = (message["role"].as_str().unwrap_or_default(), message["type"].as_str().unwrap_or_default());
        let result = message.get("output").or(message.get("content")).map(text).unwrap_or_default();
        if role == "user" {
            steps.push(Step { kind: StepKind::User, text: result, request: requests.saturating_sub(1) });
            is_said = false;
        } else if role == "tool" || sort == "function_call_output" {
            let id = message["call_id"].as_str().or(message["tool_call_id"].as_str()).unwrap_or_default();
            let call = calls.iter().rev().find(|call| call.0 == id);
            let (name, given) = call.map_or(("unknown", "{}"), |call| (&call.1, &call.2));
            let tool = match name.split_once('-') {
                Some((server, tool)) if document.is_object() => format!("mcp__{server}__{tool}"),
                _ => format!("mcp__{}__{name}", server.to_string_lossy()),
            };
            let given = serde_json::from_str(given).ok().filter(Value::is_object).unwrap_or(json!({}));
            steps.push(Step {
                kind: StepKind::Result { tool, given },
                text: unwrapped(result),
                request: requests.saturating_sub(1),
            });
            is_said = false;
        } else {
            requests += usize::from(!is_said);
            is_said = true;
            let mut said = |text: String| steps.push(Step { kind: StepKind::Said, text, request: requests - 1 });
            if !result.is_empty() {
                said(result);
            }
            let own = (sort == "function_call").then_some(message).into_iter();
            for call in own.chain(message["tool_calls"].as_array().into_iter().flatten()) {
                let function = call.get("function").unwrap_or(call);
                let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
                let id = call.get("call_id").or(call.get("id")).map(word).unwrap_or_default();
                calls.push((id, word(&function["name"]), word(&function["arguments"])));
                said(word(&function["arguments"]));
            }
        }
    }
    steps.iter().any(|step| matches!(step.kind, StepKind::Result { .. })).then_some(steps)
}

fn text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => blocks.iter().filter_map(|block| block["text"].as_str()).collect(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// Takes the text of a result out of the envelopes in which it was recorded.
fn unwrapped(mut text: String) -> String {
    for _ in 0..3 {
        let Ok(document) = serde_json::from_str::<Value>(&text) else { return text };
        let blocks = document["content"].as_array().or(document.as_array());
        let of = |block: &Value| (block["type"] == "text").then(|| block["text"].as_str()).flatten().map(str::to_owned);
        let inner: Option<Vec<String>> = match blocks {
            Some(blocks) if !blocks.is_empty() => blocks.iter().map(of).collect(),
            _ => of(&document).map(|text| vec![text]),
        };
        match inner {
            Some(inner) => text = inner.join("\n"),
            None => return text,
        }
    }
    text
}

fn names(text: &str) -> HashSet<String> {
    let mut found = HashSet::new();
    weir_core::names::each(&without_escapes(text), |name, _| {
        found.insert(name.trim_start_matches('.').to_owned());
    });
    found
}

/// Returns a text with the characters for which JSON has escapes in place of those: an escape is no name.
fn without_escapes(text: &str) -> String {
    let mut parts = text.split("\\u");
    let mut clean = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let code = part.get(..4).and_then(|code| u32::from_str_radix(code, 16).ok());
        clean.push(code.and_then(char::from_u32).unwrap_or(' '));
        clean.push_str(if code.is_some() { &part[4..] } else { part });
    }
    clean
}

/// Returns the names that a result brought in and that the model then used, before it could have them from elsewhere.
fn used_later(steps: &[Step], at: usize, known: &HashSet<String>) -> HashSet<String> {
    let new: HashSet<String> = names(&steps[at].text).difference(known).cloned().collect();
    let (mut used, mut elsewhere) = (HashSet::new(), HashSet::new());
    for step in &steps[at + 1..] {
        let found = names(&step.text);
        match step.kind {
            StepKind::Said => {
                used.extend(found.into_iter().filter(|name| new.contains(name) && !elsewhere.contains(name)));
            }
            _ => elsewhere.extend(found),
        }
    }
    used
}

fn play(weir: &str, steps: &[Step], sums: &mut Sums) {
    let home = tempfile::tempdir().unwrap();
    let project = home.path().join("project");
    std::fs::create_dir_all(project.join(".git")).unwrap();
    let requests = steps.last().map_or(0, |step| step.request + 1);
    let windows = price(steps, requests, sums);
    let mut known: HashSet<String> = HashSet::new();
    sums.runs += 1;
    for (at, step) in steps.iter().enumerate() {
        if let StepKind::Result { tool, given } = &step.kind {
            sums.results += 1;
            let shown =
                (step.text.len() > MIN_BYTES).then(|| hook(weir, (home.path(), &project), (tool, given), &step.text));
            if let Some(shown) = shown.flatten().filter(|shown| *shown != step.text) {
                let used = used_later(steps, at, &known);
                touch(&step.text, &shown, &used, sums);
                let weight = WRITTEN + READ * requests.saturating_sub(step.request + 2) as f64;
                sums.saved += (tokens(&step.text) - tokens(&shown)) * weight;
                if !used.is_subset(&names(&shown)) {
                    sums.losses += 1;
                    let window = windows.get(step.request).copied().unwrap_or(PREFIX_TOKENS);
                    sums.again += window * READ + CALL_TOKENS * OUTPUT + ASKED_AGAIN_TOKENS * weight;
                }
            }
        }
        known.extend(names(&step.text));
    }
}

fn touch(text: &str, shown: &str, used: &HashSet<String>, sums: &mut Sums) {
    let seen = |text: &str| names(text).intersection(used).count();
    sums.touched += 1;
    sums.before += tokens(text);
    sums.after += tokens(shown);
    sums.used += used.len();
    sums.visible += seen(shown);
    let half = shown.len() / 2;
    let (head, tail) = (text.floor_char_boundary(half), text.ceil_char_boundary(text.len().saturating_sub(half)));
    sums.ends += seen(&format!("{}\n{}", &text[..head], &text[tail.max(head)..]));
    sums.client += if tokens(text) <= MAX_CLIENT_TOKENS { used.len() } else { 0 };
}

/// Adds the price of a run without Weir, and returns its window at each request.
fn price(steps: &[Step], requests: usize, sums: &mut Sums) -> Vec<f64> {
    let (mut new, mut said) = (vec![0.0; requests + 1], vec![0.0; requests + 1]);
    for (at, step) in steps.iter().enumerate() {
        let is_first = step.kind == StepKind::User && !steps[..at].iter().any(|step| step.kind == StepKind::Said);
        match step.kind {
            StepKind::Said => said[step.request] += tokens(&step.text),
            _ => new[if is_first { 0 } else { step.request + 1 }] += tokens(&step.text),
        }
    }
    let mut window = PREFIX_TOKENS;
    sums.cost += PREFIX_TOKENS * WRITTEN;
    let each = (0..requests).map(|request| {
        let read = if request == 0 { 0.0 } else { window * READ };
        sums.cost += read + new[request] * WRITTEN + said[request] * OUTPUT;
        window += new[request] + said[request];
        window
    });
    each.collect()
}

/// Returns what the hook shows in place of a result, if anything.
fn hook(weir: &str, (home, project): (&Path, &Path), (tool, given): (&str, &Value), text: &str) -> Option<String> {
    let payload = json!({
        "session_id": "s", "transcript_path": home.join("none.jsonl"), "cwd": project, "hook_event_name": "PostToolUse",
        "permission_mode": "default", "tool_name": tool, "tool_input": given, "tool_use_id": "x",
        "tool_response": [{"type": "text", "text": text}],
    });
    let mut command = Command::new(weir);
    command.args(["hook", "claude", "PostToolUse"]).env("HOME", home).current_dir(project);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).ok()?;
    let specific = &answer["hookSpecificOutput"];
    specific.get("updatedMCPToolOutput").or(specific.get("updatedToolOutput")).map(self::text)
}
