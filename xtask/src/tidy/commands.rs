//! Checks that the commands and tools that documents name exist, and that the page of commands lists all of them.
//!
//! They are read from the sources: `COMMAND` and `TOOL` of an operation, the commands that clap is given besides the
//! operations, and the modes that `main` branches off to.

use std::collections::BTreeSet;

use super::paths::is_document;
use super::{Finding, Tree, markdown, rust_text};

const SOURCES: &str = "crates/";
const SERVER: &str = "crates/weir-server/";
/// Where the tools are that find and call those of other servers.
const GATEWAY: &str = "crates/weir-gateway/src/";
const OPERATIONS: &str = "crates/weir-operations/src/";
const MAIN: &str = "crates/weir/src/main.rs";
const BENCH: &str = "bench/src/main.rs";

const PAGE: &str = "docs/commands.md";
/// The section that lists every command.
const HEADING: &str = "Commands";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let program = Program::of(tree);
    if program.commands.is_empty() || program.tools.is_empty() {
        let fix = "Tell xtask/src/tidy/commands.rs how they are declared now";
        return match tree.text(MAIN) {
            Some(_) => vec![Finding::new(MAIN, 1, "no commands or tools found in the sources", fix)],
            None => Vec::new(),
        };
    }
    let is_page = |path: &str| is_document(path) || is_plugin_page(path);
    let pages = tree.texts().filter(|(path, _)| is_page(path));
    let unknown = pages.flat_map(|(path, text)| unknown(&program, path, text));
    unknown.chain(unlisted(&program, tree)).collect()
}

fn is_plugin_page(path: &str) -> bool {
    path.starts_with("plugins/") && path.ends_with(".md")
}

#[derive(Default)]
struct Program {
    /// The commands in `weir --help`.
    commands: BTreeSet<String>,
    /// What the program starts itself as, or clients start it as.
    modes: BTreeSet<String>,
    tools: BTreeSet<String>,
    /// Tools that clients are not shown, since another covers them.
    unlisted_tools: BTreeSet<String>,
    benchmarks: BTreeSet<String>,
}

impl Program {
    fn of(tree: &Tree) -> Self {
        let mut program = Self::default();
        for (path, text) in tree.rust().filter(|(path, _)| path.starts_with(SOURCES) && !path.starts_with(SERVER)) {
            let code = rust_text::without_comments(text.split("#[cfg(test)]\nmod tests").next().unwrap_or(text));
            if path.starts_with(GATEWAY) {
                // Only where other servers are behind Weir, and without a command.
                let own = |literal: &&str| is_tool(literal) && *literal != "ctx_execute";
                let tools: Vec<String> = code.split('"').filter(own).map(str::to_owned).collect();
                program.unlisted_tools.extend(tools.iter().cloned());
                program.tools.extend(tools);
            }
            if path.starts_with(OPERATIONS) {
                program.commands.extend(constant(tree, &code, "const COMMAND: Option<&'static str> = Some(", ")"));
                let tools = constant(tree, &code, "const TOOL: &'static str = ", ";");
                if code.contains("Listing::Unlisted") {
                    program.unlisted_tools.extend(tools.iter().cloned());
                }
                program.tools.extend(tools);
            }
            if code.contains("use clap::") {
                program.commands.extend(commands_for_clap(tree, &code));
            }
        }
        program.commands.remove("weir");
        let main = tree.text(MAIN).unwrap_or_default();
        program.modes = constant(tree, main, "argument == ", " ").into_iter().collect();
        let bench = rust_text::without_comments(tree.text(BENCH).unwrap_or_default());
        program.benchmarks = bench.split("[\"").skip(1).filter_map(first_literal).map(str::to_owned).collect();
        program
    }

    fn has_command(&self, name: &str) -> bool {
        self.commands.contains(name) || self.modes.contains(name) || name == "help"
    }
}

/// Returns the commands that a file gives to clap, without those below another command.
fn commands_for_clap(tree: &Tree, code: &str) -> Vec<String> {
    let is_below = |name: &str| ["", "()"].iter().any(|call| code.contains(&format!(".subcommand({name}{call})")));
    constant(tree, code, "Command::new(", ")").into_iter().filter(|name| !is_below(name)).collect()
}

