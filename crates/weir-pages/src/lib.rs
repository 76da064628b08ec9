//! The pages of `weir ui`: view models in, HTML out.
//!
//! Invariant: everything here is a pure function. No store, no network, no clock, no file. A page is a struct of plain
//! data with `render(&self, &Shell) -> String`; the program fills it.
//!
//! - What somebody else wrote is a [`Text`], which is escaped and shown with everything that is in it ([`text`]).
//! - A figure that was not measured is `None`, and the page says that it is not known.
//! - Addresses are made here, from identifiers ([`routes`]); no view model has one.
//! - A form that changes something carries the token of the [`Shell`].
//! - Pages have no inline style and no inline script, so that [`csp`] can forbid them.

pub mod assets;
pub mod charts;
mod components;
pub mod entry;
pub mod figures;
pub mod health;
pub mod message;
pub mod moment;
pub mod notes;
pub mod projects;
pub mod routes;
pub mod search;
pub mod session;
pub mod sessions;
pub mod settings;
mod shell;
pub mod text;
pub mod today;
pub mod window;
pub mod words;

pub use assets::{ASSETS, Asset};
pub use components::Pager as Paging;
pub use figures::Money;
pub use moment::Moment;
pub use routes::Page;
pub use shell::{ProjectLink, Shell, Theme};
pub use text::{Prose, Text};

/// Returns the content security policy of every page: nothing from elsewhere, nothing inline, no frames.
pub fn csp() -> &'static str {
    "default-src 'none'; style-src 'self'; script-src 'self'; form-action 'self'; base-uri 'none'; \
     frame-ancestors 'none'; require-trusted-types-for 'script'"
}

/// Returns the headers of every page: [`csp`], and what keeps the page out of caches, frames and other sites' sight.
///
/// Other sites are told nothing of where a reader comes from. Under `no-referrer`, though, browsers would also hide the
/// origin of the pages' own forms, which the server checks.
pub fn headers() -> [(&'static str, &'static str); 7] {
    [
        ("content-type", "text/html; charset=utf-8"),
        ("content-security-policy", csp()),
        ("cache-control", "no-store"),
        ("referrer-policy", "same-origin"),
        ("x-content-type-options", "nosniff"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ]
}
