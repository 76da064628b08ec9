//! Renders the answer to a run: how it ended, in which sandbox, and its output, in full if it is short or else as a
//! digest.
//!
//! Invariants: the first line is ours; output is enclosed in marks that the program could not know, and everything of
//! ours is outside of them; omissions are stated in numbers; the code is never repeated.

use schemars::JsonSchema;
use serde::Serialize;
use weir_context::text::{StoredTextSource, ends, unreadable};
use weir_core::run::Ended;
use weir_digest::{About, Digest, Frame};
use weir_host::answer::{Answer, PrintedOutput, counted, duration, fence, one_line, size};
use weir_host::choice::Choice;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::face::Reader;
use weir_host::random;
use weir_runner::Level;

use super::{FinishedRun, locations};

/// Up to this many tokens, an output is shown in full.
pub const MAX_WHOLE_TOKENS: usize = 2_000;
/// Up to this many lines of output, a person still sees all of them: a small terminal has as many.
const MAX_SURELY_VISIBLE_LINES: u64 = 20;

#[derive(Debug, Clone, Copy)]
pub struct DisplayOptions<'a> {
    /// Up to this many tokens, the output is shown in full.
    pub whole: usize,
    /// Otherwise, the digest has this many tokens.
    pub digest: usize,
    /// What someone wants to know from the output. What matches it comes before the digest.
    pub intent: Option<&'a str>,
    /// How to get the rest, if that is to be stated.
    pub read_on: &'a str,
}

/// The result of a run, for programs.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RunData {
    /// The reference of the output, unless it could not be stored.
    reference: Option<String>,
    /// Why the output could not be stored.
    not_kept: Option<String>,
    /// How the run ended.
    ended: Choice<Ended>,
    exit_code: Option<i32>,
    signal: Option<i32>,
    /// The duration.
    millis: u64,
    /// The processor time of all its processes.
    cpu_millis: u64,
    /// The sandbox level of the run.
    sandbox: &'static str,
    bytes: u64,
    lines: u64,
    /// The number of secrets removed before storing.
    redactions: Option<u32>,
    /// Whether `text` is the complete output.
    whole: bool,
    /// The kinds of output that the digest recognised.
    kinds: Vec<&'static str>,
    remarks: Vec<String>,
    /// What a dry run would have changed, as a unified diff.
    #[serde(skip_serializing_if = "Option::is_none")]
    diff: Option<String>,
    /// The output, or its digest.
    text: String,
}

impl RunData {
    /// Returns the result of a run that is shown like this.
    pub fn of(done: &FinishedRun, shown: &OutputView) -> Self {
        let outcome = &done.outcome;
        Self {
            reference: done.kept.as_ref().ok().map(|entry| entry.reference.to_string()),
            not_kept: done.kept.as_ref().err().map(|error| error.message.clone()),
            ended: Choice(outcome.ended),
            exit_code: outcome.exit_code,
            signal: outcome.signal,
            millis: outcome.took.as_millis() as u64,
            cpu_millis: outcome.cpu.as_millis() as u64,
            sandbox: outcome.level.as_str(),
            bytes: done.text.bytes(),
            lines: shown.lines,
            redactions: done.kept.as_ref().ok().map(|entry| entry.redactions),
            whole: shown.whole,
            kinds: shown.kinds.clone(),
            remarks: done.remarks.clone(),
            diff: done.diff.clone(),
            text: shown.text.clone(),
        }
    }
}

/// Returns the answer to a single run. With an intent, what matches it comes first.
pub fn answer(done: &FinishedRun, intent: Option<&str>) -> Result<Answer<RunData>, CommandError> {
    let (digest, read_on) = (weir_digest::budget(done.text.bytes()), done.caller.0.read_on());
    let shown = show(done, &DisplayOptions { whole: MAX_WHOLE_TOKENS, digest, intent, read_on })?;
    let (data, printed) = (RunData::of(done, &shown), vec![printed(done, shown.whole)?]);
    let parts = [shown.head, shown.body, shown.foot, difference(done)?];
    let text = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>();
    Ok(Answer { exit_code: Some(exit_code(done)), printed, ..Answer::new(text.join("\n"), data) })
}

/// Returns what a dry run would have changed, between marks.
fn difference(done: &FinishedRun) -> Result<String, CommandError> {
    match done.diff.as_deref() {
        None | Some("") => Ok(String::new()),
        Some(diff) => Ok(fence(random::mark()?, diff)),
    }
}

/// Returns what a run printed, for the meter.
pub fn printed(done: &FinishedRun, is_whole: bool) -> Result<PrintedOutput, CommandError> {
    let bytes = done.text.bytes();
    let beginning = done.text.range(0..bytes.min(PrintedOutput::MAX_BEGINNING_BYTES as u64))?;
    let beginning = String::from_utf8_lossy(&beginning).into_owned();
    Ok(PrintedOutput { beginning, bytes, is_whole, failed: exit_code(done) != 0 })
}

