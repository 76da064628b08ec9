//! Pauses: what requests after a pause have written to the cache again, and what each choice would have cost.

mod rows;

use maud::{Markup, html};

use crate::charts::bars::{Bar, bars};
use crate::charts::{Figure, as_table, axis_money};
use crate::components::{Choice, command, empty, head, section, segments};
use crate::figures::{Money, count, counted};
use crate::routes::{Page, with_query};
use crate::shell::{Content, Shell};
use crate::text::Text;
use crate::window::{ClientChoice, SettingPreview};

pub use rows::{ChoiceRow, ColdPause, PauseLength};

/// The pauses of one client's sessions.
#[derive(Debug, Clone)]
pub struct Pauses {
    /// The clients that record when requests were answered; the chosen one is marked.
    pub clients: Vec<ClientChoice>,
    /// Main conversations and subagents, as far as there are any.
    pub groups: Vec<PauseGroup>,
    /// The price that was used, in words.
    pub price: Text,
    pub measured: Text,
    pub assumed: Text,
}

/// The pauses of main conversations, or of subagents.
#[derive(Debug, Clone)]
pub struct PauseGroup {
    pub is_subagents: bool,
    pub sessions: u64,
    /// How often the cache was cold, and what share of the cost that was, in a sentence.
    pub finding: Text,
    /// The pauses by their length, the shortest first.
    pub lengths: Vec<PauseLength>,
    pub choices: Vec<ChoiceRow>,
    /// Which choice pays, in a sentence.
    pub verdict: Text,
    pub setting: Option<SettingPreview>,
    /// The pauses that cost most.
    pub costly: Vec<ColdPause>,
}

impl Pauses {
    pub fn render(&self, shell: &Shell) -> String {
        let main = html! {
            (self.head(shell))
            @if self.groups.is_empty() {
                (empty("No pause is known yet.", html! {
                    "A session counts once it has five requests. Only the transcripts of Claude Code say when a request "
                    "was answered."
                }))
            } @else {
                @for group in &self.groups { (group.render(&self.price, shell)) }
                (self.certainty())
            }
        };
        shell.document(&Content { page: Some(Page::Pauses), title: "Pauses", keys: &[], main })
    }

    fn head(&self, shell: &Shell) -> Markup {
        let sentence = html! {
            p {
                "The provider keeps the cache of a conversation for 5 minutes or 1 hour after its last use. The first "
                "request after a longer pause writes the whole conversation again. "
                @for group in self.groups.iter().filter(|group| !group.is_subagents) { (group.finding) }
            }
        };
        let choice = |client: &ClientChoice| Choice {
            label: client.name.plain(),
            href: with_query(&shell.page(Page::Pauses), &[("client", client.key.raw())]),
            is_chosen: client.is_chosen,
        };
        let choices: Vec<Choice> = self.clients.iter().map(choice).collect();
        head(html! { "Pauses" }, sentence, html! { @if choices.len() > 1 { (segments("Client", &choices)) } })
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
                }
            },
        )
    }
}

impl PauseGroup {
    fn render(&self, price: &Text, shell: &Shell) -> Markup {
        html! {
            @if !self.is_subagents { (self.result()) }
            (self.choices(price))
            @if self.lengths.iter().any(|length| length.count > 0) { (self.by_length()) }
            @if !self.costly.is_empty() { (self.costly(shell)) }
        }
    }

    /// Returns a name for a heading, or for an anchor.
    fn named(&self, main: &str, subagents: &str) -> String {
        if self.is_subagents { subagents.to_owned() } else { main.to_owned() }
    }

    fn result(&self) -> Markup {
        html! {
            section aria-label="Result" {
                div.notice {
                    div { b { (self.verdict) } }
                    @if self.setting.is_some() {
                        div.actions { a.button.primary href="#h-set" { "Set it…" } }
                    }
                }
            }
        }
    }

