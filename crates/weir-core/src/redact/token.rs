//! Matches a token of a known shape at its literal.
//!
//! Invariant: runs are greedy and never retried with a shorter length, so a match costs at most the rule's maximum
//! length.

use std::ops::Range;

use super::class::{ALNUM, Class, URL64, URL64_BASE64, URL64_DOT, WORD};
use super::rules::{LONG, Rule, RulePart};
use super::value;
use super::window::Window;

/// Returns the token of shape `rule` whose literal is at `at`.
pub(super) fn find(window: &Window, rule: &Rule, at: usize) -> Option<Range<usize>> {
    let start = opening(window, rule, at)?;
    let body = at + rule.literal.len();
    let end = follow(window, rule, body)?;
    let secret = if rule.keeps_literal { body..end } else { start..end };
    value::may_be_token(window.slice(start..end)).then_some(secret)
}

/// Returns where the token begins, if it may begin there.
fn opening(window: &Window, rule: &Rule, at: usize) -> Option<usize> {
    let Some((class, min, max)) = rule.lead else {
        return (rule.keeps_literal || window.opens(at, edge(rule))).then_some(at);
    };
    let start = window.run_back(at, class, max + 1);
    (min..=max).contains(&(at - start)).then_some(start)
}

/// Returns what must not precede the token.
///
/// A short literal is easily part of a longer name. A literal with an endless run must not begin within the run of the
/// one before, since that would make `-eyJ-eyJ-eyJ…` quadratic.
fn edge(rule: &Rule) -> Class {
    let is_endless = matches!(rule.body.first(), Some(RulePart::Run(_, _, LONG)));
    match rule.apart {
        true => URL64_BASE64,
        false if is_endless || rule.literal.len() <= 3 => URL64,
        false => ALNUM,
    }
}

fn follow(window: &Window, rule: &Rule, from: usize) -> Option<usize> {
    let may_wrap = rule.literal.len() > 3 && !rule.apart;
    let mut end = from;
    for part in rule.body {
        match part {
            RulePart::Text(text) => {
                if !window.has(end, text.as_bytes()) {
                    return None;
                }
                end += text.len();
            }
            RulePart::Run(class, min, max) => {
                let run = window.run(end, *class, *max) - end;
                end = match run < *min {
                    true if may_wrap => wrapped(window, (*class, *min, *max), end..end + run)?,
                    true => return None,
                    false => end + run,
                };
            }
        }
    }
    closing(window, end)
}

/// Returns the end of a run that continues on the next line, as in a terminal or mail that is too narrow for it.
fn wrapped(window: &Window, (class, min, max): (Class, usize, usize), first: Range<usize>) -> Option<usize> {
    const MIN_RUN_BYTES: usize = 20;
    const MIN_FIRST_BYTES: usize = 8;
    if min < MIN_RUN_BYTES || first.len() < MIN_FIRST_BYTES {
        return None;
    }
    let line_end = first.end + usize::from(window.byte(first.end) == Some(b'\r'));
    if window.byte(line_end) != Some(b'\n') {
        return None;
    }
    let second = window.skip_blanks(line_end + 1);
    let end = window.run(second, class, max - first.len());
    (first.len() + (end - second) >= min).then_some(end)
}

/// Returns the JWT whose `eyJ` is at `at` and which is wrapped over lines of equal length, as in mail or folded YAML.
pub(super) fn wrapped_jwt(window: &Window, at: usize) -> Option<Range<usize>> {
    const MAX_BYTES: usize = 3072;
    const MAX_LINE_BYTES: usize = 200;
    // A shorter line is the last one. This also bounds how often a line is read.
    const MIN_FULL_BYTES: usize = 60;
    // Minimum lengths of the first line, and of a last line that other text follows.
    const MIN_EDGE_BYTES: usize = 16;
    let line_at = |start: usize| start..window.run(start, URL64_DOT, MAX_LINE_BYTES);
    let next_line = |end: usize| {
        let line_end = end + usize::from(window.byte(end) == Some(b'\r'));
        (window.byte(line_end) == Some(b'\n')).then(|| window.skip_blanks(line_end + 1))
    };
    let dots = |line: &Range<usize>| window.slice(line.clone()).iter().filter(|&&byte| byte == b'.').count();
    let first = if window.opens(at, URL64) { line_at(at) } else { return None };
    let mut next = Some(next_line(first.end).filter(|_| first.len() >= MIN_EDGE_BYTES)?);
    let mut text = window.slice(first.clone()).to_vec();
    // The first line may begin after other text, and be shorter than the others.
    let (mut width, mut dots_so_far, mut end) = (first.len()..=MAX_LINE_BYTES, dots(&first), first.end);
    while let Some(start) = next.filter(|_| text.len() < MAX_BYTES && dots_so_far <= 2) {
        let line = line_at(start);
        next = next_line(line.end);
        let is_closed = matches!(window.byte(line.end), None | Some(b'"' | b'\'' | b'`' | b',' | b')' | b'<' | b'\\'));
        if line.is_empty() || (next.is_none() && !is_closed && line.len() < MIN_EDGE_BYTES) {
            break;
        }
        text.extend_from_slice(window.slice(line.clone()));
        dots_so_far += dots(&line);
        end = line.end;
        next = next.filter(|_| line.len() >= MIN_FULL_BYTES && width.contains(&line.len()));
        width = line.len()..=line.len();
    }
    let is_wrapped = end > first.end && is_jwt(&text) && value::may_be_token(&text);
    if is_wrapped { Some(at..closing(window, end)?) } else { None }
}

fn is_jwt(text: &[u8]) -> bool {
    let parts: Vec<&[u8]> = text.split(|&byte| byte == b'.').collect();
    let [header, payload, signature] = parts[..] else { return false };
    header.len() >= 17 && payload.len() >= 13 && payload.starts_with(b"eyJ") && signature.len() >= 10
}

/// Returns where the token ends, if it may end there: what follows must not continue it.
fn closing(window: &Window, end: usize) -> Option<usize> {
    if window.byte(end).is_some_and(|byte| WORD.has(byte)) {
        return None;
    }
    // A full stop at the end belongs to the sentence.
    let mut end = end;
    while window.before(end) == Some(b'.') {
        end -= 1;
    }
    Some(end)
}
