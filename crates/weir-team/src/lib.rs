//! A team's server: its service over HTTP, and backends of the ports in `weir-records` for more than one machine.
//!
//! [`Service`] answers requests on any three ports and accounts, and knows no backend; the program opens the storage,
//! listens and hands requests over. What every server does with a request is `weir-http`'s. [`PostgresLog`] is the log, the record of truth; [`BucketedIndex`] finds what is in
//! it, and [`ObjectBlobs`] has the texts, in a folder or in a bucket. The ports block, and a server calls them from
//! `spawn_blocking`. What is async behind one has a runtime of its own: a [`Bridge`] drives the connections of the log.
//!
//! With several databases, [`Cells`] is the log and the accounts: it sends each call to the database of its tenant.
//!
//! What a record is, who sees it and what a sealed project is, `weir-records` says. Nothing here acts on a developer's
//! machine.
//!
//! # Invariants
//!
//! - Tenant and user come from the token. No body, query or header can name them, and an unknown field is refused.
//! - The token is checked at every request, before the body is read. Nothing is cached, no secret is stored, and a
//!   revoked token stays revoked.
//! - What a backend says about itself goes to the operator, not into an answer.
//! - A server keeps nothing that another one on the same database would need. Its index follows the log by itself.
//! - Tenants are separated twice: every statement names the tenant, and row-level security shows a transaction only the
//!   rows of the tenant that it has entered. Two functions of the owner go beyond that: one finds a token by its id, one
//!   lists the projects with their positions, for the index. The program's role owns nothing and bypasses nothing; if it could do more
//!   than it needs, the log refuses to open. The tests try each of the two without the other.
//! - An append holds the lock on the project's head until it commits, so records become visible in the order of their
//!   positions. With a sequence instead, a reader could skip one that appears later.
//! - Of several databases, one lets a tenant write. The database itself refuses a tenant that has left it, in the
//!   transaction that would write, whatever a server remembers.
//! - A search reads the words of one project, and not even a score depends on another one. The same records give the
//!   same answer, to the last bit of the score.
//! - A bucket of the index or a copy that cannot be read, does not match its hashes, or was written by another version
//!   is not used: it is rebuilt from the log, and the index says so (`Started`).
//!
//! # The way of a request
//!
//! ```text
//! weir_http        observe: request ID, log line; request_limits: the body and the time
//! service/callers  token → tenant, user, scope, projects (Accounts); rates, strangers
//! service/answers  body and query as types; service/problem: failures of ports as answers
//! service/sync     uploads and downloads, quota ┐
//! service/entries  search, get                  ├ Shelf: Log, Index, Blobs
//! service/notes    keep, confirm, forget        ┘
//! service/indexer  follows the log: after a write, and by a walk over all heads; copying copies the index
//! ```
//!
//! # Example
//!
//! ```no_run
//! use weir_records::{Ports, Shelf, Writer, memory};
//! use weir_team::{Bridge, PostgresLog, PostgresOptions, migrate};
//!
//! # fn main() -> Result<(), weir_records::PortError> {
//! let bridge = Bridge::start()?;
//! // Once for each version, as the owner of the database.
//! migrate(&PostgresOptions::parse("postgresql://owner:secret@db.example.com/weir")?, "weir_app", &bridge)?;
//! // At each start, as a role that row-level security applies to.
//! let log = PostgresLog::open(&PostgresOptions::parse("postgresql://weir_app:secret@db.example.com/weir")?, &bridge)?;
//! let shelf = Shelf::new(Ports { log: std::sync::Arc::new(log), ..memory::ports() }, Writer::new()?);
//! # Ok(())
//! # }
//! ```

mod blobs;
mod bridge;
mod cells;
mod connections;
mod index;
mod log;
mod service;

pub use blobs::{Listing, ObjectBlobs, S3Place, StoredText, Swept};
pub use bridge::Bridge;
pub use cells::{
    AddedCell, Cell, CellMovePhase, CellOwner, Cells, Home, HomeState, MovedTenant, ReadAddress, prepare_directory,
};
pub use connections::{ConnectionFigures, ConnectionWatch};
pub use index::{
    BucketCopier, BucketOptions, BucketedIndex, Copied, CopyPlace, IndexCopier, IndexFigures, Meaning, Started,
    TantivyIndex, Vectors,
};
pub use log::{
    PostgresAccounts, PostgresLog, PostgresOptions, SCHEMA, Statements, delete_tenant, delete_tokens, end_update,
    erase_name, expire_audit, migrate,
};
pub use service::{Copying, DEFAULT_TENANT_BYTES, DEFAULT_TENANT_RECORDS, ResourceServer, Service, ServiceOptions};
