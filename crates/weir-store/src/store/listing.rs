//! Lists what a store has, a page at a time, for people who look through it. Invariant: listing changes nothing and
//! does not update when an entry was last used.

use weir_core::{Entry, Reference, Scope, SessionKey, Timestamp};

use super::Store;
use crate::error::Result;
use crate::log::entries::{self, EntryFilter, EntryList};
use crate::log::overview::{self, StoreOverview};
use crate::log::sessions::{self, ListedSession, SessionFilter, SessionPlace};

impl Store {
    /// Returns a page of the sessions, newest first.
    pub fn sessions_page(&self, filter: &SessionFilter) -> Result<Vec<ListedSession>> {
        self.log.read(|c| sessions::page(c, filter))
    }

    pub fn session(&self, key: &SessionKey) -> Result<Option<ListedSession>> {
        self.log.read(|c| sessions::find(c, key))
    }

    /// Returns the sessions first seen before and after the one at a place.
    pub fn sessions_beside(&self, place: &SessionPlace) -> Result<(Option<SessionKey>, Option<SessionKey>)> {
        self.log.read(|c| sessions::beside(c, place))
    }

    /// Returns each client with the number of its sessions; `None` if there are more than are counted.
    pub fn session_counts(&self) -> Result<Vec<(String, Option<u64>)>> {
        self.log.read(|c| sessions::counts(c, sessions::MAX_COUNTED_SESSIONS))
    }

    /// Returns for each of `days` days whether a session had an event. The first day begins at `from`.
    pub fn active_days(&self, key: &SessionKey, from: Timestamp, days: usize) -> Result<Vec<bool>> {
        self.log.read(|c| sessions::active_days(c, key, from, days))
    }

    /// Returns the newest entries that the filter lets through and that are visible in the scope.
    pub fn entries(&self, scope: &Scope, filter: &EntryFilter) -> Result<EntryList> {
        let scope_ids = self.scope_ids(scope)?;
        self.log.read(|c| entries::list(c, scope_ids, filter))
    }

    /// Looks up an entry without recording that it was used.
    pub fn entry(&self, scope: &Scope, reference: Reference) -> Result<Option<Entry>> {
        let scope_ids = self.scope_ids(scope)?;
        Ok(self.log.read(|c| entries::by_reference(c, scope_ids, reference))?.map(|stored| stored.entry))
    }

    pub fn session_of(&self, scope: &Scope, reference: Reference) -> Result<Option<SessionKey>> {
        let scope_ids = self.scope_ids(scope)?;
        self.log.read(|c| match entries::by_reference(c, scope_ids, reference)? {
            Some(stored) => entries::session_of(c, stored.id),
            None => Ok(None),
        })
    }

    pub fn overview(&self) -> Result<StoreOverview> {
        self.log.read(overview::read)
    }

    /// Returns how many bytes of texts were first kept on each of `days` days and are still there. The first day begins
    /// at `from`. The time grows with the number of entries of these days.
    pub fn kept_by_day(&self, from: Timestamp, days: usize) -> Result<Vec<u64>> {
        self.log.read(|c| overview::kept_by_day(c, from, days))
    }
}
