//! Health: what fails and its fix first, then what passes; hooks and what became of outputs, and how big the store is.

mod hooks;

use maud::{Markup, html};
use weir_core::wording::size;

use crate::charts::area::{Level, area};
use crate::charts::{Figure, Swatch, as_table, axis_number};
use crate::components::{COPY, Cell, Column, Key, Row, Table, command, empty, head, section};
use crate::figures::{count, counted, known, milliseconds, percent};
use crate::moment::Moment;
use crate::routes::Page;
use crate::shell::{Content, Shell};
use crate::text::{Prose, Text};
pub use hooks::{HookDay, HookTimes, LastHook, OutputRow, SeenOutputs};

/// The checks of `weir doctor`, hooks, outputs, and the course of the store.
#[derive(Debug, Clone)]
pub struct Health {
    /// The checks, in any order.
    pub checks: Vec<Check>,
    /// How long they took, in milliseconds.
    pub took: f64,
    pub hooks: Vec<LastHook>,
    /// How long hooks took, day by day, the newest last.
    pub hook_days: Vec<HookDay>,
    /// What became of the outputs that hooks saw.
    pub outputs: Option<SeenOutputs>,
    /// What the texts that are kept now took, day by day, the newest last.
    pub store: Vec<StoreDay>,
    /// What the store takes now, with its log and its index, in bytes; none if the store could not be read.
    pub store_now: Option<u64>,
    /// The most that the store may take, in bytes.
    pub store_limit: Option<u64>,
}

#[derive(Debug, Clone)]
pub struct Check {
    pub name: Text,
    pub state: CheckState,
    pub found: Prose,
    /// What to do about it.
    pub advice: Option<Prose>,
    pub command: Option<Text>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckState {
    /// Something does not work.
    Wrong,
    /// Nothing is to be done.
    Fine,
    /// It only says how things are.
    Told,
}

/// How big the texts were on a day.
#[derive(Debug, Clone, Copy)]
pub struct StoreDay {
    pub at: Moment,
    /// Its bytes; none if that was not measured.
    pub bytes: Option<u64>,
}

const MIB: f64 = 1_048_576.0;

impl Health {
    pub fn render(&self, shell: &Shell) -> String {
        let is_open = |check: &&Check| check.state == CheckState::Wrong;
        let (open, mut fine): (Vec<&Check>, Vec<&Check>) = self.checks.iter().partition(is_open);
        fine.sort_by_key(|check| check.state);
        let passing = fine.iter().filter(|check| check.state == CheckState::Fine).count() as u64;
        // Of a store that could not be read, nothing can be said, not even that there were no hooks.
        let is_read = self.store_now.is_some();
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
                (section("h-fine", "Passing", html! { (counted(passing, "check", "checks")) }, html! {
                    ul.checks.panel { @for check in &fine { (check.render()) } }
                }))
            }
            div.columns {
                @if is_read { (hooks::hook_times(&self.hook_days)) }
                (self.store_section())
                @if is_read {
                    (hooks::last_hooks(&self.hooks, shell))
                    (hooks::seen_outputs(self.outputs.as_ref(), shell))
                }
            }
        };
        let keys: &[Key] = &[Key { keys: &["r"], does: "check again" }, COPY];
        shell.document(&Content { page: Some(Page::Health), title: "Health", keys, main })
    }

    fn sentence(&self, open: u64) -> Markup {
        let all = self.checks.iter().filter(|check| check.state != CheckState::Told).count() as u64;
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

    fn store_section(&self) -> Markup {
        let share = self.store_now.zip(self.store_limit).and_then(|(now, limit)| percent(now as f64, limit as f64));
        let levels: Vec<Level> = self
            .store
            .iter()
            .map(|day| Level { value: day.bytes.map(|bytes| bytes as f64 / MIB), name: day.at.day_of_month() })
            .collect();
        let last = self.store.iter().rev().find_map(|day| day.bytes);
        let content = match (self.store.iter().find_map(|day| day.bytes), last) {
            (Some(first), Some(last)) => {
                let finding = format!(
                    "Size of the texts that are kept now, by the day on which they were kept, over {}: from {} to {}.",
                    counted(self.store.len() as u64, "day", "days"),
                    size(first),
                    size(last)
                );
                let label =
                    |value: f64, is_top: bool| format!("{}{}", axis_number(value), if is_top { " MiB" } else { "" });
                let legend = [(Swatch::Fill("s1"), "texts that are kept now, as stored")];
                let plot = area(&levels, &size(last), label);
                let caption = html! {
                    "Texts that were removed since are not included. "
                    @if let Some(now) = self.store_now { "With log and index, the store takes " (size(now)) "." }
                };
                html! {
                    (Figure { label: &finding, legend: &legend, plot, caption }.render())
                    (as_table("Store size", &store_table(&self.store)))
                }
            }
            _ => empty(
                "The store could not be read.",
                html! { "Its size, its hooks and what became of outputs are not known." },
            ),
        };
        section("h-store", "Store size", html! { @if let Some(share) = share { (share) " of the limit" } }, content)
    }
}

impl Check {
    fn render(&self) -> Markup {
        let (class, label) = match self.state {
            CheckState::Wrong => ("wrong", "wrong"),
            CheckState::Fine => ("good", "fine"),
            CheckState::Told => ("told", "for information"),
        };
        html! {
            li data-row tabindex="-1" {
                svg.is.(class) viewBox="0 0 16 16" role="img" aria-label=(label) {
                    @match self.state {
                        CheckState::Wrong => path d="M4 4l8 8M12 4l-8 8" {},
                        CheckState::Fine => path d="M3.5 8.5l3 3 6-7" {},
                        CheckState::Told => path d="M5.5 8h5" {},
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
