//! What is known: the stores of a project and of the user, and the model for search by meaning. Invariant: a store is
//! opened on first use, with the limits of the configuration.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use tokio_util::sync::CancellationToken;
use weir_core::{Level, Limits, NewEntry, ProjectKey, Scope, Timestamp};
use weir_embed::Embed;
use weir_host::answer::counted;
use weir_host::config::EmbeddingModel;
use weir_host::error::{CommandError, ErrorKind, without_user_notes};
use weir_host::mutex::lock;
use weir_host::project::Project;
use weir_host::scratch;
use weir_host::sharing;
use weir_host::when;
use weir_store::{Freshness, Kept, KnownProject, Owner, Patience, Store};

use super::keep_queue::KeepQueue;
use super::{Machine, Session, cancelled};
use crate::embedding::LazyModel;

/// The stores of a project and of the user. Cheap to clone; clones share the open stores.
#[derive(Clone)]
pub(crate) struct Knowledge {
    setup: Arc<StoreSetup>,
    stores: Arc<Mutex<Stores>>,
    freshness: Freshness,
    opening: Opening,
    /// The other project of this user that was asked for last, with its stores.
    other: Arc<Mutex<Option<Self>>>,
    /// Where entries wait to be kept together with those of other calls, if there are many calls.
    queue: Option<Arc<KeepQueue>>,
}

/// What opening a store may do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Opening {
    /// Create it, migrate it, and do a part of its housekeeping.
    #[default]
    Usual,
    /// Nothing: it must exist, and stays as it is.
    AsIs,
}

/// What is needed to open the stores.
struct StoreSetup {
    /// The folder of the project's store.
    project_folder: PathBuf,
    /// The folder of the user's store.
    user_folder: PathBuf,
    /// The project that owns the project's store.
    owner: ProjectKey,
    /// The limits of both stores.
    limits: Limits,
    /// The configured model.
    embedding: EmbeddingModel,
    /// The same model, once it is loaded.
    model: LazyModel,
    /// The project on this machine. It is remembered, so that its store is found again if the project is moved.
    local: Option<Project>,
}

impl StoreSetup {
    /// Returns the folder of the store that holds entries of this level.
    fn folder(&self, level: Level) -> &Path {
        match level {
            Level::User => &self.user_folder,
            Level::Session | Level::Work | Level::Project => &self.project_folder,
        }
    }

    fn of(machine: &Machine, local: Option<Project>) -> Self {
        Self {
            project_folder: machine.project_folder(),
            user_folder: machine.user_folder(),
            owner: machine.project.key.clone(),
            limits: machine.config.limits.clone(),
            embedding: machine.config.embedding_model.clone(),
            model: LazyModel::default(),
            local,
        }
    }
}

/// The open stores.
#[derive(Default)]
struct Stores {
    project: Option<Store>,
    user: Option<Store>,
}

impl Knowledge {
    /// Returns the stores with this setup, none of them open.
    fn new(setup: StoreSetup) -> Self {
        let (stores, other) = (Arc::default(), Arc::default());
        let (freshness, opening) = (Freshness::default(), Opening::default());
        Self { setup: Arc::new(setup), stores, freshness, opening, other, queue: None }
    }

    /// Returns the stores of the project that a call on this machine is made in.
    pub(super) fn of_project(machine: &Machine) -> Self {
        Self::new(StoreSetup::of(machine, Some(machine.project.clone())))
    }

    /// Returns the stores of a project that someone looks through. That does not count as a use of the project.
    pub(super) fn of_viewed(machine: &Machine) -> Self {
        Self::new(StoreSetup::of(machine, None))
    }

