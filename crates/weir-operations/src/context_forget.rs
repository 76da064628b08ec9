//! `context_forget`: removes what this session knows about files. Nothing on disk changes. Clients reach it through
//! `context_status` with `forget`.

use weir_context::Context;
use weir_host::answer::{Answer, counted};
use weir_host::error::CommandError;

use super::{Declared, Effect, Listing};
use crate::schema::silent;

/// Forget one file of this session, or all; nothing on disk changes.
#[derive(Debug, clap::Args, serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct ContextForget {
    /// File to forget [default: all]
    #[schemars(transform = silent)]
    #[serde(default)]
    pub(super) path: Option<String>,
}

/// The files that were forgotten.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct ForgottenFiles {
    /// How many there were.
    forgotten: usize,
}

impl Declared for ContextForget {
    type Context = Context;
    type Data = ForgottenFiles;

    const TOOL: &'static str = "context_forget";
    const COMMAND: Option<&'static str> = None;
    const EFFECT: Effect = Effect::Adds;
    const LISTING: Listing = Listing::Unlisted;
    const EXAMPLES: &'static str = "";

    async fn run(self, context: &Context) -> Result<Answer<ForgottenFiles>, CommandError> {
        let scope = context.scope();
        let root = context.project().root.clone();
        let count = context
            .with_stores(move |open| {
                let store = open.project()?;
                let Some(path) = self.path else { return Ok(store.forget_session_files(&scope, None)?) };
                // The file may no longer exist, so it is found by its name alone.
                let below = std::path::Path::new(&path).strip_prefix(&root).ok().and_then(|path| path.to_str());
                let name = below.unwrap_or(&path).trim_start_matches("./");
                Ok(store.forget_session_files(&scope, Some(name))?)
            })
            .await?;
        let text = format!("{} forgotten; nothing on disk changed", counted(count, "file", "files"));
        Ok(Answer { found: count > 0, ..Answer::new(text, ForgottenFiles { forgotten: count }) })
    }
}
