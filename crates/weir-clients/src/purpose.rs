//! Classifies a tool's output by its purpose, from the tool and its input.
//!
//! A file that was printed on purpose is itself the answer; the progress output of a build is not. Only the command
//! tells the two apart, since their texts look alike. The result decides how much is shown and has no bearing on
//! safety.

use crate::capture::shell::{self, Separator, SimpleCommand};
use crate::hook::{Tool, ToolCall};

/// The maximum length of a question, in characters.
const MAX_QUESTION_CHARS: usize = 1_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The text is the answer: a file, a piece of history, the results of a search.
    AskedFor,
    /// A report on something else that was wanted: builds, tests, installs, listings, logs.
    ByProduct,
    /// External content, usually more than was wanted: web pages, tools of MCP servers.
    Flood,
    /// Unknown: the tool or the command is not on any list.
    Unclear,
    /// Shown as it is: a subagent's answer, the output of our own tools, outputs that are always small.
    Settled,
}

pub fn purpose(call: &ToolCall) -> Purpose {
    match &call.tool {
        Tool::Shell { command } => of_command(command),
        Tool::Read { .. } | Tool::Search { .. } => Purpose::AskedFor,
        Tool::Mcp { tool, .. } if reads_by_name(tool) => Purpose::AskedFor,
        Tool::Fetch { .. } | Tool::Mcp { .. } => Purpose::Flood,
        Tool::Other => Purpose::Unclear,
        _ => Purpose::Settled,
    }
}

/// Returns what the model wants to know from a page or an MCP tool, in its own words: the prompt or query in the input.
pub fn question(call: &ToolCall) -> Option<String> {
    const KEYS: [&str; 5] = ["prompt", "query", "question", "objective", "q"];
    if purpose(call) != Purpose::Flood {
        return None;
    }
    let asked = KEYS.iter().filter_map(|key| call.input[*key].as_str()).find(|text| !text.trim().is_empty())?;
    if is_query(asked) {
        return None;
    }
    Some(asked.chars().take(MAX_QUESTION_CHARS).collect())
}

/// Returns whether a text is a query of a database, whose words are names and not what its caller wants to know.
fn is_query(text: &str) -> bool {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("--"));
    let first = lines.take(1).flat_map(str::split_whitespace).next().unwrap_or_default();
    let first = first.trim_start_matches('(').to_ascii_lowercase();
    has_word(" select with insert update delete create alter drop explain show pragma call { query ", &first)
        && text.contains([' ', '{'])
        && (text.contains(['{', ';', '*', '='])
            || ["from", "(select"].iter().any(|word| has_word(&text.to_ascii_lowercase(), word)))
}

/// Words in the names of tools that read one text, what they read, and what they do not mean by it.
const READING: &str = " read get view cat open show ";
const TEXTS: &str = " file files content contents document doc text page pages pdf paper ";
const NOT_A_TEXT: &str = " search list tree query info metadata data children directory ";

/// Returns whether a tool of an MCP server reads a text that its caller named, by the words of the tool's name:
/// `read_file`, `get_file_contents`.
fn reads_by_name(tool: &str) -> bool {
    let mut words: Vec<String> = Vec::new();
    for part in tool.split(|c: char| !c.is_alphanumeric()) {
        let mut from = 0;
        for (at, pair) in part.as_bytes().windows(2).enumerate() {
            if pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase() {
                words.push(part[from..=at].to_lowercase());
                from = at + 1;
            }
        }
        words.push(part[from..].to_lowercase());
    }
    let has = |list: &str| words.iter().any(|word| has_word(list, word));
    has(READING) && has(TEXTS) && !has(NOT_A_TEXT)
}

/// Programs that print the text they are given.
const PRINTERS: &str = " cat bat batcat head tail nl sed awk gawk mawk less more zcat xzcat zstdcat grep egrep fgrep rg ag ack jq yq xq \
     cut sort uniq column diff comm tac rev fold wc hexdump xxd od strings readelf objdump nm file stat man tldr sqlite3 psql mysql \
     pdftotext pandoc xmllint csvlook mlr ";

