//! Checks that one thing has one word, in code and in prose. `docs/glossary.md` has the words and their meanings.
//!
//! Only words that are nearly always wrong are listed here; a line that means something else says `tidy: allow(word)`.

use super::tree::{is_sample, speaks_of_others};
use super::{Finding, Tree, allowed, numbered, rust_text};

#[derive(Clone, Copy, PartialEq)]
enum WordScope {
    /// Only in the names of code that ships: prose and tests may use the word in its usual meaning.
    Names,
    /// In comments, strings and Markdown as well.
    Everywhere,
}

struct Word {
    forms: &'static [&'static str],
    scope: WordScope,
    instead: &'static str,
}

const WORDS: &[Word] = &[
    Word {
        forms: &["agent", "agents"],
        scope: WordScope::Names,
        instead: "Say `client` for the program we adapt to, `subagent` in one word for its helpers",
    },
    Word {
        forms: &["executor", "executors"],
        scope: WordScope::Names,
        instead: "Say `runner`, and `run` for one execution",
    },
    Word {
        forms: &["snapshot", "snapshots"], // tidy: allow(snapshot)
        scope: WordScope::Everywhere,
        instead: "Say `guide` for what restores a session, `golden` for a test's expected text",
    },
    Word {
        forms: &["mend", "mends", "mended", "mending"], // tidy: allow(mend)
        scope: WordScope::Everywhere,
        instead: "Say `fix` or `repair`",
    },
    Word {
        forms: &["whoever", "whomever"], // tidy: allow(whoever)
        scope: WordScope::Everywhere,
        instead: "Name who it is: the caller, the user, the process",
    },
    Word {
        forms: &["anew"], // tidy: allow(anew)
        scope: WordScope::Everywhere,
        instead: "Say `again`, or what happens from the start",
    },
    Word {
        forms: &["snippet", "snippets"],
        scope: WordScope::Names,
        instead: "Say `excerpt` for the text shown for a hit",
    },
];

/// The file that names the wrong words, next to the right ones.
const GLOSSARY: &str = "docs/glossary.md";

pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let rust = tree.rust().flat_map(|(path, text)| check_rust(path, text));
    let markdown = tree.texts().filter(|(path, _)| path.ends_with(".md") && !is_sample(path) && *path != GLOSSARY);
    rust.chain(markdown.flat_map(|(path, text)| check_lines(path, text, text, WordScope::Everywhere))).collect()
}

fn check_rust(path: &str, text: &str) -> Vec<Finding> {
    let theirs = speaks_of_others(path);
    let mut findings = if theirs { Vec::new() } else { check_lines(path, text, text, WordScope::Everywhere) };
    if path.contains("src/") {
        findings.extend(check_lines(path, text, &rust_text::code_only(text), WordScope::Names));
    }
    findings
}

/// Searches for words in `shown`, which has the lines of `text` with some parts blanked out.
fn check_lines(path: &str, text: &str, shown: &str, scope: WordScope) -> Vec<Finding> {
    let mut findings = Vec::new();
    for ((number, line), whole) in numbered(shown).zip(text.lines()) {
        for word in WORDS.iter().filter(|word| word.scope == scope) {
            let [name, ..] = word.forms else { continue };
            if !allowed(whole, name) && parts_of_names(line).any(|part| word.forms.contains(&part.as_str())) {
                findings.push(Finding::new(path, number, format!("`{name}` is not our word"), word.instead));
            }
        }
    }
    findings
}

/// Returns the words of a line in lower case, splitting `snake_case` and `CamelCase`.
fn parts_of_names(line: &str) -> impl Iterator<Item = String> {
    line.split(|c: char| !c.is_alphanumeric()).filter(|name| !name.is_empty()).flat_map(|name| {
        let mut parts = vec![String::new()];
        let mut lower_before = false;
        for c in name.chars() {
            if c.is_uppercase() && lower_before {
                parts.push(String::new());
            }
            lower_before = c.is_lowercase() || c.is_numeric();
            if let Some(part) = parts.last_mut() {
                part.extend(c.to_lowercase());
            }
        }
        parts
    })
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use weir_check::Checked;

    use super::super::findings;

    fn check(path: &str, text: &str) -> Checked {
        Checked(findings(super::check, &[(path, text)]))
    }

    #[test]
    fn names_are_taken_apart() {
        check("src/a.rs", "struct AgentKind;\nfn write_snippet() {}\nlet subagent = tokens;\n").shows(&expect![[r#"
            src/a.rs:1: `agent` is not our word. Say `client` for the program we adapt to, `subagent` in one word for its helpers.
            src/a.rs:2: `snippet` is not our word. Say `excerpt` for the text shown for a hit.
        "#]]);
    }

    #[test]
    fn prose_may_speak_of_what_the_names_may_not() {
        check("src/a.rs", "// The agent reads a snippet.\nlet x = \"agent_type\";\n").shows(&expect![""]);
        check("a.md", "A layer for coding agents, in a snippet.\n").shows(&expect![""]);
        check("tests/a.rs", "let snippet = 1;\n").shows(&expect![""]);
    }

    #[test]
    fn some_words_are_wrong_in_prose_too() {
        let found = findings(super::check, &[("a.md", "Two snapshots.\n")]); // tidy: allow(snapshot)
        assert!(found.starts_with("a.md:1: `snapshot` is not our word."), "{found}"); // tidy: allow(snapshot)
    }

    #[test]
    fn a_line_may_be_excused() {
        check("src/a.rs", "agent_id: String, // tidy: allow(agent): the client's own field\n").shows(&expect![""]);
        check("docs/glossary.md", "not snapshot\n").shows(&expect![""]); // tidy: allow(snapshot)
    }
}
