//! What surrounds every page: the head, the menu, the theme, the keys.

use maud::{DOCTYPE, Markup, html};

use crate::assets::{KEYS, STYLE};
use crate::components::{Key, key_list, post};
use crate::figures::{count, counted};
use crate::moment::Moment;
use crate::routes::Page;
use crate::text::Text;

/// The frame of a page: where it is, in which project, how it looks, and the token of its forms.
#[derive(Debug, Clone)]
pub struct Shell {
    /// The chosen project; none means all of them.
    pub project: Option<ProjectLink>,
    pub other_projects: Vec<ProjectLink>,
    pub theme: Theme,
    /// Whether single letters act as keys. Some people type by voice, and must be able to turn them off.
    pub has_keys: bool,
    /// The token that every form sends back.
    pub token: Text,
    /// The path and query of this page, to return to after a form.
    pub path: Text,
    pub version: Text,
    /// When the page was made.
    pub now: Moment,
    /// How many notes need the user; none if that was not looked up.
    pub notes_to_review: Option<u64>,
    /// How many checks did not pass; none if they were not made.
    pub failing_checks: Option<u64>,
}

#[derive(Debug, Clone)]
pub struct ProjectLink {
    /// The identity of the project.
    pub key: Text,
    pub name: Text,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theme {
    System,
    Light,
    Dark,
}

impl Theme {
    const ALL: [Self; 3] = [Self::System, Self::Light, Self::Dark];

    /// Returns the word that the form sends and the cookie keeps.
    pub fn word(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    fn label(self) -> &'static str {
        match self {
            Self::System => "System",
            Self::Light => "Light",
            Self::Dark => "Dark",
        }
    }
}

/// The content of a page and what the frame must know of it.
pub(crate) struct Content<'a> {
    /// The page of the menu that it is, if it is one.
    pub(crate) page: Option<Page>,
    pub(crate) title: &'a str,
    pub(crate) keys: &'a [Key],
    pub(crate) main: Markup,
}

impl Shell {
    pub(crate) fn document(&self, content: &Content<'_>) -> String {
        let theme = (self.theme != Theme::System).then(|| self.theme.word());
        html! {
            (DOCTYPE)
            html lang="en" data-theme=[theme] {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    meta name="referrer" content="same-origin";
                    title { (content.title) " · Weir" }
                    link rel="stylesheet" href=(STYLE.path());
                    @if self.has_keys { script src=(KEYS.path()) defer {} }
                }
                body {
                    a.skip href="#main" { "Skip to content" }
                    (self.bar())
                    (self.menu(content.page))
                    main #main { (content.main) @if self.has_keys { (key_list(content.keys, self)) } }
                }
            }
        }
        .into_string()
    }

    /// Returns the name of the project as a [`Text`], or the words for all of them.
    pub(crate) fn project_name(&self) -> Text {
        self.project.as_ref().map_or_else(|| "all projects".into(), |project| project.name.clone())
    }

    /// The line on top of narrow windows, which opens the menu.
    fn bar(&self) -> Markup {
        html! {
            header.bar {
                a.brand href=(self.page(Page::Today)) {
                    (mark())
                    span { "Weir " span.in { "/ " (self.project_name()) } }
                }
                a.button href=(self.page(Page::Search)) { "Search" }
                button.button type="button" popovertarget="menu" { "Menu" }
            }
        }
    }

    fn menu(&self, current: Option<Page>) -> Markup {
        let is_current = |page: Page| (Some(page) == current).then_some("page");
        html! {
            aside.side #menu aria-label="Menu" popover {
                a.brand href=(self.page(Page::Today)) { (mark()) "Weir" }
                (self.project_switch(current.unwrap_or(Page::Today)))
                a.field href=(self.page(Page::Search)) aria-current=[is_current(Page::Search)]
                    data-go=(Page::Search.letter()) data-search {
                    "Search " kbd hidden data-hint { "/" }
                }
                nav.nav aria-label="Pages" {
                    @for page in Page::menu() {
                        @if page == Page::Health { hr; }
                        a href=(self.page(page)) aria-current=[is_current(page)] data-go=(page.letter()) {
                            (page.name()) " " (self.badge_of(page))
                        }
                    }
                }
                div.foot {
                    (self.theme_form())
                    @if !self.has_keys {
                        (post(self, "/keys", html! {
                            button.button type="submit" name="keys" value="on" { "Turn keys on" }
                        }))
                    }
                    p { "Weir " (self.version) ", on this machine only." br; "Nothing here is sent anywhere." }
                }
            }
        }
    }

    fn project_switch(&self, current: Page) -> Markup {
        let chosen = self.project.as_ref().map_or_else(|| "All projects".into(), |project| project.name.clone());
        html! {
            details.switch {
                summary { span.sr { "Project: " } span.name { (chosen) } }
                ul {
                    @if self.project.is_some() {
                        li { a href=(Self::in_project(current, None)) { "All projects" } }
                    }
                    @for project in &self.other_projects {
                        li { a href=(Self::in_project(current, Some(&project.key))) { (project.name) } }
                    }
                    @if self.project.is_none() && self.other_projects.is_empty() {
                        li.muted { "No project has a store yet." }
                    }
                }
            }
        }
    }

    fn badge_of(&self, page: Page) -> Markup {
        let (number, is_warning) = match page {
            Page::Notes => (self.notes_to_review, false),
            Page::Health => (self.failing_checks, true),
            _ => (None, false),
        };
        html! {
            @if let Some(number) = number.filter(|number| *number > 0) {
                @if is_warning {
                    span.count.warn {
                        (count(number))
                        span.sr { " " (if number == 1 { "check needs" } else { "checks need" }) " attention" }
                    }
                } @else {
                    span.count { (count(number)) " to review" }
                }
            }
        }
    }

    fn theme_form(&self) -> Markup {
        post(
            self,
            "/theme",
            html! {
                fieldset.segments.themes {
                    legend.sr { "Theme" }
                    @for theme in Theme::ALL {
                        button type="submit" name="theme" value=(theme.word()) aria-pressed=(theme == self.theme) {
                            (theme.label())
                        }
                    }
                }
            },
        )
    }
}

/// Returns the sentence about how many sessions there are, or that there are none.
pub(crate) fn sessions_of(number: u64) -> String {
    if number == 0 { "no sessions".to_owned() } else { counted(number, "session", "sessions") }
}

fn mark() -> Markup {
    html! {
        svg.mark width="20" height="20" viewBox="0 0 20 20" aria-hidden="true" {
            path.water d="M1 6h7v12H1zM12 14h7v4h-7z" {}
            path.wall d="M8 3h3v15H8z" {}
        }
    }
}
