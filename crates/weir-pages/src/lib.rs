//! The pages of `weir ui`: view models in, HTML and SVG out.
//!
//! A page is a struct of plain data with `render(&self, &Shell) -> String`; `weir-ui` fills it. The crate also has the
//! stylesheet, the keys and the [`charts`]. It knows no store, no network, no clock and no file: the time, the time
//! zone, the theme and the token come in with [`Shell`] and the view models.
//!
//! # Invariants
//!
//! - Everything here is a pure function.
//! - What somebody else wrote is a [`Text`], even if it is an identifier: escaped, and shown with everything that is in
//!   it ([`text`]). `tests/it/hostile.rs` puts hostile texts into every field: they add no element and no attribute,
//!   lead nowhere else, and hide nothing. Fields of forms give back exactly what they were given.
//! - A figure that was not measured is `None`, and the page says that it is not known. A chart says its finding in
//!   words, and has its figures as a table.
//! - Addresses are made here, from identifiers ([`routes`]); no view model has one.
//! - A form that changes something is written by one function, which adds the token of the [`Shell`]. What removes
//!   something has a second step.
//! - Pages have no inline style, no inline script and no request to anywhere, so that [`csp`] can forbid them. They
//!   work without the script.

pub mod assets;
pub mod charts;
mod components;
pub mod entry;
pub mod figures;
pub mod health;
pub mod message;
pub mod moment;
pub mod notes;
pub mod pauses;
pub mod prefix;
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
