//! Health: what fails and its fix first, then what passes; how long hooks take and how big the store is.

use maud::{Markup, html};
use weir_core::wording::size;

use crate::charts::area::{Level, area};
use crate::charts::dots::{Dots, dots};
use crate::charts::{Figure, Swatch, as_table};
use crate::components::{COPY, Cell, Column, Key, Row, Table, command, empty, head, section};
use crate::figures::{count, counted, known, milliseconds, percent};
use crate::moment::Moment;
use crate::routes::Page;
use crate::shell::{Content, Shell};
use crate::text::Text;

/// The checks of `weir doctor`, and two courses of time.
#[derive(Debug, Clone)]
pub struct Health {
    /// The checks, in any order.
    pub checks: Vec<Check>,
    /// How long they took, in milliseconds.
    pub took: f64,
    /// How long hooks took, day by day, the newest last.
    pub hooks: Vec<HookDay>,
    /// How big the store was, day by day, the newest last.
    pub store: Vec<StoreDay>,
    /// The most that the store may take, in bytes.
    pub store_limit: Option<u64>,
}

/// A check.
#[derive(Debug, Clone)]
pub struct Check {
    /// What was checked.
    pub name: Text,
    /// How it ended.
    pub state: CheckState,
    /// What was found, and what that means.
    pub found: Text,
    /// What to do about it.
    pub advice: Option<Text>,
    /// The command that fixes it.
    pub command: Option<Text>,
}

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckState {
    /// Something does not work.
    Wrong,
    /// Something should be looked at.
    Look,
    /// Nothing is to be done.
    Fine,
}

/// How long the hooks of a day took.
#[derive(Debug, Clone, Copy)]
pub struct HookDay {
    /// A time on this day.
    pub at: Moment,
    /// The figures; none if no hook was called.
    pub figures: Option<HookTimes>,
}

/// How long hooks took, in milliseconds.
#[derive(Debug, Clone, Copy)]
pub struct HookTimes {
    /// Half of them were at least this fast.
    pub half: f64,
    /// 99 of 100 were at least this fast.
    pub most: f64,
    /// How many there were.
    pub calls: u64,
}

/// How big the store was on a day.
#[derive(Debug, Clone, Copy)]
pub struct StoreDay {
    /// A time on this day.
    pub at: Moment,
    /// Its bytes; none if that was not measured.
    pub bytes: Option<u64>,
}

const MIB: f64 = 1_048_576.0;

impl Health {
    /// Returns the page.
    pub fn render(&self, shell: &Shell) -> String {
        let mut open: Vec<&Check> = self.checks.iter().filter(|check| check.state != CheckState::Fine).collect();
        open.sort_by_key(|check| check.state);
        let fine: Vec<&Check> = self.checks.iter().filter(|check| check.state == CheckState::Fine).collect();
        let again = html! { a.button href=(shell.page(Page::Health)) data-key="r" { "Check again" } };
        let main = html! {
            (head(html! { "Health" }, self.sentence(open.len() as u64), again))
            @if !open.is_empty() {
                section aria-labelledby="h-wrong" {
                    h2.sr #h-wrong { "Needs attention" }
                    ul.checks.open.panel { @for check in &open { (check.render()) } }
                }
            }
            @if !fine.is_empty() {
                (section("h-fine", "Passing", html! { (counted(fine.len() as u64, "check", "checks")) }, html! {
                    ul.checks.panel { @for check in &fine { (check.render()) } }
                }))
            }
            div.columns { (self.hook_section()) (self.store_section()) }
        };
        let keys: &[Key] = &[Key { keys: &["r"], does: "check again" }, COPY];
        shell.document(&Content { page: Page::Health, title: "Health", keys, main })
    }

    fn sentence(&self, open: u64) -> Markup {
        let all = self.checks.len() as u64;
        html! {
            p {
                @match (open, all) {
                    (_, 0) => "No checks were made.",
                    (0, all) => {
                        @if all == 1 { "The only check passes" } @else { "All " (count(all)) " checks pass" }
                        ". "
                    }
                    (open, all) => {
                        (count(open)) " of " (counted(all, "check", "checks")) " "
                        (if open == 1 { "needs" } else { "need" }) " attention. "
                    }
                }
                @if all > 0 { "Checked just now, in " (milliseconds(self.took)) "." }
            }
        }
    }

