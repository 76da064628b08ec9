//! Reads what is recent in the stores of a project and of the user. Invariant: being listed does not count as being
//! used, and a text that cannot be read hides nothing else.

use std::cmp::Reverse;

use weir_context::LockedStores;
use weir_core::wording::flat;
use weir_core::{Entry, Level, Scope};
use weir_host::error::CommandError;
use weir_store::{RecentPrompt, SessionSummary, Store};

use super::render::NoteForm;
use crate::needs::KnowledgeContext;

const SESSIONS: usize = 5;
const PROMPTS: usize = 10;
/// How many characters of a note are shown after its title.
const MAX_BODY_CHARS: usize = 300;
/// How many bytes of a note are read for that, its title included.
const MAX_BODY_BYTES: u64 = 8 << 10;

#[derive(Debug, Clone, Copy)]
pub(super) struct NoteQuery {
    pub(super) level: Option<Level>,
    pub(super) limit: usize,
    /// Whether their texts are shown too.
    pub(super) form: NoteForm,
}

/// What is recent, each list newest first.
pub(super) struct Recent {
    pub(super) sessions: Vec<SessionSummary>,
    pub(super) prompts: Vec<RecentPrompt>,
    pub(super) notes: Vec<RecentNote>,
    /// Whether there are more notes than the limit.
    pub(super) more_notes: bool,
    /// Which notes cannot be read, and whether the user's are left out.
    pub(super) remarks: Vec<String>,
}

impl Recent {
    pub(super) fn is_empty(&self) -> bool {
        self.sessions.is_empty() && self.prompts.is_empty() && self.notes.is_empty()
    }
}

/// A note with the beginning of its text.
pub(super) struct RecentNote {
    pub(super) entry: Entry,
    /// What the note says after its title, as one line.
    pub(super) body: Option<String>,
}

/// Reads everything in one piece of work on the stores.
pub(super) async fn read(context: &KnowledgeContext, query: NoteQuery) -> Result<Recent, CommandError> {
    let scope = context.scope();
    context
        .with_stores(move |open| {
            let (sessions, prompts) = match open.existing(Level::Project)? {
                Some(store) => (store.sessions(None, SESSIONS)?, store.newest_prompts(PROMPTS)?),
                None => (Vec::new(), Vec::new()),
            };
            // One more than shown tells whether there are more.
            let mut left_out = None;
            let mut entries = newest_notes(open, &scope, (query.level, query.limit + 1), &mut left_out)?;
            let more_notes = entries.len() > query.limit;
            entries.truncate(query.limit);
            let remarks = left_out.into_iter().collect();
            let mut recent = Recent { sessions, prompts, notes: Vec::new(), more_notes, remarks };
            for entry in entries {
                let body = match query.form {
                    NoteForm::Compact => Ok(None),
                    NoteForm::Full => body(open, &scope, &entry),
                };
                if let Err(error) = &body {
                    recent.remarks.push(format!("{} cannot be read: {}", entry.reference, error.message));
                }
                recent.notes.push(RecentNote { entry, body: body.unwrap_or_default() });
            }
            Ok(recent)
        })
        .await
}

/// Returns the newest notes that are not superseded: those of one level, or all that are visible.
fn newest_notes(
    open: &mut LockedStores<'_>,
    scope: &Scope,
    (level, most): (Option<Level>, usize),
    left_out: &mut Option<String>,
) -> Result<Vec<Entry>, CommandError> {
    if let Some(level) = level {
        let store = open.existing(level)?;
        return Ok(store.map(|store| store.newest_notes_at(scope, level, most)).transpose()?.unwrap_or_default());
    }
    let mut notes = Vec::new();
    for level in [Level::Project, Level::User] {
        let read = |store: &mut Store| Ok(store.newest_notes(scope, most)?);
        notes.extend(open.read_if_usable(level, left_out, read)?.unwrap_or_default());
    }
    notes.sort_by_key(|note| Reverse(note.at));
    notes.truncate(most);
    Ok(notes)
}

/// Returns what a note says after its title, if anything.
fn body(open: &mut LockedStores<'_>, scope: &Scope, entry: &Entry) -> Result<Option<String>, CommandError> {
    let Some(text) = open.store(entry.level)?.text(scope, entry.reference)? else { return Ok(None) };
    let bytes = text.range(0..MAX_BODY_BYTES)?;
    let body = flat(after_title(&String::from_utf8_lossy(&bytes), &entry.title), MAX_BODY_CHARS);
    Ok(Some(body).filter(|body| !body.is_empty()))
}

/// Returns a text without the title that was made from its beginning.
fn after_title<'a>(text: &'a str, title: &str) -> &'a str {
    let text = text.trim_start();
    text.strip_prefix(title.strip_suffix('…').unwrap_or(title)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_begins_where_its_title_ends() {
        for (text, title, expected) in [
            ("one line", "one line", ""),
            ("\n  first\nsecond", "first", "\nsecond"),
            ("a very long line", "a very…", " long line"),
            ("a tab\there", "a tab here", "a tab\there"),
        ] {
            assert_eq!(after_title(text, title), expected, "{text}");
        }
    }
}
