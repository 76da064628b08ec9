//! Today: what happened, what was held back, and what it comes to in tokens and money.

mod first;
mod tables;

use maud::{Markup, html};

use crate::charts::bars::{Bar, bars};
use crate::charts::{Figure, as_table, axis_money, axis_number};
use crate::components::{Choice, Key, MOVE, OPEN, empty, head, section, segments};
use crate::figures::{Money, count, counted, difference, percent};
use crate::moment::Moment;
use crate::routes::{Page, with_query};
use crate::session::{EventLine, event_line, new_day};
use crate::sessions::SessionRow;
use crate::shell::{Content, Shell, sessions_of};
use crate::text::Text;

pub use first::FirstSteps;
pub use tables::{BackgroundRun, HeldOutput, ToolRow};

/// The account of a day, or of the last few.
#[derive(Debug, Clone)]
pub struct Today {
    /// How many days the account covers: 1, 7, 14 or 30.
    pub days: u64,
    /// What the sessions cost.
    pub spent: Option<Money>,
    /// What it comes to.
    pub account: Account,
    /// Days of the chart, the oldest first and today last.
    pub per_day: Vec<Day>,
    /// What is to be seen in the chart, in whole sentences; the exception first.
    pub remarks: Vec<Text>,
    /// A cheaper window, if one was found.
    pub window: Option<CheaperWindow>,
    /// Outputs that were held back, the biggest first.
    pub held: Vec<HeldOutput>,
    /// What happened, the newest first.
    pub events: Vec<EventLine>,
    /// How many sessions there were.
    pub session_count: u64,
    /// The sessions of these days, the one that was used last first.
    pub sessions: Vec<SessionRow>,
    /// What was held back of each tool in the days of the chart, the most tokens first.
    pub tools: Vec<ToolRow>,
    /// What runs in the background.
    pub background: Vec<BackgroundRun>,
}

/// What was held back, less what that cost.
#[derive(Debug, Clone, Copy, Default)]
pub struct Account {
    /// Tokens that were held back.
    pub held_tokens: u64,
    /// The outputs they were in.
    pub held_outputs: u64,
    /// Tokens of stored texts that the model asked for again.
    pub again_tokens: u64,
    /// The answers they were in.
    pub again_answers: u64,
    /// Tokens of Weir's own text: guides and the other answers of its tools. Tool descriptions are not counted.
    pub own_tokens: u64,
    /// How often something was said without being asked, such as a guide.
    pub told: u64,
    /// How many other answers there were.
    pub answers: u64,
    /// What the difference is worth: an estimate.
    pub net: Option<Money>,
}

impl Account {
    /// Returns what is left, in tokens.
    pub fn net_tokens(&self) -> i64 {
        let signed = |tokens: u64| i64::try_from(tokens).unwrap_or(i64::MAX);
        signed(self.held_tokens).saturating_sub(signed(self.again_tokens)).saturating_sub(signed(self.own_tokens))
    }
}

/// A day of the chart.
#[derive(Debug, Clone, Copy)]
pub struct Day {
    /// A time on this day.
    pub at: Moment,
    /// What it comes to; none if there were no sessions.
    pub figures: Option<DayFigures>,
}

/// What one day comes to.
#[derive(Debug, Clone, Copy)]
pub struct DayFigures {
    /// How many sessions there were.
    pub sessions: u64,
    /// The account of the day.
    pub account: Account,
    /// What the sessions cost.
    pub spent: Option<Money>,
}

/// A window size that would have cost less.
#[derive(Debug, Clone, Copy)]
pub struct CheaperWindow {
    /// The size, in tokens.
    pub size: u64,
    /// The size as it is now.
    pub now: u64,
    /// How much less it would have cost.
    pub saved: Money,
    /// Over how many sessions.
    pub sessions: u64,
}

impl Today {
    /// Returns the page.
    pub fn render(&self, shell: &Shell) -> String {
        let main = html! {
            (self.head(shell))
            (self.account())
            (self.chart(shell))
            div.columns.wide-left {
                (self.held_section(shell))
                (self.events_section(shell))
            }
            (self.sessions_section(shell))
            (self.tools_section())
            (self.background_section(shell))
        };
        let keys: &[Key] = &[MOVE, OPEN];
        shell.document(&Content { page: Some(Page::Today), title: "Today", keys, main })
    }

