//! Events as lines that people read. Invariant: a line says whose words it is.

use weir_core::wording::one_line;
use weir_core::{EntryKind, EventKind, Origin, Priority, WhyGone};
use weir_hook::compaction;
use weir_pages::Text;
use weir_pages::session::{EventLine, TimelineFilter, Tone};
use weir_store::Moment;

use super::view::View;

const MAX_LINE_CHARS: usize = 400;

pub(super) fn is_shown(moment: &Moment, filter: TimelineFilter) -> bool {
    match filter {
        TimelineFilter::WhatMatters => matters(moment),
        TimelineFilter::Prompts => {
            matches!(moment.logged.event.kind, EventKind::Prompt | EventKind::Correction)
        }
        TimelineFilter::Errors => matches!(moment.logged.event.kind, EventKind::Error | EventKind::Fix),
        TimelineFilter::Files => moment.logged.event.kind == EventKind::File,
        TimelineFilter::Everything => true,
    }
}

/// Whether an event is one that a person looks for first.
pub(super) fn matters(moment: &Moment) -> bool {
    use EventKind::{Blocker, Correction, Decision, Error, Fix, Git, Goal, Intent, Kept, Plan, Prompt, Rejected};
    let event = &moment.logged.event;
    match event.kind {
        Prompt | Decision | Correction | Goal | Intent | Blocker | Rejected | Fix | Plan => true,
        Error => event.priority <= Priority::P2,
        Git => is_commit(moment),
        Kept => moment.entry.as_ref().is_some_and(|(kind, _)| *kind != EntryKind::Document),
        _ => false,
    }
}

/// Whether an event is the client's own summary of the conversation, which it writes when it compacts.
pub(super) fn is_summary(moment: &Moment) -> bool {
    moment.entry.as_ref().is_some_and(|(kind, title)| *kind == EntryKind::Said && title.starts_with(compaction::TITLE))
}

pub(super) fn line(view: &View<'_>, moment: &Moment) -> EventLine {
    let record = &moment.logged;
    EventLine {
        at: view.moment(record.at),
        request: None,
        kind: kind(moment).into(),
        origin: origin(moment),
        tone: tone(moment),
        text: text(moment),
        outcome: moment.gone.map(|why| gone(why).into()),
        reference: record.reference.map(|reference| reference.as_str().into()),
    }
}

fn kind(moment: &Moment) -> &'static str {
    match (&moment.entry, moment.logged.event.kind) {
        (Some((EntryKind::Run, _)), EventKind::Kept) => "output",
        (Some((EntryKind::Said, _)), EventKind::Kept) => "summary",
        (Some((kind, _)), EventKind::Kept) => kind.as_str(),
        (_, EventKind::Git) if is_commit(moment) => "commit",
        (_, kind) => kind.as_str(),
    }
}

/// Returns whose words an event is. What tools do and print is theirs.
fn origin(moment: &Moment) -> Origin {
    use EventKind::{Blocker, Correction, Decision, Goal, Intent, Plan, Prompt, Rejected, Said, Subagent, Task};
    let event = &moment.logged.event;
    match event.kind {
        EventKind::Kept => moment.origin.unwrap_or(Origin::Tool),
        Decision | Rejected if event.is_by_model() => Origin::Model,
        Prompt | Correction | Decision | Rejected | Goal | Intent | Blocker => Origin::User,
        Said | Plan | Subagent | Task => Origin::Model,
        _ => Origin::Tool,
    }
}

fn tone(moment: &Moment) -> Tone {
    match moment.logged.event.kind {
        EventKind::Prompt | EventKind::Correction => Tone::User,
        EventKind::Error | EventKind::Blocker => Tone::Bad,
        EventKind::Fix => Tone::Strong,
        EventKind::Git if is_commit(moment) => Tone::Strong,
        EventKind::Kept if matters(moment) => Tone::Strong,
        _ => Tone::Plain,
    }
}

fn text(moment: &Moment) -> Text {
    let event = &moment.logged.event;
    let text = match &moment.entry {
        Some((_, title)) => title,
        None => &event.text,
    };
    let line = one_line(text, MAX_LINE_CHARS);
    match event.kind {
        EventKind::Prompt | EventKind::Correction => format!("“{line}”").into(),
        _ => line.into(),
    }
}

fn gone(why: WhyGone) -> &'static str {
    match why {
        WhyGone::Expired => "its text has expired",
        WhyGone::Evicted => "its text was removed to stay within the quota",
        WhyGone::Forgotten => "its text was forgotten",
        WhyGone::Replaced => "its text was replaced by a newer one",
        WhyGone::Lost => "its text was lost",
    }
}

fn is_commit(moment: &Moment) -> bool {
    moment.logged.event.text.starts_with("git commit")
}
