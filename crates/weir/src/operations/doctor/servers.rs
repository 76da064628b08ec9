//! Counts what the tool descriptions of the MCP servers in the user's settings cost, with `--mcp`.
//!
//! Invariants: a server is started only if the user asks on the command line, and only as the user's own settings say;
//! what is not counted is named with the reason; every process is gone afterwards, with its group.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use weir_core::wording::{counted, one_line};

use super::Check;
use crate::context::Context;
use crate::os;
use crate::setup::servers::{self, ConfiguredServer, Launch};

/// How the report calls them.
const NAME: &str = "MCP servers";
/// The name of Weir's own server.
const OURS: &str = "weir";
/// How long a server may take to list its tools, in seconds. Some download themselves first.
const MAX_ANSWER_SECONDS: u64 = 30;
/// How much of a server's output is read, in bytes.
const MAX_ANSWER_BYTES: u64 = 8 << 20;
/// The maximum number of pages of a list of tools.
const MAX_PAGES: usize = 20;
/// The version of the protocol that is asked for.
const PROTOCOL: &str = "2025-06-18";
/// The maximum length of a server's name in the report.
const MAX_NAME_CHARS: usize = 60;

/// Reports the configured servers; if they are to be started, with what their descriptions cost.
pub(super) fn check(context: &Context, is_started: bool) -> Vec<Check> {
    let configured = servers::configured(context);
    if !is_started {
        // That Weir's own is there is said with the setup of each client.
        let names: Vec<String> = configured.iter().filter(|server| server.name != OURS).map(title).collect();
        let how = "`weir doctor --mcp` starts each once and counts its tool descriptions";
        let listed = (!names.is_empty()).then(|| Check::good(NAME, format!("{}; {how}", names.join(", "))));
        return listed.into_iter().collect();
    }
    if configured.is_empty() {
        return vec![Check::good(NAME, "none in your settings of clients")];
    }
    let folder = context.env().home.as_deref().unwrap_or(Path::new("/"));
    let (mut checks, mut total, mut left_out) = (Vec::new(), 0, 0);
    for server in &configured {
        let text = match tools(&server.launch, folder) {
            Ok(tools) => {
                let tokens: usize = tools.iter().map(|tool| weir_tokens::count(&tool.to_string())).sum();
                total += tokens;
                format!("{}, described in {tokens} tokens", counted(tools.len(), "tool", "tools"))
            }
            Err(why) => {
                left_out += 1;
                format!("not counted: {}", one_line(&why, 200))
            }
        };
        checks.push(Check::good(NAME, format!("{}: {text}", title(server))));
    }
    let counted_servers = configured.len() - left_out;
    checks.push(Check::good(
        NAME,
        format!(
            "in all, {total} tokens of tool descriptions as JSON in {}; {left_out} not counted; servers of projects and \
             of plugins are not in it, and a client may load descriptions later or not at all",
            counted(counted_servers, "server", "servers"),
        ),
    ));
    checks
}

fn title(server: &ConfiguredServer) -> String {
    format!("{} ({})", one_line(&server.name, MAX_NAME_CHARS), server.client)
}

/// Starts a server, asks it for its tools, and ends it.
#[expect(clippy::disallowed_methods, reason = "the user asks to start what their own settings start without a sandbox")]
fn tools(launch: &Launch, folder: &Path) -> Result<Vec<Value>, String> {
    let (program, arguments, variables) = match launch {
        Launch::Program { program, arguments, variables } => (program, arguments, variables),
        Launch::Not(why) => return Err((*why).to_owned()),
    };
    let mut command = Command::new(program);
    command.args(arguments).envs(variables.iter().map(|(name, value)| (name, value)));
    command.current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    os::lead_group(&mut command);
    let mut child = command.spawn().map_err(|error| format!("cannot start {program}: {error}"))?;
    let answer = match (child.stdin.take(), child.stdout.take()) {
        (Some(input), Some(output)) => {
            let (sender, answers) = mpsc::channel();
            // Ends with the output of the server, which is ended below.
            std::thread::spawn(move || {
                for line in BufReader::new(output.take(MAX_ANSWER_BYTES)).lines().map_while(Result::ok) {
                    let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
                    if sender.send(message).is_err() {
                        return;
                    }
                }
            });
            let deadline = Instant::now() + Duration::from_secs(MAX_ANSWER_SECONDS);
            ask(&mut Conversation { input, answers, deadline })
        }
        _ => Err("it has no standard input and output".to_owned()),
    };
    os::kill_group(&mut child);
    let _ = child.wait();
    answer
}

