//! What a project knows beyond what was said: files and pages indexed for search, the map of its code, and which notes
//! its files contradict by now.
//!
//! Invariants:
//! - A file or page is read only after the gate has allowed it ([`weir_context::permission`]).
//! - Git is asked in a sandbox, with a time limit; an answer that is late or incomplete counts as unknown.
//! - A guess about another store is reported with the command that acts on it; nothing is adopted by itself.

pub mod fetching;
pub mod identity;
pub mod indexing;
pub mod mapping;
pub mod moved;
pub mod projects;
pub mod staleness;
