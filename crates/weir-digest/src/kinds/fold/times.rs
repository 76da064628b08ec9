//! The time span of a log, and its longest pause.

use crate::Item;
use crate::kinds::shared::stamp::Stamp;

/// The times of the lines seen so far.
#[derive(Default)]
pub(super) struct Times {
    /// The number of lines with a time.
    pub count: u64,
    first: String,
    last: String,
    begin: f64,
    now: f64,
    /// The longest pause between two lines, and the number of the second.
    gap: (f64, u64),
    /// The current minute, and the number of its lines.
    minute: (u64, u64),
    /// The minute with the most lines: how many, and its first time.
    busiest: (u64, String),
    minute_began: String,
}

/// A gap is reported if it is this many times as long as the usual one, and not short.
const LONG_GAP_FACTOR: f64 = 20.0;

impl Times {
    pub(super) fn add(&mut self, stamp: &Stamp, line: &str, number: u64) {
        let text = stamp.text(line);
        if self.count == 0 {
            text.clone_into(&mut self.first);
            self.begin = stamp.seconds;
        } else if stamp.seconds - self.now > self.gap.0 {
            self.gap = (stamp.seconds - self.now, number);
        }
        self.count += 1;
        self.now = stamp.seconds;
        text.clone_into(&mut self.last);
        let minute = (stamp.seconds / 60.0) as u64;
        if minute != self.minute.0 {
            self.end_minute();
            self.minute = (minute, 0);
            text.clone_into(&mut self.minute_began);
        }
        self.minute.1 += 1;
    }

    fn end_minute(&mut self) {
        if self.minute.1 > self.busiest.0 {
            self.busiest = (self.minute.1, std::mem::take(&mut self.minute_began));
        }
    }

    /// Returns a description of the times, if enough lines had one and they do not go backwards.
    pub(super) fn item(mut self, lines: u64) -> Option<Item> {
        if self.count < 2 || self.count * 4 < lines || self.now < self.begin {
            return None;
        }
        self.end_minute();
        let span = self.now - self.begin;
        let mut text = format!("{} to {}", self.first.trim(), self.last.trim());
        if span > 0.0 {
            text.push_str(&format!(" ({})", duration(span)));
        }
        let usual = span / self.count as f64;
        if self.gap.0 > usual * LONG_GAP_FACTOR && self.gap.0 >= 5.0 {
            text.push_str(&format!("; longest gap {} before line {}", duration(self.gap.0), self.gap.1));
        }
        let mean = self.count as f64 / (span / 60.0).max(1.0);
        if self.busiest.0 as f64 > mean * 3.0 {
            text.push_str(&format!("; busiest minute {} lines from {}", self.busiest.0, self.busiest.1.trim()));
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
