//! Tests what hooks record, and which events are finally dropped.

use weir_core::{Event, EventKind, Limits, Priority, Timestamp};
use weir_store::{HistoryFilter, HookRun, Outcome, SeenOutput, Spool, SpoolRecord, Store};

use crate::support::{NOW, day, here, open, sweep};

#[test]
fn of_a_session_that_is_too_long_the_least_important_goes_and_of_that_the_oldest() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    let event = |kind, priority, text: String| Event { kind, priority, text, data: None, whole: None };
    let seen = HookRun { client: "test".into(), event: "Stop".into(), at: NOW, micros: 1, output: None };
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

fn hook(client: &str, at: Timestamp, micros: u64, output: Option<SeenOutput>) -> HookRun {
    HookRun { client: client.into(), event: format!("after {micros}"), at, micros, output }
}

fn output(outcome: Outcome, bytes: u64) -> Option<SeenOutput> {
    Some(SeenOutput { outcome, bytes })
}

/// Returns clients, outcomes, how many outputs there were and their bytes.
fn outcomes(store: &Store, since: Option<Timestamp>) -> Vec<(String, Outcome, u64, u64)> {
    let sums = store.outcomes(since).unwrap().into_iter();
    sums.map(|sum| (sum.client, sum.outcome, sum.count, sum.bytes)).collect()
}

#[test]
fn hooks_are_counted_by_day_time_and_outcome_and_every_hook_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    let runs = [
        hook("claude", NOW, 1_900, output(Outcome::Small, 40)),
        hook("claude", NOW, 2_000, output(Outcome::Small, 2)),
        hook("claude", NOW, 2_001, output(Outcome::Held, 90_000)),
        hook("claude", day(1), 1_000, None),
        hook("codex", day(1), 80_000, output(Outcome::Fixed, 7)),
    ];
    for run in &runs {
        store.record(&here(), &[], run).unwrap();
    }
    let days: Vec<_> = store.hook_days(NOW).unwrap().iter().map(|day| (day.count(), day.within(50))).collect();
    assert_eq!(days, [(3, 2_000), (2, 1_000)]);
    assert_eq!(store.hook_days(day(1)).unwrap().len(), 1);
    let all = [
        ("claude".to_owned(), Outcome::Held, 1, 90_000),
        ("claude".to_owned(), Outcome::Small, 2, 42),
        ("codex".to_owned(), Outcome::Fixed, 1, 7),
    ];
    assert_eq!(outcomes(&store, None), all);
    assert_eq!(outcomes(&store, Some(day(1))), all[2..]);
    let last: Vec<_> = store.hooks_seen().unwrap().into_iter().map(|last| (last.event, last.count)).collect();
    assert_eq!(last, [("after 1000".to_owned(), 4), ("after 80000".to_owned(), 1)]);
}

#[test]
fn days_that_are_long_past_are_merged_and_their_hooks_still_counted() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    for at in [NOW, day(1), day(80)] {
        store.record(&here(), &[], &hook("claude", at, 1_000, output(Outcome::Small, 40))).unwrap();
    }
    for (now, days_left) in [(day(81), 3), (day(92), 1), (day(95), 1), (day(300), 0)] {
        sweep(&mut store, now);
        let counted = store.hook_days(Timestamp(0)).unwrap().len();
        assert_eq!((counted, store.hooks_seen().unwrap()[0].count), (days_left, 3), "{now:?}");
        assert_eq!(outcomes(&store, None).iter().map(|sum| sum.2).sum::<u64>(), days_left as u64);
    }
    assert_eq!(store.hooks_seen().unwrap()[0].at, day(80));
}

#[test]
fn a_hook_from_the_spool_counts_on_its_own_day_and_is_not_the_last() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = open(folder.path());
    store.record(&here(), &[], &hook("claude", day(1), 1_000, None)).unwrap();
    for (at, micros) in [(day(1), 900), (NOW, 800)] {
        let at = Timestamp(at.0 - 1);
        let seen = Some(hook("claude", at, micros, output(Outcome::Failed, 9)));
        let spooled = SpoolRecord { seen, ..SpoolRecord::default() };
        Spool::beside(folder.path()).put(&here(), &spooled, &Limits::default(), at).unwrap();
    }
    assert_eq!(store.take_in().unwrap(), 2);
    let seen = store.hooks_seen().unwrap();
    assert_eq!((seen[0].event.as_str(), seen[0].count), ("after 1000", 3));
    assert_eq!(outcomes(&store, None), [("claude".to_owned(), Outcome::Failed, 2, 18)]);
}
