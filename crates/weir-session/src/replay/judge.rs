//! Plays a session through the hooks, and judges the hooks by what the model did next.
//!
//! Invariant: the user's data is not touched. The hooks work in their own folder, and open no file that the session
//! read.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Instant;

use serde_json::Value;
use weir_clients::transcript::{HookPayload, Place, Session, Step, ToolResult, Usage};
use weir_clients::{Point, Reply, Wire};
use weir_core::wording::one_line;
use weir_hook::{FileState, HookContext};
use weir_host::env::{Env, Paths};
use weir_host::switch::Switch;
use weir_host::when;

use super::figures::{CarriedIdentifiers, Figures, Judgement, Lever, UnseenResult};
use super::prices::Rates;
use super::words::{Set, Words};

/// What a model writes to request a text again, in tokens.
const REQUEST_TOKENS: f64 = 150.0;
const MAX_NAMED_IDENTIFIERS: usize = 8;
/// How many requests after a compaction are examined.
const MAX_LATER_REQUESTS: usize = 40;

/// The settings for playing sessions.
pub(super) struct Player<'a> {
    pub env: &'a Env,
    /// A private data folder, and the user's configuration.
    pub paths: &'a Paths,
    pub folder: &'a Path,
    pub transcript: &'a Path,
    pub rates: Rates,
}

impl Player<'_> {
    /// Plays a session. `name` identifies the session in the store.
    pub(super) fn play(&self, session: &Session, name: &str) -> Judgement {
        let requests = &session.requests;
        let write = self.rates.written(requests);
        let mut play = SessionReplay {
            player: self,
            session,
            place: Place {
                session: name,
                folder: self.folder,
                transcript: self.transcript,
                subagent: &session.subagent,
            },
            words: Words::default(),
            known: Set::new(),
            ever: Set::new(),
            lasts: last_requests(&session.steps),
            request: 0,
            write,
            judged: Judgement {
                cost: requests.iter().skip(session.copied.requests).map(|used| self.rates.cost(used)).sum(),
                results_price: 0.0,
                all: Figures::default(),
                tools: BTreeMap::new(),
                levers: BTreeMap::new(),
                descriptions: (session.client().overhead_tokens, 0.0),
                guides: (0, 0.0),
                carried: CarriedIdentifiers::default(),
                touched_sizes: Vec::new(),
                other_sizes: Vec::new(),
                unseen: Vec::new(),
                faults: Vec::new(),
            },
        };
        let sets: Vec<Set> =
            session.steps.iter().map(|step| play.words.of(&below(text(step), &session.folder))).collect();
        for at in 0..session.steps.len() {
            play.step(at, &sets);
        }
        let mut judged = play.judged;
        let again = write + self.rates.read * session.own_requests() as f64;
        judged.descriptions.1 = judged.descriptions.0 as f64 * again;
        if !judged.has_cost() {
            judged.forget_prices();
        }
        judged
    }
}

struct SessionReplay<'a> {
    player: &'a Player<'a>,
    session: &'a Session,
    place: Place<'a>,
    words: Words,
    /// The identifiers that the model has seen since the last compaction.
    known: Set,
    /// The identifiers that the model has ever seen.
    ever: Set,
    /// For each step, the last request before the next compaction.
    lasts: Vec<Option<usize>>,
    request: usize,
    /// The price of writing a token to the cache.
    write: f64,
    judged: Judgement,
}

