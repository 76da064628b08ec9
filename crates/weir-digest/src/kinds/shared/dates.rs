//! Dates as printed by git and listings, in comparable form.

/// A date and time without its zone: the digits of year, month, day, hour, minute and second.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Stamp(u64);

impl Stamp {
    /// Returns the day, as `2025-09-01`.
    pub(crate) fn day(self) -> String {
        let day = self.0 / 1_000_000;
        format!("{:04}-{:02}-{:02}", day / 10_000, day / 100 % 100, day % 100)
    }

    /// Returns the month, as `2025-09`.
    pub(crate) fn month(self) -> String {
        let month = self.0 / 100_000_000;
        format!("{:04}-{:02}", month / 100, month % 100)
    }
}

/// The first and the last day of some dates.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Range(Option<(Stamp, Stamp)>);

impl Range {
    pub(crate) fn add(&mut self, stamp: Stamp) {
        self.0 = Some(self.0.map_or((stamp, stamp), |(first, last)| (first.min(stamp), last.max(stamp))));
    }

    /// Returns `2025-09-01 to 2025-10-31`, if there was any date.
    pub(crate) fn days(self) -> Option<String> {
        self.0.map(|(first, last)| match first.day() == last.day() {
            true => first.day(),
            false => format!("{} to {}", first.day(), last.day()),
        })
    }
}

/// Parses a date in any of git's absolute formats.
pub(crate) fn parse(text: &str) -> Option<Stamp> {
    iso(text).or_else(|| worded(text))
}

/// Parses `2025-09-01`, `2025-09-01 12:00:00 +0200`, `2025-09-01T12:00:00Z`.
pub(crate) fn iso(text: &str) -> Option<Stamp> {
    let bytes = text.as_bytes();
    if bytes.get(4) != Some(&b'-') || bytes.get(7) != Some(&b'-') {
        return None;
    }
    let (year, month, day) = (digits(text.get(..4)?)?, digits(text.get(5..7)?)?, digits(text.get(8..10)?)?);
    let time = match bytes.get(10) {
        Some(b' ' | b'T') => text.get(11..).map_or(0, clock),
        Some(byte) if byte.is_ascii_alphanumeric() => return None,
        _ => 0,
    };
    stamp(year, month, day, time)
}

/// Parses `Mon Sep 1 12:00:00 2025 +0200` and `Mon, 1 Sep 2025 12:00:00 +0200`.
fn worded(text: &str) -> Option<Stamp> {
    let (mut year, mut month, mut day, mut time) = (None, None, None, 0);
    for word in text.split([' ', ',']).filter(|word| !word.is_empty()).take(6) {
        if word.contains(':') {
            time = clock(word);
        } else if let Some(number) = digits(word) {
            match (word.len(), day) {
                (4, _) => year = year.or(Some(number)),
                (_, None) => day = Some(number),
                _ => {}
            }
        } else if month.is_none() {
            month = month_of(word);
        }
    }
    stamp(year?, month?, day?, time)
}

pub(crate) fn month_of(word: &str) -> Option<u64> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    MONTHS.iter().position(|&month| month == word).map(|place| place as u64 + 1)
}

/// Creates a date from these numbers, if they are valid. `time` has six digits.
pub(crate) fn stamp(year: u64, month: u64, day: u64, time: u64) -> Option<Stamp> {
    let fits = (1000..=9999).contains(&year) && (1..=12).contains(&month) && (1..=31).contains(&day);
    fits.then(|| Stamp(((year * 100 + month) * 100 + day) * 1_000_000 + time))
}

/// Returns the six digits of `12:34:56` or `12:34`.
pub(crate) fn clock(text: &str) -> u64 {
    let two = |from: usize| text.get(from..from + 2).and_then(digits).unwrap_or(0);
    let seconds = if text.as_bytes().get(5) == Some(&b':') { two(6) } else { 0 };
    two(0) * 10_000 + two(3) * 100 + seconds
}

fn digits(text: &str) -> Option<u64> {
    let fits = !text.is_empty() && text.len() <= 4 && text.bytes().all(|byte| byte.is_ascii_digit());
    fits.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_absolute_format_of_git_is_read() {
        let texts = [
            "Mon Sep 1 12:34:56 2025 +0200", "Mon, 1 Sep 2025 12:34:56 +0200", "2025-09-01 12:34:56 +0200",
            "2025-09-01T12:34:56+02:00",
        ];
        for text in texts {
            assert_eq!(parse(text), Some(Stamp(20_250_901_123_456)), "{text}");
        }
        assert_eq!(parse("2025-09-01").map(Stamp::day).as_deref(), Some("2025-09-01"));
        assert_eq!(parse("3 days ago"), None);
        assert_eq!(parse("2025-99-01"), None);
    }
}
