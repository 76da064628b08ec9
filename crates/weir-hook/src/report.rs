//! What a hook reports: events, that it ran, and what became of an output.

use std::time::Instant;

use weir_clients::{Client, Hook, Point, capture};
use weir_core::{Event, EventKind, Scope, Timestamp};
use weir_store::{HookRun, Outcome, SeenOutput, Store};

/// How many of the newest events are searched for what repaired a failure, and for the model's last message.
const MAX_RECENT_EVENTS: usize = 60;

/// The information that a hook carries.
pub(super) struct HookReport<'a> {
    pub client: &'static Client,
    pub hook: &'a Hook,
    pub event: &'a str,
    pub started: Instant,
}

impl HookReport<'_> {
    /// Returns the hook's events, including the fixes of earlier failures and the user's choice among the options of
    /// the model's last message, if the hook reports any.
    pub(super) fn events(&self, store: Option<(&Store, &Scope)>) -> Vec<Event> {
        let mut told: Vec<Event> = capture::events(self.hook);
        if let Some((store, scope)) = store {
            told.extend(repaired(store, scope, self.hook));
            if capture::may_choose(self.hook) {
                told.extend(capture::choices(self.hook, &last_message(store, scope)));
            }
        }
        told
    }

    /// Returns the record that the hook ran, with the time taken so far and what became of the output that it reports.
    /// Without an outcome, the output could not be dealt with.
    pub(super) fn run(&self, now: Timestamp, outcome: Option<Outcome>) -> HookRun {
        let output = match &self.hook.point {
            Point::AfterTool(_, done) => {
                Some(SeenOutput { outcome: outcome.unwrap_or(Outcome::Failed), bytes: done.output.text.bytes() })
            }
            _ => None,
        };
        HookRun {
            client: self.client.name.to_owned(),
            event: self.event.to_owned(),
            at: now,
            micros: self.started.elapsed().as_micros() as u64,
            output,
        }
    }
}

/// Returns the fixes of earlier failures that the hook reports. If the failures cannot be read, there are none.
fn repaired(store: &Store, scope: &Scope, hook: &Hook) -> Vec<Event> {
    let failures = if capture::may_fix(hook) { store.failures(scope).unwrap_or_default() } else { Vec::new() };
    let mut fixes = capture::fixes(hook, &failures);
    if !fixes.is_empty() {
        capture::explain_fixes(&mut fixes, &store.newest_events(scope, MAX_RECENT_EVENTS).unwrap_or_default());
    }
    fixes
}

/// Returns the model's last message in the session, as far as it is known.
fn last_message(store: &Store, scope: &Scope) -> String {
    let recent = store.newest_events(scope, MAX_RECENT_EVENTS).unwrap_or_default();
    let Some(last) = recent.into_iter().find(|event| event.kind == EventKind::Said) else { return String::new() };
    let whole = last.whole_reference().and_then(|reference| store.text(scope, reference).ok().flatten());
    let whole = whole.and_then(|text| text.all().ok());
    whole.map_or(last.text, |text| String::from_utf8_lossy(&text).into_owned())
}
