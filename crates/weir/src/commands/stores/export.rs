//! `weir export`: writes everything in a store as JSON Lines, as described in docs/export.md.

use std::convert::Infallible;
use std::io::{BufWriter, Write};

use clap::{ArgMatches, Command};
use serde_json::{Value, json};
use weir_context::Context;
use weir_host::answer::{Answer, counted};
use weir_host::error::{CommandError, ErrorKind};
use weir_host::when;
use weir_store::{BlobReader, Exported, ExportedEntry, ExportedEvent, StoreError};

use super::{StoreTarget, UnfinishedFile, check_new, file_argument, force_argument, path_of, user_argument};

pub(super) fn command() -> Command {
    Command::new("export")
        .about("Write everything in the store as JSON Lines")
        .after_long_help(
            "Examples:\n  weir export > project.jsonl\n  weir export project.jsonl\n  weir export | jq -r \
             'select(.type == \"entry\" and .kind == \"note\") | .text'\n\n\
             Writes one line for each entry and event, oldest first, with full texts. Secrets were removed before they were stored. \
             docs/export.md describes the format. To copy or restore a store, use `weir backup` and `weir restore`.",
        )
        .arg(file_argument("File to write [default: standard output]"))
        .arg(user_argument())
        .arg(force_argument("Overwrite an existing file"))
}

