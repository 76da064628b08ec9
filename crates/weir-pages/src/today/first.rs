//! Today before anything was recorded: what to do first.

use maud::{Markup, html};

use crate::components::{command, head};
use crate::figures::{count, counted};
use crate::routes::Page;
use crate::shell::{Content, Shell};
use crate::text::Text;

/// What stands in place of [`super::Today`] before the first event.
#[derive(Debug, Clone)]
pub struct FirstSteps {
    /// The clients that were found on this machine and are not set up.
    pub clients: Vec<Text>,
    /// The clients that are set up.
    pub connected: Vec<Text>,
    /// Sessions that could be imported; none if nobody has looked.
    pub earlier_sessions: Option<u64>,
    /// The size above which outputs are held back, in tokens.
    pub smallest_held: u64,
}

impl FirstSteps {
    pub fn render(&self, shell: &Shell) -> String {
        let main = html! {
            (head(html! { "Today" }, html! { p { "Nothing has been recorded yet." } }, html! {}))
            ol.steps.panel {
                li {
                    h2 { "Connect a client" }
                    p { (self.found()) }
                    @if self.clients.is_empty() && !self.connected.is_empty() {
                        p { "Start a session there. A session that was open before must be started again." }
                    } @else { (command(&"weir setup".into())) }
                }
                li {
                    h2 { "Bring in what you already have" }
                    p {
                        @match self.earlier_sessions {
                            None => {
                                "Earlier sessions become searchable, "
                                "and the Window page can say what each size would have cost."
                            }
                            Some(0) => "No earlier sessions were found. There is nothing to do here.",
                            Some(number) => {
                                (counted(number, "earlier session", "earlier sessions"))
                                ". They become searchable, and the Window page can say what each size would have cost."
                            }
                        }
                    }
                    @if self.earlier_sessions != Some(0) { (command(&"weir import".into())) }
                }
                li {
                    h2 { "Work as usual" }
                    p {
                        "The first output of more than " (count(self.smallest_held))
                        " tokens shows up here, with what it saved and what it cost."
                    }
                }
            }
        };
        shell.document(&Content { page: Some(Page::Today), title: "Today", keys: &[], main })
    }

    fn found(&self) -> Markup {
        let is_one = |clients: &[Text]| clients.len() == 1;
        html! {
            @match (self.clients.as_slice(), self.connected.as_slice()) {
                ([], []) => "No client was found on this machine.",
                ([], set_up) => { (names(set_up)) (if is_one(set_up) { " is" } else { " are" }) " set up already." }
                (found, _) => {
                    (names(found)) (if is_one(found) { " was" } else { " were" })
                    " found on this machine. You see every line before it is written."
                }
            }
        }
    }
}

/// Returns names as a sentence lists them.
fn names(names: &[Text]) -> Markup {
    html! {
        @for (at, name) in names.iter().enumerate() {
            @if at > 0 { (if at + 1 == names.len() { " and " } else { ", " }) }
            (name)
        }
    }
}
