//! Clears old results once the provider's cache of a conversation has expired: the next request has to write all of it
//! anyway, so leaving results out costs nothing then, and makes every later request shorter.
//!
//! Invariants: nothing is cleared while the cache may be warm, or if it is not known when it was used last; a result is
//! stored in full before it is cleared, and the model can read it; what was cleared stays as it is, byte for byte.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use weir_clients::{Purpose, SeenResult};
use weir_core::Reference;
use weir_hook::hold::HELD_AS;
use weir_hook::{WholeResult, faults};
use weir_host::face::Face;
use weir_host::mutex::lock;
use weir_host::{config, paint, when};
use weir_store::private;

use super::last_clearing::LastClearing;
use super::results::{Holder, left_alone, reference_in};
use super::rulings::{ResultKey, Ruling};
use super::wire::{Conversation, ResultText, WireFormat};

/// How many calls keep their results, the newest first.
const KEPT_CALLS: usize = 8;
/// A shorter result stays.
const MIN_BYTES: usize = 300;
const MIN_TOKENS: usize = 100;
/// How much longer than the cache lives a pause must be, since clocks and requests are not exact.
const MARGIN: Duration = Duration::from_secs(60);
/// Distinguishes names of conversations from everything else that is hashed.
const PURPOSE: &str = "weir proxy 2026-11 use of a conversation's cache";

/// When the cache of a conversation was used last, and whether some of its results were cleared: a file next to the
/// rulings, which has a byte if so. Its time is that of the last use.
pub(super) struct CacheUse {
    path: PathBuf,
}

impl CacheUse {
    pub(super) fn of(folder: &Path, conversation: &str) -> Self {
        let name = blake3::Hasher::new_derive_key(PURPOSE).update(conversation.as_bytes()).finalize().to_hex();
        Self { path: folder.join(format!("{}.used", &name[..32])) }
    }

    /// Returns how long nobody has used the cache, if that is known.
    fn idle(&self) -> Option<Duration> {
        self.path.metadata().and_then(|about| about.modified()).ok()?.elapsed().ok()
    }

    fn has_cleared(&self) -> bool {
        self.path.metadata().is_ok_and(|about| about.len() > 0)
    }

    fn open(&self) -> io::Result<File> {
        private::open(&self.path, OpenOptions::new().append(true).create(true))
    }

    /// Records that the cache is used now.
    fn note(&self) {
        if let Err(error) = self.open().and_then(|file| file.set_modified(SystemTime::now())) {
            faults::note("proxy", &format!("cannot record that the cache is used: {error}"));
        }
    }

    /// Records that results were cleared.
    fn note_cleared(&self) -> io::Result<()> {
        let file = self.open()?;
        if file.metadata()?.len() == 0 { io::Write::write_all(&mut &file, b"c") } else { Ok(()) }
    }
}

/// A use of a cache that goes on until the answer has arrived.
pub(super) struct OngoingUse(CacheUse);

impl Drop for OngoingUse {
    fn drop(&mut self) {
        self.0.note();
    }
}

/// A result that is to be cleared.
struct Due {
    key: ResultKey,
    /// The client's own lines before the output, if only the output is stored.
    preamble: String,
    /// The reference of the output, if it is stored already.
    stored: Option<Reference>,
    /// The tokens of what is sent of it now.
    tokens: usize,
    whole: WholeResult,
}

impl Holder {
    /// Clears old results if the cache is cold. Returns the use of the cache that this request is, if it is one, and
    /// whether the conversation has results that were cleared.
    pub(super) fn clear_if_cold(
        &self,
        format: &WireFormat,
        conversation: &Conversation<'_>,
        body: &str,
    ) -> (Option<OngoingUse>, bool) {
        if conversation.name().is_empty() {
            return (None, false);
        }
        let cache = CacheUse::of(self.rulings.folder(), conversation.name());
        let _one = lock(&self.judging);
        let lifetime = (format.lifetime)(body).filter(|_| format.reaches_model && self.clears());
        let idle = lifetime.and_then(|lifetime| cache.idle().filter(|idle| *idle > lifetime + MARGIN));
        if let Some(idle) = idle {
            self.clear(conversation, &cache, idle);
        }
        let has_cleared = cache.has_cleared();
        // Nothing is written for somebody who does not want it.
        if lifetime.is_none() {
            return (None, has_cleared);
        }
        cache.note();
        (Some(OngoingUse(cache)), has_cleared)
    }

    fn clears(&self) -> bool {
        self.off().is_none() && config::read(&self.paths.config).is_ok_and(|config| config.proxy.clear_when_cold)
    }

    /// Returns what is shown instead of a result that was cleared.
    pub(super) fn cleared(&self, key: &ResultKey) -> Option<String> {
        match self.rulings.find(&key.cleared()) {
            Some(Ruling::Held(stub)) => Some(stub),
            Some(Ruling::Shown) | None => None,
        }
    }

