//! Sessions: the conversations of all clients, newest first.

use maud::{Markup, html};

use crate::components::{Cell, Choice, Column, Key, MOVE, OPEN, Row, Table, chips, empty, head, older_pages};
use crate::figures::{Money, count, counted, difference, known};
use crate::moment::Moment;
use crate::routes::{Page, with_query};
use crate::shell::{Content, Shell};
use crate::text::Text;

#[derive(Debug, Clone)]
pub struct Sessions {
    pub rows: Vec<SessionRow>,
    /// How many sessions there are in all; none if they are too many to count.
    pub total: Option<u64>,
    pub is_newest: bool,
    /// The place after which the next page begins, if there is one.
    pub older: Option<Text>,
    pub clients: Vec<ClientCount>,
    /// The client whose sessions are shown; none means all.
    pub client: Option<Text>,
    /// What is not listed, and why, in whole sentences.
    pub remarks: Vec<Text>,
}

#[derive(Debug, Clone)]
pub struct ClientCount {
    /// The word for the client in addresses.
    pub key: Text,
    pub name: Text,
    /// How many sessions; none if they are too many to count.
    pub sessions: Option<u64>,
}

#[derive(Debug, Clone)]
pub struct SessionRow {
    /// Identifies the session.
    pub key: Text,
    /// What it is about: its first prompt, or the client's own title.
    pub title: Text,
    /// The identity of its project. A session may have worked in several, each of which has its own part of it.
    pub project_key: Text,
    pub project: Text,
    pub branch: Option<Text>,
    pub client: Text,
    pub started: Moment,
    /// How many requests it made, if its transcript says so.
    pub requests: Option<u64>,
    /// The length of its window now, in tokens.
    pub window_now: Option<u64>,
    pub spent: Option<Money>,
    /// Tokens held back, less what was asked for again and Weir's own text.
    pub net_tokens: Option<i64>,
    pub net: Option<Money>,
    /// Why the figures are as they are, if that is known.
    pub remark: Option<Text>,
}

impl Sessions {
    pub fn render(&self, shell: &Shell) -> String {
        let sentence = html! {
            p {
                @match self.total {
                    Some(0) => { "No sessions in " (shell.project_name()) "." }
                    Some(total) => {
                        (counted(total, "session", "sessions")) " in " (shell.project_name()) ", newest first."
                    }
                    None => { "The sessions in " (shell.project_name()) ", newest first." }
                }
                @for remark in &self.remarks { " " (remark) }
            }
        };
        let chosen = self.client.as_ref().map_or("", |client| client.raw());
        let address = |before: &str| with_query(&shell.page(Page::Sessions), &[("client", chosen), ("before", before)]);
        let newest = (!self.is_newest).then(|| address(""));
        let older = self.older.as_ref().map(|place| address(place.raw()));
        let shown = format!("{} on this page", counted(self.rows.len() as u64, "session", "sessions"));
        let main = html! {
            (head(html! { "Sessions" }, sentence, html! {}))
            @if self.clients.len() > 1 { (chips("Clients", &self.choices(shell))) }
            section aria-label="Sessions" {
                @if self.rows.is_empty() && self.total != Some(0) {
                    (empty("There are no older sessions.", html! {
                        a href=(address("")) { "Show the newest" }
                    }))
                } @else if self.rows.is_empty() {
                    (empty("There are no sessions here yet.", html! {
                        "A session shows up as soon as a client that Weir is set up for calls a hook. Earlier ones "
                        "come in with "
                        code { "weir import" } "."
                    }))
                } @else {
                    div.panel { (table(&self.rows, shell)) }
                    (older_pages(newest.as_deref(), older.as_deref(), &shown))
                }
            }
        };
        let keys: &[Key] = &[MOVE, OPEN, Key { keys: &["[", "]"], does: "newest, older" }];
        shell.document(&Content { page: Some(Page::Sessions), title: "Sessions", keys, main })
    }

    fn choices(&self, shell: &Shell) -> Vec<Choice> {
        let label = |name: &str, sessions: Option<u64>| match sessions {
            Some(sessions) => format!("{name} {}", count(sessions)),
            None => name.to_owned(),
        };
        let all: Option<u64> = self.clients.iter().map(|client| client.sessions).sum();
        let path = shell.page(Page::Sessions);
        let mut choices =
            vec![Choice { label: label("All", all), href: path.clone(), is_chosen: self.client.is_none() }];
        choices.extend(self.clients.iter().map(|client| Choice {
            label: label(&client.name.plain(), client.sessions),
            href: with_query(&path, &[("client", client.key.raw())]),
            is_chosen: self.client.as_ref() == Some(&client.key),
        }));
        choices
    }
}

pub(crate) fn table(rows: &[SessionRow], shell: &Shell) -> Table {
    Table {
        is_stacked: true,
        columns: vec![
            Column::name("Session"),
            Column::name("Client"),
            Column::figure("Requests"),
            Column::figure("Window now"),
            Column::figure("Spent"),
            Column::figure("Net tokens"),
            Column::figure("Net, about"),
        ],
        rows: rows.iter().map(|row| session_row(row, shell)).collect(),
        total: None,
        has_keys: true,
    }
}

fn session_row(row: &SessionRow, shell: &Shell) -> Row {
    let did_not_pay = row.net.map_or(row.net_tokens.is_some_and(|tokens| tokens < 0), |net| net.0 < 0);
    let is_negative = |number: Option<i64>| number.is_some_and(|number| number < 0);
    Row {
        name: html! {
            a href=(Shell::session_in(&row.project_key, &row.key)) { (row.title) }
            @if did_not_pay { " " span.badge.bad { "did not pay" } }
            span.sub { (place(row, shell)) @if let Some(remark) = &row.remark { "; " (remark) } }
        },
        cells: vec![
            Cell::plain(&row.client),
            Cell::plain(known(row.requests.map(count))),
            Cell::plain(known(row.window_now.map(count))),
            Cell::plain(known(row.spent.map(Money::show))),
            Cell::signed(row.net_tokens.map(difference), is_negative(row.net_tokens)),
            Cell::signed(row.net.map(Money::show_signed), is_negative(row.net.map(|net| net.0))),
        ],
        is_chosen: false,
    }
}

fn place(row: &SessionRow, shell: &Shell) -> Markup {
    html! {
        (row.project)
        @if let Some(branch) = &row.branch { ", branch " span.branch title=(branch.plain()) { (branch) } }
        ", " (row.started.show(shell.now))
    }
}
