//! One note: its topic, text and origin, its revisions, and what raised a doubt.

use maud::{Markup, html};

use crate::components::{act_button, forget, origin, post, reference};
use crate::figures::times;
use crate::moment::Moment;
use crate::routes::Act;
use crate::shell::Shell;
use crate::text::Text;
use crate::words::{Badge, Span, Standing, Words};

#[derive(Debug, Clone)]
pub struct NoteCard {
    pub reference: Text,
    pub topic: Option<Text>,
    /// What kind of note it is: decision, finding, warning.
    pub kind: Text,
    pub revision: u64,
    pub at: Moment,
    /// How often it was opened; none if that is not counted.
    pub read: Option<u64>,
    pub text: Text,
    /// Whether that is all of it. If not, it cannot be edited here.
    pub is_whole: bool,
    pub words: Words,
    /// How far it is visible: `project`, `branch round-lines`, `everywhere`.
    pub reach: Text,
    pub files: Vec<Text>,
    /// What speaks against it.
    pub doubts: Vec<Badge>,
    /// Its revisions, the newest first; one alone is not shown.
    pub revisions: Vec<Revision>,
    pub is_superseded: bool,
}

#[derive(Debug, Clone)]
pub struct Revision {
    pub number: u64,
    pub at: Moment,
    pub words: Words,
    pub reference: Text,
    /// The text, with what it added and what the next one removed.
    pub text: Vec<Span>,
    pub is_superseded: bool,
}

pub(crate) const FORGETTING_A_NOTE: &str = "The note and all its revisions are removed. This cannot be taken back.";

impl NoteCard {
    /// Returns the note as an item of a list. It opens to its revisions and to what can be done, unless that is asked
    /// of the user now. The first one with a doubt is open.
    pub(super) fn render(&self, shell: &Shell, is_first: bool) -> Markup {
        let waits = self.doubts.is_empty() && self.words.standing == Standing::Unconfirmed;
        let has_more = self.revisions.len() > 1 || !(waits || self.is_superseded);
        let is_open = is_first && !self.doubts.is_empty();
        html! {
            li data-row {
                @if has_more {
                    details.note open[is_open] {
                        summary { (self.summary(shell)) }
                        div.inside {
                            @if self.revisions.len() > 1 { (self.revisions(shell)) } @else { (self.reference(shell)) }
                            (self.actions(shell, is_open))
                        }
                    }
                } @else { div.note.flat { (self.summary(shell)) (self.reference(shell)) (self.actions(shell, false)) } }
            }
        }
    }

    fn summary(&self, shell: &Shell) -> Markup {
        html! {
            span.topic {
                @if let Some(topic) = &self.topic { b { (topic) } " " }
                span.muted { (self.kind) ", revision " (self.revision) }
            }
            span.when {
                (self.at.day(shell.now))
                @match self.read { Some(0) => ", never read", Some(read) => { ", read " (times(read)) } None => {} }
            }
            span.says {
                (self.text)
                @if !self.is_whole { span.muted { " … The whole note is behind its reference." } }
            }
            span.meta {
                (origin(&self.words))
                span { (self.reach) }
                @if !self.files.is_empty() {
                    span {
                        "bound to "
                        @for (at, file) in self.files.iter().enumerate() { @if at > 0 { ", " } code { (file) } }
                    }
                }
                @for doubt in self.doubts.iter().take(2) { (doubt) }
                @if self.doubts.len() > 2 { span { "and " (self.doubts.len() - 2) " more" } }
                @if self.is_superseded { span.badge { "superseded" } }
            }
        }
    }

    fn reference(&self, shell: &Shell) -> Markup {
        html! { div.hint { "Reference " (reference(shell, &self.reference)) } }
    }

    fn revisions(&self, shell: &Shell) -> Markup {
        html! {
            ol.revs {
                @for (at, revision) in self.revisions.iter().enumerate() {
                    li.now[at == 0] {
                        div.hint {
                            "revision " (revision.number) ", " (revision.at.day(shell.now)) ", "
                            (revision.words.label()) ", "
                            (reference(shell, &revision.reference)) @if revision.is_superseded { ", superseded" }
                        }
                        div.says { @for span in &revision.text { (span) } }
                    }
                }
            }
        }
    }

    fn actions(&self, shell: &Shell, is_primary: bool) -> Markup {
        let confirm = match (self.doubts.is_empty(), self.words.standing) {
            (false, _) => Some("Still true"),
            (true, Standing::Unconfirmed) => Some("Confirm"),
            _ => None,
        };
        html! {
            @if !self.is_superseded {
                div.state {
                    @if let Some(label) = confirm {
                        (act_button(shell, Act::Confirm, &self.reference, (label, is_primary)))
                    }
                    @if self.is_whole { (self.edit(shell)) }
                    (forget(shell, &self.reference, FORGETTING_A_NOTE))
                }
            }
        }
    }

    fn edit(&self, shell: &Shell) -> Markup {
        html! {
            details.second {
                summary.button data-key="e" { "Edit…" }
                div.step.panel {
                    (post(shell, &shell.act(Act::Edit, &self.reference), html! {
                        label { "New revision" textarea name="text" rows="4" required { (self.text.raw()) } }
                        button.button type="submit" { "Write it" }
                    }))
                }
            }
        }
    }
}
