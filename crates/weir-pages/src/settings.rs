//! Settings as read: what is set, by which file, and what was ignored. Nothing here changes anything.

use maud::{Markup, html};

use crate::components::{COPY, Key, MOVE, empty, head, section};
use crate::figures::{count, counted};
use crate::routes::Page;
use crate::shell::{Content, Shell};
use crate::text::Text;

/// The settings that apply.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The files that were read, in the order in which they count.
    pub files: Vec<SettingsFile>,
    /// The settings, by table of the file.
    pub groups: Vec<Group>,
}

/// A file of settings.
#[derive(Debug, Clone)]
pub struct SettingsFile {
    /// Its path.
    pub path: Text,
    /// Whose it is, and what it may do.
    pub about: Text,
    /// What became of it.
    pub state: FileState,
}

/// What became of a file.
#[derive(Debug, Clone)]
pub enum FileState {
    /// It was read; so many settings are in it.
    Read(u64),
    /// It was read, and has no settings but something else.
    Used,
    /// It does not exist.
    Absent,
    /// It could not be read, and why.
    Unreadable(Text),
}

/// Settings that belong together.
#[derive(Debug, Clone)]
pub struct Group {
    /// The name of the table.
    pub name: Text,
    /// The settings in it.
    pub settings: Vec<Setting>,
}

/// A setting.
#[derive(Debug, Clone)]
pub struct Setting {
    /// Its name in the file.
    pub name: Text,
    /// Its value, as the file would have it.
    pub value: Text,
    /// What it does, in one sentence.
    pub about: Text,
    /// What has set it.
    pub set_by: SetBy,
    /// Values of other files that do not count, and why.
    pub ignored: Vec<Ignored>,
}

/// What has set a setting.
#[derive(Debug, Clone)]
pub enum SetBy {
    /// Nothing: it is as built in.
    Default,
    /// A variable of the environment.
    Variable(Text),
    /// A line of a file.
    File {
        /// The file.
        path: Text,
        /// The line.
        line: Option<u64>,
    },
}

/// A value that does not count.
#[derive(Debug, Clone)]
pub struct Ignored {
    /// The value.
    pub value: Text,
    /// Where it is.
    pub path: Text,
    /// Why it does not count.
    pub why: Text,
}

impl Settings {
    /// Returns the page.
    pub fn render(&self, shell: &Shell) -> String {
        let settings = || self.groups.iter().flat_map(|group| &group.settings);
        let changed = settings().filter(|setting| !matches!(setting.set_by, SetBy::Default)).count() as u64;
        let ignored = settings().map(|setting| setting.ignored.len() as u64).sum::<u64>();
        let sentence = html! {
            p {
                @if changed == 0 { "No setting differs" }
                @else { (counted(changed, "setting differs", "settings differ")) }
                " from what is built in"
                @if ignored > 0 { ", and " (counted(ignored, "value does", "values do")) " not count" }
                ". This page only shows settings; to change one, edit the file."
            }
        };
        let main = html! {
            (head(html! { "Settings" }, sentence, html! {}))
            (section("h-files", "Files", html! {}, self.files()))
            @for (at, group) in self.groups.iter().enumerate() { (group.render(at)) }
        };
        let keys: &[Key] = &[MOVE, COPY];
        shell.document(&Content { page: Some(Page::Settings), title: "Settings", keys, main })
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
    fn render(&self, at: usize) -> Markup {
        let id = format!("h-group-{at}");
        let number = self.settings.len() as u64;
        html! {
            section aria-labelledby=(id) {
                div.title { h2 #(id) { (self.name) } p.aside { (counted(number, "setting", "settings")) } }
                ul.settings.panel { @for setting in &self.settings { (setting.render()) } }
            }
        }
    }
}

impl Setting {
    fn render(&self) -> Markup {
        let is_default = matches!(self.set_by, SetBy::Default);
        html! {
            li data-row tabindex="-1" {
                div.name { code { (self.name) } span.sub { (self.about) } }
                div.value {
                    code.muted[is_default] { (self.value) }
                    span.sub {
                        @match &self.set_by {
                            SetBy::Default => "as built in",
                            SetBy::Variable(name) => { "set by the variable " code { (name) } }
                            SetBy::File { path, line }
                            => { "set by " code { (path) } @if let Some(line) = line { ", line " (count(*line)) } }
                        }
                    }
                    @for other in &self.ignored {
                        span.sub {
                            span.badge.doubt { "does not count" }
                            " " code { (other.value) } " in " code { (other.path) } ": " (other.why)
                        }
                    }
                }
            }
        }
    }
}