/// Returns the answer to a run whose output the caller has watched: how it ended, where the output is, and where the
/// errors are if they may have left the screen.
pub fn answer_after_live(done: &FinishedRun) -> Result<Answer<RunData>, CommandError> {
    let (bytes, exit_code) = (done.text.bytes(), exit_code(done));
    let lines = done.text.line_count()?;
    let mark = if exit_code == 0 { "✓" } else { "✗" };
    let level = match done.outcome.level {
        Level::Full => String::new(),
        level => format!(", sandbox {}", level.as_str()),
    };
    let stored = match &done.kept {
        _ if bytes == 0 => ", no output".to_owned(),
        Ok(entry) => format!(
            "; {}, {} kept as {}",
            counted(usize::try_from(lines).unwrap_or(usize::MAX), "line", "lines"),
            size(bytes),
            entry.reference
        ),
        Err(why) => format!("; its output was not stored: {}", why.message),
    };
    let mut text = format!("{mark} {}{level}{}{stored}", how(done), aftermath(done));
    text.extend(done.remarks.iter().map(|remark| format!("\n{remark}")));
    text.extend(Some(difference(done)?).filter(|diff| !diff.is_empty()).map(|diff| format!("\n{diff}")));
    if exit_code != 0 && lines > MAX_SURELY_VISIBLE_LINES {
        text.extend(locations::of_errors(done)?.iter().map(|error| format!("\n  {error}")));
    }
    // What was typed to interrupt it is on the line, too.
    let is_open = bytes > 0 && done.text.range(bytes - 1..bytes)? != b"\n";
    if is_open || done.outcome.ended == Ended::Cancelled {
        text.insert(0, '\n');
    }
    let seen = OutputView {
        head: String::new(),
        body: String::new(),
        text: String::new(),
        foot: String::new(),
        whole: false,
        lines,
        kinds: Vec::new(),
    };
    Ok(Answer { exit_code: Some(exit_code), ..Answer::new(text, RunData::of(done, &seen)) })
}

/// Returns the exit code as shells do: 128 plus the signal, and 124 after a timeout. If Weir ended the run for another
/// reason, the code is that of a run that Weir could not do.
fn exit_code(done: &FinishedRun) -> u8 {
    match (done.outcome.ended, done.outcome.exit_code, done.outcome.signal) {
        (Ended::Exited, Some(code), _) => code as u8,
        (Ended::Exited, _, Some(signal)) => 128 + signal as u8,
        (Ended::Timeout, ..) => 124,
        (Ended::Cancelled, ..) => ErrorKind::Cancelled.exit_code_of_run(),
        _ => ErrorKind::Failed.exit_code_of_run(),
    }
}

/// A run's output as it is shown.
pub struct OutputView {
    /// How the run ended, and remarks.
    pub head: String,
    /// The output or its digest, between marks. Empty if nothing was printed.
    pub body: String,
    /// The same for programs: without marks if it is the complete output.
    pub text: String,
    /// How to get the rest.
    pub foot: String,
    /// Whether the output is complete.
    pub whole: bool,
    /// The total number of lines.
    pub lines: u64,
    /// The kinds that the digest recognised. Empty if there is no digest.
    pub kinds: Vec<&'static str>,
}

/// Shows the output of a run: in full if it is short, otherwise as a digest.
pub fn show(done: &FinishedRun, want: &DisplayOptions<'_>) -> Result<OutputView, CommandError> {
    let bytes = done.text.bytes();
    let ending = ending(done);
    let entry = match &done.kept {
        Ok(entry) => entry,
        Err(why) => return unkept(done, why, want),
    };
    let source = StoredTextSource::new(&done.text)?;
    let lines = source.lines()?;
    if let Some(text) = weir_digest::whole(&source, want.whole).map_err(unreadable)? {
        let (nothing, body) = match text.is_empty() {
            true => (", no output", String::new()),
            false => ("", fence(entry.reference, &text)),
        };
        let remarks = done.remarks.iter().map(|remark| format!("\n{remark}")).collect::<String>();
        let head = format!("{ending}{nothing}{remarks}");
        return Ok(OutputView { head, body, text, foot: String::new(), whole: true, lines, kinds: Vec::new() });
    }
    let about = About { command: &done.title, lists: false };
    let page = weir_digest::read(&source, about).map_err(unreadable)?;
    let mut remarks: Vec<String> = done.remarks.iter().cloned().chain(source.remark()).collect();
    let mut matches = Vec::new();
    if let Some(intent) = want.intent {
        let found = weir_digest::intent::find(&source, intent).map_err(unreadable)?;
        if found.matching_sections() == 0 {
            remarks.push(format!("no lines match the intent: {}", looked_for(intent)));
        }
        matches = found.parts(&page);
    }
    let frame =
        Frame { head: &ending, remarks: &remarks, reference: entry.reference, lines, bytes, read_on: want.read_on };
    let Digest { head, body, foot } = page.render_after(matches, &frame, want.digest);
    Ok(OutputView { head, text: body.clone(), body, foot, whole: false, lines, kinds: page.kinds })
}

