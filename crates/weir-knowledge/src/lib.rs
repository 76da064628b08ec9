//! What a project knows beyond what was said: files and pages indexed for search ([`indexing`], [`fetching`]), the map
//! of its code ([`mapping`]), and which notes its files and commits contradict by now ([`staleness`]). Also which
//! repository a folder is ([`identity`]), and whether its knowledge may be in another store ([`moved`], [`projects`]).
//!
//! The crate reads files and pages, and hands texts to the store. It does not search: `weir-store` has the index, and
//! `weir-operations` the operation that asks it. It opens no connection itself (`weir-fetch`) and parses no source
//! (`weir-files` has that done in a confined process).
//!
//! # Invariants
//!
//! - A file or page is read only after the gate has allowed it ([`weir_context::permission`]). Files that rules deny,
//!   or that are hidden as secrets, are never opened.
//! - A source has one entry. A newer text replaces the older one in the same transaction, unless a note cites the
//!   older.
//! - Only what changed is read and stored again, in batches of bounded size. A cancelled call ends between two batches.
//!   What is skipped is counted by reason.
//! - A doubt about a note is a verified fact. If Weir cannot tell, it says nothing.
//! - Git is asked only about objects, in a sandbox, with a time limit. It does not read the repository's configuration,
//!   which may name programs to start. A late or incomplete answer counts as unknown.
//! - A guess about another store is reported with the command that acts on it; nothing is adopted by itself.

pub mod fetching;
pub mod identity;
pub mod indexing;
pub mod mapping;
pub mod moved;
pub mod projects;
pub mod staleness;
