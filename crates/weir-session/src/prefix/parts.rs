//! The parts of a first request that were counted on this machine.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

/// What was counted for every client.
#[derive(Debug, Default)]
pub struct CountedParts {
    pub parts: Vec<CountedPart>,
    /// What keeps clients from deferring descriptions, by the name of the client.
    pub inline: HashMap<&'static str, InlineCause>,
}

/// A setting that keeps a client from deferring descriptions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InlineCause {
    /// The setting, and where it is.
    pub setting: String,
    pub fix: String,
    /// How many tokens of the client's own tools each request has because of it.
    pub own_tokens: u64,
}

/// A part of the first request of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountedPart {
    pub client: &'static str,
    pub kind: PartKind,
    /// The name of a server, or the path of a file or a folder.
    pub name: String,
    /// Its tokens; none if they were not counted.
    pub tokens: Option<u64>,
    pub tools: Vec<CountedTool>,
    /// Whether only requests in this project have it.
    pub in_project: bool,
    /// The settings that name it, as a person writes their path.
    pub settings: Option<String>,
    /// Why it was not counted, or when.
    pub note: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PartKind {
    /// The descriptions of a server's tools.
    Server,
    /// Weir's own tools and instructions.
    Weir,
    /// A file with rules or notes.
    Memory,
    /// The descriptions of subagents.
    Subagents,
    /// The descriptions of skills and of commands.
    Skills,
    /// What hooks add when a session starts.
    Hooks,
}

impl PartKind {
    /// Returns what a person calls it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Server => "MCP server",
            Self::Weir => "Weir",
            Self::Memory => "memory file",
            Self::Subagents => "subagents",
            Self::Skills => "skills",
            Self::Hooks => "hooks",
        }
    }
}

/// A tool of a server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountedTool {
    pub name: String,
    /// The tokens of its name, description and input schema.
    pub tokens: u64,
}