/// Returns the words of an intent that were searched for, which may not be all of its words.
pub fn looked_for(intent: &str) -> String {
    let terms = weir_core::query::terms(intent);
    let words: Vec<String> = terms.iter().map(|term| format!("`{}`", term.words.join(" "))).collect();
    match words.is_empty() {
        true => "it has no words to search for".to_owned(),
        false => one_line(&format!("looked for {}", words.join(", ")), 160),
    }
}

/// Shows the output of a run that could not be stored: in full if it fits, otherwise both ends. The rest is not
/// available.
fn unkept(done: &FinishedRun, why: &CommandError, want: &DisplayOptions<'_>) -> Result<OutputView, CommandError> {
    let text = ends(&done.text, want.whole.max(want.digest))?;
    let hints = why.hints.iter().map(|hint| format!("; {hint}")).collect::<String>();
    let what = if text.whole { "the whole output is shown" } else { "only its beginning and end are shown" };
    let remarks = done.remarks.iter().map(|remark| format!("\n{remark}")).collect::<String>();
    let head = format!(
        "{}\nits output was not stored: {}{hints}\n{what}; \
         the run has finished, so do not run it again just for this{remarks}",
        ending(done),
        why.message
    );
    let lines = done.text.line_count()?;
    let body = if text.text.is_empty() { String::new() } else { fence(random::mark()?, &text.text) };
    Ok(OutputView { head, body, text: text.text, foot: String::new(), whole: text.whole, lines, kinds: Vec::new() })
}

/// Returns the shortest description of a run, for a list that has no room.
pub fn brief(done: &FinishedRun) -> String {
    let how = match (done.outcome.ended, done.outcome.exit_code) {
        (Ended::Exited, Some(code)) => format!("exit {code}"),
        (ended, _) => ended.to_string(),
    };
    let kept = done.kept.as_ref().map_or_else(|_| "not kept".to_owned(), |entry| entry.reference.to_string());
    format!("{how}, {}, sandbox {} {kept}", size(done.text.bytes()), done.outcome.level.as_str())
}

fn ending(done: &FinishedRun) -> String {
    format!("{}, sandbox {}{}", how(done), done.outcome.level.as_str(), aftermath(done))
}

fn how(done: &FinishedRun) -> String {
    let (outcome, (face, reader)) = (&done.outcome, done.caller);
    let took = match (outcome.took.as_millis(), reader) {
        (_, Reader::Person) => duration(outcome.took),
        (millis @ 0..10_000, Reader::Model) => format!("{millis} ms"),
        (millis, Reader::Model) => format!("{:.1} s", millis as f64 / 1000.0),
    };
    let step = match outcome.step + 1 < done.steps && outcome.ended == Ended::Exited {
        true => "compiling failed: ",
        false => "",
    };
    match (outcome.ended, outcome.exit_code, outcome.signal) {
        (Ended::Exited, Some(code), _) => format!("{step}exit {code} in {took}"),
        (Ended::Exited, None, signal) => format!("{step}ended by signal {} after {took}", signal.unwrap_or(0)),
        (Ended::Timeout, ..) => format!("timed out and ended after {took}: {} allows more", face.option("timeout")),
        (Ended::Cancelled, ..) if reader == Reader::Person => format!("interrupted after {took}"),
        (Ended::Cancelled, ..) => format!("cancelled after {took}"),
        (Ended::Quota, ..) => {
            format!("ended after {took}: it printed more than {} (run.output_mb)", size(done.caps.0))
        }
        (Ended::Memory, ..) => {
            format!("ended after {took}: it used more memory than {} (run.memory_mb)", size(done.caps.1))
        }
        (Ended::Unmasked, ..) => {
            format!(
                "ended after {took}: a hidden or protected file was replaced during the run, which would have exposed it; run it again"
            )
        }
        (Ended::Planted, ..) => {
            format!("ended after {took}: it made a file again that Weir had moved away, see below")
        }
        (Ended::Lost, ..) => format!("lost after {took}: its exit status is unknown"),
    }
}

/// Describes what was ended with a run, and what was removed from its output.
fn aftermath(done: &FinishedRun) -> String {
    let left = match done.outcome.left {
        0 => String::new(),
        left => format!("; {left} still running in the background, ended with it"),
    };
    let redacted = match done.kept.as_ref().map_or(0, |entry| entry.redactions) {
        0 => String::new(),
        places => format!("; {places} redacted"),
    };
    left + &redacted
}
