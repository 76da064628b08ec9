//! Decides which files may be read for indexing: neither those that the user's rules deny, nor places of secrets.
//!
//! Invariant: a rule that cannot be understood never makes the decision more lenient. A rule that asks counts as one
//! that denies, since the user cannot be asked about each file.

use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use weir_core::Origin;
use weir_policy::judge::judge_tool;
use weir_policy::masks::{Places, is_secret, secrets};
use weir_policy::rules::{PathRules, Rule, Rules, Subject, Verdict};

use super::report::Why;
use crate::context::Context;
use crate::error::{CommandError, ErrorKind};
use crate::files::Access;
use crate::foreign::resolved;
use crate::own::OwnPlaces;
use crate::run::rules;

/// The name under which clients know the tool that indexes.
const TOOL: &str = "mcp__weir__ctx_index";

/// The reason given to a model for a place that only the user can open to it.
pub(crate) const OUTSIDE: &str = "it is outside the project, and no user rule allows it";

/// Permits the indexing of a path or a text, or returns why not. The path is given as named and with links resolved.
pub(crate) async fn permit(context: &Context, path: Option<(&str, &Path)>) -> Result<(), CommandError> {
    let judge = Judge::new(context)?;
    if let Some((named, full)) = path
        && !judge.may_reach(context.origin, full, Access::Read)
    {
        return Err(CommandError::new(ErrorKind::Denied, format!("nothing was indexed. {named}: {OUTSIDE}")).hint(
            "do not work around this; the user can index it, or allow it with a rule such as Read(//folder/**)",
        ));
    }
    let mut reasons = judge_tool(judge.rules(), TOOL).reasons;
    // Rules about reading do not apply to a text that was passed in.
    reasons.retain(|reason| path.is_some() || reason.command == TOOL);
    let verdict = reasons.iter().map(|reason| reason.verdict).max().unwrap_or(Verdict::Allow);
    let strict = reasons.iter().filter(|reason| reason.verdict == verdict);
    let why = strict.take(3).map(ToString::to_string).collect::<Vec<_>>().join("; ");
    let about = path.map_or("a text", |(named, _)| named);
    match verdict {
        Verdict::Allow => Ok(()),
        Verdict::Ask if context.consent(&format!("Index it? {why}"), about).await? => Ok(()),
        Verdict::Ask => Err(CommandError::new(ErrorKind::Denied, format!("nothing was indexed. {why}"))
            .hint("the user could not be asked or declined; ask the user to allow it")),
        Verdict::Deny => Err(CommandError::new(ErrorKind::Denied, format!("nothing was indexed. {why}"))
            .hint("blocked by a user rule; do not work around it")),
    }
}

/// Decides which files may be read.
pub(crate) struct Judge {
    rules: Rules,
    places: Places,
    /// The rules that deny reading or ask about it.
    denials: PathRules,
    /// The places of secrets below the home folder.
    at_home: Gitignore,
    own: OwnPlaces,
}

impl Judge {
    /// Returns a judge with the current rules.
    pub(crate) fn new(context: &Context) -> Result<Self, CommandError> {
        let home = resolved(context.env().home.as_deref().unwrap_or(Path::new("/")));
        let at_home = lines(&home, secrets::HOME.iter().map(|secret| format!("/{}", secret.pattern)))?;
        let places =
            Places { home, project: resolved(&context.project().root), folder: resolved(&context.env().folder) };
        let rules = rules::read(context);
        let denies = |rule: &Rule| rule.verdict > Verdict::Allow && matches!(rule.subject, Subject::Read(_));
        let denials = PathRules::of(&rules, &places, denies);
        Ok(Self { rules, places, denials, at_home, own: OwnPlaces::of(context) })
    }

    /// Returns why a path must not be read, if it must not. The path must contain no links.
    pub(crate) fn refuses(&self, path: &Path) -> Option<Why> {
        if self.denials.cover(&self.rules, path) {
            return Some(Why::Denied);
        }
        self.hides(path).then_some(Why::Secret)
    }

    /// Whether a path is a place of secrets or Weir's own, regardless of the rules.
    pub(crate) fn hides(&self, path: &Path) -> bool {
        let is_lifted = || self.rules.readable().iter().any(|pattern| pattern.covers(path, &self.places));
        self.own.keep(path) || (self.is_secret(path) && !is_lifted())
    }

    /// Whether a call of this origin may access a path, which must contain no links: it is in the project, in a folder
    /// that the user added to the project, or allowed by a user rule. A person at a terminal may read their own files.
    pub(crate) fn may_reach(&self, origin: Origin, path: &Path, access: Access) -> bool {
        let looks = access == Access::Read && origin == Origin::User;
        looks || self.is_inside(path) || self.is_allowed(path, access)
    }

    fn is_inside(&self, path: &Path) -> bool {
        let added = self.rules.additional_folders().iter().filter_map(|folder| {
            let folder = match folder.strip_prefix("~") {
                Ok(rest) => self.places.home.join(rest),
                Err(_) => folder.clone(),
            };
            folder.canonicalize().ok()
        });
        path.starts_with(&self.places.project) || added.into_iter().any(|folder| path.starts_with(folder))
    }

    fn is_allowed(&self, path: &Path, access: Access) -> bool {
        // A pattern such as `folder/**` matches what is in the folder.
        let inside = path.join("*");
        let paths = if path.is_dir() { [path, &inside] } else { [path, path] };
        self.rules.iter().filter(|rule| rule.verdict == Verdict::Allow).any(|rule| match &rule.subject {
            Subject::Read(pattern) => {
                access == Access::Read && paths.iter().any(|path| pattern.covers(path, &self.places))
            }
            Subject::Edit(pattern) => access != Access::Read && pattern.covers(path, &self.places),
            _ => false,
        })
    }

    /// Returns Weir's own folders.
    pub(crate) fn own(&self) -> &OwnPlaces {
        &self.own
    }

    /// Returns the current rules.
    pub(crate) fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Returns the folders that the patterns of rules are relative to.
    pub(crate) fn places(&self) -> &Places {
        &self.places
    }

    fn is_secret(&self, path: &Path) -> bool {
        let below_home = path.starts_with(&self.places.home) && path != self.places.home;
        is_secret(path, &self.places.project)
            || (below_home && self.at_home.matched_path_or_any_parents(path, false).is_ignore())
    }
}

/// Returns a case-insensitive matcher for a list of names.
fn lines(root: &Path, lines: impl Iterator<Item = String>) -> Result<Gitignore, CommandError> {
    let broken = |error: ignore::Error| CommandError::broken(&format!("cannot use the list of secrets: {error}"));
    let mut builder = GitignoreBuilder::new(root);
    builder.case_insensitive(true).map_err(broken)?;
    for line in lines {
        builder.add_line(None, &line).map_err(broken)?;
    }
    builder.build().map_err(broken)
}
