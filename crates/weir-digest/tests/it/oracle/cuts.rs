//! Checks how much of a line or a value a digest says is missing, and how many lines.

use serde_json::Value;
use weir_digest::Item;

use super::{Output, Verdict, number};

/// How much of the text before a cut is looked for, in characters, and how much is needed.
const MAX_LETTERS: usize = 60;
const MIN_LETTERS: usize = 8;

/// Checks every `… (12 more bytes)` of an item, and the number of changed lines that a hunk does not show.
pub(super) fn examine(output: &Output, item: &Item, verdict: &mut Verdict) {
    for line in item.text.lines() {
        for (at, _) in line.match_indices("… (") {
            let Some((missing, rest)) = number(&line[at + "… (".len()..]) else { continue };
            if rest.starts_with(" more byte") {
                missing_bytes(output, &line[..at], missing, verdict);
            }
        }
    }
    missing_changes(output, item, verdict);
}

fn missing_bytes(output: &Output, before: &str, missing: u64, verdict: &mut Verdict) {
    let start = before.char_indices().rev().nth(MAX_LETTERS - 1).map_or(0, |(at, _)| at);
    let mut tail = &before[start..];
    // Our own words may precede the text: what is looked for becomes shorter until the output has it.
    while tail.chars().count() >= MIN_LETTERS {
        let values = || output.json().iter().flat_map(texts);
        let is_value = values().any(|text| text.contains(tail));
        if is_value || output.exact.iter().any(|line| line.contains(tail)) {
            let in_line =
                |line: &String| ends_after(line, tail, missing) || !is_value && ends_inside(line, tail, missing);
            let right = values().any(|text| ends_after(text, tail, missing)) || output.exact.iter().any(in_line);
            return verdict.rule("cut", right, || format!("`{tail}` is not followed by {missing} more bytes"));
        }
        tail = &tail[tail.char_indices().nth(1).map_or(tail.len(), |(at, _)| at)..];
    }
    verdict.unchecked += 1;
}

/// What may stand at the end of a text without being shown.
const CLOSING: [char; 15] = [' ', ',', ';', ':', '.', '{', '}', ')', ']', '"', '\'', '`', '>', '\r', '\n'];

/// Returns whether a text ends this many bytes after `tail`.
fn ends_after(text: &str, tail: &str, missing: u64) -> bool {
    let least = text.trim_end_matches(CLOSING).len();
    let ends = least.max(text.len().saturating_sub(8))..=text.len();
    let before = |end: usize| text.get(..end.checked_sub(usize::try_from(missing).ok()?)?);
    ends.chain([least]).filter_map(before).any(|before| before.ends_with(tail))
}

/// Returns whether a line has `tail`, and something that may be the end of a value this many bytes after it.
fn ends_inside(line: &str, tail: &str, missing: u64) -> bool {
    let missing = usize::try_from(missing).unwrap_or(usize::MAX);
    let next = |(at, _): (usize, &str)| line.as_bytes().get((at + tail.len()).saturating_add(missing));
    line.match_indices(tail).filter_map(next).any(|byte| !byte.is_ascii_alphanumeric())
}

fn texts(document: &Value) -> Box<dyn Iterator<Item = &str> + '_> {
    match document {
        Value::String(text) => Box::new(std::iter::once(text.as_str())),
        Value::Array(values) => Box::new(values.iter().flat_map(texts)),
        Value::Object(fields) => Box::new(fields.values().flat_map(texts)),
        _ => Box::new(std::iter::empty()),
    }
}

/// Checks `(12 more changed lines)` below the beginning of a hunk.
fn missing_changes(output: &Output, item: &Item, verdict: &mut Verdict) {
    let Some((shown, said)) = item.text.rsplit_once("\n(") else { return };
    let Some((missing, " more changed lines)" | " more changed line)")) = number(said) else { return };
    let Some(place) = item.line.and_then(|line| output.numbers.binary_search(&line).ok()) else { return };
    // The head of a hunk says how many lines it has on either side.
    let head = output.lines[place].split_once("@@").map_or("", |(_, head)| head);
    let side = |sign: char| {
        let range = head.split_once(sign).map_or("", |(_, rest)| rest);
        let (_, rest) = number(range)?;
        rest.strip_prefix(',').map_or(Some(1), |lines| number(lines).map(|(lines, _)| lines))
    };
    let (Some(mut old), Some(mut new)) = (side('-'), side('+')) else { return };
    let mut all = 0;
    for line in &output.exact[place + 1..] {
        if old + new == 0 {
            break;
        }
        let (is_old, is_new) = (line.starts_with('-'), line.starts_with('+'));
        all += usize::from(is_old || is_new);
        old = old.saturating_sub(u64::from(!is_new));
        new = new.saturating_sub(u64::from(!is_old));
    }
    let told = shown.lines().filter(|line| line.starts_with(['+', '-'])).count();
    verdict.rule("cut", told + missing as usize == all, || {
        format!("{told} changed lines and {missing} more are not the {all} of the hunk")
    });
}
