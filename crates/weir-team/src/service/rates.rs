//! How often a token may be used: a bucket for each, which every request takes from and time fills again.
//!
//! Invariants: memory is bounded by the tokens that were used lately; a clock that goes back fills nothing, and from
//! there on time fills the buckets again. Each server counts for itself.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use weir_core::Timestamp;
use weir_records::TokenId;

/// How many buckets are kept before those that are full again are dropped.
const MAX_BUCKETS: usize = 10_000;

/// How many requests a bucket holds, and how fast it fills.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    burst: f64,
    per_milli: f64,
}

/// The requests that are left.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bucket {
    left: f64,
    at: i64,
}

impl Pace {
    /// Returns the pace of buckets that hold `burst` requests, and are filled with `per_second`.
    pub(super) fn new(burst: u32, per_second: u32) -> Self {
        Self { burst: f64::from(burst.max(1)), per_milli: f64::from(per_second.max(1)) / 1_000.0 }
    }

    /// Returns a full bucket.
    pub(super) fn full(self, now: Timestamp) -> Bucket {
        Bucket { left: self.burst, at: now.0 }
    }

    /// Takes one request from a bucket, or returns after how many seconds there is one.
    pub(super) fn take(self, bucket: &mut Bucket, now: Timestamp) -> Result<(), u64> {
        *bucket = self.filled(*bucket, now);
        self.check(*bucket)?;
        bucket.left -= 1.0;
        Ok(())
    }

    /// Returns whether there is a request in a bucket, without taking it, or after how many seconds there is one.
    pub(super) fn look(self, bucket: Bucket, now: Timestamp) -> Result<(), u64> {
        self.check(self.filled(bucket, now))
    }

    fn check(self, bucket: Bucket) -> Result<(), u64> {
        if bucket.left < 1.0 {
            let millis = (1.0 - bucket.left) / self.per_milli;
            return Err((millis / 1_000.0).ceil().max(1.0) as u64);
        }
        Ok(())
    }

    fn filled(self, bucket: Bucket, now: Timestamp) -> Bucket {
        let passed = now.0.saturating_sub(bucket.at).max(0) as f64;
        Bucket { left: (bucket.left + passed * self.per_milli).min(self.burst), at: now.0 }
    }
}

/// The buckets of all tokens.
pub(super) struct Rates {
    pace: Pace,
    buckets: Mutex<HashMap<TokenId, Bucket>>,
}

impl Rates {
    /// Creates buckets of this pace.
    pub(super) fn new(pace: Pace) -> Self {
        Self { pace, buckets: Mutex::default() }
    }

    /// Takes one request from the bucket of a token, or returns after how many seconds there is one.
    pub(super) fn take(&self, id: TokenId, now: Timestamp) -> Result<(), u64> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= MAX_BUCKETS && !buckets.contains_key(&id) {
            buckets.retain(|_, bucket| self.pace.filled(*bucket, now).left < self.pace.burst);
        }
        self.pace.take(buckets.entry(id).or_insert(self.pace.full(now)), now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_may_burst_and_then_goes_at_its_rate() {
        let id = TokenId::parse("00112233445566ff").unwrap();
        let other = TokenId::parse("00112233445566fe").unwrap();
        let rates = Rates::new(Pace::new(3, 2));
        let take = |id, at| rates.take(id, Timestamp(at));
        assert_eq!([take(id, 0), take(id, 0), take(id, 0), take(id, 0)], [Ok(()), Ok(()), Ok(()), Err(1)]);
        assert_eq!(take(other, 0), Ok(()));
        assert_eq!([take(id, 490), take(id, 510), take(id, 510)], [Err(1), Ok(()), Err(1)]);
        // A clock that goes back.
        assert_eq!(take(id, 0), Err(1));
        assert_eq!([take(id, 60_000), take(id, 60_000), take(id, 60_000)], [Ok(()); 3]);
        assert_eq!(take(id, 60_000), Err(1));
    }

    #[test]
    fn a_clock_that_is_set_back_locks_nobody_out() {
        const HOUR: i64 = 60 * 60 * 1000;
        let id = TokenId::parse("00112233445566ff").unwrap();
        let rates = Rates::new(Pace::new(1, 2));
        let take = |at| rates.take(id, Timestamp(at));
        assert_eq!([take(HOUR), take(HOUR), take(0), take(400), take(600)], [Ok(()), Err(1), Err(1), Err(1), Ok(())]);
    }
}
