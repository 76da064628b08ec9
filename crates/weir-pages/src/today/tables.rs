//! The tables of Today: outputs held back, sessions, tools, background runs.

use maud::{Markup, html};
use weir_core::wording::size;

use super::{Account, Day, DayFigures, Today, sum};
use crate::charts::spark::meter;
use crate::components::{Cell, Column, Row, Table, empty, section};
use crate::figures::{Money, count, counted, difference, duration, known, percent};
use crate::moment::Moment;
use crate::routes::Page;
use crate::sessions;
use crate::shell::Shell;
use crate::text::Text;

/// An output that was held back.
#[derive(Debug, Clone)]
pub struct HeldOutput {
    pub reference: Text,
    /// The command, the path or the title of the page.
    pub title: Text,
    /// Whether the title is code: a command or a path.
    pub is_code: bool,
    /// What made the output, in a word or two: `command`, `file`, `page`.
    pub tool: Text,
    pub at: Moment,
    /// Tokens of the whole output; none if its text cannot be read.
    pub tokens: Option<u64>,
    /// Whether these were estimated from its beginning, because it is long.
    pub is_estimated: bool,
    /// Tokens that the model got instead, if the transcript says so.
    pub shown: Option<u64>,
    /// Tokens of it that the model asked for again, if the transcript says so.
    pub again: Option<u64>,
    pub bytes: u64,
}

/// What was held back of the outputs of one tool.
#[derive(Debug, Clone)]
pub struct ToolRow {
    pub name: Text,
    pub held: u64,
    /// Their tokens in full.
    pub output: u64,
    /// Tokens that the client would have shown of them.
    pub given: u64,
    /// Tokens that were shown instead.
    pub shown: u64,
}

impl ToolRow {
    /// Returns the tokens that were spared; negative if more were shown.
    pub fn held_back(&self) -> i64 {
        self.given.cast_signed().saturating_sub(self.shown.cast_signed())
    }
}

#[derive(Debug, Clone)]
pub struct BackgroundRun {
    /// The entry with the output so far.
    pub reference: Text,
    pub command: Text,
    pub started: Moment,
}

impl Today {
    pub(super) fn day_table(&self) -> Table {
        Table {
            is_stacked: false,
            columns: vec![
                Column::name("Day"),
                Column::figure("Sessions"),
                Column::figure("Held back"),
                Column::figure("Asked again"),
                Column::figure("Weir’s own"),
                Column::figure("Net tokens"),
                Column::figure("Spent"),
                Column::figure("Net, about"),
            ],
            rows: self.per_day.iter().rev().map(day_row).collect(),
            total: Some(self.day_total()),
            has_keys: false,
        }
    }

    /// Returns the sums of all days. A session may be on several of them, so sessions are not added up.
    fn day_total(&self) -> Row {
        let days: Vec<DayFigures> = self.per_day.iter().filter_map(|day| day.figures).collect();
        let add =
            |figure: fn(&Account) -> u64| days.iter().map(|day| figure(&day.account)).fold(0, u64::saturating_add);
        let add_signed =
            |figure: fn(&Account) -> i64| days.iter().map(|day| figure(&day.account)).fold(0, i64::saturating_add);
        let all = Account {
            held_tokens: add_signed(|account| account.held_tokens),
            again_tokens: add(|account| account.again_tokens),
            own_tokens: add(|account| account.own_tokens),
            net_tokens: add_signed(|account| account.net_tokens),
            net: sum(days.iter().map(|day| day.account.net)),
            ..Account::default()
        };
        let name = html! { (counted(self.per_day.len() as u64, "day", "days")) };
        account_row(name, String::new(), &all, sum(days.iter().map(|day| day.spent)))
    }

    pub(super) fn held_section(&self, shell: &Shell) -> Markup {
        let title = if self.days == 1 { "Held back today" } else { "Held back" };
        let account = self.account.unwrap_or_default();
        let (shown, all) = (self.held.len() as u64, account.held_outputs);
        let aside = html! {
            @if shown > 0 && shown < all { (count(shown)) " of " (count(all)) " outputs, the biggest first; all: " }
            @if all > 0 { (super::became(&account)) " tokens" }
        };
        let content = if self.held.is_empty() && all > 0 {
            empty(
                "The outputs are not listed.",
                html! { "None of them is among the newest entries of the store; older ones may have been removed." },
            )
        } else if self.held.is_empty() {
            empty(
                "Nothing was held back.",
                html! {
                    "An output that is too big to be useful is stored in full and shown as a digest; "
                    "it would be listed here."
                },
            )
        } else {
            html! { div.panel { (held_table(&self.held, shell)) } }
        };
        section("h-held", title, aside, content)
    }

    pub(super) fn sessions_section(&self, shell: &Shell) -> Markup {
        let title = if self.days == 1 { "Sessions today" } else { "Sessions" };
        let content = if self.sessions.is_empty() {
            empty("There were no sessions.", html! { "A session shows up with its first hook." })
        } else {
            html! { div.panel { (sessions::table(&self.sessions, shell)) } }
        };
        let shown = self.sessions.len() as u64;
        let aside = html! {
            @if shown < self.session_count {
                a href=(shell.page(Page::Sessions)) { (count(shown)) " of " (count(self.session_count)) }
            }
        };
        section("h-sessions", title, aside, content)
    }

