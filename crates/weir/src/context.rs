//! The context of a call: its project, its scope, and the stores. Invariant: stores are opened on first use and work
//! off the async thread.

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio_util::sync::CancellationToken;
use weir_core::{Level, Origin, Scope, SessionKey, Timestamp};
use weir_store::{KnownProject, Owner, Patience, Store};

use crate::config::{self, Config};
use crate::consent;
use crate::embedding::LazyModel;
use crate::env::{Env, Paths};
use crate::error::{CommandError, ErrorKind};
use crate::foreign;
use crate::git::Head;
use crate::moved;
use crate::project::Project;
use crate::run::ActiveRuns;
use crate::when;

/// The context of a call. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Context {
    shared: Arc<SharedState>,
    /// The origin of the caller, and thus of the texts it passes.
    pub origin: Origin,
    session: Option<SessionKey>,
    cancel: CancellationToken,
    tell: fn(&str),
    ask: ConsentPrompt,
}

/// Asks the user for consent: takes a question and what the question is about, and resolves to whether the user agreed.
/// Without one, the answer is no.
pub(crate) type ConsentPrompt = Option<Arc<dyn Fn(String, String) -> ConsentFuture + Send + Sync>>;

/// The user's pending answer.
pub(crate) type ConsentFuture = Pin<Box<dyn Future<Output = bool> + Send>>;

struct SharedState {
    env: Env,
    paths: Paths,
    project: Project,
    config: Config,
    stores: Mutex<Stores>,
    model: LazyModel,
    running: ActiveRuns,
}

impl SharedState {
    /// Returns a state with no store open and nothing running.
    fn new(env: Env, paths: Paths, project: Project, config: Config) -> Self {
        let (stores, model, running) = (Mutex::default(), LazyModel::default(), ActiveRuns::default());
        Self { env, paths, project, config, stores, model, running }
    }
}

/// The stores that a call may use.
#[derive(Default)]
pub(crate) struct Stores {
    project: Option<Store>,
    user: Option<Store>,
}

impl Context {
    /// Returns the context of a call made in this environment.
    pub(crate) fn new(env: &Env, origin: Origin) -> Result<Self, CommandError> {
        let paths = env.paths().ok_or_else(|| {
            CommandError::new(ErrorKind::Config, "cannot find the home folder")
                .hint("set HOME, or set WEIR_DATA to a folder that you own")
        })?;
        let project = Project::discover(&env.folder).map_err(|error| {
            CommandError::new(ErrorKind::Failed, format!("cannot use {}: {error}", env.folder.display()))
        })?;
        let config = config::read(&paths.config)?;
        let session = env.session.clone().map(|key| SessionKey { client: "shell".to_owned(), key });
        let shared = SharedState::new(env.clone(), paths, project, config);
        Ok(Self {
            shared: Arc::new(shared),
            origin,
            session,
            cancel: CancellationToken::new(),
            tell: |_| (),
            ask: None,
        })
    }

    /// Returns the same context with a function that receives progress messages.
    pub(crate) fn with_progress(self, tell: fn(&str)) -> Self {
        Self { tell, ..self }
    }

    /// Reports the progress of long work, if anything receives it.
    pub(crate) fn report_progress(&self, progress: &str) {
        (self.tell)(progress);
    }

    /// Returns the same context, within a session.
    pub(crate) fn in_session(self, session: Option<SessionKey>) -> Self {
        Self { session, ..self }
    }

    /// Returns the same context with a way to ask the user.
    pub(crate) fn with_consent_prompt(self, ask: ConsentPrompt) -> Self {
        Self { ask, ..self }
    }

    /// Asks the user for consent. Without a way to ask, the answer is no; a text that cannot be shown completely is an
    /// error.
    pub(crate) async fn consent(&self, question: &str, about: &str) -> Result<bool, CommandError> {
        match &self.ask {
            Some(ask) => Ok(ask(consent::visible(question), consent::shown(about)?).await),
            None => Ok(false),
        }
    }

