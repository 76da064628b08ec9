//! Pages from the network: guarded, bounded, and as Markdown.
//!
//! Invariants: no connection is opened to an address that the [`Guard`] has not seen, whatever a name resolves to and
//! wherever a page redirects; time, memory and stack are bounded, whatever comes back; what was cut or changed is said
//! in the notes of the [`Page`].
//!
//! Any port may be asked for: pages live on many, and what must not be reached is decided by address. A plain `http`
//! page is asked of a proxy with CONNECT, as an `https` one is.

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
pub use media::Form;
pub use page::{Fetched, Page};
pub use proxy::Proxies;
pub use transport::{Fetcher, Limits, Names, Request, Resolve, Roots, Settings};
pub use url::Url;
