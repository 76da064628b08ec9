//! Today: what happened, what was held back, and what it comes to in tokens and money.

mod cheaper;
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

pub use cheaper::CheaperWindow;
pub use first::FirstSteps;
pub use tables::{BackgroundRun, HeldOutput, ToolRow};

/// The account of a day, or of the last few.
#[derive(Debug, Clone)]
pub struct Today {
    /// How many days the account covers: 1, 7, 14 or 30.
    pub days: u64,
    /// What the sessions cost that have a known cost, and how many they are.
    pub spent: (Money, u64),
    /// What it comes to; none if nothing was measured in the days of the chart, as after an import.
    pub account: Option<Account>,
    /// Days of the chart, the oldest first and today last.
    pub per_day: Vec<Day>,
    /// The exception that is to be seen in the chart.
    pub exception: Option<Text>,
    /// What else is to be seen in it, in whole sentences.
    pub remarks: Vec<Text>,
    pub window: Option<CheaperWindow>,
    /// Outputs that were held back, the biggest first.
    pub held: Vec<HeldOutput>,
    /// What happened, the newest first.
    pub events: Vec<EventLine>,
    pub session_count: u64,
    /// The sessions of these days, the one that was used last first.
    pub sessions: Vec<SessionRow>,
    /// What was held back of each tool in the days of the chart, the most tokens first.
    pub tools: Vec<ToolRow>,
    pub background: Vec<BackgroundRun>,
}

/// What was held back, less what that cost.
#[derive(Debug, Clone, Copy, Default)]
pub struct Account {
    /// Tokens of the outputs that were held back, in full.
    pub output_tokens: u64,
    pub shown_tokens: u64,
    /// Tokens that the client would have shown of them, less those that were shown; negative if more were shown.
    pub held_tokens: i64,
    pub held_outputs: u64,
    /// Tokens of stored texts that the model asked for again.
    pub again_tokens: u64,
    pub again_answers: u64,
    /// Tokens of Weir's own text: guides and the other answers of its tools. Tool descriptions are not counted.
    pub own_tokens: u64,
    /// How often something was said without being asked, such as a guide.
    pub told: u64,
    pub answers: u64,
    pub net_tokens: i64,
    /// What the difference is worth: an estimate.
    pub net: Option<Money>,
}

#[derive(Debug, Clone, Copy)]
pub struct Day {
    pub at: Moment,
    /// What it comes to; none if there were no sessions.
    pub figures: Option<DayFigures>,
}

#[derive(Debug, Clone, Copy)]
pub struct DayFigures {
    pub sessions: u64,
    pub account: Account,
    pub spent: Option<Money>,
}

