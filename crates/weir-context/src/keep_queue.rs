//! Entries of several calls that are kept together. Invariants: each call gets the result of its own entry; an entry
//! whose call was cancelled before its turn is not kept; no call can interrupt the writing of the others.

use std::sync::Mutex;

use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;
use weir_core::{Level, NewEntry, Scope};
use weir_host::error::CommandError;
use weir_host::mutex::lock;
use weir_store::Kept;

use super::cancelled;
use super::knowledge::{Knowledge, LockedStores};

/// A queue of entries to keep. The engine lets one writer in at a time, and has the others sleep and try again. Here, a
/// call waits for its turn and then writes every entry that has arrived meanwhile, which takes one wait for the disk.
pub(super) struct KeepQueue {
    /// Stores that only the queue writes to. What it has cached stays valid for as long as nothing else writes.
    knowledge: Knowledge,
    waiting: Mutex<Vec<WaitingEntry>>,
    /// The turn to write, in the order of arrival.
    turn: tokio::sync::Mutex<()>,
}

/// An entry to keep, and where its call waits for the result.
struct WaitingEntry {
    scope: Scope,
    entry: NewEntry,
    cancel: CancellationToken,
    reply: oneshot::Sender<Result<Kept, CommandError>>,
}

impl KeepQueue {
    /// Returns an empty queue that writes to these stores.
    pub(super) fn new(knowledge: Knowledge) -> Self {
        Self { knowledge, waiting: Mutex::default(), turn: tokio::sync::Mutex::default() }
    }

    /// Keeps an entry, together with those that wait at the same time.
    pub(super) async fn keep(
        &self,
        scope: Scope,
        entry: NewEntry,
        cancel: CancellationToken,
    ) -> Result<Kept, CommandError> {
        let (reply, mut kept) = oneshot::channel();
        lock(&self.waiting).push(WaitingEntry { scope, entry, cancel, reply });
        let turn = self.turn.lock().await;
        // The call before may have written this entry too.
        if let Ok(kept) = kept.try_recv() {
            return kept;
        }
        let entries = std::mem::take(&mut *lock(&self.waiting));
        let write = move |open: &mut LockedStores<'_>| {
            keep_all(open, entries);
            Ok(())
        };
        self.knowledge.with_stores(&CancellationToken::new(), write).await?;
        drop(turn);
        kept.await.unwrap_or_else(|_| Err(CommandError::broken("the call failed: its entry was not written")))
    }
}

/// Keeps entries in the stores of their levels, and tells each call the result.
fn keep_all(open: &mut LockedStores<'_>, entries: Vec<WaitingEntry>) {
    let (given_up, entries): (Vec<_>, Vec<_>) = entries.into_iter().partition(|one| one.cancel.is_cancelled());
    for one in given_up {
        let _ = one.reply.send(Err(cancelled()));
    }
    let (of_user, of_project): (Vec<_>, Vec<_>) = entries.into_iter().partition(|one| one.entry.level == Level::User);
    keep_in(open, Level::Project, of_project);
    keep_in(open, Level::User, of_user);
}

fn keep_in(open: &mut LockedStores<'_>, level: Level, entries: Vec<WaitingEntry>) {
    if entries.is_empty() {
        return;
    }
    let (folder, now) = (open.folder(level), open.now);
    let parts = entries.into_iter().map(|WaitingEntry { scope, entry, reply, .. }| ((scope, entry), reply));
    let (entries, replies): (Vec<_>, Vec<_>) = parts.unzip();
    let kept: Vec<Result<Kept, CommandError>> = match open.store(level) {
        Ok(store) => {
            let kept = store.keep_together(entries, now).into_iter();
            kept.map(|kept| kept.map_err(CommandError::from)).collect()
        }
        Err(error) => entries.iter().map(|_| Err(error.clone())).collect(),
    };
    for (reply, kept) in replies.into_iter().zip(kept) {
        // A call that is gone does not need the result.
        let _ = reply.send(kept.map_err(|error| error.in_store(folder)));
    }
}

#[cfg(test)]
mod tests {
    use futures_util::future::join_all;
    use weir_core::{EntryKind, Note, NoteKind, Origin, Reference};
    use weir_host::face::Face;
    use weir_store::Found;

    use super::*;
    use crate::Session;

    const NOTES: usize = 16;

    fn note(text: String) -> NewEntry {
        let note = Some(Note::new(NoteKind::Finding));
        let title = text.clone();
        NewEntry {
            text: text.into_bytes(),
            note,
            ..NewEntry::new(EntryKind::Note, Origin::Model, Level::Project, title)
        }
    }

    /// Keeps notes at the same time, the last of them for a caller that has given up.
    fn keep_many(knowledge: &Knowledge, notes: Vec<NewEntry>) -> Vec<Result<Kept, CommandError>> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let scope = knowledge.scope(None, &Session::new(Face::Http, None));
        let last = notes.len() - 1;
        let calls = notes.into_iter().enumerate().map(|(number, note)| {
            let (scope, cancel) = (scope.clone(), CancellationToken::new());
            if number == last {
                cancel.cancel();
            }
            async move { knowledge.keep(scope, note, &cancel).await }
        });
        runtime.block_on(join_all(calls))
    }

    #[test]
    fn every_call_gets_the_result_of_its_own_entry() {
        let folder = tempfile::tempdir().unwrap();
        let knowledge = Knowledge::without_machine(folder.path()).with_prompt_searches();
        let mut notes: Vec<NewEntry> = (0..NOTES).map(|number| note(format!("note {number}"))).collect();
        let missing = Reference::from_bits(7);
        notes[3].note = Some(Note { supersedes: vec![missing], ..Note::new(NoteKind::Finding) });
        let kept = keep_many(&knowledge, notes);
        let scope = knowledge.scope(None, &Session::new(Face::Http, None));
        let mut times = Vec::new();
        for (number, kept) in kept.into_iter().enumerate() {
            match (number, kept) {
                (3, Err(error)) => assert!(error.message.contains(&missing.to_string()), "{error}"),
                (15, Err(error)) => assert_eq!(error.message, "cancelled"),
                (_, Err(error)) => panic!("note {number}: {error}"),
                (_, Ok(kept)) => {
                    assert!(!kept.behind && kept.unfinished.is_none());
                    let found = knowledge.with_stores_here(|open| {
                        let now = open.now;
                        Ok(open.project()?.get(&scope, kept.reference, now)?)
                    });
                    let Found::Here(entry) = found.unwrap() else { panic!("note {number} is not there") };
                    assert_eq!(entry.title, format!("note {number}"));
                    times.push(entry.at);
                }
            }
        }
        assert_eq!(times.len(), NOTES - 2);
        // All but the first had to wait, and were written at once.
        times.dedup();
        assert!(times.len() <= 2, "{times:?}");
    }
}
