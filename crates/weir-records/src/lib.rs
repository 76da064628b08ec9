//! The records that may leave a machine, and the three storage ports that a server is built on.
//!
//! A [`Record`] says that something was kept, superseded, confirmed or removed. It has an identity and a time that mean
//! the same on every machine, an author and an [`Audience`]; it never changes. A developer's own store (`weir-store`)
//! has much more: what hooks saw, what a session was shown, which files were read. That is the state of one machine,
//! most of it private, and stays there. An entry becomes a record when its author shares it.
//!
//! The ports are [`Log`], [`Index`] and [`Blobs`], each as large as two real backends need it. [`memory`] and
//! [`sqlite`] implement them; every pairing of the two passes the same suite, `contract` (a feature of this crate), and
//! so must every other backend. [`Shelf`] is the service on top of any three. [`Accounts`] is a fourth port, for
//! tenants and tokens; a shelf does not know it. [`moving`] takes a team from SQLite to another database. [`sealed`] is
//! for projects that their server cannot read. HTTP and the backends for several machines are in `weir-server`.
//!
//! # Invariants
//!
//! - Every call takes a `Scope`, and nothing crosses tenants, users or projects, by any operation.
//!   [`Record::is_visible`] is the rule; the contract compares every backend with one written apart from it.
//! - The log decides. A hit of the index is shown only if the log shows its record to the scope; a text is read only
//!   through a record; and a record is accepted only with its text, because the hash alone would open any text of the
//!   tenant.
//! - Appending a record twice is the same as once. A different record with the same host and index is a conflict, never
//!   ignored.
//! - A host belongs to the user who first sent records for it, and a server's host to nobody, so no user can take the
//!   ids that another one would use next.
//! - Positions come from the head of the project, in the transaction that appends, so a cursor never skips a record.
//! - The index follows the log by its position and is derived from nothing else. Changes apply only at the position
//!   they were made for: a slow follower must not bring back what a faster one has removed.
//! - After `forget`, no port has anything of the record but its id, its position and an imprint that tells it from
//!   others, and the answer has the counts that prove it. Only its author removes a record.
//! - Equal records have equal JSON. A record of a newer format, or with an unknown field, is refused as a whole, with
//!   the reason: the sender still has it, and a dropped field would be lost silently.
//!
//! # Example
//!
//! ```
//! use weir_core::{EntryKind, ProjectKey, Scope, TenantId, Timestamp, UserId};
//! use weir_records::{Audience, NewRecord, SearchQuery, Shelf, Writer, memory};
//!
//! # fn main() -> Result<(), weir_records::PortError> {
//! let shelf = Shelf::new(memory::ports(), Writer::new()?);
//! let user = |name: &str| Scope {
//!     tenant: TenantId("acme".into()),
//!     user: UserId(name.into()),
//!     ..Scope::project(ProjectKey("api".into()))
//! };
//! let (ana, ben, now) = (user("ana"), user("ben"), Timestamp(1_700_000_000_000));
//!
//! let note = NewRecord::new(EntryKind::Note, Audience::Team, "Pool size", "The pool has ten connections.");
//! let kept = shelf.keep(&ana, note, now)?;
//!
//! let found = shelf.search(&ben, &SearchQuery::new("connections", 5))?;
//! assert_eq!(found.hits[0].kept.record, kept);
//! shelf.confirm(&ben, kept.id, now)?;
//! # Ok(())
//! # }
//! ```

mod accounts;
mod clock;
#[cfg(feature = "contract")]
pub mod contract;
mod erased;
mod error;
pub mod frames;
mod id;
pub mod memory;
pub mod moving;
mod names;
mod ports;
mod record;
mod requests;
pub mod sealed;
mod shelf;
pub mod sqlite;
mod written;

pub use accounts::{
    Acceptance, Accounts, ApiToken, Credential, DeletedTenant, EXPIRED_AUDIT, ErasedName, Invitation, InvitationCode,
    InvitationStanding, Invitations, MAX_CLOSED_MILLIS, MAX_NAME_BYTES, OPERATOR, Revoked, TenantUsage, TokenId,
    TokenScope, TokenStanding, is_name,
};
pub use clock::{Clock, ClockAhead, LogicalTime};
pub use erased::{Imprint, KnownContent};
pub use error::{ErrorKind, PortError, Result};
pub use id::{HostId, RecordId, TextKey};
pub use names::{NAME_BYTES, name_of};
pub use ports::{
    Batch, Blobs, Head, HeadPage, HeadWalk, Index, IndexChange, IndexHit, IndexHits, IndexedRecord, KeptTexts, Log,
    LookUps, MAX_ABOUT, MAX_READ_BYTES, MAX_TOPIC_BYTES, Once, Position, ProjectChanges, Readers, SearchQuery, Step,
    StoredRecord, TextPart, Texts, refused_hosts,
};
pub use record::{Audience, Author, Body, FORMAT, Kept, NoteFields, NoteFile, Record, Remover};
pub use requests::RequestKey;
pub use shelf::{
    Confirmation, ErasedAuthor, Followed, Forgotten, Found, Hit, Incoming, KeptOnce, KeptRecord, Left, NewRecord,
    Ports, Sender, Shelf, Writer,
};
