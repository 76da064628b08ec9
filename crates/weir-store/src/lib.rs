//! The local store of one project, or of the user: a log, an index and blobs.
//!
//! - The **log** is the record of truth: entries, notes, events and sessions. An acknowledged write is in it.
//! - The **index** answers searches. It is derived from the log, may lag behind it, and can be rebuilt at any time.
//! - The **blobs** are the texts, compressed and addressed by content.
//!
//! Invariants: only [`Store`] combines the three; every call takes a [`weir_core::Scope`]; secrets are redacted before
//! anything is written; the cost of a write depends on what it writes, not on the size of the store.

mod blobs;
mod db;
mod error;
mod feed;
mod foreign;
mod index;
mod layout;
mod log;
mod migrate;
pub mod quantised;
mod shown;
mod spool;
mod store;
mod team;

pub use blobs::{BlobReader, Depth, Line, TextWriter};
pub use db::Patience;
pub use error::{Loss, Refusal, StoreError, Unreadable};
pub use foreign::{ForeignDb, ForeignDbError};
pub use index::map::MapFile;
pub use index::unembedded::{ChunkText, LockPolicy, UnembeddedChunks};
pub use index::{Findings, Hit};
pub use layout::StorePart;
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
pub use shown::{HashedText, Repeat, ShownLines};
pub use spool::{LONGEST_TEXT, Spool, SpoolRecord};
pub use store::{
    CheckedCopy, Copied, Exported, ExportedEntry, ExportedEvent, ForeignRow, Found, Fresh, FreshRows, Freshness,
    Health, KeepError, Kept, LostText, MapChange, NewFile, NewPage, NoteUse, Owner, Past, RowMemory, Store, Swept,
    UnavailableText, UnreadEntry, UnreadTexts,
};
pub use team::{Attribution, Confirmation, TeamConnection, TeamDb, TeamKind, TeamRecord, TeamState};
pub use weir_ledger::private;

#[cfg(test)]
mod plan_tests;
