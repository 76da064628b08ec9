//! The list of names that make other programs run code later, outside the sandbox, or that instruct a model.
//!
//! Existing paths of [`Kind::Quarantine`] are mounted read-only; the audit finds those that appear during a run.

use std::collections::HashMap;
use std::path::Path;
use std::sync::LazyLock;

/// How a name that appeared or changed during a run is handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Runs code or instructs a model by itself. It is moved out of the way and reported; a tool that writes files asks
    /// first.
    Quarantine,
    /// People and tools change it now and then. It stays and is reported; a tool that writes files asks first.
    Report,
    /// Tools execute it when they are started, and it changes every day. It stays and is reported.
    Executed,
}

/// A listed name, how it is handled, and what it does.
#[derive(Debug, Clone, Copy)]
pub struct PersistentName {
    /// The name of a file or folder in lower case, with `*` as in globs, or the end of a path.
    pub name: &'static str,
    pub kind: Kind,
    /// What it does, for reports.
    pub what: &'static str,
}

const fn quarantine(name: &'static str, what: &'static str) -> PersistentName {
    PersistentName { name, kind: Kind::Quarantine, what }
}

const fn report(name: &'static str, what: &'static str) -> PersistentName {
    PersistentName { name, kind: Kind::Report, what }
}

const fn executed(name: &'static str, what: &'static str) -> PersistentName {
    PersistentName { name, kind: Kind::Executed, what }
}

/// What a file is that a client gives to a model.
pub const INSTRUCTIONS: &str = "instructions to a client";

