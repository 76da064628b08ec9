//! Compares sessions with Weir to those that were left alone, by the cost of requests that clients report.

use std::collections::{BTreeMap, BTreeSet};

use weir_clients::transcript::{Session, Step};
use weir_core::SessionKey;
use weir_core::wording::counted;
use weir_host::error::CommandError;
use weir_session::replay::prices::Prices;
use weir_store::{MeterAction, MeterRow};

use crate::needs::KnowledgeContext;

/// With fewer sessions on one side, there is no comparison.
const MIN_SESSIONS: usize = 5;
/// How many times the sessions are resampled for the interval.
const DRAWS: usize = 2_000;

/// The sessions of both sides.
pub(super) struct Arms {
    with: BTreeSet<(String, String)>,
    without: BTreeSet<(String, String)>,
}

impl Arms {
    /// Returns the sides, if any session was left alone. A session that was on both is on neither, because the
    /// configured share changed during it.
    pub(super) fn of(rows: &[MeterRow]) -> Option<Self> {
        let side = |belongs: fn(MeterAction) -> bool| -> BTreeSet<(String, String)> {
            rows.iter().filter(|row| belongs(row.reading.what)).map(|row| name(&row.session)).collect()
        };
        // Weir's own tools answer on both sides.
        let with = side(|what| matches!(what, MeterAction::Held | MeterAction::Told));
        let without = side(|what| what == MeterAction::Untouched);
        let both: BTreeSet<_> = with.intersection(&without).cloned().collect();
        let arms = Self { with: &with - &both, without: &without - &both };
        (!without.is_empty()).then_some(arms)
    }

    /// Returns the cost of the sessions on both sides, from their transcripts. Returns `None` where there are none.
    pub(super) fn compare(&self, context: &KnowledgeContext) -> Result<Option<Comparison>, CommandError> {
        let Some((transcripts, prices)) = context.transcripts()? else { return Ok(None) };
        let mut outcomes: BTreeMap<(String, String), SessionCost> = BTreeMap::new();
        for transcript in transcripts {
            let Ok(Some(read)) = transcript.read() else { continue };
            for session in &read.sessions {
                let key = (session.client().session.to_owned(), session.key.clone());
                if self.with.contains(&key) || self.without.contains(&key) {
                    let outcome = outcomes.entry(key).or_default();
                    outcome.add(session, &prices);
                }
            }
        }
        let found = |side: &BTreeSet<(String, String)>| -> Vec<SessionCost> {
            let known = side.iter().filter_map(|key| outcomes.get(key).copied());
            known.filter(|outcome| outcome.prompts > 0).collect()
        };
        Ok(Some(Comparison { with: found(&self.with), without: found(&self.without) }))
    }
}

fn name(session: &SessionKey) -> (String, String) {
    (session.client.clone(), session.key.clone())
}

/// The cost of a session, including its subagents.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SessionCost {
    /// The cost in tokens of input.
    cost: f64,
    prompts: u64,
}

impl SessionCost {
    fn add(&mut self, session: &Session, prices: &Prices) {
        let rates = prices.of(&session.model);
        self.cost += session.requests.iter().map(|used| rates.cost(used)).sum::<f64>();
        if session.subagent.is_empty() {
            self.prompts += session.steps.iter().filter(|step| matches!(step, Step::Prompt { .. })).count() as u64;
        }
    }
}

/// Sessions with Weir and without.
pub(super) struct Comparison {
    with: Vec<SessionCost>,
    without: Vec<SessionCost>,
}

/// The comparison, for programs.
#[derive(Debug, serde::Serialize, schemars::JsonSchema)]
pub(super) struct ComparisonData {
    /// The number of sessions with Weir.
    with: usize,
    /// The number of sessions without.
    without: usize,
    /// The change of the cost per prompt, in percent, if there are enough sessions.
    cost_per_prompt_change: Option<f64>,
    /// The interval with 95 % of the resampled values.
    interval: Option<[f64; 2]>,
}

