//! The behaviour of clients on their own, as data by client and version.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::CommandError;

/// The built-in data.
const BUILT_IN: &str = include_str!("clients.toml");

/// What a client does on its own, and what Weir adds to it.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Behaviour {
    /// The tokens that tool descriptions add to every request.
    pub descriptions: u64,
    /// How the client limits large outputs.
    pub limits: Vec<Limit>,
}

/// How a client limits a large output.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Limit {
    /// The tools that the limit applies to.
    tools: String,
    /// How much is shown, as text.
    limit: String,
    /// The oldest version in which the limit was observed.
    since: String,
    /// A text that is in every result that was cut.
    mark: String,
}

impl Behaviour {
    /// Whether the client itself cut a result.
    pub(super) fn has_cut(&self, text: &str) -> bool {
        self.limits.iter().any(|limit| text.contains(&limit.mark))
    }
}

/// Returns the behaviour of every client, by name.
pub(super) fn all() -> Result<BTreeMap<String, Behaviour>, CommandError> {
    toml::from_str(BUILT_IN).map_err(|error| CommandError::broken(&error.to_string()))
}

#[cfg(test)]
mod tests {
    #[test]
    fn every_client_with_transcripts_has_its_behaviour() {
        let all = super::all().unwrap();
        let mut names: Vec<&str> = weir_clients::transcript::folders().map(|(client, _)| client.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(all.keys().collect::<Vec<_>>(), names);
        assert!(all["claude"].has_cut("<persisted-output>\nOutput too large"));
        assert!(!all["claude"].has_cut("all of it"));
    }
}
