//! What a hook reports: events, that it ran, and what became of an output.

use std::time::Instant;

use weir_clients::{Client, Hook, Point, capture};
use weir_core::{Event, Scope, Timestamp};
use weir_store::{HookRun, Outcome, SeenOutput, Store};

/// The information that a hook carries.
pub(super) struct HookReport<'a> {
    pub client: &'static Client,
    pub hook: &'a Hook,
    pub event: &'a str,
    pub started: Instant,
}

impl HookReport<'_> {
    /// Returns the hook's events, including the fixes of earlier failures if the hook reports any.
    pub(super) fn events(&self, store: Option<(&Store, &Scope)>) -> Vec<Event> {
        let mut told: Vec<Event> = capture::events(self.hook);
        if let Some((store, scope)) = store {
            told.extend(repaired(store, scope, self.hook));
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
    capture::fixes(hook, &failures)
}
