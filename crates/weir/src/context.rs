//! What a call has at hand: the project it is made in, its scope, and the stores. Invariant: stores are opened when
//! first used and work off the async thread.

use std::path::PathBuf;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio_util::sync::CancellationToken;
use weir_core::{Level, Origin, Scope, SessionKey, Timestamp};
use weir_store::{KnownProject, Owner, Patience, Store};

use crate::config::{self, Config};
use crate::consent;
use crate::env::{Env, Paths};
use crate::error::{CommandError, ErrorKind};
use crate::foreign;
use crate::git::Head;
use crate::meaning::Model;
use crate::moved;
use crate::project::Project;
use crate::run::Running;
use crate::when;

/// What a call has at hand. Cloning it is cheap.
#[derive(Clone)]
pub(crate) struct Context {
    shared: Arc<Shared>,
    /// Who is calling: words it gives us are of this origin.
    pub origin: Origin,
    session: Option<SessionKey>,
    cancel: CancellationToken,
    tell: fn(&str),
    ask: Ask,
}

/// How the user is asked for consent: a question and what it is about, and whether the answer was yes. Without one,
/// the answer is no.
pub(crate) type Ask = Option<Arc<dyn Fn(String, String) -> Asked + Send + Sync>>;

/// An answer to come.
pub(crate) type Asked = Pin<Box<dyn Future<Output = bool> + Send>>;

struct Shared {
    env: Env,
    paths: Paths,
    project: Project,
    config: Config,
    stores: Mutex<Stores>,
    model: Model,
    running: Running,
}

impl Shared {
    /// With nothing opened and nothing running.
    fn new(env: Env, paths: Paths, project: Project, config: Config) -> Self {
        let (stores, model, running) = (Mutex::default(), Model::default(), Running::default());
        Self { env, paths, project, config, stores, model, running }
    }
}

/// The stores a call may use.
#[derive(Default)]
pub(crate) struct Stores {
    project: Option<Store>,
    user: Option<Store>,
}

impl Context {
    /// The context of a call made in this environment.
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
        let shared = Shared::new(env.clone(), paths, project, config);
        Ok(Self {
            shared: Arc::new(shared),
            origin,
            session,
            cancel: CancellationToken::new(),
            tell: |_| (),
            ask: None,
        })
    }

    /// The same context with someone to tell how long work goes on.
    pub(crate) fn telling(self, tell: fn(&str)) -> Self {
        Self { tell, ..self }
    }

    /// Tells how long work goes on, where someone listens.
    pub(crate) fn tell(&self, progress: &str) {
        (self.tell)(progress);
    }

    /// The same context in a session.
    pub(crate) fn in_session(self, session: Option<SessionKey>) -> Self {
        Self { session, ..self }
    }

    /// The same context with someone who can be asked.
    pub(crate) fn asking(self, ask: Ask) -> Self {
        Self { ask, ..self }
    }

    /// Asks the user for consent, where there is a way to. What cannot be shown whole is an error.
    pub(crate) async fn consent(&self, question: &str, about: &str) -> Result<bool, CommandError> {
        match &self.ask {
            Some(ask) => Ok(ask(consent::visible(question), consent::shown(about)?).await),
            None => Ok(false),
        }
    }

    /// The same context for one call of a session that may be cancelled.
    pub(crate) fn for_call(&self, session: SessionKey, cancel: CancellationToken) -> Self {
        Self { session: Some(session), cancel, ..self.clone() }
    }

    /// The same context with stores that nobody else waits for.
    pub(crate) fn with_stores_of_its_own(&self) -> Self {
        let Shared { env, paths, project, config, .. } = &*self.shared;
        let shared = Shared::new(env.clone(), paths.clone(), project.clone(), config.clone());
        Self { shared: Arc::new(shared), ..self.clone() }
    }

    /// Why search by meaning does not work, if it should and does not.
    pub(crate) fn model_problem(&self) -> Option<&str> {
        self.shared.model.problem(&self.shared.config.meaning)
    }

    /// The model that finds by meaning, if there is one.
    pub(crate) fn model_name(&self) -> Option<String> {
        self.shared.model.get(&self.shared.config.meaning).map(|model| model.name().to_owned())
    }

    /// Where things lie.
    pub(crate) fn paths(&self) -> &Paths {
        &self.shared.paths
    }

    /// What the user configured.
    pub(crate) fn config(&self) -> &Config {
        &self.shared.config
    }

    /// What was read of the environment.
    pub(crate) fn env(&self) -> &Env {
        &self.shared.env
    }

    /// The runs that are under way.
    pub(crate) fn running(&self) -> &Running {
        &self.shared.running
    }

    /// Done when the caller gives up waiting.
    pub(crate) fn cancelled(&self) -> &CancellationToken {
        &self.cancel
    }

    /// The project the call is made in.
    pub(crate) fn project(&self) -> &Project {
        &self.shared.project
    }

    /// What git has checked out at this moment.
    pub(crate) fn head(&self) -> Head {
        self.shared.project.head()
    }

    /// Where the call stands. The branch is read anew, since it may have changed since the last call.
    pub(crate) fn scope(&self) -> Scope {
        let work = self.shared.env.work.clone().or_else(|| self.head().branch);
        Scope { project: self.shared.project.key.clone(), work, session: self.session.clone() }
    }

    /// The folder of the project's store.
    pub(crate) fn project_folder(&self) -> PathBuf {
        self.shared.paths.data.join("projects").join(self.shared.project.folder_name())
    }

    /// What to say of an empty store: that the project may have been elsewhere before.
    pub(crate) fn moved_hint(&self, open: &mut Open<'_>) -> Option<String> {
        moved::hint(open, &self.shared.project, &self.shared.paths.data.join("projects"))
    }

    /// The folder of the user's store.
    pub(crate) fn user_folder(&self) -> PathBuf {
        self.shared.paths.data.join("user")
    }

    /// Runs work on the stores on this thread, for those that have one of their own.
    pub(crate) fn with_stores_here<T>(
        &self,
        work: impl FnOnce(&mut Open<'_>) -> Result<T, CommandError>,
    ) -> Result<T, CommandError> {
        let mut stores = lock(&self.shared.stores);
        work(&mut Open { context: self, stores: &mut stores, now: when::now(), patience: Patience::default() })
    }

    /// Runs work on the stores, off the async thread. Cancelling the call ends the statement that runs.
    pub(crate) async fn with_stores<T, F>(&self, work: F) -> Result<T, CommandError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Open<'_>) -> Result<T, CommandError> + Send + 'static,
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
            let mut open = Open { context: &context, stores: &mut stores, now: when::now(), patience };
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
pub(crate) struct Open<'a> {
    context: &'a Context,
    stores: &'a mut Stores,
    /// The time the work began.
    pub now: Timestamp,
    patience: Patience,
}

