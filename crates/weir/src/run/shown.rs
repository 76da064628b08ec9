//! What a run's answer says: how it ended, in which sandbox, and what it printed, whole if that is short.
//!
//! Invariants: the first line is ours, and what a program printed comes after it; of a long output, what is shown stands
//! between marks that the program could not know; what is left out is said in numbers; the code is never repeated.

use serde_json::{Value, json};
use weir_core::run::Ended;
use weir_core::{Origin, terminal};

use super::Done;
use crate::answer::{Answer, counted, fence, size};
use crate::error::CommandError;

/// Up to this many tokens, an output is shown whole.
const WHOLE: usize = 2_000;
/// Of a longer one, this many at the beginning and at the end. The end mostly says more.
const HEAD: usize = 250;
const TAIL: usize = 450;
/// Up to this size, an output is read whole to see whether it is short once progress bars are folded.
const CLEANED: u64 = 1 << 20;
/// A token is rarely longer than this many bytes, so more cannot fit.
const BYTES_PER_TOKEN: usize = 32;

/// How to get at what is not shown, in the words of whoever asked.
pub(crate) fn read_on(origin: Origin) -> String {
    format!("read on with {}", if origin == Origin::User { "`weir get`" } else { "ctx_get" })
}

/// The answer to a single run.
pub(crate) fn answer(done: &Done, origin: Origin) -> Result<Answer, CommandError> {
    let shown = show(done, WHOLE, (HEAD, TAIL))?;
    let data = data(done, &shown);
    let foot = if shown.whole { String::new() } else { read_on(origin) };
    let text =
        [shown.head, shown.body, foot].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n");
    Ok(Answer { exit_code: Some(exit_code(done)), ..Answer::new(text, data) })
}

/// The same for programs.
pub(crate) fn data(done: &Done, shown: &Shown) -> Value {
    let outcome = &done.outcome;
    json!({
        "reference": done.entry.reference.to_string(),
        "ended": outcome.ended.as_str(),
        "exit_code": outcome.exit_code,
        "signal": outcome.signal,
        "millis": outcome.took.as_millis() as u64,
        "cpu_millis": outcome.cpu.as_millis() as u64,
        "sandbox": outcome.level.as_str(),
        "bytes": done.entry.bytes,
        "lines": shown.lines,
        "redactions": done.entry.redactions,
        "whole": shown.whole,
        "remarks": done.remarks,
        "text": shown.body,
    })
}

/// As shells have it: 128 and the signal, and 124 when the time was over.
fn exit_code(done: &Done) -> u8 {
    match (done.outcome.ended, done.outcome.exit_code, done.outcome.signal) {
        (Ended::Exited, Some(code), _) => code as u8,
        (Ended::Exited, _, Some(signal)) => 128 + signal as u8,
        (Ended::Timeout, ..) => 124,
        _ => 1,
    }
}

/// A run's output as it is shown.
pub(crate) struct Shown {
    /// How it went, and what there is to know.
    pub head: String,
    /// What it printed.
    pub body: String,
    /// Whether that is all.
    pub whole: bool,
    /// How many lines there are in all, where that is known.
    pub lines: Option<u64>,
}

/// Shows a run's output: whole up to `whole` tokens, else so many tokens of its beginning and of its end.
pub(crate) fn show(done: &Done, whole: usize, (head, tail): (usize, usize)) -> Result<Shown, CommandError> {
    let bytes = done.entry.bytes;
    let remarks = done.remarks.iter().map(|remark| format!("\n{remark}")).collect::<String>();
    let ending = ending(done);
    if bytes <= CLEANED {
        let raw = done.text.all()?;
        let text = readable(&raw);
        let short = text.len() <= whole * BYTES_PER_TOKEN && weir_tokens::count(&text) <= whole;
        if short && !terminal::is_binary(&raw) {
            let body = text.trim_end_matches('\n').to_owned();
            let nothing = if body.is_empty() { ", no output" } else { "" };
            let lines = Some(raw.iter().filter(|&&byte| byte == b'\n').count() as u64);
            return Ok(Shown { head: format!("{ending}{nothing}{remarks}"), body, whole: true, lines });
        }
    }
    let first = done.text.range(0..(head * BYTES_PER_TOKEN).max(8192) as u64)?;
    let reference = done.entry.reference;
    if terminal::is_binary(&first) {
        let head = format!("{ending}; binary output, {} held as {reference}{remarks}", size(bytes));
        return Ok(Shown { head, body: String::new(), whole: false, lines: None });
    }
    let last_start = bytes.saturating_sub((tail * BYTES_PER_TOKEN) as u64);
    let last = done.text.range(last_start..bytes)?;
    // A line that the window cuts through would be shown as something that never stood there.
    let first = first.iter().rposition(|&byte| byte == b'\n').map_or(first.as_slice(), |end| &first[..end]);
    let cut = if last_start == 0 { None } else { last.iter().position(|&byte| byte == b'\n') };
    let last = cut.map_or(last.as_slice(), |end| &last[end + 1..]);
    let lines = done.text.line_ends_before(bytes)?;
    let (first, last) = (beginning(&readable(first), head), end(&readable(last), tail));
    let left_out = left_out(&first, &last, lines, bytes);
    let body = [fence(reference, &first), left_out, fence(reference, &last)].join("\n");
    let head =
        format!("{ending}; {}, {} held as {reference}{remarks}", counted(lines as usize, "line", "lines"), size(bytes));
    Ok(Shown { head, body, whole: false, lines: Some(lines) })
}

