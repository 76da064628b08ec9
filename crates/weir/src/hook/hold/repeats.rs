//! Omits lines that the conversation has already been shown.
//!
//! Invariants: a run of lines is omitted only if the same lines in the same order are in a text that the model was
//! shown, or wrote itself, since its last compaction; the remark in their place states which lines they were, where
//! they were shown, and where they are stored; the same call made a second time is answered in full.

use std::io::{Read as _, Seek as _, SeekFrom};
use std::ops::Range;
use std::path::Path;

use weir_clients::{Done, Tool, ToolCall};
use weir_core::Reference;
use weir_core::wording::one_line;
use weir_store::{Repeat, ShownLines};

use super::{entry, keep, rewound};
use crate::config;
use crate::error::CommandError;
use crate::hook::{Call, FileState, faults, unreadable};

/// Shorter runs of lines are repeated, because a remark would hardly be shorter.
const MIN_LINES: usize = 6;
/// The same limit in bytes.
pub(super) const MIN_BYTES: usize = 300;
/// A longer text was not shown to a model in full.
const MAX_BYTES: usize = 64 << 10;
/// The longest name of a text in a remark, in characters.
const MAX_NAME_CHARS: usize = 80;
/// In a transcript, indicates that the client's server has dropped tool results from the conversation.
const DROPPED: &[u8] = b"\"applied_edits\":[{";
/// How many bytes of a transcript one hook searches for this.
const MAX_SEARCHED_BYTES: u64 = 32 << 20;

/// Returns the replacement of an output that would otherwise be shown in full, if it repeats earlier lines.
pub(super) fn output(call: &mut Call<'_>, used: &ToolCall, done: &Done) -> Result<Option<String>, CommandError> {
    let Some(text) = done.output.text.here() else { return Ok(None) };
    // Lines count as shown until a compaction, and a request does not say when there was one.
    if text.len() < MIN_BYTES || text.len() > MAX_BYTES || call.files == FileState::InARequest {
        return Ok(None);
    }
    let mut shown = ShownLines::open(&call.folder, &call.conversation()).map_err(unreadable)?;
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
    // A text that was omitted completely needs no second record.
    let is_known = matches!(repeats.as_slice(), [only] if only.lines.len() == hashed.len());
    if shortened.is_none() || !is_known {
        shown.add(&name(&used.tool, &call.hook.folder), &hashed).map_err(unreadable)?;
    }
    Ok(shortened)
}

/// Records the text that the model wrote into files. If an edit was refused, forgets the file's text, because the model
/// needs it verbatim.
pub(in crate::hook) fn note_written(call: &Call<'_>, used: &ToolCall, done: &Done) -> std::io::Result<()> {
    let (Tool::Edit { path } | Tool::Write { path }) = &used.tool else { return Ok(()) };
    let mut texts = weir_clients::written(used);
    texts.retain(|text| text.len() <= MAX_BYTES && text.lines().count() >= MIN_LINES);
    if texts.is_empty() && !done.failed {
        return Ok(());
    }
    let mut shown = ShownLines::open(&call.folder, &call.conversation())?;
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
    let config = config::read(&call.paths.config)?.hold;
    if shown.was_shortened(&asked) || !config.repeats || config.leaves_alone(used, &call.shell_folder) {
        return Ok(None);
    }
    if let Some(transcript) = call.hook.transcript.as_deref()
        && has_lost(transcript, shown).unwrap_or(false)
    {
        shown.restart().map_err(unreadable)?;
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

/// Whether the conversation has lost texts since the last check: the client's server has dropped tool results, or the
/// user has gone back in it.
fn has_lost(transcript: &Path, shown: &mut ShownLines) -> std::io::Result<bool> {
    let searched = shown.transcript_searched();
    let mut file = crate::foreign::open_user_file(transcript)?;
    let length = file.metadata()?.len();
    if length.saturating_sub(searched) > MAX_SEARCHED_BYTES {
        return Ok(true);
    }
    // The last search may have ended in the middle of the text to find.
    file.seek(SeekFrom::Start(searched.min(length).saturating_sub(DROPPED.len() as u64)))?;
    let mut bytes = Vec::new();
    file.take(MAX_SEARCHED_BYTES).read_to_end(&mut bytes)?;
    shown.set_transcript_searched(length)?;
    Ok(memchr::memmem::find(&bytes, DROPPED).is_some() || rewound::is_rewound(&bytes))
}

/// Returns the name of a text in a remark.
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
