//! The storage of a team server, behind the ports of `weir-records`: an [`Index`] on tantivy, and [`Blobs`] in an
//! object store.
//!
//! The ports block, and a server calls them from `spawn_blocking`. Both backends here work that way: tantivy blocks
//! anyway, and [`ObjectBlobs`] has a small runtime of its own for the object store, which is async.
//!
//! [`Index`]: weir_records::Index
//! [`Blobs`]: weir_records::Blobs

mod blobs;
mod folder;
mod index;
mod names;

pub use blobs::{Listing, ObjectBlobs, S3Place, StoredText, Swept};
pub use index::{IndexFigures, Started, TantivyIndex};
