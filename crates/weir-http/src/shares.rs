//! How many connections each address has. Invariant: an address that has none takes no memory.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::peer::Network;

/// The connections of all addresses.
pub(crate) struct Shares {
    /// How many connections an address may have.
    most: usize,
    open: Mutex<HashMap<Network, usize>>,
}

/// The place of one connection among those of its address.
pub(crate) struct Share {
    shares: Arc<Shares>,
    network: Network,
}

impl Shares {
    pub(crate) fn new(most: usize) -> Self {
        Self { most: most.max(1), open: Mutex::default() }
    }

    /// Returns a place for one more connection of an address, unless it has as many as it may have.
    pub(crate) fn take(self: &Arc<Self>, network: Network) -> Option<Share> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let count = open.entry(network).or_default();
        if *count >= self.most {
            return None;
        }
        *count += 1;
        Some(Share { shares: Arc::clone(self), network })
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        let mut open = self.shares.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = open.get_mut(&self.network) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.network);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_takes_its_share_and_nothing_of_others() {
        let shares = Arc::new(Shares::new(2));
        let network = |last: u8| Network::V4([192, 0, 2, last]);
        let own: Vec<_> = (0..3).map(|_| shares.take(network(1))).collect();
        assert_eq!(own.iter().flatten().count(), 2);
        assert!(shares.take(network(2)).is_some());
        drop(own);
        assert!(shares.take(network(1)).is_some());
        assert!(shares.open.lock().unwrap().is_empty());
    }
}
