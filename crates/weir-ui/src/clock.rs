//! Times as pages need them: local, and days as the meter counts them.

use jiff::tz::TimeZone;
use weir_core::Timestamp;
use weir_core::time::DAY;
use weir_host::when;
use weir_pages::Moment;

/// The present, and where on earth it is.
#[derive(Clone)]
pub(super) struct Clock {
    pub(super) now: Timestamp,
    zone: TimeZone,
}

impl Clock {
    /// Reads the clock and the system's time zone.
    pub(super) fn read() -> Self {
        Self { now: when::now(), zone: TimeZone::system() }
    }

    pub(super) fn moment(&self, at: Timestamp) -> Moment {
        let offset = jiff::Timestamp::from_millisecond(at.0).map(|time| self.zone.to_offset(time).seconds());
        Moment { at, offset_seconds: offset.unwrap_or(0) }
    }

    pub(super) fn present(&self) -> Moment {
        self.moment(self.now)
    }

    /// Returns the beginning of the first of the last `days` days, today included. The meter counts by days in UTC.
    pub(super) fn since(&self, days: usize) -> Timestamp {
        let before = i64::try_from(days).unwrap_or(i64::MAX).saturating_sub(1).saturating_mul(DAY);
        Timestamp(day_of(self.now).0.saturating_sub(before))
    }

    /// Whether local days begin at another time than the days of the meter.
    pub(super) fn is_elsewhere(&self) -> bool {
        self.present().offset_seconds != 0
    }
}

/// Returns the beginning of the day in UTC.
pub(super) fn day_of(at: Timestamp) -> Timestamp {
    Timestamp(at.0.div_euclid(DAY) * DAY)
}

/// Returns a day in UTC as a moment that every reader takes for that day.
pub(super) fn noon_of(day: Timestamp) -> Moment {
    Moment { at: Timestamp(day.0.saturating_add(DAY / 2)), offset_seconds: 0 }
}
