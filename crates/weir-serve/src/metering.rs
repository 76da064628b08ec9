//! Counts the tokens of answers off the path of the answers. Invariant: no call waits for the meter; a reading that
//! cannot be taken is counted as lost.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use weir_context::Context;
use weir_core::{Scope, SessionKey};
use weir_store::{MeterAction, Reading};

/// The maximum number of readings that wait to be written.
const MAX_WAITING: usize = 4_096;
/// How long readings are collected before they are written together.
const COLLECT_TIME: Duration = Duration::from_millis(250);
/// How long the end of the server waits for the last readings.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);

/// The way to the thread that writes readings.
pub(super) struct MeterQueue {
    sender: SyncSender<Message>,
    lost: AtomicU64,
}

enum Message {
    Reading(Box<(Scope, Reading)>),
    /// Asks for a word when everything before it is written.
    Flush(std::sync::mpsc::Sender<()>),
}

impl MeterQueue {
    /// Starts the thread. It opens nothing until there is a reading.
    pub(super) fn start(context: &Context) -> Self {
        let (sender, receiver) = sync_channel(MAX_WAITING);
        let context = context.with_own_stores();
        // Without a thread, every reading counts as lost.
        let _ = thread::Builder::new().name("meter".into()).spawn(move || work(&context, &receiver));
        Self { sender, lost: AtomicU64::new(0) }
    }

    /// Takes a reading, unless the call has no session, which the meter counts by.
    pub(super) fn note(&self, scope: Scope, reading: impl FnOnce() -> Reading) {
        if scope.session.is_some() && self.sender.try_send(Message::Reading(Box::new((scope, reading())))).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Returns how many readings were lost.
    pub(super) fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    /// Waits until the readings so far are written, but not for long.
    pub(super) fn flush(&self) {
        let (done, written) = channel();
        if self.sender.try_send(Message::Flush(done)).is_ok() {
            let _ = written.recv_timeout(FLUSH_TIMEOUT);
        }
    }
}

fn work(context: &Context, messages: &Receiver<Message>) {
    while let Ok(first) = messages.recv() {
        let (mut sums, mut waiting) = (Sums::default(), Vec::new());
        sums.take(first, &mut waiting);
        let until = Instant::now() + COLLECT_TIME;
        while waiting.is_empty() {
            let Ok(next) = messages.recv_timeout(until.saturating_duration_since(Instant::now())) else { break };
            sums.take(next, &mut waiting);
        }
        // The answers have been given, and a meter that cannot be written takes nothing back.
        let _ = context.with_stores_here(|open| {
            let now = open.now;
            let store = open.project()?;
            sums.0.into_values().try_for_each(|(scope, reading)| Ok(store.meter(&scope, &reading, now)?))
        });
        for done in waiting {
            let _ = done.send(());
        }
    }
}

/// Readings that are summed up by session, tool and action, each with a scope of its session.
#[derive(Default)]
struct Sums(HashMap<(SessionKey, String, MeterAction), (Scope, Reading)>);

impl Sums {
    fn take(&mut self, message: Message, waiting: &mut Vec<std::sync::mpsc::Sender<()>>) {
        let (scope, reading) = match message {
            Message::Reading(reading) => *reading,
            Message::Flush(done) => return waiting.push(done),
        };
        let Some(session) = scope.session.clone() else { return };
        let sum = self.0.entry((session, reading.tool.clone(), reading.what));
        sum.and_modify(|(_, sum)| {
            sum.times += reading.times;
            sum.output += reading.output;
            sum.given += reading.given;
            sum.shown += reading.shown;
        })
        .or_insert((scope, reading));
    }
}

#[cfg(test)]
mod tests {
    use weir_core::ProjectKey;

    use super::*;

    #[test]
    fn readings_of_a_session_are_summed_up_by_tool() {
        let project = Scope::project(ProjectKey("path:/p".to_owned()));
        let session = |key: &str| Some(SessionKey { client: "http".to_owned(), key: key.to_owned() });
        let (mut sums, mut waiting) = (Sums::default(), Vec::new());
        for (key, tool, what, shown) in [
            ("a", "ctx_get", MeterAction::Answered, 1),
            ("a", "ctx_get", MeterAction::Answered, 2),
            ("a", "ctx_execute", MeterAction::Answered, 4),
            ("a", "ctx_execute", MeterAction::Ran, 16),
            ("b", "ctx_get", MeterAction::Answered, 8),
        ] {
            let reading = Reading { what, tool: tool.to_owned(), times: 1, output: 0, given: 0, shown };
            let scope = Scope { session: session(key), ..project.clone() };
            sums.take(Message::Reading(Box::new((scope, reading))), &mut waiting);
        }
        let mut shown: Vec<(u64, u64)> = sums.0.values().map(|(_, reading)| (reading.times, reading.shown)).collect();
        shown.sort_unstable();
        assert_eq!(shown, [(1, 4), (1, 8), (1, 16), (2, 3)]);
    }
}
