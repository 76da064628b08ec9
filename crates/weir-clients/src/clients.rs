//! The list of clients. Adding one is a file in `clients` and a line here.

pub(crate) mod claude;
pub(crate) mod codex;
mod copilot;
pub(crate) mod gemini;
pub(crate) mod opencode;
mod qwen;

use crate::Client;

/// Every client there is.
pub const CLIENTS: &[&Client] =
    &[&claude::CLAUDE, &codex::CODEX, &copilot::COPILOT, &gemini::GEMINI, &opencode::OPENCODE, &qwen::QWEN];
