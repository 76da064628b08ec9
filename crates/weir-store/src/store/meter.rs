//! The meter of a store: what Weir did in the conversations of a project.

use weir_core::{Scope, SessionKey, Timestamp};

use super::Store;
use crate::db::Durability;
use crate::error::Result;
use crate::log::meter::{self, MeterRow, Reading};

impl Store {
    /// Adds a reading to the scope's session. Does nothing if there is no session.
    pub fn meter(&mut self, scope: &Scope, reading: &Reading, now: Timestamp) -> Result<()> {
        self.check_scope(scope)?;
        let Some(session) = &scope.session else { return Ok(()) };
        self.log.write(Durability::Process, |tx| meter::add(tx, session, reading, now))
    }

    /// Returns the readings of a session since a time, by day and tool.
    pub fn metered_of(&self, session: &SessionKey, since: Timestamp) -> Result<Vec<MeterRow>> {
        self.log.read(|c| meter::between(c, Some(session), Some(since), None))
    }

    /// Returns the readings since a time, by day, session and tool.
    pub fn metered(&self, since: Option<Timestamp>) -> Result<Vec<MeterRow>> {
        self.log.read(|c| meter::between(c, None, since, None))
    }

    /// Returns the readings of the days between two times, by day, session and tool.
    pub fn metered_between(&self, since: Timestamp, until: Timestamp) -> Result<Vec<MeterRow>> {
        self.log.read(|c| meter::between(c, None, Some(since), Some(until)))
    }
}
