//! Each session at several sizes, and what would be written to set one.

use std::borrow::Cow;

use maud::{Markup, html};

use super::Window;
use crate::charts::spark::spark;
use crate::components::{Cell, Column, Row, Table, post, section};
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
    /// The name of its project.
    pub project: Text,
    /// How many requests it made.
    pub requests: u64,
    /// Its longest window, in tokens.
    pub longest: u64,
    /// The change of cost at each size of [`Window::compared`], in percent of the cost now.
    pub changes: Vec<f64>,
    /// How often it would have been compacted at the recommended size.
    pub compactions: Option<u64>,
}

/// What would be written to set the recommended size.
#[derive(Debug, Clone)]
pub struct SettingPreview {
    /// The client's file.
    pub file: Text,
    /// The lines around the change, and the new one.
    pub lines: Vec<SettingLine>,
    /// How it is taken back.
    pub taken_back_by: Text,
}

/// A line of a client's settings.
#[derive(Debug, Clone)]
pub struct SettingLine {
    /// Its number; none for the new line.
    pub number: Option<u64>,
    /// The line.
    pub text: Text,
}

impl Window {
    pub(super) fn by_session(&self, shell: &Shell) -> Markup {
        let aside = html! { "against " (count(self.now)) " tokens" };
        section("h-by", "By session", aside, html! { div.panel { (self.session_table(shell)) } })
    }

    fn session_table(&self, shell: &Shell) -> Table {
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
            rows: self.by_session.iter().map(|session| self.session_row(session, shell)).collect(),
            total: None,
            has_keys: true,
        }
    }

    fn session_row(&self, session: &SessionCost, shell: &Shell) -> Row {
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
                a href=(shell.session(&session.key)) { (session.title) }
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
    pub(super) fn render(&self, shell: &Shell) -> Markup {
        section(
            "h-set",
            "Set it",
            html! {},
            html! {
                div.panel.set {
                    p { "This is the only line that would be written, into " code { (self.file) } ":" }
                    div.code.panel { div.lines {
                        @for line in &self.lines {
                            div.l.new[line.number.is_none()] {
                                i { @match line.number { Some(number) => (number), None => "+" } }
                                code { (line.text) }
                            }
                        }
                    } }
                    div.state {
                        (post(shell, &shell.at("/window/set"), html! { button.button type="submit" { "Write it" } }))
                        span.hint { "Taken back by " code { (self.taken_back_by) } }
                    }
                }
            },
        )
    }
}
