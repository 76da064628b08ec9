//! The list of clients. Adding one takes a file in `clients` and a line here.

pub(crate) mod claude;
pub(crate) mod codex;
pub(crate) mod copilot;
pub(crate) mod cursor;
pub(crate) mod gemini;
pub(crate) mod opencode;
pub(crate) mod qwen;
pub(crate) mod vscode;

use crate::Client;

/// Every supported client.
pub const CLIENTS: &[&Client] = &[
    &claude::CLAUDE,
    &codex::CODEX,
    &copilot::COPILOT,
    &gemini::GEMINI,
    &opencode::OPENCODE,
    &qwen::QWEN,
    &cursor::CURSOR,
    &vscode::VSCODE,
];
