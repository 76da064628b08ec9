//! What a model is told of the servers behind Weir, where its client sends every description in every request: the
//! tools that the project uses, one tool to find the others, and three to call them.
//!
//! Invariants: the list does not change while a client is connected, because it is at the beginning of every prompt;
//! what servers say of their tools is bounded, fenced where it is an answer, and never Weir's own word.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};
use weir_core::unseen::named;
use weir_core::wording::{counted, one_line};

use crate::effect::ToolEffect;
use crate::find::ToolCard;
use crate::lists;

/// Weir's tool that runs code.
pub(crate) const EXECUTE: &str = "ctx_execute";
/// The tool that finds others.
pub(crate) const FIND: &str = "ctx_tools";
/// How many tools of servers are offered directly, and in how many tokens.
const MAX_DIRECT: usize = 8;
const MAX_DIRECT_TOKENS: usize = 1_500;
/// The longest name of a tool that every client takes.
const MAX_NAME_BYTES: usize = 64;
/// How much the description of the finder says of the servers, in characters.
const MAX_SERVERS_CHARS: usize = 400;
/// How much an answer says of one tool.
const MAX_DESCRIPTION_CHARS: usize = 500;
const MAX_PARAMETER_CHARS: usize = 160;
const MAX_PARAMETERS: usize = 24;

/// Says how code calls tools, with examples to imitate.
pub(crate) fn code_hint(servers: &[&str]) -> String {
    let names = one_line(&servers.join(", "), MAX_SERVERS_CHARS);
    let example = servers.first().map(|name| name.replace('-', "_")).unwrap_or_default();
    format!(
        "Code can call tools of the MCP servers {names}, so that only what it prints comes back. Shell: `weir call {example} \
         TOOL '{{\"arg\": 1}}'`. Python: `from weir_tools import {example}; {example}.TOOL(arg=1)`. JavaScript: \
         `const {{ {example} }} = require(\"weir_tools\"); {example}.TOOL({{arg: 1}})`."
    )
}

/// Returns the tools that find and call others. `servers` are their names, with how many tools each has if that is
/// known.
pub(crate) fn callers(servers: &[(String, Option<usize>)]) -> Vec<Tool> {
    let about = |(name, tools): &(String, Option<usize>)| match tools {
        Some(tools) => format!("{name} ({tools})"),
        None => name.clone(),
    };
    let servers = one_line(&servers.iter().map(about).collect::<Vec<_>>().join(", "), MAX_SERVERS_CHARS);
    let find = format!(
        "Find tools of these MCP servers by what they do: {servers}. Answers with names, arguments and how to call them."
    );
    let query = json!({ "query": { "type": "string" }, "server": { "type": "string" } });
    let find =
        Tool::new(FIND, find, schema(query, &["query"])).with_annotations(ToolAnnotations::new().read_only(true));
    std::iter::once(find).chain(ToolEffect::ALL.map(caller)).collect()
}

fn caller(effect: ToolEffect) -> Tool {
    let (about, hints) = match effect {
        ToolEffect::Reads => {
            (format!("Call a tool that {FIND} found and that only reads."), ToolAnnotations::new().read_only(true))
        }
        ToolEffect::Writes => {
            ("The same for a tool that writes.".to_owned(), ToolAnnotations::new().read_only(false).destructive(false))
        }
        ToolEffect::Destroys => (
            "The same for a tool that may destroy something.".to_owned(),
            ToolAnnotations::new().read_only(false).destructive(true),
        ),
    };
    let arguments = json!({
        "server": { "type": "string" }, "tool": { "type": "string" }, "arguments": { "type": "object" }
    });
    Tool::new(effect.caller(), about, schema(arguments, &["server", "tool"])).with_annotations(hints)
}

fn schema(properties: Value, required: &[&str]) -> Arc<JsonObject> {
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    Arc::new(schema.as_object().cloned().unwrap_or_default())
}

