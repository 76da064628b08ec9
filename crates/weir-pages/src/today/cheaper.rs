//! The notice that another size of the window would have cost less.

use maud::{Markup, html};

use crate::figures::{Money, count};
use crate::routes::Page;
use crate::shell::Shell;
use crate::text::Text;

/// A window size that would have cost less.
#[derive(Debug, Clone)]
pub struct CheaperWindow {
    pub size: u64,
    /// The size as it is set now; none if it is not set, and sessions are compared with what they cost.
    pub now: Option<u64>,
    /// How much less it would have cost, if the prices are known.
    pub saved: Option<Money>,
    /// For how many sessions it would have been cheaper and dearer.
    pub for_whom: Text,
}

impl CheaperWindow {
    pub(super) fn render(&self, shell: &Shell) -> Markup {
        html! {
            div.notice {
                div {
                    b { "Another window would have cost less." } " "
                    span.muted {
                        "Compacting at " (count(self.size)) " tokens "
                        @if let Some(now) = self.now { "instead of " (count(now)) " " }
                        "would have "
                        @match self.saved {
                            Some(saved) => { "cost " (saved.show()) " less, " }
                            None => "been ",
                        }
                        (self.for_whom) "."
                    }
                }
                div.actions { a.button href=(shell.page(Page::Window)) { "See what each size costs" } }
            }
        }
    }
}
