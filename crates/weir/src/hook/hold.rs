//! Holds back the output of a client's own tool: kept whole, with a digest in its place.
//!
//! Invariants: a small output is left alone, and so is one that is a digest already, or a part of a file that was asked
//! for; what takes the place of an output has fewer tokens; what the client has thrown away is never said to be held.

mod outline;

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use weir_clients::{Done, Tool, ToolCall};
use weir_core::wording::{one_line, size};
use weir_core::{Ended, EntryKind, Level, NewEntry, Origin, Reference, RunFacts, Scope, Timestamp};
use weir_digest::{About, Frame};
use weir_store::{BlobReader, LONGEST_TEXT, NotKept, Store, TextWriter};

use super::payload::copy;
use super::{Call, LEAVE, TITLE, faults, unreadable};
use crate::config;
use crate::error::CommandError;
use crate::foreign;
use crate::run::read_on;
use crate::text::{Stored, ends};

/// Up to this many tokens, an output is left alone.
pub(super) const SMALL: usize = 2_000;
/// The same for a file: whoever reads one often means to change it, and would have to read it again in parts.
const SMALL_FILE: usize = 8_000;
/// An output of fewer bytes cannot have more tokens than [`SMALL`].
const SURELY_SMALL: u64 = SMALL as u64;
/// An output of more bytes takes a moment to be held.
const LONG: u64 = 256 << 10;
/// A file of more bytes is not read again when a client has read it: what the client was given is kept instead.
const LARGEST_READ: u64 = 64 << 20;
/// One of more bytes is not small.
const WHOLE_BYTES: u64 = 1 << 20;

/// What takes the place of an output, if something does.
pub(super) fn output(call: &mut Call<'_>, used: &ToolCall, done: &Done) -> Result<Option<String>, CommandError> {
    let Some(small) = small(&used.tool) else { return Ok(None) };
    let saved = done.output.saved.as_deref();
    // What the client saved must be there to be read: the text at hand is only a part of it.
    if saved.is_some_and(|path| open(path).is_none()) {
        return Ok(None);
    }
    if !call.hook.takes.output || done.output.cut || used.input.to_string().contains(LEAVE) {
        return Ok(None);
    }
    if saved.is_none() && call.payload.bytes(&done.output.text) <= SURELY_SMALL {
        return Ok(None);
    }
    let is_small = |text: &str| weir_digest::whole(&text.as_bytes(), small).map_err(unreadable);
    if saved.is_none() && !call.payload.is_long(&done.output.text) && is_small(&done.output.text)?.is_some() {
        return Ok(None);
    }
    match held(call, used, done)? {
        Held::Back(shown) => Ok(Some(shown)),
        Held::NotKept(_) => Ok(None),
    }
}

/// What a command had printed when it was killed: whole if small.
pub(super) fn killed(call: &mut Call<'_>, used: &ToolCall, done: &Done) -> Result<String, CommandError> {
    let printed = done.output.saved.as_deref().unwrap_or(Path::new(""));
    match small_file(printed).map_err(unreadable)? {
        Some(text) => Ok(format!("What the command had printed:\n{text}")),
        None => match held(call, used, done)? {
            Held::Back(shown) => Ok(shown),
            Held::NotKept(text) => {
                Ok(format!("What the command had printed; it is not kept yet:\n{}", ends(&text, SMALL)?.text))
            }
        },
    }
}

/// The text of a file that is small.
pub(super) fn small_file(path: &Path) -> std::io::Result<Option<String>> {
    if std::fs::metadata(path)?.len() > WHOLE_BYTES {
        return Ok(None);
    }
    weir_digest::whole(&std::fs::read(path)?.as_slice(), SMALL)
}

/// What became of an output that was to be held back.
enum Held {
    /// It is kept; this takes its place.
    Back(String),
    /// It could not be kept now. Its text is in the spool, unless it is too long for that.
    NotKept(Box<BlobReader>),
}

/// Keeps an output and shows its digest.
fn held(call: &mut Call<'_>, used: &ToolCall, done: &Done) -> Result<Held, CommandError> {
    if let Tool::Read { path, .. } = &used.tool {
        outline::prepare(Path::new(path));
    }
    let mut writer = call.store.writer()?;
    // Of a large file, a client reads the beginning; the digest is of the file that was asked for.
    // The tool itself has just read it, through links too.
    let read = used.tool.path().and_then(|path| call.hook.folder.join(path).canonicalize().ok());
    call.store.set_limits(config::read(&call.paths.config)?.limits);
    let file = match done.output.saved.as_deref() {
        Some(saved) => open(saved).map(|file| file.take(u64::MAX)),
        None => read.as_deref().and_then(open_read).map(|file| file.take(LARGEST_READ)),
    };
    match file {
        Some(mut file) => copy(&mut file, &mut |bytes| put(&mut writer, bytes)).map_err(unreadable)?,
        None => {
            let mut to = |bytes: &[u8]| put(&mut writer, bytes);
            call.payload.write(&done.output.text, &mut to).map_err(unreadable)?;
        }
    }
    let what = What { entry: entry(used, done), head: head(used, done) };
    let (entry, head) = (what.entry.clone(), what.head.clone());
    let kept = match keep(&mut call.store, &call.scope, what, writer, call.now) {
        Ok(kept) => kept,
        Err(NotKept { error, text: Some(text) }) if error.may_pass() => {
            if text.bytes() <= LONGEST_TEXT {
                call.aside.output = Some(NewEntry { text: text.all()?, ..entry });
            } else {
                faults::note("holding back", &format!("an output of {} is not kept: {error}", size(text.bytes())));
            }
            return Ok(Held::NotKept(text));
        }
        Err(failed) => return Err(failed.error.into()),
    };
    if let Tool::Read { path, .. } = &used.tool
        && let Some(shown) = outline::shown(&kept.text, Path::new(path), (&head, kept.reference))?
    {
        return Ok(Held::Back(shown));
    }
    digest(&kept, &head).map(Held::Back)
}

