//! One session: how long its window was, what happened, the guide as the model would get it, and what came of it.

mod reflect;
mod timeline;

use maud::{Markup, html};

pub use crate::charts::course::{Compaction, WindowCourse};
use crate::charts::{Figure, Swatch, as_table, course};
use crate::components::{Cell, Column, Fact, Key, MOVE, Row, Table, facts, section};
use crate::figures::{Money, count, counted, difference, percent};
use crate::moment::Moment;
use crate::routes::Page;
use crate::shell::{Content, Shell};
use crate::text::Text;

pub use reflect::{Reflection, Statement, Statements};
pub use timeline::{EventLine, Guide, GuideChoice, Item, Timeline, TimelineFilter, Tone};
pub(crate) use timeline::{event_line, new_day};

/// One conversation of a client.
#[derive(Debug, Clone)]
pub struct Session {
    /// Identifies the session.
    pub key: Text,
    /// What it is about.
    pub title: Text,
    pub project: Text,
    pub client: Text,
    pub branch: Option<Text>,
    pub from: Moment,
    /// When its last event was.
    pub to: Moment,
    /// The session before it in the same project.
    pub earlier: Option<Text>,
    /// The session after it.
    pub later: Option<Text>,
    pub figures: Figures,
    /// The length of the window over its requests, if its transcript has them.
    pub window: Option<WindowCourse>,
    pub timeline: Timeline,
    pub guides: Vec<GuideChoice>,
    /// The chosen one.
    pub guide: Option<Guide>,
    pub reflection: Reflection,
}

/// What a session comes to.
#[derive(Debug, Clone, Copy, Default)]
pub struct Figures {
    pub requests: Option<u64>,
    /// The length of the window now, in tokens.
    pub window_now: Option<u64>,
    /// What the next request costs at least: an estimate.
    pub next_request: Option<Money>,
    pub spent: Option<Money>,
    /// Tokens held back, less what was asked for again and Weir's own text.
    pub net_tokens: Option<i64>,
    pub net: Option<Money>,
}

impl Session {
    pub fn render(&self, shell: &Shell) -> String {
        let main = html! {
            (self.head(shell))
            (self.facts())
            (self.window_section())
            div.columns.wide-left {
                (self.timeline.render(self, shell))
                (timeline::guide_section(self, shell))
            }
            (self.reflection.render(self, shell))
        };
        let keys: &[Key] =
            &[MOVE, Key { keys: &["[", "]"], does: "earlier, later session" }, Key { keys: &["r"], does: "reflect" }];
        shell.document(&Content { page: Some(Page::Sessions), title: &self.title.plain(), keys, main })
    }

    fn head(&self, shell: &Shell) -> Markup {
        let to = if self.from.is_same_day(self.to) { self.to.clock() } else { self.to.show(shell.now) };
        html! {
            div.head {
                div {
                    ol.crumbs { li { a href=(shell.page(Page::Sessions)) { "Sessions" } } li { (self.project) } }
                    h1 { (self.title) }
                    div.sentence {
                        p {
                            (self.client)
                            @if let Some(branch) = &self.branch { ", branch " code { (branch) } }
                            ", " (self.from.show(shell.now)) " to " (to)
                        }
                    }
                }
                div.actions {
                    @if let Some(key) = &self.earlier {
                        a.button href=(shell.session(key)) data-key="[" { "Earlier session" }
                    }
                    @if let Some(key) = &self.later {
                        a.button href=(shell.session(key)) data-key="]" { "Later session" }
                    }
                    a.button href="#h-reflect" data-key="r" { "Reflect" }
                }
            }
        }
    }

    fn facts(&self) -> Markup {
        let figures = &self.figures;
        let share = figures.net.zip(figures.spent).and_then(|(net, spent)| percent(net.dollars(), spent.dollars()));
        let fact = |label, figure, unit: &str| Fact { label, figure, unit: unit.to_owned() };
        facts(&[
            fact("Requests", figures.requests.map(count), ""),
            fact("Window now", figures.window_now.map(count), "tokens"),
            fact("Next request costs", figures.next_request.map(Money::show_about), ""),
            fact("Spent", figures.spent.map(Money::show), ""),
            fact("Held back, net", figures.net_tokens.map(difference), "tokens"),
            fact(
                if figures.net.is_some_and(|net| net.0 < 0) { "Did not pay" } else { "Saved" },
                figures.net.map(Money::show_about_signed),
                &share.map(|share| format!("({share})")).unwrap_or_default(),
            ),
        ])
    }

    fn window_section(&self) -> Markup {
        let content = match self.window.as_ref().filter(|window| !window.lengths.is_empty()) {
            Some(window) => html! { (window.figure()) (as_table("Window length", &window.table())) },
            None => crate::components::empty(
                "The window length is not known.",
                html! { "It is read from the client’s transcript, which Weir has not found or cannot read." },
            ),
        };
        section("h-window", "Window length", html! { "tokens, by request" }, content)
    }
}

impl WindowCourse {
    fn figure(&self) -> Markup {
        let mut legend = vec![(Swatch::Line("stroke"), "the window")];
        if !self.without.is_empty() {
            legend.push((Swatch::Line("stroke other"), "without Weir, until it would have been compacted"));
        }
        let caption = html! { @for remark in &self.remarks { (remark) " " } };
        Figure { label: &self.finding(), legend: &legend, plot: course::course(self), caption }.render()
    }

    /// Returns what the chart shows, in words.
    fn finding(&self) -> String {
        let (first, last) = (self.lengths.first().copied().unwrap_or(0), self.lengths.last().copied().unwrap_or(0));
        let mut finding = format!(
            "Window length over {}, from {} to {} tokens.",
            counted(self.lengths.len() as u64, "request", "requests"),
            count(first),
            count(last)
        );
        for compaction in &self.compactions {
            finding.push_str(&format!(
                " Compacted after request {}, from {} to {}.",
                count(compaction.request),
                count(compaction.before),
                count(compaction.after)
            ));
        }
        finding
    }

    /// Returns the lengths at a few requests, and at every compaction.
    fn table(&self) -> Table {
        let last = self.lengths.len() as u64;
        let step = last.div_ceil(12).max(1);
        let is_cut = |request: u64| {
            self.compactions.iter().any(|cut| cut.request == request || cut.request.checked_add(1) == Some(request))
        };
        let rows = (1..).zip(&self.lengths).filter(|(request, _)| {
            *request == 1 || *request == last || request.is_multiple_of(step) || is_cut(*request)
        });
        let without =
            |request: u64| self.without.iter().find(|(at, _)| *at == request).map(|(_, length)| count(*length));
        let rows = rows.map(|(request, length)| Row {
            name: html! { (count(request)) },
            cells: vec![Cell::plain(count(*length)), Cell::plain(crate::figures::known(without(request)))],
            is_chosen: false,
        });
        Table {
            is_stacked: false,
            columns: vec![Column::figure("Request"), Column::figure("Window"), Column::figure("Without Weir")],
            rows: rows.collect(),
            total: None,
            has_keys: false,
        }
    }
}
