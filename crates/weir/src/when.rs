//! Parses times as people and models write them, and formats them for answers.

use std::sync::OnceLock;

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use weir_core::Timestamp;

use crate::error::CommandError;

/// Returns the current time.
pub(crate) fn now() -> Timestamp {
    Timestamp(jiff::Timestamp::now().as_millisecond())
}

/// Parses a time: an age such as `90m`, `6h`, `3d`, `2w`, a date, or a date and time (UTC unless stated otherwise).
pub(crate) fn parse(text: &str, now: Timestamp) -> Result<Timestamp, CommandError> {
    let text = text.trim();
    age(text).map(|age| Timestamp(now.0.saturating_sub(age))).or_else(|| absolute(text)).ok_or_else(|| {
        CommandError::usage(format!("`{text}` is not a time"))
            .hint("write an age such as 6h, 3d or 2w, or a date such as 2026-01-31")
    })
}

/// The time zone that times are shown in, if a person at a terminal reads them.
static LOCAL: OnceLock<TimeZone> = OnceLock::new();

/// Shows times in the system's time zone from now on. Only a command whose answer goes to a terminal may call this.
pub(crate) fn use_local_time() {
    let _ = LOCAL.set(TimeZone::system());
}

/// Formats a time for answers, to the minute: in UTC, or in local time for a person at a terminal.
pub(crate) fn show(at: Timestamp) -> String {
    match (jiff::Timestamp::from_millisecond(at.0), LOCAL.get()) {
        (Ok(time), None) => time.strftime("%Y-%m-%d %H:%MZ").to_string(),
        (Ok(time), Some(zone)) => time.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M").to_string(),
        (Err(_), _) => "an unknown time".to_owned(),
    }
}

/// Formats a day for answers, in UTC.
pub(crate) fn day(at: Timestamp) -> String {
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
pub(crate) fn absolute(text: &str) -> Option<Timestamp> {
    let in_utc = |time: DateTime| time.to_zoned(TimeZone::UTC).ok().map(|zoned| zoned.timestamp());
    let time =
        text.parse::<jiff::Timestamp>().ok().or_else(|| text.parse::<DateTime>().ok().and_then(in_utc)).or_else(
            || text.parse::<Date>().ok().and_then(|date| in_utc(date.to_datetime(jiff::civil::Time::midnight()))),
        )?;
    Some(Timestamp(time.as_millisecond()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

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
        assert!(parse("yesterday", now).is_err());
        assert_eq!(show(Timestamp(1_769_860_800_000)), "2026-01-31 12:00Z");
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text: String) {
            let _ = parse(&text, Timestamp(0));
        }
    }
}