/// Programs whose output reports how something went.
const MAKERS: &str = " make gmake ninja cmake ctest meson bazel bazelisk buck buck2 gcc g++ cc c++ clang clang++ ld rustc javac kotlinc \
     scalac tsc swiftc jest vitest mocha ava playwright cypress eslint prettier biome stylelint webpack vite rollup esbuild turbo nx \
     pytest py.test tox nox unittest pip pip3 pipx uv poetry pdm conda mamba hatch ruff mypy flake8 pylint pyright black isort bandit \
     apt apt-get aptitude dpkg brew dnf yum apk pacman nix nix-build nix-env mvn mvnw gradle gradlew sbt ant lein dotnet msbuild \
     nuget swift xcodebuild pod fastlane mix rebar3 bundle gem rspec rake rubocop composer phpunit phpstan psalm stack cabal ghc \
     shellcheck golangci-lint staticcheck terraform tofu pulumi ansible ansible-playbook helm packer vagrant ls exa eza tree find fd \
     fdfind du ps top journalctl dmesg valgrind strace ltrace perf wget rsync scp unzip tar zip ";

/// Programs with many uses, each with the subcommands that print a text; any other subcommand makes something.
const BY_VERB: [(&str, &str); 18] = [
    (
        "git",
        " show diff log blame cat-file grep shortlog reflog rev-list describe ls-files format-patch range-diff annotate stash ",
    ),
    ("jj", " show diff log file evolog op "),
    ("hg", " cat diff log annotate export "),
    ("cargo", " metadata pkgid locate-project expand "),
    ("rustup", " doc show "),
    ("go", " doc env list "),
    ("npm", " view info show config help "),
    ("pnpm", " view info config help "),
    ("yarn", " info config help "),
    ("bun", " pm "),
    ("npx", " "),
    ("docker", " inspect "),
    ("podman", " inspect "),
    ("kubectl", " describe explain "),
    ("brew", " info cat "),
    ("systemctl", " cat show "),
    ("deno", " doc info "),
    ("node", " "),
];

/// Programs that print little or nothing.
const QUIET: &str = " ls pwd which whereis type date whoami hostname uname id nproc uptime df free mkdir rmdir touch cp mv rm ln \
     chmod chown kill true false test [ [[ exit return break continue shift basename dirname realpath readlink mktemp umask ulimit \
     read local declare let ";
/// Subcommands of `git` that print little. Those that may run the user's own hooks are not among them.
const QUIET_GIT: &str =
    " status add branch checkout switch restore reset rev-parse remote tag stash config init mv rm worktree fetch ";
/// A command that ends with this many lines of another's output prints little.
const MAX_QUIET_LINES: u32 = 200;

/// Returns the purpose of a script's output, judged by the parts that print something of their own.
pub fn of_command(script: &str) -> Purpose {
    let parts = shell::split(script);
    let mut found = None;
    for pipeline in pipelines(&parts) {
        match of_pipeline(pipeline) {
            Some(Purpose::ByProduct) => return Purpose::ByProduct,
            Some(Purpose::Unclear) => found = Some(Purpose::Unclear),
            purpose => found = found.or(purpose),
        }
    }
    found.unwrap_or(Purpose::Unclear)
}

/// Returns whether a script may print a lot that nobody asked for. Reads and searches are asked for.
pub fn may_flood(script: &str) -> bool {
    let parts = shell::split(script);
    let mut pipelines = pipelines(&parts);
    pipelines.any(|pipeline| {
        let is_asked = matches!(of_pipeline(pipeline), None | Some(Purpose::AskedFor));
        !is_asked && !is_quiet(pipeline)
    })
}

fn pipelines(parts: &[SimpleCommand]) -> impl Iterator<Item = &[SimpleCommand]> {
    parts.chunk_by(|_, next| next.join == Separator::Pipe)
}

