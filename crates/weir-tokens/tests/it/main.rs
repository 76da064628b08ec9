//! Compares this crate with `tiktoken-rs`, the reference, and checks its own guarantees.

mod alike;
mod fitting;
mod long;
mod strings;

fn reference(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().count_ordinary(text)
}

/// Texts of the kinds that agents read: documents, source code, logs, and languages other than English.
const TEXTS: [&str; 3] = [
    include_str!("fixtures/document.md"),
    include_str!("fixtures/languages.txt"),
    include_str!("fixtures/session.jsonl"),
];
