//! What came of a session: done, decided, failed, open.

use maud::{Markup, html};

use super::Session;
use crate::components::{origin, reference, section};
use crate::figures::{count, counted, duration};
use crate::shell::Shell;
use crate::text::Text;
use crate::words::Words;

/// What came of a session.
#[derive(Debug, Clone, Default)]
pub struct Reflection {
    pub done: Statements,
    pub decided: Statements,
    pub failed: Statements,
    pub open: Statements,
}

/// Things of one sort that came of a session.
#[derive(Debug, Clone, Default)]
pub struct Statements {
    pub shown: Vec<Statement>,
    /// How many more there are.
    pub left_out: u64,
}

/// One thing that came of a session.
#[derive(Debug, Clone)]
pub struct Statement {
    /// The thing in one sentence.
    pub text: Text,
    pub words: Words,
    /// The entry or note that says more.
    pub reference: Option<Text>,
}

const NOTHING_DONE: &str = "Nothing was finished. A task that the model completes, or a commit, would be listed here.";
const NOTHING_DECIDED: &str = "Nothing was decided. What you or the model settle would be listed here.";
const NOTHING_FAILED: &str = "Nothing failed for good. An approach that was given up would be listed here.";
const NOTHING_OPEN: &str = "Nothing is left open. A task that the model has not finished, or an error without a fix, \
                            would be listed here.";

impl Reflection {
    pub(super) fn render(&self, session: &Session, shell: &Shell) -> Markup {
        let events = counted(session.timeline.total, "event", "events");
        let newest = if session.timeline.is_cut { "the newest " } else { "" };
        let aside = html! { (newest) (events) " over " (duration(session.to.seconds_since(session.from))) };
        let content = html! {
            div.panel.quads {
                (part("Done", &self.done, NOTHING_DONE, shell))
                (part("Decided", &self.decided, NOTHING_DECIDED, shell))
                (part("Failed, and why", &self.failed, NOTHING_FAILED, shell))
                (part("Open", &self.open, NOTHING_OPEN, shell))
            }
        };
        section("h-reflect", "Reflect", aside, content)
    }
}

fn part(name: &str, statements: &Statements, otherwise: &str, shell: &Shell) -> Markup {
    html! {
        div {
            h3 { (name) }
            @if statements.shown.is_empty() { p.muted { (otherwise) } }
            @else {
                ul {
                    @for statement in &statements.shown {
                        li {
                            (statement.text) " "
                            @if let Some(entry) = &statement.reference { (reference(shell, entry)) " " }
                            span.whose { (origin(&statement.words)) }
                        }
                    }
                    @if statements.left_out > 0 {
                        li.muted { "and " (count(statements.left_out)) " more; see " code { "weir reflect" } }
                    }
                }
            }
        }
    }
}
