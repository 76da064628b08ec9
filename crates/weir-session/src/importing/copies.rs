//! Recognises messages that a fork has copied from another session, by their identifiers.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};

use weir_clients::transcript::Session;

/// The messages that were read, each with the first session that had it. Both are hashes: there may be millions.
#[derive(Default)]
pub(super) struct MessageOwners {
    hashing: RandomState,
    owners: HashMap<u64, u64>,
}

impl MessageOwners {
    /// Returns whether a message of a session was read from another session before.
    pub(super) fn is_copy(&mut self, session: &Session, message: &str) -> bool {
        let own = self.hashing.hash_one(&session.key);
        let message = self.hashing.hash_one((session.client().name, message));
        *self.owners.entry(message).or_insert(own) != own
    }
}
