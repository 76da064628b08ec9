//! The list of clients. Adding one takes a file in `clients` and a line here. The file has the [`Recipe`] that sets the
//! client up. For a client with hooks it has the [`Client`] that decodes them, and the recipe is in `setup.rs` in the
//! client's folder, beside `transcript.rs` if Weir reads its transcripts.

/// The text of a payload that was recorded.
#[cfg(test)]
macro_rules! fixture {
    ($name:literal) => {
        include_str!(concat!("../../fixtures/", $name, ".json"))
    };
}

mod amp;
mod antigravity;
pub(crate) mod claude;
mod cline;
pub(crate) mod codex;
pub(crate) mod copilot;
mod cursor;
pub(crate) mod gemini;
mod jetbrains;
mod kilo;
mod kiro;
pub(crate) mod opencode;
pub(crate) mod qwen;
mod vscode;
mod windsurf;
mod zed;

use crate::Client;
use crate::setup::Recipe;

/// Returns what a hook says happened, as the clients' tests compare it.
#[cfg(test)]
fn told(point: &crate::Point) -> weir_check::Checked {
    weir_check::Checked(match point {
        crate::Point::BeforeTool(call) => format!("{:?}", call.tool),
        crate::Point::AfterTool(call, done) => format!("{:?}\n{done:?}", call.tool),
        point => format!("{point:?}"),
    })
}

/// Every client that can be set up, beginning with those whose recipe was tested with the real client.
pub const RECIPES: &[&Recipe] = &[
    &claude::setup::SETUP,
    &codex::setup::SETUP,
    &opencode::setup::SETUP,
    &gemini::setup::SETUP,
    &qwen::setup::SETUP,
    &copilot::setup::SETUP,
    &vscode::setup::SETUP,
    &cursor::setup::SETUP,
    &windsurf::SETUP,
    &cline::SETUP,
    &zed::SETUP,
    &kiro::SETUP,
    &jetbrains::SETUP,
    &kilo::SETUP,
    &amp::SETUP,
    &antigravity::SETUP,
];

/// Returns the clients whose hooks Weir answers.
pub fn all() -> impl Iterator<Item = &'static Client> {
    RECIPES.iter().filter_map(|recipe| recipe.client)
}

/// Returns the client that reports this name as an MCP client. Qwen Code's ends with the name of the server.
pub fn of_session(name: &str) -> Option<&'static Client> {
    let is_of = |client: &&Client| {
        client.session == name
            || client.session.strip_suffix("-weir").is_some_and(|start| name.starts_with(&format!("{start}-")))
    };
    all().find(is_of)
}

pub fn recipe(name: &str) -> Option<&'static Recipe> {
    RECIPES.iter().copied().find(|recipe| recipe.name == name)
}
