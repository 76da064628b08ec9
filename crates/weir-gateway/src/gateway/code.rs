//! Calls that code makes, in a run or on the command line.

use std::sync::Arc;

use rmcp::model::{CallToolResult, ContentBlock, Tool};
use serde_json::{Map, Value};
use tokio::runtime::Handle;
use weir_context::{Context, ToolCallWords};
use weir_core::wording::one_line;
use weir_host::error::{CommandError, ErrorKind};

use super::{Gateway, ToolRequest};
use crate::permission::Asked;
use crate::{offer, python, reduce};

/// How much of what a server says of a failure reaches code, in characters.
const MAX_ERROR_CHARS: usize = 4_000;

impl Gateway {
    /// Adds to the description of the tool that runs code how code calls these servers' tools, if there are any.
    pub fn tell_of_code(&self, context: &Context, tools: &mut [Tool]) {
        let names = self.callable(context);
        if let Some(tool) = tools.iter_mut().find(|tool| tool.name == offer::EXECUTE)
            && !names.is_empty()
        {
            let description = tool.description.as_deref().unwrap_or_default();
            tool.description = Some(format!("{description} {}", offer::code_hint(&names)).into());
        }
    }

    /// Returns the context of a call whose code may call these servers' tools, if there are any. `runtime` makes the
    /// calls.
    pub fn for_code(&self, context: Context, runtime: Handle) -> Context {
        if self.0.servers.is_empty() || self.callable(&context).is_empty() {
            return context;
        }
        let (gateway, caller) = (self.clone(), context.clone());
        context.with_tools(Arc::new(move |words| runtime.block_on(gateway.call_from_code(&caller, words))))
    }

    /// Calls a tool as code writes it, and returns what it prints.
    pub async fn call_from_code(&self, context: &Context, words: ToolCallWords) -> Result<String, CommandError> {
        let server = self.spelled(context, &words.server)?;
        let arguments = match words.arguments.trim() {
            "" => Map::new(),
            text => serde_json::from_str(text)
                .map_err(|error| CommandError::usage(format!("the arguments are not a JSON object: {error}")))?,
        };
        let is_person = context.face().is_person() && !context.env().is_of_client();
        let request = ToolRequest {
            server,
            tool: words.tool,
            arguments,
            meta: None,
            progress: None,
            cancelled: context.cancelled().clone(),
            asked: if is_person { Asked::ByClient } else { Asked::Nobody },
            most: None,
            is_whole: true,
        };
        printed(self.call(context, request).await?)
    }

    /// Returns the name of a server, which code may have to write with `_` in place of `-`.
    fn spelled(&self, context: &Context, name: &str) -> Result<String, CommandError> {
        let same = |known: &&str| *known == name || known.replace('-', "_") == name;
        self.callable(context)
            .into_iter()
            .find(same)
            .map(str::to_owned)
            .ok_or_else(|| self.unknown_server(context, name))
    }
}

/// Returns what code gets of a result: JSON if the server gave any or what Python prints, otherwise text. What is
/// neither is named.
fn printed(result: CallToolResult) -> Result<String, CommandError> {
    let texts: Vec<String> = result.content.iter().map(in_words).collect();
    let text = texts.join("\n");
    if result.is_error == Some(true) {
        return Err(CommandError::new(ErrorKind::Failed, one_line(&text, MAX_ERROR_CHARS)));
    }
    if serde_json::from_str::<Value>(&text).is_ok_and(|value| value.is_object() || value.is_array()) {
        return Ok(text);
    }
    match result.structured_content {
        Some(structured) if !reduce::says(&text, &structured) => Ok(structured.to_string()),
        _ => Ok(python::as_json(&text).unwrap_or(text)),
    }
}

fn in_words(block: &ContentBlock) -> String {
    match (block.as_text(), serde_json::to_value(block)) {
        (Some(text), _) => text.text.clone(),
        (None, Ok(block)) => {
            let bytes = block["data"].as_str().map_or(0, str::len);
            let kind = block["type"].as_str().unwrap_or("block");
            format!("[{kind} {}, {bytes} bytes of base64]", block["mimeType"].as_str().unwrap_or_default())
        }
        (None, Err(_)) => String::new(),
    }
}
