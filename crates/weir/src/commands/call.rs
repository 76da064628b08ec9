//! `weir call`: calls a tool of an MCP server behind Weir. In a run, a stand-in of this name does the same through the
//! session that started the run.

use clap::{Arg, ArgMatches, Command};
use serde_json::json;
use weir_context::{Context, ToolCallWords};
use weir_gateway::{ClientPeer, Gateway};
use weir_host::answer::Answer;
use weir_host::error::CommandError;

pub(crate) const CALL: &str = "call";

pub(crate) fn command() -> Command {
    let word =
        |name: &'static str, shown: &'static str, help: &'static str| Arg::new(name).value_name(shown).help(help);
    Command::new(CALL)
        .about("Call a tool of an MCP server behind Weir")
        .args([
            word("server", "SERVER", "The name of the server; `weir servers` lists them").required(true),
            word("tool", "TOOL", "The name of the tool").required(true),
            word("arguments", "JSON", "The arguments, as a JSON object"),
        ])
        .after_long_help(
            "Examples:\n  weir call git git_status '{\"repo_path\": \".\"}'\n  \
             weir call github list_issues '{\"owner\": \"o\", \"repo\": \"r\"}' | jq '.[].title'\n\n\
             The answer is printed whole: as JSON if the server gave any, otherwise as text. Code that a \
             model runs in the sandbox can do the same, and only what it prints comes back. Weir's rules hold as for any other call.",
        )
}

pub(crate) async fn run(context: &Context, arguments: &ArgMatches) -> Result<Answer, CommandError> {
    let word = |name: &str| arguments.get_one::<String>(name).cloned().unwrap_or_default();
    let words = ToolCallWords { server: word("server"), tool: word("tool"), arguments: word("arguments") };
    let gateway = Gateway::new(context, ClientPeer::default());
    let called = gateway.call_from_code(context, words).await;
    gateway.end().await;
    let text = called?;
    let data = serde_json::from_str(&text).unwrap_or_else(|_| json!(text));
    Ok(Answer::new(text, data))
}