/// Returns the values between two texts: string literals, or constants whose values are string literals.
fn constant(tree: &Tree, code: &str, open: &str, close: &str) -> Vec<String> {
    let values = code.split(open).skip(1).filter_map(|rest| rest.split(close).next());
    values
        .flat_map(|value| match (value.strip_prefix('"'), value.rsplit_once("::")) {
            (Some(literal), _) => vec![literal.trim_end_matches('"').to_owned()],
            (None, None) => literal_of(code, value).into_iter().collect(),
            (None, Some((module, name))) => literals_below(tree, module, name),
        })
        .collect()
}

fn literals_below(tree: &Tree, module: &str, name: &str) -> Vec<String> {
    let module = module.rsplit("::").next().unwrap_or(module);
    let is_of_module = |part: &str| part.trim_end_matches(".rs").replace('-', "_") == module;
    let files = tree.rust().filter(|(path, _)| path.split('/').any(is_of_module));
    files.filter_map(|(_, text)| literal_of(text, name)).collect()
}

/// Returns the first literal in the value of a constant: the constant itself, or its name if it has more to say.
fn literal_of(code: &str, name: &str) -> Option<String> {
    let (_, rest) = code.split_once(&format!("const {}: ", name.trim_end_matches(".name")))?;
    let value = rest.split(';').next().unwrap_or(rest);
    value.split('"').nth(1).map(str::to_owned)
}

fn first_literal(rest: &str) -> Option<&str> {
    rest.split_once('"').map(|(literal, _)| literal)
}

/// Finds commands, benchmarks and tools that a page names and that do not exist.
fn unknown(program: &Program, page: &str, text: &str) -> Vec<Finding> {
    let lines = markdown::fenced_lines(text).map(|(line, text)| (line, text.trim_start_matches("$ ").to_owned()));
    let mut code: Vec<(usize, String)> = markdown::code_spans(text).into_iter().chain(lines).collect();
    code.sort();
    let mut findings = Vec::new();
    let mut report = |line: usize, what: String| {
        findings.push(Finding::new(page, line, format!("{what} does not exist"), "Correct the name, or remove it"));
    };
    for (line, code) in code {
        let mut words = code.split_whitespace().peekable();
        if let (Some("weir"), Some(name)) = (words.next(), words.peek())
            && is_word(name)
            && !program.has_command(name)
        {
            report(line, format!("`weir {name}`"));
        }
        if let Some(name) = benchmark(&code).filter(|name| is_word(name) && !program.benchmarks.contains(*name)) {
            report(line, format!("`weir-bench {name}`"));
        }
        for tool in code.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| is_tool(word)) {
            if !program.tools.contains(tool) {
                report(line, format!("the tool `{tool}`"));
            }
        }
    }
    findings
}

fn benchmark(code: &str) -> Option<&str> {
    let mut words = code.split_whitespace().skip_while(|word| *word != "weir-bench" && !word.ends_with("/weir-bench"));
    words.next()?;
    words.find(|word| *word != "--")
}

/// Returns whether a word is written as commands are, and not as an option or a placeholder.
fn is_word(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase()) && word.chars().all(|c| c.is_ascii_lowercase() || c == '-')
}

fn is_tool(word: &str) -> bool {
    word.strip_prefix("ctx_").or(word.strip_prefix("context_")).is_some_and(is_word_with_underscores)
}

fn is_word_with_underscores(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c == '_')
}