    fn clear(&self, conversation: &Conversation<'_>, cache: &CacheUse, idle: Duration) {
        let Some(face) = conversation.face() else { return };
        let mut due = self.due(conversation);
        if due.is_empty() {
            return;
        }
        let wholes = due.iter().filter(|due| due.stored.is_none()).map(|due| &due.whole);
        let kept = match self.hook_context().keep_results(conversation.name().to_owned(), wholes) {
            Ok(kept) => kept,
            Err(error) => return left_alone(&error.message),
        };
        due.iter_mut().filter(|due| due.stored.is_none()).zip(kept).for_each(|(due, kept)| due.stored = kept);
        // From here on, requests look for what was cleared. The other order could lose a ruling.
        if let Err(error) = cache.note_cleared() {
            return left_alone(&format!("cannot record that results are cleared: {error}"));
        }
        let (mut times, mut given, mut shown) = (0, 0, 0);
        for Due { key, preamble, stored, tokens, .. } in due {
            let Some(reference) = stored else { continue };
            let stub = format!("{preamble}{}", stub(tokens, reference, face));
            let after = weir_tokens::count(&stub);
            match self.rulings.record(&key.cleared(), Ruling::Held(stub)) {
                Ok(_) => (times, given, shown) = (times + 1, given + tokens, shown + after),
                Err(error) => left_alone(&format!("cannot record that it is cleared: {error}")),
            }
        }
        self.tell(conversation, idle, (times, given, shown));
    }

    /// Returns the results that are older than those of the newest calls, and long enough.
    fn due(&self, conversation: &Conversation<'_>) -> Vec<Due> {
        let mut newest: HashSet<&str> = HashSet::new();
        let mut due = Vec::new();
        for result in conversation.results.iter().rev() {
            let id = result.about.call.as_str();
            if newest.len() < KEPT_CALLS || newest.contains(id) {
                newest.insert(id);
            } else {
                due.extend(self.due_result(conversation, result));
            }
        }
        due
    }

    /// Returns a result as one that is to be cleared, unless it is short, has been cleared, or is of Weir's own tools,
    /// which answer the same call again.
    fn due_result(&self, conversation: &Conversation<'_>, result: &ResultText<'_>) -> Option<Due> {
        let text: String = serde_json::from_str(result.literal).ok().filter(|text: &String| text.len() >= MIN_BYTES)?;
        let id = &result.about.call;
        let key = ResultKey::of(id, &text);
        let (name, input) = conversation.call(id);
        let call = weir_clients::seen_call(id, name, input);
        if weir_clients::purpose(&call) == Purpose::Settled || self.cleared(&key).is_some() {
            return None;
        }
        let SeenResult { preamble, done } = weir_clients::seen_result(&text, result.about.failed);
        let (preamble, stored, tokens) = match self.rulings.find(&key) {
            Some(Ruling::Held(shown)) => (preamble.to_owned(), reference_in(&shown), weir_tokens::count(&shown)),
            _ => (String::new(), None, weir_tokens::count(&text)),
        };
        let preamble = if stored.is_some() { preamble } else { String::new() };
        Some(Due { key, preamble, stored, tokens, whole: WholeResult { call, done, text } })
            .filter(|due| due.tokens >= MIN_TOKENS)
    }

    /// Says what was cleared: to the user, in the figures, and for the status line.
    fn tell(&self, conversation: &Conversation<'_>, idle: Duration, (times, given, shown): (usize, usize, usize)) {
        if times == 0 {
            return;
        }
        let minutes = idle.as_secs() / 60;
        paint::warn(&format!(
            "weir: the cache had expired after {minutes} min: {times} old results became references, {} tokens less in \
             each request",
            given.saturating_sub(shown)
        ));
        self.counter.count(|tally| {
            tally.cleared += times;
            tally.cleared_before += given;
            tally.cleared_after += shown;
        });
        let last = LastClearing { at: when::now(), results: times as u64, tokens: given.saturating_sub(shown) as u64 };
        if let Err(error) = last.note(self.rulings.folder()) {
            faults::note("proxy", &format!("cannot record what was cleared: {error}"));
        }
        let figures = [given as u64, shown as u64];
        let noted = self.hook_context().meter_cleared(conversation.name().to_owned(), times as u64, figures);
        if let Err(error) = noted {
            faults::note("proxy", &error.message);
        }
    }
}

fn stub(tokens: usize, reference: Reference, face: Face) -> String {
    let (reference, get) = (reference.as_str(), face.get());
    format!("[weir: {tokens} tokens left out after a pause, {HELD_AS}{reference}]; {get} shows them]")
}
