//! Holds back the output of a client's own tool: stores it in full and shows less.
//!
//! The purpose of an output decides how it is shown. A text that was asked for is shown as the client shows it, up to a
//! size that endangers the window; above that, its beginning and its outline are shown. A by-product or a flood becomes
//! a digest. A text shown in full omits the lines that the conversation has already been shown.
//!
//! Invariants: apart from such lines, a small output is left alone, as is one that is already a digest, or a part of a
//! file that was asked for; the replacement of a command's output or of a file has no more tokens than the client
//! itself would show; output that the client has discarded is never reported as held.

mod beginning;
mod outline;
pub(super) mod repeats;
mod rewound;
mod show;

use std::fs::File;
use std::io::{Read as _, Seek as _, Take, Write as _};
use std::path::Path;

use weir_clients::{Done, Purpose, Text, Tool, ToolCall};
use weir_context::text::ends;
use weir_core::unseen::named;
use weir_core::wording::{one_line, size};
use weir_core::{Ended, EntryKind, Level, NewEntry, Origin, Reference, RunFacts, Scope, Timestamp};
use weir_host::config::HoldConfig;
use weir_host::error::{CommandError, store_message};
use weir_host::foreign;
use weir_host::os;
use weir_store::{BlobReader, KeepError, LONGEST_TEXT, Outcome, Store, TextWriter};

pub(super) use self::show::{OutputContext, shown};
use super::client_view::ClientView;
use super::payload::{Payload, copy};
use super::rewrite::RewriteStatus;
use super::{Call, FileState, MAX_TITLE_CHARS, OPT_OUT_MARK, faults, unreadable};

/// Up to this many tokens, the output of a killed command is shown in full.
pub(super) const MAX_WHOLE_TOKENS: usize = 2_000;
/// An output of up to this many bytes is small, regardless of the configuration.
pub const MAX_SURELY_SMALL_BYTES: u64 = 1_000;
/// Data between half of its limit and its limit is held back if the digest has at most this share of its tokens.
const MAX_PAYING_PERCENT: usize = 60;
/// Holding back an output of more bytes takes noticeable time.
const MAX_FAST_BYTES: u64 = 256 << 10;
/// A larger file is not read again after a client has read it; the text given to the client is stored instead.
const MAX_REREAD_BYTES: u64 = 64 << 20;
/// A larger file is not small, regardless of its tokens.
const MAX_SMALL_FILE_BYTES: u64 = 1 << 20;
/// What the model is told about a failed command whose output the client has cut.
const CUT_REMARK: &str = "[weir: the client cut this output, so what failed may be missing. To see it, run the command with \
     ctx_execute, which stores the whole output and shows a digest of it.]";
/// The text before the reference in every replacement of an output.
pub const HELD_AS: &str = "held as [ctx:";

/// What is done with an output.
pub(super) enum HoldDecision {
    /// This text is shown in its place.
    Replaced(String),
    /// The output is shown as it is, for this reason. It is [`Outcome::Held`] if the relay has already shortened it.
    LeftAlone(Outcome),
}

impl HoldDecision {
    fn of(replacement: Option<String>, otherwise: Outcome) -> Self {
        replacement.map_or(Self::LeftAlone(otherwise), |text| Self::Replaced(named(&text).into_owned()))
    }
}

