//! The context of a call on a machine, in three parts: who asks ([`Session`]), where ([`Machine`]), and what is known
//! ([`Knowledge`]).
//!
//! A session has the face, the origin, the session's key, and the ways back to the caller: cancellation, progress and
//! consent. The machine has the environment, the folders, the project, its configuration and the runs in progress.
//! Knowledge has the stores of the project and of the user, and the model for search by meaning. Every operation gets a
//! [`Context`], or only a part of it.
//!
//! The crate also asks for permission ([`permission`]): it reads the user's rules, has `weir_policy::gate` decide, asks
//! the user where the verdict is *ask*, and words every refusal. It does not decide itself, and it knows no operation.
//!
//! # Invariants
//!
//! - A store is opened on first use, with the limits of the configuration. Its work runs off the async thread, and a
//!   cancelled call interrupts the statement that is running.
//! - Nothing acts on a project before [`permission`] has let it pass. Rules are read again for every call, so a change
//!   counts at once.
//! - Where a rule asks and nobody can be asked, the call is refused.
//! - No lock is held while a model works, and no call fails or waits because of it ([`embedding`]).
//! - An error of a store names the path of the file and what to do. [`LockedStores`] adds both, since the store itself
//!   knows no path.
//! - Notes of several calls are written together, and each call gets the result of its own (`keep_queue`).

pub mod active_runs;
pub mod embedding;
mod keep_queue;
mod knowledge;
mod machine;
pub mod permission;
mod session;
pub mod text;

use std::path::PathBuf;
use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use weir_core::{Origin, Scope, SessionKey};
use weir_host::config::Config;
use weir_host::consent::ConsentPrompt;
use weir_host::env::{Env, Paths};
use weir_host::error::{CommandError, ErrorKind};
use weir_host::face::{Face, Reader};
use weir_host::git::Head;
use weir_host::project::Project;

use crate::active_runs::ActiveRuns;
pub use knowledge::{Knowledge, LockedStores, strays};
pub use machine::Machine;
pub use session::{LiveOutput, Session, ToolCallWords, ToolCaller};

/// The context of a call that acts on this machine. Cheap to clone.
///
/// An operation that needs only what is known takes a context without a machine instead, which a server could
/// provide too.
#[derive(Clone)]
pub struct Context {
    session: Session,
    machine: Arc<Machine>,
    knowledge: Knowledge,
}

impl Context {
    /// Returns the context of a call made in this environment.
    pub fn new(env: &Env, face: Face) -> Result<Self, CommandError> {
        Machine::new(env).map(|machine| Self::on(machine, face))
    }

    /// Like [`Self::new`], but goes on with the defaults if the configuration cannot be used.
    pub fn despite_config(env: &Env, face: Face) -> Result<Self, CommandError> {
        Machine::despite_config(env).map(|machine| Self::on(machine, face))
    }

    fn on(machine: Machine, face: Face) -> Self {
        let session = machine.env.session.clone().map(|key| SessionKey { client: "shell".to_owned(), key });
        let knowledge = Knowledge::of_project(&machine);
        Self { session: Session::new(face, session), machine: Arc::new(machine), knowledge }
    }

    /// Returns the same caller's context in another project, to look through it.
    pub fn viewing(&self, project: Project) -> Self {
        let machine = self.machine.seen_from(project);
        let knowledge = Knowledge::of_viewed(&machine);
        Self { session: self.session.clone(), machine: Arc::new(machine), knowledge }
    }

    /// Returns the same context with a function that receives progress messages.
    pub fn with_progress(self, tell: fn(&str)) -> Self {
        Self { session: self.session.with_progress(tell), ..self }
    }

    /// Returns the same context with a place that shows the output of runs while they run, if there is one.
    pub fn with_live_output(self, live: Option<LiveOutput>) -> Self {
        Self { session: self.session.with_live_output(live), ..self }
    }

    /// Returns the same context, whose code may call tools of other MCP servers.
    pub fn with_tools(self, tools: ToolCaller) -> Self {
        Self { session: self.session.with_tools(tools), ..self }
    }

    /// Returns the place that shows the output of runs while they run. Only a person at a terminal has one.
    pub fn live_output(&self) -> Option<&LiveOutput> {
        self.session.live_output()
    }

    pub fn with_reader(self, reader: Reader) -> Self {
        Self { session: self.session.with_reader(reader), ..self }
    }

    pub fn is_for_person(&self) -> bool {
        self.session.reader == Reader::Person
    }

    pub fn in_session(self, key: Option<SessionKey>) -> Self {
        Self { session: self.session.in_session(key), ..self }
    }

    /// Returns the same context, at a work that the caller names, if any.
    pub fn in_work(self, work: Option<String>) -> Self {
        Self { session: self.session.in_work(work), ..self }
    }

