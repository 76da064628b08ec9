//! Imports past sessions from the transcripts of clients, and what other programs have exported.
//!
//! Invariants: the folder that a session worked in decides which project it belongs to; every step goes through the
//! code that hooks run, so a session is remembered as if Weir had been present; nothing is imported twice; a transcript
//! is never written to.

mod ahead;
mod contexts;
mod copies;
mod export_report;
mod from_engram;
mod from_weir;
mod placing;
mod report;
mod session;

use std::collections::HashMap;
use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use weir_clients::Client;
use weir_clients::transcript::{Part, Session, Skipped};
use weir_context::{Context, cancelled};
use weir_core::wording::quoted;
use weir_core::{Level, Scope, SessionKey, Timestamp};
use weir_host::answer::Answer;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::switch::Switch;
use weir_store::{Conversation, Fresh, ImportPosition, Known, Past};

use crate::engram::export;
use crate::replay::places::{self, Places, TranscriptLocation};
use ahead::TranscriptPiece;
use copies::MessageOwners;
pub use report::ImportData;
use report::ImportReport;
use session::{StepConverter, folder_of};

/// Which sessions are imported, and into which project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImportScope {
    Project,
    /// The sessions of every project, each into its own project.
    All,
    /// All sessions into this project, for transcripts from elsewhere.
    Here,
}

pub struct ImportRequest {
    /// Transcripts, or folders with transcripts. If empty, the transcripts of every client.
    pub paths: Vec<PathBuf>,
    pub client: Option<&'static Client>,
    /// Limits the import to sessions that began at or after this time.
    pub since: Option<Timestamp>,
    /// Whether to only report what would be imported.
    pub dry_run: bool,
    pub whose: ImportScope,
    /// The project of an export whose rows belong to this project, by the name that it has there.
    pub project_name: Option<String>,
}

/// Imports what was requested. Uses stores of its own.
pub fn run(context: &Context, order: &ImportRequest, now: Timestamp) -> Result<Answer<ImportData>, CommandError> {
    let Places { mut found, unreadable } = places::find(context.env(), &order.paths)?;
    // The oldest come first, so that entries are stored as nearly in order as possible.
    found.reverse();
    let wanted = |found: &&TranscriptLocation| order.since.is_none_or(|since| found.changed_at() >= since);
    let (exports, found): (Vec<_>, Vec<_>) =
        found.iter().filter(wanted).partition(|found| order.paths.contains(&found.path) && writer(found).is_some());
    check_exports(context, order, &exports)?;
    let mut import = ImportJob {
        context,
        order,
        now,
        contexts: HashMap::from([(context.env().folder.clone(), Some(context.with_own_stores()))]),
        owners: MessageOwners::default(),
        switch: Switch::read(context.paths()),
        report: ImportReport::new(order.dry_run),
    };
    import.report.unreadable = unreadable;
    import.all(&found)?;
    for export in exports {
        match writer(export) {
            Some(ExportWriter::Weir) => from_weir::import(&mut import, export)?,
            _ => from_engram::import(&mut import, export)?,
        }
    }
    context.report_progress("");
    Ok(import.report.answer(order.whose))
}

/// The program that wrote an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExportWriter {
    Engram,
    Weir,
}

/// Returns the program that wrote a file, if it is an export.
fn writer(found: &TranscriptLocation) -> Option<ExportWriter> {
    if !found.path.is_file() {
        return None;
    }
    if found.open().is_ok_and(from_weir::is_export) {
        return Some(ExportWriter::Weir);
    }
    found.open().is_ok_and(export::is_export).then_some(ExportWriter::Engram)
}

fn check_exports(
    context: &Context,
    order: &ImportRequest,
    exports: &[&TranscriptLocation],
) -> Result<(), CommandError> {
    let Some(first) = exports.first().map(|export| export.path.display()) else {
        return match &order.project_name {
            Some(_) => Err(CommandError::usage("cannot use --project-name: the path is not an export")
                .hint("pass the file that `weir export FILE` or `engram export FILE` has written")),
            None => Ok(()),
        };
    };
    // An export could attribute words to the user.
    if !context.face().is_person() {
        return Err(CommandError::new(
            ErrorKind::Denied,
            format!("cannot import {first}: it is an export, and only the user may import one"),
        )
        .hint(format!("the user can run: weir import {}", quoted(&first.to_string()))));
    }
    if order.client.is_some() {
        return Err(
            CommandError::usage(format!("cannot limit {first} to a client: it is an export")).hint("omit --client")
        );
    }
    Ok(())
}

