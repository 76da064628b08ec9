//! `weir servers`: the MCP servers behind Weir. Invariants: no value of a variable or of a header is shown; a client
//! cannot widen what a server may do.

mod sign_in;

use std::collections::BTreeMap;
use std::time::Instant;

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Value, json};
use weir_clients::RECIPES;
use weir_clients::setup::Recipe;
use weir_context::Context;
use weir_core::redact::redacted;
use weir_core::wording::counted;
use weir_host::answer::{Answer, one_line};
use weir_host::error::{CommandError, ErrorKind};

use weir_gateway::entries::{self, Entries, Launch, ServerEntry, is_name};
use weir_gateway::lists::{self, StoredList};
use weir_gateway::sign_in::is_signed_in;
use weir_gateway::{ClientPeer, Gateway, ToolEffect};

pub(crate) const SERVERS: &str = "servers";

/// The longest name of a tool that a rule may have.
const MAX_TOOL_CHARS: usize = 128;
/// How much is shown of how a server is reached.
const MAX_LAUNCH_CHARS: usize = 200;

pub(crate) fn command() -> Command {
    let name = || Arg::new("name").value_name("NAME").required(true).help("Name of the server");
    let tools = || {
        let tools = Arg::new("tools").value_name("TOOL").required(true).num_args(1..);
        tools.help("Names of tools, as the server calls them; `*` for all")
    };
    let pair = |name: &'static str, help: &'static str| {
        Arg::new(name).long(name).value_name("K=V").action(ArgAction::Append).help(help)
    };
    let command = Arg::new("command").value_name("COMMAND").num_args(1..).last(true).required_unless_present("url");
    let add = Command::new("add")
        .about("Add a server, for all clients whose server is Weir")
        .after_long_help(
            "Examples:\n  weir servers add files -- npx -y @modelcontextprotocol/server-filesystem ~/notes\n  weir servers \
             add hub --env TOKEN=… -- docker run -i --rm -e TOKEN example/hub-mcp\n  weir servers add docs --url \
             https://example.com/mcp --header 'Authorization=Bearer …'",
        )
        .arg(name())
        .args([
            command.help("The program and its arguments, after --"),
            Arg::new("url").long("url").value_name("URL").conflicts_with("command").help("Address of a remote server"),
            pair("header", "A header of each request").conflicts_with("command"),
            pair("env", "A variable of the program").conflicts_with("url"),
        ]);
    let list = Command::new("list").about("List the servers [default]");
    let remove = Command::new("remove").about("Remove a server that you added").arg(name());
    let test = Command::new("test")
        .about("Start servers, and list their tools and what their descriptions cost")
        .arg(Arg::new("names").value_name("NAME").num_args(0..).help("Names of servers [default: all]"));
    let accept = Command::new("accept").about("Use tools again whose description has changed").args([name(), tools()]);
    let rule = |verb: &'static str, about: &'static str| Command::new(verb).about(about).args([name(), tools()]);
    let command = Command::new(SERVERS)
        .about("List and change the MCP servers behind Weir")
        .after_long_help(
            "Examples:\n  weir servers\n  weir servers add git -- uvx mcp-server-git\n  weir servers test git\n  weir \
             servers deny git git_reset\n  \
             weir servers allow git git_commit\n  weir servers remove git\n\n`weir setup gemini --gateway` moves the \
             servers that Gemini CLI already has, and `weir teardown` gives them back. Calls that change or destroy \
             something are asked about, unless you allow them here.",
        )
        .subcommand(list)
        .subcommand(add)
        .subcommand(remove)
        .subcommand(test)
        .subcommand(accept)
        .subcommand(rule("allow", "Let tools be called without asking, even if they destroy something"))
        .subcommand(rule("deny", "Do not offer tools, and refuse calls of them"))
        .subcommand(rule("ask", "Forget what was allowed or denied"));
    sign_in::with_commands(command, name())
}

