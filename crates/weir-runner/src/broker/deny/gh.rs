//! GitHub's `gh`. What reads, and what writes to issues and pull requests alone. Not what changes the checkout or runs
//! `git` in it (`pr create`, `pr checkout`, `pr merge`, `repo clone`), since that happens outside the sandbox.

use super::{FILES, HANDS_OUT, IDENTITY, Program, SHELL, STARTS, has_letter, listed};

pub(super) const GH: Program = Program {
    name: "gh",
    globals: &["-R", "--repo"],
    switches: &["--version", "--help"],
    command: |words| listed(COMMANDS, words),
    refused: &[
        ("auth", HANDS_OUT),
        ("api", "it reaches everything that the credentials reach"),
        ("alias", "an alias stands for any command"),
        ("extension", STARTS),
        ("ext", STARTS),
        ("config", IDENTITY),
        ("codespace", SHELL),
        ("cs", SHELL),
        ("ssh-key", "it gives others access to the account"),
        ("gpg-key", "it gives others access to the account"),
        ("secret", "it is about credentials"),
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
    "cache list",
    "gist list",
    "issue close",
    "issue comment",
    "issue create",
    "issue edit",
    "issue list",
    "issue reopen",
    "issue status",
    "issue view",
    "label list",
    "org list",
    "pr checks",
    "pr close",
    "pr comment",
    "pr diff",
    "pr edit",
    "pr list",
    "pr ready",
    "pr reopen",
    "pr review",
    "pr status",
    "pr view",
    "project field-list",
    "project item-list",
    "project list",
    "project view",
    "release list",
    "release view",
    "repo list",
    "repo view",
    "ruleset check",
    "ruleset list",
    "ruleset view",
    "run cancel",
    "run list",
    "run rerun",
    "run view",
    "run watch",
    "search code",
    "search commits",
    "search issues",
    "search prs",
    "search repos",
    "status",
    "variable get",
    "variable list",
    "workflow list",
    "workflow view",
];

/// Short options mean other things in other commands. A filter of `--jq` can print the environment, where a token may be.
fn arguments(command: &[&str], words: &[&str]) -> Option<&'static str> {
    let has = |letter| words.iter().any(|word| has_letter("", word, letter));
    let lists_runs = command == ["run", "list"];
    if !lists_runs && (has('w') || has('e')) {
        return Some(STARTS);
    }
    if command == ["pr", "close"] && has('d') {
        return Some(FILES);
    }
    let filters = has('q') || words.iter().any(|word| word.starts_with("--jq"));
    let asks = words.iter().any(|word| word.to_lowercase().contains("env"));
    (filters && asks).then_some("the filter can print the environment")
}
