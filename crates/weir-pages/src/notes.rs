//! Notes: what was decided and learned. What needs the user comes first.

mod note;

use maud::{Markup, html};

use crate::components::{Choice, Key, MOVE, chips, empty, head, linked_pages, post, section};
use crate::figures::{count, counted};
use crate::routes::{Page, with_query};
use crate::shell::{Content, Shell};
use crate::text::Text;

pub(crate) use note::FORGETTING_A_NOTE;
pub use note::{NoteCard, Revision};

/// The notes of a project, by what they need.
#[derive(Debug, Clone)]
pub struct Notes {
    /// How many notes each filter shows.
    pub counts: Counts,
    /// How many of the newest notes of each store were looked at, if not all.
    pub looked_at: Option<u64>,
    /// What is not listed, and why, in whole sentences.
    pub remarks: Vec<Text>,
    pub filter: NoteFilter,
    /// Notes with something that speaks against them.
    pub doubtful: Vec<NoteCard>,
    /// Notes of a model that wait for the user.
    pub unconfirmed: Vec<NoteCard>,
    /// Notes that hold, the newest first.
    pub current: Vec<NoteCard>,
    /// Notes that a newer one replaces.
    pub superseded: Vec<NoteCard>,
    /// Old notes that nobody has opened.
    pub never_read: Vec<NoteCard>,
    pub is_first: bool,
    /// The place of the last note on this page, if others follow.
    pub next: Option<Text>,
}

/// How many notes there are of each sort.
#[derive(Debug, Clone, Copy, Default)]
pub struct Counts {
    pub topics: u64,
    pub doubtful: u64,
    /// Notes that wait for the user.
    pub unconfirmed: u64,
    /// Notes that hold.
    pub current: u64,
    pub superseded: u64,
    /// Old notes that nobody has opened.
    pub never_read: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoteFilter {
    /// Those that need the user, and the newest others.
    Review,
    /// Those that hold.
    Current,
    Superseded,
    /// Old ones that nobody has opened.
    NeverRead,
    All,
}

impl NoteFilter {
    const ALL: [Self; 5] = [Self::Review, Self::Current, Self::Superseded, Self::NeverRead, Self::All];

    /// Returns the word in addresses.
    pub fn word(self) -> &'static str {
        match self {
            Self::Review => "",
            Self::Current => "current",
            Self::Superseded => "superseded",
            Self::NeverRead => "never-read",
            Self::All => "all",
        }
    }

    fn label(self, counts: &Counts) -> String {
        let (name, number) = match self {
            Self::Review => ("To review", sum(&[counts.doubtful, counts.unconfirmed])),
            Self::Current => ("Current", counts.current),
            Self::Superseded => ("Superseded", counts.superseded),
            Self::NeverRead => ("Never read", counts.never_read),
            Self::All => ("All", sum(&[counts.doubtful, counts.unconfirmed, counts.current, counts.superseded])),
        };
        format!("{name} {}", count(number))
    }
}

impl Notes {
    pub fn render(&self, shell: &Shell) -> String {
        let first = (!self.is_first).then(|| self.address(shell, self.filter, ""));
        let next = self.next.as_ref().map(|place| self.address(shell, self.filter, place.raw()));
        let lists = [&self.doubtful, &self.unconfirmed, &self.current, &self.superseded, &self.never_read];
        let shown = counted(lists.iter().map(|notes| notes.len() as u64).sum(), "note", "notes");
        let main = html! {
            (head(html! { "Notes" }, self.sentence(shell), new_note(shell)))
            (chips("Which notes", &NoteFilter::ALL.map(|filter| self.choice(filter, shell))))
            (self.lists(shell))
            (linked_pages(["First", "Next"], first.as_deref(), next.as_deref(), &format!("{shown} on this page")))
        };
        let keys: &[Key] = &[
            MOVE,
            Key { keys: &["c"], does: "to Still true, Confirm" },
            Key { keys: &["e"], does: "edit" },
            Key { keys: &["Enter"], does: "show revisions" },
            Key { keys: &["[", "]"], does: "first, next page" },
        ];
        shell.document(&Content { page: Some(Page::Notes), title: "Notes", keys, main })
    }

    fn sentence(&self, shell: &Shell) -> Markup {
        let counts = &self.counts;
        html! {
            p {
                @match sum(&[counts.doubtful, counts.unconfirmed, counts.current]) {
                    0 => "No notes",
                    notes => (counted(notes, "note", "notes")),
                }
                @if counts.topics > 0 { " on " (counted(counts.topics, "topic", "topics")) }
                " in " (shell.project_name()) ". "
                @match (counts.doubtful, counts.unconfirmed) {
                    (0, 0) => "Nothing needs you.",
                    (doubtful, 0) => { (count(doubtful)) " may no longer be true." }
                    (0, waiting) => {
                        (count(waiting)) " " (written(waiting)) " written by the model and " (needs(waiting))
                        " your confirmation."
                    }
                    (doubtful, waiting) => {
                        (count(doubtful)) " may no longer be true, and " (count(waiting)) " " (written(waiting))
                        " written by the model and " (needs(waiting)) " your confirmation."
                    }
                }
                @if let Some(number) = self.looked_at {
                    " Only the newest " (count(number))
                    " notes of each store are listed and counted; search finds the older ones."
                }
                @for remark in &self.remarks { " " (remark) }
            }
        }
    }

