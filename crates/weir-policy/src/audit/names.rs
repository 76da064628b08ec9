//! Names that make other programs run code later, outside of the sandbox: the one list of them.
//!
//! Those that exist are mounted read-only; those that appear during a run are found by the audit.

/// What is done about a name that appeared or changed during a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// It is moved out of the way, and that is reported.
    Quarantine,
    /// It stays, and that is reported: people and tools change it every day.
    Report,
}

/// A name, what is done about it, and what it does.
#[derive(Debug, Clone, Copy)]
pub struct Persistent {
    /// The name of a file or a folder, in lower case, with `*` as in globs.
    pub name: &'static str,
    /// What is done about it.
    pub kind: Kind,
    /// What it does, for reports.
    pub what: &'static str,
}

const fn quarantine(name: &'static str, what: &'static str) -> Persistent {
    Persistent { name, kind: Kind::Quarantine, what }
}

const fn report(name: &'static str, what: &'static str) -> Persistent {
    Persistent { name, kind: Kind::Report, what }
}

/// Every name, compared without regard to case since some file systems have none.
pub const NAMES: &[Persistent] = &[
    // Clients.
    quarantine(".mcp.json", "servers that a client starts"),
    quarantine(".claude", "settings and hooks of Claude Code"),
    quarantine(".codex", "settings of Codex"),
    quarantine(".gemini", "settings of Gemini CLI"),
    quarantine(".qwen", "settings of Qwen Code"),
    quarantine(".opencode", "settings and plugins of OpenCode"),
    quarantine("opencode.json", "settings of OpenCode"),
    quarantine("opencode.jsonc", "settings of OpenCode"),
    quarantine(".cursor", "settings of Cursor"),
    quarantine(".windsurf", "settings of Windsurf"),
    quarantine(".kiro", "settings of Kiro"),
    quarantine(".roo", "settings of Roo Code"),
    quarantine(".continue", "settings of Continue"),
    quarantine(".zed", "settings of Zed"),
    quarantine(".weir", "settings of Weir"),
    // Editors.
    quarantine(".vscode", "tasks and settings of VS Code"),
    quarantine("*.code-workspace", "tasks and settings of VS Code"),
    quarantine(".idea", "run configurations of JetBrains editors"),
    quarantine(".fleet", "run configurations of Fleet"),
    quarantine(".nvim.lua", "code that Neovim runs"),
    quarantine(".nvimrc", "code that Neovim runs"),
    quarantine(".exrc", "code that vi runs"),
    quarantine(".vimrc", "code that vim runs"),
    quarantine(".dir-locals.el", "code that Emacs runs"),
    quarantine(".devcontainer", "commands that a container starts with"),
    quarantine(".devcontainer.json", "commands that a container starts with"),
    // Shells and folders.
    quarantine(".envrc", "code that direnv runs"),
    quarantine(".autoenv", "code that autoenv runs"),
    quarantine(".bashrc", "code that bash runs"),
    quarantine(".bash_profile", "code that bash runs"),
    quarantine(".bash_login", "code that bash runs"),
    quarantine(".profile", "code that shells run"),
    quarantine(".zshrc", "code that zsh runs"),
    quarantine(".zshenv", "code that zsh runs"),
    quarantine(".zprofile", "code that zsh runs"),
    quarantine(".gitconfig", "settings of git that run code"),
    quarantine(".gdbinit", "code that gdb runs"),
    quarantine(".lldbinit", "code that lldb runs"),
    quarantine(".mise.toml", "hooks that mise runs"),
    quarantine("mise.toml", "hooks that mise runs"),
    // Hooks of git.
    quarantine(".husky", "hooks of git"),
    quarantine(".githooks", "hooks of git"),
    quarantine(".pre-commit-config.yaml", "hooks of git"),
    quarantine("lefthook.yml", "hooks of git"),
    quarantine("lefthook.yaml", "hooks of git"),
    quarantine("lefthook-local.yml", "hooks of git"),
    quarantine(".overcommit.yml", "hooks of git"),
    quarantine(".gitmodules", "repositories that git fetches into the project"),
    // What a person or a tool changes every day, and what runs or speaks to a model all the same.
    report(".gitattributes", "filters that git may run"),
    report("claude.md", "instructions to a client"),
    report("claude.local.md", "instructions to a client"),
    report("agents.md", "instructions to a client"),
    report("gemini.md", "instructions to a client"),
    report(".cursorrules", "instructions to a client"),
    report(".npmrc", "settings of npm that run code"),
    report("sitecustomize.py", "code that Python runs at its start"),
    report("usercustomize.py", "code that Python runs at its start"),
    report("conftest.py", "code that pytest runs"),
    report("build.rs", "code that cargo runs"),
    report(".cargo", "settings of cargo that run code"),
];

/// What in a repository's own folder runs code: paths below it.
pub(crate) const IN_REPOSITORY: &[(&str, &str)] = &[
    ("config", "settings of git that run code"),
    ("config.worktree", "settings of git that run code"),
    ("commondir", "another place for git's settings and hooks"),
    ("hooks", "hooks of git"),
    ("info/attributes", "filters that git runs"),
    ("objects/info/alternates", "another place for git's objects"),
];
