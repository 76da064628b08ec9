//! Finds runs of lines that were shown before. Time grows with the number of lines shown plus the lines of the text.

use std::collections::HashMap;
use std::ops::Range;

use super::record::ShownText;

/// The hash of a blank line.
pub(super) const BLANK: u64 = 0;
/// Maximum number of positions of a line in the new text that are tried.
const MAX_PLACES: usize = 4;
/// Size in bits of the filter that rejects most shown lines.
const FILTER_BITS: u64 = 1 << 16;

/// Lines of a text that were shown before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repeat {
    /// The range of lines in the text, from 0.
    pub lines: Range<usize>,
    /// The label of the earlier text that has these lines.
    pub label: String,
}

/// A run that two texts share.
struct SharedRun<'a> {
    lines: Range<usize>,
    label: &'a str,
}

/// Returns the lines of a text without the numbers that `cat -n`, `nl` or a client puts before them. A number counts as
/// a line number only if it is one more than that of the line before, or one less than that of the line after. Sizes
/// and counts stay.
pub(super) fn without_numbers(text: &str) -> Vec<&str> {
    let lines: Vec<&str> = text.lines().collect();
    let numbered: Vec<Option<(u64, &str)>> = lines.iter().map(|line| split_number(line)).collect();
    let number = |at: Option<usize>| at.and_then(|at| numbered.get(at).copied().flatten()).map(|(number, _)| number);
    let counts_on = |at: usize| {
        let (before, own, after) = (number(at.checked_sub(1)), number(Some(at)), number(Some(at + 1)));
        let next =
            |from: Option<u64>, to: Option<u64>| from.zip(to).is_some_and(|(from, to)| from.checked_add(1) == Some(to));
        next(before, own) || next(own, after)
    };
    let text_of = |at: usize| match numbered[at] {
        Some((_, rest)) if counts_on(at) => rest,
        _ => lines[at],
    };
    (0..lines.len()).map(text_of).collect()
}

/// Splits a line into the number before it and the rest.
fn split_number(line: &str) -> Option<(u64, &str)> {
    let text = line.trim_start();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if line.len() - text.len() > 8 {
        return None;
    }
    let (number, rest) = text.split_at(digits);
    let rest = rest.strip_prefix('\t').or_else(|| rest.strip_prefix('→'))?;
    Some((number.parse().ok()?, rest))
}

/// Returns the runs of at least `least` lines that were shown before, in order and without overlap. Of several runs
/// that begin at the same line, takes the longest, and of equally long ones the one shown last.
pub(super) fn repeats(shown: &[ShownText<'_>], lines: &[u64], least: usize) -> Vec<Repeat> {
    if lines.len() < least {
        return Vec::new();
    }
    let mut places: HashMap<u64, Vec<usize>> = HashMap::with_capacity(lines.len());
    let mut filter = vec![0_u64; (FILTER_BITS / 64) as usize];
    for (at, line) in lines.iter().enumerate().filter(|(_, line)| **line != BLANK) {
        let known = places.entry(*line).or_default();
        if known.len() < MAX_PLACES {
            known.push(at);
        }
        let bit = (line >> 1) % FILTER_BITS;
        filter[(bit / 64) as usize] |= 1 << (bit % 64);
    }
    let passes = |line: u64| {
        let bit = (line >> 1) % FILTER_BITS;
        line != BLANK && filter[(bit / 64) as usize] & (1 << (bit % 64)) != 0
    };
    let mut runs = Vec::new();
    for text in shown {
        let mut skip_to = 0;
        for (from, line) in text.lines().enumerate() {
            if from < skip_to || !passes(line) {
                continue;
            }
            let Some(known) = places.get(&line) else { continue };
            let mut longest = 0;
            for &at in known {
                let run = extend(text, lines, from, at);
                if run.len() >= least {
                    longest = longest.max(run.end - at);
                    runs.push(SharedRun { lines: run, label: text.label });
                }
            }
            skip_to = from + longest;
        }
    }
    choose(runs, least)
}

/// Extends a line that two texts share to the run of equal lines around it, as a range of the new text.
fn extend(text: &ShownText<'_>, lines: &[u64], from: usize, at: usize) -> Range<usize> {
    let before = (1..=from.min(at)).take_while(|back| text.line(from - back) == lines[at - back]).count();
    let after = (0..(text.len() - from).min(lines.len() - at)).take_while(|on| text.line(from + on) == lines[at + on]);
    at - before..at + after.count()
}

fn choose(mut runs: Vec<SharedRun<'_>>, least: usize) -> Vec<Repeat> {
    runs.sort_by_key(|run| run.lines.start);
    let mut chosen = Vec::new();
    let (mut at, mut next) = (0, 0);
    let mut open: Vec<&SharedRun<'_>> = Vec::new();
    while next < runs.len() || !open.is_empty() {
        while let Some(run) = runs.get(next).filter(|run| run.lines.start <= at) {
            open.push(run);
            next += 1;
        }
        open.retain(|run| run.lines.end >= at + least);
        match open.iter().max_by_key(|run| run.lines.end) {
            Some(run) => {
                chosen.push(Repeat { lines: at..run.lines.end, label: run.label.to_owned() });
                at = run.lines.end;
            }
            None => match runs.get(next) {
                Some(run) => at = run.lines.start,
                None => break,
            },
        }
    }
    chosen
}
