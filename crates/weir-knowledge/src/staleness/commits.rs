//! Finds commits that are not part of what is checked out. Git is queried once for all commits of an answer, in a
//! sandbox in which it can change nothing and has no network. Invariant: only git's timely output counts as an answer;
//! without git, in a shallow repository or outside any, there is none.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use weir_context::Context;
use weir_host::git::{self, is_hash};

use super::git_query::GitQuery;

/// The number of commits per query, so that their lines fit in the output limit.
const COMMITS_PER_QUERY: usize = 50;
/// How long after a failed query git is not asked the same again.
const RETRY_PAUSE: Duration = Duration::from_secs(60);
/// The maximum output of git that is read, in bytes: a line for each commit.
const MAX_OUTPUT_BYTES: u64 = 4096;
const MAX_KNOWN_COMMITS: usize = 10_000;

/// Prints for each commit whether it is an ancestor: 0 means yes, 1 means no, anything else is unknown.
const SCRIPT: &str = r#"
git=$1 head=$2
shift 2
for commit; do
    "$git" merge-base --is-ancestor "$commit" "$head" 2>/dev/null
    echo "$commit $?"
done
"#;

/// The known answers for a commit and a head. They never change, because the hash of a commit covers its history.
static KNOWN: LazyLock<Mutex<HashMap<Pair, CommitFact>>> = LazyLock::new(Mutex::default);

/// A commit and a head.
type Pair = (String, String);

#[derive(Clone, Copy)]
enum CommitFact {
    IsIn(bool),
    AskedInVain(Instant),
}

/// Returns the commits that are certainly not part of what is checked out.
pub(super) fn not_in_head<'a>(
    context: &Context,
    commits: impl Iterator<Item = &'a str>,
    patience: Duration,
) -> HashSet<String> {
    let mut others: Vec<&str> = commits.filter(|commit| is_hash(commit)).collect();
    others.sort_unstable();
    others.dedup();
    if others.is_empty() {
        return HashSet::new();
    }
    let Some(head) = context.head().ok().and_then(|head| head.commit) else { return HashSet::new() };
    others.retain(|commit| *commit != head);
    let open: Vec<&str> = others.iter().copied().filter(|commit| is_open(&known(), commit, &head)).collect();
    if !open.is_empty() {
        query_commits(context, &head, &open, Instant::now() + patience);
    }
    let known = known();
    let is_out = |commit: &str| matches!(known.get(&pair(commit, &head)), Some(CommitFact::IsIn(false)));
    others.into_iter().filter(|commit| is_out(commit)).map(str::to_owned).collect()
}

fn is_open(known: &HashMap<Pair, CommitFact>, commit: &str, head: &str) -> bool {
    match known.get(&pair(commit, head)) {
        None => true,
        Some(CommitFact::IsIn(_)) => false,
        Some(CommitFact::AskedInVain(at)) => at.elapsed() > RETRY_PAUSE,
    }
}

/// Queries git and remembers the answers, including missing ones.
fn query_commits(context: &Context, head: &str, commits: &[&str], deadline: Instant) {
    for some in commits.chunks(COMMITS_PER_QUERY) {
        let left = deadline.saturating_duration_since(Instant::now());
        let said = ask_git(context, head, some, left).unwrap_or_default();
        let mut known = known();
        if known.len() > MAX_KNOWN_COMMITS {
            known.clear();
        }
        for commit in some {
            let answer =
                said.get(*commit).map_or_else(|| CommitFact::AskedInVain(Instant::now()), |is| CommitFact::IsIn(*is));
            known.insert(pair(commit, head), answer);
        }
    }
}

/// Returns git's answer for each commit, or `None` if git cannot be queried.
fn ask_git(context: &Context, head: &str, commits: &[&str], patience: Duration) -> Option<HashMap<String, bool>> {
    let repository = git::discover(&context.project().root).ok()??;
    // In a shallow repository, history ends early, so an ancestor may not look like one.
    if patience.is_zero() || repository.is_shallow().unwrap_or(true) {
        return None;
    }
    let question = GitQuery { repository: &repository, head, folder: &repository.work_tree };
    let said = question.ask(context, patience, MAX_OUTPUT_BYTES, |git| {
        let fixed = ["/bin/sh".into(), "-c".into(), SCRIPT.into(), "sh".into(), git.into(), head.into()];
        fixed.into_iter().chain(commits.iter().map(OsString::from)).collect()
    });
    Some(parse(&String::from_utf8_lossy(&said?)))
}

/// Parses the lines that git completed.
pub(super) fn parse(said: &str) -> HashMap<String, bool> {
    let whole = said.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
    let answers = whole.filter_map(|line| match line.split_once(' ')? {
        (commit, "0") => Some((commit.to_owned(), true)),
        (commit, "1") => Some((commit.to_owned(), false)),
        _ => None,
    });
    answers.collect()
}

fn pair(commit: &str, head: &str) -> Pair {
    (commit.to_owned(), head.to_owned())
}

fn known() -> MutexGuard<'static, HashMap<Pair, CommitFact>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}