/// All names, compared without regard to case, since some file systems ignore it.
pub const NAMES: &[PersistentName] = &[
    // Clients.
    quarantine(".mcp.json", "servers that a client starts"),
    quarantine(".lsp.json", "servers that a client starts"),
    quarantine(".claude", "settings and hooks of Claude Code"),
    quarantine(".claude-plugin", "a plugin of Claude Code"),
    quarantine("hooks/hooks.json", "hooks of a plugin"),
    quarantine(".codex", "settings of Codex"),
    quarantine("agents.override.md", INSTRUCTIONS),
    quarantine(".agents", "skills and settings of clients"),
    quarantine(".gemini", "settings of Gemini CLI"),
    quarantine(".qwen", "settings of Qwen Code"),
    quarantine(".opencode", "settings and plugins of OpenCode"),
    quarantine("opencode.json", "settings of OpenCode"),
    quarantine("opencode.jsonc", "settings of OpenCode"),
    quarantine(".crush", "settings of Crush"),
    quarantine(".crush.json", "settings of Crush"),
    quarantine("crush.json", "settings of Crush"),
    quarantine(".cursor", "settings of Cursor"),
    quarantine(".windsurf", "settings of Windsurf"),
    quarantine(".kiro", "settings of Kiro"),
    quarantine(".roo", "settings of Roo Code"),
    quarantine(".roomodes", "settings of Roo Code"),
    quarantine(".kilocode", "settings of Kilo Code"),
    quarantine(".kilocodemodes", "settings of Kilo Code"),
    quarantine(".clinerules", "instructions and hooks of Cline"),
    quarantine(".continue", "settings of Continue"),
    quarantine(".factory", "settings of Factory"),
    quarantine(".amazonq", "settings of Amazon Q"),
    quarantine(".augment", "settings of Augment"),
    quarantine(".junie", "settings of Junie"),
    quarantine(".trae", "settings of Trae"),
    quarantine(".aider.conf.yml", "settings of aider that run code"),
    quarantine(".github/hooks", "hooks of Copilot"),
    quarantine(".github/agents", "agents of Copilot"),
    quarantine(".zed", "settings of Zed"),
    quarantine(".weir", "settings of Weir"),
    // Editors.
    quarantine(".vscode", "tasks and settings of VS Code"),
    quarantine("*.code-workspace", "tasks and settings of VS Code"),
    quarantine("*.sublime-project", "build commands of Sublime Text"),
    quarantine(".idea", "run configurations of JetBrains editors"),
    quarantine(".fleet", "run configurations of Fleet"),
    quarantine(".nvim.lua", "code that Neovim runs"),
    quarantine(".nvimrc", "code that Neovim runs"),
    quarantine(".exrc", "code that vi runs"),
    quarantine(".vimrc", "code that vim runs"),
    quarantine(".lvimrc", "code that vim runs"),
    quarantine(".vim", "settings and code of vim"),
    quarantine(".dir-locals.el", "code that Emacs runs"),
    quarantine(".dir-locals-2.el", "code that Emacs runs"),
    quarantine(".devcontainer", "commands that a container starts with"),
    quarantine(".devcontainer.json", "commands that a container starts with"),
    // Shells, folders and interpreters that read a file from the folder they are started in.
    quarantine(".envrc", "code that direnv runs"),
    quarantine(".autoenv", "code that autoenv runs"),
    quarantine(".rvmrc", "code that rvm runs"),
    quarantine(".bashrc", "code that bash runs"),
    quarantine(".bash_profile", "code that bash runs"),
    quarantine(".bash_login", "code that bash runs"),
    quarantine(".bash_logout", "code that bash runs"),
    quarantine(".bash_aliases", "code that bash runs"),
    quarantine(".profile", "code that shells run"),
    quarantine(".zshrc", "code that zsh runs"),
    quarantine(".zshenv", "code that zsh runs"),
    quarantine(".zprofile", "code that zsh runs"),
    quarantine(".zlogin", "code that zsh runs"),
    quarantine(".zlogout", "code that zsh runs"),
    quarantine(".gitconfig", "settings of git that run code"),
    quarantine(".gdbinit", "code that gdb runs"),
    quarantine(".lldbinit", "code that lldb runs"),
    quarantine(".pdbrc", "code that Python's debugger runs"),
    quarantine(".rprofile", "code that R runs"),
    quarantine("mise.toml", "hooks that mise runs"),
    quarantine("mise.*.toml", "hooks that mise runs"),
    quarantine(".mise.toml", "hooks that mise runs"),
    quarantine(".mise.*.toml", "hooks that mise runs"),
    quarantine("mise/conf.d", "hooks that mise runs"),
    quarantine(".mise/config.toml", "hooks that mise runs"),
    quarantine("mise/config.toml", "hooks that mise runs"),
    quarantine(".rtx.toml", "hooks that mise runs"),
    // Version control.
    quarantine(".husky", "hooks of git"),
    quarantine(".huskyrc*", "hooks of git"),
    quarantine(".githooks", "hooks of git"),
    quarantine(".pre-commit-config.yaml", "hooks of git"),
    quarantine("lefthook*.*", "hooks of git"),
    quarantine(".lefthook*.*", "hooks of git"),
    quarantine("simple-git-hooks.*", "hooks of git"),
    quarantine(".simple-git-hooks.*", "hooks of git"),
    quarantine(".overcommit.yml", "hooks of git"),
    quarantine(".gitmodules", "repositories that git fetches into the project"),
    quarantine(".hg/hgrc", "hooks and settings of Mercurial"),
    quarantine(".jj/repo/config.toml", "settings of Jujutsu that run code"),
    // Instructions to a model, and code that runs on another machine or when another program starts.
    report("claude.md", INSTRUCTIONS),
    report("claude.local.md", INSTRUCTIONS),
    report("agents.md", INSTRUCTIONS),
    report("agent.md", INSTRUCTIONS),
    report("conventions.md", INSTRUCTIONS),
    report(".rules", INSTRUCTIONS),
    report("conductor.json", "commands that Conductor runs"),
    report("gemini.md", INSTRUCTIONS),
    report("qwen.md", INSTRUCTIONS),
    report(".cursorrules", INSTRUCTIONS),
    report(".windsurfrules", INSTRUCTIONS),
    report(".goosehints", INSTRUCTIONS),
    report(".github/copilot-instructions.md", INSTRUCTIONS),
    report(".github/instructions", INSTRUCTIONS),
    report(".github/prompts", INSTRUCTIONS),
    report(".github/chatmodes", INSTRUCTIONS),
    report(".github/workflows", "runs in CI"),
    report(".github/actions", "runs in CI"),
    report(".gitlab-ci.yml", "runs in CI"),
    report(".circleci", "runs in CI"),
    report(".buildkite", "runs in CI"),
    report(".travis.yml", "runs in CI"),
    report(".drone.yml", "runs in CI"),
    report("azure-pipelines.yml", "runs in CI"),
    report("bitbucket-pipelines.yml", "runs in CI"),
    report("appveyor.yml", "runs in CI"),
    report("jenkinsfile", "runs in CI"),
    report(".gitattributes", "filters that git may run"),
    report(".npmrc", "settings of npm that run code"),
    report(".yarnrc", "settings of Yarn that run code"),
    report(".yarnrc.yml", "settings of Yarn that run code"),
    report(".pnpmfile.cjs", "code that pnpm runs"),
    report(".cargo", "settings of cargo that run code"),
    report(".bazelrc", "settings of Bazel that run code"),
    report("tools/bazel", "runs in place of Bazel"),
    report(".mvn", "extensions and settings of Maven"),
    report(".tool-versions", "programs that asdf and mise choose"),
    report("bunfig.toml", "code that Bun runs at its start"),
    report("ansible.cfg", "settings of Ansible that run code"),
    report("latexmkrc", "code that latexmk runs"),
    report("jupyter_*config.*", "code that Jupyter runs"),
    report("mypy.ini", "plugins that mypy runs"),
    report("sitecustomize.py", "code that Python runs at its start"),
    report("usercustomize.py", "code that Python runs at its start"),
    // Files that builds, tests and package managers run.
    executed("makefile", "run by make"),
    executed("gnumakefile", "run by make"),
    executed("*.mk", "run by make"),
    executed("cmakelists.txt", "run by CMake"),
    executed("meson.build", "run by Meson"),
    executed("configure", "run by a build"),
    executed("autogen.sh", "run by a build"),
    executed("sconstruct", "run by SCons"),
    executed("justfile", "run by just"),
    executed("taskfile.*", "run by Task"),
    executed("package.json", "run by npm"),
    executed("binding.gyp", "run by npm"),
    executed("gruntfile.*", "run by Grunt"),
    executed("gulpfile.*", "run by gulp"),
    executed("*.config.js", "run by a tool for JavaScript"),
    executed("*.config.cjs", "run by a tool for JavaScript"),
    executed("*.config.mjs", "run by a tool for JavaScript"),
    executed("*.config.ts", "run by a tool for JavaScript"),
    executed(".eslintrc.js", "run by ESLint"),
    executed(".eslintrc.cjs", "run by ESLint"),
    executed("conftest.py", "run by pytest"),
    executed("setup.py", "run by pip"),
    executed("setup.cfg", "run by pip"),
    executed("pyproject.toml", "run by pip"),
    executed("noxfile.py", "run by nox"),
    executed("tox.ini", "run by tox"),
    executed("build.rs", "run by cargo"),
    executed("cargo.toml", "run by cargo"),
    executed("build.gradle", "run by Gradle"),
    executed("build.gradle.kts", "run by Gradle"),
    executed("settings.gradle", "run by Gradle"),
    executed("settings.gradle.kts", "run by Gradle"),
    executed("gradlew", "run by Gradle"),
    executed("gradlew.bat", "run by Gradle"),
    executed("gradle-wrapper.jar", "run by Gradle"),
    executed("gradle-wrapper.properties", "run by Gradle"),
    executed("flake.nix", "run by Nix"),
    executed("shell.nix", "run by Nix"),
    executed("default.nix", "run by Nix"),
    executed("pom.xml", "run by Maven"),
    executed("mvnw", "run by Maven"),
    executed("mvnw.cmd", "run by Maven"),
    executed("build.sbt", "run by sbt"),
    executed("rakefile", "run by rake"),
    executed("gemfile", "run by Bundler"),
    executed("*.gemspec", "run by Bundler"),
    executed("composer.json", "run by Composer"),
    executed("mix.exs", "run by mix"),
    executed("rebar.config", "run by rebar"),
    executed("build.zig", "run by zig"),
    executed("package.swift", "run by swift"),
    executed("module.bazel", "run by Bazel"),
    executed("dockerfile", "run by Docker"),
    executed("containerfile", "run by Podman"),
    executed("docker-compose*.y*ml", "run by Docker"),
    executed("compose*.y*ml", "run by Docker"),
    executed("vagrantfile", "run by Vagrant"),
];

