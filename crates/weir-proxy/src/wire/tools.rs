//! Finds out whether the model can read on where a text is held back: with `ctx_get`, or with a shell.

use serde_json::Value;
use serde_json::value::RawValue;
use weir_host::face::Face;

/// The tool that reads the text behind a reference. Clients put the name of the server before it.
const GET: &str = "ctx_get";
/// The parameters that only a shell has.
const COMMANDS: [&str; 2] = ["command", "cmd"];
/// The types of shells that a provider defines, or the beginnings of their names.
const SHELLS: [&str; 3] = ["bash_", "local_shell", "shell"];
/// The beginning of the names of tools of MCP servers, which may take a command for something else than a shell.
const MCP: &str = "mcp__";

/// Returns the words for reading on, which depend on the tools that a request offers.
pub(super) fn face(tools: &RawValue) -> Option<Face> {
    let tools: Value = serde_json::from_str(tools.get()).ok()?;
    let tools = flattened(&tools);
    let has = |is_one: fn(&Value) -> bool| tools.iter().any(|tool| is_one(tool));
    match (has(is_get), has(is_shell)) {
        (true, _) => Some(Face::Mcp),
        (false, true) => Some(Face::Terminal),
        (false, false) => None,
    }
}

/// Returns the tools of a list, those of groups included.
fn flattened(tools: &Value) -> Vec<&Value> {
    let tools = tools.as_array().into_iter().flatten();
    tools.flat_map(|tool| if tool["tools"].is_array() { flattened(&tool["tools"]) } else { vec![tool] }).collect()
}

fn is_get(tool: &Value) -> bool {
    name(tool).ends_with(GET)
}

fn is_shell(tool: &Value) -> bool {
    let kind = tool["type"].as_str().unwrap_or_default();
    let parameters = [&tool["input_schema"], &tool["parameters"], &tool["function"]["parameters"]];
    let takes_command =
        parameters.iter().any(|schema| COMMANDS.iter().any(|command| schema["properties"][*command].is_object()));
    SHELLS.iter().any(|shell| kind.starts_with(shell)) || (takes_command && !name(tool).starts_with(MCP))
}

fn name(tool: &Value) -> &str {
    tool["name"].as_str().or_else(|| tool["function"]["name"].as_str()).unwrap_or_default()
}
