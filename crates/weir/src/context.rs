//! What a call has at hand: the project it is made in, its scope, and the stores. Invariant: stores are opened when
//! first used and work off the async thread.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use tokio_util::sync::CancellationToken;
use weir_core::{Level, Limits, Origin, Scope, SessionKey, Timestamp};
use weir_store::{KnownProject, Owner, Store};

use crate::env::{Env, Paths};
use crate::error::{CommandError, ErrorKind};
use crate::git::Head;
use crate::project::Project;
use crate::{config, when};

/// What a call has at hand. Cloning it is cheap.
#[derive(Clone)]
pub(crate) struct Context {
    shared: Arc<Shared>,
    /// Who is calling: words it gives us are of this origin.
    pub origin: Origin,
    session: Option<SessionKey>,
    cancel: CancellationToken,
    tell: fn(&str),
}

struct Shared {
    paths: Paths,
    project: Project,
    limits: Limits,
    work: Option<String>,
    stores: Mutex<Stores>,
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
            CommandError::new(ErrorKind::Config, "there is no home folder")
                .hint("set HOME, or set WEIR_DATA to a folder of yours")
        })?;
        let project = Project::discover(&env.folder).map_err(|error| {
            CommandError::new(ErrorKind::Failed, format!("cannot use {}: {error}", env.folder.display()))
        })?;
        let limits = config::read_limits(&paths.config)?;
        let session = env.session.clone().map(|key| SessionKey { client: "shell".to_owned(), key });
        let work = env.work.clone();
        let shared = Shared { paths, project, limits, work, stores: Mutex::default() };
        Ok(Self { shared: Arc::new(shared), origin, session, cancel: CancellationToken::new(), tell: |_| () })
    }

    /// The same context with someone to tell how long work goes on.
    pub(crate) fn telling(self, tell: fn(&str)) -> Self {
        Self { tell, ..self }
    }

    /// Tells how long work goes on, where someone listens.
    pub(crate) fn tell(&self, progress: &str) {
        (self.tell)(progress);
    }

    /// The same context for one call of a session that may be cancelled.
    pub(crate) fn for_call(&self, session: SessionKey, cancel: CancellationToken) -> Self {
        Self { session: Some(session), cancel, ..self.clone() }
    }

    /// Where things lie.
    pub(crate) fn paths(&self) -> &Paths {
        &self.shared.paths
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
        let work = self.shared.work.clone().or_else(|| self.head().branch);
        Scope { project: self.shared.project.key.clone(), work, session: self.session.clone() }
    }

    /// The folder of the project's store.
    pub(crate) fn project_folder(&self) -> PathBuf {
        self.shared.paths.data.join("projects").join(self.shared.project.folder_name())
    }

    /// The folder of the user's store.
    pub(crate) fn user_folder(&self) -> PathBuf {
        self.shared.paths.data.join("user")
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
            let mut open = Open { context: &context, stores: &mut stores, now: when::now() };
            let result = work(&mut open);
            watch.abort();
            result
        });
        match task.await {
            Ok(result) => result,
            Err(error) => Err(CommandError::new(ErrorKind::Failed, format!("the call broke off: {error}"))
                .hint("this is a fault in weir; `weir doctor` may show more")),
        }
    }
}

/// The stores, locked for one piece of work.
pub(crate) struct Open<'a> {
    context: &'a Context,
    stores: &'a mut Stores,
    /// The time the work began.
    pub now: Timestamp,
}

impl Open<'_> {
    /// The store that holds entries of this level.
    pub(crate) fn store(&mut self, level: Level) -> Result<&mut Store, CommandError> {
        match level {
            Level::User => self.user(),
            Level::Session | Level::Work | Level::Project => self.project(),
        }
    }

    /// The project's store.
    pub(crate) fn project(&mut self) -> Result<&mut Store, CommandError> {
        let context = self.context;
        if self.stores.project.is_none() {
            let owner = Owner::Project(context.shared.project.key.clone());
            let mut store = Store::open(&context.project_folder(), owner, context.shared.limits.clone())?;
            // Whoever comes by sweeps, since there is no daemon that would. An answer never waits for it to succeed.
            let _ = store.remove_expired(self.now);
            let known = KnownProject {
                key: context.shared.project.key.0.clone(),
                root: context.shared.project.root.display().to_string(),
                folder: context.shared.project.folder_name(),
                used_at: self.now,
            };
            self.user()?.remember_project(&known)?;
            self.stores.project = Some(store);
        }
        self.stores.project.as_mut().ok_or_else(cancelled)
    }

    /// The user's store.
    pub(crate) fn user(&mut self) -> Result<&mut Store, CommandError> {
        if self.stores.user.is_none() {
            let store = Store::open(&self.context.user_folder(), Owner::User, self.context.shared.limits.clone())?;
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

fn cancelled() -> CommandError {
    CommandError::new(ErrorKind::Cancelled, "cancelled")
}
