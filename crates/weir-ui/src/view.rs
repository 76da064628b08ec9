//! One request for a page: where it is, what it asks for, and the frame around the answer.

use std::path::Path;
use std::sync::Arc;

use axum::http::HeaderMap;
use weir_core::wording::one_line;
use weir_core::{Entry, EntryKind, Level, Origin, SessionKey, Timestamp};
use weir_host::answer::counted;
use weir_host::error::{CommandError, ErrorKind};
use weir_pages::words::{Standing, Words};
use weir_pages::{Moment, Shell, Text, Theme};
use weir_session::sessions;
use weir_store::SessionSummary;

use super::Ui;
use super::clock::Clock;
use super::entrance::cookie;
use super::fields::Fields;
use super::known::ViewedProject;

/// The cookie with the theme.
pub(super) const THEME: &str = "weir-theme";
/// The cookie that turns keys off.
pub(super) const KEYS: &str = "weir-keys";

/// The maximum number of projects that a page over all of them looks at, the ones used last.
pub(super) const MAX_PROJECTS: usize = 20;
const MAX_TITLE_CHARS: usize = 120;

/// A request for a page.
pub(super) struct View<'a> {
    pub(super) ui: &'a Ui,
    pub(super) clock: Clock,
    /// The project of the address; none means all of them.
    pub(super) project: Option<Arc<ViewedProject>>,
    /// All projects that have a store, the one that was used last first.
    pub(super) projects: Vec<Arc<ViewedProject>>,
    pub(super) fields: Fields,
    path: String,
    /// What surrounds the page.
    pub(super) shell: Shell,
}

impl<'a> View<'a> {
    /// Finds the project of an address.
    pub(super) async fn new(ui: &'a Ui, asked: Asked<'_>) -> Result<Self, CommandError> {
        let projects = ui.projects.all().await?;
        let project = match asked.project {
            None => None,
            Some(key) => {
                Some(projects.iter().find(|project| project.address_key() == key).cloned().ok_or_else(|| {
                    CommandError::new(ErrorKind::NotFound, "no project with a store has this address")
                        .hint("choose one in the menu; `weir adopt` takes over the store of a project that was moved")
                })?)
            }
        };
        let clock = Clock::read();
        let others = projects.iter().filter(|other| asked.project != Some(other.address_key()));
        let shell = Shell {
            project: project.as_ref().map(|project| project.link()),
            other_projects: others.map(|project| project.link()).collect(),
            token: ui.entrance.token().into(),
            failing_checks: project.as_ref().and_then(|project| ui.checks.failing(project.address_key())),
            ..frame(ui, &asked, &clock)
        };
        let (fields, path) = (Fields::parse(asked.query.as_bytes()), asked.path.to_owned());
        Ok(Self { ui, clock, project, projects, fields, path, shell })
    }

    /// Returns the projects that the page is about: the chosen one, or those that were used last.
    pub(super) fn places(&self) -> &[Arc<ViewedProject>] {
        match &self.project {
            Some(project) => std::slice::from_ref(project),
            None => &self.projects[..self.projects.len().min(MAX_PROJECTS)],
        }
    }

    /// Says how many projects the page leaves out, if it does.
    pub(super) fn left_out(&self) -> Option<String> {
        let left_out = if self.project.is_some() { 0 } else { self.projects.len() - self.places().len() };
        let projects =
            counted(left_out, "project that was not used lately is", "projects that were not used lately are");
        (left_out > 0).then(|| format!("{projects} not in these figures."))
    }

    /// Says which stores something was not looked for in, if there are others.
    pub(super) fn not_looked_through(&self) -> Option<String> {
        let sentence = match &self.project {
            Some(project) => format!("only {} was looked through; All projects is in the menu", project.name),
            None => "projects that were not used lately were not looked through; choose one in the menu".to_owned(),
        };
        (self.places().len() < self.projects.len()).then_some(sentence)
    }

