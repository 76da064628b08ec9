//! Keeps single files searchable that nobody has asked to index, such as the rules and memories of clients.
//!
//! Invariants: a project without a store gets none; a file that has not changed costs a look at its size and time.

use std::cell::LazyCell;
use std::path::PathBuf;

use weir_context::permission;
use weir_context::{Context, LockedStores};
use weir_core::{Level, Scope};
use weir_host::error::CommandError;
use weir_policy::gate::Refusal;
use weir_store::Store;

use super::job::{IndexJob, is_as_it_was};
use super::report::IndexReport;
use super::{label, walk};

/// A file that is kept searchable.
pub struct NamedFile {
    pub path: PathBuf,
    /// The name under which it is found, if it is not in the project.
    pub label: Option<String>,
}

/// Files that are kept searchable.
#[derive(Default)]
pub struct NamedFiles {
    pub files: Vec<NamedFile>,
    /// The labels of folders of which `files` has every file.
    pub folders: Vec<String>,
}

/// Indexes those of some files that have changed, and removes those that no longer exist or may not be read.
pub fn refresh_named(
    context: &Context,
    open: &mut LockedStores<'_>,
    scope: &Scope,
    named: &NamedFiles,
) -> Result<(), CommandError> {
    let now = open.now;
    let Some(store) = open.existing(Level::Project)? else { return Ok(()) };
    let gate = LazyCell::new(|| permission::gate(context));
    for file in &named.files {
        let source = match &file.label {
            Some(label) => label.clone(),
            None => label::of(store, scope, &context.project().root, &file.path)?,
        };
        let source = Store::source_name(&source);
        let known = store.known_files(scope, &source)?.into_iter().find(|known| known.source == source);
        let found = walk::found(&file.path).ok().filter(|found| found.bytes > 0);
        let is_same =
            known.as_ref().zip(found.as_ref()).is_some_and(|(known, found)| is_as_it_was(&known.stamp, found));
        if is_same || (known.is_none() && found.is_none()) {
            continue;
        }
        // A client's notes about the project are beside its transcripts, which are hidden as a whole.
        let is_refused = match gate.refuses(&file.path) {
            Some(Refusal::Secret) => file.label.is_none(),
            refusal => refusal.is_some(),
        };
        let found = found.filter(|_| !is_refused);
        let mut report = IndexReport::of_one();
        let mut job = IndexJob::new(context, store, scope, now, &mut report);
        match (found, known) {
            (Some(found), _) => job.file(&source, found)?,
            (None, Some(known)) => job.drop(vec![known.source])?,
            (None, None) => {}
        }
    }
    let is_named = |source: &String| named.files.iter().any(|file| file.label.as_ref() == Some(source));
    for folder in &named.folders {
        let known = store.known_files(scope, &Store::source_name(folder))?;
        let gone: Vec<String> =
            known.into_iter().map(|known| known.source).filter(|source| !is_named(source)).collect();
        if !gone.is_empty() {
            IndexJob::new(context, store, scope, now, &mut IndexReport::of_one()).drop(gone)?;
        }
    }
    Ok(())
}
