//! Time that orders records of several machines: a hybrid logical clock, after Kulkarni et al. (2014).
//!
//! Invariants: a clock never gives the same time twice, and never one before what it has given or followed. It stays
//! close to the time of day: a time far ahead is refused, and one that is ahead by more than a clock may be wrong is
//! taken without following it. So one machine with a wrong clock does not move all others, who would then be refused.

use std::sync::{Mutex, PoisonError};

use weir_core::Timestamp;
use weir_core::time::DAY;

/// How far ahead of this machine's time of day a record from elsewhere may be, in milliseconds.
const MAX_AHEAD_MILLIS: i64 = DAY;
/// How far ahead a record may be to be followed, in milliseconds.
const MAX_FOLLOWED_MILLIS: i64 = HOUR;
const HOUR: i64 = 60 * 60 * 1000;

/// A moment that orders records: the time of day, and a count of what happened within the same millisecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogicalTime {
    /// Milliseconds since 1970-01-01 UTC.
    pub millis: i64,
    /// Orders records of the same millisecond.
    pub count: u32,
}

impl LogicalTime {
    /// The time before everything.
    pub const ZERO: Self = Self { millis: 0, count: 0 };

    /// Returns the time of day, for display and for filters.
    pub fn timestamp(self) -> Timestamp {
        Timestamp(self.millis)
    }

    /// Checks that a record from elsewhere may have this time.
    pub fn check(self, now: Timestamp) -> Result<(), ClockAhead> {
        let ahead = self.millis.saturating_sub(now.0);
        if ahead > MAX_AHEAD_MILLIS { Err(ClockAhead(ahead)) } else { Ok(()) }
    }

    pub fn is_followed(self, now: Timestamp) -> bool {
        self.millis.saturating_sub(now.0) <= MAX_FOLLOWED_MILLIS
    }

    fn next(self) -> Self {
        match self.count.checked_add(1) {
            Some(count) => Self { count, ..self },
            None => Self { millis: self.millis.saturating_add(1), count: 0 },
        }
    }
}

/// The error for a time that is too far ahead to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "its time is {} hours ahead of the clock here, and at most {} are taken; set the clock of the machine it is from",
    .0 / HOUR, MAX_AHEAD_MILLIS / HOUR
)]
pub struct ClockAhead(i64);

/// The clock of one writer.
#[derive(Debug)]
pub struct Clock {
    last: Mutex<LogicalTime>,
}

impl Clock {
    /// Creates a clock that continues after `last`.
    pub fn new(last: LogicalTime) -> Self {
        Self { last: Mutex::new(last) }
    }

    /// Returns the time of a new record. `now` is the time of day, which may stand still or go back.
    pub fn tick(&self, now: Timestamp) -> LogicalTime {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let next = if now.0 > last.millis { LogicalTime { millis: now.0, count: 0 } } else { last.next() };
        *last = next;
        next
    }

    /// Follows the time of a record from elsewhere, so that every later record of this clock comes after it.
    pub fn observe(&self, seen: LogicalTime, now: Timestamp) {
        if seen.is_followed(now) {
            let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
            *last = seen.max(*last);
        }
    }

    /// Returns whether the time of day has passed everything that this clock has given or followed.
    pub fn is_behind(&self, now: Timestamp) -> bool {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).millis < now.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn time_only_goes_forward_and_is_never_behind_what_was_seen(
            steps in prop::collection::vec((0i64..50, prop::option::of((0i64..100, 0u32..3))), 1..60)
        ) {
            let clock = Clock::new(LogicalTime::ZERO);
            let (mut last, mut latest) = (LogicalTime::ZERO, LogicalTime::ZERO);
            for (now, seen) in steps {
                if let Some((millis, count)) = seen {
                    let seen = LogicalTime { millis, count };
                    clock.observe(seen, Timestamp(now));
                    latest = latest.max(seen);
                }
                let time = clock.tick(Timestamp(now));
                prop_assert!(time > last && time > latest, "{time:?} after {last:?} and {latest:?}");
                prop_assert!(time.millis >= now);
                last = time;
            }
        }
    }

    #[test]
    fn a_clock_follows_the_time_of_day_again_once_that_has_caught_up() {
        let clock = Clock::new(LogicalTime::ZERO);
        clock.observe(LogicalTime { millis: 100, count: 7 }, Timestamp(10));
        assert_eq!(clock.tick(Timestamp(10)), LogicalTime { millis: 100, count: 8 });
        assert_eq!(clock.tick(Timestamp(101)), LogicalTime { millis: 101, count: 0 });
    }

    #[test]
    fn a_count_that_is_full_goes_on_with_the_next_millisecond() {
        let clock = Clock::new(LogicalTime { millis: 5, count: u32::MAX });
        assert_eq!(clock.tick(Timestamp(0)), LogicalTime { millis: 6, count: 0 });
    }

    #[test]
    fn a_time_ahead_is_followed_taken_or_refused_by_how_far_it_is() {
        for (millis, is_taken, is_followed) in [
            (HOUR + 1, true, true),
            (HOUR + 2, true, false),
            (DAY + 1, true, false),
            (DAY + 2, false, false),
            (i64::MAX, false, false),
            (i64::MIN, true, true),
        ] {
            let (seen, now) = (LogicalTime { millis, count: 0 }, Timestamp(1));
            assert_eq!(seen.check(now).is_ok(), is_taken, "{millis}");
            let clock = Clock::new(LogicalTime::ZERO);
            clock.observe(seen, now);
            let expected = if is_followed && millis > 1 { seen.next() } else { LogicalTime { millis: 1, count: 0 } };
            assert_eq!(clock.tick(now), expected, "{millis}");
        }
        let error = LogicalTime { millis: 30 * HOUR, count: 0 }.check(Timestamp(0)).unwrap_err();
        assert!(
            error.to_string().starts_with("its time is 30 hours ahead of the clock here, and at most 24"),
            "{error}"
        );
    }
}
