//! Checks one store: its log, its index, its texts and its size. Invariant: a check changes nothing; a repair changes
//! what the order asks for, and sweeps.

use std::path::Path;

use weir_core::{EntryKind, Level};
use weir_store::{Depth, Health, LostText, StoreError, Swept};

use super::{Check, Doctor};
use crate::answer::{counted, one_line};
use crate::context::{Context, LockedStores};
use crate::error::CommandError;

/// Checks a store as it is, if it exists.
pub(super) fn check(
    open: &mut LockedStores<'_>,
    context: &Context,
    name: &'static str,
    level: Level,
    depth: Depth,
) -> Vec<Check> {
    if !open.has(level) {
        return vec![Check::good(name, "none yet")];
    }
    let folder = open.folder(level);
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
        Ok(health) => checks.extend(describe(name, &health, &context.project().root)),
        Err(error) => checks.push(bad(error)),
    }
    checks
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
        checks.push(match store.lost_texts(order.depth()).and_then(|lost| store.drop_lost(&lost, now)) {
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

fn describe(name: &'static str, health: &Health, root: &Path) -> Vec<Check> {
    let mb = |bytes: u64| bytes as f64 / 1_048_576.0;
    let mut size = format!(
        "{}, {:.1} of {:.0} MiB",
        counted(health.entries as usize, "entry", "entries"),
        mb(health.used_bytes),
        mb(health.quota_bytes),
    );
    if health.used_bytes > 0 {
        size.push_str(&format!(" (texts {:.1}, index {:.1})", mb(health.stored_bytes), mb(health.index_bytes)));
    }
    let mut checks = vec![Check::good(name, size)];
    let mut bad = |text: String, fix: String| checks.push(Check { name, good: false, text, fix: Some(fix) });
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
    let (documents, others): (Vec<_>, Vec<_>) = health.lost.iter().partition(|lost| can_be_read_again(lost, root));
    if !documents.is_empty() {
        let text = format!("{} of indexed files cannot be read: {}", texts(documents.len()), named(&documents));
        bad(text, "index their folder again with `weir index`".to_owned());
    }
    if !others.is_empty() {
        let text = format!("{} cannot be read: {}", texts(others.len()), named(&others));
        bad(text, "weir doctor --drop-lost".to_owned());
    }
    checks
}

/// Whether a lost text is that of an indexed file that still exists.
fn can_be_read_again(lost: &LostText, root: &Path) -> bool {
    lost.kind == EntryKind::Document && lost.source.as_ref().is_some_and(|source| root.join(source).is_file())
}

fn texts(count: usize) -> String {
    counted(count, "text", "texts")
}

/// Names a few lost texts, each with its problem.
fn named(lost: &[&LostText]) -> String {
    const MAX_NAMED_TEXTS: usize = 3;
    let shown = lost.iter().take(MAX_NAMED_TEXTS);
    let mut all: Vec<String> =
        shown.map(|lost| format!("{} ({}: {})", lost.reference, one_line(&lost.title, 60), lost.why)).collect();
    if lost.len() > MAX_NAMED_TEXTS {
        all.push(format!("and {} more", lost.len() - MAX_NAMED_TEXTS));
    }
    all.join(", ")
}
