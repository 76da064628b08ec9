//! Judges the results of tools in requests, and replaces those that are held back.
//!
//! Invariants: a result is judged once, in the first request that has it, and only if the model has not answered it; a
//! request that only counts tokens leaves that to the next one if it does not offer the tools; a result is stored in
//! full before the request goes out; while requests have its replacement, the result does not expire; whatever fails,
//! it is shown as it is.

use std::collections::{HashMap, HashSet};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use weir_clients::{PROXY, Purpose, SeenResult};
use weir_context::Context;
use weir_core::Reference;
use weir_hook::hold::{HELD_AS, MAX_SURELY_SMALL_BYTES};
use weir_hook::{FileState, HookContext, RequestedResult, faults};
use weir_host::env::{Env, Paths};
use weir_host::mutex::lock;
use weir_host::paint;
use weir_host::project::Project;
use weir_host::switch::{Off, Switch};
use weir_host::when;

use super::clearing::OngoingUse;
use super::rulings::{ResultKey, Ruling, Rulings};
use super::tally::Counter;
use super::wire::{self, Conversation, ResultText, WireFormat};

/// How long after its last renewal a stored result is renewed again, if requests still have its replacement.
const RENEWAL_INTERVAL: Duration = Duration::from_secs(60 * 60);

/// Holds back results in the name of a project.
pub(super) struct Holder {
    env: Env,
    pub(super) paths: Paths,
    pub(super) rulings: Rulings,
    pub(super) counter: Arc<Counter>,
    /// The results that are in the tally.
    counted: Mutex<HashSet<ResultKey>>,
    /// When each result that is held back was stored or renewed, as far as this process knows.
    renewed: Mutex<HashMap<ResultKey, Instant>>,
    /// The project that the proxy was started in.
    project: Project,
    /// Taken while a result is judged, so that two requests with the same result do not both judge it.
    pub(super) judging: Mutex<()>,
}

/// What becomes of a request.
#[derive(Default)]
pub(super) struct Replaced {
    /// The body to send instead.
    pub(super) body: Option<String>,
    /// The use of the provider's cache, which ends with the answer.
    pub(super) cache: Option<OngoingUse>,
}

impl Holder {
    /// Returns a holder that stores results in the project of a call.
    pub(super) fn new(context: &Context, counter: Arc<Counter>) -> io::Result<Self> {
        Ok(Self {
            env: context.env().clone(),
            paths: context.paths().clone(),
            rulings: Rulings::open(&context.project_folder())?,
            counter,
            counted: Mutex::default(),
            renewed: Mutex::default(),
            project: context.project().clone(),
            judging: Mutex::default(),
        })
    }

    /// Returns why nothing is held back at the moment, if the user turned Weir off.
    pub(super) fn off(&self) -> Option<Off> {
        Switch::read(&self.paths).off_here(PROXY.name, &self.project, &self.env.folder)
    }

    /// Returns the body to send instead, if something in it is held back, and the use of the cache that the request is.
    pub(super) fn replace(&self, format: &WireFormat, body: &[u8]) -> Replaced {
        let body = std::str::from_utf8(body).ok();
        let Some((body, conversation)) = body.and_then(|body| Some((body, (format.read)(body)?))) else {
            self.counter.count(|tally| tally.unread += 1);
            return Replaced::default();
        };
        let (cache, has_cleared) = self.clear_if_cold(format, &conversation, body);
        let (mut replaced, mut due) = (Vec::new(), Vec::new());
        for result in &conversation.results {
            let cleared = has_cleared.then(|| self.stub(result)).flatten();
            if let Some((key, text)) = cleared.or_else(|| self.replacement(format, &conversation, result)) {
                due.extend(reference_in(&text).filter(|_| self.is_due(key)));
                replaced.push((result.literal, serde_json::Value::String(text).to_string()));
            }
        }
        self.renew(&due);
        if format.reaches_model && conversation.has_no_reader() {
            self.counter.count(|tally| tally.without_reader += 1);
        }
        Replaced { body: (!replaced.is_empty()).then(|| wire::splice(body, &replaced)), cache }
    }

    /// Returns what is shown instead of a result that was cleared, and the key of the result.
    fn stub(&self, result: &ResultText<'_>) -> Option<(ResultKey, String)> {
        let text: String = serde_json::from_str(result.literal).ok()?;
        let key = ResultKey::of(&result.about.call, &text);
        self.cleared(&key).map(|stub| (key.cleared(), stub))
    }

