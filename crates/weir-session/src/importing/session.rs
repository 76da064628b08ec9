//! Converts the steps of a past conversation to the events that hooks would have captured, and to the client's
//! summaries.

use std::path::{Path, PathBuf};

use weir_clients::transcript::{Place, Session, Step};
use weir_clients::{AcceptedReplies, Client, Hook, Point, Subagent, Wire, capture};
use weir_core::{Event, EventKind, Timestamp};
use weir_hook::compaction::summary_of;
use weir_hook::hold::HELD_AS;
use weir_host::foreign;
use weir_store::Past;

use crate::replay::places::TranscriptLocation;

/// How many failures are searched for one that was fixed, and how many events for what repaired it.
const MAX_FAILURES: usize = 40;
const MAX_RECENT_EVENTS: usize = 60;

/// A conversation whose steps are converted one after the other.
pub(super) struct StepConverter {
    client: &'static Client,
    key: String,
    folder: PathBuf,
    branch: String,
    subagent: String,
    /// Whether hooks captured something of the session.
    is_hooked: bool,
    /// The model's last message, if nothing has followed it.
    said: Option<(Timestamp, String)>,
    /// The model's last message of the turn before.
    message: String,
    /// The newest failures and fixes, newest first.
    failures: Vec<Event>,
    /// The newest events of any kind, newest first.
    recent: Vec<Event>,
}

impl StepConverter {
    pub(super) fn new(session: &Session, folder: PathBuf, is_hooked: bool) -> Self {
        Self {
            client: session.client(),
            key: session.key.clone(),
            folder,
            branch: session.branch.clone(),
            subagent: session.subagent.clone(),
            is_hooked,
            said: None,
            message: String::new(),
            failures: Vec::new(),
            recent: Vec::new(),
        }
    }

    pub(super) fn branch(&self) -> Option<String> {
        Some(self.branch.clone()).filter(|branch| !branch.is_empty())
    }

    /// Converts a step. Steps that are not imported must be converted too: later ones may refer to them.
    pub(super) fn step(&mut self, session: &Session, step: Step, at: Timestamp) -> Vec<Past> {
        let mut past = Vec::new();
        match step {
            Step::Said { text, .. } => {
                self.say(&text, at);
                return past;
            }
            // The model continues, so its message was not the last one.
            Step::Called { .. } => {
                self.said = None;
                return past;
            }
            Step::Compacted { text } => {
                past.extend(self.finish());
                past.push(Past { at, events: Vec::new(), summary: Some(summary_of(self.client, text)) });
                return past;
            }
            Step::Prompt { .. } => past.extend(self.finish()),
            Step::Result(_) => {}
        }
        let is_held = self.is_hooked && matches!(&step, Step::Result(result) if result.text.contains(HELD_AS));
        let events = self.events(session, step);
        // Hooks were active and saw more of the output than the model did.
        if !is_held {
            past.push(Past { at, events, summary: None });
        }
        past
    }

    /// Converts the model's last message of its turn, if the turn has ended.
    pub(super) fn finish(&mut self) -> Option<Past> {
        let (at, last) = self.said.take()?;
        self.message.clone_from(&last);
        let events = capture::events(&self.hook(Point::Stop { last }));
        Some(Past { at, events, summary: None })
    }

    fn say(&mut self, text: &str, at: Timestamp) {
        if !text.trim().is_empty() {
            self.said = Some((at, text.to_owned()));
        }
    }

    fn events(&mut self, session: &Session, step: Step) -> Vec<Event> {
        let place =
            Place { session: &self.key, folder: &self.folder, transcript: Path::new("/dev/null"), subagent: "" };
        let mut events = Vec::new();
        for told in session.told(step, &place) {
            let wire = Wire::new(told.event, &told.payload);
            let Some(mut hook) = (self.client.decode)(&wire) else { continue };
            hook.subagent = self.subagent();
            events.extend(capture::events(&hook));
            if capture::may_fix(&hook) {
                let mut fixes = capture::fixes(&hook, &self.failures);
                capture::explain_fixes(&mut fixes, &self.recent);
                events.extend(fixes);
            }
            events.extend(capture::choices(&hook, &self.message));
        }
        let failures = events.iter().filter(|event| matches!(event.kind, EventKind::Error | EventKind::Fix));
        for failure in failures.cloned().collect::<Vec<_>>() {
            self.failures.insert(0, failure);
        }
        self.failures.truncate(MAX_FAILURES);
        self.recent.splice(0..0, events.iter().rev().map(|event| Event { whole: None, ..event.clone() }));
        self.recent.truncate(MAX_RECENT_EVENTS);
        events
    }

    fn hook(&self, point: Point) -> Hook {
        Hook {
            session: self.key.clone(),
            folder: self.folder.clone(),
            shell: None,
            transcript: None,
            subagent: self.subagent(),
            point,
            takes: AcceptedReplies::default(),
        }
    }

    fn subagent(&self) -> Option<Subagent> {
        let key = Some(self.subagent.clone()).filter(|key| !key.is_empty())?;
        Some(Subagent { kind: "subagent".to_owned(), key })
    }
}

/// Returns the folder that a session worked in. Gemini CLI records it in a file next to a project's transcripts.
pub(super) fn folder_of(found: &TranscriptLocation, session: &Session) -> PathBuf {
    if !session.folder.is_empty() {
        return PathBuf::from(&session.folder);
    }
    let beside = found.path.parent().and_then(Path::parent).map(|folder| folder.join(".project_root"));
    let written = beside.and_then(|path| foreign::read_user_file(&path, 4 << 10).ok());
    written.map(|text| PathBuf::from(String::from_utf8_lossy(&text).trim())).unwrap_or_default()
}
