//! Checks one store: its log, its index, its texts and its size. Invariant: a check changes nothing; a repair changes
//! what the order asks for, and sweeps.

use std::fmt::Display;
use std::path::Path;

use weir_context::{Context, LockedStores, strays};
use weir_core::wording::quoted;
use weir_core::{EntryKind, Level};
use weir_host::answer::{counted, one_line, size};
use weir_host::error::CommandError;
use weir_store::{Depth, Health, LostText, StoreError, Swept, UnavailableText, UnreadEntry};

use super::{Check, Doctor};

pub(super) fn check(
    open: &mut LockedStores<'_>,
    context: &Context,
    name: &'static str,
    level: Level,
    depth: Depth,
) -> Vec<Check> {
    let folder = open.folder(level);
    match open.has(level) {
        Ok(true) => {}
        Ok(false) => return vec![check_absent(open, name, level)],
        Err(error) => return vec![Check::bad(name, error.in_store(folder))],
    }
    let bad = |error: StoreError| Check::bad(name, CommandError::from(error).in_store(folder));
    let store = match open.store(level) {
        Ok(store) => store,
        Err(error) if error.is_of_older_store() => {
            let text = "written by an older version of Weir, so not checked; the next command that uses it migrates it";
            return vec![Check::good(name, text)];
        }
        Err(error) => return vec![Check::bad(name, error.in_store(folder))],
    };
    let mut checks: Vec<Check> = match store.check_writable() {
        Ok(()) => Vec::new(),
        Err(error) => vec![bad(error)],
    };
    match store.check_to(depth) {
        Ok(health) => checks.extend(describe(name, &health, (folder, &context.project().root))),
        Err(error) => checks.push(bad(error)),
    }
    checks
}

/// Describes a store that does not exist. Its texts may still be there.
fn check_absent(open: &mut LockedStores<'_>, name: &'static str, level: Level) -> Check {
    match open.stray_texts(level) {
        Ok(None) => Check::good(name, "none yet"),
        Ok(Some(text)) => Check::wrong(name, text, fix_for_strays(open.folder(level))),
        Err(error) => Check::bad(name, error.in_store(open.folder(level))),
    }
}

fn fix_for_strays(folder: &Path) -> String {
    let blobs = quoted(&folder.join("blobs").display().to_string());
    format!("restore a backup with `weir restore FILE --force`; if you have none, any zstd program can read {blobs}")
}

/// Does to a store what the order asks for, and sweeps it.
pub(super) fn repair(
    open: &mut LockedStores<'_>,
    context: &Context,
    name: &'static str,
    level: Level,
    order: &Doctor,
) -> Vec<Check> {
    let (now, folder) = (open.now, open.folder(level));
    let bad = |error: StoreError| Check::bad(name, CommandError::from(error).in_store(folder));
    // If it cannot be opened, the check says so.
    let Ok(store) = open.store(level) else { return Vec::new() };
    let mut checks = Vec::new();
    if order.rebuild_index {
        checks.push(
            match store.rebuild_index(|changes| context.report_progress(&format!("{name}: {changes} changes indexed")))
            {
                Ok(changes) => {
                    Check::good(name, format!("index rebuilt from {}", counted(changes, "change", "changes")))
                }
                Err(error) => bad(error),
            },
        );
    }
    match store.sweep(now) {
        Ok(swept) => checks.extend(describe_swept(swept).map(|text| Check::good(name, text))),
        // Nothing else can be written either, and the check says so too.
        Err(StoreError::Busy { .. }) => return checks,
        Err(error) => checks.push(bad(error)),
    }
    if order.drop_lost {
        let unread = store.unread_texts(order.depth());
        checks.push(match unread.and_then(|unread| store.drop_lost(&unread.lost, now)) {
            Ok(dropped) => Check::good(name, format!("{} removed", counted(dropped, "lost entry", "lost entries"))),
            Err(error) => bad(error),
        });
    }
    checks
}

