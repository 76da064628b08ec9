//! Starts the MCP servers in the user's settings and asks for their tools: for `weir doctor --mcp` and `weir prefix`.
//!
//! Invariants: a server is started only by these commands, and only as the user's own settings say;
//! what is not counted is named with the reason; whatever a server does, it takes a bounded time and amount of memory;
//! every process is gone afterwards, with its group.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use weir_context::Context;
use weir_core::wording::{counted, one_line, size};
use weir_host::os;
use weir_session::prefix::Starts;
use weir_setup::servers::{self, ConfiguredServer, Launch};

use super::{Check, counts};

/// How the report calls them.
const NAME: &str = "MCP servers";
/// The name of Weir's own server.
pub(super) const OURS: &str = "weir";
/// How long a server may take to list its tools. Some download themselves first.
pub(super) const MAX_ANSWER_TIME: Duration = Duration::from_secs(30);
const MAX_ANSWER_BYTES: u64 = 8 << 20;
const MAX_PAGES: usize = 20;
const PROTOCOL: &str = "2025-06-18";
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
        return vec![Check::good(NAME, "none in your clients' settings")];
    }
    let (mut checks, mut total, mut left_out) = (Vec::new(), 0, 0);
    let servers = distinct(&configured);
    for counted_server in counts::count(context, &servers, Starts::All) {
        let DistinctServer { name, launch, clients } = counted_server.server;
        let clients = clients.join(", ");
        let title = format!("{} ({clients})", one_line(name, MAX_NAME_CHARS));
        checks.push(match counted_server.tools {
            Ok(tools) => {
                let tokens: u64 = tools.iter().map(|tool| tool.tokens).sum();
                total += tokens;
                let tools = counted(tools.len(), "tool", "tools");
                Check::good(NAME, format!("{title}: {tools}, described in {tokens} tokens"))
            }
            Err(why) => {
                left_out += 1;
                let text = format!("{title}: not counted: {}", one_line(&why, 200));
                match launch {
                    Launch::Not(_) => Check::remark(NAME, text),
                    Launch::Program { .. } => {
                        Check::wrong(NAME, text, format!("correct or remove it in the settings of {clients}"))
                    }
                }
            }
        });
    }
    let counted_servers = servers.len() - left_out;
    checks.push(Check::good(
        NAME,
        format!(
            "in total, {total} tokens of names, descriptions and input schemas in {}; {left_out} not counted; servers of \
             projects and plugins are not included; `weir prefix` says what each client sends of it",
            counted(counted_servers, "server", "servers"),
        ),
    ));
    checks
}

/// A server, with the clients that start it.
pub(super) struct DistinctServer<'a> {
    pub(super) name: &'a str,
    pub(super) launch: &'a Launch,
    pub(super) clients: Vec<&'static str>,
}

/// Returns each server once, however many clients have it. Weir's own is one server, although each client starts it in
/// its own way.
pub(super) fn distinct(configured: &[ConfiguredServer]) -> Vec<DistinctServer<'_>> {
    let mut servers: Vec<DistinctServer<'_>> = Vec::new();
    for ConfiguredServer { client, name, launch } in configured {
        let is_same = |known: &&mut DistinctServer<'_>| known.name == name && (name == OURS || known.launch == launch);
        match servers.iter_mut().find(is_same) {
            Some(known) => known.clients.push(*client),
            None => servers.push(DistinctServer { name, launch, clients: vec![*client] }),
        }
    }
    servers
}

fn title(server: &ConfiguredServer) -> String {
    format!("{} ({})", one_line(&server.name, MAX_NAME_CHARS), server.client)
}

/// Starts a server, asks it for its tools, and ends it.
#[expect(clippy::disallowed_methods, reason = "the user asks to start what their own settings start without a sandbox")]
pub(super) fn tools(launch: &Launch, folder: &Path, time: Duration) -> Result<Vec<Value>, String> {
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
            let (heard, said) = mpsc::channel();
            let (messages, waiting) = mpsc::channel();
            let reader = heard.clone();
            // Both end with the server, which is ended below. What is written may wait for it as long as it likes.
            std::thread::spawn(move || listen(output, &reader));
            std::thread::spawn(move || tell(input, &waiting, &heard));
            let deadline = Instant::now() + time;
            ask(&mut Conversation { messages, said, time, deadline, noise: 0 })
        }
        _ => Err("it has no standard input and output".to_owned()),
    };
    os::kill_group(&mut child);
    let _ = child.wait();
    answer
}

enum Heard {
    Message(Value),
    /// A line that is not JSON, which some servers write.
    Noise,
    /// Nothing more comes, for this reason.
    Ended(String),
}