/// Decides about an output, and stores it if it is held back.
pub(super) fn output(
    call: &mut Call<'_>,
    used: &ToolCall,
    done: &Done,
    rewritten: RewriteStatus,
) -> Result<HoldDecision, CommandError> {
    if let Some(outcome) = settled(call, used, done, rewritten) {
        return Ok(HoldDecision::LeftAlone(outcome));
    }
    let purpose = purpose(call, used);
    if purpose == Purpose::Settled {
        return Ok(HoldDecision::LeftAlone(Outcome::Settled));
    }
    let view = ClientView::of(call, used, done);
    if !view.is_part && view.text.len() as u64 <= MAX_SURELY_SMALL_BYTES {
        return Ok(HoldDecision::of(repeats::output(call, used, done)?, Outcome::Small));
    }
    let config = call.config()?.hold.clone();
    if config.leaves_alone(used, &call.shell_folder) {
        return Ok(HoldDecision::LeftAlone(Outcome::Excluded));
    }
    let is_asked = purpose == Purpose::AskedFor;
    let is_part = matches!(used.tool, Tool::Read { part: true, .. });
    let fits = |limit: usize| weir_digest::whole(&view.text.as_bytes(), limit).map_err(unreadable);
    let is_known = view.is_part || done.output.text.here().is_some();
    let (limit, least) = limits(&config, purpose, &view.text);
    let is_short = is_part || (is_known && fits(least)?.is_some());
    let must_pay = !is_short && is_known && least < limit && fits(limit)?.is_some();
    if is_short && !view.is_part {
        let why = if is_asked { Outcome::AskedFor } else { Outcome::Small };
        return Ok(HoldDecision::of(repeats::output(call, used, done)?, why));
    }
    if is_part {
        return Ok(HoldDecision::LeftAlone(Outcome::AskedFor));
    }
    // What the client shows of a text that was asked for is its own words, and a path for the rest.
    if is_short && is_asked && !show::is_data(used, done) {
        repeats::note_shown(call, used, &view.text)?;
        return Ok(HoldDecision::LeftAlone(Outcome::Cut));
    }
    let (counted, may_grow) = (view.counted(), view.may_grow(&used.tool));
    let given = counted.tokens;
    let (most, is_cut) = (if may_grow { usize::MAX } else { given }, view.is_part);
    call.given = Some(counted);
    Ok(match held(call, used, done, most)? {
        HoldOutcome::Back(shown) if must_pay && weir_tokens::count(&shown) * 100 > given * MAX_PAYING_PERCENT => {
            HoldDecision::of(repeats::output(call, used, done)?, Outcome::Small)
        }
        HoldOutcome::Back(shown) if may_grow || weir_tokens::count(&shown) <= given => HoldDecision::Replaced(shown),
        HoldOutcome::Back(_) => HoldDecision::LeftAlone(if is_cut { Outcome::Cut } else { Outcome::Small }),
        HoldOutcome::KeepError(_) => HoldDecision::LeftAlone(Outcome::Failed),
    })
}

/// Returns up to how many tokens an output is shown in full, and up to how many in any case: data, and
/// the trees of pages, often say little in many words.
fn limits(config: &HoldConfig, purpose: Purpose, text: &str) -> (usize, usize) {
    let limit = config.limit(purpose);
    let is_data = text.trim_start().starts_with(['{', '[']) || text.contains(" [ref=e");
    (limit, if is_data && purpose == Purpose::Flood { limit / 2 } else { limit })
}

/// Returns the purpose of an output. A page is what a subagent that fetches it was sent for.
fn purpose(call: &Call<'_>, used: &ToolCall) -> Purpose {
    match used.tool {
        Tool::Fetch { .. } if call.hook.subagent.is_some() => Purpose::AskedFor,
        _ => weir_clients::purpose(used),
    }
}

/// Returns what the model is told about the output of a failed command that the client has cut, if it accepts no
/// replacement for it. The rest of the output is lost, so it takes another run to see it.
pub(super) fn remark(call: &Call<'_>, used: &ToolCall, done: &Done, rewritten: RewriteStatus) -> Option<String> {
    let Tool::Shell { command } = &used.tool else { return None };
    let takes = call.hook.takes;
    let is_lost = done.failed && done.output.cut && rewritten == RewriteStatus::No && takes.context && !takes.output;
    if !is_lost || !weir_clients::may_flood(command) || command.contains(OPT_OUT_MARK) {
        return None;
    }
    let is_excluded = call.config().map_or(true, |config| config.hold.leaves_alone(used, &call.shell_folder));
    (!is_excluded).then(|| CUT_REMARK.to_owned())
}

/// Returns the outcome of an output that is left alone whatever its purpose.
fn settled(call: &Call<'_>, used: &ToolCall, done: &Done, rewritten: RewriteStatus) -> Option<Outcome> {
    let (saved, text) = (done.output.saved.as_deref(), &done.output.text);
    // A saved output must be readable, because the text in the payload is only a part of it.
    if saved.is_some_and(|path| open(path).is_none()) {
        return Some(Outcome::Cut);
    }
    // The relay of a rewritten command has shown the output, in full if it was small.
    let is_relayed = rewritten == RewriteStatus::Relayed;
    let is_digest = || text.here().is_some_and(|text| text.contains(HELD_AS));
    if !call.hook.takes.output {
        return Some(match is_relayed {
            true if is_digest() => Outcome::Held,
            true => Outcome::Small,
            false => Outcome::Fixed,
        });
    }
    // The rest of the output of a command in the background is still to come.
    if done.output.cut || used.background {
        return Some(Outcome::Cut);
    }
    if used.input.to_string().contains(OPT_OUT_MARK) {
        return Some(Outcome::Excluded);
    }
    if is_relayed && is_digest() {
        return Some(Outcome::Held);
    }
    (saved.is_none() && text.bytes() < repeats::MIN_BYTES as u64).then_some(Outcome::Small)
}

