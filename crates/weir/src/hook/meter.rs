//! Measures the effect of a hook on the conversation: the tokens that the model gets, against those it would have got.

use weir_clients::{PROXY, Point, Reply};
use weir_store::{MeterAction, Reading};

use super::client_view::ClientView;
use super::{Call, FileState, faults};
use crate::error::store_message;

/// Records the effect of a reply. Failing to record it is not an error.
pub(super) fn note(call: &mut Call<'_>, said: &Reply, is_untouched: bool) {
    let Some(mut reading) = reading(call, said) else { return };
    if is_untouched {
        reading = Reading { what: MeterAction::Untouched, shown: reading.given, ..reading };
    }
    if let Err(error) = call.store.meter(&call.scope, &reading, call.now)
        && !error.may_pass()
    {
        faults::note("metering", &store_message(&error, &call.folder));
    }
}

fn reading(call: &Call<'_>, said: &Reply) -> Option<Reading> {
    let (what, tool, given, shown) = match (said, &call.hook.point) {
        (Reply::Output(shown), Point::AfterTool(used, done)) => {
            let tool = if call.files == FileState::InARequest { PROXY.name } else { used.tool.name() };
            let given = call.given.unwrap_or_else(|| ClientView::of(call, used, done).tokens());
            (MeterAction::Held, tool, given, shown)
        }
        // Something about a command that failed.
        (Reply::Context(text), Point::AfterTool(used, done)) if done.failed => {
            (MeterAction::Told, used.tool.name(), 0, text)
        }
        (Reply::Context(text), _) => (MeterAction::Told, "guide", 0, text),
        (Reply::Keep(text), _) => (MeterAction::Told, "summary", 0, text),
        _ => return None,
    };
    let shown = weir_tokens::count(shown) as u64;
    Some(Reading { what, tool: tool.to_owned(), times: 1, given: given as u64, shown })
}
