//! Finding runs of lines again. Time grows with the lines that were shown plus the lines of the text.

use std::collections::HashMap;
use std::ops::Range;

use super::record::ShownText;

/// What stands for a blank line.
pub(super) const BLANK: u64 = 0;
/// How many places of a line in the new text are tried.
const MAX_PLACES: usize = 4;
/// Bits of the filter that most shown lines do not pass.
const FILTER_BITS: u64 = 1 << 16;

/// Lines of a text that were shown before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repeat {
    /// Where they are in the text, from 0.
    pub lines: Range<usize>,
    /// The label of the text that had them.
    pub label: String,
}

/// A run that two texts share.
struct Run<'a> {
    lines: Range<usize>,
    label: &'a str,
}

/// A line without the number that `cat -n`, `nl` or a client puts before it.
pub(super) fn without_number(line: &str) -> &str {
    let text = line.trim_start();
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 || line.len() - text.len() > 8 {
        return line;
    }
    let rest = &text[digits..];
    rest.strip_prefix('\t').or_else(|| rest.strip_prefix('→')).unwrap_or(line)
}

/// The runs of at least `least` lines that were shown before, in order and without overlap. Of several that begin at a line, the longest
/// is taken, and of equally long ones the one shown last.
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
                let run = extend(text, lines, (from, at));
                if run.len() >= least {
                    longest = longest.max(run.end - at);
                    runs.push(Run { lines: run, label: text.label });
                }
            }
            skip_to = from + longest;
        }
    }
    choose(runs, least)
}

/// The run of equal lines around a line that two texts share, in the new text.
fn extend(text: &ShownText<'_>, lines: &[u64], (from, at): (usize, usize)) -> Range<usize> {
    let before = (1..=from.min(at)).take_while(|back| text.line(from - back) == lines[at - back]).count();
    let after = (0..(text.len() - from).min(lines.len() - at)).take_while(|on| text.line(from + on) == lines[at + on]);
    at - before..at + after.count()
}

fn choose(mut runs: Vec<Run<'_>>, least: usize) -> Vec<Repeat> {
    runs.sort_by_key(|run| run.lines.start);
    let mut chosen = Vec::new();
    let (mut at, mut next) = (0, 0);
    let mut open: Vec<&Run<'_>> = Vec::new();
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
