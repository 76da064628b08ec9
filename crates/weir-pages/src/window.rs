//! Window: what each window size would have cost, and how sure that is.

mod rows;

use maud::{Markup, html};

use crate::charts::stacks::{CLASSES, Stack, stacks};
use crate::charts::{Figure, Swatch, as_table, axis_number};
use crate::components::{Cell, Choice, Column, Key, Row, Table, empty, head, section, segments};
use crate::figures::{Money, change, count, counted};
use crate::moment::Moment;
use crate::routes::{Page, with_query};
use crate::shell::{Content, Shell};
use crate::text::Text;

pub use rows::{SessionCost, SettingPreview};

/// What window sizes would have cost, from transcripts of one client.
#[derive(Debug, Clone)]
pub struct Window {
    /// The clients that have transcripts; the chosen one is marked.
    pub clients: Vec<ClientChoice>,
    /// How many long sessions were played.
    pub sessions: u64,
    /// The first and the last day of them.
    pub span: Option<(Moment, Moment)>,
    /// Sizes, the smallest first.
    pub sizes: Vec<SizeCost>,
    /// The size as it is now.
    pub now: u64,
    /// The recommended size; none if no other costs clearly less.
    pub best: Option<u64>,
    /// The price that was used, in words.
    pub price: Text,
    /// Each session at the chosen sizes.
    pub by_session: Vec<SessionCost>,
    /// The sizes of that table.
    pub compared: Vec<u64>,
    /// How the recommended size is set.
    pub setting: Option<SettingPreview>,
    /// What was measured.
    pub measured: Text,
    /// What the figures assume.
    pub assumed: Text,
    /// What nobody can know.
    pub not_known: Text,
}

/// A client whose transcripts can be played.
#[derive(Debug, Clone)]
pub struct ClientChoice {
    /// The word in addresses.
    pub key: Text,
    /// Its name.
    pub name: Text,
    /// Whether it is shown.
    pub is_chosen: bool,
}

/// What one size would have cost.
#[derive(Debug, Clone, Copy)]
pub struct SizeCost {
    /// The size, in tokens.
    pub size: u64,
    /// Reads from the cache.
    pub reads: Money,
    /// Writes to the cache.
    pub writes: Money,
    /// What the model wrote.
    pub output: Money,
    /// Summaries, and files that are read again.
    pub compacting: Money,
    /// How often the conversation would have been compacted.
    pub compactions: u64,
}

impl SizeCost {
    /// Returns the sum.
    pub fn total(&self) -> Money {
        Money(
            [self.reads, self.writes, self.output, self.compacting]
                .iter()
                .fold(0, |sum, part| sum.saturating_add(part.0)),
        )
    }
}

impl Window {
    /// Returns the page.
    pub fn render(&self, shell: &Shell) -> String {
        let main = html! {
            (self.head(shell))
            @if self.sizes.is_empty() {
                (empty("No long session was found.", html! {
                    "A session counts once its window has been longer than the smallest size. Transcripts of clients "
                    "are read where they write them."
                }))
            } @else {
                (self.result())
                (self.chart())
                (self.by_session())
            }
            div.columns {
                @if let Some(setting) = &self.setting { (setting.render()) }
                (self.certainty())
            }
        };
        let keys: &[Key] = &[Key { keys: &["s"], does: "set it" }];
        shell.document(&Content { page: Some(Page::Window), title: "Window", keys, main })
    }

    fn head(&self, shell: &Shell) -> Markup {
        let client = self.clients.iter().find(|client| client.is_chosen);
        let sentence = html! {
            p {
                "What each window size would have cost, worked out from your own transcripts: "
                (counted(self.sessions, "long session", "long sessions"))
                @if let Some(client) = client { " of " (client.name) }
                @if let Some((from, to)) = self.span { ", " (from.day(shell.now)) " to " (to.day(shell.now)) } "."
            }
        };
        let choice = |client: &ClientChoice| Choice {
            label: client.name.plain(),
            href: with_query(&shell.page(Page::Window), &[("client", client.key.raw())]),
            is_chosen: client.is_chosen,
        };
        let choices: Vec<Choice> = self.clients.iter().map(choice).collect();
        head(html! { "Window" }, sentence, html! { @if choices.len() > 1 { (segments("Client", &choices)) } })
    }

    fn find(&self, size: u64) -> Option<&SizeCost> {
        self.sizes.iter().find(|cost| cost.size == size)
    }

