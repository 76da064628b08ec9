//! A list of ranks that always knows its lowest one.
//!
//! It is a tree in an array: the ranks are its leaves, and a node is the lower of its two children. A heap was as fast
//! in measurements, but would have to keep and recognise ranks that have been overwritten.
//!
//! Invariant: node `n` is the lower of nodes `2 * n` and `2 * n + 1`, and node 1 is the root.

use crate::layout::NO_RANK;

#[derive(Default)]
pub(crate) struct MinTree {
    nodes: Vec<u32>,
}

impl MinTree {
    /// Replaces all ranks by these and one additional [`NO_RANK`].
    ///
    /// The additional one is for the last token of a piece, which is not the left half of any pair.
    pub(crate) fn fill(&mut self, ranks: impl ExactSizeIterator<Item = u32>) {
        let leaves = (ranks.len() + 1).next_power_of_two();
        self.nodes.clear();
        self.nodes.resize(leaves, NO_RANK);
        self.nodes.extend(ranks);
        self.nodes.resize(2 * leaves, NO_RANK);
        for node in (1..leaves).rev() {
            self.nodes[node] = self.nodes[2 * node].min(self.nodes[2 * node + 1]);
        }
    }

    /// Returns the leftmost position of the lowest rank, if there is any rank.
    pub(crate) fn leftmost(&self) -> Option<usize> {
        let leaves = self.nodes.len() / 2;
        let lowest = *self.nodes.get(1)?;
        if lowest == NO_RANK {
            return None;
        }
        let mut node = 1;
        while node < leaves {
            node = 2 * node + usize::from(self.nodes[2 * node] != lowest);
        }
        Some(node - leaves)
    }

    pub(crate) fn set(&mut self, place: usize, rank: u32) {
        let mut node = self.nodes.len() / 2 + place;
        self.nodes[node] = rank;
        while node > 1 {
            node /= 2;
            let lower = self.nodes[2 * node].min(self.nodes[2 * node + 1]);
            if self.nodes[node] == lower {
                break;
            }
            self.nodes[node] = lower;
        }
    }
}
