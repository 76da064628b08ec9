//! Outputs that were held back: which entries they are, and their tokens.

use weir_core::{Entry, EntryKind, Scope, SessionKey};
use weir_hook::metering;
use weir_host::answer::PrintedOutput;
use weir_host::error::CommandError;
use weir_run::MAX_WHOLE_TOKENS;
use weir_store::Store;

pub(super) const KINDS: [EntryKind; 3] = [EntryKind::Run, EntryKind::File, EntryKind::Page];
/// The sandbox of a command that a client ran itself.
const CLIENTS_OWN: &str = "the client's";

pub(super) struct KeptOutput {
    pub(super) entry: Entry,
    pub(super) session: Option<SessionKey>,
    /// Its tokens as the meter counts them; none if the text cannot be read.
    pub(super) tokens: Option<u64>,
    /// Whether these were estimated from the beginning.
    pub(super) is_estimated: bool,
    /// The tokens that the client would have shown of it.
    pub(super) alone: Option<u64>,
}

impl KeptOutput {
    /// Reads what the meter knew of an entry. Returns `None` if it is not an output that was held back: a fetched page,
    /// a run of a person, or a run whose output was shown in full.
    pub(super) fn read(store: &mut Store, scope: &Scope, entry: Entry) -> Result<Option<Self>, CommandError> {
        let is_own = entry.run.as_ref().is_some_and(|run| run.sandbox != CLIENTS_OWN);
        if !KINDS.contains(&entry.kind) || (entry.kind == EntryKind::Page && entry.source.is_some()) {
            return Ok(None);
        }
        let session = store.session_of(scope, entry.reference)?;
        let end = entry.bytes.min(PrintedOutput::MAX_BEGINNING_BYTES as u64);
        // A text that cannot be read has no tokens that anybody knows.
        let text = store.text(scope, entry.reference).ok().flatten().and_then(|text| text.range(0..end).ok());
        let text = text.map(|text| String::from_utf8_lossy(&text).into_owned());
        let tokens = text.as_ref().map(|text| metering::in_full(text, entry.bytes));
        let alone = match (&session, entry.kind) {
            (Some(session), EntryKind::Run) => {
                let failed = entry.run.as_ref().is_some_and(|run| run.exit_code != Some(0));
                text.map(|text| metering::shown_alone(&session.client, &text, failed))
            }
            _ => tokens,
        };
        let is_shown = is_own && (session.is_none() || tokens.is_some_and(|tokens| tokens <= MAX_WHOLE_TOKENS as u64));
        let is_estimated = end < entry.bytes;
        Ok((!is_shown).then_some(Self { entry, session, tokens, is_estimated, alone }))
    }
}
