//! Search: everything that is kept, by words and meaning, with whose words they are and what speaks against them.

use maud::{Markup, html};

use crate::components::{COPY, Key, MOVE, OPEN, Pager, act_button, forget, origin, reference};
use crate::figures::{count, counted, milliseconds};
use crate::moment::Moment;
use crate::notes::FORGETTING_A_NOTE;
use crate::routes::{Act, Page, with_query};
use crate::shell::{Content, Shell};
use crate::text::Text;
use crate::words::{Badge, Span, Words};

/// A query and its hits.
#[derive(Debug, Clone)]
pub struct Search {
    /// What was asked; empty before the first question.
    pub query: Text,
    pub filters: Filters,
    /// The hits of this page, the best first.
    pub hits: Vec<Hit>,
    /// Where this page is among the others.
    pub pager: Pager,
    /// Whether more was found than is listed.
    pub has_more: bool,
    /// What was not searched, and why, in whole sentences.
    pub remarks: Vec<Text>,
    /// How long the search took, in milliseconds.
    pub took: Option<f64>,
    /// Whether vectors were compared too; if not, only words.
    pub by_meaning: bool,
    /// A word of the query that is in no text, and the one that was searched for instead.
    pub corrected: Option<(Text, Text)>,
}

/// What a search is limited to.
#[derive(Debug, Clone)]
pub struct Filters {
    /// Kinds of hits with how many there are; none before the first question.
    pub kinds: Vec<(HitKind, Option<u64>)>,
    /// The chosen kind; none means all.
    pub kind: Option<HitKind>,
    /// Whose words, when the place, and since when: the value and the label of each choice.
    pub from: Vec<Picked>,
    pub within: Vec<Picked>,
    pub since: Vec<Picked>,
}

/// A choice of a filter.
#[derive(Debug, Clone)]
pub struct Picked {
    /// The value that the form sends.
    pub value: Text,
    /// What the user reads.
    pub label: Text,
    pub is_chosen: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HitKind {
    Note,
    Event,
    /// The output of a run or a tool.
    Output,
    /// A file of the project.
    Document,
    Page,
}

impl HitKind {
    /// Returns the word in the list and in addresses.
    pub fn word(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Event => "event",
            Self::Output => "output",
            Self::Document => "document",
            Self::Page => "page",
        }
    }

    fn plural(self) -> &'static str {
        match self {
            Self::Note => "Notes",
            Self::Event => "Events",
            Self::Output => "Outputs",
            Self::Document => "Documents",
            Self::Page => "Pages",
        }
    }
}

#[derive(Debug, Clone)]
pub struct Hit {
    pub kind: HitKind,
    /// Its topic, command, path or title.
    pub title: Text,
    pub is_code: bool,
    pub target: Target,
    /// The line of the entry that was found, if it has lines.
    pub line: Option<u64>,
    /// What else there is to say in a few words: the revision, the heading, the host.
    pub about: Option<Text>,
    pub excerpt: Excerpt,
    pub words: Words,
    /// When it was written, fetched or indexed.
    pub at: Moment,
    /// How far it is visible, or until when it is kept.
    pub reach: Option<Text>,
    /// What speaks against it; two at most are shown.
    pub badges: Vec<Badge>,
    /// Whether it is superseded or gone.
    pub is_old: bool,
    /// Whether it is a note that waits for the user.
    pub can_confirm: bool,
}

/// What a hit leads to.
#[derive(Debug, Clone)]
pub enum Target {
    Entry(Text),
    Session(Text),
    Gone(Text),
}

#[derive(Debug, Clone)]
pub enum Excerpt {
    Prose(Vec<Span>),
    Lines(Vec<(u64, Vec<Span>)>),
}

impl Search {
    pub fn render(&self, shell: &Shell) -> String {
        let title = if self.query.is_empty() { "Search".to_owned() } else { format!("Search: {}", self.query.plain()) };
        let main = html! {
            h1.sr { "Search" }
            (self.form(shell))
            @if self.query.is_empty() { (nothing_asked()) }
            @else {
                (self.sentence())
                @if self.hits.is_empty() { (self.nothing_found(shell)) }
                @else {
                    ol.hits.panel { @for hit in &self.hits { (hit.render(shell)) } }
                    (self.pager.render(|page| self.address(shell, page), ("hit", "hits")))
                }
            }
        };
        let keys: &[Key] = &[
            MOVE,
            OPEN,
            Key { keys: &["c"], does: "to Confirm" },
            COPY,
            Key { keys: &["[", "]"], does: "previous, next page" },
        ];
        shell.document(&Content { page: Some(Page::Search), title: &title, keys, main })
    }

    fn form(&self, shell: &Shell) -> Markup {
        html! {
            form.filters role="search" method="get" action=(shell.page(Page::Search)) {
                div.ask {
                    label.sr for="q" { "Search" }
                    input #q name="q" type="search" value=(self.query.raw()) autocomplete="off"
                        autofocus[self.query.is_empty()];
                    button.button.primary type="submit" { "Search" }
                }
                div.chips {
                    fieldset.kinds {
                        legend.sr { "Kind" }
                        (self.kind(None))
                        @for (kind, _) in &self.filters.kinds { (self.kind(Some(*kind))) }
                    }
                    div.picks {
                        (pick("from", "from", &self.filters.from))
                        (pick("in", "within", &self.filters.within))
                        (pick("since", "since", &self.filters.since))
                    }
                }
            }
        }
    }