impl PersistentName {
    /// Returns the last component of the name, without the folders it must be in.
    pub fn last(&self) -> &'static str {
        self.name.rsplit('/').next().unwrap_or(self.name)
    }

    /// Returns whether `folder` ends with the folders that the name must be in.
    fn stands_in(&self, folder: &Path) -> bool {
        let Some((above, _)) = self.name.rsplit_once('/') else { return true };
        let mut parts = folder.iter().rev();
        above.rsplit('/').all(|name| parts.next().is_some_and(|part| part.eq_ignore_ascii_case(name)))
    }
}

/// The names without stars by their last component, and those with stars.
type Table = (HashMap<&'static str, Vec<&'static PersistentName>>, Vec<&'static PersistentName>);

/// Looks up a name in a folder.
pub fn find(folder: &Path, name: &str) -> Option<&'static PersistentName> {
    static TABLE: LazyLock<Table> = LazyLock::new(|| {
        let mut table = Table::default();
        for known in NAMES {
            match known.last().contains('*') {
                true => table.1.push(known),
                false => table.0.entry(known.last()).or_default().push(known),
            }
        }
        table
    });
    let (plain, starred) = &*TABLE;
    let name = name.to_lowercase();
    let exact = plain.get(name.as_str()).into_iter().flatten();
    let matching = starred.iter().filter(|known| crate::names::stars_match(known.last(), &name));
    exact.chain(matching).find(|known| known.stands_in(folder)).copied()
}