    /// Returns the same context for one cancellable call of a session.
    pub(crate) fn for_call(&self, session: SessionKey, cancel: CancellationToken) -> Self {
        Self { session: Some(session), cancel, ..self.clone() }
    }

    /// Returns the same context with its own stores, so that other calls do not wait for them.
    pub(crate) fn with_own_stores(&self) -> Self {
        let SharedState { env, paths, project, config, .. } = &*self.shared;
        let shared = SharedState::new(env.clone(), paths.clone(), project.clone(), config.clone());
        Self { shared: Arc::new(shared), ..self.clone() }
    }

    /// Returns why search by meaning does not work, if it is configured but does not.
    pub(crate) fn model_problem(&self) -> Option<&str> {
        self.shared.model.problem(&self.shared.config.embedding_model)
    }

    /// Returns the name of the model for search by meaning, if there is one.
    pub(crate) fn model_name(&self) -> Option<String> {
        self.shared.model.get(&self.shared.config.embedding_model).map(|model| model.name().to_owned())
    }

    /// Returns the paths of Weir's data, configuration and cache.
    pub(crate) fn paths(&self) -> &Paths {
        &self.shared.paths
    }

    /// Returns the user's configuration.
    pub(crate) fn config(&self) -> &Config {
        &self.shared.config
    }

    /// Returns the environment as it was read.
    pub(crate) fn env(&self) -> &Env {
        &self.shared.env
    }

    /// Returns the runs in progress.
    pub(crate) fn running(&self) -> &ActiveRuns {
        &self.shared.running
    }