/// Up to how many tokens the output of a tool is left alone; none when it always is.
fn small(tool: &Tool) -> Option<usize> {
    match tool {
        Tool::Shell { .. } | Tool::Search { .. } | Tool::Fetch { .. } | Tool::Mcp { .. } | Tool::Other => Some(SMALL),
        Tool::Read { part: false, .. } => Some(SMALL_FILE),
        // What a subagent says is what it was asked for; the rest is small, or ours.
        _ => None,
    }
}

/// Whether to hold an output may take long, by its size or since a file is read.
pub(super) fn may_take_long(used: &ToolCall, done: &Done, bytes: u64) -> bool {
    done.output.saved.is_some() || bytes > LONG || (bytes > SURELY_SMALL && matches!(used.tool, Tool::Read { .. }))
}

/// The file in which a client saved an output.
fn open(path: &Path) -> Option<File> {
    let is_file = std::fs::symlink_metadata(path).is_ok_and(|about| about.is_file());
    is_file.then(|| foreign::open_of_user(path).ok()).flatten()
}

/// A file that a tool read, if it is not so large that a client would have to wait for it.
fn open_read(path: &Path) -> Option<File> {
    open(path).filter(|file| file.metadata().is_ok_and(|about| about.len() <= LARGEST_READ))
}

/// Writes on, also when that has failed: who keeps the text is told.
#[expect(clippy::unnecessary_wraps, reason = "whoever copies expects a result")]
fn put(writer: &mut TextWriter, bytes: &[u8]) -> std::io::Result<()> {
    let _ = writer.write(bytes);
    Ok(())
}

/// What is held back, and what is said of it first.
pub(super) struct What {
    /// As what it is kept.
    pub entry: NewEntry,
    /// How it went.
    pub head: String,
}

/// A text that is kept.
struct KeptText {
    title: String,
    reference: Reference,
    text: BlobReader,
}

/// Keeps a text and shows its digest.
pub(super) fn keep_and_show(
    store: &mut Store,
    scope: &Scope,
    what: What,
    writer: TextWriter,
    now: Timestamp,
) -> Result<String, CommandError> {
    let head = what.head.clone();
    let kept = keep(store, scope, what, writer, now).map_err(|failed| failed.error)?;
    digest(&kept, &head)
}

fn keep(store: &mut Store, scope: &Scope, what: What, writer: TextWriter, now: Timestamp) -> Result<KeptText, NotKept> {
    let title = what.entry.title.clone();
    let (kept, text) = store.keep_and_open(scope, what.entry, writer, now)?;
    Ok(KeptText { title, reference: kept.reference, text })
}

fn digest(kept: &KeptText, head: &str) -> Result<String, CommandError> {
    let source = Stored::new(&kept.text)?;
    let page = weir_digest::read(&source, About { command: &kept.title }).map_err(unreadable)?;
    let remarks: Vec<String> = source.remark().into_iter().collect();
    let bytes = kept.text.bytes();
    let frame = Frame {
        head,
        remarks: &remarks,
        reference: kept.reference,
        lines: kept.text.line_ends_before(bytes)?,
        bytes,
        read_on: read_on(Origin::Model),
    };
    Ok(page.render(&frame, weir_digest::budget(bytes)).to_string())
}

fn entry(used: &ToolCall, done: &Done) -> NewEntry {
    let (kind, origin, title) = match &used.tool {
        Tool::Shell { command } => (EntryKind::Run, Origin::Tool, command.clone()),
        Tool::Read { path, .. } => (EntryKind::File, Origin::Tool, path.clone()),
        Tool::Fetch { what } => (EntryKind::Page, Origin::Web, what.clone()),
        Tool::Mcp { server, tool } => (EntryKind::Run, Origin::Tool, format!("{server}/{tool}")),
        _ => (EntryKind::Run, Origin::Tool, used.name.clone()),
    };
    let run = matches!(used.tool, Tool::Shell { .. }).then(|| run_facts(done.exit_code, done.millis.unwrap_or(0)));
    NewEntry { run, ..NewEntry::new(kind, origin, Level::Project, one_line(&title, TITLE)) }
}

/// How a command of a client went: it ran where the client runs its commands.
pub(super) fn run_facts(exit_code: Option<i32>, millis: u64) -> RunFacts {
    let sandbox = "the client's".to_owned();
    RunFacts { exit_code, signal: None, millis, sandbox, ended: Ended::Exited, pieces: Default::default() }
}

fn head(used: &ToolCall, done: &Done) -> String {
    let how = match (&used.tool, done.exit_code, done.failed) {
        (Tool::Shell { .. }, Some(code), _) => format!("exit {code}"),
        (_, _, true) => "failed".to_owned(),
        (Tool::Read { path, .. }, ..) => one_line(path, TITLE),
        (Tool::Mcp { server, tool }, ..) => format!("{server}/{tool}"),
        _ => "done".to_owned(),
    };
    match done.millis {
        Some(millis) => format!("{how} in {millis} ms"),
        None => how,
    }
}
