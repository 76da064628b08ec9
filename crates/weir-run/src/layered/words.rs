//! What people and models are told about the changes of a run. The run chose the names, so each is kept on one line.

use std::path::{Path, PathBuf};

use weir_core::wording::{counted, quoted};
use weir_host::answer::one_line;
use weir_layer::{Applied, Change, ChangeKind, Recovered, RecoveredHow, Undone, What};

const MAX_NAMES: usize = 8;

/// Returns the number of files by what happened to them, and their names.
pub(super) fn summary(changes: &[Change]) -> String {
    let is_file = |change: &&Change| change.what != What::Folder || change.was.is_some_and(|was| was != What::Folder);
    let of = |kinds: &[ChangeKind]| {
        changes.iter().filter(is_file).filter(|change| kinds.contains(&change.kind)).collect::<Vec<_>>()
    };
    let groups = [
        ("changed", of(&[ChangeKind::Changed, ChangeKind::Attributes])),
        ("added", of(&[ChangeKind::Added])),
        ("removed", of(&[ChangeKind::Removed])),
    ];
    let mut counts: Vec<String> = Vec::new();
    for (verb, files) in groups.iter().filter(|(_, files)| !files.is_empty()) {
        counts.push(match counts.is_empty() {
            true => format!("{verb} {}", counted(files.len(), "file", "files")),
            false => format!("{verb} {}", files.len()),
        });
    }
    if counts.is_empty() {
        return "changed no files".to_owned();
    }
    let names = groups.iter().flat_map(|(_, files)| files).map(|change| change.path.as_path());
    format!("{}: {}", counts.join(", "), list(names))
}

/// Returns what became of the changes of a run.
pub(super) fn applied(done: &Applied, root: &Path, is_person: bool) -> Vec<String> {
    let mut remarks = Vec::new();
    if !done.done.is_empty() {
        let undo = match (&done.undo_refused, is_person) {
            (Some(why), _) => format!("; it cannot be undone: {why}"),
            (None, true) if done.undo.is_some() => "; `weir undo` takes it back".to_owned(),
            _ => String::new(),
        };
        remarks.push(format!("{}{undo}", summary(&done.done)));
    }
    for held in &done.held {
        let path = shown(&held.change.path);
        remarks.push(match &held.to {
            Some(to) => {
                let accept = format!("mv {} {}", quote(to), quote(&root.join(&held.change.path)));
                format!("held back {path} ({}); to accept it: {accept}", held.why)
            }
            None => format!("held back a change of {path} ({})", held.why),
        });
    }
    for conflict in &done.conflicts {
        let (path, kind) = (shown(&conflict.change.path), conflict.kind);
        remarks.push(match &conflict.to {
            Some(to) => format!("{path} is not the run's version: {kind}; the run's is {}", to.display()),
            None => format!("{path} stays as it is: {kind}"),
        });
    }
    if !done.skipped.is_empty() {
        let names = list(done.skipped.iter().map(PathBuf::as_path));
        remarks.push(format!("sockets and devices that it made are gone: {names}"));
    }
    remarks
}

pub(super) fn undone(done: &Undone) -> String {
    let mut lines = vec![match done.done.len() {
        0 => "took nothing back".to_owned(),
        count => {
            let names = list(done.done.iter().map(PathBuf::as_path));
            format!("✓ took back the change of {}: {names}", counted(count, "path", "paths"))
        }
    }];
    lines.extend(done.refused.iter().map(|left| format!("left {}: {}", shown(&left.path), left.why)));
    lines.join("\n")
}

/// Returns what was done about a layer that a killed process left behind.
pub(super) fn recovered(left: &Recovered) -> String {
    let project = left.project.as_deref().map(|project| format!(" in {}", shown(project))).unwrap_or_default();
    let what = match &left.how {
        RecoveredHow::Discarded => "nothing that it wrote was applied".to_owned(),
        RecoveredHow::Finished(done) => {
            let apart = done
                .apart
                .iter()
                .map(|(path, to, why)| format!("; {} is apart at {}: {why}", shown(path), to.display()));
            let names = list(done.done.iter().map(PathBuf::as_path));
            format!("the rest of its changes was applied: {names}{}", apart.collect::<String>())
        }
        RecoveredHow::RolledBack(done) => {
            format!("the machine stopped while its changes were applied; {}", undone(done).replace('\n', "; "))
        }
        RecoveredHow::Undone(done) => undone(done).replace('\n', "; "),
        RecoveredHow::Failed(error) => error.to_string(),
    };
    format!("after an interrupted run on a layer{project}: {what}")
}

fn list<'a>(paths: impl Iterator<Item = &'a Path>) -> String {
    let names: Vec<String> = paths.map(shown).collect();
    match names.len().checked_sub(MAX_NAMES) {
        None | Some(0) => names.join(", "),
        Some(more) => format!("{} and {more} more", names[..MAX_NAMES].join(", ")),
    }
}

pub(super) fn shown(path: &Path) -> String {
    one_line(&path.display().to_string(), 120)
}

/// Quotes a path for a shell, on one line.
fn quote(path: &Path) -> String {
    quoted(&one_line(&path.display().to_string(), 400))
}
