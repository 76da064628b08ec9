//! The projects that have a store, each with its contexts. Invariant: looking through a project makes no store, and
//! does not count as a use of the project.

use std::collections::HashMap;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::{CancellationToken, DropGuard};
use weir_context::Context;
use weir_core::SessionKey;
use weir_host::error::CommandError;
use weir_host::project::Project;
use weir_pages::ProjectLink;
use weir_serve::calls::{CallContext, Calls};
use weir_store::KnownProject;

pub(super) struct KnownProjects {
    /// Contexts for what belongs to no project. Only the user's store is opened with them.
    base: Calls,
    viewed: Mutex<HashMap<String, Arc<ViewedProject>>>,
}

/// A project that can be looked through.
pub(super) struct ViewedProject {
    /// The project as the user's list has it. The name of its store's folder identifies it in addresses.
    pub(super) known: KnownProject,
    pub(super) name: String,
    calls: Calls,
}

/// The context of one visit. Leaving the page early ends what it waits for.
pub(super) struct Visit {
    call: CallContext,
    _end: DropGuard,
}

impl KnownProjects {
    pub(super) fn new(context: &Context) -> Self {
        Self { base: Calls::new(context), viewed: Mutex::default() }
    }

    /// Returns the context of a visit that belongs to no project.
    pub(super) async fn visit(&self) -> Visit {
        visit(&self.base).await
    }

    /// Returns the projects that have a store, the one that was used last first.
    pub(super) async fn all(&self) -> Result<Vec<Arc<ViewedProject>>, CommandError> {
        let visit = self.visit().await;
        let mut known = visit.with_stores(|open| Ok(open.user()?.projects()?)).await?;
        let stores = self.base.base().project_stores();
        known.retain(|project| stores.join(&project.folder).join("log.db").exists());
        known.sort_by(|one, other| other.used_at.cmp(&one.used_at).then_with(|| one.key.cmp(&other.key)));
        let mut viewed = self.viewed.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(known.into_iter().map(|known| self.view(&mut viewed, known)).collect())
    }

    fn view(&self, viewed: &mut HashMap<String, Arc<ViewedProject>>, known: KnownProject) -> Arc<ViewedProject> {
        let is_same = |project: &&Arc<ViewedProject>| project.known == known;
        if let Some(project) = viewed.get(&known.folder).filter(is_same) {
            return Arc::clone(project);
        }
        let context = self.base.base().viewing(Project::of_known(&known)).with_prompt_searches();
        let name = Path::new(&known.root).file_name().map_or(known.root.as_str().into(), |name| name.to_string_lossy());
        let (name, calls) = (name.into_owned(), Calls::new(&context));
        let project = Arc::new(ViewedProject { name, calls, known });
        viewed.insert(project.known.folder.clone(), Arc::clone(&project));
        project
    }
}

impl ViewedProject {
    /// Returns the name of the folder of its store, which identifies it in addresses.
    pub(super) fn address_key(&self) -> &str {
        &self.known.folder
    }

    pub(super) fn root(&self) -> PathBuf {
        PathBuf::from(&self.known.root)
    }

    pub(super) fn link(&self) -> ProjectLink {
        ProjectLink { key: self.address_key().into(), name: self.name.as_str().into() }
    }

    pub(super) async fn visit(&self) -> Visit {
        visit(&self.calls).await
    }
}

impl Deref for Visit {
    type Target = Context;

    fn deref(&self) -> &Context {
        &self.call
    }
}

async fn visit(calls: &Calls) -> Visit {
    let cancel = CancellationToken::new();
    let end = cancel.clone().drop_guard();
    Visit { call: calls.context(Option::<SessionKey>::None, cancel).await, _end: end }
}
