//! What may be read to be indexed: neither what the user's rules deny, nor where secrets are.
//!
//! Invariant: what cannot be understood is never a reason to be more lenient. A rule that asks counts as one that
//! denies, since nobody can be asked about each file.

use std::path::{Path, PathBuf};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use weir_policy::judge::judge_tool;
use weir_policy::masks::{Places, is_secret, secrets};
use weir_policy::rules::{Rules, Subject, Verdict};

use super::report::Why;
use crate::context::Context;
use crate::error::{CommandError, ErrorKind};
use crate::run::rules;

/// The name by which clients know the tool that indexes.
const TOOL: &str = "mcp__weir__ctx_index";

/// Lets indexing of a path or of a text pass, or says why not.
pub(crate) async fn permit(context: &Context, path: Option<&str>) -> Result<(), CommandError> {
    let mut reasons = judge_tool(&rules::read(context), TOOL).reasons;
    // Rules about reading do not concern a text that was given.
    reasons.retain(|reason| path.is_some() || reason.command == TOOL);
    let verdict = reasons.iter().map(|reason| reason.verdict).max().unwrap_or(Verdict::Allow);
    let strict = reasons.iter().filter(|reason| reason.verdict == verdict);
    let why = strict.take(3).map(ToString::to_string).collect::<Vec<_>>().join("; ");
    let about = path.unwrap_or("a text");
    match verdict {
        Verdict::Allow => Ok(()),
        Verdict::Ask if context.consent(&format!("Index it? {why}"), about).await? => Ok(()),
        Verdict::Ask => Err(CommandError::new(ErrorKind::Denied, format!("nothing was indexed. {why}"))
            .hint("the user was not there to be asked, or said no; ask the user to allow it")),
        Verdict::Deny => Err(CommandError::new(ErrorKind::Denied, format!("nothing was indexed. {why}"))
            .hint("this is a rule of the user's; do not try another way")),
    }
}

/// Decides about files.
pub(crate) struct Judge {
    rules: Rules,
    places: Places,
    /// Places of secrets below the home folder.
    at_home: Gitignore,
    /// What Weir keeps, which other calls may not see.
    data: Option<PathBuf>,
}

impl Judge {
    /// One that knows the rules as they are now.
    pub(crate) fn new(context: &Context) -> Result<Self, CommandError> {
        let canonical = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let home = canonical(context.env().home.as_deref().unwrap_or(Path::new("/")));
        let at_home = lines(&home, secrets::HOME.iter().map(|secret| format!("/{}", secret.pattern)))?;
        let places =
            Places { home, project: canonical(&context.project().root), folder: canonical(&context.env().folder) };
        let data = context.paths().data.canonicalize().ok();
        Ok(Self { rules: rules::read(context), places, at_home, data })
    }

    /// Why a path must not be read, if it must not. The path has no links in it.
    pub(crate) fn refuses(&self, path: &Path) -> Option<Why> {
        let denies = self
            .rules
            .iter()
            .filter(|rule| rule.verdict > Verdict::Allow)
            .any(|rule| matches!(&rule.subject, Subject::Read(pattern) if pattern.covers(path, &self.places)));
        if denies {
            return Some(Why::Denied);
        }
        self.hides(path).then_some(Why::Secret)
    }

    /// Whether a path is a place of secrets or Weir's own, whatever the rules say.
    pub(crate) fn hides(&self, path: &Path) -> bool {
        let is_ours = self.data.as_ref().is_some_and(|data| path.starts_with(data));
        let is_lifted = || self.rules.readable().iter().any(|pattern| pattern.covers(path, &self.places));
        is_ours || (self.is_secret(path) && !is_lifted())
    }

    /// The rules as they are now.
    pub(crate) fn rules(&self) -> &Rules {
        &self.rules
    }

    /// The folders that their patterns are relative to.
    pub(crate) fn places(&self) -> &Places {
        &self.places
    }

    fn is_secret(&self, path: &Path) -> bool {
        let below_home = path.starts_with(&self.places.home) && path != self.places.home;
        is_secret(path, &self.places.project)
            || (below_home && self.at_home.matched_path_or_any_parents(path, false).is_ignore())
    }
}

/// A list of names, in any case.
fn lines(root: &Path, lines: impl Iterator<Item = String>) -> Result<Gitignore, CommandError> {
    let broken = |error: ignore::Error| CommandError::broken(&format!("the list of secrets cannot be used: {error}"));
    let mut builder = GitignoreBuilder::new(root);
    builder.case_insensitive(true).map_err(broken)?;
    for line in lines {
        builder.add_line(None, &line).map_err(broken)?;
    }
    builder.build().map_err(broken)
}
