//! What is asked of the model: skew, growing, the loss of a node, and an index that is behind.

use serde::Serialize;

use crate::cluster::{Loss, Plan, Service, quantile, run};
use crate::inputs::Inputs;
use crate::shards::{Move, Replicas, SHARDS, ShardMap, loads, skew};
use crate::tenants::{shares, units};

/// What is modelled: the nodes, the tenants and all entries.
pub(crate) const NODES: usize = 16;
pub(crate) const TENANTS: usize = 100_000;
pub(crate) const ENTRIES: f64 = 1e10;
const DEVELOPERS: f64 = 1e6;
/// A tenant is split by project above this part of the mean shard.
const SPLIT_ABOVE_MEAN_SHARD: f64 = 0.25;
/// How long uploads are offered around a loss, and when the loss is, in seconds.
const OFFERED_SECONDS: f64 = 300.0;
const LOST_AT: f64 = 60.0;
/// How long an acknowledgement is on its way, in seconds.
const ACKNOWLEDGEMENT: f64 = 0.05;
/// How many rows an upload has where the nodes are kept busy: the most that a server takes, so that there are fewer
/// events.
const LARGE_UPLOAD_ROWS: f64 = 1_000.0;
/// How many rows wait when a moved shard is switched over: they are applied while its writers wait.
const SWITCH_ROWS: f64 = 100.0;
const SEED: u64 = 19;

/// How unevenly the load is spread.
#[derive(Debug, Serialize)]
pub(crate) struct Skew {
    pub(crate) placement: &'static str,
    pub(crate) units: usize,
    pub(crate) shard_max_to_mean: f64,
    pub(crate) node_max_to_mean: f64,
}

/// What it takes to add nodes.
#[derive(Debug, Serialize)]
pub(crate) struct Growth {
    pub(crate) nodes: usize,
    pub(crate) shards_moved: usize,
    pub(crate) gb_moved: f64,
    /// What would move if shards were numbered by the nodes.
    pub(crate) gb_moved_by_modulo: f64,
    pub(crate) minutes: f64,
    /// The longest time that the writers of one shard wait, in milliseconds.
    pub(crate) switch_ms: f64,
    pub(crate) node_max_to_mean: f64,
}

/// What the loss of the busiest node does.
#[derive(Debug, Serialize)]
pub(crate) struct LostNode {
    pub(crate) replicas: &'static str,
    pub(crate) load: String,
    pub(crate) busy: f64,
    pub(crate) uploads: usize,
    pub(crate) applied: usize,
    pub(crate) sent_again_and_recognised: usize,
    pub(crate) seconds_unserved: f64,
    pub(crate) backlog_rows: f64,
    pub(crate) caught_up_seconds: f64,
    pub(crate) wait_p50_ms: f64,
    pub(crate) wait_p99_ms: f64,
    pub(crate) wait_max_seconds: f64,
}

/// What an index that was away has to make up for.
#[derive(Debug, Serialize)]
pub(crate) struct Lag {
    pub(crate) what: String,
    pub(crate) rows_behind: f64,
    pub(crate) caught_up_minutes: f64,
}

/// Returns the shares of the shards, with large tenants split by project.
pub(crate) fn split_loads(inputs: &Inputs) -> Vec<f64> {
    loads(&units(&shares(TENANTS, inputs.largest_tenant_share.value), SPLIT_ABOVE_MEAN_SHARD / SHARDS as f64))
}

/// Compares placements.
pub(crate) fn skews(inputs: &Inputs) -> Vec<Skew> {
    let shares = shares(TENANTS, inputs.largest_tenant_share.value);
    let row = |placement, split_above: f64, is_balanced: bool| {
        let units = units(&shares, split_above);
        let loads = loads(&units);
        let map = if is_balanced {
            ShardMap::balanced(&loads, NODES, Replicas::Spread)
        } else {
            ShardMap::even(NODES, Replicas::Spread)
        };
        Skew {
            placement,
            units: units.len(),
            shard_max_to_mean: skew(&loads),
            node_max_to_mean: skew(&map.node_loads(&loads)),
        }
    };
    let split = SPLIT_ABOVE_MEAN_SHARD / SHARDS as f64;
    vec![
        row("tenants whole, 30 shards on each node", 1.0, false),
        row("tenants whole, shards placed by load", 1.0, true),
        row("large tenants by project, 30 shards on each node", split, false),
        row("large tenants by project, shards placed by load", split, true),
    ]
}