/// Returns the output of a command up to when it was killed: in full if it is small.
pub(super) fn killed(call: &mut Call<'_>, used: &ToolCall, done: &Done) -> Result<String, CommandError> {
    let printed = done.output.saved.as_deref().unwrap_or(Path::new(""));
    match small_file(printed, MAX_WHOLE_TOKENS).map_err(unreadable)? {
        Some(text) => Ok(format!("Output before the command was killed:\n{text}")),
        None => match held(call, used, done, usize::MAX)? {
            HoldOutcome::Back(shown) => Ok(shown),
            HoldOutcome::KeepError(text) => Ok(format!(
                "Output before the command was killed; not kept yet:\n{}",
                ends(&text, MAX_WHOLE_TOKENS)?.text
            )),
        },
    }
}

pub(super) fn small_file(path: &Path, tokens: usize) -> std::io::Result<Option<String>> {
    if std::fs::metadata(path)?.len() > MAX_SMALL_FILE_BYTES {
        return Ok(None);
    }
    weir_digest::whole(&std::fs::read(path)?.as_slice(), tokens)
}

/// The result of holding back an output.
enum HoldOutcome {
    /// The output is stored, and this text replaces it.
    Back(String),
    /// The output could not be stored now. Its text is in the spool, unless it is too long.
    KeepError(Box<BlobReader>),
}

/// Stores an output and returns its replacement of at most `most` tokens.
fn held(call: &mut Call<'_>, used: &ToolCall, done: &Done, most: usize) -> Result<HoldOutcome, CommandError> {
    let saved = done.output.saved.as_deref();
    if let Tool::Read { path, .. } = &used.tool {
        outline::prepare(Path::new(path));
    }
    let mut writer = call.store.writer()?;
    // Of a large file, a client reads only the beginning. The file itself is stored if it still begins the same way; it
    // may have been replaced since.
    let is_there = call.files != FileState::InARequest;
    let read = used.tool.path().filter(|_| is_there).and_then(|path| os::real_path(&call.hook.folder.join(path)).ok());
    let limits = call.config()?.retention.limits();
    call.store.set_limits(limits);
    let file = match saved {
        Some(saved) => open(saved).map(|file| file.take(u64::MAX)),
        None => read.as_deref().and_then(|path| open_read(path, call.payload, &done.output.text)),
    };
    match file {
        Some(mut file) => copy(&mut file, &mut |bytes| put(&mut writer, bytes)).map_err(unreadable)?,
        None if let Some(text) = text_of_result(used, done) => put(&mut writer, text.as_bytes()).map_err(unreadable)?,
        None => {
            let mut to = |bytes: &[u8]| put(&mut writer, bytes);
            call.payload.write(&done.output.text, &mut to).map_err(unreadable)?;
        }
    }
    let entry = entry(used, done);
    let kept = match keep(&mut call.store, &call.scope, entry.clone(), writer, call.now) {
        Ok(kept) => kept,
        Err(KeepError { error, text: Some(text) }) if error.may_pass() => {
            if text.bytes() <= LONGEST_TEXT {
                call.aside.output = Some(NewEntry { text: text.all()?, ..entry });
            } else {
                let why = store_message(&error, &call.folder);
                faults::note("holding back", &format!("cannot keep an output of {}: {why}", size(text.bytes())));
            }
            return Ok(HoldOutcome::KeepError(text));
        }
        Err(failed) => return Err(failed.error.into()),
    };
    let question = weir_clients::question(used);
    let path = used.tool.path().map(Path::new);
    let ask = OutputContext {
        purpose: purpose(call, used),
        path,
        question: question.as_deref(),
        file: saved,
        face: call.face,
        most,
        is_numbered: done.output.numbered.is_some(),
        shown_lines: 0,
    };
    shown(&kept, &head(used, done), &ask).map(HoldOutcome::Back)
}

/// Stores the text of a result as it is. Returns its reference.
pub(super) fn keep_whole(
    call: &mut Call<'_>,
    used: &ToolCall,
    done: &Done,
    text: &str,
) -> Result<Reference, CommandError> {
    let mut writer = call.store.writer()?;
    put(&mut writer, text.as_bytes()).map_err(unreadable)?;
    let kept = keep(&mut call.store, &call.scope, entry(used, done), writer, call.now);
    kept.map(|kept| kept.reference).map_err(|failed| failed.error.into())
}

