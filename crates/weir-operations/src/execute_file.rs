//! `ctx_execute_file`: runs code over a file whose text never enters the conversation.

use weir_context::Context;
use weir_host::answer::Answer;
use weir_host::error::CommandError;
use weir_run::{LayerWish, RunData, RunRequest};

use super::{Declared, Effect, execute};
use crate::schema::silent;

/// Process a file with code instead of reading it: FILE_CONTENT holds its text, FILE_PATH its path.
#[derive(Debug, clap::Args, serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct ExecuteFile {
    #[schemars(transform = silent)]
    path: String,
    #[schemars(transform = silent)]
    code: String,
    /// As in ctx_execute
    #[serde(default)]
    language: Option<String>,
    #[schemars(transform = silent)]
    #[serde(default)]
    intent: Option<String>,
    #[schemars(transform = silent)]
    #[serde(default)]
    timeout: Option<u32>,
}

impl Declared for ExecuteFile {
    type Context = Context;
    type Data = RunData;

    const TOOL: &'static str = "ctx_execute_file";
    /// `weir run --file` covers it.
    const COMMAND: Option<&'static str> = None;
    const EFFECT: Effect = Effect::Runs;
    const EXAMPLES: &'static str = "";

    async fn run(self, context: &Context) -> Result<Answer<RunData>, CommandError> {
        let order = RunRequest {
            language: execute::language(self.language.as_deref())?,
            code: self.code,
            file: Some(super::file(context, &self.path)?),
            folder: super::folder(context, None)?,
            timeout: execute::timeout(context, self.timeout, weir_run::MAX_TIMEOUT)?,
            source: None,
            layer: LayerWish::Configured,
        };
        weir_run::answer(&weir_run::run(context, order).await?, self.intent.as_deref())
    }
}
