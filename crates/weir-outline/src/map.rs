//! A map of many files: selects the files that matter to a question, and their best symbols within a budget.
//!
//! A file is represented by its [`Facts`], which are computed once and stored: the names it defines, the names it
//! mentions, the words it is found by, and its symbols. [`rank`] orders files by direct references, words, proximity
//! and common changes; [`show`] writes the best symbols of the best files.
//!
//! Invariants:
//! - The same facts give the same order and the same text.
//! - A text never has more tokens than its budget.
//! - Nothing here reads a file.

mod facts;
mod find;
mod names;
mod pack;
mod rank;
mod show;
mod together;

pub use facts::{Facts, Symbol};
pub use find::{FoundSymbol, find};
pub use names::{name_number, words_of};
pub use pack::{pack, symbols_from_text, symbols_to_text, unpack};
pub use rank::{Heat, Known, Ranked, Weights, Wish, rank, rank_with};
pub use show::{Entry, Map, show};
pub use together::Commits;
