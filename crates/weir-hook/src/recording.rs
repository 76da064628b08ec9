//! Records what a hook reports: in the log, or in the spool if the log is held by another process.

use weir_clients::Point;
use weir_core::Event;
use weir_host::error::CommandError;
use weir_store::{HookRun, StoreError};

use super::conversation::loses_texts;
use super::{Call, faults, hold};

/// Defers a write that may succeed later, by marking it in the data for the spool. Other failures are returned.
pub(super) fn put_off<T>(result: Result<T, StoreError>, mark: impl FnOnce()) -> Result<Option<T>, CommandError> {
    match result {
        Ok(done) => Ok(Some(done)),
        Err(error) if error.may_pass() => {
            mark();
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

impl Call<'_> {
    /// Appends the hook's events to the log, before the hook is answered.
    pub(super) fn append(&mut self, mut told: Vec<Event>) -> Result<(), CommandError> {
        self.set_limits_for(&told);
        while let Some(event) = told.first() {
            match self.store.append(&self.scope, event, self.now) {
                Ok(_) => drop(told.remove(0)),
                failed => return put_off(failed, || self.aside.told = told).map(drop),
            }
        }
        Ok(())
    }

    /// Sets the user's limits if a whole text is to be kept, which expires by them.
    pub(super) fn set_limits_for(&mut self, told: &[Event]) {
        if told.iter().any(|event| event.whole.is_some())
            && let Ok(limits) = self.config().map(|config| config.retention.limits())
        {
            self.store.set_limits(limits);
        }
    }

    pub(super) fn record(&mut self, mut told: Vec<Event>, seen: HookRun) -> Result<(), CommandError> {
        if let Point::AfterTool(used, done) = &self.hook.point
            && let Err(error) = hold::repeats::note_written(self, used, done)
        {
            faults::note("noting what was written", &error.to_string());
        }
        self.set_limits_for(&told);
        let Self { store, scope, aside, .. } = self;
        let recorded = store.record(scope, &told, &seen);
        put_off(recorded, || {
            aside.told.append(&mut told);
            aside.seen = Some(seen);
        })?;
        if loses_texts(self.client, &self.hook.point) {
            put_off(store.session_lost_texts(scope), || aside.texts_lost = true)?;
        }
        Ok(())
    }
}
