//! Decides whether a file may be used, from the user's rules and the protected paths.
//!
//! Invariant: the strictest rule that applies to a file decides; a file outside the project needs a rule that allows
//! it.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use weir_policy::audit::{Kind, names};
use weir_policy::judge::judge_tool;
use weir_policy::rules::{Subject, Verdict};

use super::Place;
use crate::context::Context;
use crate::error::{CommandError, ErrorKind};
use crate::indexing::{Judge, OUTSIDE};
use crate::own;

/// The access to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access<'a> {
    /// Reads the file.
    Read,
    /// Changes the file as the text describes.
    Change(&'a str),
    /// Creates the file, or replaces its content, with this text.
    Create(&'a str),
}

/// A reason against using a file.
struct Reason {
    verdict: Verdict,
    why: String,
}

/// Permits the use of a file, or returns why not. `asked` is the path before its links were followed.
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
    let asked = lexical(asked);
    for path in [&place.full, &asked] {
        reasons.extend(spoken(&judge, path, access));
    }
    reasons.extend(protected(context, &judge, (&asked, &place.full), access));
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
            .hint("the user could not be asked or declined; ask the user to allow it")),
        Verdict::Deny => Err(CommandError::new(ErrorKind::Denied, format!("{nothing}. {why}"))
            .hint("do not work around this; the user can do it or change the rule")),
    }
}

/// Returns what a question shows: the file, and the change to it.
fn asked_about(place: &Place, access: Access<'_>) -> String {
    match access {
        Access::Read => place.shown.clone(),
        Access::Change(text) | Access::Create(text) => format!("{}\n\n{text}", place.shown),
    }
}

/// Returns a path without `.` and `..`, as a rule about names sees it.
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

/// Returns what rules about paths say. A file that must not be read must not be changed either, since an answer shows
/// the change.
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

/// Returns what applies without a rule. `asked` is the path before its links were followed.
fn protected(context: &Context, judge: &Judge, (asked, path): (&Path, &Path), access: Access<'_>) -> Option<Reason> {
    let deny = |why: &str| Some(Reason { verdict: Verdict::Deny, why: why.to_owned() });
    let ask = |why: &str| Some(Reason { verdict: Verdict::Ask, why: why.to_owned() });
    if judge.hides(path) {
        return deny("it holds secrets or belongs to Weir");
    }
    if !judge.may_reach(context.origin, path, access) {
        return deny(OUTSIDE);
    }
    if access == Access::Read {
        return None;
    }
    if path.components().any(|part| part.as_os_str().eq_ignore_ascii_case(".git")) {
        return deny("it belongs to git");
    }
    if judge.own().hold(path) || judge.own().hold(asked) {
        return deny("it is Weir's own configuration, data or cache");
    }
    if own::holds_home(context) {
        return ask("the folder contains the home folder and is not a project");
    }
    if path.symlink_metadata().is_ok_and(|about| about.permissions().mode() & 0o222 == 0) {
        return ask("it is read-only");
    }
    runs_later(judge, path)
}

/// Files that other programs run or obey on their own are changed only with the user's consent, as in clients. Files
/// that a build or a test runs need none, since changing them is a coding agent's job.
fn runs_later(judge: &Judge, path: &Path) -> Option<Reason> {
    let found = names::find_in(&judge.places().project, path).filter(|found| found.kind != Kind::Executed)?;
    Some(Reason { verdict: Verdict::Ask, why: format!("other programs act on it ({})", found.what) })
}
