//! Finds which files were changed together, from git's history. Git is queried once per checked-out commit; without git
//! or outside a repository, there is no history.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use weir_context::Context;
use weir_core::Scope;
use weir_host::error::CommandError;
use weir_host::git;
use weir_outline::map::Commits;
use weir_store::Store;

use super::key;
use crate::staleness::GitQuery;

const COMMITS: &str = "1000";
/// How long a map waits for git.
const GIT_TIMEOUT: Duration = Duration::from_secs(5);
const MAX_OUTPUT_BYTES: u64 = 8 << 20;
/// Marks the beginning of each commit.
const MARK: &str = "\u{1e}";

pub(super) fn commits(
    context: &Context,
    store: &mut Store,
    scope: &Scope,
    root: &Path,
) -> Result<Commits, CommandError> {
    // The history only refines the map, so one that cannot be read now is left out.
    let Ok(Some(repository)) = git::discover(root) else { return Ok(Commits::default()) };
    let Some(head) = repository.head().unwrap_or_default().commit else { return Ok(Commits::default()) };
    let key = key(root);
    if let Some((_, kept)) = store.map_commits(scope, &key)?.filter(|(known, _)| *known == head) {
        return Ok(Commits::read(&kept));
    }
    context.report_progress("map: checking in git which files change together");
    // Paths are made relative to the folder, unless the folder is the root of the repository.
    let Some(below) = root.strip_prefix(&repository.work_tree).ok().and_then(Path::to_str) else {
        return Ok(Commits::default());
    };
    let relative = if below.is_empty() { "--relative".to_owned() } else { format!("--relative={below}/") };
    let arguments = ["-c", "core.quotePath=false", "log", "--no-merges", "--no-renames", "--name-only", &relative];
    let arguments = arguments.into_iter().chain(["--format=tformat:%x1e", "-n", COMMITS, &head]);
    let arguments: Vec<OsString> = arguments.map(OsString::from).collect();
    // If git fails, it is not queried again before the next commit.
    let question = GitQuery { repository: &repository, head: &head, folder: root };
    let said =
        question.ask(context, GIT_TIMEOUT, MAX_OUTPUT_BYTES, |git| [vec![git.into()], arguments.clone()].concat());
    let said = said.unwrap_or_default();
    let commits = parse(&String::from_utf8_lossy(&said));
    store.keep_map_commits(scope, &key, &head, &commits.write())?;
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
