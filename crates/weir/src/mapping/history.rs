//! Which files were changed together, as git knows it. Git is asked in a sandbox where it may change nothing and reaches
//! no network, once for each commit that is checked out; without git or outside of a repository there is nothing to know.

use std::path::Path;
use std::time::Duration;

use weir_outline::map::Commits;

use super::{Kept, key};
use crate::context::Context;
use crate::error::CommandError;
use crate::{git, truth};

/// So many commits are looked at.
const COMMITS: &str = "1000";
/// How long a map waits for git.
const PATIENCE: Duration = Duration::from_secs(5);
/// More than this is not read of what git says.
const MOST: u64 = 8 << 20;
/// Stands at the beginning of each commit.
const MARK: &str = "\u{1e}";

/// The newest commits of a folder.
pub(super) fn commits(context: &Context, (store, scope): Kept<'_>, root: &Path) -> Result<Commits, CommandError> {
    let Some(repository) = git::discover(root) else { return Ok(Commits::default()) };
    let Some(head) = repository.head().commit else { return Ok(Commits::default()) };
    let key = key(root);
    if let Some((_, kept)) = store.map_commits(scope, &key)?.filter(|(known, _)| *known == head) {
        return Ok(Commits::read(&kept));
    }
    context.tell("map: asking git which files change together");
    let arguments = ["-c", "core.quotePath=false", "log", "--no-merges", "--no-renames", "--name-only", "--relative"];
    let arguments = arguments.into_iter().chain(["--format=tformat:%x1e", "-n", COMMITS]);
    // What git cannot say now is not asked again before the next commit.
    let said = truth::ask_git_at_length(context, (root, &repository), arguments, (PATIENCE, MOST)).unwrap_or_default();
    let commits = parse(&String::from_utf8_lossy(&said));
    store.keep_map_commits(scope, &key, (&head, &commits.write()))?;
    Ok(commits)
}

fn parse(said: &str) -> Commits {
    let files = |commit: &str| commit.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
    Commits::new(said.split(MARK).map(files))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_are_told_apart_and_single_files_say_nothing() {
        let commits = parse("\u{1e}\n\na.rs\nb.rs\n\u{1e}\n\u{1e}\n\nc.rs\n\u{1e}\n\na.rs\nd e.rs\n");
        assert_eq!(commits.write(), "a.rs\nb.rs\n\na.rs\nd e.rs");
    }
}
