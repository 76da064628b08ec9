//! Contexts for the calls of a server. Invariants: each call in progress has stores of its own, so no call waits for
//! another's lock; calls that only read have places of their own, so they never wait for runs or for indexing either.

use std::ops::Deref;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::http::StatusCode;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use weir_context::Context;
use weir_core::SessionKey;
use weir_host::mutex::lock;
use weir_host::os;
use weir_operations::tool_call;
use weir_operations::{Effect, Operation};

use weir_http::problem::Problem;

/// The maximum number of calls in progress that only read.
const MAX_READING_CALLS: usize = 64;
/// The maximum number of other calls in progress: runs, fetches, imports and everything else that writes.
const MAX_WRITING_CALLS: usize = 32;
/// The maximum number of contexts that keep their stores open between calls.
const MAX_IDLE_CONTEXTS: usize = 16;
/// The number of contexts that keep their stores open however long no call comes.
const MIN_IDLE_CONTEXTS: usize = 2;
/// How long the others keep their stores open.
const MAX_IDLE_TIME: Duration = Duration::from_secs(20);
/// The number of files that a call may have open: the databases of two stores with their side files, and some texts.
const FILES_PER_CALL: u64 = 16;
/// The number of files that everything else may have open: connections, runs, the index, the counting of tokens.
const OTHER_FILES: u64 = 128;

/// How long a call waits for its turn when too many are in progress.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(10);

/// The most threads that calls can occupy at a time.
pub(super) const MAX_THREADS: usize = MAX_READING_CALLS + MAX_WRITING_CALLS;

/// The contexts without a call, each with the time of its last one, the most recent last.
type IdleContexts = Arc<Mutex<Vec<(Instant, Context)>>>;

/// A pool of contexts. Cheap to clone.
#[derive(Clone)]
pub struct Calls {
    base: Context,
    idle: IdleContexts,
    /// How many calls of each kind there can be.
    most: InProgress,
    reading: Arc<Semaphore>,
    writing: Arc<Semaphore>,
    /// Places of brief writes, as many as there are contexts with open stores: these calls take less time than opening
    /// stores does.
    brief: Arc<Semaphore>,
}

impl Calls {
    /// Returns a pool of contexts like this one. No store is opened yet.
    pub fn new(context: &Context) -> Self {
        let files = os::raise_file_limit(FILES_PER_CALL * MAX_THREADS as u64 + OTHER_FILES);
        let most = InProgress::within(files);
        Self {
            base: context.clone(),
            idle: Arc::default(),
            reading: Arc::new(Semaphore::new(most.reading)),
            writing: Arc::new(Semaphore::new(most.writing)),
            brief: Arc::new(Semaphore::new(most.writing.min(MAX_IDLE_CONTEXTS))),
            most,
        }
    }

    /// Closes the stores of contexts that have had no call for a while, so that a burst of calls costs nothing later.
    pub(super) async fn close_idle(self) {
        loop {
            tokio::time::sleep(MAX_IDLE_TIME / 2).await;
            let surplus = take_surplus(&mut lock(&self.idle), Instant::now());
            // Closing a store may wait for the disk.
            let _ = tokio::task::spawn_blocking(move || drop(surplus)).await;
        }
    }

    /// Returns the context that the others are copies of, for what is the same for every call.
    pub fn base(&self) -> &Context {
        &self.base
    }

    /// Returns a context for one call that only reads. Waits if too many such calls are in progress.
    pub async fn context(&self, session: impl Into<Option<SessionKey>>, cancel: CancellationToken) -> CallContext {
        let session = session.into();
        let places = vec![place(&self.reading).await];
        self.take(places, session, cancel)
    }

    /// Returns a context for one call that writes. Waits if too many such calls are in progress.
    pub(super) async fn writing_context(&self, session: SessionKey, cancel: CancellationToken) -> CallContext {
        let places = vec![place(&self.writing).await];
        self.take(places, Some(session), cancel)
    }

    /// Returns a context for one call of an operation. Waits if too many such calls are in progress.
    pub(super) async fn context_of(
        &self,
        operation: &Operation,
        session: Option<SessionKey>,
        cancel: CancellationToken,
    ) -> CallContext {
        let mut places = Vec::with_capacity(2);
        if operation.is_brief_write {
            places.push(place(&self.brief).await);
        }
        places.push(place(if operation.effect == Effect::Reads { &self.reading } else { &self.writing }).await);
        self.take(places, session, cancel)
    }