    /// Returns the text that the model is shown instead of a result, and the key of the result.
    fn replacement(
        &self,
        format: &WireFormat,
        conversation: &Conversation<'_>,
        result: &ResultText<'_>,
    ) -> Option<(ResultKey, String)> {
        let is_small = |length: usize| length as u64 <= MAX_SURELY_SMALL_BYTES;
        let about = &result.about;
        if is_small(result.literal.len()) && !about.is_new {
            return None;
        }
        let text: String = serde_json::from_str(result.literal).ok()?;
        let key = ResultKey::of(&about.call, &text);
        if about.is_new && lock(&self.counted).insert(key) {
            self.counter.count(|tally| tally.results += 1);
        }
        if is_small(text.len()) {
            return None;
        }
        let ruling = match self.rulings.find(&key) {
            Some(ruling) => ruling,
            // Clients count tokens without the tools, too. No model has been shown the result then.
            None if !format.reaches_model && (!about.is_new || conversation.face().is_none()) => return None,
            // It was sent in full. It is the last one again if the user goes back in the conversation.
            None if !about.is_new => self.rulings.record(&key, Ruling::Shown).unwrap_or(Ruling::Shown),
            None => self.judge(conversation, result, &text, &key),
        };
        match ruling {
            Ruling::Held(shown) => Some((key, shown)),
            Ruling::Shown => None,
        }
    }

    /// Whether a stored result has to be renewed. If so, it counts as renewed from now on.
    fn is_due(&self, key: ResultKey) -> bool {
        let mut renewed = lock(&self.renewed);
        let is_due = renewed.get(&key).is_none_or(|at| at.elapsed() > RENEWAL_INTERVAL);
        if is_due {
            renewed.insert(key, Instant::now());
        }
        is_due
    }

    /// Keeps stored results from expiring. A failure does not concern this request, and the next renewal may succeed.
    fn renew(&self, references: &[Reference]) {
        if references.is_empty() {
            return;
        }
        if let Err(error) = self.hook_context().renew(references) {
            faults::note("proxy", &format!("cannot renew results that are held back: {}", error.message));
        }
    }

    pub(super) fn hook_context(&self) -> HookContext<'_> {
        HookContext {
            env: &self.env,
            paths: self.paths.clone(),
            switch: Switch::default(),
            now: when::now(),
            started: Instant::now(),
            files: FileState::InARequest,
        }
    }

    fn judge(&self, conversation: &Conversation<'_>, result: &ResultText<'_>, text: &str, key: &ResultKey) -> Ruling {
        let _one = lock(&self.judging);
        if let Some(ruling) = self.rulings.find(key) {
            return ruling;
        }
        let held = self.held(conversation, result, text);
        let ruling = held.clone().map_or(Ruling::Shown, Ruling::Held);
        let stands = self.rulings.record(key, ruling).unwrap_or_else(|error| {
            left_alone(&format!("cannot record the ruling about it: {error}"));
            Ruling::Shown
        });
        if let (Some(held), Ruling::Held(shown)) = (held, &stands)
            && held == *shown
        {
            lock(&self.renewed).insert(*key, Instant::now());
            let (before, after) = (weir_tokens::count(text), weir_tokens::count(shown));
            self.counter.count(|tally| {
                tally.held += 1;
                tally.tokens_before += before;
                tally.tokens_after += after;
            });
        }
        stands
    }

    /// Returns what is shown instead of a result, after storing the result.
    fn held(&self, conversation: &Conversation<'_>, result: &ResultText<'_>, text: &str) -> Option<String> {
        let (name, input) = conversation.call(&result.about.call);
        let call = weir_clients::seen_call(&result.about.call, name, input);
        // While Weir is off, all that is kept is that the result was sent in full, without its text.
        if self.off().is_some() || weir_clients::purpose(&call) == Purpose::Settled {
            return None;
        }
        let face = conversation.face()?;
        let SeenResult { preamble, done } = weir_clients::seen_result(text, result.about.failed);
        let requested =
            RequestedResult { client: &PROXY, conversation: conversation.name().to_owned(), call, done, face };
        let at = self.hook_context();
        match catch_unwind(AssertUnwindSafe(|| at.hold(requested))) {
            Ok(Ok(shown)) => shown.map(|shown| format!("{preamble}{shown}")).filter(|shown| shown.len() < text.len()),
            Ok(Err(error)) => {
                left_alone(&error.message);
                None
            }
            Err(panic) => {
                left_alone(faults::panic_message(&*panic));
                None
            }
        }
    }
}

/// Returns the reference under which a replacement says that the result is stored.
pub(super) fn reference_in(shown: &str) -> Option<Reference> {
    let (_, rest) = shown.split_once(HELD_AS)?;
    Reference::parse(rest.split_once(']')?.0).ok()
}

/// Says that a result was not held back because of a fault, here and where `weir doctor` looks.
pub(super) fn left_alone(fault: &str) {
    paint::warn(&format!("weir: a result was left as it is: {fault}"));
    faults::note("proxy", fault);
}
