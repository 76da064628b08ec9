//! A page that only says something: a link that was used, a page that does not exist, a form that was not accepted.

use maud::{DOCTYPE, Markup, html};

use crate::assets::STYLE;
use crate::components::{command, head};
use crate::routes::Page;
use crate::shell::{Content, Shell};
use crate::text::Text;

/// What is the case, what follows from it, and what to do.
#[derive(Debug, Clone)]
pub struct Message {
    /// What is the case, as a heading.
    pub title: Text,
    /// What follows from it.
    pub meaning: Text,
    pub command: Option<Text>,
}

impl Message {
    /// Returns the page inside the shell, for someone who was let in. It is none of the menu.
    pub fn render(&self, shell: &Shell) -> String {
        self.inside(shell, None)
    }

    /// Returns the page inside the shell, in place of one of the menu.
    pub fn render_as(&self, shell: &Shell, page: Page) -> String {
        self.inside(shell, Some(page))
    }

    fn inside(&self, shell: &Shell, page: Option<Page>) -> String {
        let back = html! { a.button href=(shell.page(Page::Today)) { "Go to Today" } };
        let main = html! { (head(html! { (self.title) }, html! {}, back)) (self.panel()) };
        shell.document(&Content { page, title: &self.title.plain(), keys: &[], main })
    }

    /// Returns the page without a menu, for someone who was not let in. It names no project and has no form.
    pub fn render_alone(&self) -> String {
        self.alone(&html! {})
    }

    /// Returns the page without a menu, with a link to the pages: those of a project, or of all of them.
    pub fn render_welcome(&self, project: Option<&Text>) -> String {
        let address = Shell::in_project(Page::Today, project);
        self.alone(&html! { p { a.button.primary href=(address) { "Go to Today" } } })
    }

    fn alone(&self, link: &Markup) -> String {
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta name="referrer" content="same-origin";
                    title { (self.title.plain()) " · Weir" }
                    link rel="stylesheet" href=(STYLE.path());
                }
                body.alone {
                    main #main { (head(html! { (self.title) }, html! {}, html! {})) (self.panel()) (link) }
                }
            }
        }
        .into_string()
    }

    fn panel(&self) -> Markup {
        html! {
            section aria-label="What to do" {
                div.panel.empty { p { (self.meaning) } @if let Some(text) = &self.command { (command(text)) } }
            }
        }
    }
}
