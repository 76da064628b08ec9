//! Stores files: only those that changed, in batches, and removes those that no longer exist.
//!
//! Invariant: a batch is one transaction of bounded size, and a cancelled call ends between two batches.

use std::collections::HashMap;
use std::path::Path;
use std::time::{Duration, Instant};

use weir_context::embedding::embed_some;
use weir_context::{Context, cancelled};
use weir_core::{EntryKind, Level, NewEntry, Origin, Scope, Timestamp};
use weir_host::answer::size;
use weir_host::error::CommandError;
use weir_host::foreign;
use weir_store::{KnownFile, NewFile, Stamp, Store};

use super::label::ROOT;
use super::read::{self, Content, ReadError};
use super::report::{IndexReport, SkipReason};
use super::walk::{FolderListing, FoundFile, Globs};

/// The size of a batch, in bytes of text and in files.
const BATCH_BYTES: usize = 4 << 20;
const BATCH_FILES: usize = 500;
/// A file changed less than this many nanoseconds ago could change again without its time showing it.
pub const SETTLE_NANOS: i64 = 2_000_000_000;
/// How many chunks are embedded at once.
const EMBED_BATCH: usize = 2_048;
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);

/// The work on one label.
pub(super) struct IndexJob<'a> {
    context: &'a Context,
    store: &'a mut Store,
    scope: &'a Scope,
    now: Timestamp,
    report: &'a mut IndexReport,
    batch: Vec<(NewFile, bool)>,
    batch_bytes: usize,
    restamped: Vec<(String, Stamp)>,
    /// Known files that no longer exist.
    gone: Vec<String>,
}

impl<'a> IndexJob<'a> {
    pub(super) fn new(
        context: &'a Context,
        store: &'a mut Store,
        scope: &'a Scope,
        now: Timestamp,
        report: &'a mut IndexReport,
    ) -> Self {
        let (batch, restamped, gone) = (Vec::new(), Vec::new(), Vec::new());
        Self { context, store, scope, now, report, batch, batch_bytes: 0, restamped, gone }
    }

    pub(super) fn files(&mut self, label: &str, listing: FolderListing, globs: &Globs) -> Result<(), CommandError> {
        let label = Store::source_name(label);
        let known = self.store.known_files(self.scope, &label)?;
        let mut known: HashMap<String, KnownFile> = known.into_iter().map(|file| (file.source.clone(), file)).collect();
        let mut waiting = Vec::new();
        for found in listing.files {
            let mut source = format!("{label}/{}", found.below);
            let mut former = known.remove(&source);
            if former.is_none() {
                source = Store::source_name(&source);
                former = known.remove(&source);
            }
            match former {
                Some(file) if is_as_it_was(&file.stamp, &found) => self.report.is_unchanged(file.reference),
                former => waiting.push((source, found, former)),
            }
        }
        let mut progress = Progress::new(self.context, &waiting);
        for (source, found, former) in waiting {
            self.go_on()?;
            progress.report(&found);
            self.take(source, &found, former)?;
        }
        let is_unknown = |below: &str| {
            let within =
                |folder: &String| folder.is_empty() || below == folder || below.starts_with(&format!("{folder}/"));
            listing.unknown.iter().any(within)
        };
        let below = |source: &str| source.strip_prefix(&label).map(|rest| rest.trim_start_matches('/').to_owned());
        let gone = known.into_keys().filter(|source| {
            below(source).is_some_and(|below| !below.is_empty() && !is_unknown(&below) && globs.want(&below))
        });
        self.gone.extend(gone);
        self.finish()
    }

    pub(super) fn file(&mut self, source: &str, found: FoundFile) -> Result<(), CommandError> {
        let source = Store::source_name(source);
        let former = self.store.known_files(self.scope, &source)?.into_iter().find(|file| file.source == source);
        match former {
            Some(file) if is_as_it_was(&file.stamp, &found) => self.report.is_unchanged(file.reference),
            former => self.take(source, &found, former)?,
        }
        self.finish()
    }

    /// Removes files that are not to be found any more.
    pub(super) fn drop(&mut self, sources: Vec<String>) -> Result<(), CommandError> {
        self.gone.extend(sources);
        self.finish()
    }

    /// Removes what was indexed under the names of folders and files in the root, before the root itself was.
    pub(super) fn forget_parts_of_the_root(&mut self, root: &Path) -> Result<(), CommandError> {
        for entry in root.read_dir().into_iter().flatten().flatten() {
            let name = foreign::path_text(Path::new(&entry.file_name()));
            let known = self.store.known_files(self.scope, &name)?;
            // A label that someone chose may equal the name of a folder, but not that of every file below it.
            let has_both = |source: &String| root.join(source).is_file() && self.has(&format!("{ROOT}/{source}"));
            let twice: Vec<String> = known.into_iter().map(|file| file.source).filter(has_both).collect();
            self.gone.extend(twice);
        }
        let before = self.report.removed;
        self.drop_gone()?;
        // These files are not removed; they have another name.
        self.report.removed = before;
        self.store.catch_up()?;
        Ok(())
    }

    fn has(&self, source: &str) -> bool {
        self.store.known_files(self.scope, source).is_ok_and(|files| !files.is_empty())
    }

