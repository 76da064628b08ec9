//! The shard map: which of the logical shards is on which node, and where its replica is.
//!
//! Invariants: a shard is on exactly one node, and its replica on another; growing moves a shard only to a node that is
//! new.

use crate::tenants::Unit;

/// How many logical shards there are. It is a multiple of every number up to 6, and of 8, 10, 12, 15 and 16, so that
/// many numbers of nodes get the same number of shards each.
pub(crate) const SHARDS: usize = 480;

/// Where each shard is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShardMap {
    /// The node of each shard.
    pub(crate) nodes: Vec<usize>,
    /// The node of each shard's replica.
    pub(crate) replicas: Vec<usize>,
    /// How many nodes there are.
    pub(crate) count: usize,
}

/// How replicas are spread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Replicas {
    /// All replicas of a node are on the next one: each node is one server with one standby.
    Paired,
    /// The replicas of a node are spread over all others.
    Spread,
}

/// A shard that changes its node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Move {
    pub(crate) shard: usize,
    pub(crate) from: usize,
    pub(crate) to: usize,
}

/// Returns the shard of a unit.
pub(crate) fn shard_of(unit: &Unit) -> usize {
    (unit.hash % SHARDS as u64) as usize
}

/// Returns the share of each shard.
pub(crate) fn loads(units: &[Unit]) -> Vec<f64> {
    let mut loads = vec![0.0; SHARDS];
    for unit in units {
        loads[shard_of(unit)] += unit.share;
    }
    loads
}

/// Returns the greatest load as a multiple of the mean.
pub(crate) fn skew(loads: &[f64]) -> f64 {
    let mean = loads.iter().sum::<f64>() / loads.len().max(1) as f64;
    loads.iter().copied().fold(0.0, f64::max) / mean
}

impl ShardMap {
    /// Gives each node the same number of shards, whatever is in them.
    pub(crate) fn even(count: usize, replicas: Replicas) -> Self {
        let nodes = (0..SHARDS).map(|shard| shard % count).collect();
        Self::with_replicas(nodes, count, replicas)
    }

    /// Gives each node about the same load: the largest shards first, each to the node with the least.
    pub(crate) fn balanced(loads: &[f64], count: usize, replicas: Replicas) -> Self {
        let mut order: Vec<usize> = (0..SHARDS).collect();
        order.sort_by(|a, b| loads[*b].total_cmp(&loads[*a]).then(a.cmp(b)));
        let (mut nodes, mut has) = (vec![0; SHARDS], vec![0.0; count]);
        for shard in order {
            let node = least(&has);
            nodes[shard] = node;
            has[node] += loads[shard];
        }
        Self::with_replicas(nodes, count, replicas)
    }

    /// Returns the load of each node.
    pub(crate) fn node_loads(&self, loads: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.count];
        for (shard, node) in self.nodes.iter().enumerate() {
            sums[*node] += loads[shard];
        }
        sums
    }

    /// Returns the moves that fill new nodes up to the mean load, each from the node that has the most at that moment.
    /// No shard moves between two old nodes.
    pub(crate) fn grown(&self, loads: &[f64], count: usize) -> (Self, Vec<Move>) {
        let mut has = self.node_loads(loads);
        has.resize(count, 0.0);
        let mean = has.iter().sum::<f64>() / count as f64;
        let (mut nodes, mut moves) = (self.nodes.clone(), Vec::new());
        loop {
            let to = self.count + least(&has[self.count..]);
            let from = most(&has[..self.count]);
            // The largest shard that leaves the giver at or above the mean, and the taker at or below it.
            let room = (has[from] - mean).min(mean - has[to]);
            let fits = (0..SHARDS).filter(|shard| nodes[*shard] == from && loads[*shard] <= room);
            let Some(shard) = fits.max_by(|a, b| loads[*a].total_cmp(&loads[*b])) else { break };
            nodes[shard] = to;
            has[from] -= loads[shard];
            has[to] += loads[shard];
            moves.push(Move { shard, from, to });
        }
        (Self::with_replicas(nodes, count, Replicas::Spread), moves)
    }

    fn with_replicas(nodes: Vec<usize>, count: usize, replicas: Replicas) -> Self {
        let mut given = vec![0; count];
        let replicas = nodes.iter().map(|&node| match replicas {
            Replicas::Paired => (node + 1) % count,
            Replicas::Spread => {
                given[node] += 1;
                (node + 1 + (given[node] - 1) % (count - 1)) % count
            }
        });
        let replicas = replicas.collect();
        Self { nodes, replicas, count }
    }
}

fn least(loads: &[f64]) -> usize {
    (0..loads.len()).min_by(|a, b| loads[*a].total_cmp(&loads[*b])).unwrap_or_default()
}

fn most(loads: &[f64]) -> usize {
    (0..loads.len()).max_by(|a, b| loads[*a].total_cmp(&loads[*b])).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tenants::{shares, units};

    fn loads_of(split_above: f64) -> Vec<f64> {
        loads(&units(&shares(10_000, 0.08), split_above))
    }

    #[track_caller]
    fn check(map: &ShardMap) {
        assert_eq!((map.nodes.len(), map.replicas.len()), (SHARDS, SHARDS), "each shard has one node and one replica");
        for (node, replica) in map.nodes.iter().zip(&map.replicas) {
            assert!(*node < map.count && *replica < map.count);
            assert_ne!(node, replica);
        }
    }

    #[test]
    fn each_shard_is_on_one_node_and_its_replica_on_another() {
        let loads = loads_of(0.001);
        for count in [2, 3, 5, 16, 31] {
            for replicas in [Replicas::Paired, Replicas::Spread] {
                check(&ShardMap::even(count, replicas));
                check(&ShardMap::balanced(&loads, count, replicas));
            }
        }
    }

    #[test]
    fn nothing_is_lost_on_the_way_from_units_to_nodes() {
        let loads = loads_of(0.001);
        let map = ShardMap::balanced(&loads, 16, Replicas::Spread);
        assert!((loads.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert!((map.node_loads(&loads).iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn growing_moves_shards_to_new_nodes_only_and_no_shard_twice() {
        let loads = loads_of(0.001);
        let map = ShardMap::balanced(&loads, 16, Replicas::Spread);
        let (grown, moves) = map.grown(&loads, 20);
        check(&grown);
        let mut moved: Vec<usize> = moves.iter().map(|step| step.shard).collect();
        moved.sort_unstable();
        moved.dedup();
        assert_eq!(moved.len(), moves.len());
        assert!(moves.iter().all(|step| step.from < 16 && step.to >= 16 && grown.nodes[step.shard] == step.to));
        let stayed = (0..SHARDS).filter(|shard| !moved.contains(shard));
        assert!(stayed.into_iter().all(|shard| grown.nodes[shard] == map.nodes[shard]));
        assert!(skew(&grown.node_loads(&loads)) < 1.1);
    }

    #[test]
    fn even_numbers_of_nodes_get_the_same_number_of_shards() {
        for count in [2, 3, 4, 5, 6, 8, 10, 12, 15, 16, 20, 24, 30, 32, 40, 48] {
            let map = ShardMap::even(count, Replicas::Paired);
            let on_first = map.nodes.iter().filter(|node| **node == 0).count();
            assert_eq!(on_first * count, SHARDS);
        }
    }
}