impl Today {
    pub fn render(&self, shell: &Shell) -> String {
        let main = html! {
            (self.head(shell))
            @match &self.account {
                Some(account) => (self.account(account)),
                None => (unmeasured()),
            }
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
                @match self.spent {
                    (_, 0) if self.session_count == 0 => ".",
                    (_, 0) => ". What was spent is not known.",
                    (spent, known) if known == self.session_count => { ", " (spent.show()) " spent." }
                    (spent, known) => { ", " (spent.show()) " spent in " (count(known)) " whose cost is known." }
                }
            }
        };
        head(html! { "Today" }, sentence, segments("Time", &[1, 7, 14, 30].map(choice)))
    }

    fn spent(&self) -> Option<Money> {
        Some(self.spent.0).filter(|_| self.session_count > 0 && self.spent.1 == self.session_count)
    }

    fn account(&self, account: &Account) -> Markup {
        let net = account.net_tokens;
        let is_loss = net < 0 || account.net.is_some_and(|net| net.0 < 0);
        let is_gain = net > 0 && !is_loss;
        let share = account.net.zip(self.spent()).and_then(|(net, spent)| percent(net.dollars(), spent.dollars()));
        html! {
            section aria-labelledby="h-account" {
                h2.sr #h-account { "What it comes to" }
                dl.account {
                    div { dt { "Held back" } dd.big { (difference(account.held_tokens)) }
                        dd {
                            "tokens of " (counted(account.held_outputs, "output", "outputs"))
                            @if account.held_outputs > 0 { "; " (became(account)) }
                        }
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
        let title = if self.account.is_some() { "Net per day" } else { "Spent per day" };
        let aside = match (sum(measured.iter().map(|day| day.account.net)), sum(measured.iter().map(|day| day.spent))) {
            (_, Some(spent)) if self.account.is_none() && !measured.is_empty() => html! { (days) ": " (spent.show()) },
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
            html! { (self.figure()) (as_table(title, &self.day_table())) }
        };
        html! {
            (section("h-days", title, aside, content))
            @if let Some(window) = &self.window { (window.render(shell)) }
        }
    }

    fn figure(&self) -> Markup {
        // A day whose money is not known would be missing, so all bars are tokens then.
        let has_money = self.per_day.iter().filter_map(|day| day.figures).all(|day| day.account.net.is_some());
        let unit = match self.account {
            None => BarUnit::Spent,
            Some(_) if has_money => BarUnit::Money,
            Some(_) => BarUnit::Tokens,
        };
        let mut drawn: Vec<Bar> = self.per_day.iter().map(|day| bar(day, unit)).collect();
        if let Some(today) = drawn.last_mut() {
            (today.wide, today.is_strong) = ("Today".to_owned(), true);
        }
        let label = |value: f64, is_top: bool| match (unit, is_top) {
            (BarUnit::Tokens, _) => axis_number(value),
            (_, true) => format!("${}", axis_money(value)),
            (_, false) => axis_money(value),
        };
        let caption = html! {
            @if let Some(exception) = &self.exception { b { (exception) } " " }
            @for remark in &self.remarks { (remark) " " }
        };
        Figure { label: &self.finding(unit), legend: &[], plot: bars(&drawn, label), caption }.render()
    }

    fn finding(&self, unit: BarUnit) -> String {
        let values = self.per_day.iter().filter_map(|day| day.figures).map(|day| unit.value(&day));
        let (mut above, mut below) = (0, 0);
        values.flatten().for_each(|value| if value < 0.0 { below += 1 } else { above += 1 });
        let gaps = self.per_day.iter().filter(|day| day.figures.is_none()).count() as u64;
        format!(
            "{} per day over {}. {} not below zero, {} below, {} without sessions. The figures are in the table \
             that follows.",
            match unit {
                BarUnit::Tokens => "Net tokens",
                BarUnit::Money => "Net money",
                BarUnit::Spent => "Money spent",
            },
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

fn became(account: &Account) -> String {
    format!("in full {}, shown {}", count(account.output_tokens), count(account.shown_tokens))
}

/// Returns what stands in place of an account if there were sessions, but nothing was measured in them.
fn unmeasured() -> Markup {
    html! {
        section aria-label="What it comes to" {
            div.notice { div {
                b { "Nothing was held back in these sessions, and nothing was said." } " "
                span.muted {
                    "Weir may not have been there, as in imported sessions: " code { "weir replay" }
                    " works out what it would have saved."
                }
            } }
        }
    }
}

/// What the bars of the chart are.
#[derive(Clone, Copy)]
enum BarUnit {
    Tokens,
    Money,
    /// What the sessions cost.
    Spent,
}

impl BarUnit {
    fn value(self, day: &DayFigures) -> Option<f64> {
        match self {
            Self::Tokens => Some(day.account.net_tokens as f64),
            Self::Money => day.account.net.map(Money::dollars),
            Self::Spent => day.spent.map(Money::dollars),
        }
    }

    fn figure(self, day: &DayFigures) -> Option<String> {
        match self {
            Self::Tokens => Some(difference(day.account.net_tokens)),
            Self::Money => day.account.net.map(Money::show_bare),
            Self::Spent => day.spent.map(|spent| spent.show().replace('$', "")),
        }
    }
}

fn bar(day: &Day, unit: BarUnit) -> Bar {
    let title = match &day.figures {
        None => format!("{}: no sessions", day.at.weekday_and_month()),
        Some(figures) => format!(
            "{}: {} of {}, {} tokens net, {}",
            day.at.weekday_and_month(),
            figures.account.net.map_or_else(|| "money not known".to_owned(), Money::show_signed),
            figures.spent.map_or_else(|| "a cost not known".to_owned(), Money::show),
            difference(figures.account.net_tokens),
            sessions_of(figures.sessions)
        ),
    };
    Bar {
        value: day.figures.as_ref().and_then(|figures| unit.value(figures)),
        figure: day.figures.as_ref().and_then(|figures| unit.figure(figures)).unwrap_or_default(),
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