    pub(super) fn tools_section(&self) -> Markup {
        let days = self.per_day.len() as u64;
        let title = if days > 1 { format!("By tool, {days} days") } else { "By tool".to_owned() };
        let content = if self.tools.is_empty() {
            empty(
                "No output was held back.",
                html! { "Each tool whose outputs are held back gets a row, with what was shown instead." },
            )
        } else {
            html! { div.panel { (tool_table(&self.tools)) } }
        };
        section("h-tools", &title, html! { "tokens counted as o200k" }, content)
    }

    pub(super) fn background_section(&self, shell: &Shell) -> Markup {
        let content = if self.background.is_empty() {
            empty(
                "Nothing is running.",
                html! { "A command started with " code { "background" } " shows up here with its output so far." },
            )
        } else {
            html! { div.panel { (background_table(&self.background, shell)) } }
        };
        section("h-background", "Running in the background", html! {}, content)
    }
}

fn day_row(day: &Day) -> Row {
    let name = html! { (day.at.weekday_and_month()) };
    let Some(figures) = &day.figures else {
        let mut cells = vec![Cell::muted("no sessions")];
        cells.extend((0..6).map(|_| Cell::plain("")));
        return Row { name, cells, is_chosen: false };
    };
    account_row(name, count(figures.sessions), &figures.account, figures.spent)
}

/// Returns the row of an account over some time.
fn account_row(name: Markup, sessions: String, account: &Account, spent: Option<Money>) -> Row {
    let net_tokens = account.net_tokens;
    Row {
        name,
        cells: vec![
            Cell::plain(sessions),
            Cell::signed(Some(difference(account.held_tokens)), account.held_tokens < 0),
            Cell::plain(count(account.again_tokens)),
            Cell::plain(count(account.own_tokens)),
            Cell::signed(Some(difference(net_tokens)), net_tokens < 0),
            Cell::signed(spent.map(Money::show), false),
            Cell::signed(account.net.map(Money::show_signed), account.net.is_some_and(|net| net.0 < 0)),
        ],
        is_chosen: false,
    }
}

fn held_table(held: &[HeldOutput], shell: &Shell) -> Table {
    let row = |output: &HeldOutput| Row {
        name: html! {
            a href=(shell.entry(&output.reference)) {
                @if output.is_code { code { (output.title) } } @else { (output.title) }
            }
            span.sub { (output.tool) ", " (size(output.bytes)) ", " (output.at.show(shell.now)) }
        },
        cells: vec![
            Cell::plain(known(output.tokens.map(|tokens| match output.is_estimated {
                true => format!("about {}", count(tokens)),
                false => count(tokens),
            }))),
            Cell::plain(known(output.shown.map(count))),
            Cell::plain(known(output.again.map(|tokens| if tokens == 0 { "no".to_owned() } else { count(tokens) }))),
        ],
        is_chosen: false,
    };
    Table {
        is_stacked: false,
        columns: vec![
            Column::name("Output"),
            Column::figure("Tokens"),
            Column::figure("Shown").only_wide(),
            Column::figure("Asked again"),
        ],
        rows: held.iter().map(row).collect(),
        total: None,
        has_keys: true,
    }
}

fn tool_table(tools: &[ToolRow]) -> Table {
    let add = |figure: fn(&ToolRow) -> u64| tools.iter().map(figure).fold(0, u64::saturating_add);
    let all = ToolRow {
        name: "All".into(),
        held: add(|tool| tool.held),
        output: add(|tool| tool.output),
        given: add(|tool| tool.given),
        shown: add(|tool| tool.shown),
    };
    Table {
        is_stacked: false,
        columns: vec![
            Column::name("Tool"),
            Column::figure("Outputs held").only_wide(),
            Column::figure("In full").only_wide(),
            Column::figure("Without Weir").only_wide(),
            Column::figure("Shown").only_wide(),
            Column::figure("Held back"),
            Column::name("Of all that was held back").only_wide(),
            Column::figure("Share held back"),
        ],
        rows: tools.iter().map(|tool| tool_row(tool, Some(all.held_back()))).collect(),
        total: Some(tool_row(&all, None)),
        has_keys: false,
    }
}

/// Returns a row. `all` is what was held back of all tools together; the row of the total has none.
fn tool_row(tool: &ToolRow, all: Option<i64>) -> Row {
    let held_back = tool.held_back();
    let bar = all.filter(|all| *all > 0 && held_back > 0).map(|all| meter(held_back as f64 / all as f64, "full"));
    Row {
        name: html! { (tool.name) span.sub.only-narrow { (counted(tool.held, "output", "outputs")) } },
        cells: vec![
            Cell::plain(count(tool.held)),
            Cell::plain(count(tool.output)),
            Cell::plain(count(tool.given)),
            Cell::plain(count(tool.shown)),
            Cell::signed(Some(difference(held_back)), held_back < 0),
            Cell::plain(bar.unwrap_or_default()),
            Cell::plain(percent(held_back as f64, tool.given as f64).unwrap_or_else(|| "none".to_owned())),
        ],
        is_chosen: false,
    }
}

fn background_table(runs: &[BackgroundRun], shell: &Shell) -> Table {
    let row = |run: &BackgroundRun| Row {
        name: html! {
            a href=(shell.entry(&run.reference)) { code { (run.command) } }
            span.sub { "since " (run.started.show(shell.now)) }
        },
        cells: vec![Cell::plain(duration(shell.now.seconds_since(run.started)))],
        is_chosen: false,
    };
    Table {
        is_stacked: false,
        columns: vec![Column::name("Command"), Column::figure("For")],
        rows: runs.iter().map(row).collect(),
        total: None,
        has_keys: true,
    }
}