pub(crate) async fn run(context: &Context, arguments: &ArgMatches) -> Result<Answer, CommandError> {
    let paths = context.paths();
    let mut entries = Entries::read(paths)?;
    let (verb, arguments) = match arguments.subcommand() {
        None | Some(("list", _)) => return Ok(list(context, &entries)),
        Some(("test", arguments)) => return test(context, &mut entries, arguments).await,
        Some(subcommand) => subcommand,
    };
    if context.env().is_of_client() && verb != "deny" {
        let error =
            CommandError::new(ErrorKind::Denied, "cannot change the servers here: a client started this command");
        return Err(error.hint("only you can; run it in a terminal of your own"));
    }
    let name = arguments.get_one::<String>("name").map(String::as_str).unwrap_or_default();
    let said = match verb {
        "add" => add(&mut entries, name, arguments)?,
        "remove" => remove(context, &mut entries, name)?,
        "accept" => return accept(context, &mut entries, name, arguments),
        "login" => return sign_in::login(context, (name, found(&mut entries, name)?), arguments).await,
        "logout" => return sign_in::logout(context, (name, found(&mut entries, name)?)),
        verb => set_rules(context, &mut entries, (verb, name), arguments)?,
    };
    entries.write(paths)?;
    let file = entries::path(paths);
    let text = format!("✓ {said}; clients see it when they start their servers again");
    Ok(Answer::new(text, json!({ "server": name, "changed": verb, "file": file })))
}

fn list(context: &Context, entries: &Entries) -> Answer {
    let state = |name: &str, entry: &ServerEntry| ServerState {
        known: lists::read(context.paths(), name, entry).map(|list| (list.tools.len(), list.tokens())),
        is_signed_in: is_signed_in(context.paths(), name, entry),
    };
    let lines: Vec<String> =
        entries.servers.iter().map(|(name, entry)| described(name, entry, &state(name, entry))).collect();
    let data: Vec<Value> = entries.servers.iter().map(|(name, entry)| data(name, entry, &state(name, entry))).collect();
    let text = match lines.is_empty() {
        true => {
            "no server is behind Weir; `weir setup --gateway` moves those of your clients, `weir servers add` adds one"
                .to_owned()
        }
        false => lines.join("\n"),
    };
    Answer::new(text, json!({ "servers": data }))
}

/// What is known of a server besides its entry.
struct ServerState {
    /// The number of its tools, and of the tokens that describe them.
    known: Option<(usize, usize)>,
    is_signed_in: bool,
}

/// Describes a server in a few lines.
fn described(name: &str, entry: &ServerEntry, state: &ServerState) -> String {
    let mut lines = vec![format!("{name}: {}", launch(entry))];
    lines.push(match state.known {
        Some((tools, tokens)) => format!("{}, described in {tokens} tokens", counted(tools, "tool", "tools")),
        None => format!("its tools are not known yet; `weir servers test {name}` lists them"),
    });
    let of_mode = |keeps: bool| {
        let titles = recipes(entry).filter(|recipe| recipe.keeps_entries() == keeps).map(|recipe| recipe.title);
        titles.collect::<Vec<_>>().join(", ")
    };
    if entry.clients.is_empty() {
        lines.push("for all clients, as tools of Weir's server".to_owned());
    }
    for (titles, mode) in [(of_mode(false), "as tools of Weir's server"), (of_mode(true), "under its own name")] {
        lines.extend((!titles.is_empty()).then(|| format!("for {titles}, {mode}")));
    }
    let values = names_of_values(entry).into_iter().cloned().collect::<Vec<_>>().join(", ");
    lines.extend((!values.is_empty()).then(|| format!("gets {values}")));
    lines.extend(state.is_signed_in.then(|| "you are signed in".to_owned()));
    for (what, tools) in [("only", &entry.only), ("allowed", &entry.allow), ("denied", &entry.deny)] {
        let tools: Vec<String> = tools.iter().map(|tool| one_line(tool, MAX_TOOL_CHARS)).collect();
        lines.extend((!tools.is_empty()).then(|| format!("{what}: {}", tools.join(", "))));
    }
    lines.join("\n  ")
}

fn data(name: &str, entry: &ServerEntry, state: &ServerState) -> Value {
    json!({
        "name": name,
        "launch": launch(entry),
        "clients": entry.clients,
        "own_name_in": recipes(entry).filter(|recipe| recipe.keeps_entries()).map(|recipe| recipe.name).collect::<Vec<_>>(),
        "gets": names_of_values(entry),
        "only": entry.only,
        "allow": entry.allow,
        "deny": entry.deny,
        "tools": state.known.map(|(tools, _)| tools),
        "tokens": state.known.map(|(_, tokens)| tokens),
        "signed_in": state.is_signed_in,
    })
}

/// Returns how a server is reached, without secrets.
fn launch(entry: &ServerEntry) -> String {
    one_line(&redacted(&entry.launch.to_string()), MAX_LAUNCH_CHARS)
}

/// Returns the names of the variables or headers that a server gets.
fn names_of_values(entry: &ServerEntry) -> Vec<&String> {
    match &entry.launch {
        Launch::Program { env, .. } => env.keys().collect(),
        Launch::Address { headers, .. } => headers.keys().collect(),
    }
}