    /// Takes a context from the pool, or a new one.
    fn take(&self, places: Vec<Place>, session: Option<SessionKey>, cancel: CancellationToken) -> CallContext {
        let idle = lock(&self.idle).pop().map(|(_, context)| context);
        let context = idle.unwrap_or_else(|| self.base.with_own_stores()).for_call(session, cancel);
        CallContext { context, idle: Arc::clone(&self.idle), _places: places }
    }

    /// Returns how many contexts have open stores and no call.
    pub(super) fn idle_count(&self) -> usize {
        lock(&self.idle).len()
    }

    /// Returns how many calls are in progress: those that only read, and the others.
    pub(super) fn in_progress(&self) -> InProgress {
        InProgress {
            reading: self.most.reading.saturating_sub(self.reading.available_permits()),
            writing: self.most.writing.saturating_sub(self.writing.available_permits()),
        }
    }
}

/// Takes out what has been idle for too long, except for a few. The most recently used come last.
fn take_surplus<T>(idle: &mut Vec<(Instant, T)>, now: Instant) -> Vec<(Instant, T)> {
    let old = idle.iter().take_while(|(used, _)| now.duration_since(*used) > MAX_IDLE_TIME).count();
    let surplus = old.min(idle.len().saturating_sub(MIN_IDLE_CONTEXTS));
    idle.drain(..surplus).collect()
}

/// Waits for the context of a call, unless too many calls are in progress for too long, or Weir is off.
pub(super) async fn in_time(context: impl Future<Output = CallContext>) -> Result<CallContext, Problem> {
    let context = tokio::time::timeout(QUEUE_TIMEOUT, context).await.map_err(|_| {
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "Busy", "too many calls are in progress")
            .hint("try again in a few seconds")
            .retry_after(5)
    })?;
    tool_call::off(&context).map_or(Ok(context), |off| Err(off.error().into()))
}

/// How many calls are in progress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct InProgress {
    /// Calls that only read.
    pub reading: usize,
    /// All others.
    pub writing: usize,
}

impl InProgress {
    /// Returns how many calls there can be if this many files may be open. The others wait for their turn.
    fn within(files: u64) -> Self {
        let calls = (files.saturating_sub(OTHER_FILES) / FILES_PER_CALL).min(MAX_THREADS as u64) as usize;
        Self { reading: (calls * 2 / 3).clamp(2, MAX_READING_CALLS), writing: (calls / 3).clamp(1, MAX_WRITING_CALLS) }
    }
}

/// The context of one call. Its stores go back to the pool when it is dropped.
pub struct CallContext {
    context: Context,
    idle: IdleContexts,
    _places: Vec<Place>,
}

/// A place among the calls in progress. There always is one in the end, since they are never closed.
type Place = Option<OwnedSemaphorePermit>;

impl Deref for CallContext {
    type Target = Context;

    fn deref(&self) -> &Context {
        &self.context
    }
}

impl Drop for CallContext {
    fn drop(&mut self) {
        // A call that was given up may still be at work on its stores. The next one must not wait for it.
        if !self.context.knowledge().is_alone() {
            return;
        }
        let mut idle = lock(&self.idle);
        if idle.len() < MAX_IDLE_CONTEXTS {
            idle.push((Instant::now(), self.context.clone()));
        }
    }
}

async fn place(among: &Arc<Semaphore>) -> Place {
    Arc::clone(among).acquire_owned().await.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_not_used_for_a_while_is_closed_and_never_everything() {
        let now = Instant::now() + 3 * MAX_IDLE_TIME;
        let idle = |seconds_ago: &[u64]| -> Vec<(Instant, u64)> {
            seconds_ago.iter().map(|ago| (now - Duration::from_secs(*ago), *ago)).collect()
        };
        for (before, left) in [
            (&[40, 30, 10, 5][..], &[10, 5][..]),
            (&[40, 30, 25], &[30, 25]),
            (&[40, 30], &[40, 30]),
            (&[9, 8, 7], &[9, 8, 7]),
            (&[], &[]),
        ] {
            let mut idle = idle(before);
            take_surplus(&mut idle, now);
            assert_eq!(idle.into_iter().map(|(_, ago)| ago).collect::<Vec<_>>(), left, "{before:?}");
        }
    }

    #[test]
    fn fewer_files_mean_fewer_calls_at_a_time() {
        for (files, reading, writing) in [(u64::MAX, 64, 32), (1_664, 64, 32), (1_024, 37, 18), (256, 5, 2), (20, 2, 1)]
        {
            assert_eq!(InProgress::within(files), InProgress { reading, writing }, "{files}");
        }
    }
}
