//! What the user's rules, and the places that are nobody's to touch, say of a file.
//!
//! Invariant: the strictest of all that speaks of a file decides; what is outside of the project needs a rule that allows.

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

/// What holds without a rule. `asked` is the path before its links were followed.
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

/// What other programs run or obey by themselves is changed only with the user's consent, as clients have it too. What a
/// build or a test runs is not asked about: to change it is what a coding agent is there for.
fn runs_later(judge: &Judge, path: &Path) -> Option<Reason> {
    let found = names::find_in(&judge.places().project, path).filter(|found| found.kind != Kind::Executed)?;
    Some(Reason { verdict: Verdict::Ask, why: format!("other programs act on it ({})", found.what) })
}
