//! What is taken from a team server. Which server that is, the user says with `weir sync`, and no file.

use serde::Deserialize;

/// What is taken from a team server.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TeamConfig {
    /// The users whose notes are taken; everybody's without a list.
    pub from: Option<Vec<String>>,
}
