//! `context_edit`: applies an exact change to a file.

use weir_context::{Context, LockedStores};
use weir_core::Scope;
use weir_files::edit::{self, Edit, EditError};
use weir_files::{Access, Content, Failure, FileAction, FileLocation, FileUse, Folder, diff};
use weir_host::answer::{Answer, counted};
use weir_host::error::{CommandError, ErrorKind};

use super::{Declared, Effect};
use crate::schema::silent;

const MAX_DIFF_TOKENS: usize = 500;

/// Replace exact text in a file, once or `all`; fails if it changed since you read it.
#[derive(Debug, clap::Args, serde::Deserialize, schemars::JsonSchema)]
pub(crate) struct ContextEdit {
    /// File to edit
    #[schemars(transform = silent)]
    path: String,
    /// Text to replace
    #[schemars(transform = silent)]
    #[arg(long)]
    old: String,
    /// Replacement text
    #[schemars(transform = silent)]
    #[arg(long)]
    new: String,
    /// Replace every occurrence
    #[schemars(transform = silent)]
    #[serde(default)]
    #[arg(long)]
    all: bool,
}

impl Declared for ContextEdit {
    type Context = Context;
    type Data = EditData;

    const TOOL: &'static str = "context_edit";
    const COMMAND: Option<&'static str> = None;
    const EFFECT: Effect = Effect::Changes;
    const EXAMPLES: &'static str = "";

    async fn run(self, context: &Context) -> Result<Answer<EditData>, CommandError> {
        let shown = self.shown();
        let place = weir_files::permit(context, Self::TOOL, &self.path, Access::Change(&shown)).await?;
        let (scope, here) = (context.scope(), context.clone());
        context.with_stores(move |open| change(&here, open, &scope, &place, &self)).await
    }
}

impl ContextEdit {
    fn shown(&self) -> String {
        let marked = |mark: &str, text: &str| text.lines().map(|line| format!("{mark}{line}\n")).collect::<String>();
        let places = if self.all { "every occurrence:\n" } else { "" };
        format!("{places}{}{}", marked("- ", &self.old), marked("+ ", &self.new))
    }
}

/// An edited file.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub(crate) struct EditData {
    path: String,
    /// The hash of the new content.
    hash: String,
    /// The number of places that changed.
    places: usize,
}

fn change(
    context: &Context,
    open: &mut LockedStores<'_>,
    scope: &Scope,
    place: &FileLocation,
    order: &ContextEdit,
) -> Result<Answer<EditData>, CommandError> {
    let known = open.project()?.session_file(scope, &place.shown)?;
    let lock = weir_files::lock(context, &place.full)?;
    let folder = Folder::open(place.folder()).map_err(|error| failed(place, &error))?;
    let before = Content::read(place)?;
    if known.as_ref().is_some_and(|known| known.was_read && known.hash != before.hash) {
        return Err(changed(place));
    }
    before.text(place)?;
    if before.is_utf16() {
        return Err(in_utf16(place).hint(format!("change it with {}", place.face.execute_file())));
    }
    let wanted = Edit { old: &order.old, new: &order.new, all: order.all };
    let made = edit::apply(&before.bytes, wanted).map_err(|miss| missed(place, miss))?;
    match weir_files::replace(&folder, place.name(), &before, &made.bytes) {
        Ok(()) => {}
        Err(Failure::Moved) => return Err(changed(place)),
        Err(Failure::Io(error)) => return Err(failed(place, &error)),
    }
    drop(lock);
    let after =
        Content { hash: blake3::hash(&made.bytes).to_hex().to_string(), bytes: made.bytes, about: before.about };
    let [old, new] = [&before.bytes, &after.bytes].map(|bytes| String::from_utf8_lossy(bytes));
    // If bytes are replaced for display, positions in the bytes are not positions in the text.
    let is_text = [&before.bytes, &after.bytes].iter().all(|bytes| std::str::from_utf8(bytes).is_ok());
    let places = if is_text { &made.places[..] } else { &[] };
    let (shown, whole) = diff::unified(&old, &new, places, MAX_DIFF_TOKENS);
    let shown_whole = known.is_some_and(|known| known.shown) && whole && is_text;
    let seen = FileUse { place, content: &after, text: &new, how: FileAction::Edited, shown: shown_whole, given: None };
    weir_files::keep(open, scope, &seen)?;
    let count = made.places.len();
    let said = counted(count, "occurrence", "occurrences");
    let head = format!("changed {said} in {}, now hash {}", place.label(), after.short_hash());
    let outline = weir_files::changes(std::path::Path::new(&place.shown), &old, &new);
    let parts = [head, shown.trim_end().to_owned(), outline];
    let text = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n");
    Ok(Answer::new(text, EditData { path: place.shown.clone(), hash: after.hash, places: count }))
}

/// Returns the error for a file that has changed since the session read it.
pub(super) fn changed(place: &FileLocation) -> CommandError {
    CommandError::new(
        ErrorKind::Failed,
        format!("{} has changed since you read it; nothing was written", place.label()),
    )
    .hint("read it, or the lines you need, again with context_read, then repeat the change")
}

/// Returns the error for a file in UTF-16, which a change would turn into UTF-8.
pub(super) fn in_utf16(place: &FileLocation) -> CommandError {
    let message = format!("cannot change {}: it is in UTF-16, and Weir writes UTF-8", place.label());
    CommandError::new(ErrorKind::Failed, message)
}

pub(super) fn failed(place: &FileLocation, error: &std::io::Error) -> CommandError {
    CommandError::new(ErrorKind::Failed, format!("cannot write {}: {error}", place.label()))
}

fn missed(place: &FileLocation, miss: EditError) -> CommandError {
    let shown = place.label();
    match miss {
        EditError::Empty => {
            CommandError::usage("`old` is empty").hint("to create or replace a whole file, use context_write")
        }
        EditError::Same => CommandError::usage("`old` and `new` are the same"),
        EditError::Absent(None) => CommandError::usage(format!("`old` is not in {shown}, and no lines are similar")),
        EditError::Absent(Some(near)) => {
            CommandError::usage(format!("`old` is not in {shown}; the most similar lines:\n{near}"))
                .hint("copy `old` exactly from these lines, without the line numbers")
        }
        EditError::Many(lines, count) => {
            let named = lines.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            let more = if count > lines.len() { ", …" } else { "" };
            CommandError::usage(format!("`old` occurs {count} times in {shown}: lines {named}{more}"))
                .hint("include more surrounding lines to make it unique, or set all=true")
        }
    }
}
