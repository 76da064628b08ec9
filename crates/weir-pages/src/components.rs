//! The parts that pages share: badges, origins, tables, forms, empty states, pagers, keys.

use std::borrow::Cow;

use maud::{Markup, Render, html};
use weir_core::Origin;

use crate::figures::{count, counted};
use crate::moment::Moment;
use crate::routes::{Act, Page};
use crate::shell::Shell;
use crate::text::Text;
use crate::words::{Badge, Words};

/// A key and what it does. The script shows these once it handles them.
pub(crate) struct Key {
    pub(crate) keys: &'static [&'static str],
    pub(crate) does: &'static str,
}

/// The keys of a list of rows.
pub(crate) const MOVE: Key = Key { keys: &["j", "k"], does: "next, previous" };
/// Opens the chosen row.
pub(crate) const OPEN: Key = Key { keys: &["o"], does: "open" };
/// Copies a reference or a command.
pub(crate) const COPY: Key = Key { keys: &["y"], does: "copy" };

const EVERYWHERE: [Key; 3] = [
    Key { keys: &["/"], does: "search" },
    Key { keys: &["g", "t"], does: "go to Today" },
    Key { keys: &["?"], does: "all keys" },
];

const LEAVE: Key = Key { keys: &["Esc"], does: "leave a field" };

/// Returns the keys of a page, hidden until the script has loaded.
pub(crate) fn key_list(keys: &[Key], shell: &Shell) -> Markup {
    let one = |key: &Key| {
        html! { span { @for name in key.keys { kbd { (name) } " " } (key.does) } }
    };
    let go_to = |page: Page| html! { span { kbd { "g" } " " kbd { (page.letter()) } " go to " (page.name()) } };
    html! {
        footer.keys hidden data-hint aria-label="Keys" { @for key in keys.iter().chain(&EVERYWHERE) { (one(key)) } }
        dialog.all-keys aria-label="All keys" {
            h2 { "Keys" }
            div.key-grid {
                @for key in keys.iter().chain(&EVERYWHERE) { (one(key)) }
                @for page in Page::menu().filter(|page| *page != Page::Today) { (go_to(page)) }
                (one(&LEAVE))
            }
            div.actions {
                form method="dialog" { button.button { "Close" } }
                (post(shell, "/keys", html! {
                    button.button type="submit" name="keys" value="off" { "Turn keys off" }
                }))
            }
        }
    }
}

/// Returns the head of a page: its only `h1`, one sentence, and what can be done.
pub(crate) fn head(title: Markup, sentence: Markup, actions: Markup) -> Markup {
    html! {
        div.head {
            div { h1 { (title) } div.sentence { (sentence) } }
            @if !actions.0.is_empty() { div.actions { (actions) } }
        }
    }
}