/// Returns whether a pipeline prints little.
fn is_quiet(parts: &[SimpleCommand]) -> bool {
    let Some(last) = parts.last() else { return true };
    match last.program() {
        "git" => has_word(QUIET_GIT, verb(last)),
        "wc" => parts.len() > 1,
        "head" | "tail" => {
            let mut args = last.args();
            parts.len() > 1
                && args.all(|word| {
                    let number = word.trim_start_matches(['-', 'n', '=']);
                    !word.contains('+')
                        && number.parse::<u32>().map_or(!word.contains('f'), |lines| lines <= MAX_QUIET_LINES)
                })
        }
        "ls" => !last.args().any(|word| word == "--recursive" || (word.starts_with('-') && word.contains('R'))),
        program => has_word(QUIET, program),
    }
}

/// Returns the purpose of a pipeline's output, or `None` if it prints nothing of interest.
fn of_pipeline(parts: &[SimpleCommand]) -> Option<Purpose> {
    let first = parts.first()?;
    let last = parts.last()?;
    if !last.writes.is_empty() && last.writes.iter().all(|path| path != "/dev/stdout" && path != "/dev/stderr") {
        return None;
    }
    let source = parts.iter().find(|part| !matches!(part.program(), "xargs" | "echo" | "printf"));
    match source {
        Some(source) if !first.is_auxiliary() || parts.len() > 1 => Some(of_part(source)),
        _ => None,
    }
}

fn of_part(part: &SimpleCommand) -> Purpose {
    let program = part.program().to_ascii_lowercase();
    if let Some((_, prints)) = BY_VERB.iter().find(|(name, _)| *name == program) {
        return if has_word(prints, verb(part)) { Purpose::AskedFor } else { Purpose::ByProduct };
    }
    if matches!(program.as_str(), "gh" | "glab") {
        let shows = part.args().any(|word| matches!(word, "view" | "diff" | "api"));
        return if shows { Purpose::AskedFor } else { Purpose::Unclear };
    }
    if program == "sed" && part.args().any(|word| word.starts_with("-i") || word == "--in-place") {
        return Purpose::Unclear;
    }
    if has_word(PRINTERS, &program) {
        return Purpose::AskedFor;
    }
    if has_word(MAKERS, &program) || runs_module(part, &program) {
        return Purpose::ByProduct;
    }
    Purpose::Unclear
}

/// Returns the subcommand of a program, skipping the folder of `git -C`.
fn verb(part: &SimpleCommand) -> &str {
    let mut words = part.args().filter(|word| !word.starts_with('-'));
    match part.args().next() {
        Some("-C") => words.nth(1).unwrap_or_default(),
        _ => words.next().unwrap_or_default(),
    }
}

/// Returns whether the command is Python running a module that is one of [`MAKERS`].
fn runs_module(part: &SimpleCommand, program: &str) -> bool {
    let mut args = part.args();
    program.starts_with("python")
        && args.any(|word| word == "-m")
        && args.next().is_some_and(|name| has_word(MAKERS, name))
}

fn has_word(list: &str, word: &str) -> bool {
    !word.is_empty() && list.split_ascii_whitespace().any(|known| known == word)
}

