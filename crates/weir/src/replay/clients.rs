//! What clients do by themselves: data, by client and version.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::error::CommandError;

/// The data inside the program.
const BUILT_IN: &str = include_str!("clients.toml");

/// What one client does by itself, and what Weir adds to it.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Behaviour {
    /// The tokens that tool descriptions add to every request.
    pub descriptions: u64,
    /// What it shows of large outputs.
    pub limits: Vec<Limit>,
}

/// What a client shows of a large output.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Limit {
    /// The tools that it holds for.
    tools: String,
    /// How much is shown, in words.
    limit: String,
    /// The oldest version that it was seen in.
    since: String,
    /// A text in every result that was cut.
    mark: String,
}

impl Behaviour {
    /// Whether the client has cut a result by itself.
    pub(super) fn has_cut(&self, text: &str) -> bool {
        self.limits.iter().any(|limit| text.contains(&limit.mark))
    }
}

/// The behaviour of every client, by its name.
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