    fn take(&mut self, source: String, found: &FoundFile, former: Option<KnownFile>) -> Result<(), CommandError> {
        let Content { bytes, modified, hash } = match read::content(&found.path) {
            Ok(content) => content,
            Err(ReadError::Skipped(why)) => {
                self.skip(why, former);
                return Ok(());
            }
            // The file may be readable again later, so its entry stays.
            Err(ReadError::Failed(error)) => {
                let name = if found.below.is_empty() { &source } else { &found.below };
                self.report.fail(name, error.kind().to_string());
                return Ok(());
            }
        };
        let is_settled = modified < self.now.0.saturating_mul(1_000_000).saturating_sub(SETTLE_NANOS);
        let stamp = Stamp { bytes: bytes.len() as u64, modified: if is_settled { modified } else { 0 }, hash };
        if let Some(former) = former.as_ref().filter(|former| former.stamp.hash == stamp.hash) {
            self.report.is_unchanged(former.reference);
            self.restamped.push((source, stamp));
            return Ok(());
        }
        let text = match read::text(&found.path, bytes) {
            Ok(text) => text,
            Err(why) => {
                self.skip(why, former);
                return Ok(());
            }
        };
        self.report.bytes += stamp.bytes;
        self.batch_bytes += text.text.len();
        let title = text.title.unwrap_or_else(|| source.clone());
        let entry = NewEntry {
            source: Some(source),
            text: text.text,
            ..NewEntry::new(EntryKind::Document, Origin::Tool, Level::Project, title)
        };
        self.batch.push((NewFile { entry, stamp }, former.is_some()));
        if self.batch_bytes >= BATCH_BYTES || self.batch.len() >= BATCH_FILES {
            self.keep_batch()?;
        }
        Ok(())
    }

    /// Skips a file, and removes its earlier entry.
    fn skip(&mut self, why: SkipReason, former: Option<KnownFile>) {
        self.report.skip(why);
        self.gone.extend(former.map(|former| former.source));
    }

    fn finish(&mut self) -> Result<(), CommandError> {
        self.keep_batch()?;
        if !self.restamped.is_empty() {
            self.store.restamp_files(&std::mem::take(&mut self.restamped))?;
        }
        if !self.gone.is_empty() {
            self.drop_gone()?;
            self.store.catch_up()?;
        }
        self.embed()
    }

    /// Embeds the chunks now if that is quick, or if a person sees the progress. Otherwise, the server does it when
    /// idle.
    fn embed(&mut self) -> Result<(), CommandError> {
        let Some(model) = self.context.knowledge().model() else { return Ok(()) };
        while model.is_quick() || self.context.face().is_person() {
            self.go_on()?;
            match embed_some(self.store, model.as_ref(), EMBED_BATCH)? {
                0 => break,
                left => self.context.report_progress(&format!("{left} chunks to embed")),
            }
        }
        Ok(())
    }

    fn drop_gone(&mut self) -> Result<(), CommandError> {
        for gone in std::mem::take(&mut self.gone).chunks(BATCH_FILES) {
            self.report.removed += self.store.drop_files(self.scope, gone, self.now)?;
        }
        Ok(())
    }

    fn go_on(&self) -> Result<(), CommandError> {
        if self.context.cancelled().is_cancelled() { Err(cancelled()) } else { Ok(()) }
    }

    fn keep_batch(&mut self) -> Result<(), CommandError> {
        self.go_on()?;
        if self.batch.is_empty() {
            return Ok(());
        }
        self.batch_bytes = 0;
        let (files, known): (Vec<_>, Vec<_>) = std::mem::take(&mut self.batch).into_iter().unzip();
        let kept = self.store.keep_files(self.scope, files, self.now)?;
        for (kept, was_known) in kept.into_iter().zip(known) {
            if was_known { self.report.is_changed(kept) } else { self.report.is_new(kept) }
        }
        self.store.catch_up()?;
        Ok(())
    }
}

pub(super) fn is_as_it_was(stamp: &Stamp, found: &FoundFile) -> bool {
    stamp.bytes == found.bytes && stamp.modified == found.modified
}

/// The progress, for a caller that waits.
struct Progress<'a> {
    context: &'a Context,
    started: Instant,
    told: Instant,
    files: usize,
    bytes: u64,
    all_files: usize,
    all_bytes: u64,
}

impl<'a> Progress<'a> {
    fn new(context: &'a Context, waiting: &[(String, FoundFile, Option<KnownFile>)]) -> Self {
        let (all_files, all_bytes) = (waiting.len(), waiting.iter().map(|(_, found, _)| found.bytes).sum());
        let now = Instant::now();
        Self { context, started: now, told: now, files: 0, bytes: 0, all_files, all_bytes }
    }

    /// Reports how much was done before this file.
    fn report(&mut self, next: &FoundFile) {
        if self.told.elapsed() >= PROGRESS_INTERVAL {
            self.told = Instant::now();
            let seconds = self.started.elapsed().as_secs_f64().max(0.001);
            let rate = self.bytes as f64 / seconds;
            let left = (self.all_bytes.saturating_sub(self.bytes)) as f64 / rate.max(1.0);
            self.context.report_progress(&format!(
                "{} of {} files, {} of {}, {}/s, {left:.0} s left",
                self.files,
                self.all_files,
                size(self.bytes),
                size(self.all_bytes),
                size(rate as u64),
            ));
        }
        self.files += 1;
        self.bytes += next.bytes;
    }
}