    fn head(&self, shell: &Shell) -> Markup {
        let choice = |days: u64| Choice {
            label: if days == 1 { "Today".to_owned() } else { format!("{days} days") },
            href: with_query(
                &shell.page(Page::Today),
                &[("days", &if days == 1 { String::new() } else { days.to_string() })],
            ),
            is_chosen: days == self.days,
        };
        // The days of the account may begin at another time than those of the reader.
        let today = self.per_day.last().map_or(shell.now, |day| day.at);
        let zone = if today.offset_seconds == shell.now.offset_seconds { "" } else { " in UTC" };
        let span = match self.days {
            1 => format!("{}{zone}", today.long_day()),
            days => format!("{days} days to {}{zone}", today.long_day()),
        };
        let sentence = html! {
            p {
                (span) ", " (shell.project_name()) ". " (capital(&sessions_of(self.session_count)))
                @if let Some(spent) = self.spent {
                    ", " (spent.show()) " spent."
                } @else if self.session_count == 0 {
                    "."
                } @else {
                    ". What was spent is not known."
                }
            }
        };
        head(html! { "Today" }, sentence, segments("Time", &[1, 7, 14, 30].map(choice)))
    }

    fn account(&self) -> Markup {
        let account = &self.account;
        let net = account.net_tokens();
        let is_loss = net < 0 || account.net.is_some_and(|net| net.0 < 0);
        let is_gain = net > 0 && !is_loss;
        let share = account.net.zip(self.spent).and_then(|(net, spent)| percent(net.dollars(), spent.dollars()));
        html! {
            section aria-labelledby="h-account" {
                h2.sr #h-account { "What it comes to" }
                dl.account {
                    div { dt { "Held back" } dd.big { (count(account.held_tokens)) }
                        dd { "tokens of " (counted(account.held_outputs, "output", "outputs")) }
                    }
                    div data-sign="−" { dt { "Asked for again" } dd.big { (count(account.again_tokens)) }
                        dd { (again(account)) } }
                    div data-sign="−" { dt { "Weir’s own text" } dd.big { (count(account.own_tokens)) }
                        dd { (own(account)) } }
                    div.net.gain[is_gain].loss[is_loss] data-sign="=" { dt { "Net" }
                        dd.big {
                            span { (difference(net)) }
                            @if let Some(money) = account.net { " " span { (money.show_about_signed()) } }
                        }
                        dd {
                            "tokens"
                            @if account.net.is_none() { "; in money, not known" }
                            @if let Some(share) = share { ", and " (share) " of the cost" }
                        }
                    }
                }
            }
        }
    }

    fn chart(&self, shell: &Shell) -> Markup {
        let measured: Vec<&DayFigures> = self.per_day.iter().filter_map(|day| day.figures.as_ref()).collect();
        let days = counted(self.per_day.len() as u64, "day", "days");
        let aside = match (sum(measured.iter().map(|day| day.account.net)), sum(measured.iter().map(|day| day.spent))) {
            (Some(net), Some(spent)) if !measured.is_empty() => html! {
                (days) ": " (net.show_signed()) " of " (spent.show())
                @if let Some(share) = percent(net.dollars(), spent.dollars()) { ", " (share) }
            },
            _ => html! { (days) },
        };
        let content = if measured.is_empty() {
            html! {
                (empty("Nothing was measured on these days.", html! {
                    "A day with a session gets a bar: above the line if it paid, below if it did not."
                }))
                @for remark in &self.remarks { p.hint { (remark) } }
            }
        } else {
            html! { (self.figure()) (as_table("Net per day", &self.day_table())) }
        };
        html! {
            (section("h-days", "Net per day", aside, content))
            @if let Some(window) = &self.window { (window.render(shell)) }
        }
    }

    fn figure(&self) -> Markup {
        // A day whose money is not known would be missing, so all bars are tokens then.
        let has_money = self.per_day.iter().filter_map(|day| day.figures).all(|day| day.account.net.is_some());
        let mut drawn: Vec<Bar> = self.per_day.iter().map(|day| bar(day, has_money)).collect();
        if let Some(today) = drawn.last_mut() {
            (today.wide, today.is_strong) = ("Today".to_owned(), true);
        }
        let label = |value: f64, is_top: bool| match (has_money, is_top) {
            (true, true) => format!("${}", axis_money(value)),
            (true, false) => axis_money(value),
            (false, _) => axis_number(value),
        };
        let caption = html! {
            @for (at, remark) in self.remarks.iter().enumerate() {
                @if at == 0 { b { (remark) } } @else { (remark) } " "
            }
        };
        Figure { label: &self.finding(has_money), legend: &[], plot: bars(&drawn, label), caption }.render()
    }

