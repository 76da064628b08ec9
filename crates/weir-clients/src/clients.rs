//! The list of clients. Adding one is a file in `clients` and a line here.

mod claude;
mod codex;
mod copilot;
mod gemini;
mod opencode;
mod qwen;

use crate::Client;

/// Every client there is.
pub const CLIENTS: &[&Client] =
    &[&claude::CLAUDE, &codex::CODEX, &copilot::COPILOT, &gemini::GEMINI, &opencode::OPENCODE, &qwen::QWEN];
