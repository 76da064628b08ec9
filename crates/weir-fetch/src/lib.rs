//! Fetches pages from the network and converts them to Markdown, guarded and bounded.
//!
//! The crate also calls servers that the user named: a model behind an [`endpoint`], and the HTTP of a team's server
//! ([`api`]). It stores nothing, and it does not know the user's rules; the caller says which hosts must not be reached
//! (`weir-knowledge`).
//!
//! # Invariants
//!
//! - No connection is opened to an address that the [`Guard`] has not checked, whatever a name resolves to and wherever
//!   a page redirects.
//! - Time, memory and stack are bounded for any response.
//! - The notes of the [`Page`] name everything that was cut or changed.
//! - Any port is allowed: pages are served on many, and the address decides what must not be reached. A proxy is asked
//!   for plain `http` pages with CONNECT, as for `https` ones.

pub mod api;
mod body;
mod charset;
pub mod endpoint;
mod error;
mod feed;
mod fetch;
#[doc(hidden)]
pub mod fuzzing;
mod guard;
pub mod html;
mod json;
mod media;
mod page;
mod proxy;
mod text;
mod transport;

pub use error::FetchError;
pub use fetch::{fetch, parse};
pub use guard::{Guard, PatternError};
pub use media::PageFormat;
pub use page::{Fetched, Page};
pub use proxy::Proxies;
pub use transport::{Fetcher, Limits, NameResolver, Request, ResolveFn, RootCertificates, Settings};
pub use url::Url;