/// Returns the texts that the model wrote in a tool call, for tools that change files. Returns none if they are too
/// long for memory.
pub fn written(call: &ToolCall) -> Vec<String> {
    const KEYS: [&str; 8] =
        ["content", "new_string", "newString", "new_str", "file_text", "insert_text", "text", "new_source"];
    if !matches!(call.tool, Tool::Edit { .. } | Tool::Write { .. }) || !call.input_is_whole {
        return Vec::new();
    }
    let edits = call.input["edits"].as_array().into_iter().flatten();
    let texts = std::iter::once(&call.input).chain(edits).flat_map(|input| KEYS.map(|key| input[key].as_str()));
    let mut texts: Vec<String> = texts.flatten().map(str::to_owned).collect();
    let patches = ["patch", "input", "patchText"].iter().filter_map(|key| call.input[*key].as_str());
    texts.extend(patches.map(|patch| {
        let added = patch.lines().filter_map(|line| line.strip_prefix('+').or_else(|| line.strip_prefix(' ')));
        added.flat_map(|line| [line, "\n"]).collect()
    }));
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_known_by_what_they_print() {
        for (command, purpose) in [
            ("cat src/main.rs", Purpose::AskedFor),
            ("cd /x && sed -n '10,200p' quickjs.c", Purpose::AskedFor),
            ("nl -b a Parser/tokenizer.c | sed -n '1550,1700p'", Purpose::AskedFor),
            ("git show HEAD~3:src/lib.rs | head -100", Purpose::AskedFor),
            ("git -C /x diff A..B -- blosc.c", Purpose::AskedFor),
            ("grep -E '^x' mix.lock | head -100", Purpose::AskedFor),
            ("gh issue view 12", Purpose::AskedFor),
            ("echo ===; cat a; echo ===; cat b", Purpose::AskedFor),
            ("cargo test 2>&1 | tail -50", Purpose::ByProduct),
            ("cd x && FOO=1 timeout 60 npm test", Purpose::ByProduct),
            ("python3 -m pytest -q", Purpose::ByProduct),
            ("./gradlew build", Purpose::ByProduct),
            ("git status && cat README.md", Purpose::ByProduct),
            ("ls -la src", Purpose::ByProduct),
            ("bd show spotter-1", Purpose::Unclear),
            ("python3 script.py", Purpose::Unclear),
            ("", Purpose::Unclear),
        ] {
            assert_eq!(of_command(command), purpose, "{command}");
        }
    }

    #[test]
    fn commands_that_may_flood_are_those_that_nobody_reads() {
        for quiet in [
            "cat src/main.rs", "rg -n 'fn main' src", "sed -n '1,200p' a.c", "git status --short", "git diff --stat",
            "git log -5", "cd src && ls -la", "mkdir -p a/b && touch a/b/c", "cargo test 2>&1 | tail -50",
            "make | head -n 20", "npm ls | wc -l", "pwd", "echo done", "make > build.log 2>&1", "",
        ] {
            assert!(!may_flood(quiet), "{quiet}");
        }
        for loud in [
            "cargo test", "git status && npm test", "make | tail -n 5000", "make | tail -n +1", "ls -laR",
            "python3 script.py", "git commit -m x", "find . -name '*.rs'", "for i in 1 2; do ./run.sh; done",
            "cat a.txt; ./gradlew build",
        ] {
            assert!(may_flood(loud), "{loud}");
        }
    }

    #[test]
    fn a_query_of_a_database_is_no_question() {
        for query in ["SELECT * FROM orders", "-- totals\nWITH a AS (SELECT 1) SELECT 2", "query { user { name } }"] {
            assert!(is_query(query), "{query}");
        }
        for question in ["show me the open orders", "Company goals", "select a plan", "what changed, and why?"] {
            assert!(!is_query(question), "{question}");
        }
    }

    #[test]
    fn what_was_written_is_known() {
        let call = |tool: Tool, input| ToolCall {
            key: None,
            name: String::new(),
            tool,
            input,
            input_is_whole: true,
            background: false,
        };
        let edit = call(
            Tool::Edit { path: "a".to_owned() },
            serde_json::json!({ "old_string": "x", "new_string": "y\nz", "edits": [{ "new_string": "w" }] }),
        );
        assert_eq!(written(&edit), ["y\nz", "w"]);
        let patch = call(
            Tool::Edit { path: "a".to_owned() },
            serde_json::json!({ "input": "*** Update File: a\n@@\n kept\n-gone\n+new\n" }),
        );
        assert_eq!(written(&patch), ["kept\nnew\n"]);
        assert!(written(&call(Tool::Other, serde_json::json!({ "content": "x" }))).is_empty());
    }
}
