//! The records that may leave a machine, and the three storage ports that a server is built on.
//!
//! A [`Record`] says that something was kept, superseded, confirmed or removed. It has an identity and a time that mean
//! the same on every machine, an author and an [`Audience`]; it never changes. A developer's own store (`weir-store`)
//! has much more: what hooks saw, what a session was shown, which files were read. That is the state of one machine and
//! stays there. An entry becomes a record when its author shares it.
//!
//! The ports are [`Log`], [`Index`] and [`Blobs`]. [`memory`] and [`sqlite`] implement them; every pairing of the two
//! passes the same suite, `contract` (a feature of this crate), and so must every other backend. [`Shelf`] is the
//! service on top of any three. [`Accounts`] is a fourth port, for tenants and tokens; a shelf does not know it.
//! [`moving`] takes a team from SQLite to another database. [`sealed`] is for projects that their server cannot read.
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
mod id;
pub mod memory;
pub mod moving;
mod ports;
mod record;
pub mod sealed;
mod shelf;
pub mod sqlite;
mod written;

pub use accounts::{
    Accounts, ApiToken, Credential, DeletedTenant, MAX_NAME_BYTES, OPERATOR, Revoked, TenantUsage, TokenId, TokenScope,
    TokenStanding, is_name,
};
pub use clock::{Clock, ClockAhead, LogicalTime};
pub use erased::{Imprint, KnownContent};
pub use error::{ErrorKind, PortError, Result};
pub use id::{HostId, RecordId, TextKey};
pub use ports::{
    Batch, Blobs, Index, IndexChange, IndexHit, IndexHits, IndexedRecord, Log, MAX_ABOUT, Position, Readers,
    SearchQuery, Step, StoredRecord, refused_hosts,
};
pub use record::{Audience, Author, Body, FORMAT, Kept, NoteFields, NoteFile, Record};
pub use shelf::{
    Confirmation, Forgotten, Found, Hit, Incoming, KeptRecord, Left, NewRecord, Ports, Sender, Shelf, Writer,
};
