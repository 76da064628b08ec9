//! Which commits are not in what is checked out. Git is asked, in a sandbox where it may change nothing and reaches no
//! network, once for all commits of an answer. Invariant: only what git has said in time is an answer; without git, in a
//! shallow repository or outside of any, there is none.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::asked::Question;
use crate::context::Context;
use crate::git::{self, is_hash};

/// So many commits are asked about in one run: their lines fit into what it may say.
const AT_ONCE: usize = 50;
/// So long after it was asked in vain, git is not asked the same again.
const PAUSE: Duration = Duration::from_secs(60);
/// More than this is not read of what git says: a line for each commit.
const MOST: u64 = 4096;
/// More than this is not remembered.
const MOST_KNOWN: usize = 10_000;

/// Says of each commit whether it is an ancestor: 0 means yes, 1 means no, all else that it cannot be told.
const SCRIPT: &str = r#"
git=$1 head=$2
shift 2
for commit; do
    "$git" merge-base --is-ancestor "$commit" "$head" 2>/dev/null
    echo "$commit $?"
done
"#;

/// What is known of a commit and a head. It depends on nothing else: the hash of a commit covers all that came before.
static KNOWN: LazyLock<Mutex<HashMap<Pair, Known>>> = LazyLock::new(Mutex::default);

/// A commit and a head.
type Pair = (String, String);

#[derive(Clone, Copy)]
enum Known {
    IsIn(bool),
    AskedInVain(Instant),
}

/// Those of the commits that are certainly not in what is checked out.
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
    let Some(head) = context.head().commit else { return HashSet::new() };
    others.retain(|commit| *commit != head);
    let open: Vec<&str> = others.iter().copied().filter(|commit| is_open(&known(), commit, &head)).collect();
    if !open.is_empty() {
        ask(context, &head, &open, Instant::now() + patience);
    }
    let known = known();
    let is_out = |commit: &str| matches!(known.get(&pair(commit, &head)), Some(Known::IsIn(false)));
    others.into_iter().filter(|commit| is_out(commit)).map(str::to_owned).collect()
}

fn is_open(known: &HashMap<Pair, Known>, commit: &str, head: &str) -> bool {
    match known.get(&pair(commit, head)) {
        None => true,
        Some(Known::IsIn(_)) => false,
        Some(Known::AskedInVain(at)) => at.elapsed() > PAUSE,
    }
}

/// Asks git and remembers what it said, and also that it said nothing.
fn ask(context: &Context, head: &str, commits: &[&str], deadline: Instant) {
    for some in commits.chunks(AT_ONCE) {
        let left = deadline.saturating_duration_since(Instant::now());
        let said = ask_git(context, head, some, left).unwrap_or_default();
        let mut known = known();
        if known.len() > MOST_KNOWN {
            known.clear();
        }
        for commit in some {
            let answer = said.get(*commit).map_or_else(|| Known::AskedInVain(Instant::now()), |is| Known::IsIn(*is));
            known.insert(pair(commit, head), answer);
        }
    }
}

/// What git says of each commit; none where it cannot be asked.
fn ask_git(context: &Context, head: &str, commits: &[&str], patience: Duration) -> Option<HashMap<String, bool>> {
    let repository = git::discover(&context.project().root)?;
    // History ends there before it does, so that an ancestor may look like a stranger.
    if patience.is_zero() || repository.common.join("shallow").exists() {
        return None;
    }
    let question = Question { repository: &repository, head, folder: &repository.work_tree };
    let said = question.ask(context, (patience, MOST), |git| {
        let fixed = ["/bin/sh".into(), "-c".into(), SCRIPT.into(), "sh".into(), git.into(), head.into()];
        fixed.into_iter().chain(commits.iter().map(OsString::from)).collect()
    });
    Some(parse(&String::from_utf8_lossy(&said?)))
}

/// The lines that git came to finish.
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

fn known() -> MutexGuard<'static, HashMap<Pair, Known>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}