/// Describes the progress: how far the import is, how fast it goes, and how long it may still take.
fn progress((at, of): (usize, usize), (bytes, total): (u64, u64), begun: Instant) -> String {
    let seconds = begun.elapsed().as_secs_f64();
    let line = format!("importing: transcript {} of {of}", at + 1);
    if bytes == 0 || seconds < 1.0 {
        return line;
    }
    let rate = bytes as f64 / seconds;
    format!("{line}, {:.0} MB/s, about {:.0} s left", rate / 1e6, (total - bytes.min(total)) as f64 / rate)
}

struct ImportJob<'a> {
    context: &'a Context,
    order: &'a ImportRequest,
    now: Timestamp,
    /// The context of each folder that sessions worked in, or `None` if the folder no longer exists.
    contexts: HashMap<PathBuf, Option<Context>>,
    owners: MessageOwners,
    switch: Switch,
    report: ImportReport,
}

/// A conversation that is being read from a transcript.
struct OpenConversation {
    context: Context,
    conversation: Conversation,
    converter: StepConverter,
    known: Known,
    /// Whether the last step is a copy from the session that this one was forked from.
    is_copy: bool,
    /// How far the conversation was imported before, unless the transcript was rewritten since.
    before: ImportPosition,
    /// How far the conversation has been read now.
    now: ImportPosition,
}

impl OpenConversation {
    /// Whether this is not the message that was imported last. Earlier versions recorded the position of a message of
    /// Codex, whose transcripts are only appended to.
    fn is_rewritten(&self, session: &Session, message: &str) -> bool {
        let before = self.before.message.as_str();
        let is_position = before.bytes().all(|byte| byte.is_ascii_digit());
        message != before && !(is_position && session.has_copies(message))
    }
}

/// The conversations of a transcript that is being read.
#[derive(Default)]
struct Conversations {
    /// The conversations by session and subagent, or `None` for those that are not imported.
    open: HashMap<(String, String), Option<Box<OpenConversation>>>,
    /// Whether the rest of the transcript is not needed.
    is_over: bool,
    /// Whether the transcript differs from what was imported before.
    is_rewritten: bool,
}

impl Conversations {
    /// Whether a conversation has fewer steps than were imported before.
    fn is_shorter(&self) -> bool {
        self.open.values().flatten().any(|reading| reading.now.steps < reading.before.steps)
    }
}

