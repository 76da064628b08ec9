//! The timeline of a session, and the guide beside it.

use maud::{Markup, html};
use weir_core::Origin;

use super::Session;
use crate::components::{Choice, chips, empty, older_pages, origin_of_kind, reference, section, segments, time};
use crate::figures::{count, counted};
use crate::moment::Moment;
use crate::routes::with_query;
use crate::shell::Shell;
use crate::text::Text;

/// What happened in a session, filtered.
#[derive(Debug, Clone)]
pub struct Timeline {
    /// The events that the filter lets through, in order, and the compactions between them.
    pub items: Vec<Item>,
    /// The filters, with how many events each lets through; the chosen one is in `filter`.
    pub filters: Vec<(TimelineFilter, u64)>,
    pub filter: TimelineFilter,
    /// How many events the session has, or how many of them were looked at.
    pub total: u64,
    /// Whether only the newest events were looked at.
    pub is_cut: bool,
    /// The number of the event before which the next page begins, if events are left out.
    pub older: Option<u64>,
    pub is_newest: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimelineFilter {
    /// Prompts, decisions, failures, commits, what was held back.
    WhatMatters,
    /// What the user asked for.
    Prompts,
    Errors,
    /// Files read, edited and written.
    Files,
    Everything,
}

impl TimelineFilter {
    /// Returns the word in addresses.
    pub fn word(self) -> &'static str {
        match self {
            Self::WhatMatters => "",
            Self::Prompts => "prompts",
            Self::Errors => "errors",
            Self::Files => "files",
            Self::Everything => "all",
        }
    }

    fn label(self, number: u64) -> String {
        match self {
            Self::WhatMatters => "What matters".to_owned(),
            Self::Prompts => format!("Prompts {}", count(number)),
            Self::Errors => format!("Errors {}", count(number)),
            Self::Files => format!("Files {}", count(number)),
            Self::Everything => format!("Everything {}", count(number)),
        }
    }
}

/// A line of a timeline.
#[derive(Debug, Clone)]
pub enum Item {
    Event(EventLine),
    Compacted {
        at: Moment,
        /// The last request before it.
        request: Option<u64>,
        /// Tokens before and after, if the transcript says so.
        tokens: Option<(u64, u64)>,
        /// The entry with the client's summary.
        summary: Option<Text>,
    },
}

#[derive(Debug, Clone)]
pub struct EventLine {
    pub at: Moment,
    /// The request it followed, if the transcript says so.
    pub request: Option<u64>,
    /// What kind of event it is, in one or two words.
    pub kind: Text,
    /// Whose words the text is.
    pub origin: Origin,
    /// How it stands out.
    pub tone: Tone,
    pub text: Text,
    /// What became of it: a fix, a number of attempts.
    pub outcome: Option<Text>,
    pub reference: Option<Text>,
}

/// How an event stands out among others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Plain,
    /// It is what the user said.
    User,
    /// It failed.
    Bad,
    /// It is a turning point.
    Strong,
}

impl Tone {
    fn class(self) -> &'static str {
        match self {
            Self::Plain => "quiet",
            Self::User => "said",
            Self::Bad => "bad",
            Self::Strong => "strong",
        }
    }
}

/// A guide that can be shown.
#[derive(Debug, Clone)]
pub struct GuideChoice {
    /// The number of the compaction that it followed; none is the guide of now.
    pub after: Option<u64>,
    pub is_chosen: bool,
}

/// A guide, word for word.
#[derive(Debug, Clone)]
pub struct Guide {
    /// The text as the model got it or would get it.
    pub text: Text,
    pub tokens: u64,
    /// The most it may have.
    pub budget: u64,
    /// The number of the compaction that it is for; none if it is the guide of now.
    pub after: Option<u64>,
}

impl Timeline {
    pub(super) fn render(&self, session: &Session, shell: &Shell) -> Markup {
        let shown = self.items.iter().filter(|item| matches!(item, Item::Event(_))).count() as u64;
        let choices: Vec<Choice> =
            self.filters.iter().map(|(filter, number)| self.choice(*filter, *number, session, shell)).collect();
        let aside = html! { @if self.total > 0 { (count(shown)) " of " (counted(self.total, "event", "events")) } };
        let address = |before: &str| {
            with_query(&shell.session(&session.key), &[("events", self.filter.word()), ("before", before)])
        };
        let newest = (!self.is_newest).then(|| address(""));
        let older = self.older.map(|number| address(&number.to_string()));
        let mut before = session.from;
        let shown_here = format!("{} on this page", counted(shown, "event", "events"));
        let content = html! {
            @if !choices.is_empty() { (chips("Kinds of events", &choices)) }
            @if self.items.is_empty() {
                @if self.total == 0 {
                    (empty("Nothing was recorded.", html! {
                        "Prompts, decisions, errors and commits of the session show up here."
                    }))
                } @else { (empty("No event is of this kind.", html! { "Choose another kind above." })) }
            } @else {
                ol.events.far.panel {
                    @for item in &self.items {
                        @match item {
                            Item::Event(event) => {
                                (new_day(event.at, &mut before, shell))
                                (event_line(event, shell, true))
                            }
                            Item::Compacted { at, .. } => {
                                (new_day(*at, &mut before, shell))
                                (compacted(item, shell))
                            }
                        }
                    }
                }
                (older_pages(newest.as_deref(), older.as_deref(), &shown_here))
            }
            @if self.is_cut {
                p.hint {
                    "Only the newest " (count(self.total)) " events are listed and counted here; "
                    code { "weir history" } " has the older ones."
                }
            }
        };
        section("h-timeline", "Timeline", aside, content)
    }

