//! The local store of one project, or of the user: a log, an index and blobs.
//!
//! - The **log** is the record of truth: entries, notes, events and sessions, in one order. An entry has the id of the
//!   event that kept it; a removal appends an event too, and ids are never reused.
//! - The **index** answers searches. It is derived from the log, may lag behind it, and can be rebuilt at any time. It
//!   has a file of its own, so indexing never holds up a hook that appends an event. It holds spans and vectors, and no
//!   texts.
//! - The **blobs** are the texts, compressed and addressed by content.
//!
//! Next to them are the **spool**, with what hooks could not write; the **shown lines** of each conversation; and
//! `team.db`, the state of an exchange with a team. [`Store`] composes all of it. There is one folder per project and
//! one for the user; which folder that is, `weir-host` says.
//!
//! The store has no model: the caller makes vectors, and the store keeps them with the model's name and drops those
//! with another name. Its errors name no path; the caller adds it.
//!
//! # Invariants
//!
//! - The log is the truth. Deleting `index.db` loses nothing.
//! - What the log acknowledges survives a crash. Notes and documents wait for the disk; events and outputs do not, so a
//!   power cut may take the last of them.
//! - Every call takes a [`weir_core::Scope`], and an entry is visible exactly when `Scope::sees` says so. The SQL
//!   filters are tested against it. A scope that names a tenant or a user is refused.
//! - Text is redacted in `Store::keep` and `Store::append`, before anything else sees it, both as it is stored and as
//!   it appears without escape sequences and invisible characters. There is no other way in.
//! - Every write is one `BEGIN IMMEDIATE` transaction, and its cost depends on what it writes. No statement scans a
//!   table that grows: `plan_tests.rs` has the engine explain every statement, and counts its steps for what hooks do.
//! - A blob's row is committed after its file is complete and on the disk; a file is removed only under the write lock,
//!   after the removal of its row is on the disk. `tests/it/power.rs` cuts the power at hundreds of moments.
//! - Removal leaves a tombstone for `event_days`, so Weir can tell `expired`, `evicted`, `forgotten`, `replaced`,
//!   `lost` and `never existed` apart.
//! - What is absent or damaged is a [`Loss`], which may be acted on. What cannot be read *now* is a [`Refusal`], and
//!   never becomes a removal, a mark that stays, or another store.
//! - A text that cannot be read does not keep anything else from being indexed, found, forgotten, rebuilt, backed up,
//!   restored or exported.
//! - After a forget, no word of the entry is left in the index.
//! - A released migration never changes; a newer database is refused and left untouched.
//! - Only `weir-db` opens a connection (`clippy.toml`).
//!
//! # A search, step by step
//!
//! ```text
//! index/apply             follows the log: text → chunks (weir-core) → words and vocabulary
//! index/unembedded        chunks without a vector, for the caller's model
//! index/search/spelling   terms; an unknown word: inside other words, or misspelt
//! index/search/candidates the hundred best by words, within scope and filters
//! index/meaning           how similar each is; similar ones that share no word
//! index/search/rank       one score: words, meaning, age, same work; the newer of two on a subject first
//! store/search            confirms every hit with the log
//! ```

mod blobs;
mod feed;
mod index;
mod log;
pub mod quantised;
mod redacted;
mod spool;
mod store;
mod team;

pub use blobs::{BlobReader, Depth, KeepError, Line, TextWriter};
pub use index::map::MapFile;
pub use index::unembedded::{ChunkText, LockPolicy, UnembeddedChunks};
pub use index::{Findings, Hit};
pub use log::entries::{EntryFilter, EntryList};
pub use log::export::{ExportedNote, ExportedRun};
pub use log::files::SessionFile;
pub use log::forget::{Forgotten, Plan, Selection};
pub use log::history::{HistoryFilter, Moment};
pub use log::hook_days::{HookDay, HookRun, HookUse, Outcome, OutcomeSum, SeenOutput, TimedHooks};
pub use log::hooks::Guide;
pub use log::imports::{Conversation, ImportPosition, Known, SUMMARY};
pub use log::meter::{MeterAction, MeterRow, Reading};
pub use log::overview::StoreOverview;
pub use log::projects::KnownProject;
pub use log::prompts::RecentPrompt;
pub use log::sessions::{ListedSession, SessionFilter, SessionPlace, SessionSummary};
pub use log::sources::{KnownFile, PageState, Stamp, Validators};
pub use spool::{LONGEST_TEXT, Spool, SpoolRecord};
pub use store::{
    CheckedCopy, Copied, Exported, ExportedEntry, ExportedEvent, ForeignRow, Found, Fresh, FreshRows, Freshness,
    Health, Kept, LostText, MapChange, NewFile, NewPage, NoteUse, Owner, Past, RowMemory, Store, Swept,
    UnavailableText, UnreadEntry, UnreadTexts,
};
pub use team::{Attribution, Confirmation, TeamConnection, TeamDb, TeamKind, TeamRecord, TeamState};
pub use weir_db::Patience;
pub use weir_db::error::{Loss, Refusal, StoreError, Unreadable};
pub use weir_db::foreign::{ForeignDb, ForeignDbError};
pub use weir_db::layout::StorePart;
pub use weir_ledger::private;
pub use weir_shown::{HashedText, Repeat, ShownLines};

use weir_db::{self as db, error, layout};

#[cfg(test)]
mod plan_tests;
