//! Omits lines that the conversation has already been shown.
//!
//! Invariants: a run of lines is omitted only if the same lines in the same order are in a text that the model was
//! shown, or wrote itself, and that is certainly still in the conversation; of an output that the client has cut, only
//! what the client shows counts; the remark in the place of the lines states which they were, where they were shown,
//! and where they are stored; the same call made a second time is answered in full.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::Path;

use weir_clients::{Done, Retention, Tool, ToolCall};
use weir_core::Reference;
use weir_core::wording::one_line;
use weir_host::error::CommandError;
use weir_store::{Repeat, ShownLines};

use super::{entry, keep, rewound};
use crate::{Call, FileState, faults, unreadable};

/// Shorter runs of lines are repeated, because a remark would hardly be shorter.
const MIN_LINES: usize = 6;
/// The same limit in bytes.
pub(super) const MIN_BYTES: usize = 300;
/// A longer text was not shown to a model in full.
const MAX_BYTES: usize = 64 << 10;
/// The longest name of a text in a remark, in characters.
const MAX_NAME_CHARS: usize = 80;
/// How many bytes of a transcript one hook searches for signs that the conversation was shortened.
const MAX_SEARCHED_BYTES: u64 = 32 << 20;
/// How many bytes before the last search are searched again: a row may have been incomplete then, and the model's last
/// message shows whether the next prompt follows it.
const OVERLAP_BYTES: u64 = 256 << 10;

/// Returns the replacement of an output that would otherwise be shown in full, if it repeats earlier lines.
pub(super) fn output(call: &mut Call<'_>, used: &ToolCall, done: &Done) -> Result<Option<String>, CommandError> {
    let Some(text) = done.output.text.here() else { return Ok(None) };
    if !counts(call, text) {
        return Ok(None);
    }
    let mut shown = open(call).map_err(unreadable)?;
    let hashed = shown.hash(text);
    if hashed.len() < MIN_LINES {
        return Ok(None);
    }
    let repeats: Vec<Repeat> = shown
        .repeats(&hashed, MIN_LINES)
        .into_iter()
        .filter(|repeat| hashed.bytes(&repeat.lines) >= MIN_BYTES)
        .collect();
    let shortened = match repeats.is_empty() {
        true => None,
        false => leave_out(call, used, done, &repeats, &mut shown)?,
    };
    // What was left out is where it was shown.
    let hashed = shortened.as_ref().map_or(hashed, |text| shown.hash(text));
    if hashed.len() >= MIN_LINES {
        shown.add(&name(&used.tool, &call.hook.folder), &hashed).map_err(unreadable)?;
    }
    Ok(shortened)
}

/// Records what the client shows of an output.
pub(super) fn note_shown(call: &Call<'_>, used: &ToolCall, text: &str) -> Result<(), CommandError> {
    if !counts(call, text) {
        return Ok(());
    }
    let mut shown = open(call).map_err(unreadable)?;
    let hashed = shown.hash(text);
    shown.add(&name(&used.tool, &call.hook.folder), &hashed).map_err(unreadable)
}

/// Whether a text that is shown now can be relied on to be in the conversation later.
fn counts(call: &Call<'_>, text: &str) -> bool {
    (MIN_BYTES..=MAX_BYTES).contains(&text.len()) && call.client.retention != Retention::Unknown
}

fn open(call: &Call<'_>) -> std::io::Result<ShownLines> {
    let mut shown = ShownLines::open(&call.folder, &call.conversation())?;
    if shown.is_empty() {
        begin(call, &mut shown)?;
    }
    Ok(shown)
}

/// Begins an empty record. What the transcript has by now is of no concern to the lines that will be shown.
fn begin(call: &Call<'_>, shown: &mut ShownLines) -> std::io::Result<()> {
    match call.hook.transcript.as_deref().filter(|_| has_transcript(call)) {
        Some(transcript) => {
            let length = std::fs::metadata(transcript).map_or(0, |about| about.len());
            shown.set_transcript_searched(transcript, length)
        }
        None => Ok(()),
    }
}

/// Whether the transcript shows that the conversation was shortened. That of a past session says what came later.
fn has_transcript(call: &Call<'_>) -> bool {
    call.files == FileState::AsTheyAre && !call.client.retention.marks().is_empty()
}

/// Records the text that the model wrote into files. If an edit was refused, forgets the file's text, because the model
/// needs it verbatim.
pub(crate) fn note_written(call: &Call<'_>, used: &ToolCall, done: &Done) -> std::io::Result<()> {
    let (Tool::Edit { path } | Tool::Write { path }) = &used.tool else { return Ok(()) };
    let mut texts = weir_clients::written(used);
    texts.retain(|text| text.len() <= MAX_BYTES && text.lines().count() >= MIN_LINES);
    if texts.is_empty() && !done.failed {
        return Ok(());
    }
    if call.client.retention == Retention::Unknown {
        return Ok(());
    }
    let mut shown = open(call)?;
    // In the form that names of texts have.
    let path = one_line(relative(path, &call.hook.folder), MAX_NAME_CHARS);
    if done.failed {
        return shown.forget_about(&path);
    }
    for text in texts {
        shown.add(&format!("what you wrote to {path}"), &shown.hash(&text))?;
    }
    Ok(())
}