    fn result(&self) -> Markup {
        let pair = self.best.and_then(|best| self.find(best)).zip(self.find(self.now));
        html! {
            section aria-label="Result" {
                div.notice {
                    @match pair {
                        Some((best, now)) => {
                            @let saved = Money(now.total().0.saturating_sub(best.total().0));
                            div {
                                b {
                                    (count(best.size)) " tokens would have cost " (saved.show()) " less than "
                                    (count(now.size))
                                }
                                ", that is " (best.total().show()) " instead of " (now.total().show())
                                " (" (change(-100.0 * saved.dollars() / now.total().dollars().max(1e-9))) "). "
                                span.muted {
                                    "In these sessions the conversation would have been compacted "
                                    (crate::figures::times(best.compactions))
                                    " instead of " (count(now.compactions))
                                    ". What a summary forgets is not in this figure."
                                }
                            }
                            @if self.setting.is_some() {
                                div.actions { a.button.primary href="#h-set" data-key="s" { "Set it…" } }
                            }
                        }
                        None => div {
                            b { "No other size would have cost clearly less." }
                            " "
                            span.muted { "The window is at " (count(self.now)) " tokens." }
                        },
                    }
                }
            }
        }
    }

    fn chart(&self) -> Markup {
        let least = self.sizes.iter().map(|cost| cost.total().0).min();
        let drawn: Vec<Stack> = self.sizes.iter().map(|cost| self.stack(cost, least)).collect();
        let label = |value: f64, is_top: bool| format!("{}{}", if is_top { "$" } else { "" }, axis_number(value));
        let names = ["cache reads", "cache writes", "output", "what compacting costs: summaries, files read again"];
        let legend: Vec<(Swatch, &str)> =
            CLASSES.iter().zip(names).map(|(class, name)| (Swatch::Fill(class), name)).collect();
        let caption = html! {
            "Below each size: how many times the conversation would have been compacted. "
            @for cost in self.dearer() { b { "At " (count(cost.size)) " it costs more than now." } " " }
            span.only-narrow { "Sizes are in thousands." }
        };
        let figure =
            Figure { label: &self.finding(), legend: &legend, plot: stacks(&drawn, ["size", "times"], label), caption };
        let aside = html! { (counted(self.sessions, "session", "sessions together")) ", " (self.price) };
        section(
            "h-cost",
            "Cost by window size",
            aside,
            html! { (figure.render()) (as_table("Cost by window size", &self.table())) },
        )
    }

    /// Returns the sizes that would have cost more than the present one.
    fn dearer(&self) -> impl Iterator<Item = &SizeCost> {
        let now = self.find(self.now).map(SizeCost::total);
        self.sizes.iter().filter(move |cost| now.is_some_and(|now| cost.total() > now))
    }

    fn finding(&self) -> String {
        let costs = self.sizes.iter().map(|cost| {
            let now = if cost.size == self.now { ", as set now" } else { "" };
            format!("{} tokens{now}: {}.", count(cost.size), cost.total().show())
        });
        format!(
            "Cost of {} by window size. {}",
            counted(self.sessions, "session", "sessions"),
            costs.collect::<Vec<_>>().join(" ")
        )
    }

    fn stack(&self, cost: &SizeCost, least: Option<i64>) -> Stack {
        let (is_chosen, is_now) = (Some(cost.size) == self.best, cost.size == self.now);
        let total = cost.total();
        Stack {
            parts: [cost.reads, cost.writes, cost.output, cost.compacting].map(Money::dollars),
            figure: (total.show(), format!("${:.0}", total.dollars())),
            name: (count(cost.size), count(cost.size / 1_000)),
            note: (format!("{}×", count(cost.compactions)), count(cost.compactions)),
            title: format!(
                "{} tokens: {}. Cache reads {}, cache writes {}, output {}, compacting {} ({})",
                count(cost.size),
                total.show(),
                cost.reads.show(),
                cost.writes.show(),
                cost.output.show(),
                cost.compacting.show(),
                counted(cost.compactions, "compaction", "compactions")
            ),
            is_chosen,
            is_now,
            is_labelled: is_chosen
                || is_now
                || Some(total.0) == least
                || self.dearer().any(|other| other.size == cost.size),
        }
    }

    fn table(&self) -> Table {
        let row = |cost: &SizeCost| Row {
            name: html! { (count(cost.size)) },
            cells: [cost.reads, cost.writes, cost.output, cost.compacting, cost.total()]
                .map(|money| Cell::plain(money.show()))
                .into_iter()
                .chain([Cell::plain(count(cost.compactions))])
                .collect(),
            is_chosen: Some(cost.size) == self.best,
        };
        let names = ["Window", "Cache reads", "Cache writes", "Output", "Compacting", "In all", "Compactions"];
        Table {
            is_stacked: false,
            columns: names.map(Column::figure).to_vec(),
            rows: self.sizes.iter().map(row).collect(),
            total: None,
            has_keys: false,
        }
    }

    fn certainty(&self) -> Markup {
        section(
            "h-sure",
            "How sure is this?",
            html! {},
            html! {
                dl.panel.known {
                    div { dt { "Measured" } dd { (self.measured) } }
                    div { dt { "Assumed" } dd { (self.assumed) } }
                    div { dt { "Not known" } dd { (self.not_known) } }
                }
            },
        )
    }
}
