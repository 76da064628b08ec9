//! Reads what is newest, for an overview. Invariant: being listed does not update the last-used time of an entry.

use weir_core::{Entry, Level, Scope};

use super::Store;
use crate::error::Result;
use crate::log::notes;
use crate::log::prompts::{self, RecentPrompt};
use crate::log::sessions::{self, SessionSummary};

impl Store {
    /// Returns at most `most` sessions, newest first. If `named` is given, only those whose name starts with it.
    pub fn sessions(&self, named: Option<&str>, most: usize) -> Result<Vec<SessionSummary>> {
        self.log.read(|c| sessions::list(c, named, most))
    }

    /// Returns the newest requests of the user in the sessions that began last, at most `most` of them, newest first.
    pub fn newest_prompts(&self, most: usize) -> Result<Vec<RecentPrompt>> {
        self.log.read(|c| prompts::newest(c, most))
    }

    /// Like [`Self::newest_notes`], but only notes of one level.
    pub fn newest_notes_at(&self, scope: &Scope, level: Level, most: usize) -> Result<Vec<Entry>> {
        let scope_ids = self.scope_ids(scope)?;
        self.log.read(|c| notes::newest_at(c, scope_ids, level, most))
    }
}