    /// Returns the stores of another project of this user, which must have one already. Those of the project that was
    /// asked for last stay open for the next call, unless another one still uses them.
    pub(crate) fn of_known(&self, project: &KnownProject) -> Result<Self, CommandError> {
        let StoreSetup { project_folder, user_folder, limits, .. } = &*self.setup;
        let data = user_folder.parent().unwrap_or(user_folder);
        let shared = sharing::find(data, &project.folder, &project.key).map_err(|error| {
            CommandError::new(ErrorKind::Failed, format!("cannot use the store of {}: {error}", project.root))
        })?;
        let (folder, owner) = match shared {
            Some(shared) => (shared.folder, shared.owner),
            None => (project.folder.clone(), project.key.clone()),
        };
        let project_folder = project_folder.with_file_name(folder);
        let exists = Store::exists(&project_folder);
        if !exists.map_err(|error| CommandError::from(error).in_store(&project_folder))? {
            let message = format!("the store of {} no longer exists", project.root);
            return Err(CommandError::new(ErrorKind::NotFound, message)
                .hint("run any `weir` command in that folder to create a new one"));
        }
        let mut last = lock(&self.other);
        let is_same = |other: &&Self| other.setup.project_folder == project_folder && other.setup.owner.0 == owner;
        if let Some(other) = last.as_ref().filter(is_same).filter(|other| other.is_alone()) {
            return Ok(other.clone());
        }
        let other = Self::new(StoreSetup {
            project_folder,
            user_folder: user_folder.clone(),
            owner: ProjectKey(owner),
            limits: limits.clone(),
            embedding: EmbeddingModel::Off,
            model: LazyModel::default(),
            local: None,
        });
        *last = Some(other.clone());
        Ok(other)
    }

    /// Returns the stores of a project that is not on this machine.
    #[cfg(test)]
    pub(crate) fn without_machine(folder: &Path) -> Self {
        Self::new(StoreSetup {
            project_folder: folder.join("project"),
            user_folder: folder.join("user"),
            owner: ProjectKey("path:/elsewhere".to_owned()),
            limits: Limits::default(),
            embedding: EmbeddingModel::Off,
            model: LazyModel::default(),
            local: None,
        })
    }

    /// Returns the same stores, opened separately, so that other calls do not wait for them.
    pub(super) fn with_own_stores(&self) -> Self {
        Self { stores: Arc::default(), other: Arc::default(), ..self.clone() }
    }

    /// Returns the same stores, opened separately to be looked at: opening them changes nothing.
    pub(super) fn as_is(&self) -> Self {
        Self { opening: Opening::AsIs, ..self.with_own_stores() }
    }

    /// Returns the same stores, opened separately, for calls among many: reading waits for no lock, and leaves indexing
    /// and housekeeping to others; entries are kept together with those of other calls.
    pub(super) fn with_prompt_searches(&self) -> Self {
        let own = Self { freshness: Freshness::Prompt, queue: None, ..self.with_own_stores() };
        let queue = KeepQueue::new(own.with_own_stores());
        Self { queue: Some(Arc::new(queue)), ..own }
    }

    /// Whether nothing else holds these stores, so that nobody waits for them and they wait for nobody.
    pub(crate) fn is_alone(&self) -> bool {
        Arc::strong_count(&self.stores) == 1
    }

    /// Returns the scope of a call.
    pub(crate) fn scope(&self, work: Option<String>, session: &Session) -> Scope {
        Scope { work, session: session.key.clone(), ..Scope::project(self.setup.owner.clone()) }
    }

    /// Returns why search by meaning does not work, if it is configured but does not.
    pub(crate) fn model_problem(&self) -> Option<&str> {
        self.setup.model.problem(&self.setup.embedding)
    }

    /// Returns the model for search by meaning, if there is one. Loading it may take a while the first time.
    pub(crate) fn model(&self) -> Option<Arc<dyn Embed>> {
        self.setup.model.get(&self.setup.embedding)
    }

