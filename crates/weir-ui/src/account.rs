//! What the meter comes to: tokens held back, asked for again and added, and what that is worth.
//!
//! Invariant: a sum of money is absent if one of its terms is not known.

use std::collections::HashMap;

use weir_core::{SessionKey, Timestamp};
use weir_operations::stats::account::Account;
use weir_pages::Money;
use weir_pages::today::{self, ToolRow};
use weir_store::MeterRow;

use super::transcripts::Facts;

/// Returns the account of these readings, with what it is worth.
pub(super) fn account<'a>(rows: impl Iterator<Item = &'a MeterRow> + Clone, facts: &Facts) -> today::Account {
    let sums = Account::of(rows.clone());
    today::Account {
        output_tokens: sums.output,
        shown_tokens: sums.shown,
        held_tokens: sums.held_back(),
        held_outputs: sums.held,
        again_tokens: sums.again,
        again_answers: sums.again_answers,
        own_tokens: sums.told + sums.answered,
        told: sums.told_times,
        answers: sums.answers,
        net_tokens: sums.net,
        net: worth(rows, facts),
    }
}

pub(super) fn of_session<'a>(
    rows: &'a [MeterRow],
    session: &'a SessionKey,
) -> impl Iterator<Item = &'a MeterRow> + Clone {
    rows.iter().filter(move |row| row.session == *session)
}

pub(super) fn of_day(rows: &[MeterRow], day: Timestamp) -> impl Iterator<Item = &MeterRow> + Clone {
    rows.iter().filter(move |row| row.day == day)
}

/// Returns what was held back of each tool, the most tokens first.
pub(super) fn by_tool(rows: &[MeterRow]) -> Vec<ToolRow> {
    let mut sums: HashMap<&str, Account> = HashMap::new();
    for row in rows {
        let sum = sums.entry(tool_name(&row.reading.tool)).or_default();
        *sum = sum.with(row);
    }
    let row = |(tool, sum): (&str, Account)| {
        let Account { held, output, given, shown, .. } = sum;
        ToolRow { name: tool.into(), held, output, given, shown }
    };
    let mut tools: Vec<ToolRow> = sums.into_iter().filter(|(_, sum)| sum.held > 0).map(row).collect();
    tools.sort_by_key(|tool| (std::cmp::Reverse(tool.held_back()), tool.name.plain()));
    tools
}

pub(super) fn dollars(amount: f64) -> Money {
    Money((amount * 1e6).round() as i64)
}

/// Returns what the net of each session is worth, together: its tokens at what a token in its window costs.
fn worth<'a>(rows: impl Iterator<Item = &'a MeterRow>, facts: &Facts) -> Option<Money> {
    let mut sessions: HashMap<&SessionKey, Account> = HashMap::new();
    for row in rows {
        let account = sessions.entry(&row.session).or_default();
        *account = account.with(row);
    }
    let worth = |(session, account): (&SessionKey, Account)| match account.net {
        0 => Some(0.0),
        net => Some(net as f64 * facts.of(session)?.dollars_per_token()?),
    };
    sessions.into_iter().map(worth).try_fold(0.0, |sum, worth| Some(sum + worth?)).map(dollars)
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
        "ctx_execute" | "ctx_execute_file" | "ctx_batch_execute" => "Runs in the sandbox",
        tool => tool,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_worth_nothing() {
        assert_eq!(account(std::iter::empty(), &Facts::default()).net, Some(Money(0)));
    }
}