impl Comparison {
    /// Returns the change of the cost per prompt, in percent: the estimate, and the interval with 95 % of the resampled
    /// values. Returns `None` with too few sessions.
    fn change(&self) -> Option<[f64; 3]> {
        if self.with.len().min(self.without.len()) < MIN_SESSIONS {
            return None;
        }
        let mut draw = Draw(0x9e37_79b9_7f4a_7c15);
        let mut changes: Vec<f64> = (0..DRAWS)
            .map(|_| percent(per_prompt(&draw.again(&self.with)), per_prompt(&draw.again(&self.without))))
            .collect();
        changes.sort_by(f64::total_cmp);
        let estimate = percent(per_prompt(&self.with), per_prompt(&self.without));
        Some([estimate, changes[DRAWS / 40], changes[DRAWS - 1 - DRAWS / 40]])
    }

    pub(super) fn text(&self) -> String {
        let sides = format!(
            "Compared with sessions left alone ([stats] hold_out): {} with Weir, {} without.",
            counted(self.with.len(), "session", "sessions"),
            self.without.len()
        );
        let Some([estimate, low, high]) = self.change() else {
            return format!("{sides}\nUnknown so far: each side needs {MIN_SESSIONS} sessions that have a transcript.");
        };
        let verdict = match (low, high) {
            (_, high) if high < 0.0 => "Weir made them cheaper.",
            (low, _) if low > 0.0 => {
                "Weir made them more expensive. `[hold] off = [\"*\"]` in the configuration stops holding back, \
                 `weir teardown` disconnects it."
            }
            _ => "There is no clear difference yet.",
        };
        format!(
            "{sides}\nCost per prompt with Weir: {estimate:+.1} % (95 % of resamples are between {low:+.1} and {high:+.1} %). {verdict}"
        )
    }

    pub(super) fn data(&self) -> ComparisonData {
        let change = self.change();
        ComparisonData {
            with: self.with.len(),
            without: self.without.len(),
            cost_per_prompt_change: change.map(|[estimate, ..]| estimate),
            interval: change.map(|[_, low, high]| [low, high]),
        }
    }
}

fn per_prompt(outcomes: &[SessionCost]) -> f64 {
    outcomes.iter().map(|outcome| outcome.cost).sum::<f64>()
        / outcomes.iter().map(|outcome| outcome.prompts).sum::<u64>() as f64
}

fn percent(with: f64, without: f64) -> f64 {
    if without > 0.0 { 100.0 * (with / without - 1.0) } else { 0.0 }
}

/// Pseudo-random numbers that are the same every time, so that the same sessions give the same answer.
struct Draw(u64);

impl Draw {
    fn again(&mut self, outcomes: &[SessionCost]) -> Vec<SessionCost> {
        (0..outcomes.len()).map(|_| outcomes[self.next() as usize % outcomes.len()]).collect()
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 >> 11
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns sessions that cost about this much per prompt.
    fn outcomes(count: u64, cost: f64) -> Vec<SessionCost> {
        (0..count).map(|at| SessionCost { cost: cost * (8 + at % 5) as f64, prompts: 10 }).collect()
    }

    #[test]
    fn a_clear_difference_is_said_and_an_unclear_one_is_not() {
        let cheaper = Comparison { with: outcomes(40, 50.0), without: outcomes(10, 100.0) };
        let [estimate, low, high] = cheaper.change().unwrap();
        assert!((estimate + 50.0).abs() < 1.0 && low < estimate && estimate < high && high < -30.0);
        assert!(cheaper.text().contains("made them cheaper"), "{}", cheaper.text());
        let dearer = Comparison { with: outcomes(40, 100.0), without: outcomes(10, 50.0) };
        assert!(dearer.text().contains("weir teardown"), "{}", dearer.text());
        let equal = Comparison { with: outcomes(40, 100.0), without: outcomes(10, 100.0) };
        assert!(equal.text().contains("no clear difference yet"), "{}", equal.text());
    }

    #[test]
    fn few_sessions_say_nothing() {
        let few = Comparison { with: outcomes(40, 50.0), without: outcomes(4, 100.0) };
        assert!(few.text().contains("Unknown so far"), "{}", few.text());
        assert_eq!(few.data().interval, None);
    }
}
