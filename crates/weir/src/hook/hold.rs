//! Holds back the output of a client's own tool: kept whole, with less in its place.
//!
//! What the output is for decides what happens to it. A text that was asked for stays whole up to a size at which it endangers
//! the window, and is then shown by its beginning and its outline. A by-product or a flood becomes a digest. What is shown whole
//! goes without the lines that the conversation has been shown before.
//!
//! Invariants: a small output is left alone but for such lines, and so is one that is a digest already, or a part of a file
//! that was asked for; what takes the place of an output has fewer tokens; what the client has thrown away is never said to be
//! held.

mod beginning;
mod outline;
pub(super) mod repeats;
mod show;

use std::fs::File;
use std::io::{Read as _, Seek as _, Take, Write as _};
use std::path::Path;

use weir_clients::{Done, Purpose, Tool, ToolCall};
use weir_core::wording::{one_line, size};
use weir_core::{Ended, EntryKind, Level, NewEntry, Origin, Reference, RunFacts, Scope, Timestamp};
use weir_store::{BlobReader, LONGEST_TEXT, NotKept, Store, TextWriter};

pub(super) use self::show::Ask;
use super::payload::{Payload, copy};
use super::rewrite::Rewritten;
use super::{Call, LEAVE, TITLE, faults, unreadable};
use crate::config::{self, HoldConfig};
use crate::error::CommandError;
use crate::foreign;
use crate::text::ends;

/// Up to this many tokens, what a killed command printed is shown whole.
pub(super) const SMALL: usize = 2_000;
/// An output of fewer bytes is small, whatever the configuration says.
const SURELY_SMALL: u64 = 1_000;
/// An output of more bytes takes a moment to be held.
const LONG: u64 = 256 << 10;
/// A file of more bytes is not read again when a client has read it: what the client was given is kept instead.
const LARGEST_READ: u64 = 64 << 20;
/// One of more bytes is not small.
const WHOLE_BYTES: u64 = 1 << 20;
/// What stands before the reference in everything that takes the place of an output.
pub(crate) const HELD_AS: &str = "held as [ctx:";

/// What takes the place of an output, if something does.
pub(super) fn output(
    call: &mut Call<'_>,
    used: &ToolCall,
    (done, rewritten): (&Done, Rewritten),
) -> Result<Option<String>, CommandError> {
    let saved = done.output.saved.as_deref();
    // What the client saved must be there to be read: the text at hand is only a part of it.
    if saved.is_some_and(|path| open(path).is_none()) {
        return Ok(None);
    }
    if !call.hook.takes.output || done.output.cut || used.input.to_string().contains(LEAVE) {
        return Ok(None);
    }
    // A rewritten command, whose digest was made as it ended.
    if rewritten == Rewritten::Relayed && done.output.text.contains(HELD_AS) {
        return Ok(None);
    }
    if saved.is_none() && call.payload.bytes(&done.output.text) < repeats::MIN_BYTES as u64 {
        return Ok(None);
    }
    let purpose = weir_clients::purpose(used);
    if purpose == Purpose::Settled {
        return Ok(None);
    }
    let is_here = saved.is_none() && !call.payload.is_long(&done.output.text);
    if is_here && done.output.text.len() as u64 <= SURELY_SMALL {
        return repeats::output(call, used, done);
    }
    let config = config::read(&call.paths.config)?.hold;
    if config.leaves_alone(used, &call.hook.folder) {
        return Ok(None);
    }
    let limit = config.limit(purpose);
    let is_part = matches!(used.tool, Tool::Read { part: true, .. });
    if is_here && (is_part || weir_digest::whole(&done.output.text.as_bytes(), limit).map_err(unreadable)?.is_some()) {
        return repeats::output(call, used, done);
    }
    // A text that was asked for and that the client saved: what it shows of it, and the path it names, cost less.
    if is_part || (saved.is_some() && purpose == Purpose::AskedFor) {
        return Ok(None);
    }
    match held(call, used, done)? {
        Held::Back(shown) => Ok(Some(shown)),
        Held::NotKept(_) => Ok(None),
    }
}

impl HoldConfig {
    /// Up to how many tokens an output is left alone.
    pub(super) fn limit(&self, purpose: Purpose) -> usize {
        match purpose {
            Purpose::AskedFor => self.asked_tokens,
            Purpose::ByProduct => self.by_product_tokens,
            Purpose::Flood => self.flood_tokens,
            Purpose::Unclear | Purpose::Settled => self.unclear_tokens,
        }
    }

