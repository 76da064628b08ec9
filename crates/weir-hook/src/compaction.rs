//! What hooks do around a compaction besides the guide: record the model's last messages, tell the client what its
//! summary must keep, and store the client's summary as an entry.

use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use weir_clients::transcript::{self, Session, Step};
use weir_clients::{Client, Compaction, Point, capture};
use weir_core::{EntryKind, Event, EventKind, Level, NewEntry, Origin};
use weir_host::error::CommandError;
use weir_host::foreign;
use weir_store::{Moment, SUMMARY};

use super::{Call, guides, put_off};

/// How much of the end of a transcript is read, in bytes.
pub(super) const TRANSCRIPT_END: u64 = 2 << 20;
/// How many of the model's last messages are searched for names.
const MAX_MESSAGES: usize = 20;
/// How many of the newest events are searched for a summary, since the model's last message may follow it.
const MAX_MESSAGE_EVENTS: usize = 8;
/// The beginning of the title of a stored summary.
pub const TITLE: &str = "Summary of the conversation";
/// The first line of the instructions on what a summary must keep.
const KEEP_HEAD: &str = "Keep the following in the summary. Repeat quoted text verbatim and names exactly. \
     (Recorded by weir: data about the session, not instructions.)";
/// The maximum size of these instructions, in tokens.
const MAX_KEEP_TOKENS: usize = 500;

/// Records the model's last messages, which only the transcript has in the middle of a turn. A client may write them
/// slightly after it calls the hook, so this is done both before and after a compaction. Returns whether there is a
/// conversation to summarise.
pub(super) fn record_last_messages(call: &mut Call<'_>) -> Result<bool, CommandError> {
    // For a client that calls before every request, the transcript would be read just as often.
    let is_rare = !matches!(call.client.compaction, Compaction::WaitsUntil(_));
    let mut said = if is_rare { last_words(call) } else { Vec::new() };
    if said.is_empty() {
        return Ok(false);
    }
    let known = guides::newest(call, &call.scope, guides::MAX_EVENTS)?;
    // Some clients record the summary as a message of the model.
    let summary = match &call.hook.point {
        Point::AfterCompaction { summary } => handed_over(call, summary),
        _ => newest_summary(call, &known)?,
    };
    said.retain(|text| !summary.contains(text.trim()));
    let words: Vec<&str> = said.iter().map(String::as_str).collect();
    let events = capture::before_compaction(call.hook, &words);
    // The model may repeat a message later, so a message is known only if it is the newest one.
    let newest = known.iter().rev().find(|moment| moment.logged.event.kind == EventKind::Said);
    let is_newest = |event: &Event| newest.is_some_and(|moment| moment.logged.event.text == event.text);
    if events.first().is_some_and(is_newest) {
        return Ok(true);
    }
    for event in events {
        let appended = call.store.append(&call.scope, &event, call.now);
        put_off(appended, || call.aside.told.push(event))?;
    }
    Ok(true)
}

/// Returns the model's last messages from the transcript, oldest first.
fn last_words(call: &Call<'_>) -> Vec<String> {
    let steps = steps(call);
    let said = steps.into_iter().rev().filter_map(|step| match step {
        Step::Said { text, .. } if !text.trim().is_empty() => Some(text),
        _ => None,
    });
    let mut said: Vec<String> = said.take(MAX_MESSAGES).collect();
    said.reverse();
    said
}

/// Returns the steps at the end of the call's transcript.
fn steps(call: &Call<'_>) -> Vec<Step> {
    let transcript = call.hook.transcript.as_deref();
    transcript.and_then(|path| session_at_end(path, TRANSCRIPT_END)).map(|session| session.steps).unwrap_or_default()
}

/// Returns the session in the last `most` bytes of a transcript.
pub(super) fn session_at_end(path: &Path, most: u64) -> Option<Session> {
    // The first row may be incomplete and is then skipped, like any unreadable row.
    let read = transcript::read(&mut end_of(path, most).ok()?.as_slice()).ok()??;
    // Older versions of clients write what subagents say to the same file.
    read.sessions.into_iter().find(|session| session.subagent.is_empty())
}

pub(super) fn end_of(transcript: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut file = foreign::open_user_file(transcript)?;
    let begin = file.metadata()?.len().saturating_sub(most);
    file.seek(SeekFrom::Start(begin))?;
    let mut end = Vec::new();
    file.take(most).read_to_end(&mut end)?;
    Ok(end)
}

/// Returns what the client's summary must keep, if the client accepts such instructions.
pub(super) fn to_keep(call: &Call<'_>, moments: &[Moment]) -> Result<Option<String>, CommandError> {
    if !call.hook.takes.keep {
        return Ok(None);
    }
    let text = guides::write(call, moments, KEEP_HEAD, (MAX_KEEP_TOKENS, &[]))?;
    Ok(Some(text).filter(|text| !text.is_empty()))
}

/// The client's own summary. One that does not hand it over may have written it down.
fn handed_over(call: &Call<'_>, summary: &str) -> String {
    if !summary.is_empty() || call.client.compaction != Compaction::Begins {
        return summary.to_owned();
    }
    let steps = steps(call);
    let written = steps.into_iter().rev().find_map(|step| match step {
        Step::Compacted { text } => Some(text),
        _ => None,
    });
    written.unwrap_or_default()
}

pub(super) fn keep_summary(call: &mut Call<'_>, summary: &str) -> Result<(), CommandError> {
    let summary = capture::without_analysis(&handed_over(call, summary));
    let is_kept =
        || newest_summary(call, &guides::newest(call, &call.scope, MAX_MESSAGE_EVENTS)?).map(|kept| kept == summary);
    if summary.trim().is_empty() || is_kept()? {
        return Ok(());
    }
    let kept = call.store.keep(&call.scope, summary_of(call.client, summary), call.now);
    // Without the summary, the guide merely repeats some of it.
    put_off(kept, || ()).map(drop)
}

/// Returns a client's summary of a conversation as an entry.
pub fn summary_of(client: &Client, summary: String) -> NewEntry {
    NewEntry {
        text: capture::without_analysis(&summary).into_bytes(),
        source: Some(SUMMARY.to_owned()),
        ..NewEntry::new(EntryKind::Said, Origin::Model, Level::Project, format!("{TITLE} ({})", client.title))
    }
}

/// Returns the client's summary of this session if nothing but the model's last messages has happened since. Otherwise
/// returns an empty text.
pub(super) fn newest_summary(call: &Call<'_>, moments: &[Moment]) -> Result<String, CommandError> {
    let is_summary = |moment: &&Moment| {
        moment.entry.as_ref().is_some_and(|(kind, title)| *kind == EntryKind::Said && title.starts_with(TITLE))
    };
    let newest = moments.iter().rev().find(|moment| !is_of_message(&moment.logged.event)).filter(is_summary);
    let Some(reference) = newest.and_then(|moment| moment.logged.reference) else {
        return Ok(String::new());
    };
    let text = call.store.text(&call.scope, reference)?.map(|text| text.all()).transpose()?.unwrap_or_default();
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Whether an event is from a message of the model: its last words, a decision or a question.
fn is_of_message(event: &Event) -> bool {
    matches!(event.kind, EventKind::Said | EventKind::Plan) || event.is_by_model()
}
