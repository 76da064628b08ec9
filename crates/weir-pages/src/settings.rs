//! Settings as read: what is set, by which file, and what was ignored. Nothing here changes anything.

use maud::{Markup, html};

use crate::components::{COPY, Key, MOVE, empty, head, section};
use crate::figures::{count, counted};
use crate::routes::Page;
use crate::shell::{Content, Shell};
use crate::text::{Prose, Text};

#[derive(Debug, Clone)]
pub struct Settings {
    /// The files that were read, in the order in which they count.
    pub files: Vec<SettingsFile>,
    /// The settings, by table of the file.
    pub groups: Vec<Group>,
}

#[derive(Debug, Clone)]
pub struct SettingsFile {
    pub path: Text,
    /// Whose it is, and what it may do.
    pub about: Text,
    pub state: FileState,
}

#[derive(Debug, Clone)]
pub enum FileState {
    /// It was read; so many settings are in it.
    Read(u64),
    /// It was read, and has no settings but something else.
    Used,
    Absent,
    /// It could not be read, and why.
    Unreadable(Text),
}

/// Settings that belong together.
#[derive(Debug, Clone)]
pub struct Group {
    pub name: Text,
    pub settings: Vec<Setting>,
}

#[derive(Debug, Clone)]
pub struct Setting {
    pub name: Text,
    /// Its value, as the file would have it.
    pub value: Text,
    /// What it does, in one sentence.
    pub about: Prose,
    pub set_by: SetBy,
}

#[derive(Debug, Clone)]
pub enum SetBy {
    /// Nothing: it is as built in.
    Default,
    Variable(Text),
    /// A line of a file.
    File {
        path: Text,
        line: Option<u64>,
    },
}

impl Settings {
    pub fn render(&self, shell: &Shell) -> String {
        let settings = || self.groups.iter().flat_map(|group| &group.settings);
        let changed = settings().filter(|setting| !matches!(setting.set_by, SetBy::Default)).count() as u64;
        let sentence = html! {
            p {
                @if changed == 0 { "No setting differs" }
                @else { (counted(changed, "setting differs", "settings differ")) }
                " from what is built in"
                ". This page only shows settings; to change one, edit the file."
            }
        };
        let main = html! {
            (head(html! { "Settings" }, sentence, html! {}))
            (section("h-files", "Files", html! {}, self.files()))
            (section("h-set", "What is set", html! {}, self.changed()))
            (section("h-rest", "As built in", html! {}, html! {
                @for group in &self.groups { (group.render()) }
            }))
        };
        let keys: &[Key] = &[MOVE, COPY];
        shell.document(&Content { page: Some(Page::Settings), title: "Settings", keys, main })
    }

    fn changed(&self) -> Markup {
        let differing = |group: &'_ Group| group.settings.iter().filter(|setting| setting.differs()).count();
        html! {
            @if self.groups.iter().all(|group| differing(group) == 0) {
                (empty("Nothing is set.", html! { "Everything is as built in." }))
            } @else {
                ul.settings.panel {
                    @for group in &self.groups {
                        @for setting in group.settings.iter().filter(|setting| setting.differs()) {
                            (setting.render(Some(&group.name)))
                        }
                    }
                }
            }
        }
    }

    fn files(&self) -> Markup {
        html! {
            @if self.files.is_empty() {
                (empty("There is no file of settings.", html! { "Everything is as built in." }))
            } @else {
                ul.settings.panel {
                    @for file in &self.files {
                        li data-row tabindex="-1" {
                            code.name data-copy=(file.path.plain()) { (file.path) }
                            div.value {
                                @match &file.state {
                                    FileState::Read(number) => (counted(*number, "setting", "settings")),
                                    FileState::Used => "in use",
                                    FileState::Absent => span.muted { "does not exist" },
                                    FileState::Unreadable(why) => { span.badge.bad { "cannot be read" } " " (why) }
                                }
                                span.sub { (file.about) }
                            }
                        }
                    }
                }
            }
        }
    }
}

impl Group {
    /// Returns the settings that are as built in, folded.
    fn render(&self) -> Markup {
        let rest: Vec<&Setting> = self.settings.iter().filter(|setting| !setting.differs()).collect();
        html! {
            @if !rest.is_empty() {
                details.panel.settings-rest {
                    summary { (self.name) ", " (counted(rest.len() as u64, "setting", "settings")) }
                    ul.settings { @for setting in rest { (setting.render(None)) } }
                }
            }
        }
    }
}

impl Setting {
    fn differs(&self) -> bool {
        !matches!(self.set_by, SetBy::Default)
    }

    /// Returns the setting as an item, with its table if it is among those of others.
    fn render(&self, table: Option<&Text>) -> Markup {
        let is_default = matches!(self.set_by, SetBy::Default);
        html! {
            li data-row tabindex="-1" {
                div.name {
                    code { (self.name) }
                    @if let Some(table) = table { span.muted { ", " (table) } }
                    span.sub { (self.about) }
                }
                div.value {
                    code.muted[is_default] { (self.value) }
                    span.sub {
                        @match &self.set_by {
                            SetBy::Default => {}
                            SetBy::Variable(name) => { "set by the variable " code { (name) } }
                            SetBy::File { path, line }
                            => { "set by " code { (path) } @if let Some(line) = line { ", line " (count(*line)) } }
                        }
                    }
                }
            }
        }
    }
}
