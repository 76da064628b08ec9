//! What is known: the stores of a project and of the user, and the model for search by meaning. Invariant: a store is
//! opened on first use, with the limits of the configuration.

mod locked_stores;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use tokio_util::sync::CancellationToken;
use weir_core::{Level, Limits, NewEntry, ProjectKey, Scope};
use weir_embed::Embed;
use weir_host::config::EmbeddingModel;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::mutex::lock;
use weir_host::project::Project;
use weir_host::sharing;
use weir_store::{Freshness, Kept, KnownProject, Store};

pub use locked_stores::{LockedStores, strays};

use super::keep_queue::KeepQueue;
use super::{Machine, Session, cancelled};
use crate::embedding::LazyModel;

/// The stores of a project and of the user. Cheap to clone; clones share the open stores.
#[derive(Clone)]
pub struct Knowledge {
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
    project_folder: PathBuf,
    user_folder: PathBuf,
    /// The project that owns the project's store.
    owner: ProjectKey,
    limits: Limits,
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
            limits: machine.config.retention.limits(),
            embedding: machine.config.search.embedding_model(),
            model: LazyModel::default(),
            local,
        }
    }
}

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

    pub(super) fn of_project(machine: &Machine) -> Self {
        Self::new(StoreSetup::of(machine, Some(machine.project.clone())))
    }

    /// Returns the stores of a project that someone looks through. That does not count as a use of the project.
    pub(super) fn of_viewed(machine: &Machine) -> Self {
        Self::new(StoreSetup::of(machine, None))
    }

    /// Returns the stores of another project of this user, which must have one already. Those of the project that was
    /// asked for last stay open for the next call, unless another one still uses them.
    pub fn of_known(&self, project: &KnownProject) -> Result<Self, CommandError> {
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
    pub fn without_machine(folder: &Path) -> Self {
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
    pub fn is_alone(&self) -> bool {
        Arc::strong_count(&self.stores) == 1
    }

    pub fn scope(&self, work: Option<String>, session: &Session) -> Scope {
        Scope { work, session: session.key.clone(), ..Scope::project(self.setup.owner.clone()) }
    }

    /// Returns why search by meaning does not work, if it is configured but does not.
    pub fn model_problem(&self) -> Option<&str> {
        self.setup.model.problem(&self.setup.embedding)
    }

    /// Returns the model for search by meaning, if there is one. Loading it may take a while the first time.
    pub fn model(&self) -> Option<Arc<dyn Embed>> {
        self.setup.model.get(&self.setup.embedding)
    }

    /// Keeps an entry and makes it searchable. Of many calls that do so at a time, one writes the entries of all.
    pub async fn keep(&self, scope: Scope, entry: NewEntry, cancel: &CancellationToken) -> Result<Kept, CommandError> {
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
    pub async fn with_stores<T, F>(&self, cancel: &CancellationToken, work: F) -> Result<T, CommandError>
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

impl Stores {
    fn interrupter(&mut self) -> impl Fn() + Send + use<> {
        let interrupts: Vec<_> =
            [&mut self.project, &mut self.user].into_iter().flatten().map(Store::interrupter).collect();
        move || interrupts.iter().for_each(|interrupt| interrupt())
    }
}
