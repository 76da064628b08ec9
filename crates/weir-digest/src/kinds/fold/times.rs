//! The time span of a log, its longest pause and its busiest minute.

use crate::text::count;
use std::collections::BTreeMap;

use crate::Item;

/// A gap is reported if it is this many times as long as the usual one, and not short.
const LONG_GAP_FACTOR: f64 = 20.0;
/// How far behind an earlier line, in seconds, a line of a log in order may be.
const MAX_DISORDER: f64 = 1.0;
/// The maximum number of minutes whose lines are counted: those of two weeks.
const MAX_MINUTES: usize = 20_160;
const DAY: f64 = 86_400.0;

/// The times of the lines seen so far.
#[derive(Default)]
pub(crate) struct Times {
    /// The number of lines with a time.
    count: u64,
    /// The time of the first line, and of the last.
    begin: f64,
    now: f64,
    /// The earliest time, and the latest.
    earliest: (f64, String),
    latest: (f64, String),
    /// How far a line was behind an earlier one, at most.
    behind: f64,
    /// The longest pause between two lines, and the number of the second.
    gap: (f64, u64),
    /// The current minute, the number of its lines so far, and the first of their times.
    minute: (u64, u64, String),
    /// The minutes with the number of their lines and the first of their times.
    minutes: BTreeMap<u64, (u64, String)>,
    /// Whether there were too many minutes.
    crowded: bool,
}

impl Times {
    /// Takes the time of a line, as text and in seconds.
    pub(crate) fn add(&mut self, text: &str, seconds: f64, number: u64) {
        let is_first = self.count == 0;
        self.count += 1;
        self.now = seconds;
        if is_first {
            self.begin = seconds;
        }
        if is_first || seconds < self.earliest.0 {
            self.earliest.0 = seconds;
            text.clone_into(&mut self.earliest.1);
        }
        if is_first || seconds >= self.latest.0 {
            let gap = seconds - self.latest.0;
            if !is_first && gap > self.gap.0 {
                self.gap = (gap, number);
            }
            self.latest.0 = seconds;
            text.clone_into(&mut self.latest.1);
        } else {
            self.behind = self.behind.max(self.latest.0 - seconds);
        }
        let minute = (seconds / 60.0) as u64;
        if minute != self.minute.0 {
            self.end_minute();
            self.minute.0 = minute;
        }
        if self.minute.1 == 0 {
            text.clone_into(&mut self.minute.2);
        }
        self.minute.1 += 1;
    }

    /// Counts the lines of the current minute, of which there may be more later.
    fn end_minute(&mut self) {
        let (minute, lines, began) = &mut self.minute;
        if *lines == 0 {
            return;
        }
        if let Some(known) = self.minutes.get_mut(minute) {
            known.0 += *lines;
        } else if self.minutes.len() < MAX_MINUTES {
            self.minutes.insert(*minute, (*lines, std::mem::take(began)));
        } else {
            self.crowded = true;
        }
        *lines = 0;
    }

    /// Returns the earliest and the latest time, and the seconds between them. `None` if there are no times, or if they
    /// have no date and go past midnight.
    pub(crate) fn span(&self) -> Option<(&str, &str, f64)> {
        let past_midnight = self.latest.0 < DAY && self.behind > DAY / 2.0;
        let span = self.latest.0 - self.earliest.0;
        (self.count > 0 && !past_midnight).then(|| (self.earliest.1.trim(), self.latest.1.trim(), span))
    }

    /// Returns the number of lines in the minute that has the most, and the first of their times.
    pub(crate) fn busiest(&mut self) -> Option<(u64, &str)> {
        self.end_minute();
        let mut busiest: Option<(u64, &str)> = None;
        for (lines, began) in self.minutes.values() {
            if busiest.is_none_or(|(most, _)| *lines > most) {
                busiest = Some((*lines, began.trim()));
            }
        }
        busiest.filter(|_| !self.crowded)
    }

    /// Returns a description of the times, if enough lines had one and they do not go backwards.
    pub(super) fn item(mut self, lines: u64) -> Option<Item> {
        if self.count < 2 || self.count * 4 < lines || self.now < self.begin {
            return None;
        }
        let (first, last, span) = self.span()?;
        let mut text = format!("{first} to {last}");
        if span > 0.0 {
            text.push_str(&format!(" ({})", duration(span)));
        }
        let usual = span / self.count as f64;
        // In lines of several logs, other lines may be in the gap.
        if self.behind <= MAX_DISORDER && self.gap.0 > usual * LONG_GAP_FACTOR && self.gap.0 >= 5.0 {
            text.push_str(&format!("; longest gap {} before line {}", duration(self.gap.0), self.gap.1));
        }
        let mean = self.count as f64 / (span / 60.0).max(1.0);
        if let Some((lines, began)) = self.busiest().filter(|(lines, _)| *lines as f64 > mean * 3.0) {
            text.push_str(&format!("; busiest minute {} from {began}", count(lines, "line", "lines")));
        }
        Some(Item::plain(text))
    }
}

/// Formats a duration in the unit that a person would use.
pub(crate) fn duration(seconds: f64) -> String {
    match seconds {
        ..10.0 => format!("{seconds:.2} s"),
        ..600.0 => format!("{seconds:.0} s"),
        ..36_000.0 => format!("{:.0} min", seconds / 60.0),
        ..360_000.0 => format!("{:.1} h", seconds / 3_600.0),
        _ => format!("{:.1} days", seconds / 86_400.0),
    }
}