pub(super) fn run(context: &Context, arguments: &ArgMatches) -> Result<Option<Answer>, CommandError> {
    let which = StoreTarget::asked(context, arguments);
    let Some(file) = path_of(context, arguments, "file") else {
        return match write(context, &which, &mut BufWriter::new(std::io::stdout().lock())) {
            Ok(counts) if counts.unreadable > 0 => Err(CommandError::new(
                ErrorKind::NotFound,
                format!("exported {} without the text, which cannot be read", entries(counts.unreadable)),
            )
            .hint("run `weir doctor`")),
            Ok(_) => Ok(None),
            // A closed pipe (`| head`) is not an error.
            Err(ExportError::Written(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(None),
            Err(failed) => Err(failed.into_error("standard output").in_store(&which.folder)),
        };
    };
    check_new(&file, arguments)?;
    let mut unfinished = UnfinishedFile::new(&file)?;
    let written = write(context, &which, &mut BufWriter::new(&mut unfinished.file));
    let written = written.and_then(|counts| Ok(unfinished.finish().map(|()| counts)?));
    let counts = written.map_err(|failed| failed.into_error(&file.display().to_string()).in_store(&which.folder))?;
    let mut text = format!(
        "exported {} and {} to {}",
        entries(counts.entries),
        counted(counts.events, "event", "events"),
        file.display()
    );
    let unreadable = counts.unreadable;
    if unreadable > 0 {
        text.push_str(&format!("\n{} without the text, which cannot be read: run `weir doctor`", entries(unreadable)));
    }
    let data = json!({
        "entries": counts.entries, "events": counts.events, "unreadable": unreadable, "file": file.display().to_string(),
    });
    Ok(Some(Answer { found: unreadable == 0, ..Answer::new(text, data) }))
}

fn entries(count: usize) -> String {
    counted(count, "entry", "entries")
}

#[derive(Default)]
struct Counts {
    entries: usize,
    events: usize,
    unreadable: usize,
}

enum ExportError {
    Written(std::io::Error),
    Command(CommandError),
}

impl From<std::io::Error> for ExportError {
    fn from(error: std::io::Error) -> Self {
        Self::Written(error)
    }
}

impl From<StoreError> for ExportError {
    fn from(error: StoreError) -> Self {
        Self::Command(error.into())
    }
}

impl ExportError {
    fn into_error(self, place: &str) -> CommandError {
        match self {
            Self::Written(error) => CommandError::new(ErrorKind::Failed, format!("cannot write to {place}: {error}")),
            Self::Command(error) => error,
        }
    }
}

fn write(context: &Context, which: &StoreTarget, out: &mut impl Write) -> Result<Counts, ExportError> {
    let mut counts = Counts::default();
    let head = json!({
        "type": "head", "format": "weir-export", "version": 1, "weir": env!("CARGO_PKG_VERSION"),
        "made_at": when::for_data(when::now()), "project": context.project().root.display().to_string(),
    });
    writeln!(out, "{head}")?;
    let level = which.level;
    let mut failed = None;
    let exported = context.with_stores_here(|open| {
        let store = open.store(level)?;
        let done = store.export(|thing| -> Result<(), ExportError> {
            match thing {
                Exported::Event(event) => {
                    counts.events += 1;
                    writeln!(out, "{}", event_line(&event))?;
                }
                Exported::Entry(entry, text) => {
                    counts.entries += 1;
                    counts.unreadable += usize::from(!entry_line(out, &entry, text)?);
                }
            }
            if (counts.entries + counts.events).is_multiple_of(1_000) {
                context.report_progress(&format!("{} entries, {} events", counts.entries, counts.events));
            }
            Ok(())
        })?;
        failed = done.err();
        Ok(())
    });
    exported.map_err(ExportError::Command)?;
    match failed {
        Some(failed) => Err(failed),
        None => Ok(out.flush().map(|()| counts)?),
    }
}

fn event_line(event: &ExportedEvent) -> Value {
    let mut line = json!({
        "type": "event", "number": event.id, "at": event.at, "kind": event.kind, "priority": event.priority,
        "text": event.text, "client": event.session.as_ref().map(|(client, _)| client),
        "session": event.session.as_ref().map(|(_, key)| key), "work": event.work,
        // Data that is not JSON is exported as text.
        "data": event.data.as_ref().map(|data| serde_json::from_str(data).unwrap_or_else(|_| json!(data))),
    });
    if let Some((reference, why)) = &event.gone {
        line["reference"] = json!(reference);
        line["gone"] = json!(why);
    }
    line
}

/// Writes the line of an entry. Returns false if its text is missing or incomplete.
fn entry_line(
    out: &mut impl Write,
    entry: &ExportedEntry,
    text: Result<BlobReader, StoreError>,
) -> Result<bool, ExportError> {
    let event = &entry.event;
    let mut line = json!({
        "type": "entry", "number": event.id, "at": event.at, "reference": entry.reference, "kind": entry.kind,
        "origin": entry.origin, "level": entry.level, "title": entry.title, "source": entry.source,
        "client": event.session.as_ref().map(|(client, _)| client),
        "session": event.session.as_ref().map(|(_, key)| key), "work": event.work,
        "redactions": entry.redactions, "pinned": entry.pinned, "expires_at": entry.expires_at,
    });
    if let Some(note) = &entry.note {
        line["note"] = json!({
            "kind": note.kind, "topic": note.topic, "revision": note.revision, "superseded_by": note.superseded_by,
            "commit": note.commit, "branch": note.branch, "confirmed_at": note.confirmed_at,
            "cites": note.cites,
            "files": note.files.iter().map(|(path, hash)| json!({ "path": path, "hash": hash })).collect::<Vec<_>>(),
        });
    }
    if let Some(run) = &entry.run {
        line["run"] = json!({
            "exit_code": run.exit_code, "signal": run.signal, "millis": run.millis, "sandbox": run.sandbox,
            "ended": run.ended,
        });
    }
    // The text may be larger than memory, so it is read once to see whether it can be, and then written piece by piece.
    let form = text.and_then(|text| TextForm::of(&text).map(|form| (text, form)));
    let (text, form) = match form {
        Ok(read) => read,
        Err(error) => {
            line["unreadable"] = json!(error.to_string());
            return Ok(writeln!(out, "{line}").map(|()| false)?);
        }
    };
    let line = line.to_string();
    out.write_all(line.strip_suffix('}').unwrap_or(&line).as_bytes())?;
    out.write_all(form.opening())?;
    let written = each_piece(&text, |piece| form.write(out, piece))?;
    match written {
        Ok(()) => Ok(out.write_all(b"\"}\n").map(|()| true)?),
        // The text could be read a moment ago. The line ends as JSON, so that others can follow it.
        Err(error) => Ok(writeln!(out, "\",\"unreadable\":{}}}", json!(error.to_string())).map(|()| false)?),
    }
}

/// How a text is written in a line.
#[derive(Clone, Copy)]
enum TextForm {
    Utf8,
    Hexadecimal,
}

impl TextForm {
    /// Reads a text and compares it with its hash. Returns the form for it.
    fn of(text: &BlobReader) -> Result<Self, StoreError> {
        text.verify()?;
        let mut is_valid = true;
        let Ok(read) = each_piece(text, |piece| {
            is_valid &= std::str::from_utf8(piece).is_ok();
            Ok::<_, Infallible>(())
        });
        read?;
        Ok(if is_valid { Self::Utf8 } else { Self::Hexadecimal })
    }

    fn opening(self) -> &'static [u8] {
        match self {
            Self::Utf8 => b",\"text\":\"",
            Self::Hexadecimal => b",\"text_hex\":\"",
        }
    }

    fn write(self, out: &mut impl Write, piece: &[u8]) -> std::io::Result<()> {
        match self {
            Self::Utf8 => {
                let quoted = serde_json::to_string(&String::from_utf8_lossy(piece))?;
                out.write_all(&quoted.as_bytes()[1..quoted.len() - 1])
            }
            Self::Hexadecimal => {
                let hex: String = piece.iter().map(|byte| format!("{byte:02x}")).collect();
                out.write_all(hex.as_bytes())
            }
        }
    }
}

/// Passes on a text in pieces that end at character boundaries, if it is text. Returns the error of `take`, or within
/// it why the text cannot be read.
fn each_piece<E>(text: &BlobReader, mut take: impl FnMut(&[u8]) -> Result<(), E>) -> Result<Result<(), StoreError>, E> {
    let mut rest = Vec::new();
    for number in 0..text.frame_count() {
        match text.frame(number) {
            Ok(frame) => rest.extend(frame),
            Err(error) => return Ok(Err(error)),
        }
        let whole = match std::str::from_utf8(&rest) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => rest.len(),
        };
        take(&rest[..whole])?;
        rest.drain(..whole);
    }
    if !rest.is_empty() {
        take(&rest)?;
    }
    Ok(Ok(()))
}