/// Looks up a path below a root, by its own name or by that of a folder above it.
pub fn find_in(root: &Path, path: &Path) -> Option<&'static PersistentName> {
    let below = path.strip_prefix(root).unwrap_or(path);
    let above: Vec<&Path> = below.ancestors().filter(|part| !part.as_os_str().is_empty()).collect();
    above.into_iter().rev().find_map(|part| {
        let (folder, name) = (part.parent().unwrap_or(Path::new("")), part.file_name()?.to_string_lossy());
        find(folder, &name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_by_themselves_and_at_the_end_of_a_path() {
        let kind = |path: &str| {
            let path = Path::new(path);
            find(path.parent().unwrap(), path.file_name().unwrap().to_str().unwrap()).map(|known| known.kind)
        };
        for (path, expected) in [
            ("p/.vscode", Some(Kind::Quarantine)),
            ("p/.VSCode", Some(Kind::Quarantine)),
            ("p/x.code-workspace", Some(Kind::Quarantine)),
            ("p/.config/mise/config.toml", Some(Kind::Quarantine)),
            ("p/.github/workflows", Some(Kind::Report)),
            ("p/workflows", None),
            ("p/.hg/hgrc", Some(Kind::Quarantine)),
            ("p/hgrc", None),
            ("p/.jj/repo/config.toml", Some(Kind::Quarantine)),
            ("p/repo/config.toml", None),
            ("p/Makefile", Some(Kind::Executed)),
            ("p/main.rs", None),
        ] {
            assert_eq!(kind(path), expected, "{path}");
        }
    }

    #[test]
    fn a_file_belongs_to_the_outermost_name_above_it() {
        let what = |path: &str| find_in(Path::new("/p"), Path::new(path)).map(|known| known.name);
        assert_eq!(what("/p/.vscode/package.json"), Some(".vscode"));
        assert_eq!(what("/p/.github/workflows/x.yml"), Some(".github/workflows"));
        assert_eq!(what("/p/src/a.rs"), None);
    }

    #[test]
    fn every_name_is_in_lower_case_and_stands_once() {
        let mut names: Vec<&str> = NAMES.iter().map(|known| known.name).collect();
        assert!(names.iter().all(|name| *name == name.to_lowercase()));
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
