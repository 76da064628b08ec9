//! Git commands that change the repository. Commands that only inspect it are not events.

use serde_json::{Map, Value, json};
use weir_core::event::line;
use weir_core::{Event, EventKind, Priority};

use super::shell::SimpleCommand;
use super::{ToolUse, event_with};

const MAX_SUBJECT_BYTES: usize = 200;
/// The length of the output that is searched for git's report of a commit, in bytes.
const MAX_SEARCHED_BYTES: usize = 64 << 10;

/// What git says if there is nothing to commit.
const NOTHING: &[&str] = &["nothing to commit", "nothing added to commit", "no changes added to commit"];

/// Returns the events of git commands. If the script failed, only commits that git itself reported count.
pub(super) fn events(used: &ToolUse<'_>) -> Vec<Event> {
    let output = &used.output[..used.output.floor_char_boundary(MAX_SEARCHED_BYTES)];
    let mut reports = commits(output);
    let mut events = Vec::new();
    for part in used.commands.iter().filter(|part| part.program() == "git") {
        let Some(call) = git_command(part) else { continue };
        let report = if call.verb == "commit" { reports.next() } else { None };
        if (!used.failed() && !call.found_nothing(output)) || report.is_some() {
            events.push(git_event(part, &call, report));
        }
    }
    events
}

/// A git command that changes something.
struct GitCommand<'p> {
    verb: &'p str,
    args: Vec<&'p str>,
    /// The folder given with `-C`.
    folder: Option<&'p str>,
}

impl GitCommand<'_> {
    /// Returns whether a commit that reports what it did says that there was nothing to do. A later command of the same
    /// script may have succeeded nevertheless.
    fn found_nothing(&self, output: &str) -> bool {
        let is_short = |word: &str| word.starts_with('-') && !word.starts_with("--");
        let is_quiet = |word: &&str| *word == "--quiet" || (is_short(word) && word.contains('q'));
        self.verb == "commit" && !self.args.iter().any(is_quiet) && NOTHING.iter().any(|said| output.contains(said))
    }
}

fn git_command(part: &SimpleCommand) -> Option<GitCommand<'_>> {
    let mut words = part.args();
    let mut folder = None;
    let verb = loop {
        match words.next()? {
            "-C" => folder = words.next(),
            "-c" | "--git-dir" | "--work-tree" | "--namespace" | "--exec-path" => drop(words.next()),
            option if option.starts_with('-') => {}
            verb => break verb,
        }
    };
    let args: Vec<&str> = words.collect();
    let changes_nothing = |word: &&str| matches!(*word, "--help" | "-h" | "--dry-run");
    (changes(verb, &args) && !args.iter().any(changes_nothing)).then_some(GitCommand { verb, args, folder })
}

/// Returns whether a command changes the repository.
fn changes(verb: &str, args: &[&str]) -> bool {
    let first = args.first().copied().unwrap_or_default();
    match verb {
        "commit" | "checkout" | "switch" | "merge" | "rebase" | "push" | "pull" | "reset" | "revert"
        | "cherry-pick" | "am" | "clone" | "init" | "restore" | "clean" | "mv" | "rm" => true,
        "stash" => !matches!(first, "list" | "show"),
        // Without a name, or with these options, these commands list.
        "tag" => {
            has_name(args)
                && !is_listing(args, &["-l", "--list", "-n", "--contains", "--points-at", "-v", "--verify", "--merged"])
        }
        "branch" => {
            let listing =
                ["-a", "-r", "-v", "-vv", "-l", "--list", "--show-current", "--contains", "--merged", "--no-merged"];
            has_name(args) && !is_listing(args, &listing)
        }
        "worktree" => matches!(first, "add" | "remove" | "move" | "prune"),
        "remote" => matches!(first, "add" | "remove" | "rm" | "set-url" | "rename"),
        "submodule" => matches!(first, "add" | "update" | "init" | "deinit"),
        "bisect" => matches!(first, "start" | "good" | "bad" | "reset" | "skip"),
        _ => false,
    }
}