    pub fn with_consent_prompt(self, ask: ConsentPrompt) -> Self {
        Self { session: self.session.with_consent_prompt(ask), ..self }
    }

    /// Returns the same context for one cancellable call, of a session if the caller named one.
    pub fn for_call(&self, key: Option<SessionKey>, cancel: CancellationToken) -> Self {
        Self { session: self.session.for_call(key, cancel), ..self.clone() }
    }

    /// Returns the same context with its own stores, so that other calls do not wait for them.
    pub fn with_own_stores(&self) -> Self {
        Self { knowledge: self.knowledge.with_own_stores(), ..self.clone() }
    }

    /// Returns the same context with its own stores, which are looked at and stay as they are.
    pub fn with_stores_as_is(&self) -> Self {
        Self { knowledge: self.knowledge.as_is(), ..self.clone() }
    }

    /// Returns the same context with its own stores, for calls among many: reading waits for no other call, and leaves
    /// indexing and housekeeping to others.
    pub fn with_prompt_searches(&self) -> Self {
        Self { knowledge: self.knowledge.with_prompt_searches(), ..self.clone() }
    }

    pub fn session(&self) -> &Session {
        &self.session
    }

    pub fn knowledge(&self) -> &Knowledge {
        &self.knowledge
    }

    /// Returns the face that the call came through.
    pub fn face(&self) -> Face {
        self.session.face
    }

    /// Returns the origin of the caller, and thus of the texts it passes.
    pub fn origin(&self) -> Origin {
        self.session.origin
    }

    /// Asks the user for consent. Without a way to ask, the answer is no; a text that cannot be shown completely is an
    /// error.
    pub async fn consent(&self, question: &str, about: &str) -> Result<bool, CommandError> {
        self.session.consent(question, about).await
    }

    /// Reports the progress of long work, if anything receives it.
    pub fn report_progress(&self, progress: &str) {
        self.session.report_progress(progress);
    }

    /// Returns the token that is cancelled when the caller gives up waiting.
    pub fn cancelled(&self) -> &CancellationToken {
        self.session.cancelled()
    }

    /// Returns the paths of Weir's data, configuration and cache.
    pub fn paths(&self) -> &Paths {
        &self.machine.paths
    }

    pub fn config(&self) -> &Config {
        &self.machine.config
    }

    /// Returns why the configuration cannot be used, if the call goes on with the defaults nevertheless.
    pub fn config_problem(&self) -> Option<&CommandError> {
        self.machine.config_problem.as_ref()
    }

    pub fn env(&self) -> &Env {
        &self.machine.env
    }

    pub fn running(&self) -> &ActiveRuns {
        &self.machine.running
    }

    pub fn project(&self) -> &Project {
        &self.machine.project
    }

    /// Returns what git has checked out at this moment.
    pub fn head(&self) -> Result<Head, CommandError> {
        self.machine.project.head().map_err(|error| unreadable_repository(&error))
    }

    /// Returns the scope of the call. The branch is read each time, since it may have changed since the last call.
    pub fn scope(&self) -> Scope {
        let work = self.session.work.clone().or_else(|| self.machine.work());
        self.knowledge.scope(work, &self.session)
    }

    pub fn project_stores(&self) -> PathBuf {
        self.machine.project_stores()
    }

    pub fn project_folder(&self) -> PathBuf {
        self.machine.project_folder()
    }

    pub fn user_folder(&self) -> PathBuf {
        self.machine.user_folder()
    }

    /// Runs work on the stores on the current thread, for callers that have a thread of their own.
    pub fn with_stores_here<T>(
        &self,
        work: impl FnOnce(&mut LockedStores<'_>) -> Result<T, CommandError>,
    ) -> Result<T, CommandError> {
        self.knowledge.with_stores_here(work)
    }

    /// Runs work on the stores, off the async thread. Cancelling the call interrupts the running statement.
    pub async fn with_stores<T, F>(&self, work: F) -> Result<T, CommandError>
    where
        T: Send + 'static,
        F: FnOnce(&mut LockedStores<'_>) -> Result<T, CommandError> + Send + 'static,
    {
        self.knowledge.with_stores(self.session.cancelled(), work).await
    }
}

/// Returns the error for a repository whose files cannot be read at the moment.
fn unreadable_repository(error: &std::io::Error) -> CommandError {
    CommandError::new(ErrorKind::Failed, error.to_string())
        .hint("nothing was stored, because it is not known what is checked out; make that file readable")
}

/// Returns the error for a caller that gave up waiting.
pub fn cancelled() -> CommandError {
    CommandError::new(ErrorKind::Cancelled, "cancelled")
}