    fn hook_section(&self) -> Markup {
        let name = |day: &HookDay| day.at.weekday_and_month();
        let drawn: Vec<Dots> = self
            .hooks
            .iter()
            .map(|day| Dots {
                values: day.figures.map(|figures| (figures.half, figures.most)),
                name: day.at.day_of_month(),
                title: day
                    .figures
                    .map(|figures| {
                        format!(
                            "{}: half within {}, 99 of 100 within {}, {}",
                            name(day),
                            milliseconds(figures.half),
                            milliseconds(figures.most),
                            counted(figures.calls, "hook", "hooks")
                        )
                    })
                    .unwrap_or_default(),
            })
            .collect();
        let measured = || self.hooks.iter().filter_map(|day| day.figures);
        let content = if measured().next().is_none() {
            empty("No hook has been called.", html! { "A client calls one at every step of a session." })
        } else {
            let slowest = measured().map(|figures| figures.most).fold(0.0, f64::max);
            let finding = format!(
                "Hook time per day over {}. On no day did 99 of 100 hooks take more than {}.",
                counted(self.hooks.len() as u64, "day", "days"),
                milliseconds(slowest)
            );
            let label = |value: f64, is_top: bool| if is_top { format!("{value} ms") } else { value.to_string() };
            let legend = [(Swatch::Fill("s1"), "half within"), (Swatch::Fill("s0"), "99 of 100 within")];
            html! {
                (Figure { label: &finding, legend: &legend, plot: dots(&drawn, label), caption: html! {} }.render())
                (as_table("Hook time", &hook_table(&self.hooks)))
            }
        };
        section("h-hooks", "Hook time", html! { "per day" }, content)
    }

    fn store_section(&self) -> Markup {
        let last = self.store.iter().rev().find_map(|day| day.bytes);
        let share = last.zip(self.store_limit).and_then(|(bytes, limit)| percent(bytes as f64, limit as f64));
        let levels: Vec<Level> = self
            .store
            .iter()
            .map(|day| Level { value: day.bytes.map(|bytes| bytes as f64 / MIB), name: day.at.day_of_month() })
            .collect();
        let content = match (self.store.iter().find_map(|day| day.bytes), last) {
            (Some(first), Some(last)) => {
                let finding = format!(
                    "Store size per day over {}, from {} to {}.",
                    counted(self.store.len() as u64, "day", "days"),
                    size(first),
                    size(last)
                );
                let label = |value: f64, is_top: bool| if is_top { format!("{value} MiB") } else { value.to_string() };
                let (legend, plot) =
                    ([(Swatch::Fill("s1"), "texts, log and index")], area(&levels, &size(last), label));
                html! {
                    (Figure { label: &finding, legend: &legend, plot, caption: html! {} }.render())
                    (as_table("Store size", &store_table(&self.store)))
                }
            }
            _ => empty("The store is empty.", html! { "Its size is measured once a day." }),
        };
        section("h-store", "Store size", html! { @if let Some(share) = share { (share) " of the limit" } }, content)
    }
}

impl Check {
    fn render(&self) -> Markup {
        let (class, label) = match self.state {
            CheckState::Wrong => ("wrong", "wrong"),
            CheckState::Look => ("look", "to look at"),
            CheckState::Fine => ("good", "fine"),
        };
        html! {
            li data-row tabindex="-1" {
                svg.is.(class) viewBox="0 0 16 16" role="img" aria-label=(label) {
                    @match self.state {
                        CheckState::Wrong => path d="M4 4l8 8M12 4l-8 8" {},
                        CheckState::Look => path d="M8 3v6M8 12.5v.01" {},
                        CheckState::Fine => path d="M3.5 8.5l3 3 6-7" {},
                    }
                }
                span.name { (self.name) }
                span.said { (self.found) }
                @if self.advice.is_some() || self.command.is_some() {
                    div.fix {
                        @if let Some(advice) = &self.advice { p.muted { (advice) } }
                        @if let Some(text) = &self.command { (command(text)) }
                    }
                }
            }
        }
    }
}

fn hook_table(days: &[HookDay]) -> Table {
    let row = |day: &HookDay| Row {
        name: html! { (day.at.weekday_and_month()) },
        cells: match day.figures {
            Some(figures) => vec![
                Cell::plain(count(figures.calls)),
                Cell::plain(milliseconds(figures.half)),
                Cell::plain(milliseconds(figures.most)),
            ],
            None => vec![Cell::muted("none"), Cell::plain(""), Cell::plain("")],
        },
        is_chosen: false,
    };
    Table {
        is_stacked: false,
        columns: vec![
            Column::name("Day"),
            Column::figure("Hooks"),
            Column::figure("Half within"),
            Column::figure("99 of 100 within"),
        ],
        rows: days.iter().rev().map(row).collect(),
        total: None,
        has_keys: false,
    }
}

fn store_table(days: &[StoreDay]) -> Table {
    let row = |day: &StoreDay| Row {
        name: html! { (day.at.weekday_and_month()) },
        cells: vec![Cell::plain(known(day.bytes.map(size)))],
        is_chosen: false,
    };
    Table {
        is_stacked: false,
        columns: vec![Column::name("Day"), Column::figure("Store")],
        rows: days.iter().rev().map(row).collect(),
        total: None,
        has_keys: false,
    }
}
