//! Checks whether git has files that are hidden from runs: hidden in the work tree, they can be read from its objects.

use std::path::Path;
use std::time::Duration;

use weir_context::Context;
use weir_context::permission;
use weir_host::answer::one_line;
use weir_knowledge::staleness::GitQuery;

use super::Check;

/// The longest list of tracked files that is read, in bytes.
const MAX_OUTPUT_BYTES: u64 = 16 << 20;
/// How long git may take.
const PATIENCE: Duration = Duration::from_secs(5);
const MAX_NAMED: usize = 5;

/// Names tracked files that are hidden, if there are any and git can be asked.
pub(super) fn check(context: &Context) -> Option<Check> {
    let repository = context.project().repository()?;
    let head = repository.head().ok()?.commit?;
    let question = GitQuery { repository, head: &head, folder: &repository.work_tree };
    let said = question.ask(context, PATIENCE, MAX_OUTPUT_BYTES, |git| {
        [git.as_os_str(), "ls-tree".as_ref(), "-r".as_ref(), "-z".as_ref(), "--name-only".as_ref(), head.as_ref()]
            .map(Into::into)
            .into()
    })?;
    let said = String::from_utf8_lossy(&said);
    let gate = permission::gate(context);
    let is_hidden = |path: &&str| gate.refuses(&repository.work_tree.join(Path::new(path))).is_some();
    let hidden: Vec<&str> = said.split('\0').filter(|path| !path.is_empty()).filter(is_hidden).collect();
    if hidden.is_empty() {
        return None;
    }
    let named: Vec<String> = hidden.iter().take(MAX_NAMED).map(|path| one_line(path, 120)).collect();
    let more = match hidden.len().saturating_sub(MAX_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let text = format!(
        "git has {}{more}, which runs can read from its objects although the files are hidden",
        named.join(", ")
    );
    Some(Check::remark("hidden files", text))
}