fn describe_swept(swept: Swept) -> Option<String> {
    let Swept { expired, evicted, events, orphans, index_removed } = swept;
    let index =
        if index_removed { "; the disk is full, so the index was removed and will be rebuilt later" } else { "" };
    (swept != Swept::default()).then(|| {
        let (events, orphans) =
            (counted(events, "old event", "old events"), counted(orphans, "stray file", "stray files"));
        format!("swept: {expired} expired, {evicted} evicted, {events}, {orphans}{index}")
    })
}

/// Describes the state of a store in `folder`, for the project with this root.
fn describe(name: &'static str, health: &Health, (folder, root): (&Path, &Path)) -> Vec<Check> {
    let mut checks = vec![Check::good(name, describe_size(health))];
    if let Some(error) = &health.index_unchecked {
        checks.push(match error {
            StoreError::Busy { .. } => {
                Check::good(name, "the index was not checked, because another process is indexing")
            }
            error => Check::bad(name, CommandError::from(error.clone()).in_store(folder)),
        });
    }
    let mut bad = |text: String, fix: String| checks.push(Check::wrong(name, text, fix));
    if health.used_bytes > health.quota_bytes {
        bad(
            "over quota: runs may use a quarter of it; the rest is documents, notes and the index".to_owned(),
            "raise quota_mb in the configuration, or remove documents: weir forget --source FOLDER".to_owned(),
        );
    }
    for problem in &health.log_problems {
        let fix = "restore a backup with `weir restore FILE --force`".to_owned();
        bad(format!("log: {problem}"), fix);
    }
    for problem in &health.index_problems {
        bad(format!("index: {problem}"), "weir doctor --rebuild-index".to_owned());
    }
    if health.stray_texts > 0 {
        bad(strays(health.stray_texts, folder), fix_for_strays(folder));
    }
    let unread = &health.unread;
    let (documents, others): (Vec<_>, Vec<_>) = unread.lost.iter().partition(|lost| can_be_read_again(lost, root));
    if !documents.is_empty() {
        let text = format!("{} of indexed files lost: {}", texts(documents.len()), named(&documents));
        bad(text, "index their folder again with `weir index`".to_owned());
    }
    if !others.is_empty() {
        let text = format!("{} lost: {}", texts(others.len()), named(&others));
        bad(text, "weir doctor --drop-lost".to_owned());
    }
    if !unread.unavailable.is_empty() {
        let all: Vec<&UnavailableText> = unread.unavailable.iter().collect();
        let text = format!("{} cannot be read at the moment: {}", texts(all.len()), named(&all));
        let blobs = quoted(&folder.join("blobs").display().to_string());
        bad(text, format!("make sure that you own the files in {blobs}, and that the disk is healthy"));
    }
    checks
}

fn describe_size(health: &Health) -> String {
    let mut text = format!(
        "{}, {} of {}",
        counted(health.entries as usize, "entry", "entries"),
        size(health.used_bytes),
        size(health.quota_bytes),
    );
    if health.used_bytes > 0 {
        text.push_str(&format!(" (texts {}, index {})", size(health.stored_bytes), size(health.index_bytes)));
    }
    text
}

/// Whether a lost text is that of an indexed file that still exists.
fn can_be_read_again(lost: &LostText, root: &Path) -> bool {
    lost.kind == EntryKind::Document && lost.source.as_ref().is_some_and(|source| root.join(source).is_file())
}

fn texts(count: usize) -> String {
    counted(count, "text", "texts")
}

/// Names a few texts, each with its problem.
fn named<R: Display>(lost: &[&UnreadEntry<R>]) -> String {
    const MAX_NAMED_TEXTS: usize = 3;
    let shown = lost.iter().take(MAX_NAMED_TEXTS);
    let mut all: Vec<String> =
        shown.map(|lost| format!("{} ({}: {})", lost.reference, one_line(&lost.title, 60), lost.why)).collect();
    if lost.len() > MAX_NAMED_TEXTS {
        all.push(format!("and {} more", lost.len() - MAX_NAMED_TEXTS));
    }
    all.join(", ")
}
