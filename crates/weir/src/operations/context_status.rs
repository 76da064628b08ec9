//! `context_status`: the files of the session.

use serde_json::{Value, json};
use weir_store::SessionFile;

use super::context_forget::ContextForget;
use super::{Declared, Effect};
use crate::answer::{Answer, Budget, counted, fit_items, size};
use crate::context::Context;
use crate::error::CommandError;

/// What an answer may have, in tokens.
const BUDGET: usize = 1_000;

/// List this session's files.
#[derive(Debug, clap::Args, serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct ContextStatus {
    /// A file to forget, or `all`
    #[serde(default)]
    forget: Option<String>,
}

impl Declared for ContextStatus {
    const TOOL: &'static str = "context_status";
    const COMMAND: Option<&'static str> = None;
    const EFFECT: Effect = Effect::Adds;
    const EXAMPLES: &'static str = "";

    async fn run(self, context: &Context) -> Result<Answer, CommandError> {
        if let Some(path) = self.forget.filter(|path| !path.is_empty()) {
            return ContextForget { path: (path != "all").then_some(path) }.run(context).await;
        }
        let scope = context.scope();
        let files = context.with_stores(move |open| Ok(open.project()?.session_files(&scope)?)).await?;
        if files.is_empty() {
            return Ok(Answer::nothing("no file was read in this session".to_owned(), json!({ "files": [] })));
        }
        Ok(answer(&files))
    }
}

fn answer(files: &[SessionFile]) -> Answer {
    let outlined =
        files.iter().filter(|file| !file.active).filter_map(|file| Some((file.tokens, file.outline_tokens?)));
    let (whole, outlines) = outlined.clone().fold((0, 0), |sum, (whole, outline)| (sum.0 + whole, sum.1 + outline));
    let saved = whole.saturating_sub(outlines);
    let held = match outlined.count() {
        0 => String::new(),
        count => {
            let files = counted(count, "file is held as its outline", "files are held as outlines");
            format!("{files}: {outlines} tokens for {whole}, {saved} saved unless read again")
        }
    };
    let lines: Vec<String> = files.iter().map(line).collect();
    let (text, _) = fit_items(&held, &lines, Budget::new(None, BUDGET), |shown| match files.len() - shown {
        0 => String::new(),
        more => format!("{more} more"),
    });
    let data = json!({ "files": files.iter().map(describe).collect::<Vec<_>>(), "saved_tokens": saved });
    Answer::new(text, data)
}

fn line(file: &SessionFile) -> String {
    let state = match (file.active, file.outline_tokens, file.was_read) {
        (true, ..) => "active",
        (false, Some(_), _) => "outlined",
        (false, None, true) => "read",
        (false, None, false) => "looked at",
    };
    let outline = file.outline_tokens.map(|tokens| format!(", outline {tokens}")).unwrap_or_default();
    let edits = match file.edits {
        0 => String::new(),
        edits => format!(", {}", counted(edits as usize, "edit", "edits")),
    };
    format!("{state} {}: {}, {} tokens{outline}{edits}", file.path, size(file.bytes), file.tokens)
}

fn describe(file: &SessionFile) -> Value {
    json!({
        "path": file.path,
        "active": file.active,
        "bytes": file.bytes,
        "lines": file.lines,
        "tokens": file.tokens,
        "outline_tokens": file.outline_tokens,
        "edits": file.edits,
        "hash": file.hash,
    })
}