/// The exchange of messages with a server.
struct Conversation {
    input: ChildStdin,
    answers: Receiver<Value>,
    deadline: Instant,
}

impl Conversation {
    fn send(&mut self, message: &Value) -> Result<(), String> {
        writeln!(self.input, "{message}")
            .and_then(|()| self.input.flush())
            .map_err(|error| format!("it does not read: {error}"))
    }

    /// Sends a request and returns its result.
    fn request(&mut self, id: usize, method: &str, parameters: &Value) -> Result<Value, String> {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters }))?;
        loop {
            let left = self.deadline.saturating_duration_since(Instant::now());
            let mut message = self.answers.recv_timeout(left).map_err(|error| match error {
                mpsc::RecvTimeoutError::Timeout => format!("no answer in {MAX_ANSWER_SECONDS} seconds"),
                mpsc::RecvTimeoutError::Disconnected => "it ended without an answer".to_owned(),
            })?;
            if message["id"] == id {
                let failed = message["error"]["message"].as_str().map(|why| format!("it answers: {why}"));
                return failed.map_or_else(|| Ok(message["result"].take()), Err);
            }
        }
    }
}

fn ask(with: &mut Conversation) -> Result<Vec<Value>, String> {
    let client = json!({ "name": "weir-doctor", "version": env!("CARGO_PKG_VERSION") });
    let about = json!({ "protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": client });
    with.request(0, "initialize", &about)?;
    with.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }))?;
    let (mut tools, mut page) = (Vec::new(), json!({}));
    for id in 1..=MAX_PAGES {
        let mut listed = with.request(id, "tools/list", &page)?;
        match listed.get_mut("tools").map(Value::take) {
            Some(Value::Array(more)) => tools.extend(more),
            _ => return Err("it lists no tools".to_owned()),
        }
        match listed.get_mut("nextCursor").map(Value::take) {
            Some(Value::String(cursor)) => page = json!({ "cursor": cursor }),
            _ => return Ok(tools),
        }
    }
    Err(format!("its list of tools has more than {MAX_PAGES} pages"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Result<Vec<Value>, String> {
        let arguments = vec!["-c".to_owned(), script.to_owned()];
        tools(&Launch::Program { program: "sh".to_owned(), arguments, variables: Vec::new() }, Path::new("/"))
    }

    #[test]
    fn tools_are_listed_page_by_page() {
        let script = r#"
            echo noise
            read a; echo '{"jsonrpc":"2.0","id":0,"result":{}}'
            read b; read c; echo '{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"one"}],"nextCursor":"x"}}'
            read d; echo '{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"two"}]}}'
            read e
        "#;
        assert_eq!(shell(script).unwrap(), [json!({ "name": "one" }), json!({ "name": "two" })]);
    }

    #[test]
    fn a_server_that_cannot_be_counted_is_named_with_the_reason() {
        let refusing = r#"read a; echo '{"jsonrpc":"2.0","id":0,"error":{"code":1,"message":"log in first"}}'; read b"#;
        assert_eq!(shell(refusing).unwrap_err(), "it answers: log in first");
        assert_eq!(shell("read a").unwrap_err(), "it ended without an answer");
        let missing = Launch::Program { program: "/nowhere/server".to_owned(), arguments: vec![], variables: vec![] };
        assert!(tools(&missing, Path::new("/")).unwrap_err().starts_with("cannot start /nowhere/server: "));
        assert_eq!(tools(&Launch::Not("it is disabled"), Path::new("/")).unwrap_err(), "it is disabled");
    }
}
