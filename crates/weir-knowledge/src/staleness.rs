//! Finds doubts about entries: their files have changed, or their commit is not part of what is checked out.
//!
//! Invariants: a doubt is a verified fact, never a guess, and what cannot be determined is not reported; entries that
//! are bound to nothing cost nothing.

mod commits;
mod files;
mod git_query;

use std::fmt;
use std::time::Duration;

use weir_context::Context;
use weir_core::note::BoundFile;
use weir_core::wording::one_line;
use weir_core::{Entry, Level};

pub use files::bind;
pub use git_query::GitQuery;

/// How long an answer waits for git.
pub const GIT_TIMEOUT: Duration = Duration::from_millis(300);
/// How many characters of a commit hash are shown.
const SHORT_COMMIT_CHARS: usize = 7;

/// A fact that speaks against an entry.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(tag = "doubt", rename_all = "snake_case")]
pub enum Doubt {
    /// The content of a file that the entry depends on has changed.
    FileChanged { path: String },
    /// A file that the entry depends on no longer exists.
    FileGone { path: String },
    /// A file that a teammate's entry depends on is not on this machine, so nothing can be said about it.
    UnknownHere { path: String },
    /// The commit that was checked out when the entry was written is not part of what is checked out now.
    OtherBranch {
        /// The commit that was checked out.
        commit: String,
        /// The branch, if there was one.
        branch: Option<String>,
    },
}

impl fmt::Display for Doubt {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FileChanged { path } => write!(out, "{} has changed since", one_line(path, 120)),
            Self::UnknownHere { path } => write!(out, "unknown here: this machine has no {}", one_line(path, 120)),
            Self::FileGone { path } => write!(out, "{} is gone", one_line(path, 120)),
            Self::OtherBranch { commit, branch } => {
                write!(
                    out,
                    "from commit {}",
                    one_line(commit.get(..SHORT_COMMIT_CHARS).unwrap_or(commit), SHORT_COMMIT_CHARS)
                )?;
                if let Some(branch) = branch {
                    write!(out, " (branch {})", one_line(branch, 60))?;
                }
                out.write_str(", which is not in HEAD")
            }
        }
    }
}

/// Returns the doubts about each entry, in the order of the entries. Waits no longer than `patience`. The work is done
/// off the async thread.
pub async fn labels(context: &Context, entries: &[&Entry], patience: Duration) -> Vec<Vec<Doubt>> {
    let claims: Vec<Option<Claim>> = entries.iter().map(|entry| claim(entry)).collect();
    if claims.iter().all(Option::is_none) {
        return vec![Vec::new(); entries.len()];
    }
    let context = context.clone();
    let looked = tokio::task::spawn_blocking(move || look(&context, &claims, patience)).await;
    // An answer without labels is better than none.
    looked.unwrap_or_else(|_| vec![Vec::new(); entries.len()])
}

/// The files and the commit that an entry is bound to.
struct Claim {
    files: Vec<BoundFile>,
    commit: Option<String>,
    branch: Option<String>,
    /// Whether the entry was written on another machine.
    is_received: bool,
}

fn claim(entry: &Entry) -> Option<Claim> {
    let note = entry.note.as_ref()?;
    // A note at user level may come from another project, where the same relative path is a different file.
    let anywhere = |file: &&BoundFile| entry.level != Level::User || std::path::Path::new(&file.path).is_absolute();
    let files: Vec<BoundFile> = note.files.iter().filter(anywhere).cloned().collect();
    let bound = !files.is_empty() || note.commit.is_some();
    let is_received = entry.teammate().is_some();
    bound.then(|| Claim { files, commit: note.commit.clone(), branch: note.branch.clone(), is_received })
}

fn look(context: &Context, claims: &[Option<Claim>], patience: Duration) -> Vec<Vec<Doubt>> {
    let mut files = files::BoundFiles::new(&context.project().root);
    let named = claims.iter().flatten().filter_map(|claim| claim.commit.as_deref());
    let elsewhere = commits::not_in_head(context, named, patience);
    let mut doubts = |claim: &Claim| {
        let here = |doubt: Doubt| match doubt {
            // It may never have been here.
            Doubt::FileGone { path } if claim.is_received => Doubt::UnknownHere { path },
            doubt => doubt,
        };
        let mut doubts: Vec<Doubt> = claim.files.iter().filter_map(|file| files.doubt(file)).map(here).collect();
        if let Some(commit) = claim.commit.as_ref().filter(|commit| elsewhere.contains(*commit)) {
            doubts.push(Doubt::OtherBranch { commit: commit.clone(), branch: claim.branch.clone() });
        }
        doubts
    };
    claims.iter().map(|claim| claim.as_ref().map(&mut doubts).unwrap_or_default()).collect()
}

#[cfg(test)]
mod tests;
