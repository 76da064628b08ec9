//! Measures the effect of a hook on the conversation: the tokens that the model gets, against those it would have got.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use weir_clients::{Done, OwnCut, PROXY, Point, Reply, Tool};
use weir_store::{MeterAction, Reading};

use super::{Call, FileState, faults};
use crate::error::store_message;

/// How much of an output is counted, in bytes. No client shows more.
const MAX_COUNTED_BYTES: usize = 256 << 10;

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
            (MeterAction::Held, tool, weir_tokens::count(&alone(call, &used.tool, done)), shown)
        }
        (Reply::Context(text), _) => (MeterAction::Told, "guide", 0, text),
        (Reply::Keep(text), _) => (MeterAction::Told, "summary", 0, text),
        _ => return None,
    };
    let shown = weir_tokens::count(shown) as u64;
    Some(Reading { what, tool: tool.to_owned(), times: 1, given: given as u64, shown })
}

/// Returns what the client would have shown on its own.
fn alone(call: &Call<'_>, tool: &Tool, done: &Done) -> String {
    // What is in a request is shown, however long it is.
    let most = if call.files == FileState::InARequest { usize::MAX } else { MAX_COUNTED_BYTES };
    let text = call.payload.beginning(&done.output.text, most);
    let length = done.output.text.bytes() as usize;
    let cut = call.client.own_cut.filter(|_| matches!(tool, Tool::Shell { .. }));
    cut_by(cut.filter(|cut| length > cut.above || done.output.saved.is_some()), text)
}

/// Returns what a client's own cut leaves of a text.
fn cut_by(cut: Option<OwnCut>, text: String) -> String {
    match cut {
        Some(cut) => text.chars().take(cut.shows).collect(),
        None => text,
    }
}

/// Measures the output of a rewritten command: the file `printed` has the full output, and the model gets `shown`.
pub(super) fn relayed(client: &str, printed: &Path, shown: &str) -> std::io::Result<Reading> {
    let mut beginning = Vec::new();
    let mut file = File::open(printed)?;
    (&mut file).take(MAX_COUNTED_BYTES as u64).read_to_end(&mut beginning)?;
    let length = file.metadata()?.len() as usize;
    let cut = weir_clients::CLIENTS.iter().find(|known| known.session == client).and_then(|known| known.own_cut);
    let alone = cut_by(cut.filter(|cut| length > cut.above), String::from_utf8_lossy(&beginning).into_owned());
    let (given, shown) = (weir_tokens::count(&alone) as u64, weir_tokens::count(shown) as u64);
    Ok(Reading { what: MeterAction::Held, tool: "shell".to_owned(), times: 1, given, shown })
}
