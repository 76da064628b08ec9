//! `ctx_index`: makes files and texts searchable.

use std::path::Path;

use weir_context::Context;
use weir_context::permission::{self, Consent, Deed};
use weir_host::answer::Answer;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::os;
use weir_knowledge::indexing::{self, IndexData, IndexRequest};
use weir_policy::gate::{Action, Request, Target};

use super::{Declared, Effect};
use crate::schema::silent;

/// Index a file, folder or text for ctx_search.
#[derive(Debug, clap::Args, serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct Index {
    /// File or folder to index
    #[schemars(transform = silent)]
    #[serde(default)]
    path: Option<String>,
    /// Text to index instead; - reads standard input
    #[schemars(transform = silent)]
    #[arg(long)]
    #[serde(default)]
    text: Option<String>,
    /// Label to search by [default: the path]
    #[schemars(transform = silent)]
    #[arg(long)]
    #[serde(default)]
    source: Option<String>,
    /// Only index files that match one of these globs
    #[schemars(transform = silent)]
    #[arg(long, value_name = "GLOB")]
    #[serde(default)]
    include: Vec<String>,
    /// Skip files that match one of these globs
    #[schemars(transform = silent)]
    #[arg(long, value_name = "GLOB")]
    #[serde(default)]
    exclude: Vec<String>,
}

impl Declared for Index {
    type Context = Context;
    type Data = IndexData;

    const TOOL: &'static str = "ctx_index";
    const COMMAND: Option<&'static str> = Some("index");
    const EFFECT: Effect = Effect::Adds;
    const ABOUT: Option<&'static str> = Some("Index a file, folder or text for `weir search`");
    const EXAMPLES: &'static str = "\
Examples:
  weir index docs
  weir index . --include '*.md' --exclude vendor
  weir index ../handbook --source handbook
  pdftotext manual.pdf - | weir index - --source manual
  weir search 'how to install' --source handbook

Folders are read the way git sees them: ignored and hidden files are skipped, and symbolic links are not followed.
Indexing a folder again reads only files that changed and removes files that are gone. Secrets and files that rules \
deny are never read.";

    /// Treats `-` as standard input, whether given as a path or as a text.
    fn adapt_from_shell(mut self) -> Result<Self, CommandError> {
        if self.path.as_deref() == Some("-") && self.text.is_none() {
            self.text = self.path.take();
        }
        if self.text.is_some() && !(self.include.is_empty() && self.exclude.is_empty()) {
            return Err(CommandError::usage("cannot use --include or --exclude with a text")
                .hint("they select files in a folder"));
        }
        if self.text.as_deref() == Some("-") {
            let mut bytes = Vec::new();
            std::io::Read::read_to_end(&mut std::io::stdin(), &mut bytes)
                .map_err(|error| CommandError::usage(format!("cannot read the text from standard input: {error}")))?;
            self.text = Some(String::from_utf8_lossy(&bytes).into_owned());
        }
        Ok(self)
    }

    async fn run(self, context: &Context) -> Result<Answer<IndexData>, CommandError> {
        let label = self.source.map(|label| label.trim().trim_end_matches('/').to_owned()).filter(|it| !it.is_empty());
        match (self.path, self.text) {
            (Some(path), None) => {
                let full = context.env().folder.join(&path);
                let full = os::real_path(&full).map_err(|error| missing(context, &path, &error))?;
                permit(
                    context,
                    Action::Tree(Target { named: Path::new(&path), path: &full, is_read_only: false }),
                    &path,
                )
                .await?;
                let order = IndexRequest { path: full, label, include: self.include, exclude: self.exclude };
                indexing::index(context, order).await
            }
            (None, Some(text)) if text.trim().is_empty() => Err(CommandError::usage("the text is empty")),
            (None, Some(text)) => {
                permit(context, Action::Text, "a text").await?;
                indexing::text(context, text, label).await
            }
            _ => Err(CommandError::usage("nothing to index, or both a path and a text").hint(
                context
                    .face()
                    .word("pass either a file or folder, or --text", "pass either `path` (a file or folder) or `text`"),
            )),
        }
    }
}

/// Lets indexing pass, or says why not.
async fn permit(context: &Context, action: Action<'_>, about: &str) -> Result<(), CommandError> {
    let consent = Consent { deed: Deed::Index, details: String::new(), about };
    permission::require(context, Request { tool: &permission::client_name(Index::TOOL), action }, consent).await
}

fn missing(context: &Context, path: &str, error: &std::io::Error) -> CommandError {
    match error.kind() {
        std::io::ErrorKind::NotFound => {
            CommandError::new(ErrorKind::NotFound, format!("no such file or folder: {path}"))
                .hint(format!("paths are relative to {}", context.env().folder.display()))
                .hint("what was indexed from it before is still searchable")
        }
        _ => CommandError::new(ErrorKind::Failed, format!("cannot read {path}: {error}")),
    }
}
