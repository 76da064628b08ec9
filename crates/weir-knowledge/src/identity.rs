//! Determines the identity of a repository. Git lists its root commits in the sandbox in which it answers all other
//! queries; only a complete and timely list counts.

use std::time::Duration;

use weir_context::Context;
use weir_core::RepositoryIdentity;
use weir_host::project::Project;

use crate::staleness::GitQuery;

const MAX_OUTPUT_BYTES: u64 = 64 << 10;
/// The last line of a complete list.
const END: &str = "end";

/// Prints the commits without parents, and a last line if these are all.
const SCRIPT: &str = r#""$1" rev-list --max-parents=0 "$2" 2>/dev/null && echo end"#;

/// Returns the identity of a project's repository, or why it cannot be determined.
pub fn of(context: &Context, project: &Project, patience: Duration) -> Result<RepositoryIdentity, &'static str> {
    let repository = project.repository().ok_or("it is not a git repository")?;
    let unreadable = |_| "git's files cannot be read at the moment";
    if repository.is_shallow().map_err(unreadable)? {
        return Err("it is a shallow clone, which does not have the first commit");
    }
    let head = repository.head().map_err(unreadable)?.commit.ok_or("it has no commit")?;
    let origin = repository.origin().map_err(unreadable)?;
    let question = GitQuery { repository, head: &head, folder: &repository.work_tree };
    let said = question.ask(context, patience, MAX_OUTPUT_BYTES, |git| {
        ["/bin/sh".into(), "-c".into(), SCRIPT.into(), "sh".into(), git.into(), head.as_str().into()].into()
    });
    let said = said.ok_or("git cannot be run in a sandbox here")?;
    let said = String::from_utf8_lossy(&said);
    let roots = complete(&said).ok_or("git did not list its first commits in time")?;
    RepositoryIdentity::new(roots, origin.as_deref()).ok_or("git did not list its first commits")
}

fn complete(said: &str) -> Option<impl Iterator<Item = &str>> {
    said.strip_suffix(&format!("{END}\n")).map(str::lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(said: &str, expected: Option<&[&str]>) {
        let lines: Option<Vec<&str>> = complete(said).map(Iterator::collect);
        assert_eq!(lines.as_deref(), expected, "{said:?}");
    }

    #[test]
    fn only_a_complete_list_counts() {
        check("aa\nbb\nend\n", Some(&["aa", "bb"]));
        check("end\n", Some(&[]));
        check("aa\nbb\n", None);
        check("aa\nen", None);
        check("", None);
    }
}
