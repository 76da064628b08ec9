//! The stores while one piece of work has them. Invariant: they are handed out one at a time, so an error of a store is
//! about the one that was handed out last.

use std::path::Path;

use weir_core::{Level, Timestamp};
use weir_host::answer::counted;
use weir_host::error::{CommandError, ErrorKind, without_user_notes};
use weir_host::project::Project;
use weir_host::scratch;
use weir_host::when;
use weir_store::{Freshness, Owner, Patience, Store};

use super::{Knowledge, Opening, StoreSetup, Stores, cancelled};

/// The stores, locked for one piece of work.
pub struct LockedStores<'a> {
    setup: &'a StoreSetup,
    stores: &'a mut Stores,
    /// When the work began.
    pub now: Timestamp,
    patience: Patience,
    freshness: Freshness,
    opening: Opening,
    /// The folder of the store that was handed out last. No other can be in use: they are borrowed one at a time.
    folder: &'a Path,
}

impl<'a> LockedStores<'a> {
    pub(super) fn new(knowledge: &'a Knowledge, stores: &'a mut Stores) -> Self {
        let Knowledge { freshness, opening, .. } = *knowledge;
        let (setup, patience) = (&*knowledge.setup, Patience::default());
        Self { setup, stores, now: when::now(), patience, freshness, opening, folder: &setup.project_folder }
    }

    /// Runs the work. An error of a store names the file that it is about.
    pub(super) fn run<T>(mut self, work: impl FnOnce(&mut Self) -> Result<T, CommandError>) -> Result<T, CommandError> {
        work(&mut self).map_err(|error| error.in_store(self.folder))
    }

    pub fn folder(&self, level: Level) -> &'a Path {
        self.setup.folder(level)
    }

    pub fn has(&mut self, level: Level) -> Result<bool, CommandError> {
        self.folder = self.setup.folder(level);
        Ok(Store::exists(self.folder)?)
    }

    pub fn store(&mut self, level: Level) -> Result<&mut Store, CommandError> {
        match level {
            Level::User => self.user(),
            Level::Session | Level::Work | Level::Project => self.project(),
        }
    }

    /// Returns the store that holds entries of this level, if there is one. Work that only reads must not create it.
    pub fn existing(&mut self, level: Level) -> Result<Option<&mut Store>, CommandError> {
        match self.has(level)? {
            true => self.store(level).map(Some),
            false => Ok(None),
        }
    }

    /// Reads from the store of a level, if there is one. A user's store that cannot be used does not cost the answer:
    /// then the result is `None`, and `left_out` says why.
    pub fn read_if_usable<T>(
        &mut self,
        level: Level,
        left_out: &mut Option<String>,
        read: impl FnOnce(&mut Store) -> Result<T, CommandError>,
    ) -> Result<Option<T>, CommandError> {
        let result = match self.existing(level) {
            Ok(None) => return Ok(None),
            Ok(Some(store)) => read(store),
            Err(error) => Err(error),
        };
        match result {
            Err(error) if level == Level::User && error.kind == ErrorKind::Store => {
                *left_out = Some(without_user_notes(&error.in_store(self.folder(level))));
                Ok(None)
            }
            result => result.map(Some),
        }
    }

    /// Says that the store of a level has texts and no log that knows any, if so: the log is gone, or was replaced by a
    /// new one.
    pub fn stray_texts(&mut self, level: Level) -> Result<Option<String>, CommandError> {
        let is_blank = self.existing(level)?.map_or(Ok(true), |store| store.is_blank())?;
        let count = if is_blank { Store::text_files(self.folder(level))? } else { 0 };
        Ok((count > 0).then(|| strays(count, self.folder(level))))
    }

    /// Sets how long writes wait for other processes, both for stores that are open and for those opened later.
    pub fn set_patience(&mut self, patience: Patience) -> Result<(), CommandError> {
        self.patience = patience;
        let Stores { project, user } = &mut *self.stores;
        for (store, level) in [(project, Level::Project), (user, Level::User)] {
            self.folder = self.setup.folder(level);
            store.as_mut().map_or(Ok(()), |store| store.set_patience(patience))?;
        }
        Ok(())
    }

    /// Returns the project's store, after taking in the spool that hooks left next to it.
    pub fn project(&mut self) -> Result<&mut Store, CommandError> {
        let setup = self.setup;
        self.folder = &setup.project_folder;
        // A server outlives stores that are moved, removed or restored underneath it, and it outlives a full disk.
        self.stores.project.take_if(|store| store.was_moved() || store.is_read_only());
        if self.opening == Opening::AsIs {
            if self.stores.project.is_none() {
                let owner = Owner::Project(setup.owner.clone());
                self.stores.project = Some(self.open_as_is(&setup.project_folder, owner)?);
            }
        } else if let Some(store) = &mut self.stores.project {
            // Anything that cannot be taken in now stays in the spool.
            let _ = store.take_in();
        } else {
            let owner = Owner::Project(setup.owner.clone());
            let mut store = Store::open_within(&setup.project_folder, owner, setup.limits.clone(), self.patience)?;
            store.set_freshness(self.freshness);
            if self.freshness == Freshness::Complete {
                // There is no daemon, so every call does a part of the housekeeping. The answer does not depend on it.
                let _ = store.tidy(self.now);
                scratch::sweep(&setup.project_folder);
                setup.local.iter().for_each(|project| self.remember(project));
                self.folder = &setup.project_folder;
            }
            self.stores.project = Some(store);
        }
        self.stores.project.as_mut().ok_or_else(cancelled)
    }

    /// Adds a project to the user's list of projects, and records where it is.
    fn remember(&mut self, project: &Project) {
        let known = project.as_known(self.now);
        // Failing to update the list of projects must not fail the call: on a full disk or in a read-only folder, this
        // project can still be read.
        if let Ok(user) = self.user() {
            let _ = user.remember_project(&known);
        }
        project.remember_place(&self.setup.project_folder);
    }

    pub fn user(&mut self) -> Result<&mut Store, CommandError> {
        let setup = self.setup;
        self.folder = &setup.user_folder;
        self.stores.user.take_if(|store| store.was_moved() || store.is_read_only());
        if self.stores.user.is_none() && self.opening == Opening::AsIs {
            self.stores.user = Some(self.open_as_is(&setup.user_folder, Owner::User)?);
        } else if self.stores.user.is_none() {
            let mut store = Store::open_within(&setup.user_folder, Owner::User, setup.limits.clone(), self.patience)?;
            store.set_freshness(self.freshness);
            self.stores.user = Some(store);
        }
        self.stores.user.as_mut().ok_or_else(cancelled)
    }

    fn open_as_is(&self, folder: &Path, owner: Owner) -> Result<Store, CommandError> {
        Ok(Store::open_as_is(folder, owner, self.setup.limits.clone(), self.patience)?)
    }
}

/// Says that a folder has texts that its log does not know.
pub fn strays(count: usize, folder: &Path) -> String {
    let texts = counted(count, "text", "texts");
    format!("{texts} in {} belong to a log that is gone: no reference leads to them", folder.display())
}