impl SessionReplay<'_> {
    fn step(&mut self, at: usize, sets: &[Set]) {
        let step = &self.session.steps[at];
        if self.session.cleared.contains(&at) {
            self.clear();
        }
        match step {
            Step::Said { request, .. } | Step::Called { request, .. } => self.request = *request,
            Step::Compacted { .. } => self.known.clear(),
            _ => {}
        }
        let (kind, is_copied) = (self.kind(step), at < self.session.copied.steps);
        let touched_before = self.judged.all.touched;
        for told in self.session.told(step.clone(), &self.place) {
            // What was copied from another session has its effect on what follows, and is judged there.
            match (self.hook(&told), step) {
                _ if is_copied => {}
                (Some(Reply::Context(guide)), _) => self.guide(at, sets, &guide),
                (Some(Reply::Output(shown)), Step::Result(result)) if shown != result.text => {
                    self.touched(at, sets, (kind, result, &shown));
                }
                _ => {}
            }
        }
        if let (Step::Result(result), false) = (step, is_copied) {
            self.result(at, kind, result);
            let is_touched = self.judged.all.touched > touched_before;
            let judged = &mut self.judged;
            let sizes = if is_touched { &mut judged.touched_sizes } else { &mut judged.other_sizes };
            sizes.push(tokens(&result.text));
        }
        self.known.extend(&sets[at]);
        self.ever.extend(&sets[at]);
    }

    /// Forgets what the conversation has lost without a hook being told.
    fn clear(&mut self) {
        self.known.clear();
        for told in self.session.told(Step::Prompt { text: String::new() }, &self.place) {
            let client = self.session.client();
            if let Some(hook) = (client.decode)(&Wire::new(told.event, &told.payload))
                && let Err(error) = weir_hook::forget_shown(self.player.env, self.player.paths, client, &hook)
            {
                self.judged.faults.push(error.message);
            }
        }
    }

    fn hook(&mut self, told: &HookPayload) -> Option<Reply> {
        let (env, paths) = (self.player.env, self.player.paths.clone());
        let (switch, files) = (Switch::default(), FileState::OfThePast);
        let at = HookContext { env, paths, switch, now: when::now(), started: Instant::now(), files };
        // Paths in the session's folder are moved to the folder of the replay.
        let mut payload = told.payload.to_string();
        if is_folder(&self.session.folder) {
            payload = payload.replace(&self.session.folder, &self.place.folder.to_string_lossy());
        }
        let client = self.session.client();
        let answered = catch_unwind(AssertUnwindSafe(|| at.answer(client, told.event, &mut payload.as_bytes())));
        let fault = match answered {
            Ok(Ok(said)) => return said.map(|(said, _)| said),
            Ok(Err(error)) => error.message,
            Err(panic) => weir_hook::faults::panic_message(&*panic).to_owned(),
        };
        self.judged.faults.push(format!("{}: {fault}", told.event));
        None
    }

    /// Returns the purpose of a result's tool, even if the client calls no hook for it.
    fn kind(&self, step: &Step) -> &'static str {
        let Step::Result(result) = step else { return "other" };
        let done = Step::Result(ToolResult { failed: false, ..result.clone() });
        let told = self.session.told(done, &self.place);
        let hook = told.first().and_then(|told| {
            let wire = Wire::new(told.event, &told.payload);
            (self.session.client().decode)(&wire)
        });
        match hook.map(|hook| hook.point) {
            Some(Point::AfterTool(call, _)) => call.tool.name(),
            _ => "other",
        }
    }

    /// Returns the price of a token that arrives with the step at a position: written once, and read by every request
    /// from then until the next compaction.
    fn weight(&self, at: usize) -> f64 {
        let last = self.lasts[at].unwrap_or(self.request);
        self.write + self.player.rates.read * last.saturating_sub(self.request + 1) as f64
    }

    fn result(&mut self, at: usize, kind: &'static str, result: &ToolResult) {
        let tokens = tokens(&result.text);
        let cut = u64::from(self.session.client().has_cut(&result.text));
        self.judged.results_price += tokens as f64 * self.weight(at);
        let figures = Figures { results: 1, tokens, cut, ..Figures::default() };
        self.judged.all.add(&figures);
        self.judged.tools.entry(kind).or_default().add(&figures);
    }

    fn touched(&mut self, at: usize, sets: &[Set], (kind, result, shown): (&'static str, &ToolResult, &str)) {
        let (before, after) = (tokens(&result.text), tokens(shown));
        let used = later_uses(&self.session.steps, sets, at, &self.known);
        let visible = self.words.of(&below(shown, &self.place.folder.to_string_lossy()));
        let ends = ends(&result.text, shown.chars().count() / 2);
        let in_ends = self.words.of(&below(&ends, &self.session.folder));
        let hidden: Set = used.difference(&visible).copied().collect();
        let less = before as i64 - after as i64;
        let mut figures = Figures {
            touched: 1,
            less,
            used: used.len() as u64,
            unseen: hidden.len() as u64,
            in_ends: used.intersection(&in_ends).count() as u64,
            saved: less as f64 * self.weight(at),
            ..Figures::default()
        };
        if !hidden.is_empty() {
            let requests = &self.session.requests;
            let window = requests.get(self.request + 1).or(requests.last()).map_or(0, Usage::window);
            let Rates { read, output, .. } = self.player.rates;
            figures.again = 1;
            figures.again_price = window as f64 * read + REQUEST_TOKENS * output + before as f64 * self.write;
            let given = result.input.as_object().and_then(|input| input.values().find_map(Value::as_str));
            self.judged.unseen.push(UnseenResult {
                tool: kind,
                given: one_line(given.unwrap_or_default(), 110),
                tokens: (before, after),
                used: used.len(),
                hidden: hidden.len(),
                names: self.words.named(&hidden, MAX_NAMED_IDENTIFIERS),
            });
        }
        self.judged.all.add(&figures);
        self.judged.tools.entry(kind).or_default().add(&figures);
        self.judged.levers.entry(Lever::of(shown)).or_default().add(&figures);
    }

    fn guide(&mut self, at: usize, sets: &[Set], guide: &str) {
        if let Step::Compacted { .. } = self.session.steps[at] {
            let used = used_after(&self.session.steps, sets, at, &self.ever);
            let guide = self.words.of(guide);
            let has = |set: &dyn Fn(&u32) -> bool| used.iter().filter(|word| set(word)).count() as u64;
            let is_told = |word: &u32| sets[at].contains(word) || guide.contains(word);
            let by_model = |step: &Step| matches!(step, Step::Said { .. } | Step::Called { .. });
            let written = self.session.steps[..at].iter().zip(sets).filter(|(step, _)| by_model(step));
            let written: Set = written.flat_map(|(_, set)| set).copied().collect();
            self.judged.carried.add(&CarriedIdentifiers {
                compactions: 1,
                used: used.len() as u64,
                in_summary: has(&|word| sets[at].contains(word)),
                with_guide: has(&is_told),
                missing_written: has(&|word| !is_told(word) && written.contains(word)),
            });
        }
        let tokens = tokens(guide);
        self.judged.guides.0 += tokens;
        // Text that is added at a compaction is read until the next one.
        self.judged.guides.1 += tokens as f64 * self.weight((at + 1).min(self.lasts.len() - 1));
    }
}