    fn finding(&self, has_money: bool) -> String {
        let nets = self.per_day.iter().filter_map(|day| day.figures).map(|day| day_value(&day, has_money));
        let (mut above, mut below) = (0, 0);
        nets.flatten().for_each(|net| if net < 0.0 { below += 1 } else { above += 1 });
        let gaps = self.per_day.iter().filter(|day| day.figures.is_none()).count() as u64;
        format!(
            "Net {} per day over {}. {} not below zero, {} below, {} without sessions. The figures are in the table \
             that follows.",
            if has_money { "money" } else { "tokens" },
            counted(self.per_day.len() as u64, "day", "days"),
            counted(above, "day", "days"),
            count(below),
            count(gaps)
        )
    }

    fn events_section(&self, shell: &Shell) -> Markup {
        let aside = html! { @if !self.events.is_empty() { a href=(shell.page(Page::Sessions)) { "All sessions" } } };
        let mut before = shell.now;
        let content = html! {
            @if self.events.is_empty() {
                (empty("Nothing happened yet.", html! {
                    "Prompts, decisions, errors and commits of these sessions show up here."
                }))
            } @else {
                ol.events.panel {
                    @for event in &self.events {
                        (new_day(event.at, &mut before, shell))
                        (event_line(event, shell, false))
                    }
                }
            }
        };
        section("h-happened", "What happened", aside, content)
    }
}

impl CheaperWindow {
    fn render(&self, shell: &Shell) -> Markup {
        html! {
            div.notice {
                div {
                    b { "A smaller window would have cost less." } " "
                    span.muted {
                        "Compacting at " (count(self.size)) " tokens instead of " (count(self.now)) " would have cost "
                        (self.saved.show()) " less over " (counted(self.sessions, "long session", "long sessions")) "."
                    }
                }
                div.actions { a.button href=(shell.page(Page::Window)) { "See what each size costs" } }
            }
        }
    }
}

fn again(account: &Account) -> String {
    match (account.again_answers, account.held_outputs) {
        (0, 0) => "nothing was held back".to_owned(),
        (0, _) => "none of it".to_owned(),
        (again, _) => format!("stored texts, in {}", counted(again, "answer", "answers")),
    }
}

fn own(account: &Account) -> String {
    format!(
        "{}, {}; tool descriptions are not counted",
        counted(account.told, "guide", "guides"),
        counted(account.answers, "other answer", "other answers")
    )
}

fn day_value(day: &DayFigures, has_money: bool) -> Option<f64> {
    if has_money { day.account.net.map(Money::dollars) } else { Some(day.account.net_tokens() as f64) }
}

fn bar(day: &Day, has_money: bool) -> Bar {
    let figure = |figures: &DayFigures| match figures.account.net.filter(|_| has_money) {
        Some(net) => net.show_bare(),
        None => difference(figures.account.net_tokens()),
    };
    let title = match &day.figures {
        None => format!("{}: no sessions", day.at.weekday_and_month()),
        Some(figures) => format!(
            "{}: {} of {}, {} tokens net, {}",
            day.at.weekday_and_month(),
            figures.account.net.map_or_else(|| "money not known".to_owned(), Money::show_signed),
            figures.spent.map_or_else(|| "a cost not known".to_owned(), Money::show),
            difference(figures.account.net_tokens()),
            sessions_of(figures.sessions)
        ),
    };
    Bar {
        value: day.figures.as_ref().and_then(|figures| day_value(figures, has_money)),
        figure: day.figures.as_ref().map(figure).unwrap_or_default(),
        wide: day.at.weekday(),
        narrow: day.at.day_of_month(),
        title,
        is_strong: false,
    }
}

/// Adds amounts, or none if one of them is not known.
fn sum(mut amounts: impl Iterator<Item = Option<Money>>) -> Option<Money> {
    amounts.try_fold(Money(0), |sum, amount| Some(Money(sum.0.saturating_add(amount?.0))))
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