    fn kind(&self, kind: Option<HitKind>) -> Markup {
        let known: Option<u64> = match kind {
            None => self.filters.kinds.iter().map(|(_, number)| *number).sum(),
            Some(kind) => self.filters.kinds.iter().find(|(other, _)| *other == kind).and_then(|(_, number)| *number),
        };
        html! {
            label.chip {
                input type="radio" name="kind" value=(kind.map_or("", HitKind::word))
                    checked[kind == self.filters.kind];
                (kind.map_or("All", HitKind::plural)) @if let Some(number) = known { " " (count(number)) }
            }
        }
    }

    fn sentence(&self) -> Markup {
        let ways = if self.by_meaning { "by words and meaning" } else { "by words only" };
        html! {
            p.found role="status" {
                b {
                    @if self.has_more { "The best " (counted(self.pager.total, "hit", "hits")) }
                    @else { (counted(self.pager.total, "hit", "hits")) }
                }
                @if let Some(took) = self.took { " in " (milliseconds(took)) } ", " (ways) "."
                @if let Some((written, taken)) = &self.corrected {
                    " “" (written) "” was taken for " b { (taken) } "."
                }
                @for remark in &self.remarks { " " (remark) }
            }
        }
    }

    fn nothing_found(&self, shell: &Shell) -> Markup {
        let is_chosen = |pick: &Picked| pick.is_chosen && !pick.value.is_empty();
        let filters = &self.filters;
        let is_filtered = filters.kind.is_some() || filters.from.iter().chain(&filters.since).any(is_chosen);
        let what = if is_filtered { "the filters let through" } else { "is kept" };
        let otherwise = match (is_filtered, shell.project.is_some()) {
            (false, false) => "Fewer words may find it.",
            (true, false) => "Fewer words or fewer filters may find it.",
            (false, true) => "Fewer words or a search in all projects may find it.",
            (true, true) => "Fewer words, fewer filters or a search in all projects may find it.",
        };
        html! {
            div.panel.empty {
                p {
                    strong {
                        "Nothing that " (what)
                        @if let Some(project) = &shell.project { " in " (project.name) }
                        " has these words."
                    }
                    " "
                    @if self.by_meaning { "Nothing similar in meaning was found either." }
                    @else { "Texts were not compared by meaning." }
                }
                p { (otherwise) }
            }
        }
    }

    fn address(&self, shell: &Shell, page: u64) -> String {
        let chosen =
            |picks: &[Picked]| picks.iter().find(|pick| pick.is_chosen).map_or("", |pick| pick.value.raw()).to_owned();
        let page = if page > 1 { page.to_string() } else { String::new() };
        let kind = self.filters.kind.map_or("", HitKind::word);
        with_query(
            &shell.page(Page::Search),
            &[
                ("q", self.query.raw()),
                ("kind", kind),
                ("from", &chosen(&self.filters.from)),
                ("within", &chosen(&self.filters.within)),
                ("since", &chosen(&self.filters.since)),
                ("page", &page),
            ],
        )
    }
}

impl Hit {
    /// Returns the address of the entry, at the line that was found.
    fn address(&self, reference: &Text, shell: &Shell) -> String {
        let path = shell.entry(reference);
        self.line.map_or_else(|| path.clone(), |line| format!("{path}?lines={line}#L{line}"))
    }

    fn render(&self, shell: &Shell) -> Markup {
        let title = html! { @if self.is_code { code { (self.title) } } @else { (self.title) } };
        html! {
            li.old[self.is_old] data-row {
                span.kind { (self.kind.word()) }
                div {
                    div.hit-head {
                        h2 {
                            @match &self.target {
                                Target::Entry(reference) => a href=(self.address(reference, shell)) { (title) },
                                Target::Session(key) => a href=(shell.session(key)) { (title) },
                                Target::Gone(_) => (title),
                            }
                        }
                        @if let Some(about) = &self.about { span.muted { (about) } }
                        @match &self.target {
                            Target::Entry(entry) => (reference(shell, entry)),
                            Target::Gone(entry) => span.ref.muted { (entry) },
                            Target::Session(_) => {},
                        }
                    }
                    (self.excerpt.render())
                    div.meta {
                        (origin(&self.words))
                        span { (self.at.show(shell.now)) }
                        @if let Some(reach) = &self.reach { span { (reach) } }
                        @for badge in self.badges.iter().take(2) { (badge) }
                    }
                    @if let (true, Target::Entry(reference)) = (self.can_confirm, &self.target) {
                        div.state {
                            (act_button(shell, Act::Confirm, reference, ("Confirm", false)))
                            (forget(shell, reference, FORGETTING_A_NOTE))
                        }
                    }
                }
            }
        }
    }
}

impl Excerpt {
    fn render(&self) -> Markup {
        html! {
            @match self {
                Self::Prose(spans) => p.excerpt { @for span in spans { (span) } },
                Self::Lines(lines) => div.excerpt.code {
                    @for (number, spans) in lines { div.l { i { (number) } code { @for span in spans { (span) } } } }
                },
            }
        }
    }
}

fn pick(label: &str, name: &str, picks: &[Picked]) -> Markup {
    html! {
        label.pick {
            (label) " "
            select name=(name) {
                @for pick in picks { option value=(pick.value.raw()) selected[pick.is_chosen] { (pick.label.plain()) } }
            }
        }
    }
}

fn nothing_asked() -> Markup {
    html! {
        div.panel.empty {
            p {
                strong { "Search what was kept." }
                " Notes, events, outputs, documents and pages are searched together. Each hit says whose words it is, "
                "and what speaks against it."
            }
        }
    }
}
