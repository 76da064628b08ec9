//! Points in time as people read them, at the place where they are. Nothing here reads the clock or a time zone.

use jiff::civil::DateTime;
use jiff::tz::Offset;
use weir_core::Timestamp;

/// A point in time, and how far local time was ahead of UTC then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    pub at: Timestamp,
    /// Seconds that local time is ahead of UTC at that time, which differs between summer and winter.
    pub offset_seconds: i32,
}

impl Moment {
    /// Formats the time of day: `11:02`.
    pub(crate) fn clock(self) -> String {
        self.write("%H:%M")
    }

    /// Formats the day: `today`, `15 Nov`, `15 Nov 2025`.
    pub(crate) fn day(self, now: Self) -> String {
        match (self.local(), now.local()) {
            (Some(then), Some(now)) if then.date() == now.date() => "today".to_owned(),
            (Some(then), Some(now)) if then.year() == now.year() => self.write("%-d %b"),
            _ => self.write("%-d %b %Y"),
        }
    }

    /// Formats the day and the time: `today 11:02`, `15 Nov 04:59`.
    pub(crate) fn show(self, now: Self) -> String {
        match self.local() {
            Some(_) => format!("{} {}", self.day(now), self.clock()),
            None => self.day(now),
        }
    }

    /// Formats a day of a chart: `Wed 4`.
    pub(crate) fn weekday(self) -> String {
        self.write("%a %-d")
    }

    /// Formats a day of a table: `Wed 4 Nov`.
    pub(crate) fn weekday_and_month(self) -> String {
        self.write("%a %-d %b")
    }

    /// Formats the number of the day: `4`.
    pub(crate) fn day_of_month(self) -> String {
        self.write("%-d")
    }

    /// Formats the whole date: `Tuesday 17 November`.
    pub(crate) fn long_day(self) -> String {
        self.write("%A %-d %B")
    }

    /// Formats the time for programs that read the page.
    pub(crate) fn machine(self) -> String {
        self.write("%Y-%m-%dT%H:%M:%S")
    }

    pub(crate) fn is_same_day(self, other: Self) -> bool {
        self.local().zip(other.local()).is_some_and(|(one, other)| one.date() == other.date())
    }

    /// Returns the seconds from `earlier` to this time.
    pub(crate) fn seconds_since(self, earlier: Self) -> u64 {
        u64::try_from(self.at.0.saturating_sub(earlier.at.0) / 1_000).unwrap_or(0)
    }

    fn local(self) -> Option<DateTime> {
        let offset = Offset::from_seconds(self.offset_seconds).ok()?;
        Some(offset.to_datetime(jiff::Timestamp::from_millisecond(self.at.0).ok()?))
    }

    fn write(self, format: &str) -> String {
        match self.local() {
            Some(time) => time.strftime(format).to_string(),
            None => super::figures::NOT_KNOWN.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(text: &str, hours: i32) -> Moment {
        let time: jiff::Timestamp = text.parse().unwrap();
        Moment { at: Timestamp(time.as_millisecond()), offset_seconds: hours * 3_600 }
    }

    #[test]
    fn a_day_is_named_as_near_as_it_is() {
        let now = moment("2026-11-17T12:30:00Z", 1);
        let shown =
            ["2026-11-17T10:02:00Z", "2026-11-15T03:59:00Z", "2025-11-15T03:59:00Z"].map(|at| moment(at, 1).show(now));
        assert_eq!(shown, ["today 11:02", "15 Nov 04:59", "15 Nov 2025 04:59"]);
    }

    #[test]
    fn the_local_day_counts_and_not_that_of_utc() {
        let now = moment("2026-11-17T12:30:00Z", -8);
        assert_eq!(moment("2026-11-17T07:30:00Z", -8).show(now), "16 Nov 23:30");
        assert_eq!(now.long_day(), "Tuesday 17 November");
    }

    #[test]
    fn a_time_out_of_range_is_not_known() {
        let never = Moment { at: Timestamp(i64::MAX), offset_seconds: i32::MAX };
        assert_eq!(never.show(never), "not known");
        assert_eq!(never.weekday(), "not known");
    }
}
