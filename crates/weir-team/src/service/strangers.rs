//! How often an address may come without a good token, and how many of those that come too often are looked up at once.
//!
//! Invariants: a good token is never refused because of its address, which it may share with others behind a proxy; at
//! worst it waits for its turn. Memory is the same whatever addresses come: there is a fixed number of buckets, and
//! addresses that fall into the same one share it. Which do is drawn at each start, so that nobody can choose it.

use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Mutex, PoisonError};

use axum::http::Extensions;
use tokio::sync::{Semaphore, SemaphorePermit};
use weir_core::Timestamp;
use weir_http::peer::{Network, Peer};

use super::rates::{Bucket, Pace};

/// How many buckets there are.
const MAX_BUCKETS: usize = 4_096;
/// How many requests of addresses that come too often have their token looked up at once.
const MAX_TURNS: usize = 4;

/// Returns the network that a request came from. Requests that do not say it count as one. What a proxy says about it is
/// not read.
pub(super) fn network_of(extensions: &Extensions) -> Network {
    extensions.get::<Peer>().map_or(Network::Unknown, |peer| Network::from(peer.client.ip()))
}

/// The buckets of all addresses.
pub(super) struct Strangers {
    pace: Pace,
    keys: RandomState,
    buckets: Mutex<Vec<Bucket>>,
    turns: Semaphore,
}

impl Strangers {
    /// Creates buckets of this pace.
    pub(super) fn new(pace: Pace) -> Self {
        let buckets = Mutex::new(vec![pace.full(Timestamp(0)); MAX_BUCKETS]);
        Self { pace, keys: RandomState::new(), buckets, turns: Semaphore::new(MAX_TURNS) }
    }

    /// Waits for a turn, if a network has come too often. The turn ends with what is returned.
    pub(super) async fn turn(&self, network: Network, now: Timestamp) -> Option<SemaphorePermit<'_>> {
        match self.with_bucket(network, |bucket| self.pace.look(*bucket, now)) {
            Ok(()) => None,
            Err(_) => self.turns.acquire().await.ok(),
        }
    }

    /// Counts a request without a good token, or returns after how many seconds the network may make one again.
    pub(super) fn take(&self, network: Network, now: Timestamp) -> Result<(), u64> {
        self.with_bucket(network, |bucket| self.pace.take(bucket, now))
    }

    fn with_bucket(&self, network: Network, work: impl FnOnce(&mut Bucket) -> Result<(), u64>) -> Result<(), u64> {
        let at = (self.keys.hash_one(network) % MAX_BUCKETS as u64) as usize;
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        buckets.get_mut(at).map_or(Ok(()), work)
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    fn network(address: &str) -> Network {
        Network::from(address.parse::<IpAddr>().unwrap())
    }

    #[test]
    fn an_address_that_comes_too_often_waits_whatever_others_do() {
        let strangers = Strangers::new(Pace::new(2, 1));
        let (own, now) = (network("192.0.2.1"), Timestamp(1_700_000_000_000));
        let take = |after: i64| strangers.take(own, Timestamp(now.0 + after));
        assert_eq!([take(0), take(0), take(0)], [Ok(()), Ok(()), Err(1)]);
        assert_eq!([take(1_000), take(1_000)], [Ok(()), Err(1)]);
    }

    #[test]
    fn memory_stays_the_same_whatever_addresses_come() {
        let strangers = Strangers::new(Pace::new(1, 1));
        for number in 0..100_000_u128 {
            let address = IpAddr::V6(std::net::Ipv6Addr::from(number << 64));
            let _ = strangers.take(Network::from(address), Timestamp(0));
        }
        assert_eq!(strangers.buckets.lock().unwrap().len(), MAX_BUCKETS);
    }
}
