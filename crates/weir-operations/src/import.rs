//! `ctx_import`: imports past sessions from the transcripts of clients, and exports.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use weir_clients::transcript;
use weir_context::Context;
use weir_core::wording::quoted;
use weir_host::answer::Answer;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::foreign;
use weir_host::os;
use weir_host::when;
use weir_session::importing::{self, ImportData, ImportRequest, ImportScope};

use super::{Declared, Effect};
use crate::schema::silent;

/// Import this project's past sessions from client transcripts, so that ctx_search and ctx_history find them.
#[derive(Debug, clap::Args, serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct Import {
    /// Transcript, folder of transcripts, or export of Weir or engram [default: where clients keep them]
    #[schemars(transform = silent)]
    #[serde(default)]
    path: Option<String>,
    /// Only transcripts of this client
    #[schemars(transform = silent)]
    #[arg(long, value_parser = PossibleValuesParser::new(weir_clients::all().map(|client| client.name)))]
    #[serde(default)]
    client: Option<String>,
    /// Only sessions that began since: 6h, 3d or a date
    #[schemars(transform = silent)]
    #[arg(long, value_name = "WHEN")]
    #[serde(default)]
    since: Option<String>,
    /// Show what would be imported without importing it
    #[schemars(transform = silent)]
    #[arg(long)]
    #[serde(default)]
    dry_run: bool,
    /// Import the sessions of every project into their own stores
    #[schemars(skip)]
    #[arg(long, conflicts_with = "here")]
    #[serde(skip)]
    all: bool,
    /// Import everything at PATH into this project, no matter where it was recorded
    #[schemars(skip)]
    #[arg(long, requires = "path")]
    #[serde(skip)]
    here: bool,
    /// Import the project with this name from an export into this project
    #[schemars(skip)]
    #[arg(long, value_name = "NAME", requires = "path", conflicts_with_all = ["here", "all"])]
    #[serde(skip)]
    project_name: Option<String>,
}

impl Declared for Import {
    type Context = Context;
    type Data = ImportData;

    const TOOL: &'static str = "ctx_import";
    const COMMAND: Option<&'static str> = Some("import");
    const EFFECT: Effect = Effect::Adds;
    const ABOUT: Option<&'static str> = Some("Import this project's past sessions from the transcripts of clients");
    const EXAMPLES: &'static str = "\
Examples:
  weir import --dry-run               show what can be imported for this project
  weir import                         import this project's sessions from every client
  weir import --all --since 30d       import every project's sessions that began in the last 30 days
  weir import old.jsonl --here        import a transcript from another machine into this project
  weir import engram-export.json      import what engram kept for this project
  weir import export.jsonl            import what `weir export` wrote for this project
  weir search 'why argon2' --kind said

Afterwards, `weir search` and `weir history` find them. Reads the transcripts of clients, plain rows from any other \
program (docs/carry-over.md describes the format), and what `weir export` and `engram export` write. Prompts, \
decisions, errors and their fixes, commits, files and the clients' own summaries keep their original times. Running \
it again imports only what is new.";

    async fn run(self, context: &Context) -> Result<Answer<ImportData>, CommandError> {
        let client = self.client.as_deref().map(client).transpose()?;
        let since = self.since.as_deref().map(|text| when::parse(text, when::now())).transpose()?;
        let paths: Vec<PathBuf> =
            self.path.iter().map(|path| foreign::resolved(&context.env().folder.join(path))).collect();
        if !context.face().is_person() {
            paths.iter().try_for_each(|path| check(context, path))?;
        }
        let whose = match (self.all, self.here) {
            (true, _) => ImportScope::All,
            (_, true) => ImportScope::Here,
            _ => ImportScope::Project,
        };
        let order =
            ImportRequest { paths, client, since, dry_run: self.dry_run, whose, project_name: self.project_name };
        let context = context.with_own_stores();
        let task = tokio::task::spawn_blocking(move || importing::run(&context, &order, when::now()));
        task.await.map_err(|error| CommandError::broken(&format!("the import failed: {error}")))?
    }
}

fn client(name: &str) -> Result<&'static weir_clients::Client, CommandError> {
    weir_clients::find(name).ok_or_else(|| {
        let names: Vec<&str> = weir_clients::all().map(|client| client.name).collect();
        CommandError::usage(format!("unknown client `{name}`")).hint(format!("use one of {}", names.join(", ")))
    })
}

/// Checks that a path named by a model is where a client keeps its transcripts. A file of the project could attribute
/// words to the user.
fn check(context: &Context, path: &std::path::Path) -> Result<(), CommandError> {
    let home = context.env().home.as_ref();
    let mut folders = transcript::folders().filter_map(|(_, folder)| os::real_path(&home?.join(folder)).ok());
    if folders.any(|folder| path.starts_with(folder)) {
        return Ok(());
    }
    let named = path.display();
    Err(CommandError::new(ErrorKind::Denied, format!("cannot import {named}: no client keeps transcripts there"))
        .hint(format!("the user can import it: weir import {}", quoted(&named.to_string()))))
}
