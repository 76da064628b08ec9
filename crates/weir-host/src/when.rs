//! Parses times as people and models write them, and formats them for answers.

use std::sync::OnceLock;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use weir_core::Timestamp;

use crate::error::CommandError;

pub fn now() -> Timestamp {
    Timestamp(jiff::Timestamp::now().as_millisecond())
}

/// Parses a time: an age such as `90m`, `6h`, `3d`, `2w`, a date, or a date and time. A time without a zone is in the
/// zone that times are shown in.
pub fn parse(text: &str, now: Timestamp) -> Result<Timestamp, CommandError> {
    parse_in(text, now, zone())
}

/// Parses a time as [`parse`] does, but in UTC unless stated otherwise: for what is counted by days in UTC.
pub fn parse_utc(text: &str, now: Timestamp) -> Result<Timestamp, CommandError> {
    parse_in(text, now, TimeZone::UTC)
}

fn parse_in(text: &str, now: Timestamp, zone: TimeZone) -> Result<Timestamp, CommandError> {
    let text = text.trim();
    age(text).map(|age| Timestamp(now.0.saturating_sub(age))).or_else(|| absolute_in(text, zone)).ok_or_else(|| {
        CommandError::usage(format!("`{text}` is not a time"))
            .hint("write an age such as 6h, 3d or 2w, or a date such as 2026-01-31")
    })
}

/// The time zone that times are shown and read in, if a person at a terminal reads and writes them.
static LOCAL: OnceLock<TimeZone> = OnceLock::new();

/// Shows and reads times in the system's time zone from now on. Only a command whose answer goes to a terminal may call
/// this.
pub fn use_local_time() {
    let _ = LOCAL.set(TimeZone::system());
}

/// Returns the time zone that times are shown and read in.
fn zone() -> TimeZone {
    LOCAL.get().cloned().unwrap_or(TimeZone::UTC)
}

/// Returns the same time on the next day, which is not always 24 hours later.
pub fn next_day(at: Timestamp) -> Timestamp {
    next_day_in(at, zone())
}

fn next_day_in(at: Timestamp, zone: TimeZone) -> Timestamp {
    let next = jiff::Timestamp::from_millisecond(at.0).and_then(|time| time.to_zoned(zone).tomorrow());
    next.map_or_else(|_| at.plus_days(1), |next| Timestamp(next.timestamp().as_millisecond()))
}

/// Formats a time for answers, to the minute: in UTC, or in local time for a person at a terminal.
pub fn show(at: Timestamp) -> String {
    match (jiff::Timestamp::from_millisecond(at.0), LOCAL.get()) {
        (Ok(time), None) => time.strftime("%Y-%m-%d %H:%MZ").to_string(),
        (Ok(time), Some(zone)) => time.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string(),
        (Err(_), _) => "an unknown time".to_owned(),
    }
}

/// Formats a time of today for people, as their clock shows it.
pub fn clock(at: Timestamp) -> String {
    match jiff::Timestamp::from_millisecond(at.0) {
        Ok(time) => time.to_zoned(TimeZone::system()).strftime("%H:%M").to_string(),
        Err(_) => "an unknown time".to_owned(),
    }
}

/// Formats a time for files that programs read: to the second, in UTC, as RFC 3339 has it.
pub fn for_data(at: Timestamp) -> String {
    match jiff::Timestamp::from_millisecond(at.0) {
        Ok(time) => time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
        Err(_) => "an unknown time".to_owned(),
    }
}

/// Formats a day for answers, in UTC.
pub fn day(at: Timestamp) -> String {
    match jiff::Timestamp::from_millisecond(at.0) {
        Ok(time) => time.strftime("%Y-%m-%d").to_string(),
        Err(_) => "an unknown day".to_owned(),
    }
}

fn age(text: &str) -> Option<i64> {
    let unit = text.chars().last()?;
    let seconds = match unit.to_ascii_lowercase() {
        's' => 1,
        'm' => 60,
        'h' => 60 * 60,
        'd' => 24 * 60 * 60,
        'w' => 7 * 24 * 60 * 60,
        _ => return None,
    };
    let number: u32 = text[..text.len() - unit.len_utf8()].trim().parse().ok()?;
    i64::from(number).checked_mul(seconds * 1000)
}

/// Parses a date, or a date and time (UTC unless stated otherwise), as programs write it.
pub fn absolute(text: &str) -> Option<Timestamp> {
    absolute_in(text, TimeZone::UTC)
}

fn absolute_in(text: &str, zone: TimeZone) -> Option<Timestamp> {
    // The name of a zone, as in `12:00[Europe/Berlin]`, is not looked up, and must not be ignored.
    let civil = || text.parse::<DateTime>().ok().filter(|_| !text.contains('['));
    let in_zone = || Some(civil()?.to_zoned(zone).ok()?.timestamp());
    let time = text.parse::<jiff::Timestamp>().ok().or_else(in_zone)?;
    Some(Timestamp(time.as_millisecond()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ages_dates_and_instants_are_understood() {
        let now = Timestamp(1_800_000_000_000);
        for (text, expected) in [
            ("90m", 1_800_000_000_000 - 90 * 60_000),
            ("2w", 1_800_000_000_000 - 14 * 86_400_000),
            ("2026-01-31", 1_769_817_600_000),
            ("2026-01-31T12:00", 1_769_860_800_000),
            ("2026-01-31T12:00:00+01:00", 1_769_857_200_000),
        ] {
            assert_eq!(parse(text, now).unwrap(), Timestamp(expected), "{text}");
        }
        for text in ["yesterday", "2026-01-31T12:00[Europe/Berlin]"] {
            assert!(parse(text, now).is_err(), "{text}");
        }
        assert_eq!(show(Timestamp(1_769_860_800_000)), "2026-01-31 12:00Z");
        assert_eq!(for_data(Timestamp(1_769_860_800_000)), "2026-01-31T12:00:00Z");
    }

    #[test]
    fn dates_and_times_without_a_zone_are_read_in_the_one_that_is_shown() {
        let east = TimeZone::fixed(jiff::tz::offset(2));
        for (text, utc) in [
            ("2026-01-31", "2026-01-30T22:00Z"),
            ("2026-01-31 12:00", "2026-01-31T10:00Z"),
            ("2026-01-31 12:00Z", "2026-01-31T12:00Z"),
            ("2026-01-31T12:00-01:00", "2026-01-31T13:00Z"),
        ] {
            let expected = parse_utc(utc, Timestamp(0)).unwrap();
            assert_eq!(parse_in(text, Timestamp(0), east.clone()).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn a_day_ends_where_the_next_begins() {
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        for (day, next) in [("2026-03-28", "2026-03-29"), ("2026-03-29", "2026-03-30"), ("2026-10-25", "2026-10-26")] {
            let [day, next] = [day, next].map(|day| parse_in(day, Timestamp(0), zone.clone()).unwrap());
            assert_eq!(next_day_in(day, zone.clone()), next);
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text: String) {
            let _ = parse(&text, Timestamp(0));
        }
    }
}