/// Returns the text of a result of an MCP server out of the JSON in which it is wrapped, if it is.
fn text_of_result(used: &ToolCall, done: &Done) -> Option<String> {
    let is_mcp = matches!(used.tool, Tool::Mcp { .. });
    done.output.text.here().filter(|_| is_mcp).and_then(weir_digest::unwrapped)
}

/// Whether holding back an output may take long, because of its size or because a file is read.
pub(super) fn may_take_long(used: &ToolCall, done: &Done) -> bool {
    let bytes = done.output.text.bytes();
    done.output.saved.is_some()
        || bytes > MAX_FAST_BYTES
        || (bytes > MAX_SURELY_SMALL_BYTES && matches!(used.tool, Tool::Read { .. }))
}

fn open(path: &Path) -> Option<File> {
    let is_file = std::fs::symlink_metadata(path).is_ok_and(|about| about.is_file());
    is_file.then(|| foreign::open_user_file(path).ok()).flatten()
}

/// Opens a file that a tool read, if it is small enough to read without delaying the client and begins with the text
/// that the tool returned.
fn open_read(path: &Path, payload: &Payload, text: &Text) -> Option<Take<File>> {
    let mut file = open(path)?;
    if file.metadata().ok()?.len() > MAX_REREAD_BYTES || text.bytes() > MAX_SMALL_FILE_BYTES {
        return None;
    }
    let (mut begins, mut beginning) = (Vec::new(), Vec::new());
    payload.write(text, &mut |bytes| begins.write_all(bytes)).ok()?;
    (&mut file).take(begins.len() as u64).read_to_end(&mut beginning).ok()?;
    file.rewind().ok()?;
    (begins == beginning).then(|| file.take(MAX_REREAD_BYTES))
}

/// Writes to the store, ignoring failures, which are reported when the text is stored.
#[expect(clippy::unnecessary_wraps, reason = "the caller that copies expects a result")]
fn put(writer: &mut TextWriter, bytes: &[u8]) -> std::io::Result<()> {
    let _ = writer.write(bytes);
    Ok(())
}

pub(super) struct KeptText {
    title: String,
    reference: Reference,
    text: BlobReader,
}

pub(super) fn keep(
    store: &mut Store,
    scope: &Scope,
    entry: NewEntry,
    writer: TextWriter,
    now: Timestamp,
) -> Result<KeptText, KeepError> {
    let title = entry.title.clone();
    let (kept, text) = store.keep_and_open(scope, entry, writer, now)?;
    Ok(KeptText { title, reference: kept.reference, text })
}

fn entry(used: &ToolCall, done: &Done) -> NewEntry {
    let (kind, origin, title) = match &used.tool {
        Tool::Shell { command } => (EntryKind::Run, Origin::Tool, command.clone()),
        Tool::Read { path, .. } => (EntryKind::File, Origin::Tool, path.clone()),
        Tool::Fetch { what } => (EntryKind::Page, Origin::Web, what.clone()),
        Tool::Mcp { server, tool } => (EntryKind::Run, Origin::Tool, format!("{server}/{tool}")),
        Tool::Search { pattern } => (EntryKind::Run, Origin::Tool, format!("{} `{pattern}`", used.name)),
        Tool::Subagent { task } => (EntryKind::Run, Origin::Tool, format!("{}: {task}", used.name)),
        _ => (EntryKind::Run, Origin::Tool, used.name.clone()),
    };
    let run = matches!(used.tool, Tool::Shell { .. }).then(|| run_facts(done.exit_code, done.millis.unwrap_or(0)));
    NewEntry { run, ..NewEntry::new(kind, origin, Level::Project, one_line(&title, MAX_TITLE_CHARS)) }
}

/// Returns the facts about a command that the client ran in its own environment.
pub(super) fn run_facts(exit_code: Option<i32>, millis: u64) -> RunFacts {
    let sandbox = "the client's".to_owned();
    RunFacts { exit_code, signal: None, millis, sandbox, ended: Ended::Exited }
}

fn head(used: &ToolCall, done: &Done) -> String {
    let how = match (&used.tool, done.exit_code, done.failed) {
        (Tool::Shell { .. }, Some(code), _) => format!("exit {code}"),
        (_, _, true) => "failed".to_owned(),
        (Tool::Read { path, .. }, ..) => one_line(path, MAX_TITLE_CHARS),
        (Tool::Mcp { server, tool }, ..) => format!("{server}/{tool}"),
        _ => "done".to_owned(),
    };
    match done.millis {
        Some(millis) => format!("{how} in {millis} ms"),
        None => how,
    }
}
