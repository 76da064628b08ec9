//! The files that a session knows. Invariant: what a session knows of a file and the event of its use are written in
//! one transaction.

use weir_core::{Event, Scope};

use super::{Store, redacted_event, redacted_text};
use crate::db::Durability;
use crate::error::Result;
use crate::log::files::{self, SessionFile};
use crate::log::{events, scopes};

impl Store {
    pub fn session_file(&self, scope: &Scope, path: &str) -> Result<Option<SessionFile>> {
        let Some(session) = self.scope_ids(scope)?.session else { return Ok(None) };
        let path = redacted_text(path);
        self.log.read(|c| files::find(c, session, &path))
    }

    /// Returns the files of the scope's session, the most recently used first.
    pub fn session_files(&self, scope: &Scope) -> Result<Vec<SessionFile>> {
        let Some(session) = self.scope_ids(scope)?.session else { return Ok(Vec::new()) };
        self.log.read(|c| files::all(c, session))
    }

    /// Returns what the events of the scope's session say about files, oldest first.
    pub fn file_events(&self, scope: &Scope) -> Result<Vec<String>> {
        let Some(session) = self.scope_ids(scope)?.session else { return Ok(Vec::new()) };
        self.log.read(|c| files::event_data(c, session))
    }

    /// Stores what the scope's session knows of a file, and appends the event. Returns the previously active file if
    /// this one replaces it. Without a session, only the event is stored.
    pub fn keep_session_file(&mut self, scope: &Scope, file: &SessionFile, told: &Event) -> Result<Option<String>> {
        self.check_scope(scope)?;
        let told = redacted_event(told);
        let file = SessionFile { path: redacted_text(&file.path), ..file.clone() };
        let own = self.own_scope(scope);
        self.log.write(Durability::Process, |tx| {
            let scope_ids = scopes::find_or_make(tx, &own, file.known_at)?;
            let turn = events::append(tx, scope_ids, &told, file.known_at)?;
            match scope_ids.session {
                Some(session) => files::keep(tx, session, turn, &file),
                None => Ok(None),
            }
        })
    }

    /// Forgets what the scope's session knows of one file, or of all files. Returns how many files that were.
    pub fn forget_session_files(&mut self, scope: &Scope, path: Option<&str>) -> Result<usize> {
        let Some(session) = self.scope_ids(scope)?.session else { return Ok(0) };
        let path = path.map(redacted_text);
        self.log.write(Durability::Process, |tx| files::forget(tx, session, path.as_deref()))
    }

    /// Records that the model of the scope's session no longer has the texts it was given, because its conversation was
    /// compacted or another one continues under the same name.
    pub fn session_lost_texts(&mut self, scope: &Scope) -> Result<()> {
        // Most sessions have no such texts, and a hook without anything to write must not wait for a lock.
        if !self.log.read(files::any_shown)? {
            return Ok(());
        }
        let session = self.scope_ids(scope)?.session;
        self.log.write(Durability::Process, |tx| files::not_shown(tx, session))
    }
}
