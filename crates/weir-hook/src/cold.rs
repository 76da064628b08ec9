//! Tells the user that the provider's cache of a long conversation has expired, where the client shows a line that the
//! model does not see. Invariant: nothing is said unless the transcript says when the cache was used last, how long it
//! lives, and how long the conversation is.

use std::path::Path;

use weir_clients::Reply;
use weir_clients::setup::NewestRequest;

use super::{Call, FileState, compaction};

/// A shorter conversation is not worth a line, in tokens.
const MIN_TOKENS: u64 = 60_000;
/// How much of the end of a transcript is read, in bytes.
const MAX_END_BYTES: u64 = 128 << 10;

/// Returns the line about a prompt that finds the cache cold.
pub(super) fn notice(call: &Call<'_>) -> Option<Reply> {
    let hook = call.hook;
    if !hook.takes.notice || hook.subagent.is_some() || call.files != FileState::AsTheyAre {
        return None;
    }
    let newest = newest_request(call.client.name, hook.transcript.as_deref()?)?;
    let minutes = newest.idle_minutes(call.now).filter(|_| newest.window >= MIN_TOKENS)?;
    let idle = match minutes {
        0..120 => format!("{minutes} min"),
        120..2_880 => format!("{} h", minutes / 60),
        _ => format!("{} days", minutes / 1_440),
    };
    let tokens = newest.window / 1_000;
    Some(Reply::Notice(format!(
        "weir: after {idle} the cache has expired: this request writes about {tokens}k tokens again. Next time, \
         /compact before the pause."
    )))
}

/// Returns the newest request of a conversation, as the end of its transcript tells of it.
pub fn newest_request(client: &str, transcript: &Path) -> Option<NewestRequest> {
    let cache = weir_clients::recipe(client)?.cache?;
    (cache.newest)(&compaction::end_of(transcript, MAX_END_BYTES).ok()?)
}
