//! A team's server: its service over HTTP, and backends of the ports in `weir-records` for more than one machine.
//!
//! [`Service`] answers requests on any three ports and accounts; the program listens and hands them over. The rest is
//! storage:
//!
//! [`PostgresLog`] is the log, the record of truth; [`TantivyIndex`] finds what is in it, and [`ObjectBlobs`] has the
//! texts. The ports block, and a server calls them from `spawn_blocking`. What is async behind one has a runtime of its
//! own: a [`Bridge`] drives the connections of the log.
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
mod folder;
mod index;
mod log;
mod names;
mod service;

pub use blobs::{Listing, ObjectBlobs, S3Place, StoredText, Swept};
pub use bridge::Bridge;
pub use index::{Copied, CopyPlace, IndexCopier, IndexFigures, Meaning, Started, TantivyIndex, Vectors};
pub use log::{
    PostgresAccounts, PostgresLog, PostgresOptions, SCHEMA, Statements, delete_tenant, delete_tokens, migrate,
};
pub use service::{
    AnsweredRequest, ClientAddress, Copying, DEFAULT_BODY_BYTES, DEFAULT_TENANT_BYTES, DEFAULT_TENANT_RECORDS,
    RequestWatcher, ResourceServer, Service, ServiceOptions,
};
