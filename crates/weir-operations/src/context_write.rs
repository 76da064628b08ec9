//! `context_write`: creates a file, or replaces all of it.

use weir_context::{Context, LockedStores};
use weir_core::Scope;
use weir_files::edit::in_form_of;
use weir_files::{Access, Content, Failure, FileAction, FileLocation, FileUse, Folder, diff};
use weir_host::answer::{Answer, counted, size};
use weir_host::error::{CommandError, ErrorKind};

use super::context_edit::{failed, in_utf16};
use super::{Declared, Effect};
use crate::schema::silent;

/// Create a file, or replace one you have read.
#[derive(Debug, clap::Args, serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct ContextWrite {
    /// File to write
    #[schemars(transform = silent)]
    path: String,
    /// Complete text of the file
    #[schemars(transform = silent)]
    #[arg(long)]
    text: String,
    /// Even if unread
    #[serde(default)]
    #[arg(long)]
    overwrite: bool,
}

impl Declared for ContextWrite {
    type Context = Context;
    type Data = WriteData;

    const TOOL: &'static str = "context_write";
    const COMMAND: Option<&'static str> = None;
    const EFFECT: Effect = Effect::Changes;
    const EXAMPLES: &'static str = "";

    async fn run(self, context: &Context) -> Result<Answer<WriteData>, CommandError> {
        let place = weir_files::permit(context, Self::TOOL, &self.path, Access::Create(&self.text)).await?;
        let (scope, here) = (context.scope(), context.clone());
        context.with_stores(move |open| write(&here, open, &scope, &place, &self)).await
    }
}

/// A written file.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct WriteData {
    path: String,
    /// The hash of the new content.
    hash: String,
    /// Whether the file did not exist before.
    made: bool,
}

fn write(
    context: &Context,
    open: &mut LockedStores<'_>,
    scope: &Scope,
    place: &FileLocation,
    order: &ContextWrite,
) -> Result<Answer<WriteData>, CommandError> {
    let known = open.project()?.session_file(scope, &place.shown)?;
    let lock = weir_files::lock(context, &place.full)?;
    let folder = Folder::make(place.folder()).map_err(|error| failed(place, &error))?;
    let before = match Content::read_in(&folder, place.name()) {
        Ok(content) => Some(content),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
        Err(error) => return Err(failed(place, &error)),
    };
    let is_known = |content: &Content| known.as_ref().is_some_and(|it| it.was_read && it.hash == content.hash);
    if before.as_ref().is_some_and(|content| !order.overwrite && !is_known(content)) {
        return Err(unseen(place));
    }
    if before.as_ref().is_some_and(|content| !order.overwrite && content.is_utf16()) {
        return Err(in_utf16(place).hint("set overwrite=true to write it in UTF-8"));
    }
    let text = match &before {
        Some(content) => in_form_of(&order.text, &content.bytes),
        None => order.text.as_str().into(),
    };
    let written = match &before {
        Some(content) => weir_files::replace(&folder, place.name(), content, text.as_bytes()),
        None => weir_files::create(&folder, place.name(), text.as_bytes()),
    };
    match written {
        Ok(()) => {}
        Err(Failure::Moved) => return Err(unseen(place)),
        Err(Failure::Io(error)) => return Err(failed(place, &error)),
    }
    drop(lock);
    let after = Content::read_in(&folder, place.name()).map_err(|error| failed(place, &error))?;
    // Someone may have changed the file since, but the session knows what it wrote.
    let after = Content {
        bytes: text.as_bytes().to_vec(),
        hash: blake3::hash(text.as_bytes()).to_hex().to_string(),
        about: after.about,
    };
    let seen = FileUse { place, content: &after, text: &text, how: FileAction::Wrote, shown: true, given: None };
    weir_files::keep(open, scope, &seen)?;
    let (lines, bytes) = (counted(text.lines().count(), "line", "lines"), size(text.len() as u64));
    let how = match &before {
        None => "created".to_owned(),
        Some(content) => {
            let (added, removed) = diff::counts(&String::from_utf8_lossy(&content.bytes), &text);
            format!("replaced (+{added} -{removed} lines)")
        }
    };
    let said = format!("{} {how}: {lines}, {bytes}, hash {}", place.label(), after.short_hash());
    Ok(Answer::new(said, WriteData { path: place.shown.clone(), hash: after.hash, made: before.is_none() }))
}

fn unseen(place: &FileLocation) -> CommandError {
    let message = format!("{} has content that you have not read; nothing was written", place.label());
    CommandError::new(ErrorKind::Failed, message)
        .hint("read it first with context_read, change part of it with context_edit, or set overwrite=true")
}
