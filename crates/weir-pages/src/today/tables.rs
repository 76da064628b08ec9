//! The tables of Today: outputs held back, sessions, tools, background runs.

use maud::{Markup, html};

use super::Today;
use crate::charts::spark::meter;
use crate::components::{Cell, Column, Row, Table, empty, section};
use crate::figures::{count, counted, duration, known, percent};
use crate::moment::Moment;
use crate::sessions;
use crate::shell::Shell;
use crate::text::Text;

/// An output that was held back.
#[derive(Debug, Clone)]
pub struct HeldOutput {
    /// The entry with the whole output.
    pub reference: Text,
    /// The command, the path or the title of the page.
    pub title: Text,
    /// Whether the title is code: a command or a path.
    pub is_code: bool,
    /// The tool that made the output, and how it was shown if not as a digest: `Bash`, `Read as an outline`.
    pub tool: Text,
    /// When.
    pub at: Moment,
    /// The request it belongs to, if the transcript says so.
    pub request: Option<u64>,
    /// Tokens of the whole output.
    pub tokens: u64,
    /// Tokens that were shown.
    pub shown: u64,
    /// What the model asked for again.
    pub again: AskedAgain,
}

/// How much of an output the model asked for again.
#[derive(Debug, Clone)]
pub enum AskedAgain {
    /// None of it.
    Nothing,
    /// So many lines.
    Lines(u64),
    /// So many symbols of an outline.
    Symbols(u64),
}

impl AskedAgain {
    fn show(&self) -> String {
        match self {
            Self::Nothing => "no".to_owned(),
            Self::Lines(number) => counted(*number, "line", "lines"),
            Self::Symbols(number) => counted(*number, "symbol", "symbols"),
        }
    }
}

/// What one tool brought.
#[derive(Debug, Clone)]
pub struct ToolRow {
    /// The name of the tool.
    pub name: Text,
    /// How many results it had.
    pub results: u64,
    /// How many of them were held back.
    pub held: u64,
    /// Tokens of all results.
    pub tokens: u64,
    /// Tokens that were held back.
    pub held_tokens: u64,
    /// Of the names that the model used next, how many it could still see, and how many there were.
    pub still_in_view: Option<(u64, u64)>,
}

/// A run in the background.
#[derive(Debug, Clone)]
pub struct BackgroundRun {
    /// The entry with the output so far.
    pub reference: Text,
    /// The command.
    pub command: Text,
    /// When it was started.
    pub started: Moment,
    /// Lines of output so far.
    pub lines: u64,
}

impl Today {
    pub(super) fn held_section(&self, shell: &Shell) -> Markup {
        let title = if self.days == 1 { "Held back today" } else { "Held back" };
        let aside = html! { (counted(self.account.held_tokens, "token", "tokens")) };
        let content = if self.held.is_empty() {
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
        section("h-sessions", title, html! {}, content)
    }

    pub(super) fn tools_section(&self) -> Markup {
        let days = self.per_day.len() as u64;
        let title = if days > 1 { format!("By tool, {days} days") } else { "By tool".to_owned() };
        let content = if self.tools.is_empty() {
            empty(
                "No tool has been used.",
                html! { "Each tool gets a row with its results, and how much of them was held back." },
            )
        } else {
            html! {
                p.lede {
                    "“Still in view”: of the names that the model used next, how many it could still see. A low figure "
                    "means that the wrong things were held back."
                }
                div.panel { (tool_table(&self.tools)) }
            }
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

fn held_table(held: &[HeldOutput], shell: &Shell) -> Table {
    let row = |output: &HeldOutput| Row {
        name: html! {
            a href=(shell.entry(&output.reference)) {
                @if output.is_code { code { (output.title) } } @else { (output.title) }
            }
            span.sub {
                (output.tool) ", " (output.at.clock())
                @if let Some(request) = output.request { ", request " (count(request)) }
                @if !matches!(output.again, AskedAgain::Nothing) {
                    span.only-narrow { ", asked again: " (output.again.show()) }
                }
            }
        },
        cells: vec![
            Cell::plain(count(output.tokens)),
            Cell::plain(count(output.shown)),
            match output.again {
                AskedAgain::Nothing => Cell::muted(output.again.show()),
                _ => Cell::plain(output.again.show()),
            },
        ],
        is_chosen: false,
    };
    Table {
        is_stacked: false,
        columns: vec![
            Column::name("Output"),
            Column::figure("Tokens"),
            Column::figure("Shown"),
            Column::name("Asked again").only_wide(),
        ],
        rows: held.iter().map(row).collect(),
        total: None,
        has_keys: true,
    }
}

fn tool_table(tools: &[ToolRow]) -> Table {
    let add = |figure: fn(&ToolRow) -> u64| tools.iter().map(figure).fold(0, u64::saturating_add);
    // A sum without one of its terms would be wrong.
    let in_view = tools.iter().filter(|tool| tool.held > 0).try_fold((0, 0), |sum: (u64, u64), tool| {
        let (seen, of) = tool.still_in_view?;
        Some((sum.0.saturating_add(seen), sum.1.saturating_add(of)))
    });
    let all = ToolRow {
        name: "All".into(),
        results: add(|tool| tool.results),
        held: add(|tool| tool.held),
        tokens: add(|tool| tool.tokens),
        held_tokens: add(|tool| tool.held_tokens),
        still_in_view: in_view,
    };
    Table {
        is_stacked: false,
        columns: vec![
            Column::name("Tool"),
            Column::figure("Results").only_wide(),
            Column::figure("Held").only_wide(),
            Column::figure("Tokens in all").only_wide(),
            Column::figure("Held back"),
            Column::name("Of all that was held back").only_wide(),
            Column::figure("Share"),
            Column::figure("Still in view"),
        ],
        rows: tools.iter().map(|tool| tool_row(tool, Some(all.held_tokens))).collect(),
        total: Some(tool_row(&all, None)),
        has_keys: false,
    }
}

/// Returns a row. `all` is what all tools together held back; the row of the total has none.
fn tool_row(tool: &ToolRow, all: Option<u64>) -> Row {
    let bar = all
        .filter(|all| *all > 0 && tool.held_tokens > 0)
        .map(|all| meter(tool.held_tokens as f64 / all as f64, "full"));
    let seen = match tool.still_in_view {
        _ if tool.held == 0 => Cell::muted("none held"),
        None => Cell::plain(known(None)),
        Some((seen, of)) => Cell::signed(
            Some(format!("{} of {}", count(seen), count(of))),
            all.is_some() && seen.saturating_mul(2) < of,
        ),
    };
    Row {
        name: html! { (tool.name) span.sub.only-narrow { (count(tool.held)) " of " (count(tool.results)) } },
        cells: vec![
            Cell::plain(count(tool.results)),
            Cell::plain(count(tool.held)),
            Cell::plain(count(tool.tokens)),
            Cell::plain(count(tool.held_tokens)),
            Cell::plain(bar.unwrap_or_default()),
            Cell::plain(percent(tool.held_tokens as f64, tool.tokens as f64).unwrap_or_else(|| "none".to_owned())),
            seen,
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
        cells: vec![Cell::plain(duration(shell.now.seconds_since(run.started))), Cell::plain(count(run.lines))],
        is_chosen: false,
    };
    Table {
        is_stacked: false,
        columns: vec![Column::name("Command"), Column::figure("For"), Column::figure("Lines so far")],
        rows: runs.iter().map(row).collect(),
        total: None,
        has_keys: true,
    }
}
