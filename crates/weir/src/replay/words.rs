//! Identifiers: names, paths and numbers that a model cannot guess, and so must have seen. Prose is left out.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// The shortest identifier, in characters.
const SHORTEST: usize = 5;
/// Names of tool arguments: a model does not take them from the conversation.
const OF_TOOLS: [&str; 18] = [
    "file_path",
    "old_string",
    "new_string",
    "replace_all",
    "output_mode",
    "subagent_type",
    "description",
    "command",
    "pattern",
    "timeout",
    "content",
    "in_progress",
    "run_in_background",
    "filePath",
    "oldString",
    "newString",
    "yield_time_ms",
    "max_output_tokens",
];

/// Identifiers by number, so that sets of them are small.
#[derive(Default)]
pub(super) struct Words {
    numbers: HashMap<String, u32>,
}

/// A set of identifiers.
pub(super) type Set = HashSet<u32>;

impl Words {
    /// The identifiers of a text.
    pub(super) fn of(&mut self, text: &str) -> Set {
        let mut found = Set::new();
        each(text, |word| {
            let next = self.numbers.len() as u32;
            let number = match self.numbers.get(word) {
                Some(number) => *number,
                None => *self.numbers.entry(word.to_owned()).or_insert(next),
            };
            found.insert(number);
        });
        found
    }

    /// The identifiers of a set as they are written, in order of the alphabet, up to `most`.
    pub(super) fn named(&self, set: &Set, most: usize) -> Vec<String> {
        let mut names: Vec<&String> =
            self.numbers.iter().filter(|(_, number)| set.contains(number)).map(|(name, _)| name).collect();
        names.sort();
        names.into_iter().take(most).cloned().collect()
    }
}

/// Hands on every identifier of a text. What is in JSON has its line ends and tabs escaped.
fn each(text: &str, mut take: impl FnMut(&str)) {
    let text: Cow<'_, str> = match text.contains('\\') {
        true => text.replace("\\n", "\n").replace("\\t", "\t").into(),
        false => text.into(),
    };
    for run in text.split(|c: char| !(is_first(c) || "./:+-".contains(c))) {
        let run = run.trim_start_matches(|c| !is_first(c));
        let word = run.trim_matches(['.', ':', '-', '+', '/']);
        if word.len() >= SHORTEST && is_telling(word) && !OF_TOOLS.contains(&word) {
            take(word);
        }
    }
}

fn is_first(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Whether it is more than a word of prose, and more than a plain number.
fn is_telling(word: &str) -> bool {
    let bytes = word.as_bytes();
    let has_hump = || bytes.windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    let has_mark = || bytes.iter().any(|byte| byte.is_ascii_digit() || b"_/.".contains(byte));
    !bytes.iter().all(u8::is_ascii_digit) && (has_mark() || has_hump())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_guessed_is_an_identifier() {
        let text = r#"{"file_path":"./src/lib.rs:12","n":123456} The fooBar of Parser is parse_it(), not\nv1.2.3+x. short a_b"#;
        let mut found = Vec::new();
        each(text, |word| found.push(word.to_owned()));
        assert_eq!(found, ["src/lib.rs:12", "fooBar", "parse_it", "v1.2.3+x"]);
    }

    #[test]
    fn a_set_names_its_identifiers_in_order() {
        let mut words = Words::default();
        let set = words.of("b_long a_long c_long a_long");
        assert_eq!((set.len(), words.named(&set, 2)), (3, vec!["a_long".to_owned(), "b_long".to_owned()]));
    }
}
