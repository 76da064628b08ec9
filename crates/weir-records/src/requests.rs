//! What a client calls a request that it may repeat, so that a repeated note is stored once. Invariant: a key tells
//! nothing of the user or of what the request said.

use weir_core::{Timestamp, UserId};

use crate::erased::Imprint;

/// How long a key counts, in milliseconds: a day.
const MAX_AGE_MILLIS: i64 = 24 * 60 * 60 * 1000;

/// The key of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestKey {
    /// The hash of the user and of their name for the request.
    pub name: [u8; 32],
    /// What tells the request from another one with the same name.
    pub content: Imprint,
    pub at: Timestamp,
}

impl RequestKey {
    /// Returns the key of a request of a user, which they call `name` and which says `content`.
    pub fn new(user: &UserId, name: &str, content: &str, at: Timestamp) -> Self {
        // Neither a user nor a name has a zero byte.
        let hash = *blake3::hash(format!("{}\0{name}", user.0).as_bytes()).as_bytes();
        Self { name: hash, content: Imprint::of(&format!("{name}\0{content}")), at }
    }

    /// Returns the time before which keys do not count any more.
    pub fn oldest(&self) -> Timestamp {
        Timestamp(self.at.0.saturating_sub(MAX_AGE_MILLIS))
    }
}