impl Open<'_> {
    /// The store that holds entries of this level.
    pub(crate) fn store(&mut self, level: Level) -> Result<&mut Store, CommandError> {
        match level {
            Level::User => self.user(),
            Level::Session | Level::Work | Level::Project => self.project(),
        }
    }

    /// Sets how long writes wait for other processes, for stores that are open and those that will be.
    pub(crate) fn set_patience(&mut self, patience: Patience) -> Result<(), CommandError> {
        self.patience = patience;
        let Stores { project, user } = &mut *self.stores;
        project.iter_mut().chain(user).try_for_each(|store| store.set_patience(patience))?;
        Ok(())
    }

    /// The project's store. What hooks had to leave beside it is taken in first.
    pub(crate) fn project(&mut self) -> Result<&mut Store, CommandError> {
        let context = self.context;
        // A server lives longer than a store that is moved, removed or restored under it, and longer than a full disk.
        self.stores.project.take_if(|store| store.was_moved() || store.is_read_only());
        if let Some(store) = &mut self.stores.project {
            // What cannot be taken in now waits on.
            let _ = store.take_in();
        } else {
            let owner = Owner::Project(context.shared.project.key.clone());
            let limits = context.shared.config.limits.clone();
            let mut store = Store::open_within(&context.project_folder(), owner, limits, self.patience)?;
            // Every call does a part of the housekeeping, since there is no daemon. An answer does not depend on it.
            let _ = store.tidy(self.now);
            store.set_model(context.shared.model.get(&context.shared.config.meaning));
            let known = KnownProject {
                key: context.shared.project.key.0.clone(),
                root: foreign::text(&context.shared.project.root),
                folder: context.shared.project.folder_name(),
                used_at: self.now,
            };
            // The list of projects is not worth failing for: on a full disk or in a read-only folder, this one can still be read.
            if let Ok(user) = self.user() {
                let _ = user.remember_project(&known);
            }
            moved::remember(&context.project_folder(), &context.shared.project);
            self.stores.project = Some(store);
        }
        self.stores.project.as_mut().ok_or_else(cancelled)
    }

    /// The user's store.
    pub(crate) fn user(&mut self) -> Result<&mut Store, CommandError> {
        self.stores.user.take_if(|store| store.was_moved() || store.is_read_only());
        if self.stores.user.is_none() {
            let shared = &self.context.shared;
            let limits = shared.config.limits.clone();
            let mut store = Store::open_within(&self.context.user_folder(), Owner::User, limits, self.patience)?;
            store.set_model(shared.model.get(&shared.config.meaning));
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

/// A panic in one call must not close the stores for all later ones.
fn lock(stores: &Mutex<Stores>) -> MutexGuard<'_, Stores> {
    stores.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// The caller gave up waiting.
pub(crate) fn cancelled() -> CommandError {
    CommandError::new(ErrorKind::Cancelled, "cancelled")
}