/// Returns the output without repeated lines, after storing it in full.
fn leave_out(
    call: &mut Call<'_>,
    used: &ToolCall,
    done: &Done,
    repeats: &[Repeat],
    shown: &mut ShownLines,
) -> Result<Option<String>, CommandError> {
    let Some(text) = done.output.text.here() else { return Ok(None) };
    let asked = format!("{} {}", used.name, used.input);
    let config = &call.config()?.hold;
    if shown.was_shortened(&asked) || !config.repeats || config.leaves_alone(used, &call.shell_folder) {
        return Ok(None);
    }
    // Without a transcript that can be read, nothing is certain.
    let has_lost = |path: &Path| has_lost(path, call.client.retention.marks(), shown).ok();
    if has_transcript(call) && call.hook.transcript.as_deref().and_then(has_lost) != Some(false) {
        shown.restart().and_then(|()| begin(call, shown)).map_err(unreadable)?;
        return Ok(None);
    }
    let mut writer = call.store.writer()?;
    let _ = writer.write(text.as_bytes());
    let kept = match keep(&mut call.store, &call.scope, entry(used, done), writer, call.now) {
        Ok(kept) => kept,
        // Without a stored copy to fetch, nothing is omitted.
        Err(failed) => {
            faults::note("leaving out repeats", &failed.error.to_string());
            return Ok(None);
        }
    };
    shown.add_shortened(&asked).map_err(unreadable)?;
    Ok(Some(without(text, repeats, kept.reference, done.output.numbered)))
}

/// Returns a text with a remark in place of each run of repeated lines.
fn without(text: &str, repeats: &[Repeat], reference: Reference, numbered: Option<u64>) -> String {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut shown = String::with_capacity(text.len());
    let (mut at, mut left_out) = (0, 0);
    for Repeat { lines: Range { start, end }, label } in repeats {
        shown.extend(lines[at..*start].iter().copied());
        left_out += end - start - 1;
        // The client numbers the lines it is given, and counts a remark as one line.
        let shift = match numbered {
            Some(_) => format!("; add {left_out} to the line numbers below"),
            None => String::new(),
        };
        let number = |line: usize| numbered.unwrap_or(1).saturating_add(line as u64);
        let (first, last) = (number(*start), number(end - 1));
        shown.push_str(&format!(
            "[weir: lines {first}-{last} left out, unchanged from {label}; whole text: {reference}{shift}]\n"
        ));
        at = *end;
    }
    shown.extend(lines[at..].iter().copied());
    shown
}

/// Whether the conversation may have lost texts since the last check: the transcript has one of the marks, the user has
/// gone back, or it is not the transcript of then.
fn has_lost(transcript: &Path, marks: &[&str], shown: &mut ShownLines) -> std::io::Result<bool> {
    let Some(searched) = shown.transcript_searched(transcript) else { return Ok(true) };
    let mut file = weir_host::foreign::open_user_file(transcript)?;
    let length = file.metadata()?.len();
    if length < searched || length - searched > MAX_SEARCHED_BYTES {
        return Ok(true);
    }
    let begin = searched.saturating_sub(OVERLAP_BYTES);
    file.seek(SeekFrom::Start(begin))?;
    let mut bytes = Vec::new();
    file.take(MAX_SEARCHED_BYTES + OVERLAP_BYTES).read_to_end(&mut bytes)?;
    shown.set_transcript_searched(transcript, length)?;
    // A row that was complete at the last search has been searched.
    let old = &bytes[..bytes.len().min((searched - begin) as usize)];
    let complete = old.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    let has_mark = |mark: &&str| memchr::memmem::find(&bytes[complete..], mark.as_bytes()).is_some();
    Ok(marks.iter().any(has_mark) || rewound::is_rewound(&bytes, complete, begin == 0))
}

fn name(tool: &Tool, folder: &Path) -> String {
    let short = |text: &str| one_line(text, MAX_NAME_CHARS);
    match tool {
        Tool::Read { path, .. } => format!("the read of {}", short(relative(path, folder))),
        Tool::Shell { command } => format!("the output of `{}`", short(command)),
        Tool::Search { pattern } => format!("the search for {}", short(pattern)),
        Tool::Fetch { what } => format!("the page {}", short(what)),
        Tool::Mcp { server, tool } => format!("a result of {}", short(&format!("{server}/{tool}"))),
        _ => "an earlier result".to_owned(),
    }
}

fn relative<'a>(path: &'a str, folder: &Path) -> &'a str {
    Path::new(path).strip_prefix(folder).ok().and_then(Path::to_str).unwrap_or(path)
}