/// Returns a section with its heading. `aside` is on the other side of the line.
pub(crate) fn section(id: &str, title: &str, aside: Markup, content: Markup) -> Markup {
    html! {
        section aria-labelledby=(id) {
            div.title { h2 #(id) { (title) } @if !aside.0.is_empty() { p.aside { (aside) } } }
            (content)
        }
    }
}

/// Returns a form that changes something. Only this function writes one, so each has the token.
pub(crate) fn post(shell: &Shell, action: &str, content: Markup) -> Markup {
    html! {
        form method="post" action=(action) {
            input type="hidden" name="token" value=(shell.token.raw());
            input type="hidden" name="back" value=(shell.path.raw());
            (content)
        }
    }
}

/// Returns a button that does one thing to an entry. `label` says what; at most one button in view is primary.
pub(crate) fn act_button(shell: &Shell, act: Act, reference: &Text, (label, is_primary): (&str, bool)) -> Markup {
    let key = matches!(act, Act::Confirm).then_some("c");
    post(
        shell,
        &shell.act(act, reference),
        html! {
            button.button.primary[is_primary] type="submit" data-key=[key] { (label) }
        },
    )
}

/// Returns a button that opens a second step, in which something is removed.
pub(crate) fn forget(shell: &Shell, reference: &Text, question: &str) -> Markup {
    html! {
        details.second {
            summary.button.plain { "Forget…" }
            div.step.panel {
                p { (question) }
                (post(shell, &shell.act(Act::Forget, reference), html! {
                    button.button.danger type="submit" { "Forget it" }
                }))
            }
        }
    }
}

/// Returns whose words a text is: a word and a shape.
pub(crate) fn origin(words: &Words) -> Markup {
    let class = words.origin.as_str();
    html! {
        span.origin.(class) { (words.label()) }
    }
}

/// Returns the shape of an origin beside another word; the word itself is for those who do not see the shape.
pub(crate) fn origin_of_kind(origin: Origin, kind: &str, class: &str) -> Markup {
    html! { span.kind.origin.(origin.as_str()).(class) { span.sr { (origin.as_str()) ": " } (kind) } }
}

impl Render for Badge {
    fn render_to(&self, page: &mut String) {
        let badge = match self {
            Self::Plain(text) => html! { span.badge { (text) } },
            Self::Doubt(text) => html! { span.badge.doubt { (text) } },
            Self::Bad(text) => html! { span.badge.bad { (text) } },
        };
        page.push_str(&badge.0);
    }
}

pub(crate) fn reference(shell: &Shell, reference: &Text) -> Markup {
    html! { a.ref href=(shell.entry(reference)) data-copy=(reference.plain()) { (reference) } }
}

/// Returns a time with the form that programs read.
pub(crate) fn time(moment: Moment, shown: &str) -> Markup {
    html! { time datetime=(moment.machine()) { (shown) } }
}

/// Returns a command that is selected whole.
pub(crate) fn command(text: &Text) -> Markup {
    html! { div.command tabindex="0" role="group" aria-label="Command" data-copy=(text.plain()) { code { (text) } } }
}

/// Returns what is shown in place of things that are not there: the fact, and what would put them there.
pub(crate) fn empty(fact: &str, otherwise: Markup) -> Markup {
    html! { div.panel.empty { p { strong { (fact) } " " (otherwise) } } }
}

/// A label with its figure; the unit is muted. A figure that nobody has says so.
pub(crate) struct Fact {
    pub(crate) label: &'static str,
    pub(crate) figure: Option<String>,
    pub(crate) unit: String,
}

/// Returns up to six facts about one thing.
pub(crate) fn facts(facts: &[Fact]) -> Markup {
    html! {
        section aria-label="Figures" {
            dl.facts.panel {
                @for fact in facts {
                    div {
                        dt { (fact.label) }
                        dd {
                            @if let Some(figure) = &fact.figure { (figure) " " span.muted { (fact.unit) } }
                            @else { span.muted { (crate::figures::NOT_KNOWN) } }
                        }
                    }
                }
            }
        }
    }
}

/// A link among others of which one is chosen.
pub(crate) struct Choice {
    pub(crate) label: String,
    pub(crate) href: String,
    pub(crate) is_chosen: bool,
}

/// Returns choices as a row of joined buttons.
pub(crate) fn segments(name: &str, choices: &[Choice]) -> Markup {
    html! { nav.segments aria-label=(name) { @for choice in choices { (chosen_link(choice, "")) } } }
}

/// Returns choices as a row of round buttons.
pub(crate) fn chips(name: &str, choices: &[Choice]) -> Markup {
    html! { nav.chips aria-label=(name) { @for choice in choices { (chosen_link(choice, "chip")) } } }
}

fn chosen_link(choice: &Choice, class: &str) -> Markup {
    let class = (!class.is_empty()).then_some(class);
    html! { a class=[class] href=(choice.href) aria-current=[choice.is_chosen.then_some("true")] { (choice.label) } }
}

/// Where a list of pages is.
#[derive(Debug, Clone, Copy)]
pub struct Pager {
    /// The number of this page, from 1.
    pub page: u64,
    /// How many things one page has.
    pub size: u64,
    pub total: u64,
}

impl Pager {
    /// Returns the links to the pages before and after, or nothing if all things are on this one.
    pub(crate) fn render(self, address: impl Fn(u64) -> String, things: (&str, &str)) -> Markup {
        let pages = self.total.div_ceil(self.size.max(1));
        html! {
            @if pages > 1 {
                nav.pager aria-label="Pages of this list" {
                    @if self.page > 1 { a.button rel="prev" href=(address(self.page - 1)) data-key="[" { "Previous" } }
                    span {
                        "Page " (count(self.page)) " of " (count(pages)) ", " (counted(self.total, things.0, things.1))
                    }
                    @if self.page < pages {
                        a.button rel="next" href=(address(self.page.saturating_add(1))) data-key="]" { "Next" }
                    }
                }
            }
        }
    }
}

/// Returns the links of a list that is read from the newest on: back to its beginning, and to what is older.
pub(crate) fn older_pages(newest: Option<&str>, older: Option<&str>, sentence: &str) -> Markup {
    linked_pages(["Newest", "Older"], newest, older, sentence)
}

/// Returns the links of a list that can only be read from its beginning on, with their labels.
pub(crate) fn linked_pages(labels: [&str; 2], first: Option<&str>, next: Option<&str>, sentence: &str) -> Markup {
    html! {
        @if first.is_some() || next.is_some() {
            nav.pager aria-label="Pages of this list" {
                @if let Some(href) = first { a.button href=(href) data-key="[" { (labels[0]) } }
                span { (sentence) }
                @if let Some(href) = next { a.button rel="next" href=(href) data-key="]" { (labels[1]) } }
            }
        }
    }
}

#[derive(Clone)]
pub(crate) struct Column {
    pub(crate) label: Cow<'static, str>,
    pub(crate) is_figure: bool,
    /// A phone leaves the column out; the line below the name has what is in it.
    pub(crate) is_wide_only: bool,
}

impl Column {
    pub(crate) const fn name(label: &'static str) -> Self {
        Self { label: Cow::Borrowed(label), is_figure: false, is_wide_only: false }
    }

    pub(crate) const fn figure(label: &'static str) -> Self {
        Self { label: Cow::Borrowed(label), is_figure: true, is_wide_only: false }
    }

    pub(crate) fn only_wide(self) -> Self {
        Self { is_wide_only: true, ..self }
    }
}

/// A row of a table: its name, and a cell for each other column.
pub(crate) struct Row {
    pub(crate) name: Markup,
    pub(crate) cells: Vec<Cell>,
    pub(crate) is_chosen: bool,
}

pub(crate) struct Cell {
    pub(crate) content: Markup,
    pub(crate) class: &'static str,
}

impl Cell {
    pub(crate) fn plain(content: impl Render) -> Self {
        Self { content: content.render(), class: "" }
    }

    pub(crate) fn muted(content: impl Render) -> Self {
        Self { content: content.render(), class: "muted" }
    }

    /// A figure that may be below zero.
    pub(crate) fn signed(content: Option<String>, is_negative: bool) -> Self {
        Self { content: crate::figures::known(content), class: if is_negative { "neg" } else { "" } }
    }

    fn classes(&self, column: &Column) -> Option<String> {
        let all =
            [if column.is_figure { "num" } else { "" }, if column.is_wide_only { "only-wide" } else { "" }, self.class];
        let set: Vec<&str> = all.into_iter().filter(|class| !class.is_empty()).collect();
        (!set.is_empty()).then(|| set.join(" "))
    }
}

/// A table. On a phone a stacked one becomes a list of rows with labelled figures.
pub(crate) struct Table {
    pub(crate) is_stacked: bool,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Row>,
    pub(crate) total: Option<Row>,
    /// Whether keys move through the rows.
    pub(crate) has_keys: bool,
}

impl Render for Table {
    fn render_to(&self, page: &mut String) {
        let table = html! {
            table.stack[self.is_stacked] {
                thead { tr {
                    @for column in &self.columns {
                        th.num[column.is_figure].only-wide[column.is_wide_only] scope="col" { (column.label) }
                    }
                } }
                tbody { @for row in &self.rows { (self.row(row)) } }
                @if let Some(total) = &self.total { tfoot { (self.row(total)) } }
            }
        };
        page.push_str(&table.0);
    }
}

impl Table {
    fn row(&self, row: &Row) -> Markup {
        let is_numbered = self.columns.first().is_some_and(|column| column.is_figure);
        html! {
            tr.here[row.is_chosen] data-row[self.has_keys] {
                th.num[is_numbered] scope="row" { (row.name) }
                @for (cell, column) in row.cells.iter().zip(self.columns.iter().skip(1)) {
                    td class=[cell.classes(column)] data-label=(column.label) { (cell.content) }
                }
            }
        }
    }
}