    /// Keeps an entry and makes it searchable. Of many calls that do so at a time, one writes the entries of all.
    pub(crate) async fn keep(
        &self,
        scope: Scope,
        entry: NewEntry,
        cancel: &CancellationToken,
    ) -> Result<Kept, CommandError> {
        let Some(queue) = &self.queue else {
            let keep = move |open: &mut LockedStores<'_>| {
                let now = open.now;
                Ok(open.store(entry.level)?.keep(&scope, entry, now)?)
            };
            return self.with_stores(cancel, keep).await;
        };
        queue.keep(scope, entry, cancel.clone()).await
    }

    /// Runs work on the stores on the current thread, for callers that have a thread of their own.
    pub(super) fn with_stores_here<T>(
        &self,
        work: impl FnOnce(&mut LockedStores<'_>) -> Result<T, CommandError>,
    ) -> Result<T, CommandError> {
        let mut stores = lock(&self.stores);
        LockedStores::new(self, &mut stores).run(work)
    }

    /// Runs work on the stores, off the async thread. Cancelling the token interrupts the running statement.
    pub(crate) async fn with_stores<T, F>(&self, cancel: &CancellationToken, work: F) -> Result<T, CommandError>
    where
        T: Send + 'static,
        F: FnOnce(&mut LockedStores<'_>) -> Result<T, CommandError> + Send + 'static,
    {
        let (knowledge, cancel) = (self.clone(), cancel.clone());
        let runtime = tokio::runtime::Handle::current();
        let task = tokio::task::spawn_blocking(move || {
            let mut stores = lock(&knowledge.stores);
            if cancel.is_cancelled() {
                return Err(cancelled());
            }
            let interrupt = stores.interrupter();
            let watch = runtime.spawn(async move {
                cancel.cancelled().await;
                interrupt();
            });
            let result = LockedStores::new(&knowledge, &mut stores).run(work);
            watch.abort();
            result
        });
        match task.await {
            Ok(result) => result,
            Err(error) => Err(CommandError::broken(&format!("the call failed: {error}"))),
        }
    }
}

/// The stores, locked for one piece of work.
pub(crate) struct LockedStores<'a> {
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
    fn new(knowledge: &'a Knowledge, stores: &'a mut Stores) -> Self {
        let Knowledge { freshness, opening, .. } = *knowledge;
        let (setup, patience) = (&*knowledge.setup, Patience::default());
        Self { setup, stores, now: when::now(), patience, freshness, opening, folder: &setup.project_folder }
    }

    /// Runs the work. An error of a store names the file that it is about.
    fn run<T>(mut self, work: impl FnOnce(&mut Self) -> Result<T, CommandError>) -> Result<T, CommandError> {
        work(&mut self).map_err(|error| error.in_store(self.folder))
    }

    /// Returns the folder of the store that holds entries of this level.
    pub(crate) fn folder(&self, level: Level) -> &'a Path {
        self.setup.folder(level)
    }

    /// Whether there is a store for entries of this level.
    pub(crate) fn has(&mut self, level: Level) -> Result<bool, CommandError> {
        self.folder = self.setup.folder(level);
        Ok(Store::exists(self.folder)?)
    }

    /// Returns the store that holds entries of this level.
    pub(crate) fn store(&mut self, level: Level) -> Result<&mut Store, CommandError> {
        match level {
            Level::User => self.user(),
            Level::Session | Level::Work | Level::Project => self.project(),
        }
    }

    /// Returns the store that holds entries of this level, if there is one. Work that only reads must not create it.
    pub(crate) fn existing(&mut self, level: Level) -> Result<Option<&mut Store>, CommandError> {
        match self.has(level)? {
            true => self.store(level).map(Some),
            false => Ok(None),
        }
    }

    /// Reads from the store of a level, if there is one. A user's store that cannot be used does not cost the answer: then
    /// the result is `None`, and `left_out` says why.
    pub(crate) fn read_if_usable<T>(
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
    pub(crate) fn stray_texts(&mut self, level: Level) -> Result<Option<String>, CommandError> {
        let is_blank = self.existing(level)?.map_or(Ok(true), |store| store.is_blank())?;
        let count = if is_blank { Store::text_files(self.folder(level))? } else { 0 };
        Ok((count > 0).then(|| strays(count, self.folder(level))))
    }

    /// Sets how long writes wait for other processes, both for stores that are open and for those opened later.
    pub(crate) fn set_patience(&mut self, patience: Patience) -> Result<(), CommandError> {
        self.patience = patience;
        let Stores { project, user } = &mut *self.stores;
        for (store, level) in [(project, Level::Project), (user, Level::User)] {
            self.folder = self.setup.folder(level);
            store.as_mut().map_or(Ok(()), |store| store.set_patience(patience))?;
        }
        Ok(())
    }

    /// Returns the project's store, after taking in the spool that hooks left next to it.
    pub(crate) fn project(&mut self) -> Result<&mut Store, CommandError> {
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

    /// Returns the user's store.
    pub(crate) fn user(&mut self) -> Result<&mut Store, CommandError> {
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
pub(crate) fn strays(count: usize, folder: &Path) -> String {
    let texts = counted(count, "text", "texts");
    format!("{texts} in {} belong to a log that is gone: no reference leads to them", folder.display())
}

impl Stores {
    fn interrupter(&mut self) -> impl Fn() + Send + use<> {
        let interrupts: Vec<_> =
            [&mut self.project, &mut self.user].into_iter().flatten().map(Store::interrupter).collect();
        move || interrupts.iter().for_each(|interrupt| interrupt())
    }
}
