//! Matches a token of a known shape at its literal.
//!
//! Invariant: runs are greedy and never retried with a shorter length, so a match costs at most the rule's maximum
//! length.

use std::ops::Range;

use super::class::{ALNUM, Class, URL64, URL64_BASE64, WORD};
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
