//! Texts of events and entries without secrets.

pub(crate) use weir_core::redact::redacted as redacted_text;
use weir_core::{Event, NewEntry};

pub(crate) fn redacted_event(event: &Event) -> Event {
    let (data, whole) = (event.data.as_deref().map(redacted_text), event.whole.as_deref().map(redacted_text));
    Event { kind: event.kind, priority: event.priority, text: redacted_text(&event.text), data, whole }
}

/// Redacts everything in an entry except its text.
pub(crate) fn redact_labels(entry: &mut NewEntry) {
    entry.title = redacted_text(&entry.title);
    entry.source = entry.source.as_deref().map(redacted_text);
    if let Some(note) = &mut entry.note {
        note.topic = note.topic.as_deref().map(redacted_text);
    }
    if let Some(run) = &mut entry.run {
        run.sandbox = redacted_text(&run.sandbox);
    }
}
