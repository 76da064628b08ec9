//! Sessions that were forked from others: what happened before the fork is in the log under another key.
//!
//! Codex names the session that a fork comes from. Claude Code does not, but the fork's transcript begins with a copy
//! of the conversation, and its requests are known to the log. Invariant: nothing is copied, and what the other session
//! did after the fork is not told.

use std::io::Read as _;
use std::ops::ControlFlow;
use std::path::Path;

use weir_clients::transcript::{self, Step, TimedStep};
use weir_clients::{AcceptedReplies, Hook, Point, capture};
use weir_core::{EventKind, Scope, SessionKey, Timestamp};
use weir_host::error::CommandError;
use weir_host::foreign;
use weir_store::Moment;

use super::Call;
use super::guides::{self, MAX_EVENTS};

/// How much of a transcript's beginning is looked at.
const MAX_BEGINNING_BYTES: u64 = 1 << 20;
const MAX_REQUESTS: usize = 40;
/// How far apart a client and a hook may note the same request, in milliseconds.
const MAX_APART_MILLIS: i64 = 10_000;

/// The newest events of the call's session and of those that it was forked from, oldest first.
pub(super) fn newest(call: &Call<'_>) -> Result<Vec<Moment>, CommandError> {
    let own = guides::newest(call, &call.scope, MAX_EVENTS)?;
    let forked = own.first().map_or(call.now, |moment| moment.logged.at);
    let mut moments = Vec::new();
    for session in origins(call, &own)? {
        let scope = Scope { session: Some(session), ..call.scope.clone() };
        let before = guides::newest(call, &scope, MAX_EVENTS)?;
        moments.extend(before.into_iter().filter(|moment| moment.logged.at < forked));
    }
    moments.sort_by_key(|moment| moment.logged.seq);
    moments.extend(own);
    Ok(moments.split_off(moments.len().saturating_sub(MAX_EVENTS)))
}

/// The sessions that the call's own was forked from; mostly there are none.
fn origins(call: &Call<'_>, own: &[Moment]) -> Result<Vec<SessionKey>, CommandError> {
    let Some(TranscriptHead { origin, requests }) = call.hook.transcript.as_deref().and_then(beginning) else {
        return Ok(Vec::new());
    };
    let client = call.scope.session.as_ref().map(|session| session.client.clone());
    let named = client.filter(|_| !origin.is_empty()).map(|client| SessionKey { client, key: origin });
    let mut found: Vec<SessionKey> = named.into_iter().collect();
    for (text, at) in requests {
        let is_near =
            |moment: &Moment| (moment.logged.at.0 - at.0).abs() <= MAX_APART_MILLIS && moment.logged.event.text == text;
        if own.iter().any(is_near) {
            continue;
        }
        let around = Timestamp(at.0 - MAX_APART_MILLIS)..=Timestamp(at.0 + MAX_APART_MILLIS);
        let asked = call.store.session_that_asked(&call.scope, &text, around)?;
        found.extend(asked.filter(|session| !found.contains(session)));
    }
    Ok(found)
}

/// What the beginning of a transcript says.
struct TranscriptHead {
    /// The session that it was forked from, if it says so.
    origin: String,
    /// The user's requests as events have them, with their times.
    requests: Vec<(String, Timestamp)>,
}

fn beginning(path: &Path) -> Option<TranscriptHead> {
    let mut text = Vec::new();
    foreign::open_user_file(path).ok()?.take(MAX_BEGINNING_BYTES).read_to_end(&mut text).ok()?;
    let mut found = None;
    let mut take = |part: transcript::Part| {
        let requests = part.steps.into_iter().filter_map(request).take(MAX_REQUESTS).collect();
        found = Some(TranscriptHead { origin: part.session.origin, requests });
        ControlFlow::Break(())
    };
    transcript::stream(&mut text.as_slice(), &mut take).ok()??;
    found
}

/// A request of the user as its event has it.
fn request(dated: TimedStep) -> Option<(String, Timestamp)> {
    let Step::Prompt { text } = dated.step else { return None };
    let hook = Hook {
        session: String::new(),
        folder: "/".into(),
        shell: None,
        transcript: None,
        subagent: None,
        point: Point::Prompt { text },
        takes: AcceptedReplies::default(),
    };
    let event = capture::events(&hook).into_iter().find(|event| event.kind == EventKind::Prompt)?;
    Some((event.text, dated.at?))
}