fn has_name(args: &[&str]) -> bool {
    args.iter().any(|word| !word.starts_with('-'))
}

fn is_listing(args: &[&str], options: &[&str]) -> bool {
    args.iter().any(|word| options.contains(word) || word.starts_with("--sort") || word.starts_with("--format"))
}

fn git_event(part: &SimpleCommand, call: &GitCommand<'_>, report: Option<CommitReport<'_>>) -> Event {
    let mut data = Map::new();
    data.insert("command".to_owned(), json!(line(call.verb, 40)));
    let branch = report.as_ref().and_then(|report| report.branch).or_else(|| branch(call));
    for (key, value) in
        [("branch", branch), ("commit", report.as_ref().map(|report| report.hash)), ("folder", call.folder)]
    {
        if let Some(value) = value {
            data.insert(key.to_owned(), json!(line(value, 120)));
        }
    }
    let text = match (call.verb, report) {
        ("commit", Some(CommitReport { hash, subject, .. })) => {
            format!("git commit {hash}: {}", line(subject, MAX_SUBJECT_BYTES))
        }
        ("commit", None) => match message(part, call) {
            Some(subject) => format!("git commit: {}", line(&subject, MAX_SUBJECT_BYTES)),
            None => "git commit".to_owned(),
        },
        _ => format!("git {} {}", call.verb, call.args.join(" ")),
    };
    event_with(EventKind::Git, Priority::P2, &text, &Value::Object(data))
}

fn branch<'p>(call: &GitCommand<'p>) -> Option<&'p str> {
    let (switches, makes) = match call.verb {
        "switch" => (true, ["-c", "-C", "--create", "--orphan"]),
        "checkout" => (!call.args.contains(&"--"), ["-b", "-B", "--orphan", "-b"]),
        _ => (false, [""; 4]),
    };
    let made = call.args.iter().position(|word| makes.contains(word)).and_then(|at| call.args.get(at + 1));
    let named: Vec<&&str> = call.args.iter().filter(|word| !word.starts_with('-')).collect();
    match (made, named.as_slice()) {
        (Some(made), _) if switches => Some(made),
        // `checkout main file` takes a file from a branch, and `checkout a.rs` discards changes.
        (None, [one]) if switches && (call.verb == "switch" || !one.contains('.')) => Some(one),
        _ => None,
    }
}

/// Returns the first line of the message given to a commit.
fn message(part: &SimpleCommand, call: &GitCommand<'_>) -> Option<String> {
    let mut words = call.args.iter();
    let mut given = None;
    while let Some(word) = words.next() {
        given = match *word {
            "-m" | "--message" => words.next().copied(),
            // The message follows a cluster of short options that ends in `m`.
            word if word.starts_with('-') && !word.starts_with("--") && word.ends_with('m') => words.next().copied(),
            "-F" | "--file" if words.next() == Some(&"-") => Some(part.here.as_str()),
            word => word.strip_prefix("--message=").or_else(|| word.strip_prefix("-m").filter(|rest| !rest.is_empty())),
        };
        if given.is_some() {
            break;
        }
    }
    let given = given?;
    // The text of a here-document begins on the line after its opening.
    let text = if given.starts_with("$(cat <<") { given.split_once('\n').map_or("", |(_, text)| text) } else { given };
    text.lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned)
}

/// Git's report of a commit: `[main 1a2b3c4] subject`.
struct CommitReport<'o> {
    branch: Option<&'o str>,
    hash: &'o str,
    subject: &'o str,
}

fn commits(output: &str) -> impl Iterator<Item = CommitReport<'_>> {
    output.lines().filter_map(|line| {
        let (place, subject) = line.trim_end().strip_prefix('[')?.split_once("] ")?;
        let (branch, hash) = place.rsplit_once(' ')?;
        let is_hash = (7..=40).contains(&hash.len()) && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        let branch = branch.split(' ').next().filter(|_| !branch.starts_with("detached"));
        is_hash.then_some(CommitReport { branch, hash, subject })
    })
}
