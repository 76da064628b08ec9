//! `ctx_context`: shows what happened last and what is known, as Markdown: recent sessions, prompts and notes.
//!
//! Invariants: the same store gives the same bytes, in every version; texts of others are single lines that are no
//! Markdown of their own, below a heading that says that they are data; what is left out is named.

mod arguments;
mod data;
mod gather;
mod render;

use weir_core::Level;
use weir_host::answer::{Answer, Budget};
use weir_host::choice::Choice;
use weir_host::error::{CommandError, ErrorKind};
use weir_knowledge::projects;

use super::{Declared, Effect, Listing};
use crate::needs::KnowledgeContext;
use crate::schema::silent;
use arguments::{NoteLimit, Switch};
pub use data::ContextData;
use gather::NoteQuery;
use render::{NoteForm, View};

/// The default budget of an answer, in tokens. Without arguments, an answer is a third of it at most, unless its texts
/// have many tokens for their length.
const DEFAULT_BUDGET: u32 = 8_000;

/// Show recent sessions, prompts and notes.
#[derive(Debug, clap::Args, serde::Deserialize, schemars::JsonSchema)]
pub struct RecentContext {
    /// Another project, by name, folder or key [default: this project]
    #[schemars(transform = silent)]
    #[arg(long, value_name = "NAME")]
    project: Option<String>,
    /// Only notes of this scope [default: all visible notes]
    #[schemars(transform = silent)]
    #[arg(long)]
    scope: Option<Choice<Level>>,
    /// Maximum number of notes [default: 20]
    #[schemars(transform = silent)]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    limit: Option<NoteLimit>,
    /// Show only titles and references of notes
    #[schemars(transform = silent)]
    #[arg(long, value_name = "YES|NO", num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    compact: Option<Switch>,
    /// Maximum tokens in the answer
    #[schemars(transform = silent)]
    #[arg(long, value_name = "TOKENS", default_value_t = DEFAULT_BUDGET)]
    #[serde(default = "super::fixed::<DEFAULT_BUDGET>")]
    budget: u32,
}

impl Declared for RecentContext {
    type Context = KnowledgeContext;
    type Data = ContextData;

    const TOOL: &'static str = weir_tools::CONTEXT.name;
    const COMMAND: Option<&'static str> = Some("context");
    const EFFECT: Effect = weir_tools::CONTEXT.effect;
    const ABOUT: Option<&'static str> = Some("Show recent sessions, prompts and notes as Markdown");
    const LISTING: Listing = Listing::Unlisted;
    const EXAMPLES: &'static str = "\
Examples:
  weir context
  weir context --compact --limit 8           titles and references of the newest notes
  weir context --project api --budget 500    another project, in at most 500 tokens
  weir context --scope work                  only the notes of this branch

Shows the last 5 sessions, the last 10 prompts and the newest notes that are not superseded. The limit applies to \
notes only; 0, a negative number or anything that is not a number means 20. \
The same store always produces the same text.";

    async fn run(self, context: &KnowledgeContext) -> Result<Answer<ContextData>, CommandError> {
        // A note of a project is for its own sessions, so no model is shown those of another one. The user may look.
        let reach = if context.face().is_person() { Reach::AnyProject } else { Reach::OwnProject };
        self.answer(context, reach).await
    }
}

/// Which projects a caller may ask for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Only the project of the call.
    OwnProject,
    /// Every project of this user.
    AnyProject,
}

impl RecentContext {
    /// Answers for the project of the call, or for the one that the caller names.
    pub async fn answer(self, context: &KnowledgeContext, reach: Reach) -> Result<Answer<ContextData>, CommandError> {
        let context = project_context(context, self.project.as_deref(), reach).await?;
        let form = match self.compact.as_ref().is_some_and(Switch::is_on) {
            true => NoteForm::Compact,
            false => NoteForm::Full,
        };
        let limit = self.limit.clone().unwrap_or_default();
        let query = NoteQuery { level: self.scope.map(|scope| scope.0), limit: limit.notes(), form };
        let recent = gather::read(&context, query).await?;
        let project = projects::name(&context.own_project().key);
        let misread = self.compact.as_ref().and_then(Switch::remark);
        let budget = Budget::new(self.budget);
        let view = View { project: &project, face: context.face(), budget, form, remark: misread.as_deref() };
        let mut answer = render::answer(&recent, &view);
        answer.data.remarks.extend(limit.remark());
        answer.data.remarks.extend(misread);
        Ok(answer)
    }
}

/// Returns the context of a call on what is known about the project that the caller names: its own, or another one of
/// this user if that is within its reach.
pub async fn project_context(
    context: &KnowledgeContext,
    project: Option<&str>,
    reach: Reach,
) -> Result<KnowledgeContext, CommandError> {
    let own = context.own_project();
    let named = project.map(str::trim).filter(|name| !name.is_empty());
    let Some(name) = named.filter(|name| !projects::is_called(&own, name)) else { return Ok(context.clone()) };
    if reach == Reach::OwnProject {
        let message = "cannot use another project: a session sees the notes of its own project and of the user";
        return Err(CommandError::new(ErrorKind::Denied, message)
            .hint("omit `project`; the user can run `weir context --project NAME`"));
    }
    let name = name.to_owned();
    let known = context
        .with_stores(move |open| {
            let all = open.user()?.projects()?;
            projects::find(&all, &name).cloned()
        })
        .await?;
    context.of_known(&known)
}
