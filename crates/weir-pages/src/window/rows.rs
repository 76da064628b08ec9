//! Each session at several sizes, and what would be written to set one.

use std::borrow::Cow;

use maud::{Markup, html};

use super::Window;
use crate::charts::spark::spark;
use crate::components::{Cell, Column, Row, Table, command, section};
use crate::figures::{change, count, counted};
use crate::shell::Shell;
use crate::text::Text;

/// A session at several sizes.
#[derive(Debug, Clone)]
pub struct SessionCost {
    /// Identifies the session.
    pub key: Text,
    /// What it is about.
    pub title: Text,
    pub project: Text,
    pub requests: u64,
    /// Its longest window, in tokens.
    pub longest: u64,
    /// The change of cost at each size of [`Window::compared`], in percent of the cost now.
    pub changes: Vec<f64>,
    /// How often it would have been compacted at the recommended size.
    pub compactions: Option<u64>,
}

/// How the recommended size is set.
#[derive(Debug, Clone)]
pub struct SettingPreview {
    /// The setting, and the client's file that it is in.
    pub setting: Text,
    /// The command that shows the change and asks before it writes.
    pub command: Text,
    pub taken_back_by: Text,
}

impl Window {
    pub(super) fn by_session(&self) -> Markup {
        let shown = self.by_session.len() as u64;
        let aside = html! {
            @if shown < self.sessions { (count(shown)) " of " (count(self.sessions)) ", the most expensive first; " }
            @match self.now.as_ref().and_then(|now| now.size) {
                Some(size) => { "against " (count(size)) " tokens" }
                None => "against what was paid",
            }
        };
        section("h-by", "By session", aside, html! { div.panel { (self.session_table()) } })
    }

    fn session_table(&self) -> Table {
        let mut columns = vec![Column::name("Session")];
        let middle = self.compared.len().saturating_sub(1) / 2;
        columns.extend(self.compared.iter().enumerate().map(|(at, size)| Column {
            label: Cow::Owned(count(*size)),
            is_figure: true,
            is_wide_only: at != middle && Some(*size) != self.best,
        }));
        columns.push(Column {
            label: self
                .best
                .map_or(Cow::Borrowed("Compactions"), |best| Cow::Owned(format!("Compactions at {}", count(best)))),
            is_figure: true,
            is_wide_only: true,
        });
        columns.push(Column::name("Course").only_wide());
        Table {
            is_stacked: false,
            columns,
            rows: self.by_session.iter().map(|session| self.session_row(session)).collect(),
            total: None,
            has_keys: true,
        }
    }

    fn session_row(&self, session: &SessionCost) -> Row {
        let mut cells: Vec<Cell> = session
            .changes
            .iter()
            .map(|percent| Cell::signed(percent.is_finite().then(|| change(*percent)), percent.round() > 0.0))
            .collect();
        cells.resize_with(self.compared.len(), || Cell::signed(None, false));
        cells.push(Cell::signed(session.compactions.map(count), false));
        let chosen = self.compared.iter().position(|size| Some(*size) == self.best);
        let mut course = session.changes.clone();
        course.push(0.0);
        cells.push(Cell::plain(spark(&course, chosen)));
        Row {
            name: html! {
                a href=(Shell::session_anywhere(&session.key)) { (session.title) }
                span.sub {
                    (session.project) ", " (counted(session.requests, "request", "requests"))
                    span.only-wide { ", longest " (count(session.longest)) }
                }
            },
            cells,
            is_chosen: false,
        }
    }
}

impl SettingPreview {
    pub(super) fn render(&self) -> Markup {
        section(
            "h-set",
            "Set it",
            html! {},
            html! {
                div.panel.set {
                    p {
                        "This command shows the change before it is written, and asks. It sets "
                        code { (self.setting) } "."
                    }
                    (command(&self.command))
                    p.hint { code { (self.taken_back_by) } " takes it back." }
                }
            },
        )
    }
}
