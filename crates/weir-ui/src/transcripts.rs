//! What the clients' own transcripts say of sessions: requests, prices and windows, which hooks do not see.
//!
//! Invariants: transcripts are read on a thread of their own, each again only once it has changed; a page never waits
//! long for it, and shows what is known so far.

mod conversation;

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch;
use weir_context::Context;
use weir_core::{Reference, SessionKey, Timestamp};
use weir_session::replay::DEFAULT_TRANSCRIPTS;
use weir_session::replay::places::{self, TranscriptLocation};
use weir_session::replay::prices::{self, Prices};

pub(super) use conversation::{Conversation, ShownInstead};

/// How long what was read counts as new.
const MAX_AGE: Duration = Duration::from_secs(10);
/// How long a page waits for transcripts that are being read.
const MAX_WAIT: Duration = Duration::from_millis(1_500);

/// The transcripts of this machine's clients.
pub(super) struct Transcripts {
    context: Context,
    state: Mutex<State>,
    /// Says that something was read.
    news: watch::Sender<()>,
}

#[derive(Default)]
struct State {
    files: HashMap<(PathBuf, String), ReadFile>,
    facts: Arc<Facts>,
    /// When the last reading ended.
    read_at: Option<Instant>,
    is_reading: bool,
}

#[derive(Clone)]
struct ReadFile {
    changed: Timestamp,
    bytes: u64,
    conversations: Vec<Arc<Conversation>>,
}

#[derive(Default)]
pub(super) struct Facts {
    /// Whether all of the newest transcripts were read.
    pub(super) is_ready: bool,
    /// How many were read so far, and how many there are.
    pub(super) progress: (usize, usize),
    /// How many older transcripts are not read.
    pub(super) left_out: usize,
    pub(super) prices_of: String,
    by_session: HashMap<(String, String), Vec<Arc<Conversation>>>,
}

impl Transcripts {
    pub(super) fn new(context: &Context) -> Arc<Self> {
        Arc::new(Self { context: context.clone(), state: Mutex::default(), news: watch::Sender::new(()) })
    }

    /// Returns what is known now, and looks for news if that is old.
    pub(super) fn facts(self: &Arc<Self>) -> Arc<Facts> {
        let mut state = self.lock();
        let is_old = state.read_at.is_none_or(|at| at.elapsed() > MAX_AGE);
        if is_old && !state.is_reading {
            state.is_reading = true;
            let reader = Arc::clone(self);
            std::thread::spawn(move || reader.read());
        }
        Arc::clone(&state.facts)
    }

    /// Like [`Self::facts`], but waits a moment for transcripts that are being read for the first time.
    pub(super) async fn facts_soon(self: &Arc<Self>) -> Arc<Facts> {
        let mut news = self.news.subscribe();
        let wait = async { while !self.facts().is_ready && news.changed().await.is_ok() {} };
        let _ = tokio::time::timeout(MAX_WAIT, wait).await;
        self.facts()
    }

    fn read(&self) {
        let prices = Prices::read(prices::user_file(self.context.paths()).as_deref()).or_else(|_| Prices::read(None));
        let found = places::find(self.context.env(), &[]).map(|places| places.found).unwrap_or_default();
        if let Ok(prices) = prices {
            self.read_found(&found, &prices);
        }
        let mut state = self.lock();
        state.read_at = Some(Instant::now());
        state.is_reading = false;
        drop(state);
        self.news.send_replace(());
    }

    fn read_found(&self, found: &[TranscriptLocation], prices: &Prices) {
        let newest = &found[..found.len().min(DEFAULT_TRANSCRIPTS)];
        let keys: HashSet<(PathBuf, String)> = newest.iter().map(key_of).collect();
        let known: HashMap<(PathBuf, String), ReadFile> = {
            let mut state = self.lock();
            state.files.retain(|key, _| keys.contains(key));
            state.files.clone()
        };
        for (at, location) in newest.iter().enumerate() {
            let (changed, bytes) = (location.changed_at(), location.bytes());
            let is_same = |file: &ReadFile| (file.changed, file.bytes) == (changed, bytes);
            if !known.get(&key_of(location)).is_some_and(is_same) {
                let conversations = conversation::read(location, prices).into_iter().map(Arc::new).collect();
                self.lock().files.insert(key_of(location), ReadFile { changed, bytes, conversations });
            }
            self.tell(at + 1, found.len(), prices);
        }
        if newest.is_empty() {
            self.tell(0, 0, prices);
        }
    }

    /// Makes what was read so far known.
    fn tell(&self, read: usize, all: usize, prices: &Prices) {
        let mut state = self.lock();
        let newest = all.min(DEFAULT_TRANSCRIPTS);
        // Once everything was read, a later reading replaces the facts only when it is complete too.
        if state.facts.is_ready && read < newest {
            return;
        }
        let mut by_session: HashMap<(String, String), Vec<Arc<Conversation>>> = HashMap::new();
        for conversation in state.files.values().flat_map(|file| &file.conversations) {
            let key = (conversation.client.session.to_owned(), conversation.key.clone());
            by_session.entry(key).or_default().push(Arc::clone(conversation));
        }
        state.facts = Arc::new(Facts {
            is_ready: read >= newest,
            progress: (read, newest),
            left_out: all - newest,
            prices_of: prices.date.clone(),
            by_session,
        });
        drop(state);
        self.news.send_replace(());
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn key_of(location: &TranscriptLocation) -> (PathBuf, String) {
    (location.path.clone(), location.name.clone())
}

impl Facts {
    pub(super) fn of(&self, session: &SessionKey) -> Option<&Conversation> {
        let own = self.conversations(session).filter(|conversation| !conversation.is_subagent);
        own.max_by_key(|conversation| conversation.requests.len())
    }

    pub(super) fn conversations(&self, session: &SessionKey) -> impl Iterator<Item = &Conversation> {
        let key = (session.client.clone(), session.key.clone());
        self.by_session.get(&key).into_iter().flatten().map(Arc::as_ref)
    }

    /// Returns the tokens that the model got in place of an output, if the transcript says so.
    pub(super) fn shown(&self, session: Option<&SessionKey>, output: Reference) -> Option<u64> {
        let mut held = self.conversations(session?).flat_map(|conversation| &conversation.held);
        held.find(|shown| shown.reference == Some(output)).map(|shown| shown.tokens)
    }

    /// Returns the tokens of an output that the model asked for again, if the session has a transcript.
    pub(super) fn asked_again(&self, session: Option<&SessionKey>, output: Reference) -> Option<u64> {
        self.of(session?)?;
        let asked = self.conversations(session?).flat_map(|conversation| &conversation.asked);
        Some(asked.filter(|asked| asked.reference == output).map(|asked| asked.tokens).sum())
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Conversation> {
        self.by_session.values().flatten().map(Arc::as_ref)
    }

    /// Returns what a session has cost in US dollars between two times, if all of it is known.
    pub(super) fn spent(&self, session: &SessionKey, since: Timestamp, until: Timestamp) -> Option<f64> {
        self.of(session)?;
        let mut costs = self.conversations(session).map(|conversation| conversation.spent(since, until));
        costs.try_fold(0.0, |sum, cost| Some(sum + cost?))
    }
}
