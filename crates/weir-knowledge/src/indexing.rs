//! Indexes texts, files and folders: stores them so that searches find them.
//!
//! Invariants: files that the user's rules deny or that are hidden as secrets are never opened; skipped files are
//! counted by reason; an unreadable file does not stop the indexing; memory does not grow with the amount of text.

mod ignored;
mod job;
mod label;
mod named;
mod read;
mod report;
mod walk;

use std::path::{Path, PathBuf};
use std::time::Instant;

use tokio_util::sync::CancellationToken;
use weir_context::permission;
use weir_context::{Context, LockedStores};
use weir_core::{EntryKind, Level, NewEntry, Scope};
use weir_host::answer::{Answer, one_line};
use weir_host::error::{CommandError, ErrorKind};
use weir_host::face::Face;
use weir_host::foreign;
use weir_policy::gate::Gate;
use weir_store::{NewFile, Stamp};

use job::IndexJob;
pub use job::SETTLE_NANOS;
pub use named::{NamedFile, NamedFiles, refresh_named};
pub use read::content as read_content;
pub use report::IndexData;
use report::IndexReport;
use walk::Globs;
pub use walk::{FolderListing, FoundFile};

pub struct IndexRequest {
    /// A file or a folder, with its links resolved.
    pub path: PathBuf,
    /// The name under which the texts can be found. Defaults to the path.
    pub label: Option<String>,
    /// Patterns of files to include. If empty, all files are included.
    pub include: Vec<String>,
    /// Patterns of files to exclude.
    pub exclude: Vec<String>,
}

pub async fn index(context: &Context, order: IndexRequest) -> Result<Answer<IndexData>, CommandError> {
    let scope = context.scope();
    // Indexing may take minutes, and other calls must not wait for it.
    let context = context.with_own_stores();
    let own = context.clone();
    let work = move |open: &mut LockedStores<'_>| {
        if order.path.is_dir() { folder(&own, open, &scope, &order) } else { file(&own, open, &scope, &order) }
    };
    let result = context.with_stores(work).await;
    context.report_progress("");
    result
}

fn folder(
    context: &Context,
    open: &mut LockedStores<'_>,
    scope: &Scope,
    order: &IndexRequest,
) -> Result<Answer<IndexData>, CommandError> {
    let (started, face) = (Instant::now(), context.face());
    let globs = Globs::read(&order.path, &order.include, &order.exclude)?;
    let gate = permission::gate(context);
    let mut report = IndexReport::default();
    let listing = walk::list(&order.path, &globs, &gate, context.cancelled(), &mut report)?;
    let now = open.now;
    let store = open.project()?;
    let label = match &order.label {
        Some(label) => label.clone(),
        None => label::of(store, scope, &context.project().root, &order.path)?,
    };
    let mut work = IndexJob::new(context, store, scope, now, &mut report);
    work.files(&label, listing, &globs)?;
    if order.label.is_none() && label == label::ROOT {
        work.forget_parts_of_the_root(&context.project().root)?;
    }
    report.took = started.elapsed();
    Ok(report.answer(&label, face))
}

fn file(
    context: &Context,
    open: &mut LockedStores<'_>,
    scope: &Scope,
    order: &IndexRequest,
) -> Result<Answer<IndexData>, CommandError> {
    let (started, face) = (Instant::now(), context.face());
    let gate = permission::gate(context);
    let shown = one_line(&order.path.display().to_string(), 200);
    if let Some(why) = gate.refuses(&order.path) {
        return Err(CommandError::new(ErrorKind::Denied, format!("cannot index {shown}: {}", why.as_str()))
            .hint("blocked by a user rule or because it holds secrets; do not work around this"));
    }
    let found = walk::found(&order.path).map_err(|error| cannot_read(&shown, &error.to_string()))?;
    let now = open.now;
    let store = open.project()?;
    let label = match &order.label {
        Some(label) => label.clone(),
        None => label::of(store, scope, &context.project().root, &order.path)?,
    };
    let mut report = IndexReport::of_one();
    IndexJob::new(context, store, scope, now, &mut report).file(&label, found)?;
    report.took = started.elapsed();
    if let Some(why) = report.only_reason() {
        return Err(CommandError::usage(format!("cannot index {shown}: {}", why.of_one())));
    }
    match report.failed.first() {
        Some(failed) => Err(cannot_read(&shown, &failed.why)),
        None => Ok(report.answer(&label, face)),
    }
}

/// Indexes a text. A labelled text replaces the earlier one with the same label.
pub async fn text(context: &Context, text: String, label: Option<String>) -> Result<Answer<IndexData>, CommandError> {
    let scope = context.scope();
    let mut lines = text.lines().map(|line| line.trim_start_matches(['#', ' ']).trim_end());
    let title = one_line(lines.find(|line| !line.is_empty()).unwrap_or_default(), 100);
    let entry = NewEntry {
        source: label,
        text: text.into_bytes(),
        ..NewEntry::new(EntryKind::Document, context.origin(), Level::Project, title)
    };
    let face = context.face();
    context.with_stores(move |open| keep_text(open, &scope, entry, face)).await
}

fn keep_text(
    open: &mut LockedStores<'_>,
    scope: &Scope,
    entry: NewEntry,
    face: Face,
) -> Result<Answer<IndexData>, CommandError> {
    let now = open.now;
    let store = open.project()?;
    let mut report = IndexReport::of_one();
    report.bytes = entry.text.len() as u64;
    let Some(label) = entry.source.clone() else {
        report.is_new(store.keep(scope, entry, now)?);
        return Ok(report.answer("", face));
    };
    let hash = blake3::hash(&entry.text).to_hex().to_string();
    let former = store.known_files(scope, &label)?.into_iter().find(|file| file.source == label);
    if let Some(same) = former.as_ref().filter(|former| former.stamp.hash == hash) {
        report.bytes = 0;
        report.is_unchanged(same.reference);
        return Ok(report.answer(&label, face));
    }
    let stamp = Stamp { bytes: report.bytes, modified: 0, hash };
    for kept in store.keep_files(scope, vec![NewFile { entry, stamp }], now)? {
        if former.is_some() { report.is_changed(kept) } else { report.is_new(kept) }
    }
    store.catch_up()?;
    Ok(report.answer(&label, face))
}

/// Lists the files of a folder that may be read, regardless of their content.
pub fn list_all(
    root: &Path,
    folder: &Path,
    gate: &Gate,
    cancel: &CancellationToken,
) -> Result<FolderListing, CommandError> {
    walk::list(root, &Globs::read(root, &[], &[])?.within(folder), gate, cancel, &mut IndexReport::default())
}

fn cannot_read(shown: &str, why: &str) -> CommandError {
    CommandError::new(ErrorKind::Failed, format!("cannot read {shown}: {why}"))
}

/// Returns a path relative to a folder, as sources write it. Different files have different paths.
pub fn below(root: &Path, path: &Path) -> Option<String> {
    path.strip_prefix(root).ok().map(foreign::path_text)
}