fn recipes(entry: &ServerEntry) -> impl Iterator<Item = &'static &'static Recipe> {
    RECIPES.iter().filter(|recipe| entry.clients.iter().any(|client| client == recipe.name))
}

fn add(entries: &mut Entries, name: &str, arguments: &ArgMatches) -> Result<String, CommandError> {
    if !is_name(name) {
        return Err(CommandError::usage(format!("`{}` cannot name a server", name.escape_debug()))
            .hint("use at most 32 letters, digits, - and _, without two _ in a row"));
    }
    if entries.servers.contains_key(name) {
        let error = CommandError::usage(format!("there already is a server `{name}`"));
        return Err(error.hint("choose another name, or remove that one first"));
    }
    let launch = match arguments.get_one::<String>("url") {
        Some(url) if url.starts_with("https://") || url.starts_with("http://") => {
            Launch::Address { url: url.clone(), headers: pairs(arguments, "header")? }
        }
        Some(_) => return Err(CommandError::usage("the address is not one of HTTP").hint("it begins with https://")),
        None => {
            let mut words = arguments.get_many::<String>("command").into_iter().flatten().cloned();
            let command = words.next().unwrap_or_default();
            Launch::Program { command, args: words.collect(), env: pairs(arguments, "env")?, cwd: None }
        }
    };
    entries.servers.insert(name.to_owned(), ServerEntry::new(launch));
    Ok(format!("added {name} for all clients; `weir servers test {name}` starts it"))
}

/// Returns the values of an option that takes pairs.
fn pairs(arguments: &ArgMatches, option: &str) -> Result<BTreeMap<String, String>, CommandError> {
    let pair = |text: &String| {
        let pair = text.split_once('=').filter(|(name, _)| !name.trim().is_empty());
        // The text may be a secret.
        let wrong = || CommandError::usage(format!("a value of --{option} has no name")).hint("write it as NAME=VALUE");
        pair.map(|(name, value)| (name.trim().to_owned(), value.to_owned())).ok_or_else(wrong)
    };
    arguments.get_many::<String>(option).into_iter().flatten().map(pair).collect()
}

/// Starts servers, one after the other, and stores what they list.
async fn test(context: &Context, entries: &mut Entries, arguments: &ArgMatches) -> Result<Answer, CommandError> {
    let named: Vec<String> = arguments.get_many("names").into_iter().flatten().cloned().collect();
    for name in &named {
        found(entries, name)?;
    }
    let gateway = Gateway::new(context, ClientPeer::default());
    let names = if named.is_empty() { gateway.servers() } else { named };
    let (mut lines, mut results, mut failed) = (Vec::new(), Vec::new(), false);
    for name in &names {
        context.report_progress(&format!("starting {name}"));
        let started = Instant::now();
        match gateway.learn(name).await {
            Ok(list) => {
                let (tools, tokens, millis) = (list.tools.len(), list.tokens(), started.elapsed().as_millis() as u64);
                let took = millis as f64 / 1_000.0;
                let tools_text = counted(tools, "tool", "tools");
                lines.push(format!("✓ {name}: {tools_text}, described in {tokens} tokens, after {took:.1} s"));
                lines.extend(by_effect(&list));
                for tool in list.tools.iter().filter(|tool| list.changed(tool).is_some()) {
                    let tool = one_line(&tool.name, MAX_TOOL_CHARS);
                    lines.push(format!(
                        "  {tool} has changed; `weir servers accept {name} {tool}` once you have read it"
                    ));
                }
                let names: Vec<&str> = list.tools.iter().map(|tool| tool.name.as_ref()).collect();
                results.push(json!({ "name": name, "tools": names, "tokens": tokens, "millis": millis }));
            }
            Err(failure) => {
                failed = true;
                lines.push(format!("✗ {name}: {failure}"));
                results.push(json!({ "name": name, "failure": failure.to_string() }));
            }
        }
    }
    gateway.end().await;
    let text = if lines.is_empty() { "no server is behind Weir".to_owned() } else { lines.join("\n") };
    let exit_code = failed.then_some(ErrorKind::Failed.exit_code());
    Ok(Answer { exit_code, ..Answer::new(text, json!({ "servers": results })) })
}

/// Names the tools of a server by what they may do, which decides what is asked about.
fn by_effect(list: &StoredList) -> Vec<String> {
    let of = |effect: ToolEffect| {
        let tools = list.tools.iter().filter(|tool| ToolEffect::of(tool) == effect);
        tools.map(|tool| one_line(&tool.name, MAX_TOOL_CHARS)).collect::<Vec<_>>().join(", ")
    };
    let all = ToolEffect::ALL.map(|effect| (effect.as_str(), of(effect)));
    all.into_iter().filter(|(_, names)| !names.is_empty()).map(|(what, names)| format!("  {what}: {names}")).collect()
}

