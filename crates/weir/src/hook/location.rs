//! Locates a session: its project and scope, and the store that belongs to them.

use std::path::{Path, PathBuf};

use weir_core::{Limits, Scope, SessionKey};
use weir_store::{Owner, Patience, Spool, Store, StoreError};

use super::unreadable;
use crate::env::{Env, Paths};
use crate::error::CommandError;
use crate::project::Project;
use crate::when;

/// The location of a session: its project, its scope and the folder of the project's store.
pub(crate) struct SessionLocation {
    project: Project,
    pub(crate) scope: Scope,
    pub(crate) folder: PathBuf,
}

impl SessionLocation {
    /// Locates a session that works in a folder.
    pub(crate) fn find(env: &Env, paths: &Paths, folder: &Path, session: SessionKey) -> Result<Self, CommandError> {
        let project = Project::locate(folder, &paths.data).map_err(unreadable)?;
        let folder = paths.data.join("projects").join(project.folder_name());
        let work = env.work.clone().or_else(|| project.branch());
        let scope = Scope { work, session: Some(session), ..Scope::project(project.key.clone()) };
        Ok(Self { project, scope, folder })
    }

    /// Opens the project's store. A new project is added to the user's list.
    pub(crate) fn open(&self, paths: &Paths, patience: Patience) -> Result<Store, StoreError> {
        let is_new = !self.folder.join("log.db").exists();
        // Appending an event needs no limits, and storing a text sets the user's.
        let limits = Limits::default();
        let owner = Owner::Project(self.project.key.clone());
        let store = Store::open_for_hook(&self.folder, owner, limits.clone(), patience)?;
        if is_new {
            let known = self.project.as_known(when::now());
            let user = Store::open_within(&paths.data.join("user"), Owner::User, limits, store.patience());
            let remembered = user.and_then(|mut user| user.remember_project(&known));
            // If the list cannot be written now, the next command that opens the project does it.
            remembered.or_else(|error| if error.may_pass() { Ok(()) } else { Err(error) })?;
        }
        Ok(store)
    }

    /// Returns the spool of the project's store.
    pub(crate) fn spool(&self) -> Spool {
        Spool::beside(&self.folder)
    }
}
