//! Brings the map of a folder up to date with a single walk, reading only files that look changed.
//!
//! Invariants: memory is bounded by a few files and one batch; a batch is one transaction; two processes that refresh
//! at the same time write the same data.

use std::collections::HashMap;
use std::num::NonZero;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use weir_context::permission;
use weir_context::{Context, cancelled};
use weir_core::{Scope, Timestamp};
use weir_files::outlining::outline;
use weir_host::answer::size;
use weir_host::error::CommandError;
use weir_outline::map::{Facts, pack, symbols_to_text};
use weir_outline::{Content, LANGUAGES, Language, OutlineError, language_of};
use weir_store::{MapChange, MapFile, Store};

use super::key;
use crate::indexing::{FoundFile, SETTLE_NANOS, below, list_all, read_content};

const BATCH_FILES: usize = 400;
/// The maximum number of files in a map, all of which are held in memory.
const MAX_FILES: usize = 100_000;
/// Larger files are data, or were generated.
const MAX_FILE_BYTES: u64 = 1 << 20;
/// Larger files of keys and values are data.
const MAX_DATA_BYTES: u64 = 64 << 10;
/// Lines that are this long on average were not written by a person.
const MAX_MEAN_LINE_BYTES: usize = 300;
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);

/// A folder of a map, or all of it.
#[derive(Clone, Copy)]
pub(super) struct MapPart<'a> {
    pub(super) root: &'a Path,
    /// The folder itself, which is below the root or the same.
    pub(super) folder: &'a Path,
}

/// Returns the current files in a part of a map.
pub(super) fn refresh(
    context: &Context,
    store: &mut Store,
    scope: &Scope,
    part: MapPart<'_>,
    now: Timestamp,
) -> Result<Vec<MapFile>, CommandError> {
    let MapPart { root, folder } = part;
    let key = key(root);
    let gate = permission::gate(context);
    let mut listing = list_all(root, folder, &gate, context.cancelled())?;
    listing.files.retain(may_be_mapped);
    if listing.files.len() > MAX_FILES {
        let many = listing.files.len();
        return Err(CommandError::usage(format!("cannot map {many} files: the limit is {MAX_FILES}"))
            .hint("have git ignore third-party files, or run it in a subproject"));
    }
    let part = below(root, folder).unwrap_or_default();
    let mut known: HashMap<String, MapFile> =
        store.map_files(scope, &key, &part)?.into_iter().map(|file| (file.path.clone(), file)).collect();
    if known.is_empty() {
        drop_lost_folders(store, scope)?;
    }
    let (mut files, mut waiting) = (Vec::with_capacity(listing.files.len()), Vec::new());
    for found in listing.files {
        match known.remove(&found.below) {
            Some(file) if is_as_it_was(&file, &found) => files.push(file),
            former => waiting.push((found, former)),
        }
    }
    // Files that could not be listed are not taken for removed.
    let within = |below: &str, folder: &str| {
        folder.is_empty() || below == folder || below.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
    };
    let (lost, gone): (Vec<MapFile>, Vec<MapFile>) =
        known.into_values().partition(|file| listing.unknown.iter().any(|folder| within(&file.path, folder)));
    files.extend(lost);
    let mut work = RefreshJob { context, store, scope, key, change: MapChange::default(), files };
    work.change.gone = gone.into_iter().map(|file| file.path).collect();
    work.read(&waiting, now)?;
    work.write()?;
    let mut files = work.files;
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

/// Removes the maps of folders that no longer exist, such as work trees, when another map is made.
fn drop_lost_folders(store: &mut Store, scope: &Scope) -> Result<(), CommandError> {
    for folder in store.mapped_folders(scope)? {
        if !Path::new(&folder).is_dir() {
            store.drop_map(scope, &folder)?;
        }
    }
    Ok(())
}

/// Whether a file's name indicates a supported language, or the file may be a script.
fn may_be_mapped(found: &FoundFile) -> bool {
    match language_of(&found.path, "") {
        Some(language) if language.content() == Content::Code => found.bytes <= MAX_FILE_BYTES,
        Some(_) => found.bytes <= MAX_DATA_BYTES,
        None => found.path.extension().is_none() && found.bytes <= MAX_DATA_BYTES,
    }
}

fn is_as_it_was(file: &MapFile, found: &FoundFile) -> bool {
    file.bytes == found.bytes && file.modified == found.modified && is_current(&file.spec)
}

/// Returns the language and the version of its parser, as stored in a row. A file in no known language is examined
/// again when languages are added.
fn spec(language: Option<&Language>) -> String {
    match language {
        Some(language) => format!("{} {}", language.name(), language.version()),
        None => format!("none {}", LANGUAGES.len()),
    }
}

fn is_current(known: &str) -> bool {
    let name = known.split(' ').next().unwrap_or_default();
    known == spec(LANGUAGES.iter().find(|language| language.name() == name).copied())
}

enum FileReadResult {
    New(Box<MapFile>),
    /// The content is the same as before.
    Same(i64),
    /// The file cannot be read, or was removed since it was listed.
    Nothing,
}

struct RefreshJob<'a> {
    context: &'a Context,
    store: &'a mut Store,
    scope: &'a Scope,
    key: String,
    change: MapChange,
    files: Vec<MapFile>,
}