/// The least that can be said of a run, for a list that has no room.
pub(crate) fn brief(done: &Done) -> String {
    let how = match (done.outcome.ended, done.outcome.exit_code) {
        (Ended::Exited, Some(code)) => format!("exit {code}"),
        (ended, _) => ended.to_string(),
    };
    format!("{how}, {}, sandbox {} {}", size(done.entry.bytes), done.outcome.level.as_str(), done.entry.reference)
}

fn ending(done: &Done) -> String {
    let outcome = &done.outcome;
    let took = match outcome.took.as_millis() {
        millis @ 0..10_000 => format!("{millis} ms"),
        millis => format!("{:.1} s", millis as f64 / 1000.0),
    };
    let step = match outcome.step + 1 < done.steps && outcome.ended == Ended::Exited {
        true => "compiling failed: ",
        false => "",
    };
    let how = match (outcome.ended, outcome.exit_code, outcome.signal) {
        (Ended::Exited, Some(code), _) => format!("{step}exit {code} in {took}"),
        (Ended::Exited, None, signal) => format!("{step}ended by signal {} after {took}", signal.unwrap_or(0)),
        (Ended::Timeout, ..) => format!("timed out and ended after {took}"),
        (Ended::Cancelled, ..) => format!("cancelled after {took}"),
        (Ended::Quota, ..) => {
            format!("ended after {took}: it printed more than {} (run.output_mb)", size(done.caps.0))
        }
        (Ended::Memory, ..) => {
            format!("ended after {took}: it used more memory than {} (run.memory_mb)", size(done.caps.1))
        }
        (Ended::Unmasked, ..) => {
            format!(
                "ended after {took}: a file that it may not see was replaced meanwhile, which uncovers it; run it again"
            )
        }
        (Ended::Lost, ..) => format!("lost after {took}: nobody saw how it ended"),
    };
    let left = match outcome.left {
        0 => String::new(),
        left => format!("; {left} still running in the background, ended with it"),
    };
    let redacted = match done.entry.redactions {
        0 => String::new(),
        places => format!("; {places} redacted"),
    };
    format!("{how}, sandbox {}{left}{redacted}", outcome.level.as_str())
}

/// Text as it can be shown: as a terminal would, and valid.
fn readable(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&terminal::clean(bytes)).into_owned()
}

/// Whole lines from the beginning, or a part of the first if that is too long.
fn beginning(text: &str, tokens: usize) -> String {
    let fits = &text[..weir_tokens::fit(text, tokens)];
    let whole = fits.rfind('\n').map_or(fits, |end| &fits[..end]);
    whole.to_owned()
}

/// Whole lines at the end, or a part of the last if that is too long.
fn end(text: &str, tokens: usize) -> String {
    let text = text.trim_end_matches('\n');
    let mut start = text.len();
    let mut left = tokens;
    for line in text.split('\n').rev() {
        let cost = weir_tokens::count(line) + 1;
        if cost > left {
            break;
        }
        left -= cost;
        start = start.saturating_sub(line.len() + 1);
    }
    if start < text.len() {
        return text[start..].trim_start_matches('\n').to_owned();
    }
    let mut cut = text.len().saturating_sub(tokens * 2);
    while !text.is_char_boundary(cut) {
        cut += 1;
    }
    format!("…{}", &text[cut..])
}

fn left_out(first: &str, last: &str, lines: u64, bytes: u64) -> String {
    let shown = |text: &str| text.split('\n').count() as u64;
    let rest = bytes.saturating_sub((first.len() + last.len()) as u64);
    match (shown(first) + 1, lines.saturating_sub(shown(last))) {
        (from, to) if from <= to => format!("lines {from}-{to} left out, {}", size(rest)),
        _ => format!("{} left out", size(rest)),
    }
}
