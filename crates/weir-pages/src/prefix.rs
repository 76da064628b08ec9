//! Prefix: what every request of a client repeats, what that costs, and what to do about it.

use maud::{Markup, html};

use crate::charts::bars::{Bar, bars};
use crate::charts::{Figure, as_table, axis_number};
use crate::components::{Cell, Choice, Column, Row, Table, command, empty, head, section, segments};
use crate::figures::{Money, count, counted, percent};
use crate::routes::{Page, with_query};
use crate::shell::{Content, Shell};
use crate::text::Text;
use crate::window::ClientChoice;

/// How many parts have a bar of their own.
const MAX_BARS: usize = 8;
/// The longest name below a bar.
const MAX_BAR_CHARS: usize = 12;

/// What every request of one client repeats.
#[derive(Debug, Clone)]
pub struct Prefix {
    /// The clients that have transcripts or parts; the chosen one is marked.
    pub clients: Vec<ClientChoice>,
    /// The tokens of the first request without the user's message, if a transcript says so.
    pub first: Option<u64>,
    /// From how many sessions that is the median.
    pub sessions: u64,
    /// How often it was repeated, in a sentence.
    pub pace: Text,
    /// Whether the client defers the descriptions of tools, in a sentence.
    pub deferral: Text,
    /// The parts, the longest first; what is not counted is the last.
    pub parts: Vec<PrefixPart>,
    pub unused: Vec<UnusedTools>,
    pub advice: Vec<ShorterPrefix>,
}

/// A part of the first request.
#[derive(Debug, Clone)]
pub struct PrefixPart {
    pub kind: Text,
    pub name: Text,
    /// Its tokens in every request; none if they were not counted.
    pub tokens: Option<u64>,
    /// What it costs in a month.
    pub monthly: Option<Money>,
    pub note: Text,
}

/// The tools of a server that were not called.
#[derive(Debug, Clone)]
pub struct UnusedTools {
    pub server: Text,
    pub unused: u64,
    pub all: u64,
    /// The tokens of their descriptions.
    pub tokens: u64,
    /// Their names, separated by commas.
    pub names: Text,
}

/// Something that shortens the first request.
#[derive(Debug, Clone)]
pub struct ShorterPrefix {
    /// The command, or what to do where there is none, as an imperative.
    pub what: Text,
    pub why: Text,
    pub tokens: u64,
    pub monthly: Option<Money>,
}

impl Prefix {
    pub fn render(&self, shell: &Shell) -> String {
        let main = html! {
            (self.head(shell))
            @if self.parts.is_empty() {
                (empty("Nothing is known of first requests yet.", html! {
                    "Transcripts of clients are read where they write them, and " code { "weir prefix" } " counts the tools "
                    "of MCP servers."
                }))
            } @else {
                (self.chart())
                (self.advice())
                @if !self.unused.is_empty() { (self.unused()) }
            }
        };
        shell.document(&Content { page: Some(Page::Prefix), title: "Prefix", keys: &[], main })
    }

    fn head(&self, shell: &Shell) -> Markup {
        let sentence = html! {
            p {
                "What every request repeats before your message. "
                @if let Some(first) = self.first {
                    "The first request has " (count(first)) " tokens, the median of "
                    (counted(self.sessions, "session", "sessions")) ". "
                }
                (self.pace) " " (self.deferral)
            }
        };
        let choice = |client: &ClientChoice| Choice {
            label: client.name.plain(),
            href: with_query(&shell.page(Page::Prefix), &[("client", client.key.raw())]),
            is_chosen: client.is_chosen,
        };
        let choices: Vec<Choice> = self.clients.iter().map(choice).collect();
        head(html! { "Prefix" }, sentence, html! { @if choices.len() > 1 { (segments("Client", &choices)) } })
    }

    fn all(&self) -> u64 {
        self.parts.iter().filter_map(|part| part.tokens).fold(0, u64::saturating_add)
    }

