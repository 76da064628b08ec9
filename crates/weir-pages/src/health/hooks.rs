//! Hooks on the Health page: how long they took day by day, the last of each client, and what became of outputs.

use maud::{Markup, html};
use weir_core::wording::size;

use crate::charts::ranges::{Range, Span, ranges};
use crate::charts::{Figure, Swatch, as_table, axis_number};
use crate::components::{Cell, Column, Row, Table, empty, section};
use crate::figures::{count, counted, milliseconds};
use crate::moment::Moment;
use crate::shell::Shell;
use crate::text::Text;

/// The last hook that a client called.
#[derive(Debug, Clone)]
pub struct LastHook {
    pub client: Text,
    /// The client's event that it was called for.
    pub event: Text,
    pub at: Moment,
    /// How long it took, in milliseconds.
    pub millis: f64,
    /// How many hooks the client has called so far.
    pub calls: u64,
}

#[derive(Debug, Clone, Copy)]
pub struct HookDay {
    pub at: Moment,
    /// How long they took; none if there were no hooks.
    pub times: Option<HookTimes>,
}

/// How long the hooks of a day took.
#[derive(Debug, Clone, Copy)]
pub struct HookTimes {
    /// What half of them took at most, in milliseconds.
    pub half_millis: f64,
    /// What 99 of 100 took at most, in milliseconds.
    pub most_millis: f64,
    pub calls: u64,
}

#[derive(Debug, Clone)]
pub struct SeenOutputs {
    /// A time on the first day that is counted.
    pub since: Moment,
    /// What became of them. Each output is in one row.
    pub outcomes: Vec<OutputRow>,
}

/// Outputs of which the same became.
#[derive(Debug, Clone)]
pub struct OutputRow {
    pub outcome: Text,
    pub outputs: u64,
    /// Their size as clients reported it, in bytes.
    pub bytes: u64,
}

pub(super) fn last_hooks(hooks: &[LastHook], shell: &Shell) -> Markup {
    let content = if hooks.is_empty() {
        empty("No hook has been called.", html! { "A client calls one at every step of a session." })
    } else {
        html! { div.panel { (hook_table(hooks, shell)) } }
    };
    section("h-hooks", "Last hooks", html! { @if !hooks.is_empty() { "in this project" } }, content)
}

pub(super) fn hook_times(days: &[HookDay]) -> Markup {
    let times: Vec<HookTimes> = days.iter().filter_map(|day| day.times).collect();
    let content = if times.is_empty() {
        empty("The time of hooks is not known.", html! { "No hook was called on these days." })
    } else {
        let label = |value: f64, is_top: bool| format!("{}{}", axis_number(value), if is_top { " ms" } else { "" });
        let legend = [(Swatch::Fill("s1"), "half within"), (Swatch::Fill("s0"), "99 of 100 within")];
        let plot = ranges(&days.iter().map(range).collect::<Vec<_>>(), label);
        let caption = html! {
            "The time inside Weir, without the start of its process. A hook counts under the lowest limit that it met; "
            "each limit is a third to a half above the one before. Days begin at midnight UTC."
        };
        html! {
            (Figure { label: &finding(days.len() as u64, &times), legend: &legend, plot, caption }.render())
            (as_table("Hook time", &day_table(days)))
        }
    };
    section("h-times", "Hook time", html! { @if !times.is_empty() { "per day" } }, content)
}

pub(super) fn seen_outputs(seen: Option<&SeenOutputs>, shell: &Shell) -> Markup {
    let content = match seen {
        Some(seen) => html! {
            div.panel { (output_table(seen)) }
            p.hint {
                "Sizes are as clients reported them. What passes through " code { "weir proxy" } " is not included."
            }
        },
        None => {
            empty("No output has been counted.", html! { "Hooks count what became of every output that they see." })
        }
    };
    let since = html! { @if let Some(seen) = seen { "since " (seen.since.day(shell.now)) } };
    section("h-outputs", "Outputs", since, content)
}

/// Tells what the chart shows.
fn finding(days: u64, times: &[HookTimes]) -> String {
    let between = |value: fn(&HookTimes) -> f64| {
        let least = times.iter().map(value).fold(f64::INFINITY, f64::min);
        let most = times.iter().map(value).fold(0.0, f64::max);
        match least < most {
            true => format!("{} to {}", milliseconds(least), milliseconds(most)),
            false => milliseconds(most),
        }
    };
    format!(
        "Time of hooks per day, over {}: half of them took at most {}, 99 of 100 at most {}.",
        counted(days, "day", "days"),
        between(|times| times.half_millis),
        between(|times| times.most_millis),
    )
}

fn range(day: &HookDay) -> Range {
    let name = day.at.weekday_and_month();
    Range {
        values: day.times.map(|times| Span { low: times.half_millis, high: times.most_millis }),
        name: day.at.day_of_month(),
        title: match day.times {
            Some(times) => format!(
                "{name}: {}, half within {}, 99 of 100 within {}",
                counted(times.calls, "hook", "hooks"),
                milliseconds(times.half_millis),
                milliseconds(times.most_millis)
            ),
            None => format!("{name}: no hooks"),
        },
    }
}

fn hook_table(hooks: &[LastHook], shell: &Shell) -> Table {
    let row = |hook: &LastHook| Row {
        name: html! { (hook.client) span.sub { (hook.event) ", " (hook.at.show(shell.now)) } },
        cells: vec![Cell::plain(milliseconds(hook.millis)), Cell::plain(count(hook.calls))],
        is_chosen: false,
    };
    let columns = vec![Column::name("Client"), Column::figure("Took"), Column::figure("Hooks so far")];
    Table { is_stacked: false, columns, rows: hooks.iter().map(row).collect(), total: None, has_keys: false }
}

fn day_table(days: &[HookDay]) -> Table {
    let row = |day: &HookDay| {
        let time = |value: fn(HookTimes) -> f64| match day.times {
            Some(times) => Cell::plain(milliseconds(value(times))),
            None => Cell::muted("none"),
        };
        let calls = count(day.times.map_or(0, |times| times.calls));
        Row {
            name: html! { (day.at.weekday_and_month()) },
            cells: vec![time(|times| times.half_millis), time(|times| times.most_millis), Cell::plain(calls)],
            is_chosen: false,
        }
    };
    let columns = vec![
        Column::name("Day"),
        Column::figure("Half within"),
        Column::figure("99 of 100 within"),
        Column::figure("Hooks"),
    ];
    Table { is_stacked: false, columns, rows: days.iter().rev().map(row).collect(), total: None, has_keys: false }
}

fn output_table(seen: &SeenOutputs) -> Table {
    let cells = |outputs: u64, bytes: u64| vec![Cell::plain(count(outputs)), Cell::plain(size(bytes))];
    let row =
        |row: &OutputRow| Row { name: html! { (row.outcome) }, cells: cells(row.outputs, row.bytes), is_chosen: false };
    let all = seen.outcomes.iter().fold((0_u64, 0_u64), |(outputs, bytes), row| {
        (outputs.saturating_add(row.outputs), bytes.saturating_add(row.bytes))
    });
    Table {
        is_stacked: false,
        columns: vec![Column::name("Outcome"), Column::figure("Outputs"), Column::figure("Size")],
        rows: seen.outcomes.iter().map(row).collect(),
        total: Some(Row { name: html! { "All" }, cells: cells(all.0, all.1), is_chosen: false }),
        has_keys: false,
    }
}