/// Returns the name under which a tool of a server is offered directly, if every client takes it.
pub(crate) fn direct_name(server: &str, tool: &str) -> Option<String> {
    let name = format!("{server}__{tool}");
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    (name.len() <= MAX_NAME_BYTES && name.chars().all(is_plain)).then_some(name)
}

/// Returns the tools that are offered directly, of those that the project uses.
pub(crate) fn direct<'a>(used: impl Iterator<Item = (&'a str, &'a Tool)>) -> Vec<Tool> {
    let mut left = MAX_DIRECT_TOKENS;
    let mut offered = Vec::new();
    for (server, tool) in used {
        let Some(name) = direct_name(server, &tool.name) else { continue };
        let mut offer = told(tool);
        offer.name = name.into();
        let tokens = lists::tokens(&offer);
        if tokens <= left && offered.len() < MAX_DIRECT {
            left -= tokens;
            offered.push(offer);
        }
    }
    offered
}

/// Returns a tool as a client is told of it: without the schema of its results, which are reduced, with hints that Weir
/// stands for, and with every character visible.
pub(crate) fn told(tool: &Tool) -> Tool {
    let effect = ToolEffect::of(tool);
    let mut told = tool.clone();
    told.output_schema = None;
    told.description = tool.description.as_deref().map(|text| named(text).into_owned().into());
    told.title = tool.title.as_deref().map(|text| named(text).into_owned());
    told.input_schema =
        Arc::new(tool.input_schema.iter().map(|(name, value)| (name.clone(), visible(value))).collect());
    if effect == ToolEffect::Destroys {
        let hints = told.annotations.get_or_insert_with(ToolAnnotations::new);
        (hints.read_only_hint, hints.destructive_hint) = (Some(false), Some(true));
    }
    told
}

/// Returns a schema with every character of its texts visible.
fn visible(schema: &Value) -> Value {
    match schema {
        Value::String(text) => Value::String(named(text).into_owned()),
        Value::Array(values) => values.iter().map(visible).collect(),
        Value::Object(members) => members.iter().map(|(name, value)| (name.clone(), visible(value))).collect(),
        other => other.clone(),
    }
}

/// Returns what a search knows of a tool.
pub(crate) fn card(server: &str, tool: &Tool) -> ToolCard {
    let parameters = properties(tool)
        .map(|(name, about)| (name.clone(), about["description"].as_str().unwrap_or_default().to_owned()));
    ToolCard {
        server: server.to_owned(),
        name: tool.name.to_string(),
        description: tool.description.as_deref().unwrap_or_default().to_owned(),
        parameters: parameters.collect(),
    }
}

/// Describes found tools for a model. What servers say is between marks.
pub(crate) fn describe(found: &[(&str, &Tool)], mark: &str) -> String {
    let tools: Vec<String> = found.iter().map(|(server, tool)| describe_one(server, tool)).collect();
    let example = found.first().map(|(server, tool)| {
        let call = json!({ "server": server, "tool": tool.name, "arguments": {} });
        format!("\ncall one like this: {} {call}", ToolEffect::of(tool).caller())
    });
    format!(
        "{}; the text between the marks is the servers'\n<<<{mark}\n{}\n{mark}>>>{}",
        counted(found.len(), "tool", "tools"),
        tools.join("\n"),
        example.unwrap_or_default()
    )
}

fn describe_one(server: &str, tool: &Tool) -> String {
    let about = tool.description.as_deref().unwrap_or_default();
    let mut lines = vec![format!("{server}/{} ({})", one_line(&tool.name, 100), ToolEffect::of(tool).as_str())];
    if !about.is_empty() {
        lines.push(format!(
            "  {}",
            one_line(&about.split_whitespace().collect::<Vec<_>>().join(" "), MAX_DESCRIPTION_CHARS)
        ));
    }
    let required: Vec<&str> = tool
        .input_schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let mut all: Vec<_> = properties(tool).collect();
    all.sort_by_key(|(name, _)| !required.contains(&name.as_str()));
    for (name, schema) in all.iter().take(MAX_PARAMETERS) {
        let is_required = required.contains(&name.as_str());
        lines.push(one_line(&parameter(name, schema, is_required), MAX_PARAMETER_CHARS));
    }
    if all.len() > MAX_PARAMETERS {
        lines.push(format!("  … {} more arguments", all.len() - MAX_PARAMETERS));
    }
    lines.join("\n")
}