    /// Whether the user wants the output of a call left alone.
    fn leaves_alone(&self, used: &ToolCall, folder: &Path) -> bool {
        let command = match &used.tool {
            Tool::Shell { command } => command.trim(),
            tool => tool.path().unwrap_or_default(),
        };
        let fits = |pattern: &str, text: &str| match pattern.strip_suffix('*') {
            Some(beginning) => text.starts_with(beginning),
            None => text == pattern,
        };
        let is_meant = |rule: &String| match rule.strip_suffix(')').and_then(|rule| rule.split_once('(')) {
            Some((tool, pattern)) => fits(tool, &used.name) && fits(pattern, command),
            None => fits(rule, &used.name),
        };
        self.off.iter().any(is_meant) || self.off_folders.iter().any(|off| folder.starts_with(off))
    }
}

/// What a command had printed when it was killed: whole if small.
pub(super) fn killed(call: &mut Call<'_>, used: &ToolCall, done: &Done) -> Result<String, CommandError> {
    let printed = done.output.saved.as_deref().unwrap_or(Path::new(""));
    match small_file(printed, SMALL).map_err(unreadable)? {
        Some(text) => Ok(format!("Output before the command was killed:\n{text}")),
        None => match held(call, used, done)? {
            Held::Back(shown) => Ok(shown),
            Held::NotKept(text) => {
                Ok(format!("Output before the command was killed; not kept yet:\n{}", ends(&text, SMALL)?.text))
            }
        },
    }
}

/// The text of a file that has no more than this many tokens.
pub(super) fn small_file(path: &Path, tokens: usize) -> std::io::Result<Option<String>> {
    if std::fs::metadata(path)?.len() > WHOLE_BYTES {
        return Ok(None);
    }
    weir_digest::whole(&std::fs::read(path)?.as_slice(), tokens)
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
    let saved = done.output.saved.as_deref();
    if let Tool::Read { path, .. } = &used.tool {
        outline::prepare(Path::new(path));
    }
    let mut writer = call.store.writer()?;
    // Of a large file, a client reads the beginning; what is kept is the file that was asked for, if it still begins so.
    // Something else may have taken its place since.
    let read = used.tool.path().and_then(|path| call.hook.folder.join(path).canonicalize().ok());
    call.store.set_limits(config::read(&call.paths.config)?.limits);
    let file = match saved {
        Some(saved) => open(saved).map(|file| file.take(u64::MAX)),
        None => read.as_deref().and_then(|path| open_read(path, call.payload, &done.output.text)),
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
                faults::note("holding back", &format!("cannot keep an output of {}: {error}", size(text.bytes())));
            }
            return Ok(Held::NotKept(text));
        }
        Err(failed) => return Err(failed.error.into()),
    };
    let question = weir_clients::question(used);
    let path = used.tool.path().map(Path::new);
    let ask = Ask { purpose: weir_clients::purpose(used), path, question: question.as_deref(), file: saved };
    show::shown(&kept, &head, &ask).map(Held::Back)
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

/// A file that a tool read, if it is not so large that a client would have to wait for it, and begins with what the tool gave.
fn open_read(path: &Path, payload: &Payload, text: &str) -> Option<Take<File>> {
    let mut file = open(path)?;
    let given = payload.bytes(text);
    if file.metadata().ok()?.len() > LARGEST_READ || given > WHOLE_BYTES {
        return None;
    }
    let (mut begins, mut beginning) = (Vec::new(), Vec::new());
    payload.write(text, &mut |bytes| begins.write_all(bytes)).ok()?;
    (&mut file).take(begins.len() as u64).read_to_end(&mut beginning).ok()?;
    file.rewind().ok()?;
    (begins == beginning).then(|| file.take(LARGEST_READ))
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

/// Keeps a text and shows what takes its place.
pub(super) fn keep_and_show(
    store: &mut Store,
    scope: &Scope,
    what: What,
    writer: TextWriter,
    (ask, now): (&Ask<'_>, Timestamp),
) -> Result<String, CommandError> {
    let head = what.head.clone();
    let kept = keep(store, scope, what, writer, now).map_err(|failed| failed.error)?;
    show::shown(&kept, &head, ask)
}

fn keep(store: &mut Store, scope: &Scope, what: What, writer: TextWriter, now: Timestamp) -> Result<KeptText, NotKept> {
    let title = what.entry.title.clone();
    let (kept, text) = store.keep_and_open(scope, what.entry, writer, now)?;
    Ok(KeptText { title, reference: kept.reference, text })
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
