//! What the user's rules, and the places that are nobody's to touch, say of a file.
//!
//! Invariant: the strictest of all that speaks of a file decides; what is outside of the project needs a rule that allows.

use std::path::Path;

use weir_core::Origin;
use weir_policy::audit::{Kind, names};
use weir_policy::judge::judge_tool;
use weir_policy::rules::{Rules, Subject, Verdict};

use super::Place;
use crate::context::Context;
use crate::error::{CommandError, ErrorKind};
use crate::indexing::Judge;

/// What is to be done with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access<'a> {
    /// Read it.
    Read,
    /// Change it as the text says.
    Change(&'a str),
    /// Change it, or make it, with this text.
    Create(&'a str),
}

/// What speaks against the use of a file.
struct Reason {
    verdict: Verdict,
    why: String,
}

/// Lets a file be used, or says why not. `asked` is the path before its links were followed.
pub(super) async fn permit(
    context: &Context,
    tool: &str,
    (asked, place): (&Path, &Place),
    access: Access<'_>,
) -> Result<(), CommandError> {
    let judge = Judge::new(context)?;
    let mut reasons: Vec<Reason> = judge_tool(judge.rules(), tool)
        .reasons
        .into_iter()
        .map(|reason| Reason { verdict: reason.verdict, why: reason.to_string() })
        .collect();
    for path in [&place.full, &lexical(asked)] {
        reasons.extend(spoken(&judge, path, access));
    }
    reasons.extend(protected(context, &judge, &place.full, access));
    let verdict = reasons.iter().map(|reason| reason.verdict).max().unwrap_or(Verdict::Allow);
    let mut why: Vec<String> = reasons.into_iter().filter(|it| it.verdict == verdict).map(|it| it.why).collect();
    why.dedup();
    why.truncate(3);
    let why = why.join("; ");
    let (question, nothing) = match access {
        Access::Read => ("Read it?", "nothing was read"),
        Access::Change(_) | Access::Create(_) => ("Change it?", "nothing was changed"),
    };
    match verdict {
        Verdict::Allow => Ok(()),
        Verdict::Ask if context.consent(&format!("{question} {why}"), &asked_about(place, access)).await? => Ok(()),
        Verdict::Ask => Err(CommandError::new(ErrorKind::Denied, format!("{nothing}. {why}"))
            .hint("the user was not there to be asked, or said no; ask the user to allow it")),
        Verdict::Deny => Err(CommandError::new(ErrorKind::Denied, format!("{nothing}. {why}"))
            .hint("do not try another way; the user can do it, or change the rule")),
    }
}

/// What a question shows: the file, and what becomes of it.
fn asked_about(place: &Place, access: Access<'_>) -> String {
    match access {
        Access::Read => place.shown.clone(),
        Access::Change(text) | Access::Create(text) => format!("{}\n\n{text}", place.shown),
    }
}

/// A path without `.` and `..`, as a rule about names would see it.
fn lexical(path: &Path) -> std::path::PathBuf {
    use std::path::Component;
    let mut plain = std::path::PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

/// What rules about paths say. What must not be read must not be changed either, since an answer shows what changed.
fn spoken(judge: &Judge, path: &Path, access: Access<'_>) -> Vec<Reason> {
    let strict = judge.rules().iter().filter(|rule| rule.verdict > Verdict::Allow);
    let concerns = |subject: &Subject| match subject {
        Subject::Read(pattern) => pattern.covers(path, judge.places()),
        Subject::Edit(pattern) => access != Access::Read && pattern.covers(path, judge.places()),
        _ => false,
    };
    let said = |verdict| if verdict == Verdict::Deny { "denies it" } else { "asks about it" };
    strict
        .filter(|rule| concerns(&rule.subject))
        .map(|rule| Reason {
            verdict: rule.verdict,
            why: format!("the rule {} in {} {}", rule.text, rule.path.display(), said(rule.verdict)),
        })
        .collect()
}

/// What holds without a rule.
fn protected(context: &Context, judge: &Judge, path: &Path, access: Access<'_>) -> Option<Reason> {
    let deny = |why: &str| Some(Reason { verdict: Verdict::Deny, why: why.to_owned() });
    if judge.hides(path) {
        return deny("it is a place of secrets, or Weir's own");
    }
    // A person at a terminal may look at what is theirs; a model stays in the project.
    let looks = access == Access::Read && context.origin == Origin::User;
    if !looks && !is_inside(judge, path) && !is_allowed(judge.rules(), judge, path, access) {
        return deny("it is outside of the project, and no rule of the user's allows it");
    }
    if access == Access::Read {
        return None;
    }
    if path.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git")) {
        return deny("it belongs to git");
    }
    let config = context.paths().config.parent().and_then(|folder| folder.canonicalize().ok());
    if config.is_some_and(|folder| path.starts_with(folder)) {
        return deny("it is Weir's own configuration");
    }
    runs_later(judge, path)
}

fn is_inside(judge: &Judge, path: &Path) -> bool {
    let places = judge.places();
    let more = judge.rules().additional_folders().iter().filter_map(|folder| {
        let folder = match folder.strip_prefix("~") {
            Ok(rest) => places.home.join(rest),
            Err(_) => folder.clone(),
        };
        folder.canonicalize().ok()
    });
    path.starts_with(&places.project) || more.into_iter().any(|folder| path.starts_with(folder))
}

fn is_allowed(rules: &Rules, judge: &Judge, path: &Path, access: Access<'_>) -> bool {
    rules.iter().filter(|rule| rule.verdict == Verdict::Allow).any(|rule| match &rule.subject {
        Subject::Read(pattern) => access == Access::Read && pattern.covers(path, judge.places()),
        Subject::Edit(pattern) => access != Access::Read && pattern.covers(path, judge.places()),
        _ => false,
    })
}

/// What other programs run or obey by themselves is changed only with the user's consent, as clients have it too. What a
/// build or a test runs is not asked about: to change it is what a coding agent is there for.
fn runs_later(judge: &Judge, path: &Path) -> Option<Reason> {
    let found = names::find_in(&judge.places().project, path).filter(|found| found.kind != Kind::Executed)?;
    Some(Reason { verdict: Verdict::Ask, why: format!("it is among what other programs obey ({})", found.what) })
}
