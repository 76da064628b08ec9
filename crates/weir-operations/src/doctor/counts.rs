//! How many tokens the tools of MCP servers are described in. What was counted is kept in the cache, so that a server
//! is not started each time, and a page can show it.
//!
//! Invariant: of an entry's arguments and variables only a hash is kept, and no value of a variable is in it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use weir_context::Context;
use weir_core::Timestamp;
use weir_core::wording::one_line;
use weir_host::foreign::{self, MAX_SETTINGS_BYTES};
use weir_host::{user_files, when};
use weir_session::prefix::{CountedTool, Starts};
use weir_setup::servers::Launch;

use super::servers::{DistinctServer, MAX_ANSWER_TIME, tools};

/// The file in the cache.
const FILE: &str = "mcp-tools.json";
/// How many servers are started at the same time.
const MAX_AT_ONCE: usize = 4;
/// What a model is told of a tool.
const TOLD: [&str; 3] = ["name", "description", "inputSchema"];

/// What was counted of each server, by [`key_of`] its entry.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Kept(BTreeMap<String, KeptCount>);

#[derive(Debug, Clone, Serialize, Deserialize)]
struct KeptCount {
    /// When it was counted, in milliseconds.
    at: i64,
    tools: Vec<CountedTool>,
}

pub(super) struct ServerCount<'a, 'b> {
    pub(super) server: &'b DistinctServer<'a>,
    /// Its tools, or why they are not known.
    pub(super) tools: Result<Vec<CountedTool>, String>,
    /// When they were counted, if that was before.
    pub(super) kept: Option<Timestamp>,
}

/// Counts the tools of servers, and starts those that it may and has to.
pub(super) fn count<'a, 'b>(
    context: &Context,
    servers: &'b [DistinctServer<'a>],
    starts: Starts,
) -> Vec<ServerCount<'a, 'b>> {
    let path = context.paths().cache.join(FILE);
    let mut kept = Kept::read(&path);
    let is_new = |server: &&DistinctServer<'_>| starts == Starts::All || !kept.0.contains_key(&key_of(server.launch));
    let asked: Vec<&DistinctServer<'a>> = servers.iter().filter(is_new).filter(|_| starts != Starts::Nothing).collect();
    let answers = ask(context, &asked);
    for (server, answer) in asked.iter().zip(&answers) {
        if let Ok(tools) = answer {
            kept.0.insert(key_of(server.launch), KeptCount { at: when::now().0, tools: tools.clone() });
        }
    }
    if answers.iter().any(Result::is_ok) {
        kept.write(&path);
    }
    let of_server = |server: &'b DistinctServer<'a>| {
        let asked = asked.iter().position(|asked| std::ptr::eq(*asked, server));
        let known = kept.0.get(&key_of(server.launch));
        let (tools, at) = match (asked, known, server.launch) {
            (Some(at), ..) => (answers[at].clone(), None),
            (None, Some(known), _) => (Ok(known.tools.clone()), Some(Timestamp(known.at))),
            (None, None, Launch::Not(why)) => (Err((*why).to_owned()), None),
            (None, None, Launch::Program { .. }) => (Err("it was not started yet".to_owned()), None),
        };
        ServerCount { server, tools, kept: at }
    };
    servers.iter().map(of_server).collect()
}

/// Starts servers, a few at a time, and counts their tools.
fn ask(context: &Context, servers: &[&DistinctServer<'_>]) -> Vec<Result<Vec<CountedTool>, String>> {
    let folder = context.env().home.clone().unwrap_or_else(|| PathBuf::from("/"));
    let mut answers = Vec::new();
    for some in servers.chunks(MAX_AT_ONCE) {
        let names: Vec<String> = some.iter().map(|server| one_line(server.name, 30)).collect();
        context.report_progress(&format!("asking {} for their tools", names.join(", ")));
        let launches: Vec<&Launch> = some.iter().map(|server| server.launch).collect();
        let count = |launch| tools(launch, &folder, MAX_ANSWER_TIME).map(|tools| tools.iter().map(told).collect());
        let count = &count;
        std::thread::scope(|scope| {
            let asked: Vec<_> = launches.iter().map(|launch| scope.spawn(move || count(launch))).collect();
            let failed = || Err("asking it failed".to_owned());
            answers.extend(asked.into_iter().map(|asked| asked.join().unwrap_or_else(|_| failed())));
        });
    }
    context.report_progress("");
    answers
}

/// Counts what a model is told of a tool. Output schemas and annotations are for the client.
fn told(tool: &Value) -> CountedTool {
    let told: serde_json::Map<String, Value> =
        TOLD.iter().filter_map(|key| Some(((*key).to_owned(), tool.get(*key)?.clone()))).collect();
    let tokens = weir_tokens::count(&Value::Object(told).to_string()) as u64;
    CountedTool { name: tool["name"].as_str().unwrap_or_default().to_owned(), tokens }
}

/// Returns a name for the entry of a server, which changes with it.
fn key_of(launch: &Launch) -> String {
    let written = match launch {
        Launch::Program { program, arguments, variables } => {
            let names: Vec<&String> = variables.iter().map(|(name, _)| name).collect();
            json!([program, arguments, names])
        }
        Launch::Not(why) => json!(why),
    };
    blake3::hash(written.to_string().as_bytes()).to_hex().to_string()
}

impl Kept {
    /// Reads what was kept. A file that cannot be used is one that is not there.
    fn read(path: &Path) -> Self {
        let bytes = foreign::read_user_file(path, MAX_SETTINGS_BYTES).unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    /// Writes it. If that fails, servers are asked again the next time.
    fn write(&self, path: &Path) {
        if let Ok(text) = serde_json::to_string(self) {
            let _ = user_files::write(path, &text, true);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_model_is_told_is_counted() {
        let plain = json!({ "name": "a", "description": "reads", "inputSchema": { "type": "object" } });
        let mut more = plain.clone();
        more["outputSchema"] = json!({ "type": "object", "properties": { "x": { "type": "string" } } });
        more["annotations"] = json!({ "readOnlyHint": true });
        assert_eq!(told(&more), told(&plain));
        assert_eq!(told(&plain).tokens, weir_tokens::count(&plain.to_string()) as u64);
    }

    #[test]
    fn a_changed_entry_has_another_name_and_a_changed_secret_has_not() {
        let entry = |argument: &str, secret: &str| {
            let variables = vec![("TOKEN".to_owned(), secret.to_owned())];
            key_of(&Launch::Program { program: "npx".into(), arguments: vec![argument.into()], variables })
        };
        assert_ne!(entry("a", "x"), entry("b", "x"));
        assert_eq!(entry("a", "x"), entry("a", "y"));
    }
}