    /// Returns what was read of a project. On a page over all projects, one that cannot be read does not fail the
    /// page: it is left out, and `unread` says why.
    pub(super) fn if_readable<T>(
        &self,
        project: &ViewedProject,
        read: Result<T, CommandError>,
        unread: &mut Vec<String>,
    ) -> Result<Option<T>, CommandError> {
        match read {
            Ok(read) => Ok(Some(read)),
            Err(error) if self.project.is_none() && error.kind == ErrorKind::Store => {
                unread.push(format!("The store of {} cannot be read: {}.", project.name, error.message));
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    pub(super) fn address(&self) -> &str {
        &self.path
    }

    pub(super) fn address_in(&self, project: &ViewedProject) -> String {
        format!("/in/{}{}", project.address_key(), self.path)
    }

    pub(super) fn moment(&self, at: Timestamp) -> Moment {
        self.clock.moment(at)
    }
}

/// What an address and the headers of a request ask for.
#[derive(Clone, Copy)]
pub(super) struct Asked<'a> {
    pub(super) project: Option<&'a str>,
    pub(super) query: &'a str,
    /// The path and the query, to return to after a form.
    pub(super) path: &'a str,
    pub(super) headers: &'a HeaderMap,
}

/// Returns the frame of a page that is about no project.
pub(super) fn frame(ui: &Ui, asked: &Asked<'_>, clock: &Clock) -> Shell {
    let theme = cookie(asked.headers, THEME);
    let theme = [Theme::Light, Theme::Dark].into_iter().find(|known| theme.as_deref() == Some(known.word()));
    Shell {
        project: None,
        other_projects: Vec::new(),
        theme: theme.unwrap_or(Theme::System),
        has_keys: cookie(asked.headers, KEYS).as_deref() != Some("off"),
        token: ui.entrance.token().into(),
        path: asked.path.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        now: clock.present(),
        notes_to_review: None,
        failing_checks: None,
    }
}

/// Returns what a session is about: its first request that says something.
pub(super) fn title_of(session: &SessionSummary) -> Text {
    let subject = sessions::subject(&session.requests);
    subject.map_or_else(|| "A session without a request".into(), |subject| one_line(&subject, MAX_TITLE_CHARS).into())
}

/// Returns the name of a client as people know it.
pub(super) fn client_name(client: &str) -> &str {
    weir_clients::all().find(|known| known.session == client).map_or(client, |known| known.title)
}

pub(super) fn session_text(key: &SessionKey) -> Text {
    format!("{}~{}", key.client, key.key).into()
}

pub(super) fn session_key(text: &str) -> Option<SessionKey> {
    let (client, key) = text.split_once('~')?;
    Some(SessionKey { client: client.to_owned(), key: key.to_owned() })
}

/// Returns whose words an entry is, and what the user has to do with it.
pub(super) fn words_of(entry: &Entry) -> Words {
    let is_confirmed = entry.note.as_ref().map(|note| note.confirmed_at.is_some());
    let standing = match (entry.origin, is_confirmed) {
        (Origin::Model, Some(true)) => Standing::Confirmed,
        (Origin::Model, Some(false)) => Standing::Unconfirmed,
        (Origin::Tool, None) if entry.kind == EntryKind::Document => Standing::ProjectFile,
        _ => Standing::Plain,
    };
    Words { origin: entry.origin, standing }
}

/// Returns what an entry is called: a note by its topic, a document by its source.
pub(super) fn entry_title(entry: &Entry) -> &str {
    let topic = entry.note.as_ref().and_then(|note| note.topic.as_deref());
    match entry.kind {
        EntryKind::Document => {
            let source = entry.source.as_deref().unwrap_or(&entry.title);
            source.strip_prefix("./").unwrap_or(source)
        }
        _ => topic.unwrap_or(&entry.title),
    }
}

/// Returns how far an entry is visible, in words.
pub(super) fn reach_of(entry: &Entry) -> Text {
    let branch = entry.note.as_ref().and_then(|note| note.branch.as_deref());
    match (entry.level, branch) {
        (Level::User, _) => "everywhere".into(),
        (Level::Project, _) => "project".into(),
        (Level::Work, Some(branch)) => format!("branch {branch}").into(),
        (Level::Work, None) => "this work".into(),
        (Level::Session, _) => "this session".into(),
    }
}

/// Returns a path as a person writes it.
pub(super) fn short_path(path: &Path, home: Option<&Path>) -> String {
    match home.and_then(|home| path.strip_prefix(home).ok()) {
        Some(rest) if rest.as_os_str().is_empty() => "~".to_owned(),
        Some(rest) => format!("~/{}", rest.display()),
        None => path.display().to_string(),
    }
}
