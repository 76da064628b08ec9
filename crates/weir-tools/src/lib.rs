//! Tools as a model is told of them. A tool is declared by the struct of its arguments: the doc comments are its
//! description and those of the arguments, and [`schema`] makes the rest of them.
//!
//! A machine and a team's server have eight tools of the same name. What such a tool is called and what it does to
//! entries is declared here, for both. Its arguments are each server's own, because the two answer different questions:
//! one knows its project, its sessions and its files, the other asks for the project and knows none of these.
//!
//! # Invariant
//!
//! - A tool that both have is called the same and does the same to entries, so a model that knows one can use the
//!   other.

pub mod schema;

use std::sync::Arc;

use rmcp::model::{Tool, ToolAnnotations};
use serde_json::{Map, Value};

/// What a tool does to the entries and to the project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Reads only.
    Reads,
    /// Adds to the store.
    Adds,
    /// Removes from the store.
    Removes,
    /// Changes files of the project.
    Changes,
    /// Runs the given code in the sandbox.
    Runs,
}

impl Effect {
    fn annotations(self) -> ToolAnnotations {
        match self {
            Self::Reads => ToolAnnotations::new().read_only(true),
            Self::Adds => ToolAnnotations::new().destructive(false),
            // The tool cannot change anything outside the project, but it can change the project.
            Self::Changes | Self::Runs => ToolAnnotations::new().destructive(true).open_world(false),
            Self::Removes => ToolAnnotations::new().destructive(true).idempotent(true),
        }
    }
}

/// A tool that a machine and a team's server both have.
#[derive(Debug, Clone, Copy)]
pub struct SharedTool {
    pub name: &'static str,
    /// What it does to entries.
    pub effect: Effect,
}

impl SharedTool {
    const fn new(name: &'static str, effect: Effect) -> Self {
        Self { name, effect }
    }
}

/// Finds entries by their words.
pub const SEARCH: SharedTool = SharedTool::new("ctx_search", Effect::Reads);
/// Turns a reference into its text.
pub const GET: SharedTool = SharedTool::new("ctx_get", Effect::Reads);
/// Keeps a note.
pub const ANNOTATE: SharedTool = SharedTool::new("ctx_annotate", Effect::Adds);
/// Removes entries permanently.
pub const FORGET: SharedTool = SharedTool::new("ctx_forget", Effect::Removes);
/// Lists what happened, newest first.
pub const HISTORY: SharedTool = SharedTool::new("ctx_history", Effect::Reads);
/// Sums up what happened.
pub const REFLECT: SharedTool = SharedTool::new("ctx_reflect", Effect::Reads);
/// Shows what is recent.
pub const CONTEXT: SharedTool = SharedTool::new("ctx_context", Effect::Reads);
/// Shows figures.
pub const STATS: SharedTool = SharedTool::new("ctx_stats", Effect::Reads);

/// Returns a tool as MCP describes it, with its description and the schema of its arguments.
pub fn described(name: &'static str, effect: Effect, (description, schema): (String, Map<String, Value>)) -> Tool {
    Tool::new(name, description, Arc::new(schema)).with_annotations(effect.annotations())
}