/// Reads the output of a server until it ends.
fn listen(output: impl Read, heard: &Sender<Heard>) {
    let mut output = BufReader::new(output.take(MAX_ANSWER_BYTES));
    let mut line = Vec::new();
    let why = loop {
        line.clear();
        match output.read_until(b'\n', &mut line) {
            Ok(0) if output.get_ref().limit() == 0 => {
                break format!("its output has {} or more", size(MAX_ANSWER_BYTES));
            }
            Ok(0) => break "it ended without an answer".to_owned(),
            Ok(_) => {}
            Err(error) => break format!("cannot read its output: {error}"),
        }
        let message = serde_json::from_slice(&line).map_or(Heard::Noise, Heard::Message);
        if heard.send(message).is_err() {
            return;
        }
    };
    // Nobody listens any more if the answer was complete.
    let _ = heard.send(Heard::Ended(why));
}

/// Writes messages to a server until there are no more.
fn tell(mut input: impl Write, messages: &Receiver<Value>, heard: &Sender<Heard>) {
    for message in messages {
        if let Err(error) = writeln!(input, "{message}").and_then(|()| input.flush()) {
            let _ = heard.send(Heard::Ended(format!("it does not read its input: {error}")));
            return;
        }
    }
}

/// The exchange of messages with a server.
struct Conversation {
    messages: Sender<Value>,
    said: Receiver<Heard>,
    /// How long all of it may take, and until when.
    time: Duration,
    deadline: Instant,
    /// How many lines were not JSON.
    noise: usize,
}

impl Conversation {
    fn send(&self, message: Value) {
        // If nobody takes it, the reason has been told.
        let _ = self.messages.send(message);
    }

    fn request(&mut self, id: usize, method: &str, parameters: &Value) -> Result<Value, String> {
        self.send(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters }));
        loop {
            let left = self.deadline.saturating_duration_since(Instant::now());
            let late = |_| Heard::Ended(format!("no answer in {} seconds", self.time.as_secs()));
            let mut message = match self.said.recv_timeout(left).unwrap_or_else(late) {
                Heard::Message(message) => message,
                Heard::Noise => {
                    self.noise += 1;
                    continue;
                }
                Heard::Ended(why) if self.noise == 0 => return Err(why),
                Heard::Ended(why) => {
                    let noise = counted(self.noise, "line is", "lines are");
                    return Err(format!("{why}; of its output, {noise} not JSON"));
                }
            };
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
    with.send(json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
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
#[cfg(unix)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Result<Vec<Value>, String> {
        shell_within(MAX_ANSWER_TIME, script)
    }

    fn shell_within(time: Duration, script: &str) -> Result<Vec<Value>, String> {
        let arguments = vec!["-c".to_owned(), script.to_owned()];
        tools(&Launch::Program { program: "sh".to_owned(), arguments, variables: Vec::new() }, Path::new("/"), time)
    }

    #[test]
    fn a_server_of_several_clients_is_counted_once() {
        let server = |client: &'static str, name: &str, program: &str| ConfiguredServer {
            client,
            name: name.to_owned(),
            launch: Launch::Program { program: program.to_owned(), arguments: Vec::new(), variables: Vec::new() },
        };
        let configured = [
            server("A", OURS, "/usr/bin/weir"),
            server("A", "gh", "gh-mcp"),
            server("B", OURS, "weir"),
            server("B", "gh", "gh-mcp"),
            server("C", "gh", "another"),
        ];
        let found: Vec<String> = distinct(&configured)
            .iter()
            .map(|server| format!("{} {}", server.name, server.clients.join("+")))
            .collect();
        assert_eq!(found, ["weir A+B", "gh A+B", "gh C"]);
    }

    #[test]
    fn tools_are_listed_page_by_page() {
        let script = r#"
            echo noise; printf '\377\n'
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
        assert!(
            tools(&missing, Path::new("/"), MAX_ANSWER_TIME).unwrap_err().starts_with("cannot start /nowhere/server: ")
        );
        let disabled = Launch::Not("it is disabled");
        assert_eq!(tools(&disabled, Path::new("/"), MAX_ANSWER_TIME).unwrap_err(), "it is disabled");
    }

    #[test]
    fn a_server_that_says_too_much_or_nothing_usable_is_named_with_the_reason() {
        let endless = "read a; head -c 9000000 /dev/zero | tr '\\0' x; read b";
        let why = shell(endless).unwrap_err();
        assert!(why.starts_with("its output has 8.0 MiB or more"), "{why}");
        let foreign = "read a; printf '{\"id\":0,\"result\":{\"a\":\"\\377\"}}\\n'";
        assert_eq!(shell(foreign).unwrap_err(), "it ended without an answer; of its output, 1 line is not JSON");
    }

    #[test]
    fn a_server_that_stops_reading_does_not_keep_the_report_waiting() {
        let stuck = r#"
            read a; echo '{"id":0,"result":{}}'
            read b; read c; printf '{"id":1,"result":{"tools":[],"nextCursor":"'
            head -c 200000 /dev/zero | tr '\0' x; echo '"}}'
            exec sleep 600
        "#;
        assert_eq!(shell_within(Duration::from_secs(2), stuck).unwrap_err(), "no answer in 2 seconds");
    }
}