impl RefreshJob<'_> {
    /// Reads the files that look changed, on every core, and writes the results as they arrive.
    fn read(&mut self, waiting: &[(FoundFile, Option<MapFile>)], now: Timestamp) -> Result<(), CommandError> {
        if waiting.is_empty() {
            return Ok(());
        }
        let next = AtomicUsize::new(0);
        let all: u64 = waiting.iter().map(|(found, _)| found.bytes).sum();
        let (started, mut told, mut done, mut bytes) = (Instant::now(), Instant::now(), 0_usize, 0);
        let workers = std::thread::available_parallelism().map_or(1, NonZero::get).min(waiting.len().div_ceil(8));
        let (send, receive) = mpsc::sync_channel(64);
        std::thread::scope(|threads| {
            for _ in 0..workers {
                let (send, next) = (send.clone(), &next);
                threads.spawn(move || {
                    while let Some((found, former)) = waiting.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let read = read(found, former.as_ref(), now);
                        if send.send((found, former, read)).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(send);
            for (found, former, read) in receive {
                if self.context.cancelled().is_cancelled() {
                    return Err(cancelled());
                }
                self.take(found, former.as_ref(), read);
                if self.change.files.len() >= BATCH_FILES {
                    self.write()?;
                }
                (done, bytes) = (done + 1, bytes + found.bytes);
                if told.elapsed() >= PROGRESS_INTERVAL {
                    told = Instant::now();
                    let rate = bytes as f64 / started.elapsed().as_secs_f64().max(0.001);
                    let left = all.saturating_sub(bytes) as f64 / rate.max(1.0);
                    let (bytes, all, files) = (size(bytes), size(all), waiting.len());
                    self.context
                        .report_progress(&format!("map: {done} of {files} files, {bytes} of {all}, {left:.0} s left"));
                }
            }
            Ok(())
        })
    }

    fn take(&mut self, found: &FoundFile, former: Option<&MapFile>, read: FileReadResult) {
        match (read, former) {
            (FileReadResult::New(file), _) => {
                // The symbols are needed again only if the file is shown.
                self.files.push(MapFile { symbols: String::new(), ..(*file).clone() });
                self.change.files.push(*file);
            }
            (FileReadResult::Same(modified), Some(former)) => {
                self.change.restamped.push((found.below.clone(), modified));
                self.files.push(MapFile { modified, ..former.clone() });
            }
            (FileReadResult::Nothing, Some(former)) => self.change.gone.push(former.path.clone()),
            (FileReadResult::Nothing | FileReadResult::Same(_), None) => {}
        }
    }

    fn write(&mut self) -> Result<(), CommandError> {
        let change = std::mem::take(&mut self.change);
        if !change.is_empty() {
            self.store.update_map(self.scope, &self.key, change)?;
        }
        Ok(())
    }
}

fn read(found: &FoundFile, former: Option<&MapFile>, now: Timestamp) -> FileReadResult {
    let Ok(content) = read_content(&found.path) else { return FileReadResult::Nothing };
    let is_settled = content.modified < now.0.saturating_mul(1_000_000).saturating_sub(SETTLE_NANOS);
    let modified = if is_settled { content.modified } else { 0 };
    let hash = content.hash.into_bytes();
    if former.is_some_and(|former| former.hash == hash && is_current(&former.spec)) {
        return FileReadResult::Same(modified);
    }
    let bytes = content.bytes.len() as u64;
    let text = String::from_utf8_lossy(&content.bytes);
    let language = language_of(&found.path, &text);
    let outline = language.filter(|_| !is_generated(&text)).map(|language| outline(language, &text));
    let facts = match outline {
        Some(Ok(outline)) => Facts::of(&found.below, &text, &outline),
        // This says nothing about the file, which is examined again the next time.
        Some(Err(OutlineError::NoParser)) => return FileReadResult::Nothing,
        Some(Err(_)) | None => Facts::default(),
    };
    FileReadResult::New(Box::new(MapFile {
        path: found.below.clone(),
        bytes,
        modified,
        hash,
        spec: spec(language),
        count: u32::try_from(facts.symbols.len()).unwrap_or(u32::MAX),
        words: pack(facts.words.iter().copied()),
        defines: pack(facts.defines.iter().copied()),
        mentions: pack(facts.mentions.iter().copied()),
        symbols: symbols_to_text(&facts.symbols),
    }))
}

fn is_generated(text: &str) -> bool {
    text.len() > MAX_MEAN_LINE_BYTES * 20 && text.len() / (text.lines().count() + 1) > MAX_MEAN_LINE_BYTES
}
