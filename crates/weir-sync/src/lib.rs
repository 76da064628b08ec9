//! The client of a team server, or of a folder that git carries: sends the project's notes as records, and keeps those
//! of teammates in the project's store, where every search finds them, offline too.
//!
//! The state of an exchange is in `team.db`, next to the log; hooks do not open it. A received note is an entry with
//! the origin `teammate` and the source `team/NAME`, so searches, guides and reviews need no second path. Its topic
//! alone does not make it supersede another note; only a record can. A note written here supersedes all current
//! revisions of its topic.
//!
//! What a record is, and what a set of keys means, is `weir-records`; the tables are in `weir-store`. The command `weir
//! sync`, which connects a project, is in the program.
//!
//! # Invariants
//!
//! - Only the options of `weir sync` connect a project. Nothing in a repository and no server can.
//! - A record has its id and its JSON, byte for byte, in `team.db` before it is sent. Sending it again sends the same.
//! - The reference of a received entry is stored before the entry, and the position moves after it. A crash in between
//!   is repaired by reading the page again.
//! - A teammate's text is data: fenced, with its author, and never with the origin `user`.
//! - `team.db` has no text, except as ciphertext in a sealed record. `weir forget` erases the JSON of what it forgets,
//!   and an exchange in progress does not write it back.
//! - One process at a time exchanges records of a store, holding `team.lock`. Two that numbered records at once would
//!   look like a clone.
//! - An exchange reads before it sends, so that what was sent or taken before is recognised. If the user's records name
//!   an id of this machine's host that it does not know, the machine was copied or put back, and takes a new host: no
//!   id is used twice.
//! - Each exchange reads the last known record again. If another record is in its place, the server's log was restored
//!   to an older state.
//! - Through git, only notes that the user has named are shared, and a note written here is removed only here.
//! - In a sealed project no entry leaves the machine in clear: `may_leave` checks every record. Keys and members come
//!   from the log alone, and only from changes that a member has signed. What a machine knows of them only grows. Once
//!   it knows that a project is sealed, it takes no entry in clear that it does not have.
//!
//! # An exchange, step by step
//!
//! ```text
//! outbox           notes, confirmations and what was forgotten → records in team.db
//! exchange         downloads page by page, uploads in batches, downloads what came meanwhile
//!   apply          a page: rows and references first, then the log, then the position
//!   recount        whose word counts, when that changes or an entry comes back
//!   uploads        what is sent at once, and what the server refuses
//!   sealing        follows the keys, opens and seals entries; vault has the keys of this machine
//!   host           a new identity, if another machine has this one's or this one was put back
//! words            whose notes, who confirmed them, forks
//! news             the server says that there is something new, and `weir sync --watch` or `weir mcp` begin an exchange
//! invitations      what an admin asks the server for, and how somebody becomes a user
//! session_end      after the answer of a hook: `weir sync --quiet` in a process of its own
//! ```

mod apply;
mod exchange;
#[cfg(test)]
mod hazard_tests;
mod host;
mod invitations;
mod ledger;
mod lock;
mod news;
mod outbox;
mod recount;
#[cfg(test)]
mod sealed_hazard_tests;
mod sealing;
mod server;
mod session_end;
mod shared_folder;
#[cfg(test)]
mod simulation_tests;
mod token;
mod uploads;
mod vault;
mod words;

pub use exchange::{Exchange, PreviewedRecord, Report};
pub use invitations::{NewInvitation, accept_invitation, invitations, invite, revoke_invitation};
pub use lock::ExchangeLock;
pub use news::{NewsListener, keep_in_step};
pub use sealing::{SealReport, described};
pub use server::{ConnectedServer, Server, forget_everywhere, whose_token};
pub use session_end::{forget_mark, mark_synced, sync_after_session};
pub use shared_folder::{GIT, NOTES_FOLDER, SharedFolder};
pub use token::{MAX_TOKEN_BYTES, ReleasedToken, read_token, release_token, store_token};
pub use vault::{KeyWish, Vault};
pub use words::{Remarks, confirmed, forgotten, remarks, standing};

/// What the source of a teammate's entry begins with, before their name.
pub const SOURCE: &str = "team";
