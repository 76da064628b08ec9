//! What an operation needs, stated by the type of its context: what is known, or a machine too.
//!
//! Invariant: an operation on knowledge reaches the machine only through the methods here. Each has an answer for where
//! there is none, so the same operation could run on a server.

use std::sync::Arc;
use std::time::Duration;

use weir_context::{Context, Knowledge, LockedStores, Session};
use weir_core::note::BoundFile;
use weir_core::{Entry, Level, NewEntry, Origin, Reference, Scope};
use weir_embed::Embed;
use weir_host::error::CommandError;
use weir_host::face::{Face, Reader};
use weir_host::git::Head;
use weir_host::when;
use weir_knowledge::indexing::{NamedFiles, refresh_named};
use weir_knowledge::mapping::{self, FoundSymbol, SymbolQuery};
use weir_knowledge::moved;
use weir_knowledge::staleness::{self, Doubt};
use weir_run::background::{self, RunProgress, RunningCommand};
use weir_session::replay::places::{self, TranscriptLocation};
use weir_session::replay::prices::{self, Prices};
use weir_store::{Kept, KnownProject};

/// What an operation needs in order to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// What is known, which a server could have too.
    Knowledge,
    /// The machine of the project: its files, its programs, the user's settings.
    Machine,
}

impl Needs {
    /// Returns the name, as documents write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Knowledge => "knowledge",
            Self::Machine => "machine",
        }
    }
}

/// The context of an operation on what is known: who asks, from which scope, and the stores. Cheap to clone.
#[derive(Clone)]
pub struct KnowledgeContext {
    session: Session,
    scope: Scope,
    knowledge: Knowledge,
    /// The machine that the project is on, if the call is made there.
    local: Option<Context>,
}

impl KnowledgeContext {
    /// Returns the part of a call's context that is about knowledge.
    pub fn of(context: &Context) -> Self {
        Self {
            session: context.session().clone(),
            scope: context.scope(),
            knowledge: context.knowledge().clone(),
            local: Some(context.clone()),
        }
    }

    /// Returns the context of a call on a server, with its stores in a folder.
    #[cfg(test)]
    pub fn without_machine(folder: &std::path::Path, face: Face) -> Self {
        let session = Session::new(face, None);
        let knowledge = Knowledge::without_machine(folder);
        Self { scope: knowledge.scope(None, &session), session, knowledge, local: None }
    }

    /// Returns the face that the call came through.
    pub fn face(&self) -> Face {
        self.session.face
    }

    pub fn is_for_person(&self) -> bool {
        self.session.reader == Reader::Person
    }

    /// Returns the origin of the caller, and thus of the texts it passes.
    pub fn origin(&self) -> Origin {
        self.session.origin
    }

    pub fn scope(&self) -> Scope {
        self.scope.clone()
    }

    /// Returns the model for search by meaning, if there is one. Loading it may take a while the first time.
    pub fn model(&self) -> Option<Arc<dyn Embed>> {
        self.knowledge.model()
    }

    /// Returns the project of the call, as the user's list of projects has it.
    pub fn own_project(&self) -> KnownProject {
        match &self.local {
            Some(local) => local.project().as_known(when::now()),
            None => KnownProject {
                key: self.scope.project.0.clone(),
                root: String::new(),
                folder: String::new(),
                used_at: when::now(),
                identity: None,
            },
        }
    }

    /// Returns the context of a call on what is known about another project of this user. The call belongs to no work
    /// and no session there.
    pub fn of_known(&self, project: &KnownProject) -> Result<Self, CommandError> {
        let knowledge = self.knowledge.of_known(project)?;
        let session = Session::new(self.session.face, None);
        Ok(Self { scope: knowledge.scope(None, &session), session: self.session.clone(), knowledge, local: None })
    }

    /// Returns why search by meaning does not work, if it is configured but does not.
    pub fn model_problem(&self) -> Option<&str> {
        self.knowledge.model_problem()
    }

    /// Runs work on the stores, off the async thread. Cancelling the call interrupts the running statement.
    pub async fn with_stores<T, F>(&self, work: F) -> Result<T, CommandError>
    where
        T: Send + 'static,
        F: FnOnce(&mut LockedStores<'_>) -> Result<T, CommandError> + Send + 'static,
    {
        self.knowledge.with_stores(self.session.cancelled(), work).await
    }

    pub async fn keep(&self, entry: NewEntry) -> Result<Kept, CommandError> {
        self.knowledge.keep(self.scope(), entry, self.session.cancelled()).await
    }

    /// Returns the doubts about each entry, in the order of the entries. Without the project's files there are none.
    pub async fn doubts(&self, entries: &[&Entry], patience: Duration) -> Vec<Vec<Doubt>> {
        match &self.local {
            Some(local) => staleness::labels(local, entries, patience).await,
            None => vec![Vec::new(); entries.len()],
        }
    }

    /// Returns the symbols of the project that a query may mean, best first. Without the project's files there are
    /// none.
    pub fn symbols(
        &self,
        open: &mut LockedStores<'_>,
        wanted: &SymbolQuery<'_>,
    ) -> Result<Vec<FoundSymbol>, CommandError> {
        match (&self.local, open.existing(Level::Project)?) {
            (Some(local), Some(store)) => mapping::find_symbols(local, store, &self.scope, wanted),
            _ => Ok(Vec::new()),
        }
    }

    /// Makes files of this machine searchable as they are now. Without a machine there are none.
    pub async fn refresh_named(&self, places: fn(&Context) -> NamedFiles) -> Result<(), CommandError> {
        let Some(local) = self.local.clone() else { return Ok(()) };
        let scope = self.scope();
        self.with_stores(move |open| refresh_named(&local, open, &scope, &places(&local))).await
    }

    /// Returns a hint for an empty store if the project may have been moved on this machine.
    pub fn moved_hint(&self, open: &mut LockedStores<'_>) -> Option<String> {
        moved::hint(self.local.as_ref()?, open)
    }

    /// Returns what git has checked out at this moment, as far as that is known here.
    pub fn head(&self) -> Result<Head, CommandError> {
        self.local.as_ref().map_or_else(|| Ok(Head::default()), Context::head)
    }

    /// Binds a note to files of the project as they are now. Returns those that are bound, and why others are not.
    pub fn bind(&self, level: Level, paths: &[String]) -> (Vec<BoundFile>, Vec<String>) {
        match &self.local {
            Some(local) => staleness::bind(&local.project().root, level, paths),
            None => {
                let unknown = paths.iter().map(|path| format!("{path}: the project's files are not here"));
                (Vec::new(), unknown.collect())
            }
        }
    }

    pub fn runs_in_progress(&self) -> Vec<RunningCommand> {
        self.local.as_ref().map(background::running).unwrap_or_default()
    }

    pub fn run_in_progress(&self, reference: Reference) -> Result<Option<RunProgress>, CommandError> {
        match &self.local {
            Some(local) => background::find(local, reference),
            None => Ok(None),
        }
    }

    /// Returns the transcripts that clients keep on this machine, and the prices that the user pays. Returns `None` if
    /// there is no machine to look at.
    pub fn transcripts(&self) -> Result<Option<(Vec<TranscriptLocation>, Prices)>, CommandError> {
        let Some(local) = &self.local else { return Ok(None) };
        let prices = Prices::read(prices::user_file(local.paths()).as_deref())?;
        Ok(Some((places::find(local.env(), &[])?.found, prices)))
    }
}