    /// Returns the token that is cancelled when the caller gives up waiting.
    pub(crate) fn cancelled(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Returns the project that the call is made in.
    pub(crate) fn project(&self) -> &Project {
        &self.shared.project
    }

    /// Returns what git has checked out at this moment.
    pub(crate) fn head(&self) -> Head {
        self.shared.project.head()
    }

    /// Returns the scope of the call. The branch is read each time, since it may have changed since the last call.
    pub(crate) fn scope(&self) -> Scope {
        let work = self.shared.env.work.clone().or_else(|| self.head().branch);
        Scope { work, session: self.session.clone(), ..Scope::project(self.shared.project.key.clone()) }
    }

    /// Returns the folder of the project's store.
    pub(crate) fn project_folder(&self) -> PathBuf {
        self.shared.paths.data.join("projects").join(self.shared.project.folder_name())
    }

    /// Returns a hint for an empty store if the project may have been moved.
    pub(crate) fn moved_hint(&self, open: &mut LockedStores<'_>) -> Option<String> {
        moved::hint(open, &self.shared.project, &self.shared.paths.data.join("projects"))
    }

    /// Returns the folder of the user's store.
    pub(crate) fn user_folder(&self) -> PathBuf {
        self.shared.paths.data.join("user")
    }

    /// Runs work on the stores on the current thread, for callers that have a thread of their own.
    pub(crate) fn with_stores_here<T>(
        &self,
        work: impl FnOnce(&mut LockedStores<'_>) -> Result<T, CommandError>,
    ) -> Result<T, CommandError> {
        let mut stores = lock(&self.shared.stores);
        work(&mut LockedStores { context: self, stores: &mut stores, now: when::now(), patience: Patience::default() })
    }

    /// Runs work on the stores, off the async thread. Cancelling the call interrupts the running statement.
    pub(crate) async fn with_stores<T, F>(&self, work: F) -> Result<T, CommandError>
    where
        T: Send + 'static,
        F: FnOnce(&mut LockedStores<'_>) -> Result<T, CommandError> + Send + 'static,
    {
        let context = self.clone();
        let runtime = tokio::runtime::Handle::current();
        let task = tokio::task::spawn_blocking(move || {
            let mut stores = lock(&context.shared.stores);
            if context.cancel.is_cancelled() {
                return Err(cancelled());
            }
            let interrupt = stores.interrupter();
            let cancel = context.cancel.clone();
            let watch = runtime.spawn(async move {
                cancel.cancelled().await;
                interrupt();
            });
            let patience = Patience::default();
            let mut open = LockedStores { context: &context, stores: &mut stores, now: when::now(), patience };
            let result = work(&mut open);
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
    context: &'a Context,
    stores: &'a mut Stores,
    /// When the work began.
    pub now: Timestamp,
    patience: Patience,
}

impl LockedStores<'_> {
    /// Returns the store that holds entries of this level.
    pub(crate) fn store(&mut self, level: Level) -> Result<&mut Store, CommandError> {
        match level {
            Level::User => self.user(),
            Level::Session | Level::Work | Level::Project => self.project(),
        }
    }

    /// Sets how long writes wait for other processes, both for stores that are open and for those opened later.
    pub(crate) fn set_patience(&mut self, patience: Patience) -> Result<(), CommandError> {
        self.patience = patience;
        let Stores { project, user } = &mut *self.stores;
        project.iter_mut().chain(user).try_for_each(|store| store.set_patience(patience))?;
        Ok(())
    }

    /// Returns the project's store, after taking in the spool that hooks left next to it.
    pub(crate) fn project(&mut self) -> Result<&mut Store, CommandError> {
        let context = self.context;
        // A server outlives stores that are moved, removed or restored underneath it, and it outlives a full disk.
        self.stores.project.take_if(|store| store.was_moved() || store.is_read_only());
        if let Some(store) = &mut self.stores.project {
            // Anything that cannot be taken in now stays in the spool.
            let _ = store.take_in();
        } else {
            let owner = Owner::Project(context.shared.project.key.clone());
            let limits = context.shared.config.limits.clone();
            let mut store = Store::open_within(&context.project_folder(), owner, limits, self.patience)?;
            // There is no daemon, so every call does a part of the housekeeping. The answer does not depend on it.
            let _ = store.tidy(self.now);
            store.set_model(context.shared.model.get(&context.shared.config.embedding_model));
            let known = KnownProject {
                key: context.shared.project.key.0.clone(),
                root: foreign::path_text(&context.shared.project.root),
                folder: context.shared.project.folder_name(),
                used_at: self.now,
            };
            // Failing to update the list of projects must not fail the call: on a full disk or in a read-only folder,
            // this project can still be read.
            if let Ok(user) = self.user() {
                let _ = user.remember_project(&known);
            }
            moved::remember(&context.project_folder(), &context.shared.project);
            self.stores.project = Some(store);
        }
        self.stores.project.as_mut().ok_or_else(cancelled)
    }

    /// Returns the user's store.
    pub(crate) fn user(&mut self) -> Result<&mut Store, CommandError> {
        self.stores.user.take_if(|store| store.was_moved() || store.is_read_only());
        if self.stores.user.is_none() {
            let shared = &self.context.shared;
            let limits = shared.config.limits.clone();
            let mut store = Store::open_within(&self.context.user_folder(), Owner::User, limits, self.patience)?;
            store.set_model(shared.model.get(&shared.config.embedding_model));
            self.stores.user = Some(store);
        }
        self.stores.user.as_mut().ok_or_else(cancelled)
    }
}

impl Stores {
    fn interrupter(&mut self) -> impl Fn() + Send + use<> {
        let interrupts: Vec<_> =
            [&mut self.project, &mut self.user].into_iter().flatten().map(Store::interrupter).collect();
        move || interrupts.iter().for_each(|interrupt| interrupt())
    }
}

/// Locks the stores even after a panic: one failed call must not close them for all later ones.
fn lock(stores: &Mutex<Stores>) -> MutexGuard<'_, Stores> {
    stores.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Returns the error for a caller that gave up waiting.
pub(crate) fn cancelled() -> CommandError {
    CommandError::new(ErrorKind::Cancelled, "cancelled")
}
