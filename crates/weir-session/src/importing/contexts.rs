//! Finds the project that each session belongs to.

use std::path::Path;

use weir_context::Context;
use weir_host::error::CommandError;
use weir_host::foreign;
use weir_host::project::Project;

use super::{ImportJob, ImportScope};

impl ImportJob<'_> {
    /// Returns the context of the project that a session belongs to, if its sessions are to be imported.
    pub(super) fn context_of(&mut self, folder: &Path) -> Option<Context> {
        let here = self.context;
        if self.order.whose == ImportScope::Here {
            return self.here();
        }
        let context = match self.open(folder) {
            Ok(Some(context)) => context,
            Ok(None) => {
                self.report.gone += 1;
                return None;
            }
            Err(error) => {
                self.report.unreadable.push(error.message);
                return None;
            }
        };
        if self.order.whose == ImportScope::Project && context.project().key != here.project().key {
            self.report.elsewhere += 1;
            return None;
        }
        Some(context)
    }

    /// Returns the context of the project that contains a folder, unless the folder does not exist. If it cannot be
    /// read at the moment, that is an error.
    pub(super) fn open(&mut self, folder: &Path) -> Result<Option<Context>, CommandError> {
        if let Some(opened) = self.contexts.get(folder) {
            return Ok(opened.clone());
        }
        // Looking up the project first detects a folder that no longer exists.
        let opened = match foreign::settled(Project::discover(folder)) {
            Ok(None) => None,
            Ok(Some(_)) | Err(_) => {
                let mut env = self.context.env().clone();
                folder.clone_into(&mut env.folder);
                Some(Context::new(&env, self.context.face())?)
            }
        };
        self.contexts.insert(folder.to_owned(), opened.clone());
        Ok(opened)
    }

    pub(super) fn here(&self) -> Option<Context> {
        self.contexts.get(&self.context.env().folder).cloned().flatten()
    }
}