    fn choices(&self, price: &Text) -> Markup {
        let bar = |row: &ChoiceRow| Bar {
            value: Some(row.saved.dollars()),
            figure: if row.is_now { "now".to_owned() } else { row.saved.show_bare() },
            wide: row.short.to_owned(),
            narrow: row.shortest.to_owned(),
            title: row.title(),
            is_strong: row.is_best || row.is_now,
        };
        let drawn: Vec<Bar> = self.choices.iter().map(bar).collect();
        let titles: Vec<String> = self.choices.iter().map(ChoiceRow::title).collect();
        let label = format!("What each choice would have saved. {}", titles.join(" "));
        let figure = Figure {
            label: &label,
            legend: &[],
            plot: bars(&drawn, |value, is_top| format!("{}{}", if is_top { "$" } else { "" }, axis_money(value))),
            caption: html! {
                "Saved against the cache as it is now; below the line, it would have cost more. "
                @if self.is_subagents { (self.finding) " " (self.verdict) }
            },
        };
        let aside = html! { (counted(self.sessions, "session", "sessions together")) ", " (price) };
        section(
            &self.named("h-choices", "h-choices-sub"),
            &self.named("What each choice would have saved", "Subagents"),
            aside,
            html! {
                (figure.render())
                (as_table(&self.named("Choices", "Choices for subagents"), &rows::choices(&self.choices)))
                @if let Some(setting) = &self.setting { (set(setting, &self.named("h-set", "h-set-sub"))) }
            },
        )
    }

    fn by_length(&self) -> Markup {
        let most = self.lengths.iter().map(|length| length.cost).max();
        let bar = |length: &PauseLength| Bar {
            value: Some(length.cost.dollars()),
            figure: format!("{}×", count(length.count)),
            wide: length.name.to_owned(),
            narrow: length.short.to_owned(),
            title: length.title(),
            is_strong: Some(length.cost) == most,
        };
        let drawn: Vec<Bar> = self.lengths.iter().map(bar).collect();
        let titles: Vec<String> = self.lengths.iter().map(PauseLength::title).collect();
        let label = format!("What pauses have cost, by their length. {}", titles.join(" "));
        let figure = Figure {
            label: &label,
            legend: &[],
            plot: bars(&drawn, |value, is_top| format!("{}{}", if is_top { "$" } else { "" }, axis_money(value))),
            caption: html! {
                "Above each bar: how many pauses left the cache cold. The cost is that of writing again what could have "
                "been read."
            },
        };
        section(
            &self.named("h-lengths", "h-lengths-sub"),
            &self.named("What pauses have cost", "What pauses of subagents have cost"),
            html! { "as recorded" },
            html! {
                (figure.render())
                (as_table(&self.named("Pauses by length", "Pauses of subagents by length"), &rows::lengths(&self.lengths)))
            },
        )
    }

    fn costly(&self, shell: &Shell) -> Markup {
        section(
            &self.named("h-costly", "h-costly-sub"),
            &self.named("The pauses that cost most", "The pauses of subagents that cost most"),
            html! {},
            html! { div.panel { (rows::costly(&self.costly, shell)) } },
        )
    }
}

fn set(setting: &SettingPreview, id: &str) -> Markup {
    html! {
        div.panel.set id=(id) {
            p {
                "This command shows the change before it is written, and asks. It sets " code { (setting.setting) } "."
            }
            (command(&setting.command))
            p.hint { code { (setting.taken_back_by) } " takes it back." }
        }
    }
}

impl ChoiceRow {
    fn title(&self) -> String {
        let name = self.name.plain();
        match (self.is_now, self.saved) {
            (true, _) => format!("{name}, as it is now: {}.", self.cost.show()),
            (_, Money(0..)) => format!("{name}: {} saved.", self.saved.show()),
            (_, Money(more)) => format!("{name}: {} more.", Money(more.saturating_neg()).show()),
        }
    }
}

impl PauseLength {
    fn title(&self) -> String {
        format!("{}: {}, {}.", self.name, counted(self.count, "pause", "pauses"), self.cost.show())
    }
}
