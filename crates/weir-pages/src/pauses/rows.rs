//! The tables of the page: choices, pauses by length, and the pauses that cost most.

use maud::html;

use crate::components::{Cell, Column, Row, Table, time};
use crate::figures::{Money, change, count, duration};
use crate::moment::Moment;
use crate::shell::Shell;
use crate::text::Text;

/// What the sessions would have cost with a choice.
#[derive(Debug, Clone)]
pub struct ChoiceRow {
    pub name: Text,
    /// The name below a bar, where there is room and where there is little.
    pub short: &'static str,
    pub shortest: &'static str,
    pub cost: Money,
    /// What it saves against the cache as it is now.
    pub saved: Money,
    /// The change of the cost in all, of the median session, of the median project and of the worst session, in
    /// percent.
    pub changes: [f64; 4],
    /// The number of sessions that would have cost less, and more.
    pub cheaper: u64,
    pub dearer: u64,
    pub is_now: bool,
    pub is_best: bool,
}

/// Pauses of about the same length after which the cache was cold.
#[derive(Debug, Clone)]
pub struct PauseLength {
    pub name: &'static str,
    /// The name where there is little room.
    pub short: &'static str,
    pub count: u64,
    /// The tokens that were written again.
    pub tokens: u64,
    pub cost: Money,
}

/// A pause after which the cache was cold.
#[derive(Debug, Clone)]
pub struct ColdPause {
    /// Identifies the session.
    pub key: Text,
    /// What the session is about.
    pub title: Text,
    /// When the session went on.
    pub at: Moment,
    pub seconds: u64,
    pub tokens: u64,
    pub cost: Money,
}

pub(super) fn choices(choices: &[ChoiceRow]) -> Table {
    let row = |row: &ChoiceRow| {
        let changed = |percent: f64| match row.is_now {
            true => Cell::muted("now"),
            false => Cell::signed(percent.is_finite().then(|| change(percent)), percent.round() > 0.0),
        };
        let [all, session, project, worst] = row.changes.map(changed);
        Row {
            name: html! { (row.name) },
            cells: vec![
                Cell::plain(row.cost.show()),
                all,
                session,
                project,
                Cell::plain(count(row.cheaper)),
                Cell::plain(count(row.dearer)),
                worst,
            ],
            is_chosen: row.is_best,
        }
    };
    Table {
        is_stacked: false,
        columns: vec![
            Column::name("Choice"),
            Column::figure("Cost"),
            Column::figure("Change"),
            Column::figure("Median session"),
            Column::figure("Median project").only_wide(),
            Column::figure("Cheaper for").only_wide(),
            Column::figure("Dearer for").only_wide(),
            Column::figure("Worst session").only_wide(),
        ],
        rows: choices.iter().map(row).collect(),
        total: None,
        has_keys: false,
    }
}

pub(super) fn lengths(lengths: &[PauseLength]) -> Table {
    let row = |length: &PauseLength| Row {
        name: html! { (length.name) },
        cells: vec![
            Cell::plain(count(length.count)),
            Cell::plain(count(length.tokens)),
            Cell::plain(length.cost.show()),
        ],
        is_chosen: false,
    };
    Table {
        is_stacked: false,
        columns: vec![
            Column::name("Pause"),
            Column::figure("Pauses"),
            Column::figure("Tokens written again"),
            Column::figure("Cost"),
        ],
        rows: lengths.iter().map(row).collect(),
        total: None,
        has_keys: false,
    }
}

pub(super) fn costly(pauses: &[ColdPause], shell: &Shell) -> Table {
    let row = |pause: &ColdPause| Row {
        name: html! {
            a href=(Shell::session_anywhere(&pause.key)) { (pause.title) }
            span.sub { (time(pause.at, &pause.at.day(shell.now))) ", after " (duration(pause.seconds)) }
        },
        cells: vec![Cell::plain(count(pause.tokens)), Cell::plain(pause.cost.show())],
        is_chosen: false,
    };
    Table {
        is_stacked: false,
        columns: vec![Column::name("Session"), Column::figure("Tokens written again"), Column::figure("Cost")],
        rows: pauses.iter().map(row).collect(),
        total: None,
        has_keys: true,
    }
}
