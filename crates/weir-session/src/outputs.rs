//! What became of the outputs that hooks saw, in words and as data. Invariant: the outputs of all outcomes add up to
//! the total.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use weir_core::Timestamp;
use weir_core::wording::{counted, size};
use weir_host::when;
use weir_store::{Outcome, OutcomeSum};

use crate::replay::report::table::{Table, number};

/// The outputs that hooks saw, by outcome.
pub struct SeenOutputs {
    since: Timestamp,
    outcomes: BTreeMap<Outcome, OutputCount>,
}

/// A number of outputs and their size.
#[derive(Debug, Clone, Copy, Default, Serialize, JsonSchema)]
pub struct OutputCount {
    /// The number of outputs.
    pub outputs: u64,
    /// Their size as clients reported it, in bytes.
    pub bytes: u64,
}

impl OutputCount {
    fn add(&mut self, other: Self) {
        self.outputs += other.outputs;
        self.bytes += other.bytes;
    }
}

/// The outputs that hooks saw: all of them, and by what became of them.
#[derive(Debug, Serialize, JsonSchema)]
pub struct SeenOutputsData {
    /// The first day that is counted.
    since: String,
    /// All outputs.
    all: OutputCount,
    /// The same by outcome: held, or why they were left alone.
    outcomes: BTreeMap<String, OutputCount>,
}

impl SeenOutputs {
    /// Adds up the outputs of all clients. Returns `None` if there are none.
    pub fn of(sums: &[OutcomeSum]) -> Option<Self> {
        let since = sums.iter().map(|sum| sum.since).min()?;
        let mut outcomes: BTreeMap<Outcome, OutputCount> = BTreeMap::new();
        for sum in sums {
            outcomes.entry(sum.outcome).or_default().add(OutputCount { outputs: sum.count, bytes: sum.bytes });
        }
        Some(Self { since, outcomes })
    }

    /// Returns the start of the first day that is counted, in UTC.
    pub fn since(&self) -> Timestamp {
        self.since
    }

    /// Returns what became of outputs, in words, with their number and size.
    pub fn rows(&self) -> impl Iterator<Item = (&'static str, OutputCount)> {
        self.outcomes.iter().map(|(outcome, count)| (words(*outcome), *count))
    }

    pub fn sentence(&self) -> String {
        let parts: Vec<String> =
            self.rows().map(|(words, count)| format!("{} {words}", number(count.outputs.cast_signed()))).collect();
        format!("{}: {}", self.head(), parts.join(", "))
    }

    pub fn table(&self) -> String {
        let mut table = Table::new(&["outcome", "outputs", "size"]);
        for (words, count) in self.rows() {
            table.row([words.to_owned(), number(count.outputs.cast_signed()), size(count.bytes)]);
        }
        format!("{}:\n{}", self.head(), table.text())
    }

    pub fn data(&self) -> SeenOutputsData {
        SeenOutputsData {
            since: when::day(self.since),
            all: self.all(),
            outcomes: self.outcomes.iter().map(|(outcome, count)| (outcome.to_string(), *count)).collect(),
        }
    }

    fn all(&self) -> OutputCount {
        let mut all = OutputCount::default();
        self.outcomes.values().for_each(|count| all.add(*count));
        all
    }

    fn head(&self) -> String {
        let outputs = usize::try_from(self.all().outputs).unwrap_or(usize::MAX);
        format!("Hooks saw {} since {}", counted(outputs, "output", "outputs"), when::day(self.since))
    }
}

fn words(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Held => "held back",
        Outcome::Small => "small",
        Outcome::AskedFor => "asked for",
        Outcome::Settled => "always shown as they are",
        Outcome::Excluded => "excluded by your settings",
        Outcome::Cut => "cut by the client",
        Outcome::Fixed => "not replaceable in the client",
        Outcome::Compared => "left alone for comparison",
        Outcome::Failed => "not stored in time",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outcomes_of_all_clients_add_up() {
        let sum = |client: &str, outcome, count, day: i64| OutcomeSum {
            client: client.to_owned(),
            outcome,
            count,
            bytes: count * 10,
            since: Timestamp(day * weir_core::time::DAY),
        };
        assert!(SeenOutputs::of(&[]).is_none());
        let sums = [
            sum("claude", Outcome::Small, 5, 20_001),
            sum("codex", Outcome::Small, 2, 20_000),
            sum("claude", Outcome::Held, 1, 20_003),
        ];
        let seen = SeenOutputs::of(&sums).unwrap();
        assert_eq!(seen.sentence(), "Hooks saw 8 outputs since 2024-10-04: 1 held back, 7 small");
        let data = serde_json::to_value(seen.data()).unwrap();
        assert_eq!(data["all"], serde_json::json!({ "outputs": 8, "bytes": 80 }));
        assert_eq!(data["outcomes"]["small"]["outputs"], 7);
    }
}