    fn choice(&self, filter: NoteFilter, shell: &Shell) -> Choice {
        Choice {
            label: filter.label(&self.counts),
            href: self.address(shell, filter, ""),
            is_chosen: filter == self.filter,
        }
    }

    /// Returns the address of the notes after a place, or of the first ones.
    fn address(&self, shell: &Shell, filter: NoteFilter, after: &str) -> String {
        with_query(&shell.page(Page::Notes), &[("show", filter.word()), ("after", after)])
    }

    fn lists(&self, shell: &Shell) -> Markup {
        let is_all = self.filter == NoteFilter::All;
        let needs_user = is_all || self.filter == NoteFilter::Review;
        // On a page of all notes, a list without a note may go on elsewhere.
        let has = |notes: &[NoteCard], filter: NoteFilter| self.filter == filter || (is_all && !notes.is_empty());
        html! {
            @if !self.doubtful.is_empty() && needs_user {
                @let aside = self.aside(self.doubtful.len(), self.counts.doubtful, NoteFilter::All, shell);
                (section("h-doubt", "May no longer be true", aside, html! {
                    p.lede {
                        "Something that a note was bound to has changed. That is a doubt, not a verdict: you decide."
                    }
                    (list(&self.doubtful, shell))
                }))
            }
            @if !self.unconfirmed.is_empty() && needs_user {
                @let aside = self.aside(self.unconfirmed.len(), self.counts.unconfirmed, NoteFilter::All, shell);
                (section("h-model", "Written by the model, not confirmed", aside, list(&self.unconfirmed, shell)))
            }
            @if self.filter == NoteFilter::Review || has(&self.current, NoteFilter::Current) || self.is_bare() {
                (self.current(shell))
            }
            @if has(&self.superseded, NoteFilter::Superseded) {
                @let aside = self.aside(self.superseded.len(), self.counts.superseded, NoteFilter::Superseded, shell);
                (section("h-old", "Superseded", aside, or_empty(
                    &self.superseded,
                    shell,
                    "No note was replaced.",
                    "A note that a newer one replaces is listed here with all its revisions.",
                )))
            }
            @if matches!(self.filter, NoteFilter::Review | NoteFilter::NeverRead) {
                @let aside = self.aside(self.never_read.len(), self.counts.never_read, NoteFilter::NeverRead, shell);
                (section("h-unread", "Never read", aside, or_empty(
                    &self.never_read,
                    shell,
                    "No note older than 30 days is unread.",
                    "One that nobody opens is listed here, so that you can reword or remove it.",
                )))
            }
        }
    }

    fn current(&self, shell: &Shell) -> Markup {
        let aside = self.aside(self.current.len(), self.counts.current, NoteFilter::Current, shell);
        let (fact, otherwise) = match self.is_empty() {
            true => (
                "There are no notes yet.",
                "What you or the model decide and learn is kept here, with a reference that can be opened later.",
            ),
            false => ("No note is current and confirmed.", "Those that need you are under To review."),
        };
        section("h-current", "Current", aside, or_empty(&self.current, shell, fact, otherwise))
    }

    /// Returns how many notes of a list are shown, if not all, and a link to the filter that shows all of them.
    fn aside(&self, shown: usize, all: u64, filter: NoteFilter, shell: &Shell) -> Markup {
        html! {
            @if (shown as u64) < all {
                (count(shown as u64)) " of " (count(all)) ", newest first. "
                @if self.filter != filter { a href=(self.address(shell, filter, "")) { "Show all" } }
            } @else if shown > 1 { "newest first" }
        }
    }

    fn is_bare(&self) -> bool {
        self.filter == NoteFilter::All && self.is_empty()
    }

    fn is_empty(&self) -> bool {
        let counts = &self.counts;
        sum(&[counts.doubtful, counts.unconfirmed, counts.current, counts.superseded]) == 0
    }
}

fn list(notes: &[NoteCard], shell: &Shell) -> Markup {
    html! { ul.notes.panel { @for (at, note) in notes.iter().enumerate() { (note.render(shell, at == 0)) } } }
}

fn or_empty(notes: &[NoteCard], shell: &Shell, fact: &str, otherwise: &str) -> Markup {
    if notes.is_empty() { empty(fact, html! { (otherwise) }) } else { list(notes, shell) }
}

fn new_note(shell: &Shell) -> Markup {
    html! {
        details.second.new {
            summary.button { "New note…" }
            div.step.panel {
                (post(shell, &shell.at("/notes/new"), html! {
                    div.row {
                        label { "Topic" input type="text" name="topic" autocomplete="off" maxlength="200"; }
                        label { "Kind" select name="kind" {
                            @for kind in weir_core::NoteKind::ALL { option value=(kind.as_str()) { (kind.as_str()) } }
                        } }
                    }
                    label { "Note" textarea name="text" rows="4" required {} }
                    p.hint { "It is kept for " (shell.project_name()) "." }
                    button.button type="submit" { "Write it" }
                }))
            }
        }
    }
}

fn sum(numbers: &[u64]) -> u64 {
    numbers.iter().copied().fold(0, u64::saturating_add)
}

fn written(number: u64) -> &'static str {
    if number == 1 { "was" } else { "were" }
}

fn needs(number: u64) -> &'static str {
    if number == 1 { "needs" } else { "need" }
}
