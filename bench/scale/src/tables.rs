//! What the model prints: tables in Markdown, or the same as JSON.

use serde::Serialize;

use crate::growth::{Need, need};
use crate::inputs::{Inputs, Sort};
use crate::scenarios::{Growth, Lag, LostNode, NODES, Skew, TENANTS, growths, lags, losses, skews};
use crate::shards::SHARDS;

/// The sizes of teams, in developers.
const SIZES: [f64; 5] = [5.0, 20.0, 200.0, 5_000.0, 1e6];

/// Everything that the model says.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    shards: usize,
    nodes: usize,
    tenants: usize,
    needs: Vec<Need>,
    skews: Vec<Skew>,
    growths: Vec<Growth>,
    losses: Vec<LostNode>,
    lags: Vec<Lag>,
    inputs: Inputs,
}

impl Report {
    pub(crate) fn of(inputs: Inputs) -> Self {
        Self {
            shards: SHARDS,
            nodes: NODES,
            tenants: TENANTS,
            needs: SIZES.iter().map(|size| need(&inputs, *size)).collect(),
            skews: skews(&inputs),
            growths: growths(&inputs),
            losses: losses(&inputs),
            lags: lags(&inputs),
            inputs,
        }
    }

    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_else(|error| format!("{{\"error\": \"{error}\"}}"))
    }

    pub(crate) fn to_markdown(&self) -> String {
        let sections = [
            ("Sizes", self.needs_table()),
            ("Skew", self.skew_table()),
            ("More nodes", self.growth_table()),
            ("Loss of the busiest node", self.loss_table()),
            ("An index that is behind", self.lag_table()),
            ("Inputs", self.input_table()),
        ];
        let title = format!("{SHARDS} shards, {NODES} nodes, {TENANTS} tenants\n");
        sections.iter().fold(title, |text, (name, table)| format!("{text}\n## {name}\n\n{table}"))
    }

    fn needs_table(&self) -> String {
        let heading = "developers | entries | log GB | index GB | texts GB | appends/s | searches/s | busy cores | \
                       cores to run | nodes of the log | $ a month";
        table(
            heading,
            self.needs.iter().map(|need| {
                format!(
                    "{} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {}",
                    number(need.developers),
                    number(need.entries),
                    number(need.log_gb),
                    number(need.index_gb),
                    number(need.texts_gb),
                    number(need.appends_per_second),
                    number(need.searches_per_second),
                    number(need.busy_cores),
                    number(need.cores),
                    if need.log_nodes == 0.0 { "a folder".to_owned() } else { number(need.log_nodes) },
                    number(need.dollars_per_month),
                )
            }),
        )
    }

    fn skew_table(&self) -> String {
        let rows = self.skews.iter().map(|skew| {
            let Skew { placement, units, shard_max_to_mean, node_max_to_mean } = skew;
            format!("{placement} | {} | {shard_max_to_mean:.2} | {node_max_to_mean:.2}", number(*units as f64))
        });
        table("placement | units | fullest shard / mean | fullest node / mean", rows)
    }

    fn growth_table(&self) -> String {
        let heading = "from 16 nodes to | shards moved | GB moved | GB if the node were a number modulo nodes | \
                       minutes | pause of a shard's writers, ms | fullest node / mean";
        let rows = self.growths.iter().map(|growth| {
            format!(
                "{} | {} | {} | {} | {} | {:.1} | {:.2}",
                growth.nodes,
                growth.shards_moved,
                number(growth.gb_moved),
                number(growth.gb_moved_by_modulo),
                number(growth.minutes),
                growth.switch_ms,
                growth.node_max_to_mean,
            )
        });
        table(heading, rows)
    }

    fn loss_table(&self) -> String {
        let heading = "load | replicas | nodes busy | uploads offered = applied | sent again and recognised | \
                       s until served | rows waiting | s to catch up | p50 ms | p99 s | longest s";
        let rows = self.losses.iter().map(|loss| {
            format!(
                "{} | {} | {:.1} % | {} = {} | {} | {:.0} | {} | {:.1} | {:.2} | {:.1} | {:.1}",
                loss.load,
                loss.replicas,
                loss.busy * 100.0,
                loss.uploads,
                loss.applied,
                loss.sent_again_and_recognised,
                loss.seconds_unserved,
                number(loss.backlog_rows),
                loss.caught_up_seconds,
                loss.wait_p50_ms,
                loss.wait_p99_ms / 1e3,
                loss.wait_max_seconds,
            )
        });
        table(heading, rows)
    }

    fn lag_table(&self) -> String {
        let rows = self
            .lags
            .iter()
            .map(|lag| format!("{} | {} | {}", lag.what, number(lag.rows_behind), number(lag.caught_up_minutes)));
        table("what | rows behind | minutes to catch up", rows)
    }

    fn input_table(&self) -> String {
        let rows = self.inputs.all().into_iter().map(|(name, figure)| {
            let sort = match figure.sort {
                Sort::Measured => "measured",
                Sort::Assumed => "assumed",
                Sort::Price => "price",
            };
            format!("`{name}` | {} | {sort} | {} | {}", figure.value, figure.date, figure.source)
        });
        table("input | value | sort | date | source", rows)
    }
}

fn table(heading: &str, rows: impl Iterator<Item = String>) -> String {
    let rule = vec!["---"; heading.split('|').count()].join(" | ");
    let start = format!("| {heading} |\n| {rule} |\n");
    rows.fold(start, |text, row| format!("{text}| {row} |\n"))
}

/// Returns a number with as many digits as say something, and with commas.
fn number(value: f64) -> String {
    if value != 0.0 && value.abs() < 10.0 && value.fract() != 0.0 {
        return if value.abs() < 0.1 { format!("{value:.4}") } else { format!("{value:.1}") };
    }
    let digits = format!("{value:.0}");
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::TEXT;

    #[test]
    fn the_same_inputs_give_the_same_report() {
        let report = || Report::of(Inputs::parse(TEXT).unwrap());
        assert_eq!(report().to_markdown(), report().to_markdown());
        let json: serde_json::Value = serde_json::from_str(&report().to_json()).unwrap();
        assert_eq!(json["shards"], 480);
    }

    #[test]
    fn numbers_are_written_with_commas() {
        assert_eq!([1e10, 999.4, 0.05, 2.5, 20.0].map(number), ["10,000,000,000", "999", "0.0500", "2.5", "20"]);
    }
}