/// Adds nodes to the balanced cluster.
pub(crate) fn growths(inputs: &Inputs) -> Vec<Growth> {
    let loads = split_loads(inputs);
    let map = ShardMap::balanced(&loads, NODES, Replicas::Spread);
    let total_gb = ENTRIES * inputs.log_bytes_per_entry.value / 1e9;
    let rows = rows_per_second(inputs);
    [17, 20, 24, 32]
        .map(|count| {
            let (grown, moves) = map.grown(&loads, count);
            let moved: f64 = moves.iter().map(|step| loads[step.shard]).sum();
            // Copying a shard takes a while, in which rows arrive; they are applied after it, and so on, until few are
            // left. Writers wait for those.
            let switch = SWITCH_ROWS / inputs.node_rows_per_second();
            Growth {
                nodes: count,
                shards_moved: moves.len(),
                gb_moved: moved * total_gb,
                gb_moved_by_modulo: moved_by_modulo(&loads, count) * total_gb,
                minutes: copy_seconds(inputs, &moves, &loads, rows) / 60.0,
                switch_ms: switch * 1e3,
                node_max_to_mean: skew(&grown.node_loads(&loads)),
            }
        })
        .into()
}

/// Returns how long moves take: the node that sends or receives most decides. What is written meanwhile is copied too.
fn copy_seconds(inputs: &Inputs, moves: &[Move], loads: &[f64], rows: f64) -> f64 {
    let total = ENTRIES * inputs.log_bytes_per_entry.value;
    let count = moves.iter().map(|step| step.to + 1).max().unwrap_or_default();
    let mut bytes = vec![0.0; count];
    let mut written = vec![0.0; count];
    for step in moves {
        for node in [step.from, step.to] {
            bytes[node] += loads[step.shard] * total;
            written[node] += loads[step.shard] * rows * inputs.log_bytes_per_entry.value;
        }
    }
    let bandwidth = inputs.copy_mb_per_second.value * 1e6;
    let times = bytes.iter().zip(&written).map(|(bytes, written)| bytes / (bandwidth - written).max(1.0));
    times.fold(0.0, f64::max)
}

/// Returns the share that moves if the node of a shard is its number modulo the number of nodes.
fn moved_by_modulo(loads: &[f64], count: usize) -> f64 {
    loads.iter().enumerate().filter(|(shard, _)| shard % NODES != shard % count).map(|(_, load)| load).sum()
}

/// Loses the busiest node: at the expected peak, and at a load that keeps the nodes busy.
pub(crate) fn losses(inputs: &Inputs) -> Vec<LostNode> {
    let loads = split_loads(inputs);
    let capacity = inputs.node_rows_per_second() * NODES as f64;
    let peak = rows_per_second(inputs);
    let usual = inputs.upload_rows.value;
    let loads_to_try = [
        (format!("expected peak, {peak:.0} rows/s"), Rate { rows: peak, upload_rows: usual }),
        busy("40 % of capacity", 0.4 * capacity),
        busy("60 % of capacity", 0.6 * capacity),
    ];
    let mut found = Vec::new();
    for (load, rate) in loads_to_try {
        for (name, replicas) in
            [("one standby for each node", Replicas::Paired), ("spread over all nodes", Replicas::Spread)]
        {
            found.push(lose(inputs, &loads, replicas, LostNode { load: load.clone(), ..named(name) }, rate));
        }
    }
    found
}

/// How many rows come in a second, and how many of them in one upload.
#[derive(Debug, Clone, Copy)]
struct Rate {
    rows: f64,
    upload_rows: f64,
}

fn busy(what: &str, rows: f64) -> (String, Rate) {
    (format!("{what}, {rows:.0} rows/s"), Rate { rows, upload_rows: LARGE_UPLOAD_ROWS })
}

fn named(replicas: &'static str) -> LostNode {
    LostNode {
        replicas,
        load: String::new(),
        busy: 0.0,
        uploads: 0,
        applied: 0,
        sent_again_and_recognised: 0,
        seconds_unserved: 0.0,
        backlog_rows: 0.0,
        caught_up_seconds: 0.0,
        wait_p50_ms: 0.0,
        wait_p99_ms: 0.0,
        wait_max_seconds: 0.0,
    }
}