fn is_folder(path: &str) -> bool {
    path.starts_with('/') && path.len() > 1
}

/// Returns a text in which the paths below a folder are relative to it.
fn below<'t>(text: &'t str, folder: &str) -> Cow<'t, str> {
    match is_folder(folder) && text.contains(folder) {
        true => text.replace(&format!("{folder}/"), "").into(),
        false => text.into(),
    }
}

/// Returns for each step the last request from there until the next compaction.
fn last_requests(steps: &[Step]) -> Vec<Option<usize>> {
    let mut last = None;
    let mut lasts = vec![None; steps.len()];
    for (at, step) in steps.iter().enumerate().rev() {
        if let Step::Said { request, .. } | Step::Called { request, .. } = step {
            last = last.max(Some(*request));
        }
        lasts[at] = last;
        if matches!(step, Step::Compacted { .. }) {
            last = None;
        }
    }
    lasts
}

/// Returns the identifiers that a result introduced and that the model used before they were available from elsewhere.
fn later_uses(steps: &[Step], sets: &[Set], at: usize, known: &Set) -> Set {
    let mut new: Set = sets[at].difference(known).copied().collect();
    let mut used = Set::new();
    for (step, set) in steps.iter().zip(sets).skip(at + 1) {
        match step {
            Step::Compacted { .. } => break,
            Step::Said { .. } | Step::Called { .. } => used.extend(set.intersection(&new)),
            // From here on, the identifiers are available from this step.
            _ => new.retain(|word| !set.contains(word)),
        }
    }
    used
}

/// Returns the identifiers that the model had seen before a compaction and used in its next requests, until they were
/// available from elsewhere.
fn used_after(steps: &[Step], sets: &[Set], at: usize, before: &Set) -> Set {
    let (mut used, mut elsewhere, mut first) = (Set::new(), Set::new(), None);
    for (step, set) in steps.iter().zip(sets).skip(at + 1) {
        match step {
            Step::Compacted { .. } => break,
            Step::Said { request, .. } | Step::Called { request, .. } => {
                if request - *first.get_or_insert(*request) >= MAX_LATER_REQUESTS {
                    break;
                }
                used.extend(set.iter().filter(|word| before.contains(word) && !elsewhere.contains(*word)));
            }
            _ => elsewhere.extend(set),
        }
    }
    used
}

fn text(step: &Step) -> &str {
    match step {
        Step::Prompt { text } | Step::Said { text, .. } | Step::Compacted { text } => text,
        Step::Called { given, .. } => given,
        Step::Result(result) => &result.text,
    }
}

fn tokens(text: &str) -> u64 {
    weir_tokens::count(text) as u64
}

/// Returns the first and the last `half` characters of a text.
fn ends(text: &str, half: usize) -> String {
    let first = text.char_indices().nth(half).map_or(text.len(), |(at, _)| at);
    let last = text.char_indices().rev().nth(half.max(1) - 1).map_or(0, |(at, _)| at);
    format!("{}\n{}", &text[..first], &text[last..])
}
