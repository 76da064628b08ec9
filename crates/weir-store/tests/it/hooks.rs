//! Tests what hooks record, and which events are finally dropped.

use weir_core::{Event, EventKind, Priority};
use weir_store::{HistoryFilter, HookUse};

use crate::support::{NOW, here, open};

#[test]
fn of_a_session_that_is_too_long_the_least_important_goes_and_of_that_the_oldest() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    let event = |kind, priority, text: String| Event { kind, priority, text, data: None };
    let seen = HookUse { client: "test".into(), event: "Stop".into(), at: NOW, micros: 1, count: 1 };
    let requests: Vec<Event> =
        (0..100).map(|n| event(EventKind::Prompt, Priority::P1, format!("request {n}"))).collect();
    let tools: Vec<Event> = (0..5_000).map(|n| event(EventKind::Tool, Priority::P4, format!("tool {n}"))).collect();
    store.record(&here(), &requests, &seen).unwrap();
    assert_eq!(store.thin(&here(), NOW).unwrap(), 0);
    store.record(&here(), &tools, &seen).unwrap();
    assert_eq!(store.thin(&here(), NOW).unwrap(), 100);
    assert_eq!(store.thin(&here(), NOW).unwrap(), 0);
    let session = here().session.map(|session| session.key);
    let left = store.history(&here(), &HistoryFilter { session, limit: 9_000, ..HistoryFilter::default() }).unwrap();
    let texts: Vec<&str> = left.iter().map(|moment| moment.logged.event.text.as_str()).collect();
    assert_eq!((texts.len(), texts[4_899], texts[4_900], texts[4_999]), (5_000, "tool 100", "request 99", "request 0"));
}
