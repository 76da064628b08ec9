//! The outputs and their questions.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use serde_json::Value;

pub(crate) struct Set {
    pub outputs: Vec<Output>,
    pub project: tempfile::TempDir,
}

pub(crate) struct Output {
    pub name: String,
    pub kind: String,
    pub exit_code: i32,
    /// The tool call that returned it, if it was not printed by a command.
    pub call: Option<McpCall>,
    pub raw: Vec<u8>,
    pub text: String,
    pub tokens: usize,
    pub questions: Vec<Question>,
}

pub(crate) struct McpCall {
    pub tool: String,
    pub input: Value,
}

/// A question that a developer who ran the command would ask.
#[derive(serde::Deserialize)]
pub(crate) struct Question {
    pub ask: String,
    answer: Vec<Element>,
}

/// A part of an answer. All of them must be present.
#[derive(serde::Deserialize)]
#[serde(untagged)]
enum Element {
    /// These words, ignoring white space.
    Text(String),
    Any(Vec<String>),
    /// This number, not as part of another, in a line with one of these words.
    Number {
        number: Number,
        near: NearWords,
    },
}

#[derive(serde::Deserialize)]
#[serde(untagged)]
enum Number {
    Whole(i64),
    Real(f64),
}

#[derive(serde::Deserialize)]
#[serde(untagged)]
enum NearWords {
    One(String),
    Any(Vec<String>),
}

#[derive(serde::Deserialize)]
struct OutputDescription {
    kind: String,
    #[serde(default)]
    exit_code: i32,
    tool: Option<String>,
    /// The arguments as JSON.
    input: Option<String>,
    question: Vec<Question>,
}

impl Set {
    pub(crate) fn load(folder: &Path) -> Self {
        let project = tempfile::tempdir().unwrap();
        let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
        let mut files: Vec<PathBuf> = files.filter(|path| path.extension().is_some_and(|end| end == "toml")).collect();
        files.sort();
        let outputs = files.iter().map(|path| {
            let text = std::fs::read_to_string(path).unwrap();
            let described: OutputDescription =
                toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let raw = zstd::decode_all(std::fs::File::open(path.with_extension("zst")).unwrap()).unwrap();
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            std::fs::write(project.path().join(&name), &raw).unwrap();
            let text = String::from_utf8_lossy(&raw).into_owned();
            let OutputDescription { kind, exit_code, tool, input, question: questions } = described;
            let input = input.map_or(Value::Null, |input| serde_json::from_str(&input).unwrap());
            let call = tool.map(|tool| McpCall { tool, input });
            Output { name, kind, exit_code, call, raw, tokens: weir_tokens::count(&text), text, questions }
        });
        let outputs = outputs.collect();
        Self { outputs, project }
    }
}

impl Question {
    pub(crate) fn is_answered_by(&self, text: &str) -> bool {
        let lines: Vec<String> = text.lines().map(spaced).collect();
        let whole = spaced(text);
        self.answer.iter().all(|element| match element {
            Element::Text(words) => whole.contains(&spaced(words)),
            Element::Any(choices) => choices.iter().any(|words| whole.contains(&spaced(words))),
            Element::Number { number, near } => {
                let number = match number {
                    Number::Whole(number) => number.to_string(),
                    Number::Real(number) => number.to_string(),
                };
                let near = match near {
                    NearWords::One(word) => std::slice::from_ref(word),
                    NearWords::Any(words) => words,
                };
                let has = |line: &String| near.iter().any(|word| line.to_lowercase().contains(&word.to_lowercase()));
                lines.iter().any(|line| has_number(line, &number) && has(line))
            }
        })
    }
}

fn spaced(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns whether a line contains a number by itself, and not within another number or a word.
fn has_number(line: &str, number: &str) -> bool {
    line.match_indices(number).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let mut after = line[at + number.len()..].chars();
        let (next, second) = (after.next(), after.next());
        let free_before = before.is_none_or(|c| !(c.is_alphanumeric() || c == '_' || c == '.'));
        let goes_on = next.is_some_and(|c| c.is_ascii_digit())
            || (next == Some('.') && second.is_some_and(|c| c.is_ascii_digit()));
        free_before && !goes_on
    })
}

/// Returns the names of the kinds, each with the positions of its outputs.
pub(crate) fn by_kind(set: &Set) -> Vec<(&str, Vec<usize>)> {
    let mut kinds: HashMap<&str, Vec<usize>> = HashMap::new();
    for (place, output) in set.outputs.iter().enumerate() {
        kinds.entry(&output.kind).or_default().push(place);
    }
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort();
    kinds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_found_only_by_itself() {
        for (line, expected) in [
            ("37 times", true),
            ("×37", true),
            ("137", false),
            ("37.5", false),
            ("37.", true),
            ("v37", false),
            ("2.37", false),
        ] {
            assert_eq!(has_number(line, "37"), expected, "{line}");
        }
    }

    #[test]
    fn all_parts_of_an_answer_must_be_there() {
        let question: Question =
            toml::from_str("ask = 'x'\nanswer = ['a b', ['c', 'd'], { number = 5, near = 'failed' }]").unwrap();
        assert!(question.is_answered_by("a\n  b\nd\nFailed: 5"));
        assert!(!question.is_answered_by("a b\nd\n5\nfailed"));
    }
}