    fn choice(&self, filter: TimelineFilter, number: u64, session: &Session, shell: &Shell) -> Choice {
        Choice {
            label: filter.label(number),
            href: with_query(&shell.session(&session.key), &[("events", filter.word())]),
            is_chosen: filter == self.filter,
        }
    }
}

/// Returns a line with the day of an event, if the event before it was on another. Events show only the time.
pub(crate) fn new_day(at: Moment, before: &mut Moment, shell: &Shell) -> Markup {
    let is_new = !at.is_same_day(*before);
    *before = at;
    html! { @if is_new { li.day { (at.day(shell.now)) } } }
}

/// Returns an event as a line of a list. With `is_far` the request is first and the time last.
pub(crate) fn event_line(event: &EventLine, shell: &Shell, is_far: bool) -> Markup {
    let clock = time(event.at, &event.at.clock());
    html! {
        li data-row tabindex="-1" {
            @if is_far {
                span.at { @if let Some(request) = event.request { span.sr { "request " } (count(request)) } }
            } @else { (clock) }
            (origin_of_kind(event.origin, &event.kind.plain(), event.tone.class()))
            span.text {
                (event.text)
                @if let Some(entry) = &event.reference { " " (reference(shell, entry)) }
                @if let Some(outcome) = &event.outcome { span.sub { (outcome) } }
            }
            @if is_far { (clock) }
        }
    }
}

fn compacted(item: &Item, shell: &Shell) -> Markup {
    let Item::Compacted { at, request, tokens, summary } = item else { return html! {} };
    html! {
        li.break data-row tabindex="-1" {
            b { "Compacted" }
            " at " (time(*at, &at.clock()))
            @if let Some(request) = request { ", after request " (count(*request)) }
            @if let Some((before, after)) = tokens { ": " (count(*before)) " → " (count(*after)) " tokens" }
            ". "
            @if let Some(summary) = summary { "Summary kept as " (reference(shell, summary)) ". " }
        }
    }
}

pub(super) fn guide_section(session: &Session, shell: &Shell) -> Markup {
    let aside = match &session.guide {
        Some(guide) => html! { (count(guide.tokens)) " of at most " (counted(guide.budget, "token", "tokens")) },
        None => html! {},
    };
    let content = html! {
        @if session.guides.len() > 1 { (segments("Which guide", &guide_choices(session, shell))) }
        @match &session.guide {
            Some(guide) => {
                div.panel.guide tabindex="0" role="region" aria-label="The guide, word for word" {
                    (guide_lines(guide.text.raw()))
                }
                p.hint {
                    @match guide.after {
                        Some(number) => {
                            "Written again from what was recorded up to the " (crate::figures::ordinal(number))
                            " compaction."
                        }
                        None => "As the model would get it if the session were compacted now.",
                    }
                    " What tools and pages said is marked as theirs."
                }
            }
            None =>
                (empty("There is no guide.", html! {
                "A guide is written when the session has something to carry over."
            })),
        }
    };
    section("h-guide", "Guide", aside, content)
}

/// Returns the lines of a guide: its items as lists, what is between them as paragraphs.
fn guide_lines(text: &str) -> Markup {
    let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let blocks = lines.chunk_by(|one, next| one.starts_with("- ") == next.starts_with("- "));
    html! {
        @for block in blocks {
            @if block.iter().all(|line| line.starts_with("- ")) {
                ul { @for line in block { li { (Text::from(&line[2..])) } } }
            } @else {
                @for line in block { p { (Text::from(*line)) } }
            }
        }
    }
}

fn guide_choices(session: &Session, shell: &Shell) -> Vec<Choice> {
    let one = |choice: &GuideChoice| {
        let (label, word) = match choice.after {
            Some(number) => (format!("After {}", crate::figures::ordinal(number)), number.to_string()),
            None => ("If compacted now".to_owned(), "now".to_owned()),
        };
        let href = with_query(&shell.session(&session.key), &[("guide", &word)]);
        Choice { label, href: format!("{href}#h-guide"), is_chosen: choice.is_chosen }
    };
    session.guides.iter().map(one).collect()
}
