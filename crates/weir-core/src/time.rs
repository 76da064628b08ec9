//! Points in time. Only the binary reads the clock; everything else takes a `Timestamp`.

/// Milliseconds since 1970-01-01 UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
pub struct Timestamp(pub i64);

/// One day in milliseconds.
pub const DAY: i64 = 24 * 60 * 60 * 1000;

impl Timestamp {
    /// Returns the time `days` later.
    pub fn plus_days(self, days: u32) -> Self {
        Self(self.0.saturating_add(i64::from(days) * DAY))
    }
}