/// Finds commands and tools that the list does not have.
fn unlisted(program: &Program, tree: &Tree) -> Vec<Finding> {
    let Some(text) = tree.text(PAGE) else { return Vec::new() };
    let section = markdown::section(text, HEADING);
    let Some((line, _)) = section.first() else {
        let wrong = format!("no section `{HEADING}`, so this check sees no list of commands");
        return vec![Finding::new(PAGE, 1, wrong, "Bring it back, or tell xtask/src/tidy/commands.rs where it went")];
    };
    let spans: Vec<String> = section.iter().flat_map(|(_, line)| markdown::spans_in(line)).collect();
    let has_command = |name: &str| spans.iter().any(|span| span.split_whitespace().take(2).eq(["weir", name]));
    let commands = program.commands.iter().filter(|name| !has_command(name)).map(|name| format!("`weir {name}`"));
    let tools = program.tools.difference(&program.unlisted_tools).filter(|tool| !spans.contains(tool));
    let missing = commands.chain(tools.map(|tool| format!("the tool `{tool}`")));
    missing.map(|what| Finding::new(PAGE, *line, format!("the list of commands leaves out {what}"), "Add it")).collect()
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use weir_check::Checked;

    use super::super::findings;

    const ALL: &str =
        "## Commands\n| `weir get REF` | `ctx_get` |\n| `weir policy check` | |\n| `weir statusline`, `weir mcp` | |\n";

    fn check(readme: &str, page: &str) -> Checked {
        let get = "impl Declared for Get {\n    const TOOL: &'static str = weir_tools::GET.name;\n    \
            const COMMAND: Option<&'static str> = Some(\"get\");\n}\n";
        let map = "const TOOL: &'static str = \"context_map\";\nconst LISTING: Listing = Listing::Unlisted;\n";
        let policy =
            "use clap::Command;\nlet check = Command::new(\"check\");\nCommand::new(\"policy\").subcommand(check)\n";
        let status = "use clap::Command;\nconst STATUSLINE: &str = \"statusline\";\nCommand::new(STATUSLINE)\n";
        let cli = "use clap::Command;\n// Command::new(\"old\")\nCommand::new(\"weir\"); Command::new(\"mcp\")\n";
        Checked(findings(
            super::check,
            &[
                ("docs/commands.md", readme),
                ("docs/a.md", page),
                ("crates/weir/src/main.rs", "Some(argument) if argument == weir_hook::HOOK => weir_hook::main(),\n"),
                ("crates/weir-hook/src/lib.rs", "const HOOK: &str = \"hook\";\n"),
                ("crates/weir-operations/src/get.rs", get),
                ("crates/weir-tools/src/lib.rs", "const GET: SharedTool = SharedTool::new(\"ctx_get\");\n"),
                ("crates/weir-operations/src/map.rs", map),
                ("crates/weir/src/commands/policy.rs", policy),
                ("crates/weir/src/statusline.rs", status),
                ("crates/weir/src/commands/cli.rs", cli),
                (
                    "bench/src/main.rs",
                    "match words { [\"storm\"] => storm::run(), [\"index\", rest @ ..] => index::run() }\n",
                ),
            ],
        ))
    }

    #[test]
    fn what_exists_may_be_named() {
        check(
            ALL,
            "`weir get`, `weir --version`, `weir COMMAND`, `weir hook`, `ctx_get`, `context_map`; weir full\n\
             ```console\n$ weir policy check -- x\nweir-bench storm\ncargo run -p weir-bench -- index 1\n```\n",
        )
        .shows(&expect![""]);
    }

    #[test]
    fn what_does_not_exist_is_found() {
        check(ALL, "`weir check` and `ctx_gets`\n```sh\nweir old\ntarget/release/weir-bench storms\n```\n").shows(
            &expect![[r#"
            docs/a.md:1: the tool `ctx_gets` does not exist. Correct the name, or remove it.
            docs/a.md:1: `weir check` does not exist. Correct the name, or remove it.
            docs/a.md:3: `weir old` does not exist. Correct the name, or remove it.
            docs/a.md:4: `weir-bench storms` does not exist. Correct the name, or remove it.
        "#]],
        );
    }

    #[test]
    fn the_readme_lists_every_command_and_every_tool_that_clients_see() {
        check("## Commands\n| `weir policy check` | |\n", "").shows(&expect![[r#"
            docs/commands.md:2: the list of commands leaves out `weir get`. Add it.
            docs/commands.md:2: the list of commands leaves out `weir mcp`. Add it.
            docs/commands.md:2: the list of commands leaves out `weir statusline`. Add it.
            docs/commands.md:2: the list of commands leaves out the tool `ctx_get`. Add it.
        "#]]);
    }
}