    fn chart(&self) -> Markup {
        let drawn: Vec<Bar> = self.bars();
        let finding: Vec<String> = self.parts.iter().map(PrefixPart::title).collect();
        let label = format!("Tokens of every request by part. {}", finding.join(" "));
        let figure = Figure {
            label: &label,
            legend: &[],
            plot: bars(&drawn, |value, _| axis_number(value)),
            caption: html! {
                "Tokens in every request, counted with o200k. "
                "The rest is what was measured and not counted: system text, the client's own tools, and what Weir "
                "cannot see."
            },
        };
        section(
            "h-parts",
            "What every request repeats",
            html! { code { "weir prefix" } " counts the tools of new servers" },
            html! { (figure.render()) (as_table("Tokens by part", &self.table())) },
        )
    }

    fn bars(&self) -> Vec<Bar> {
        let known: Vec<(&PrefixPart, u64)> =
            self.parts.iter().filter_map(|part| Some((part, part.tokens?))).filter(|(_, tokens)| *tokens > 0).collect();
        let longest = known.iter().map(|(_, tokens)| *tokens).max();
        let bar = |name: &str, tokens: u64, title: String| Bar {
            value: Some(tokens as f64),
            figure: count(tokens),
            wide: shortened(name, MAX_BAR_CHARS),
            narrow: shortened(name, MAX_BAR_CHARS / 2),
            title,
            is_strong: Some(tokens) == longest,
        };
        let mut drawn: Vec<Bar> =
            known.iter().take(MAX_BARS).map(|(part, tokens)| bar(&part.short(), *tokens, part.title())).collect();
        let others: u64 = known.iter().skip(MAX_BARS).map(|(_, tokens)| *tokens).fold(0, u64::saturating_add);
        if others > 0 {
            drawn.push(bar("others", others, format!("Others: {} tokens.", count(others))));
        }
        drawn
    }

    fn table(&self) -> Table {
        let all = self.all() as f64;
        let row = |part: &PrefixPart| {
            let share = part.tokens.and_then(|tokens| percent(tokens as f64, all));
            Row {
                name: html! { (part.kind) " " (part.name) },
                cells: vec![
                    Cell::plain(part.tokens.map_or_else(|| "not counted".to_owned(), count)),
                    Cell::muted(share.unwrap_or_default()),
                    Cell::plain(part.monthly.map(Money::show).unwrap_or_default()),
                    Cell::muted(&part.note),
                ],
                is_chosen: false,
            }
        };
        Table {
            is_stacked: false,
            columns: vec![
                Column::name("Part"),
                Column::figure("Tokens"),
                Column::figure("Share"),
                Column::figure("A month"),
                Column::name("").only_wide(),
            ],
            rows: self.parts.iter().map(row).collect(),
            total: None,
            has_keys: false,
        }
    }

    fn advice(&self) -> Markup {
        let content = html! {
            @if self.advice.is_empty() {
                (empty("Nothing here is worth a command.", html! {
                    "A server that is called, a short memory file and deferred tools stay as they are."
                }))
            }
            @for one in &self.advice {
                @let is_command = one.what.raw().starts_with("weir ");
                p {
                    "Up to " (count(one.tokens)) " tokens less in each request"
                    @if let Some(monthly) = one.monthly { ", " (monthly.show()) " a month" }
                    @if !is_command { ", if you " (one.what) }
                    ": " (one.why) "."
                }
                @if is_command { (command(&one.what)) }
            }
        };
        section("h-do", "What to do", html! {}, content)
    }

    fn unused(&self) -> Markup {
        let content = html! {
            dl.panel.known {
                @for tools in &self.unused {
                    div {
                        dt { (tools.server) }
                        dd {
                            (count(tools.unused)) " of " (count(tools.all)) ", described in " (count(tools.tokens))
                            " tokens: " (tools.names)
                        }
                    }
                }
            }
        };
        section("h-unused", "Tools never called in your transcripts", html! {}, content)
    }
}

impl PrefixPart {
    fn title(&self) -> String {
        let tokens = self.tokens.map_or_else(|| "not counted".to_owned(), |tokens| format!("{} tokens", count(tokens)));
        format!("{} {}: {tokens}.", self.kind.plain(), self.name.plain())
    }

    /// Returns its name, or what it is if it has none.
    fn short(&self) -> String {
        let name = self.name.plain();
        if name.is_empty() { self.kind.plain() } else { name.rsplit('/').next().unwrap_or(&name).to_owned() }
    }
}

fn shortened(name: &str, most: usize) -> String {
    match name.chars().count() {
        length if length > most => name.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
        _ => name.to_owned(),
    }
}
