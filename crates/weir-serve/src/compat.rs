//! `weir serve --compat engram`: the requests that the plugins of engram make, and its tools by their own names.
//!
//! Invariants: what a plugin sends is stored as hooks would store it; a tool is an operation under another name, or
//! says that it is not supported; a request without a token is served only if a process of this user made it on this
//! machine.

mod aliases;
mod description;
mod hooks;
mod learnings;
mod record;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::routing::{get, post};
use serde_json::{Map, Value};

use super::ServerState;
use aliases::ALIASES;
pub(super) use aliases::Alias;

/// A program whose requests and tools are understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Compat {
    /// engram, by Gentleman Programming.
    Engram,
}

impl Compat {
    /// The names of all programs.
    pub(super) const NAMES: [&'static str; 1] = ["engram"];

    pub(super) fn parse(name: &str) -> Option<Self> {
        (name == "engram").then_some(Self::Engram)
    }

    /// Adds the routes for the program to the paths of an OpenAPI document.
    pub(super) fn describe(self, paths: &mut Map<String, Value>) {
        match self {
            Self::Engram => description::add_to(paths),
        }
    }
}

/// Returns the routes, which include `GET /context` in the form of engram.
pub(crate) fn routes() -> Router<Arc<ServerState>> {
    let routes = Router::new()
        .route("/context", get(hooks::context))
        .route("/sessions", post(hooks::begin_session))
        .route("/prompts", post(hooks::keep_prompt))
        .route("/observations/passive", post(hooks::capture));
    ALIASES.iter().fold(routes, |routes, alias| {
        let handle = move |State(state): State<Arc<ServerState>>, request: Request| alias.handle(state, request);
        routes.route(&format!("/v1/tools/{}", alias.name), post(handle))
    })
}
