//! Addresses of pages and forms. Invariant: every address begins with `/` and is made of encoded identifiers, so no
//! text can lead anywhere else.

use std::fmt::Write;

use crate::shell::Shell;
use crate::text::Text;

/// A page in the menu.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Page {
    /// What happened, what it saved and what it cost.
    Today,
    /// The conversations.
    Sessions,
    /// Everything that is kept, by words and meaning.
    Search,
    /// What was decided and learned.
    Notes,
    /// What each window size costs.
    Window,
    /// The projects that have a store.
    Projects,
    /// What works and what does not.
    Health,
    /// What is set, and where.
    Settings,
}

impl Page {
    /// The pages in the order of the menu. Search has a field of its own.
    pub(crate) const MENU: [Self; 7] =
        [Self::Today, Self::Sessions, Self::Notes, Self::Window, Self::Projects, Self::Health, Self::Settings];

    /// Returns the name of the page.
    pub fn name(self) -> &'static str {
        match self {
            Self::Today => "Today",
            Self::Sessions => "Sessions",
            Self::Search => "Search",
            Self::Notes => "Notes",
            Self::Window => "Window",
            Self::Projects => "Projects",
            Self::Health => "Health",
            Self::Settings => "Settings",
        }
    }

    /// Returns the path of the page, below that of a project.
    pub fn path(self) -> &'static str {
        match self {
            Self::Today => "/",
            Self::Sessions => "/sessions",
            Self::Search => "/search",
            Self::Notes => "/notes",
            Self::Window => "/window",
            Self::Projects => "/projects",
            Self::Health => "/health",
            Self::Settings => "/settings",
        }
    }

    /// Returns the page at a path, below that of a project.
    pub fn parse(path: &str) -> Option<Self> {
        Self::MENU.into_iter().chain([Self::Search]).find(|page| page.path() == path)
    }

    /// Returns the letter that goes to the page after `g`.
    pub(crate) fn letter(self) -> &'static str {
        match self {
            Self::Today => "t",
            Self::Sessions => "s",
            Self::Search => "f",
            Self::Notes => "n",
            Self::Window => "w",
            Self::Projects => "p",
            Self::Health => "h",
            Self::Settings => "c",
        }
    }
}

/// What a form does to a note or an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// The user says that a note is true, or still true.
    Confirm,
    /// The user writes a new revision.
    Edit,
    /// The user removes it.
    Forget,
}

impl Act {
    const ALL: [Self; 3] = [Self::Confirm, Self::Edit, Self::Forget];

    /// Returns what a form does, by the last part of the address it is sent to.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|act| act.word() == word)
    }

    fn word(self) -> &'static str {
        match self {
            Self::Confirm => "confirm",
            Self::Edit => "edit",
            Self::Forget => "forget",
        }
    }
}

impl Shell {
    /// Returns the address of a page of the menu.
    pub(crate) fn page(&self, page: Page) -> String {
        self.at(page.path())
    }

    /// Returns the address of a session.
    pub(crate) fn session(&self, key: &Text) -> String {
        self.at(&format!("/sessions/{}", encoded(key)))
    }

    /// Returns the address of a session of a project.
    pub(crate) fn session_in(project: &Text, key: &Text) -> String {
        below(Some(project), &format!("/sessions/{}", encoded(key)))
    }

    /// Returns the address that leads to a session, whatever its project.
    pub(crate) fn session_anywhere(key: &Text) -> String {
        below(None, &format!("/sessions/{}", encoded(key)))
    }

    /// Returns the address of an entry.
    pub(crate) fn entry(&self, reference: &Text) -> String {
        self.at(&format!("/entries/{}", encoded(reference)))
    }

    /// Returns the address that a form about an entry is sent to.
    pub(crate) fn act(&self, act: Act, reference: &Text) -> String {
        self.at(&format!("/entries/{}/{}", encoded(reference), act.word()))
    }

    /// Returns the address of a page in a project, or in all of them.
    pub fn in_project(page: Page, project: Option<&Text>) -> String {
        below(project, page.path())
    }

    /// Returns a path below that of the shell's project.
    pub(crate) fn at(&self, path: &str) -> String {
        below(self.project.as_ref().map(|project| &project.key), path)
    }
}

/// Returns a path with its query, leaving out what is empty.
pub(crate) fn with_query(path: &str, pairs: &[(&str, &str)]) -> String {
    let mut written = path.to_owned();
    let mut sign = '?';
    for (name, value) in pairs.iter().filter(|(_, value)| !value.is_empty()) {
        let _ = write!(written, "{sign}{name}={}", encode(value));
        sign = '&';
    }
    written
}

fn below(project: Option<&Text>, path: &str) -> String {
    match (project, path) {
        (None, path) => path.to_owned(),
        (Some(project), "/") => format!("/in/{}", encoded(project)),
        (Some(project), path) => format!("/in/{}{path}", encoded(project)),
    }
}

fn encoded(text: &Text) -> String {
    encode(text.raw())
}

/// Encodes everything that is not a letter, a digit or one of `-_~`. A dot is encoded too: a path has no `..` then.
fn encode(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_~".contains(&byte) {
            written.push(char::from(byte));
        } else {
            let _ = write!(written, "%{byte:02X}");
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_identifier_cannot_leave_its_place_in_a_path() {
        assert_eq!(encode("../a b?c#d/é"), "%2E%2E%2Fa%20b%3Fc%23d%2F%C3%A9");
        assert_eq!(below(Some(&"//evil".into()), "/notes"), "/in/%2F%2Fevil/notes");
    }

    #[test]
    fn a_query_has_only_what_is_set() {
        assert_eq!(with_query("/search", &[("q", "a&b"), ("kind", ""), ("page", "2")]), "/search?q=a%26b&page=2");
        assert_eq!(with_query("/search", &[("q", "")]), "/search");
    }
}
