//! Measures the effect of a hook on the conversation: the tokens that the model gets, against those it would have got.

use weir_clients::{Done, PROXY, Point, Reply};
use weir_host::answer::PrintedOutput;
use weir_host::error::store_message;
use weir_store::{MeterAction, Reading};

use super::client_view::ClientView;
use super::{Call, FileState, faults};
use crate::metering;

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
    let mut output = 0;
    let (what, tool, given, shown) = match (said, &call.hook.point) {
        (Reply::Output(shown), Point::AfterTool(used, done)) => {
            let tool = if call.files == FileState::InARequest { PROXY.name } else { used.tool.name() };
            let given = call.given.unwrap_or_else(|| ClientView::of(call, used, done).counted());
            // A short output that the client shows whole has been counted.
            let is_counted = given.is_whole && done.output.text.bytes() <= PrintedOutput::MAX_BEGINNING_BYTES as u64;
            output = if is_counted { given.tokens as u64 } else { in_full(call, done) };
            (MeterAction::Held, tool, given.tokens, shown)
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
    Some(Reading { what, tool: tool.to_owned(), times: 1, output, given: given as u64, shown })
}

/// Returns the tokens of an output in full, from the file in which the client saved it if it did.
fn in_full(call: &Call<'_>, done: &Done) -> u64 {
    let text = &done.output.text;
    let saved = done.output.saved.as_deref().and_then(|path| metering::file_in_full(path).ok());
    saved.unwrap_or_else(|| {
        metering::in_full(&call.payload.beginning(text, PrintedOutput::MAX_BEGINNING_BYTES), text.bytes())
    })
}