impl ImportJob<'_> {
    fn all(&mut self, found: &[&TranscriptLocation]) -> Result<(), CommandError> {
        let (begun, mut bytes) = (Instant::now(), 0);
        let total: u64 = found.iter().map(|found| found.bytes()).sum();
        let mut conversations = Conversations::default();
        ahead::read(found, |at, read| {
            match read {
                TranscriptPiece::Part(part) => self.part(found[at], *part, &mut conversations, false)?,
                TranscriptPiece::End(result) => {
                    let ended = std::mem::take(&mut conversations);
                    match ended.is_rewritten || ended.is_shorter() {
                        true => self.reimport(found[at])?,
                        false => self.end(found[at], ended, result)?,
                    }
                    bytes += found[at].bytes();
                    self.context.report_progress(&progress((at, found.len()), (bytes, total), begun));
                    if self.context.cancelled().is_cancelled() {
                        return Err(cancelled());
                    }
                }
            }
            Ok(!conversations.is_over)
        })
    }

    /// Imports a transcript from its beginning because it was rewritten since the last import.
    fn reimport(&mut self, found: &TranscriptLocation) -> Result<(), CommandError> {
        let (mut conversations, mut failed) = (Conversations::default(), None);
        let read = found.stream(&mut |part| match self.part(found, part, &mut conversations, true) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        });
        match failed {
            Some(error) => Err(error),
            None => self.end(found, conversations, read),
        }
    }

    fn end(
        &mut self,
        found: &TranscriptLocation,
        ended: Conversations,
        read: io::Result<Option<Skipped>>,
    ) -> Result<(), CommandError> {
        for mut reading in ended.open.into_values().flatten() {
            let last = reading.converter.finish().filter(|_| !reading.is_copy);
            self.write(&mut reading, last.into_iter().collect())?;
        }
        match read {
            Ok(Some(skipped)) => self.report.skipped(found, &skipped),
            Ok(None) => self.report.others += 1,
            Err(error) => self.report.unreadable.push(format!("{}: {error}", found.path.display())),
        }
        Ok(())
    }

    fn part(
        &mut self,
        found: &TranscriptLocation,
        part: Part,
        conversations: &mut Conversations,
        from_start: bool,
    ) -> Result<(), CommandError> {
        if conversations.is_over {
            return Ok(());
        }
        let key = (part.session.key.clone(), part.session.subagent.clone());
        if !conversations.open.contains_key(&key) {
            let reading = self.begin(found, &part, from_start)?;
            conversations.open.insert(key.clone(), reading.map(Box::new));
        }
        let Some(Some(reading)) = conversations.open.get_mut(&key) else {
            conversations.is_over = !part.session.has_company();
            return Ok(());
        };
        let mut past = Vec::new();
        for dated in part.steps {
            // A time in the future would rank above everything else forever.
            let at = dated.at.unwrap_or_else(|| found.changed_at()).clamp(Timestamp(0), self.now);
            reading.now.steps += 1;
            let is_known = reading.now.steps <= reading.before.steps;
            if reading.now.steps == reading.before.steps && reading.is_rewritten(&part.session, &dated.message) {
                (conversations.is_over, conversations.is_rewritten) = (true, true);
                return Ok(());
            }
            let was_copy = reading.is_copy;
            if part.session.has_copies(&dated.message) {
                reading.is_copy = self.owners.is_copy(&part.session, &dated.message);
            }
            if was_copy && !reading.is_copy {
                // The end of the turn before the fork belongs to the other session.
                drop(reading.converter.finish());
            }
            reading.now.message = dated.message;
            let told = reading.converter.step(&part.session, dated.step, at);
            match is_known || reading.is_copy {
                // Each event that is known has one counterpart. This one is not that of a later step.
                true => drop(Fresh::of(told, &mut reading.known)),
                false => past.extend(told),
            }
        }
        self.write(reading, past)
    }

    fn begin(
        &mut self,
        found: &TranscriptLocation,
        part: &Part,
        from_start: bool,
    ) -> Result<Option<OpenConversation>, CommandError> {
        let Part { session, steps } = part;
        if session.key.is_empty() || self.order.client.is_some_and(|client| client.name != session.client().name) {
            return Ok(None);
        }
        let began = steps.first().and_then(|dated| dated.at).unwrap_or_else(|| found.changed_at());
        if self.order.since.is_some_and(|since| began < since) {
            return Ok(None);
        }
        let folder = folder_of(found, session);
        let Some(context) = self.context_of(&folder) else { return Ok(None) };
        if self.switch.off_here(session.client().name, context.project(), &context.env().folder).is_some() {
            self.report.off += 1;
            return Ok(None);
        }
        let conversation = Conversation {
            session: SessionKey { client: session.client().session.to_owned(), key: session.key.clone() },
            subagent: session.subagent.clone(),
        };
        let scope = context.scope();
        // A dry run creates no store.
        let (before, known) = context.with_stores_here(|open| match open.existing(Level::Project)? {
            Some(store) => {
                let before = store.imported_to(&conversation)?.filter(|_| !from_start).unwrap_or_default();
                Ok((before, store.known_of(&scope, &conversation.session)?))
            }
            None => Ok((ImportPosition::default(), Known::default())),
        })?;
        let folder = if folder.as_os_str().is_empty() { context.env().folder.clone() } else { folder };
        let converter = StepConverter::new(session, folder, !known.is_empty());
        self.report.session(session);
        let (is_copy, now) = (false, ImportPosition::default());
        Ok(Some(OpenConversation { context, conversation, converter, known, is_copy, before, now }))
    }

    fn write(&mut self, reading: &mut OpenConversation, past: Vec<Past>) -> Result<(), CommandError> {
        if reading.now.steps <= reading.before.steps {
            return Ok(());
        }
        let (fresh, known) = Fresh::of(past, &mut reading.known);
        self.report.count(fresh.past());
        self.report.known += known;
        if self.order.dry_run {
            return Ok(());
        }
        let OpenConversation { context, conversation, converter, now: to, .. } = reading;
        let scope = Scope { work: converter.branch(), ..context.scope() };
        context.with_stores_here(|open| Ok(open.project()?.import(&scope, conversation, (fresh, to), self.now)?))
    }
}
