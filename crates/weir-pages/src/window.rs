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
    /// What the others are compared with: the size that is set, or the sessions as they were.
    pub now: Option<SizeCost>,
    /// Sizes, the smallest first.
    pub sizes: Vec<SizeCost>,
    /// The recommended size; none if no other costs clearly less.
    pub best: Option<u64>,
    /// Where the sessions were compacted, in a sentence.
    pub recorded: Text,
    /// For how many sessions the recommended size is cheaper and dearer, or why none is recommended; in a sentence.
    pub verdict: Text,
    /// The price that was used, in words.
    pub price: Text,
    pub by_session: Vec<SessionCost>,
    /// The sizes of that table.
    pub compared: Vec<u64>,
    pub setting: Option<SettingPreview>,
    pub measured: Text,
    pub assumed: Text,
    /// What nobody can know.
    pub not_known: Text,
}

/// A client whose transcripts can be played.
#[derive(Debug, Clone)]
pub struct ClientChoice {
    /// The word in addresses.
    pub key: Text,
    pub name: Text,
    pub is_chosen: bool,
}

/// What one size would have cost.
#[derive(Debug, Clone, Copy)]
pub struct SizeCost {
    /// The size, in tokens; none for the sessions as they were.
    pub size: Option<u64>,
    pub reads: Money,
    pub writes: Money,
    /// What the model wrote.
    pub output: Money,
    /// Summaries, and files that are read again.
    pub compacting: Money,
    /// How often the conversation would have been compacted.
    pub compactions: u64,
}

impl SizeCost {
    fn name(&self) -> String {
        self.size.map_or_else(|| "as it was".to_owned(), count)
    }

    pub fn total(&self) -> Money {
        Money(
            [self.reads, self.writes, self.output, self.compacting]
                .iter()
                .fold(0, |sum, part| sum.saturating_add(part.0)),
        )
    }
}

impl Window {
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
        const SET: [Key; 1] = [Key { keys: &["s"], does: "set it" }];
        let keys: &[Key] = if self.setting.is_some() { &SET } else { &[] };
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

    /// Returns the sizes, the one that the others are compared with among them.
    fn all(&self) -> Vec<&SizeCost> {
        let recorded = self.now.as_ref().filter(|now| now.size.is_none());
        self.sizes.iter().chain(recorded).collect()
    }

    fn is_now(&self, cost: &SizeCost) -> bool {
        self.now.as_ref().is_some_and(|now| now.size == cost.size)
    }

    fn result(&self) -> Markup {
        let best = self.sizes.iter().find(|cost| cost.size.is_some() && cost.size == self.best);
        let pair = best.zip(self.now.as_ref());
        html! {
            section aria-label="Result" {
                div.notice {
                    @match pair {
                        Some((best, now)) => {
                            @let saved = Money(now.total().0.saturating_sub(best.total().0));
                            div {
                                b {
                                    (best.name()) " tokens would have cost " (saved.show()) " less than "
                                    (now.size.map_or_else(|| "was paid".to_owned(), count))
                                }
                                ", that is " (best.total().show()) " instead of " (now.total().show())
                                " (" (change(-100.0 * saved.dollars() / now.total().dollars().max(1e-9))) "). "
                                span.muted {
                                    (self.verdict) " "
                                    "These sessions would have been compacted "
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
                            b { (self.verdict) }
                            " "
                            span.muted { (self.recorded) }
                        },
                    }
                }
            }
        }
    }

    fn chart(&self) -> Markup {
        let all = self.all();
        let least = all.iter().map(|cost| cost.total().0).min();
        let drawn: Vec<Stack> = all.iter().map(|cost| self.stack(cost, least)).collect();
        let label = |value: f64, is_top: bool| format!("{}{}", if is_top { "$" } else { "" }, axis_number(value));
        let names = ["cache reads", "cache writes", "output", "what compacting costs: summaries, files read again"];
        let legend: Vec<(Swatch, &str)> =
            CLASSES.iter().zip(names).map(|(class, name)| (Swatch::Fill(class), name)).collect();
        let caption = html! {
            "Below each size: how many times the conversation would have been compacted. "
            (self.recorded) " "
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

    fn finding(&self) -> String {
        let costs = self.all().into_iter().map(|cost| match cost.size {
            None => format!("As it was: {}.", cost.total().show()),
            Some(size) => {
                let now = if self.is_now(cost) { ", as set now" } else { "" };
                format!("{} tokens{now}: {}.", count(size), cost.total().show())
            }
        });
        format!(
            "Cost of {} by window size. {}",
            counted(self.sessions, "session", "sessions"),
            costs.collect::<Vec<_>>().join(" ")
        )
    }

    fn stack(&self, cost: &SizeCost, least: Option<i64>) -> Stack {
        let (is_chosen, is_now) = (cost.size.is_some() && cost.size == self.best, self.is_now(cost));
        let total = cost.total();
        Stack {
            parts: [cost.reads, cost.writes, cost.output, cost.compacting].map(Money::dollars),
            figure: (total.show(), format!("${:.0}", total.dollars())),
            name: (cost.name(), cost.size.map_or_else(|| "was".to_owned(), |size| count(size / 1_000))),
            note: (format!("{}×", count(cost.compactions)), count(cost.compactions)),
            title: format!(
                "{}: {}. Cache reads {}, cache writes {}, output {}, compacting {} ({})",
                cost.size.map_or_else(|| "As it was".to_owned(), |size| format!("{} tokens", count(size))),
                total.show(),
                cost.reads.show(),
                cost.writes.show(),
                cost.output.show(),
                cost.compacting.show(),
                counted(cost.compactions, "compaction", "compactions")
            ),
            is_chosen,
            is_now,
            is_labelled: is_chosen || is_now || Some(total.0) == least,
        }
    }

    fn table(&self) -> Table {
        let row = |cost: &SizeCost| Row {
            name: html! { (cost.name()) },
            cells: [cost.reads, cost.writes, cost.output, cost.compacting, cost.total()]
                .map(|money| Cell::plain(money.show()))
                .into_iter()
                .chain([Cell::plain(count(cost.compactions))])
                .collect(),
            is_chosen: cost.size.is_some() && cost.size == self.best,
        };
        let names = ["Window", "Cache reads", "Cache writes", "Output", "Compacting", "In all", "Compactions"];
        Table {
            is_stacked: false,
            columns: names.map(Column::figure).to_vec(),
            rows: self.all().into_iter().map(row).collect(),
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