fn lose(inputs: &Inputs, loads: &[f64], replicas: Replicas, row: LostNode, rate: Rate) -> LostNode {
    let map = ShardMap::balanced(loads, NODES, replicas);
    let on_nodes = map.node_loads(loads);
    let node = (0..NODES).max_by(|a, b| on_nodes[*a].total_cmp(&on_nodes[*b])).unwrap_or_default();
    let unserved = inputs.lease_seconds.value + inputs.promotion_seconds.value;
    let plan = Plan {
        rate: rate.rows / rate.upload_rows,
        seconds: OFFERED_SECONDS,
        service: rate.upload_rows / inputs.node_rows_per_second(),
        law: Service::Fixed,
        even_arrivals: false,
        loss: Some(Loss { node, at: LOST_AT, unserved, acknowledgement: ACKNOWLEDGEMENT }),
        seed: SEED,
    };
    let outcome = run(&plan, &map, loads);
    LostNode {
        busy: outcome.busy,
        uploads: outcome.offered,
        applied: outcome.applied,
        sent_again_and_recognised: outcome.recognised,
        seconds_unserved: unserved,
        backlog_rows: outcome.backlog as f64 * rate.upload_rows,
        caught_up_seconds: outcome.caught_up,
        wait_p50_ms: quantile(&outcome.waits, 0.5) * 1e3,
        wait_p99_ms: quantile(&outcome.waits, 0.99) * 1e3,
        wait_max_seconds: quantile(&outcome.waits, 1.0),
        ..row
    }
}

/// Lets an index node be away, and lets one be made again from nothing.
pub(crate) fn lags(inputs: &Inputs) -> Vec<Lag> {
    const SEARCH_NODES: f64 = 6.0;
    const INDEXING_CORES: f64 = 2.0;
    let capacity = inputs.index_rows_per_second() * INDEXING_CORES;
    let arriving = rows_per_second(inputs) / SEARCH_NODES;
    let caught_up = |behind: f64| behind / (capacity - arriving) / 60.0;
    let mut lags: Vec<Lag> = [10.0, 60.0, 720.0]
        .map(|minutes| {
            let behind = arriving * minutes * 60.0;
            Lag {
                what: format!("one of 6 search nodes away for {minutes} min, at the peak"),
                rows_behind: behind,
                caught_up_minutes: caught_up(behind),
            }
        })
        .into();
    for (what, rows) in
        [("a bucket of 4 million entries made again", 4e6), ("a search node made again", ENTRIES / SEARCH_NODES)]
    {
        let what = format!("{what}, from the log");
        lags.push(Lag { what, rows_behind: rows, caught_up_minutes: caught_up(rows) });
    }
    lags
}

/// Returns how many rows are appended in a second, at the peak.
fn rows_per_second(inputs: &Inputs) -> f64 {
    DEVELOPERS * inputs.records_per_developer_day.value * inputs.peak_factor.value / 86_400.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::TEXT;

    #[test]
    fn splitting_large_tenants_and_placing_by_load_evens_out_the_nodes() {
        let rows = skews(&Inputs::parse(TEXT).unwrap());
        let nodes: Vec<f64> = rows.iter().map(|row| row.node_max_to_mean).collect();
        assert!(nodes[0] > 1.5, "{nodes:?}");
        assert!(nodes[3] < 1.05 && nodes[3] <= nodes[2], "{nodes:?}");
    }

    #[test]
    fn adding_nodes_moves_no_more_than_their_part() {
        let inputs = Inputs::parse(TEXT).unwrap();
        for row in growths(&inputs) {
            let part = (row.nodes - NODES) as f64 / row.nodes as f64;
            let total = ENTRIES * inputs.log_bytes_per_entry.value / 1e9;
            assert!(row.gb_moved <= part * total * 1.001 && row.gb_moved >= part * total * 0.8, "{row:?}");
            assert!(row.gb_moved <= row.gb_moved_by_modulo, "{row:?}");
        }
    }

    #[test]
    fn the_loss_of_a_node_loses_no_upload_and_applies_none_twice() {
        for row in losses(&Inputs::parse(TEXT).unwrap()) {
            assert_eq!(row.applied, row.uploads, "{row:?}");
        }
    }
}
