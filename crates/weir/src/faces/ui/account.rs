//! What the meter comes to: tokens held back, asked for again and added, and what that is worth.
//!
//! Invariant: a sum of money is absent if one of its terms is not known.

use std::collections::HashMap;

use weir_core::{SessionKey, Timestamp};
use weir_pages::Money;
use weir_pages::today::{Account, ToolRow};
use weir_store::{MeterAction, MeterRow};

use super::transcripts::Facts;
use crate::operations::OPERATIONS;

/// Returns the account of these readings, with what it is worth.
pub(super) fn account<'a>(rows: impl Iterator<Item = &'a MeterRow> + Clone, facts: &Facts) -> Account {
    let mut account = rows.clone().fold(Account::default(), add);
    account.net = worth(rows, facts);
    account
}

/// Returns the readings of a session.
pub(super) fn of_session<'a>(
    rows: &'a [MeterRow],
    session: &'a SessionKey,
) -> impl Iterator<Item = &'a MeterRow> + Clone {
    rows.iter().filter(move |row| row.session == *session)
}

/// Returns the readings of the day that begins at a time.
pub(super) fn of_day(rows: &[MeterRow], day: Timestamp) -> impl Iterator<Item = &MeterRow> + Clone {
    rows.iter().filter(move |row| row.day == day)
}

/// Returns what was held back of each tool, the most tokens first.
pub(super) fn by_tool(rows: &[MeterRow]) -> Vec<ToolRow> {
    let mut sums: HashMap<&str, (u64, u64, u64)> = HashMap::new();
    for reading in rows.iter().map(|row| &row.reading).filter(|reading| reading.what == MeterAction::Held) {
        let (held, given, shown) = sums.entry(reading.tool.as_str()).or_default();
        (*held, *given, *shown) = (*held + reading.times, *given + reading.given, *shown + reading.shown);
    }
    let row = |(tool, (held, given, shown))| ToolRow { name: tool_name(tool).into(), held, given, shown };
    let mut tools: Vec<ToolRow> = sums.into_iter().map(row).collect();
    tools.sort_by_key(|tool| std::cmp::Reverse((tool.given.saturating_sub(tool.shown), tool.held)));
    tools
}

/// Returns an amount of US dollars.
pub(super) fn dollars(amount: f64) -> Money {
    Money((amount * 1e6).round() as i64)
}

/// Adds a reading to an account.
fn add(mut account: Account, row: &MeterRow) -> Account {
    let reading = &row.reading;
    let is_get = OPERATIONS.iter().any(|operation| operation.follows_references && operation.tool == reading.tool);
    match reading.what {
        MeterAction::Held => {
            account.held_tokens += reading.given.saturating_sub(reading.shown);
            account.held_outputs += reading.times;
        }
        MeterAction::Told => {
            account.own_tokens += reading.shown;
            account.told += reading.times;
        }
        MeterAction::Answered if is_get => {
            account.again_tokens += reading.shown;
            account.again_answers += reading.times;
        }
        MeterAction::Answered => {
            account.own_tokens += reading.shown;
            account.answers += reading.times;
        }
        // Nothing was done in these sessions.
        MeterAction::Untouched => {}
    }
    account
}

/// Returns what the net of each session is worth, together: its tokens at what a token in its window costs.
fn worth<'a>(rows: impl Iterator<Item = &'a MeterRow>, facts: &Facts) -> Option<Money> {
    let mut sessions: HashMap<(&str, &str), (&SessionKey, Account)> = HashMap::new();
    for row in rows {
        let key = (row.session.client.as_str(), row.session.key.as_str());
        let (_, account) = sessions.entry(key).or_insert((&row.session, Account::default()));
        *account = add(*account, row);
    }
    let worth = |(session, account): &(&SessionKey, Account)| match account.net_tokens() {
        0 => Some(0.0),
        net => Some(net as f64 * facts.of(session)?.dollars_per_token()?),
    };
    sessions.values().map(worth).try_fold(0.0, |sum, worth| Some(sum + worth?)).map(dollars)
}

/// Returns the name of a tool as people call it.
fn tool_name(tool: &str) -> &str {
    match tool {
        "shell" => "Commands",
        "read" => "Files",
        "fetch" => "Pages",
        "search" => "Searches in files",
        "mcp" => "MCP tools",
        "other" => "Other tools",
        tool => tool,
    }
}

#[cfg(test)]
mod tests {
    use weir_store::Reading;

    use super::*;

    fn row(what: MeterAction, tool: &str, given: u64, shown: u64) -> MeterRow {
        let session = SessionKey { client: "a".into(), key: "s".into() };
        MeterRow { day: Timestamp(0), session, reading: Reading { what, tool: tool.into(), times: 1, given, shown } }
    }

    #[test]
    fn the_account_is_what_stats_say() {
        let rows = [
            row(MeterAction::Held, "shell", 9_000, 1_000),
            row(MeterAction::Held, "read", 5_000, 2_000),
            row(MeterAction::Told, "guide", 0, 400),
            row(MeterAction::Answered, "ctx_get", 0, 700),
            row(MeterAction::Answered, "ctx_search", 0, 300),
            row(MeterAction::Untouched, "shell", 9_000, 9_000),
        ];
        let account = account(rows.iter(), &Facts::default());
        assert_eq!((account.held_tokens, account.again_tokens, account.own_tokens), (11_000, 700, 700));
        assert_eq!((account.held_outputs, account.again_answers, account.told, account.answers), (2, 1, 1, 1));
        let stats: i64 = rows.iter().map(|row| row.reading.net()).sum();
        assert_eq!((account.net_tokens(), account.net), (stats, None), "nothing is known of the session");
        let tools: Vec<u64> = by_tool(&rows).iter().map(|tool| tool.given).collect();
        assert_eq!(tools, [9_000, 5_000]);
    }

    #[test]
    fn nothing_is_worth_nothing() {
        assert_eq!(account(std::iter::empty(), &Facts::default()).net, Some(Money(0)));
    }
}
