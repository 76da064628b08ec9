//! Locates a session: its project and scope, and the store that belongs to them.

use std::path::{Path, PathBuf};

use weir_clients::{Client, Hook};
use weir_core::{Limits, Scope, SessionKey};
use weir_host::env::{self, Env, Paths};
use weir_host::error::{CommandError, ErrorKind};
use weir_host::foreign;
use weir_host::project::Project;
use weir_host::switch::Switch;
use weir_host::when;
use weir_store::{Owner, Patience, Spool, Store, StoreError};

/// The location of a session: its project, its scope and the folder of the project's store.
pub struct SessionLocation {
    project: Project,
    pub scope: Scope,
    pub folder: PathBuf,
}

/// Replaces the folder that a hook reports with the one that its session belongs to.
///
/// A client's shell may have entered a submodule, or any folder outside a repository, and each is a project of its own.
/// The session still belongs to where it was started: there the client's server looks for what a hook has stored.
pub(super) fn settle(client: &Client, hook: &mut Hook) -> Result<(), CommandError> {
    if let Some(started) = client.folder_variable.and_then(env::client_folder)
        && belongs_to(&started, &hook.folder).map_err(not_found_out)?
    {
        let current = std::mem::replace(&mut hook.folder, started);
        hook.shell = Some(current).filter(|current| *current != hook.folder);
    }
    Ok(())
}

/// The project of a folder is not known, because something cannot be read at the moment.
fn not_found_out(error: std::io::Error) -> CommandError {
    CommandError::new(ErrorKind::Failed, error.to_string())
}

/// Whether a session that was started in one folder belongs there although its shell is in another. It does not if that
/// is another work tree of the repository, which has files and a branch of its own.
pub fn belongs_to(started: &Path, current: &Path) -> std::io::Result<bool> {
    if started == current {
        return Ok(true);
    }
    let Some(own) = foreign::settled(Project::discover(started))? else { return Ok(false) };
    Ok(match foreign::settled(Project::discover(current))? {
        Some(there) if there.key == own.key => there.root == own.root && current.starts_with(started),
        _ => true,
    })
}

/// Why a store cannot be opened.
pub struct OpenError {
    pub error: StoreError,
    folder: PathBuf,
}

impl From<OpenError> for CommandError {
    fn from(failed: OpenError) -> Self {
        Self::from(failed.error).in_store(&failed.folder)
    }
}

impl SessionLocation {
    /// Locates a session that works in a folder.
    pub fn find(env: &Env, paths: &Paths, folder: &Path, session: SessionKey) -> Result<Self, CommandError> {
        let project = Project::locate(folder, &paths.data).map_err(not_found_out)?;
        let folder = paths.data.join("projects").join(project.folder_name());
        let work = env.work.clone().or_else(|| project.branch());
        let scope = Scope { work, session: Some(session), ..Scope::project(project.key.clone()) };
        Ok(Self { project, scope, folder })
    }

    /// Whether the user turned Weir off in one of these folders of the session.
    pub fn is_off(&self, switch: &Switch, folders: &[&Path]) -> bool {
        folders.iter().any(|folder| switch.off_in(&self.project, folder).is_some())
    }

    /// Opens the project's store. A new project is added to the user's list.
    pub fn open(&self, paths: &Paths, patience: Patience) -> Result<Store, OpenError> {
        let is_new = !Store::exists(&self.folder).unwrap_or(true);
        // Appending an event needs no limits, and storing a text sets the user's.
        let limits = Limits::default();
        let owner = Owner::Project(self.project.key.clone());
        let store = Store::open_for_hook(&self.folder, owner, limits.clone(), patience)
            .map_err(|error| OpenError { error, folder: self.folder.clone() })?;
        if is_new {
            let known = self.project.as_known(when::now());
            let folder = paths.data.join("user");
            let user = Store::open_within(&folder, Owner::User, limits, store.patience());
            match user.and_then(|mut user| user.remember_project(&known)) {
                // If the list cannot be written now, the next command that opens the project does it.
                Err(error) if !error.may_pass() => return Err(OpenError { error, folder }),
                _ => {}
            }
        }
        Ok(store)
    }

    pub fn spool(&self) -> Spool {
        Spool::beside(&self.folder)
    }
}