/// Makes tools known as they are now.
fn accept(
    context: &Context,
    entries: &mut Entries,
    name: &str,
    arguments: &ArgMatches,
) -> Result<Answer, CommandError> {
    let entry = found(entries, name)?;
    let unknown = || CommandError::new(ErrorKind::NotFound, format!("the tools of {name} are not known yet"));
    let mut list =
        lists::read(context.paths(), name, entry).ok_or_else(|| unknown().hint(format!("weir servers test {name}")))?;
    let wanted: Vec<&String> = arguments.get_many("tools").into_iter().flatten().collect();
    let all: Vec<String> = list.tools.iter().map(|tool| tool.name.to_string()).collect();
    let mut accepted = Vec::new();
    for tool in wanted {
        match tool.as_str() {
            "*" => accepted.extend(all.clone()),
            tool if all.iter().any(|known| known == tool) => accepted.push(tool.to_owned()),
            tool => {
                return Err(CommandError::new(
                    ErrorKind::NotFound,
                    format!("{name} has no tool `{}`", tool.escape_debug()),
                )
                .hint(format!("`weir servers test {name}` asks it again")));
            }
        }
    }
    accepted.iter().for_each(|tool| list.learn(tool));
    lists::write(context.paths(), name, &list)?;
    let text = format!("✓ {} of {name} can be used as they are now", counted(accepted.len(), "tool", "tools"));
    Ok(Answer::new(text, json!({ "server": name, "accepted": accepted })))
}

fn remove(context: &Context, entries: &mut Entries, name: &str) -> Result<String, CommandError> {
    let entry = found(entries, name)?;
    if !entry.clients.is_empty() {
        let error =
            CommandError::usage(format!("cannot remove `{name}`: setup moved it from {}", entry.clients.join(", ")));
        return Err(error.hint("`weir teardown` gives it back"));
    }
    entries.servers.remove(name);
    lists::remove(context.paths(), name);
    weir_gateway::sign_in::forget(context.paths(), name)?;
    Ok(format!("removed {name}"))
}

fn set_rules(
    context: &Context,
    entries: &mut Entries,
    (verb, name): (&str, &str),
    arguments: &ArgMatches,
) -> Result<String, CommandError> {
    let tools: Vec<&String> = arguments.get_many("tools").into_iter().flatten().collect();
    let is_tool = |tool: &str| {
        tool == "*" || tool.len() <= MAX_TOOL_CHARS && !tool.contains(|c: char| c.is_control() || c == '*')
    };
    if let Some(wrong) = tools.iter().find(|tool| tool.is_empty() || !is_tool(tool)) {
        return Err(CommandError::usage(format!("`{}` is not the name of a tool", wrong.escape_debug()))
            .hint("write it as the server does, or `*` for all"));
    }
    let entry = found(entries, name)?;
    for tool in &tools {
        for list in [&mut entry.allow, &mut entry.deny] {
            list.retain(|known| known != *tool);
        }
        match verb {
            "allow" => entry.allow.push((*tool).clone()),
            "deny" => entry.deny.push((*tool).clone()),
            _ => {}
        }
    }
    let list = lists::read(context.paths(), name, entry);
    let is_absent = |tool: &str| tool != "*" && list.as_ref().is_some_and(|list| list.tool(tool).is_none());
    let absent: Vec<String> = tools.iter().filter(|tool| is_absent(tool)).map(|tool| one_line(tool, 60)).collect();
    let note = match absent.is_empty() {
        true => String::new(),
        false => format!(" ({name} has listed no tool {}; `weir servers test {name}` names all)", absent.join(", ")),
    };
    let tools = tools.into_iter().cloned().collect::<Vec<_>>().join(", ");
    Ok(match verb {
        "allow" => format!("{tools} of {name} may be called without asking{note}"),
        "deny" => format!("{tools} of {name}: not offered, and refused{note}"),
        _ => format!("{tools} of {name}: as if you had said nothing{note}"),
    })
}

fn found<'e>(entries: &'e mut Entries, name: &str) -> Result<&'e mut ServerEntry, CommandError> {
    let names = entries.servers.keys().cloned().collect::<Vec<_>>().join(", ");
    entries.servers.get_mut(name).ok_or_else(|| {
        let error = CommandError::new(ErrorKind::NotFound, format!("there is no server `{}`", name.escape_debug()));
        error.hint(if names.is_empty() { "none is behind Weir".to_owned() } else { format!("there are: {names}") })
    })
}
