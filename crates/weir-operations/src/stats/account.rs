//! What Weir did to conversations, in tokens. Every face shows the sums of this one account.
//!
//! Invariant: sums are signed, so a loss is never shown as nothing.

use schemars::JsonSchema;
use serde::Serialize;
use weir_store::{MeterAction, MeterRow};

use crate::OPERATIONS;

/// The account of some readings: a day, a session, a tool, or all of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Account {
    /// The number of outputs held back.
    pub held: u64,
    /// The tokens of these outputs in full.
    pub output: u64,
    /// The tokens that clients would have shown of them.
    pub given: u64,
    /// The tokens that the model got instead.
    pub shown: u64,
    /// The tokens said without being asked, and how often.
    pub told: u64,
    pub told_times: u64,
    /// The tokens of stored texts that were asked for again, and the number of answers.
    pub again: u64,
    pub again_answers: u64,
    /// The tokens of the other answers, and how many there were.
    pub answered: u64,
    pub answers: u64,
    /// The tokens that conversations were spared; negative if Weir added more.
    pub net: i64,
}

impl Account {
    pub fn of<'a>(rows: impl IntoIterator<Item = &'a MeterRow>) -> Self {
        rows.into_iter().fold(Self::default(), Self::with)
    }

    pub fn with(mut self, row: &MeterRow) -> Self {
        let reading = &row.reading;
        let is_get = || OPERATIONS.iter().any(|known| known.follows_references && known.tool == reading.tool);
        match reading.what {
            MeterAction::Held | MeterAction::Ran => {
                self.held += reading.times;
                self.output += reading.output;
                self.given += reading.given;
                self.shown += reading.shown;
            }
            MeterAction::Told => {
                self.told += reading.shown;
                self.told_times += reading.times;
            }
            MeterAction::Answered if is_get() => {
                self.again += reading.shown;
                self.again_answers += reading.times;
            }
            MeterAction::Answered => {
                self.answered += reading.shown;
                self.answers += reading.times;
            }
            // Nothing was done in these sessions.
            MeterAction::Untouched => {}
        }
        self.net = self.held_back() - (self.told + self.again + self.answered).cast_signed();
        self
    }

    /// Returns the tokens that replacements spared; negative if they are longer than what clients would have shown.
    pub fn held_back(&self) -> i64 {
        self.given.cast_signed() - self.shown.cast_signed()
    }

    /// Returns the number of times that anything was done.
    pub fn times(&self) -> u64 {
        self.held + self.told_times + self.again_answers + self.answers
    }

    /// Returns the tokens that the model got from Weir.
    pub fn with_weir(&self) -> u64 {
        self.shown + self.told + self.again + self.answered
    }

    /// Says what outputs became, unless none was held back: `62k tokens of output → 1.0k`.
    pub fn in_short(&self) -> Option<String> {
        (self.held > 0).then(|| format!("{} tokens of output → {}", short(self.output), short(self.shown)))
    }
}

/// Formats a number of tokens in a few characters.
pub fn short(tokens: u64) -> String {
    match tokens {
        0..1_000 => tokens.to_string(),
        1_000..10_000 => format!("{:.1}k", tokens as f64 / 1e3),
        10_000..1_000_000 => format!("{}k", tokens / 1_000),
        _ => format!("{:.1}M", tokens as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use weir_core::{SessionKey, Timestamp};
    use weir_store::Reading;

    use super::*;

    fn row(what: MeterAction, tool: &str, [output, given, shown]: [u64; 3]) -> MeterRow {
        let session = SessionKey { client: "a".into(), key: "s".into() };
        let reading = Reading { what, tool: tool.into(), times: 1, output, given, shown };
        MeterRow { day: Timestamp(0), session, reading }
    }

    #[test]
    fn a_loss_is_a_loss() {
        let rows = [
            row(MeterAction::Held, "shell", [60_000, 500, 1_700]),
            row(MeterAction::Held, "read", [5_000, 5_000, 2_000]),
            row(MeterAction::Ran, "ctx_execute", [40_000, 7_000, 1_000]),
            row(MeterAction::Told, "guide", [0, 0, 400]),
            row(MeterAction::Answered, "ctx_get", [0, 0, 700]),
            row(MeterAction::Answered, "ctx_search", [0, 0, 300]),
            row(MeterAction::Untouched, "shell", [9_000, 9_000, 9_000]),
        ];
        let account = Account::of(&rows);
        assert_eq!((account.held, account.output, account.held_back()), (3, 105_000, 7_800));
        assert_eq!((account.told, account.again, account.answered, account.net), (400, 700, 300, 6_400));
        assert_eq!(Account::of(&rows[..1]).net, -1_200);
        assert_eq!(account.in_short().as_deref(), Some("105k tokens of output → 4.7k"));
        assert_eq!(Account::of(&rows[3..]).in_short(), None);
    }
}
