//! Identifiers: names, paths and numbers that a model cannot guess and so must have seen. Prose is excluded.

use std::collections::{HashMap, HashSet};

/// Names of tool arguments, which a model does not take from the conversation.
const OF_TOOLS: [&str; 18] = [
    "file_path", "old_string", "new_string", "replace_all", "output_mode", "subagent_type", "description", "command",
    "pattern", "timeout", "content", "in_progress", "run_in_background", "filePath", "oldString", "newString",
    "yield_time_ms", "max_output_tokens",
];

/// A numbering of identifiers, which keeps sets of them small.
#[derive(Default)]
pub(super) struct Words {
    numbers: HashMap<String, u32>,
}

pub(super) type Set = HashSet<u32>;

impl Words {
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

    /// Returns up to `most` identifiers of a set as written, in alphabetical order.
    pub(super) fn named(&self, set: &Set, most: usize) -> Vec<String> {
        let mut names: Vec<&String> =
            self.numbers.iter().filter(|(_, number)| set.contains(number)).map(|(name, _)| name).collect();
        names.sort();
        names.into_iter().take(most).cloned().collect()
    }
}

/// Passes on every identifier of a text, except names of tool arguments. A path counts as the same with and without the
/// dot of a hidden folder.
fn each(text: &str, mut take: impl FnMut(&str)) {
    weir_core::names::each(text, |word, _| {
        let word = word.trim_start_matches('.');
        if !OF_TOOLS.contains(&word) {
            take(word);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_arguments_are_no_identifiers() {
        let mut found = Vec::new();
        each(r#"{"file_path":"./src/lib.rs:12","in_progress":1}"#, |word| found.push(word.to_owned()));
        assert_eq!(found, ["src/lib.rs:12"]);
    }

    #[test]
    fn a_set_names_its_identifiers_in_order() {
        let mut words = Words::default();
        let set = words.of("b_long a_long c_long a_long");
        assert_eq!((set.len(), words.named(&set, 2)), (3, vec!["a_long".to_owned(), "b_long".to_owned()]));
    }
}
