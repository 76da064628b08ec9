//! Holds back a tool's result that no hook reported: one in a request to a model, or of a server behind Weir.
//!
//! Invariants: the rules are those of hooks; besides the output itself and its measurement, nothing is recorded; no
//! file that the request names is opened; without a stored copy, there is no replacement.

use std::cell::OnceCell;

use weir_clients::{AcceptedReplies, Client, Done, Hook, PROXY, Point, Reply, ToolCall};
use weir_core::{Reference, SessionKey, Timestamp};
use weir_host::config;
use weir_host::env::{Env, Paths};
use weir_host::error::CommandError;
use weir_host::face::Face;
use weir_host::switch::Switch;
use weir_store::{MeterAction, Patience, Reading, SpoolRecord, Store};

use super::location::SessionLocation;
use super::payload::Payload;
use super::rewrite::RewriteStatus;
use super::{Call, FileState, HoldDecision, HookContext, STORE_WAIT, faults, hold, meter, trial};

/// The name under which cleared results are metered.
const CLEARED: &str = "cleared";

/// A tool's result that no hook reported.
pub struct RequestedResult {
    /// The client whose limits hold.
    pub client: &'static Client,
    pub conversation: String,
    pub call: ToolCall,
    pub done: Done,
    /// How the model can read more than it is shown.
    pub face: Face,
}

/// A result that is to be stored as it is.
pub struct WholeResult {
    pub call: ToolCall,
    pub done: Done,
    pub text: String,
}

impl HookContext<'_> {
    /// Returns the replacement of a result, after storing the result in full, or `None` if it is shown as it is.
    pub fn hold(self, result: RequestedResult) -> Result<Option<String>, CommandError> {
        let Self { env, paths, now, files, .. } = self;
        let RequestedResult { client, conversation, call, done, face } = result;
        let hook = hook_of(env, conversation, Point::AfterTool(call, done));
        let Point::AfterTool(used, done) = &hook.point else { return Ok(None) };
        let session = SessionKey { client: client.session.to_owned(), key: hook.session.clone() };
        let place = SessionLocation::find(env, &paths, &hook.folder, session)?;
        let store = place.open(&paths, Patience::InAll(STORE_WAIT))?;
        let payload = Payload::empty();
        let at = Circumstances { paths, now, files, face };
        let mut call = at.call(client, &hook, &payload, (&place, store));
        let said = match hold::output(&mut call, used, done, RewriteStatus::No)? {
            HoldDecision::Replaced(shown) => Some(Reply::Output(shown)),
            HoldDecision::LeftAlone(_) => None,
        };
        let is_untouched = trial::is_untouched(&call);
        if let Some(said) = &said {
            meter::note(&mut call, said, is_untouched);
        }
        // The output is stored by now.
        if let Err(error) = call.store.close_after_hook() {
            faults::note("closing the store", &error.to_string());
        }
        Ok(match said {
            Some(Reply::Output(shown)) if !is_untouched => Some(shown),
            _ => None,
        })
    }

    /// Stores results as they are, in the name of a conversation. Returns the reference of each that could be stored.
    pub fn keep_results<'a>(
        self,
        conversation: String,
        results: impl Iterator<Item = &'a WholeResult>,
    ) -> Result<Vec<Option<Reference>>, CommandError> {
        let Self { env, paths, now, files, .. } = self;
        let hook = hook_of(env, conversation, Point::SessionEnd);
        let session = SessionKey { client: PROXY.session.to_owned(), key: hook.session.clone() };
        let place = SessionLocation::find(env, &paths, &hook.folder, session)?;
        let mut store = place.open(&paths, Patience::InAll(STORE_WAIT))?;
        store.set_limits(config::read(&paths.config)?.retention.limits());
        let payload = Payload::empty();
        let at = Circumstances { paths, now, files, face: Face::Mcp };
        let mut call = at.call(&PROXY, &hook, &payload, (&place, store));
        let mut kept = Vec::new();
        for WholeResult { call: used, done, text } in results {
            let reference = hold::keep_whole(&mut call, used, done, text);
            kept.push(reference.inspect_err(|error| faults::note("clearing", &error.message)).ok());
        }
        call.store.close_after_hook().map_err(|error| CommandError::from(error).in_store(&place.folder))?;
        Ok(kept)
    }

    /// Records the effect of clearing results of a conversation: their tokens, and those of what replaces them.
    pub fn meter_cleared(self, conversation: String, times: u64, [given, shown]: [u64; 2]) -> Result<(), CommandError> {
        let Self { env, paths, now, .. } = self;
        let session = SessionKey { client: PROXY.session.to_owned(), key: conversation };
        let place = SessionLocation::find(env, &paths, &env.folder, session)?;
        let mut store = place.open(&paths, Patience::InAll(STORE_WAIT))?;
        let reading = Reading { what: MeterAction::Held, tool: CLEARED.to_owned(), times, output: given, given, shown };
        let noted = store.meter(&place.scope, &reading, now).and_then(|()| store.close_after_hook());
        noted.map_err(|error| CommandError::from(error).in_store(&place.folder))
    }

    /// Records that a conversation still has the replacements of these stored results, so that they do not expire.
    pub fn renew(self, references: &[Reference]) -> Result<(), CommandError> {
        let Self { env, paths, now, .. } = self;
        let session = SessionKey { client: PROXY.session.to_owned(), key: String::new() };
        let place = SessionLocation::find(env, &paths, &env.folder, session)?;
        let mut store = place.open(&paths, Patience::InAll(STORE_WAIT))?;
        store.set_limits(config::read(&paths.config)?.retention.limits());
        let renewed = store.renew(&place.scope, references, now).and_then(|()| store.close_after_hook());
        renewed.map_err(|error| CommandError::from(error).in_store(&place.folder))
    }
}

/// Under which circumstances a result is looked at.
struct Circumstances {
    paths: Paths,
    now: Timestamp,
    files: FileState,
    face: Face,
}

impl Circumstances {
    fn call<'a>(
        self,
        client: &'static Client,
        hook: &'a Hook,
        payload: &'a Payload,
        (place, store): (&SessionLocation, Store),
    ) -> Call<'a> {
        let Self { paths, now, files, face } = self;
        Call {
            client,
            hook,
            payload,
            paths,
            switch: Switch::default(),
            config: OnceCell::new(),
            scope: place.scope.clone(),
            folder: place.folder.clone(),
            shell_folder: hook.folder.clone(),
            store,
            now,
            files,
            face,
            aside: SpoolRecord::default(),
            outcome: None,
            given: None,
        }
    }
}

/// Returns a hook in the name of a conversation that no hook reported.
fn hook_of(env: &Env, conversation: String, point: Point) -> Hook {
    Hook {
        session: conversation,
        folder: env.folder.clone(),
        shell: None,
        transcript: None,
        subagent: None,
        point,
        takes: AcceptedReplies { output: true, ..AcceptedReplies::default() },
    }
}
