//! `context_map`: shows which files of a project matter, with their main symbols. Clients reach it through
//! `context_peek` of a folder.

use std::path::PathBuf;

use weir_context::Context;
use weir_host::answer::{Answer, Budget};
use weir_host::error::{CommandError, ErrorKind};
use weir_knowledge::mapping::{self, MapData, MapRequest, Reach};

use super::{Declared, Effect, Listing};
use crate::schema::silent;

/// The default budget of an answer, in tokens.
pub(super) const DEFAULT_BUDGET: u32 = 1_000;

/// Map this project: its most important files, overall or for `focus` files or a `query`, with their main symbols.
#[derive(Debug, clap::Args, serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct Map {
    /// Only map this folder [default: the project]
    #[schemars(transform = silent)]
    #[arg(value_name = "FOLDER")]
    #[serde(default)]
    path: Option<String>,
    /// File you are working on; can be repeated
    #[schemars(transform = silent)]
    #[arg(long, value_name = "FILE")]
    #[serde(default)]
    focus: Vec<String>,
    /// What you are working on, in words
    #[schemars(transform = silent)]
    #[arg(long, value_name = "TEXT")]
    #[serde(default)]
    query: Option<String>,
    /// Maximum tokens in the answer
    #[schemars(transform = silent)]
    #[arg(long, value_name = "TOKENS", default_value_t = DEFAULT_BUDGET)]
    #[serde(default = "super::fixed::<DEFAULT_BUDGET>")]
    budget: u32,
}

impl Declared for Map {
    type Context = Context;
    type Data = MapData;

    const TOOL: &'static str = "context_map";
    const COMMAND: Option<&'static str> = Some("map");
    const EFFECT: Effect = Effect::Reads;
    const ABOUT: Option<&'static str> = Some("Map this project: its most important files, with their main symbols");
    const LISTING: Listing = Listing::Unlisted;
    const EXAMPLES: &'static str = "\
Examples:
  weir map
  weir map --focus src/store.rs --query 'retry on a busy database'
  weir map crates/core --budget 3000

Files are ranked by what the focus files use and what uses them, by the words of the query, by proximity, and \
by which files were changed together. The first map of a project reads all of it; later maps read only what changed. \
Files that git ignores, secrets and files that rules deny are never read.";

    async fn run(self, context: &Context) -> Result<Answer<MapData>, CommandError> {
        let folder = match self.path.as_deref() {
            None | Some("") => context.project().root.clone(),
            Some(named) => folder(context, named)?,
        };
        let focus = self.focus.iter().map(|named| super::file(context, named)).collect::<Result<Vec<_>, _>>()?;
        let query = self.query.unwrap_or_default().trim().to_owned();
        let (reach, budget) = (Reach::Project, Budget::new(self.budget));
        mapping::map(context, MapRequest { folder, reach, focus, query, budget }).await
    }
}

/// Returns the folder to map. A model may name folders of the project, people may name any.
pub(super) fn folder(context: &Context, named: &str) -> Result<PathBuf, CommandError> {
    let folder = super::folder(context, Some(named))?;
    let root = &context.project().root;
    if context.face().is_person() || folder.starts_with(root) {
        return Ok(folder);
    }
    let message = format!("{} is outside the project", folder.display());
    Err(CommandError::new(ErrorKind::Denied, message).hint(format!("name a folder below {}", root.display())))
}
