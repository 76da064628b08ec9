//! GitHub's `gh`. Allows commands that read, including Actions variables, which GitHub separates from secrets, and
//! commands that write to issues and pull requests of the checkout's own repository. Commands that change the checkout
//! or run `git` in it (`pr create`, `pr checkout`, `pr merge`, `repo clone`) are refused, since they would run outside
//! the sandbox. So are other servers: `gh` sends the token for enterprise servers to any host it is given.

use super::{ELSEWHERE, FILES, HANDS_OUT, IDENTITY, Program, SHELL, STARTS, has_letter, listed, values_of};

pub(super) const GH: Program = Program {
    name: "gh",
    globals: &["-R", "--repo"],
    switches: &["--version", "--help"],
    command: |words| listed(COMMANDS, words),
    refused: &[
        ("auth", HANDS_OUT),
        ("api", "it can do everything that the credentials allow"),
        ("alias", "an alias can run any command"),
        ("extension", STARTS),
        ("ext", STARTS),
        ("config", IDENTITY),
        ("codespace", SHELL),
        ("cs", SHELL),
        ("ssh-key", "it gives others access to the account"),
        ("gpg-key", "it gives others access to the account"),
        ("secret", "it handles credentials"),
        ("repo clone", FILES),
        ("release download", FILES),
        ("release upload", FILES),
        ("run download", FILES),
        ("gist create", FILES),
        ("pr checkout", FILES),
    ],
    options: &[
        ("--hostname", IDENTITY),
        ("--show-token", HANDS_OUT),
        ("--body-file", FILES),
        ("-F", FILES),
        ("--notes-file", FILES),
        ("--recover", FILES),
        ("--web", STARTS),
        ("--editor", STARTS),
        ("--delete-branch", FILES),
        ("--input", FILES),
    ],
    abbreviates: false,
    valued: "",
    arguments,
};

pub(super) const COMMANDS: &[&str] = &[
    "cache list", "gist list", "issue close", "issue comment", "issue create", "issue edit", "issue list",
    "issue reopen", "issue status", "issue view", "label list", "org list", "pr checks", "pr close", "pr comment",
    "pr diff", "pr edit", "pr list", "pr ready", "pr reopen", "pr review", "pr status", "pr view",
    "project field-list", "project item-list", "project list", "project view", "release list", "release view",
    "repo list", "repo view", "ruleset check", "ruleset list", "ruleset view", "run cancel", "run list", "run rerun",
    "run view", "run watch", "search code", "search commits", "search issues", "search prs", "search repos", "status",
    "variable get", "variable list", "workflow list", "workflow view",
];

const WRITES: &[&str] = &[
    "issue close", "issue comment", "issue create", "issue edit", "issue reopen", "pr close", "pr comment", "pr edit",
    "pr ready", "pr reopen", "pr review", "run cancel", "run rerun",
];

/// Refuses arguments by command, since short options mean different things in different commands. A `--jq` filter can
/// print the environment, which may contain a token.
fn arguments(command: &[&str], words: &[&str]) -> Option<&'static str> {
    let has = |letter| words.iter().any(|word| has_letter("", word, letter));
    let lists_runs = command == ["run", "list"];
    if !lists_runs && (has('w') || has('e')) {
        return Some(STARTS);
    }
    if command == ["pr", "close"] && has('d') {
        return Some(FILES);
    }
    let repositories: Vec<&str> = ["-R", "--repo"].iter().flat_map(|option| values_of(&GH, words, option)).collect();
    if !repositories.iter().all(|repository| is_repository(repository)) || words.iter().any(|word| leads_away(word)) {
        return Some(ELSEWHERE);
    }
    // Three parts are a server, an owner and a name.
    if command == ["repo", "view"] && words.iter().any(|word| word.split('/').count() > 2 && !is_at_github(word)) {
        return Some(ELSEWHERE);
    }
    let names_another = !repositories.is_empty() || words.iter().any(|word| is_at_github(word));
    if WRITES.contains(&command.join(" ").as_str()) && names_another {
        return Some("it writes to a repository other than the checkout's");
    }
    let filters = has('q') || words.iter().any(|word| word.starts_with("--jq"));
    let asks = words.iter().any(|word| word.to_lowercase().contains("env"));
    (filters && asks).then_some("the filter can print the environment")
}

/// Returns whether the text is `OWNER/REPO`, on the server that `gh` uses by default.
fn is_repository(text: &str) -> bool {
    let is_name = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)) && part != ".."
    };
    match text.split('/').collect::<Vec<_>>()[..] {
        [owner, name] => is_name(owner) && is_name(name),
        _ => false,
    }
}

fn is_at_github(word: &str) -> bool {
    word.starts_with("https://github.com/")
}

/// Returns whether a word is the address of another server. A text that only mentions one contains spaces.
fn leads_away(word: &str) -> bool {
    let word = word.split_once('=').filter(|_| word.starts_with('-')).map_or(word, |(_, value)| value);
    let is_address = word.contains("://") || word.starts_with("git@");
    is_address && !word.contains(char::is_whitespace) && !is_at_github(word)
}