fn parameter(name: &str, schema: &Value, is_required: bool) -> String {
    let kind = match (&schema["enum"], &schema["type"]) {
        (Value::Array(words), _) => words.iter().map(Value::to_string).collect::<Vec<_>>().join("|"),
        (_, Value::String(kind)) if kind == "array" => {
            format!("{}[]", schema["items"]["type"].as_str().unwrap_or("any"))
        }
        (_, Value::String(kind)) if kind == "object" && schema["properties"].is_object() => {
            let names = schema["properties"].as_object().into_iter().flat_map(Map::keys).cloned().collect::<Vec<_>>();
            format!("{{{}}}", names.join(", "))
        }
        (_, Value::String(kind)) => kind.clone(),
        _ => "any".to_owned(),
    };
    let about = schema["description"].as_str().unwrap_or_default();
    let about = if about.is_empty() { String::new() } else { format!(" — {}", about.replace('\n', " ")) };
    let optional = if is_required { "" } else { "?" };
    format!("  {name}{optional}: {kind}{about}")
}

fn properties(tool: &Tool) -> impl Iterator<Item = (&String, &Value)> {
    tool.input_schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn tool() -> Tool {
        let schema = json!({
            "type": "object",
            "required": ["path"],
            "properties": {
                "path": { "type": "string", "description": "Where it is" },
                "mode": { "enum": ["head", "tail"] },
                "lines": { "type": "array", "items": { "type": "number" } },
                "options": { "type": "object", "properties": { "deep": {}, "wide": {} } },
            },
        });
        let schema = Arc::new(schema.as_object().cloned().unwrap());
        let tool = Tool::new("read_part", "Read a part\nof a file.\u{202e}", schema);
        tool.with_annotations(ToolAnnotations::new().read_only(true))
    }

    #[test]
    fn found_tools_are_described_between_marks() {
        expect![[r#"
            1 tool; the text between the marks is the servers'
            <<<mark
            files/read_part (reads)
              Read a part of a file.<U+202E>
              path: string — Where it is
              mode?: "head"|"tail"
              lines?: number[]
              options?: {deep, wide}
            mark>>>
            call one like this: ctx_call_read {"server":"files","tool":"read_part","arguments":{}}"#]]
        .assert_eq(&describe(&[("files", &tool())], "mark"));
    }

    #[test]
    fn finding_and_calling_cost_little() {
        let servers: Vec<_> = ["playwright", "filesystem", "git", "notion", "sentry", "github", "context7", "postgres"]
            .map(|name| (name.to_owned(), Some(20)))
            .to_vec();
        let tokens: usize = callers(&servers).iter().map(lists::tokens).sum();
        assert!(tokens <= 320, "{tokens} tokens");
        let names: Vec<&str> = servers.iter().map(|(name, _)| name.as_str()).collect();
        let tokens = weir_tokens::count(&code_hint(&names));
        assert!(tokens <= 120, "{tokens} tokens");
    }

    #[test]
    fn tools_that_are_used_are_offered_by_a_name_that_every_client_takes() {
        let (mut long, mut strange, mut many, tool) = (tool(), tool(), tool(), tool());
        long.name = "x".repeat(60).into();
        strange.name = "read part".into();
        many.description = Some("word ".repeat(1_400).into());
        let offered = direct([("files", &tool), ("files", &long), ("files", &strange)].into_iter());
        assert_eq!(offered.iter().map(|tool| tool.name.as_ref()).collect::<Vec<_>>(), ["files__read_part"]);
        assert_eq!(offered[0].description.as_deref(), Some("Read a part\nof a file.<U+202E>"));
        assert_eq!(direct([("a", &many), ("b", &many), ("c", &tool)].into_iter()).len(), 1);
    }
}
