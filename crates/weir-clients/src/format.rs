//! The format of transcripts: what a client's file says about them, and the session that its reader fills.

pub(crate) mod session;

use serde_json::Value;
use weir_core::Timestamp;

use crate::Client;
use session::{CopiedPart, HookPayload, Place, RequestMoment, Session, Step, TimedStep, Usage};

/// The format of one client's transcripts.
pub(crate) struct Format {
    pub(crate) client: &'static Client,
    /// The folders below the home folder in which the client writes them.
    pub(crate) folders: &'static [&'static str],
    /// The database below the home folder in which the client keeps them.
    pub(crate) database: Option<&'static str>,
    /// Whether its rows have every field of another client's, so that it must be asked first.
    pub(crate) extends_another: bool,
    /// Whether a transcript may contain unrelated sessions.
    pub(crate) many: bool,
    /// Whether the transcript of a fork repeats the messages of the session that it was forked from, with their
    /// identifiers.
    pub(crate) forks_copy: bool,
    /// Returns whether a row is of this format.
    pub(crate) knows: fn(&Value) -> bool,
    /// Returns a reader for the beginning of a transcript.
    pub(crate) reader: fn() -> Box<dyn RowReader>,
    /// Returns the hooks that the client would have called at a step.
    pub(crate) hooks_for: fn(Step, &Place<'_>) -> Vec<HookPayload>,
}

/// Turns the rows of one transcript into sessions.
pub(crate) trait RowReader {
    /// Reads the next row. Returns whether it fits the client's format.
    fn row(&mut self, row: Value) -> bool;

    /// Returns the sessions that rows add steps to. Empty for a format in which a row can change an earlier one.
    fn drafts(&mut self) -> Vec<&mut Draft> {
        Vec::new()
    }

    /// Returns the sessions of the rows so far, without the steps that were already passed on.
    fn finish(&mut self) -> Vec<Draft> {
        self.drafts().into_iter().map(std::mem::take).collect()
    }
}

/// A session while it is being read.
#[derive(Default)]
pub(crate) struct Draft {
    pub(crate) key: String,
    pub(crate) version: String,
    pub(crate) folder: String,
    pub(crate) branch: String,
    pub(crate) subagent: String,
    pub(crate) origin: String,
    pub(crate) models: Models,
    pub(crate) steps: Vec<TimedStep>,
    pub(crate) requests: Vec<Usage>,
    pub(crate) moments: Vec<RequestMoment>,
    /// The number of steps that were passed on already.
    pub(crate) passed: usize,
    /// The first message of each request, for a format with identifiers that forks copy.
    pub(crate) request_messages: Vec<String>,
    /// The steps before which earlier results were dropped.
    pub(crate) cleared: Vec<usize>,
    pub(crate) rows: usize,
    /// The time of the current row and the client's name for its message.
    pub(crate) row: (Option<Timestamp>, String),
}

impl Draft {
    /// Fills in the fields of the session that no earlier row has set. The keys are those of the session key, the
    /// version, the folder and the branch.
    pub(crate) fn fill_missing(&mut self, row: &Value, keys: [&str; 4]) {
        let fields = [&mut self.key, &mut self.version, &mut self.folder, &mut self.branch];
        for (key, field) in keys.into_iter().zip(fields) {
            if let Some(value) = row[key].as_str().filter(|_| field.is_empty()) {
                value.clone_into(field);
            }
        }
    }

    pub(crate) fn begin(&mut self, at: Option<Timestamp>, message: &str) {
        self.row.0 = at.or(self.row.0);
        message.clone_into(&mut self.row.1);
    }

    /// Adds a step of the current row.
    pub(crate) fn push(&mut self, step: Step) {
        let (at, message) = self.row.clone();
        self.steps.push(TimedStep { step, at, message });
    }

    /// Moves the steps so far into a new draft of the same session.
    pub(crate) fn drain(&mut self) -> Self {
        self.passed += self.steps.len();
        Self {
            key: self.key.clone(),
            version: self.version.clone(),
            folder: self.folder.clone(),
            branch: self.branch.clone(),
            subagent: self.subagent.clone(),
            origin: self.origin.clone(),
            steps: std::mem::take(&mut self.steps),
            ..Self::default()
        }
    }

    pub(crate) fn finish(self, format: &'static Format) -> (Session, Vec<TimedStep>) {
        let session = Session {
            format,
            key: self.key,
            version: self.version,
            folder: self.folder,
            branch: self.branch,
            subagent: self.subagent,
            origin: self.origin,
            model: self.models.most(),
            steps: Vec::new(),
            requests: self.requests,
            moments: self.moments,
            cleared: self.cleared,
            copied: CopiedPart::default(),
            step_messages: Vec::new(),
            request_messages: self.request_messages,
        };
        (session, self.steps)
    }
}

/// Returns a time as clients write it: as text or in milliseconds.
pub(crate) fn time(value: &Value) -> Option<Timestamp> {
    let written = || value.as_str()?.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond);
    value.as_i64().or_else(written).map(Timestamp)
}

#[derive(Default)]
pub(crate) struct Models(Vec<(String, usize)>);

impl Models {
    pub(crate) fn count(&mut self, name: &str) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, times)) => *times += 1,
            None if !name.is_empty() => self.0.push((name.to_owned(), 1)),
            None => {}
        }
    }

    fn most(self) -> String {
        self.0.into_iter().max_by_key(|(_, times)| *times).map(|(name, _)| name).unwrap_or_default()
    }
}

/// Takes the value at a key, or null.
pub(crate) fn take(value: &mut Value, key: &str) -> Value {
    value.get_mut(key).map(Value::take).unwrap_or_default()
}

/// Returns the text of a message: a string, or its parts joined.
pub(crate) fn content_text(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}
