//! The conversation that a hook comes from, and when it loses what its model was shown.

use weir_clients::{Client, Hook, Point, Retention, Start};
use weir_core::SessionKey;
use weir_host::env::{Env, Paths};
use weir_host::error::CommandError;
use weir_store::ShownLines;

use super::location::SessionLocation;
use super::unreadable;

/// Returns the name of the conversation that a hook comes from: a session, or one of its subagents.
pub(super) fn name(client: &Client, hook: &Hook) -> String {
    let subagent = hook.subagent.as_ref().map_or("", |subagent| &subagent.key);
    format!("{}\0{}\0{subagent}", client.session, hook.session)
}

pub fn forget_shown(env: &Env, paths: &Paths, client: &Client, hook: &Hook) -> Result<(), CommandError> {
    let session = SessionKey { client: client.session.to_owned(), key: hook.session.clone() };
    let place = SessionLocation::find(env, paths, &hook.folder, session)?;
    ShownLines::clear(&place.folder, &name(client, hook)).map_err(unreadable)
}

/// Whether the next reader may no longer have the texts read before: after a compaction, in or after a subagent, which
/// uses the name of its session, and in another turn if the client drops texts between turns.
pub(super) fn loses_texts(client: &Client, point: &Point) -> bool {
    match point {
        Point::SessionStart(start) => *start != Start::Resume,
        Point::Prompt { .. } => !matches!(client.retention, Retention::Session(_)),
        Point::BeforeCompaction | Point::AfterCompaction { .. } | Point::SubagentStart | Point::SubagentStop { .. } => {
            true
        }
        _ => false,
    }
}
