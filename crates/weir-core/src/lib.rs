//! The domain of Weir: entries, notes, events, scopes, queries, guides, chunks and redaction.
//!
//! It is pure: no input, no output, no clock, no randomness. Everything here is a value or a function of values. Time
//! and random numbers are arguments, so that the same input gives the same result in a test, in a hook and on a server.
//! Storing, finding and showing these values is the work of the crates above.
//!
//! # Invariants
//!
//! - `Scope::sees` is the only rule of visibility, and every backend's filter is tested against it ([`scope`]).
//! - Redaction is idempotent, changes nothing outside its findings, and takes linear time ([`redact`]).
//! - A guide never exceeds its budget, and foreign text is always within one of our lines, which says whose words they
//!   are ([`guide`]).
//! - Any text is a valid query ([`query`]), and any text can be cut into chunks, without a gap and in linear time
//!   ([`chunk`]).
//! - A repository's identity has no credentials. Any folder can claim one, so nothing is opened because of it
//!   ([`identity`]).
//! - Nothing is compiled or built at start-up, since hooks use all of this.

pub mod chunk;
pub mod entry;
pub mod event;
pub mod guide;
pub mod identity;
pub mod names;
pub mod note;
pub mod prose;
pub mod query;
pub mod redact;
pub mod reference;
pub mod retention;
pub mod run;
pub mod scope;
pub mod stem;
pub mod terminal;
pub mod time;
pub mod unseen;
pub mod wording;
pub mod words;

pub use chunk::{Cutter, Form, Piece};
pub use entry::{Entry, EntryKind, NewEntry, Origin};
pub use event::{Event, EventKind, LoggedEvent, Priority};
pub use identity::RepositoryIdentity;
pub use note::{Note, NoteKind};
pub use query::Query;
pub use reference::Reference;
pub use retention::{Gone, Limits, WhyGone};
pub use run::{Ended, RunFacts};
pub use scope::{Level, ProjectKey, Scope, SessionKey, TenantId, UserId};
pub use time::Timestamp;

/// An enum with one written form for each variant, declared with [`written_enum!`].
pub trait Written: Copy + Send + Sync + 'static {
    /// Every variant, in order of declaration.
    const ALL: &'static [Self];
    fn as_str(self) -> &'static str;
}

/// Declares an enum whose variants have one written form each: in the database, in arguments and in answers.
///
/// One list per enum keeps the written form, the parser and the list of choices from drifting apart.
#[macro_export]
macro_rules! written_enum {
    (
        $(#[$meta:meta])*
        pub enum $name:ident { $( $(#[$variant_meta:meta])* $variant:ident = $text:literal ),+ $(,)? }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum $name { $( $(#[$variant_meta])* $variant ),+ }

        impl $name {
            /// Every variant, in order of declaration.
            pub const ALL: &[Self] = &[ $( Self::$variant ),+ ];

            pub fn as_str(self) -> &'static str {
                match self { $( Self::$variant => $text ),+ }
            }

            /// Returns the variant with this written form.
            pub fn parse(text: &str) -> Option<Self> {
                match text { $( $text => Some(Self::$variant), )+ _ => None }
            }
        }

        impl $crate::Written for $name {
            const ALL: &'static [Self] = Self::ALL;
            fn as_str(self) -> &'static str {
                self.as_str()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}
