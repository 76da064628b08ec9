//! Records what a session has done with a file.

use std::path::Path;

use serde_json::json;
use weir_context::LockedStores;
use weir_core::event::{LONGEST_TEXT, line};
use weir_core::{Event, EventKind, Priority, Scope};
use weir_host::error::CommandError;
use weir_outline::Level;
use weir_store::SessionFile;

use super::delivery::{self, Delivery};
use super::{Content, FileLocation, outlined};

/// What a session did with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileAction {
    /// Looked at its outline.
    Peeked,
    /// Read it, in full or in part.
    Read,
    /// Changed a part of it.
    Edited,
    Wrote,
}

/// A file that a session is working with.
pub struct FileUse<'a> {
    pub place: &'a FileLocation,
    pub content: &'a Content,
    pub text: &'a str,
    pub how: FileAction,
    /// Whether the model now has all of this content.
    pub shown: bool,
    /// What the model was given, with its number of tokens. `None` if the model wrote the text itself.
    pub given: Option<(Delivery, u64)>,
}

/// Records what a session now knows about a file, and the event itself. Returns the previously active file if it is no
/// longer active.
pub fn keep(
    open: &mut LockedStores<'_>,
    scope: &Scope,
    seen: &FileUse<'_>,
) -> Result<Option<SessionFile>, CommandError> {
    let now = open.now;
    let store = open.project()?;
    let mut file = SessionFile { known_at: now, ..of(seen) };
    match store.session_file(scope, &seen.place.shown)? {
        // Looking at an outline after reading the text does not show what has changed in the text since.
        Some(known) if seen.how == FileAction::Peeked && known.was_read && !seen.shown => file = known,
        Some(known) => {
            file.edits += known.edits;
            file.shown |= seen.how == FileAction::Read && known.shown && known.hash == file.hash;
        }
        None => {}
    }
    let before = store.keep_session_file(scope, &file, &file_event(seen))?;
    match before {
        Some(path) => Ok(store.session_file(scope, &path)?),
        None => Ok(None),
    }
}

fn of(seen: &FileUse<'_>) -> SessionFile {
    let outline = outlined(Path::new(&seen.place.shown), seen.text, Level::Standard).ok();
    let outline = outline.filter(|shown| shown.level.is_some());
    SessionFile {
        path: seen.place.shown.clone(),
        hash: seen.content.hash.clone(),
        bytes: seen.content.bytes.len() as u64,
        lines: seen.text.lines().count() as u64,
        tokens: weir_tokens::count(seen.text) as u64,
        outline_tokens: outline.map(|shown| weir_tokens::count(&shown.text) as u64),
        known_at: weir_core::Timestamp(0),
        edits: u64::from(matches!(seen.how, FileAction::Edited | FileAction::Wrote)),
        active: seen.how != FileAction::Peeked,
        was_read: seen.how != FileAction::Peeked || seen.shown,
        shown: seen.shown,
    }
}

/// Returns the event, in the form in which hooks report a client's own tools.
fn file_event(seen: &FileUse<'_>) -> Event {
    let (how, priority) = match seen.how {
        FileAction::Peeked => ("outlined", Priority::P4),
        FileAction::Read => ("read", Priority::P4),
        FileAction::Edited => ("edited", Priority::P2),
        FileAction::Wrote => ("wrote", Priority::P2),
    };
    let path = line(&seen.place.shown, LONGEST_TEXT);
    let mut data = json!({ "path": path, "how": how });
    if let (Some((given, gave)), Some(fields)) = (seen.given, data.as_object_mut()) {
        fields.extend(delivery::record(seen, given, gave));
    }
    let data = data.to_string();
    Event {
        kind: EventKind::File,
        priority,
        text: line(&format!("{how} {path}"), LONGEST_TEXT),
        data: Some(data),
        whole: None,
    }
}
