//! Projects: one row for each that has a store.

use maud::html;
use weir_core::wording::size;

use crate::components::{Cell, Column, Key, MOVE, OPEN, Row, Table, empty, head};
use crate::figures::{Money, count, counted, difference, known};
use crate::moment::Moment;
use crate::routes::Page;
use crate::shell::{Content, Shell};
use crate::text::Text;

#[derive(Debug, Clone)]
pub struct Projects {
    /// The projects, the one that was used last first.
    pub rows: Vec<ProjectRow>,
    pub days: u64,
}

#[derive(Debug, Clone)]
pub struct ProjectRow {
    pub key: Text,
    pub name: Text,
    /// The folder, as a person writes it.
    pub folder: Text,
    /// Whether the folder is still there.
    pub is_there: bool,
    /// Why its store cannot be read, if it cannot.
    pub problem: Option<Text>,
    pub last: Option<Moment>,
    /// How many sessions it has had; none if its store was not read.
    pub sessions: Option<u64>,
    pub entries: Option<u64>,
    /// How many notes; none if they were too many to count.
    pub notes: Option<u64>,
    /// What its store takes, in bytes.
    pub bytes: Option<u64>,
    pub spent: Option<Money>,
    /// Tokens held back, less what that cost.
    pub net_tokens: Option<i64>,
    pub net: Option<Money>,
}

impl Projects {
    pub fn render(&self, shell: &Shell) -> String {
        let number = self.rows.len() as u64;
        let sentence = html! {
            p {
                (counted(number, "project has", "projects have")) " a store on this machine. "
                "Money and net are of the last " (counted(self.days, "day", "days")) "."
            }
        };
        let main = html! {
            (head(html! { "Projects" }, sentence, html! {}))
            section aria-label="Projects" {
                @if self.rows.is_empty() {
                    (empty("No project has a store yet.", html! {
                        "A store is made when a client that Weir is set up for first calls a hook in a project."
                    }))
                } @else { div.panel { (self.table(shell)) } }
            }
        };
        let keys: &[Key] = &[MOVE, OPEN];
        shell.document(&Content { page: Some(Page::Projects), title: "Projects", keys, main })
    }

    fn table(&self, shell: &Shell) -> Table {
        Table {
            is_stacked: true,
            columns: vec![
                Column::name("Project"),
                Column::figure("Sessions"),
                Column::figure("Entries"),
                Column::figure("Notes"),
                Column::figure("Store"),
                Column::figure("Spent"),
                Column::figure("Net tokens"),
                Column::figure("Net, about"),
            ],
            rows: self.rows.iter().map(|row| project_row(row, shell)).collect(),
            total: None,
            has_keys: true,
        }
    }
}

fn project_row(row: &ProjectRow, shell: &Shell) -> Row {
    let is_loss = row.net.map_or(row.net_tokens.is_some_and(|tokens| tokens < 0), |net| net.0 < 0);
    Row {
        name: html! {
            a href=(Shell::in_project(Page::Today, Some(&row.key))) { (row.name) }
            @if !row.is_there { " " span.badge.doubt { "the folder is not there" } }
            @if is_loss { " " span.badge.bad { "did not pay" } }
            @if row.problem.is_some() { " " span.badge.bad { "the store cannot be read" } }
            span.sub {
                (row.folder)
                @if let Some(last) = row.last { ", last used " (last.show(shell.now)) } @else { ", never used" }
            }
            @if let Some(problem) = &row.problem { span.sub { (problem) } }
        },
        cells: vec![
            Cell::plain(known(row.sessions.map(count))),
            Cell::plain(known(row.entries.map(count))),
            Cell::plain(known(row.notes.map(count))),
            Cell::plain(known(row.bytes.map(size))),
            Cell::plain(known(row.spent.map(Money::show))),
            Cell::signed(row.net_tokens.map(difference), row.net_tokens.is_some_and(|tokens| tokens < 0)),
            Cell::signed(row.net.map(Money::show_signed), row.net.is_some_and(|net| net.0 < 0)),
        ],
        is_chosen: shell.project.as_ref().is_some_and(|project| project.key == row.key),
    }
}
