//! Stores what plugins report: that a session began, what the user asked for, and what was learned.
//!
//! Invariant: everything is stored as Weir's hooks and tools would store it, without what is marked as private.

use std::collections::HashSet;
use std::path::Path;

use tokio_util::sync::{CancellationToken, DropGuard};
use weir_clients::{AcceptedReplies, Hook, Point, capture};
use weir_context::Context;
use weir_core::event::{LONGEST_TEXT, line};
use weir_core::{EntryKind, Event, EventKind, Level, NewEntry, Note, NoteKind, Origin, Priority, Scope, SessionKey};
use weir_host::answer::one_line;
use weir_host::env::Env;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::face::Face;
use weir_host::project::Project;
use weir_host::switch::Switch;
use weir_operations::context::{Reach, project_context};
use weir_operations::needs::KnowledgeContext;
use weir_session::engram::{CLIENT, without_private};
use weir_store::HistoryFilter;

use super::super::ServerState;
use super::super::calls::CallContext;
use super::learnings;

/// The maximum number of learnings that are kept of one text.
const MAX_LEARNINGS: usize = 100;

/// Which project and session a request is about.
#[derive(Debug, Clone)]
pub(super) struct Subject {
    /// The name of the project. Without one, it is the project of the server.
    pub(super) project: Option<String>,
    /// The folder that the plugin says the project is in.
    pub(super) folder: Option<String>,
    pub(super) session: String,
    /// Which projects may be named.
    pub(super) reach: Reach,
}

/// A project and a session to store something in.
pub(super) struct Place {
    // Before the call, so that its stores are free when the call gives them back.
    knowledge: KnowledgeContext,
    scope: Scope,
    _call: CallContext,
    _given_up: DropGuard,
}

/// What became of the learnings of a text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub(super) struct Learned {
    /// How many the text has.
    pub(super) extracted: usize,
    /// How many were kept as notes.
    pub(super) saved: usize,
    /// How many were kept before.
    pub(super) duplicates: usize,
    /// How many were left out, because the text has too many.
    pub(super) left_out: usize,
}

impl Place {
    /// Finds the project, and opens it for one request.
    pub(super) async fn find(state: &ServerState, subject: &Subject) -> Result<Self, CommandError> {
        let cancel = CancellationToken::new();
        let given_up = cancel.clone().drop_guard();
        let session = SessionKey { client: CLIENT.to_owned(), key: subject.session.clone() };
        let call = state.calls.writing_context(session.clone(), cancel).await;
        let own = KnowledgeContext::of(&call);
        let found = project_context(&own, subject.project.as_deref(), subject.reach).await;
        let knowledge = match (found, new_project(&call, subject)) {
            (Err(error), Some(env)) if error.kind == ErrorKind::NotFound => {
                KnowledgeContext::of(&Context::new(&env, Face::Http)?)
            }
            (found, _) => found?,
        };
        let project = knowledge.own_project();
        let folder = Path::new(&project.root);
        if let Some(off) = Switch::read(call.paths()).off_in(&Project::of_known(&project), folder) {
            return Err(off.error());
        }
        let scope = Scope { session: Some(session), ..knowledge.scope() };
        Ok(Self { knowledge, scope, _call: call, _given_up: given_up })
    }

    /// Records that the session began. Returns whether that was not known before.
    pub(super) async fn begin(&self, folder: Option<&str>) -> Result<bool, CommandError> {
        let folder = folder.map(|folder| format!(" in {folder}")).unwrap_or_default();
        let text = line(&format!("a session began{folder}"), LONGEST_TEXT);
        let event = Event { kind: EventKind::Environment, priority: Priority::P4, text, data: None, whole: None };
        let scope = self.scope.clone();
        self.knowledge
            .with_stores(move |open| {
                let now = open.now;
                let store = open.project()?;
                let (client, session) = scope.session.clone().map(|SessionKey { client, key }| (client, key)).unzip();
                let known = HistoryFilter { session, client, limit: 1, ..HistoryFilter::default() };
                let is_new = store.history(&scope, &known)?.is_empty();
                if is_new {
                    store.append(&scope, &event, now)?;
                }
                Ok(is_new)
            })
            .await
    }

    /// Records a prompt of the user, with what it decides, as a hook does. Returns its number in the history, or `None`
    /// if the text is nothing that a user says.
    pub(super) async fn prompt(&self, text: &str) -> Result<Option<i64>, CommandError> {
        let hook = Hook {
            session: String::new(),
            folder: "/".into(),
            shell: None,
            transcript: None,
            subagent: None,
            point: Point::Prompt { text: without_private(text) },
            takes: AcceptedReplies::default(),
        };
        let (events, scope) = (capture::events(&hook), self.scope.clone());
        self.knowledge
            .with_stores(move |open| {
                let now = open.now;
                let store = open.project()?;
                let mut prompt = None;
                for event in &events {
                    let number = store.append(&scope, event, now)?;
                    prompt = prompt.or((event.kind == EventKind::Prompt).then_some(number));
                }
                Ok(prompt)
            })
            .await
    }

    /// Keeps what a text says was learned, each item as a note of a model, unless there is such a note.
    pub(super) async fn learn(&self, text: &str, source: &str) -> Result<Learned, CommandError> {
        let items = learnings::items(&without_private(text));
        let extracted = items.len();
        let (scope, head, source) = (self.scope.clone(), self.knowledge.head()?, one_line(source, 60));
        self.knowledge
            .with_stores(move |open| {
                let now = open.now;
                let store = open.project()?;
                let left_out = extracted.saturating_sub(MAX_LEARNINGS);
                let mut learned = Learned { extracted, left_out, ..Learned::default() };
                let (mut seen, mut entries) = (HashSet::new(), Vec::new());
                for item in items.into_iter().take(MAX_LEARNINGS) {
                    if !seen.insert(item.clone()) || store.note_with_text(&scope, &item)?.is_some() {
                        learned.duplicates += 1;
                        continue;
                    }
                    let (commit, branch) = (head.commit.clone(), head.branch.clone());
                    let note = Note { commit, branch, ..Note::new(NoteKind::Finding) };
                    let title = one_line(&item, 100);
                    let entry = NewEntry {
                        source: Some(source.clone()),
                        text: item.into_bytes(),
                        note: Some(note),
                        ..NewEntry::new(EntryKind::Note, Origin::Model, Level::Project, title)
                    };
                    entries.push((scope.clone(), entry));
                }
                for kept in store.keep_together(entries, now) {
                    kept?;
                    learned.saved += 1;
                }
                Ok(learned)
            })
            .await
    }
}

/// Returns the environment of a project that is not known yet, if the plugin says where it is: in a folder of its name.
fn new_project(context: &Context, subject: &Subject) -> Option<Env> {
    let (name, folder) = (subject.project.as_deref()?.trim(), std::path::PathBuf::from(subject.folder.as_deref()?));
    let is_it = folder.is_absolute() && folder.is_dir() && folder.file_name().is_some_and(|own| own == name);
    let is_free = subject.reach == Reach::AnyProject;
    (is_it && is_free).then(|| {
        let mut env = context.env().clone();
        env.folder = folder;
        env
    })
}
