//! Addresses of pages and forms. Invariant: every address begins with `/` and is made of encoded identifiers, so no
//! text can lead anywhere else.

use std::fmt::Write;

use crate::shell::Shell;
use crate::text::Text;

/// Declares the pages: the path of each below that of a project, the letter that goes to it after `g`, and whether the
/// menu lists it.
macro_rules! pages {
    ($($(#[$doc:meta])* $page:ident { path: $path:literal, letter: $letter:literal, in_menu: $in_menu:literal })*) => {
        /// A page that the menu or a field leads to.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Page {
            $($(#[$doc])* $page,)*
        }

        impl Page {
            const ALL: &[Self] = &[$(Self::$page),*];

            pub fn name(self) -> &'static str {
                match self { $(Self::$page => stringify!($page),)* }
            }

            /// Returns the path of the page, below that of a project.
            pub fn path(self) -> &'static str {
                match self { $(Self::$page => $path,)* }
            }

            /// Returns the letter that goes to the page after `g`.
            pub(crate) fn letter(self) -> &'static str {
                match self { $(Self::$page => $letter,)* }
            }

            fn is_in_menu(self) -> bool {
                match self { $(Self::$page => $in_menu,)* }
            }
        }
    };
}

// In the order of the menu.
pages! {
    /// What happened, what it saved and what it cost.
    Today { path: "/", letter: "t", in_menu: true }
    /// The conversations.
    Sessions { path: "/sessions", letter: "s", in_menu: true }
    /// Everything that is kept, by words and meaning. It has a field of its own.
    Search { path: "/search", letter: "f", in_menu: false }
    /// What was decided and learned.
    Notes { path: "/notes", letter: "n", in_menu: true }
    /// What each window size costs.
    Window { path: "/window", letter: "w", in_menu: true }
    /// What pauses cost.
    Pauses { path: "/pauses", letter: "u", in_menu: true }
    /// What every request repeats.
    Prefix { path: "/prefix", letter: "r", in_menu: true }
    /// The projects that have a store.
    Projects { path: "/projects", letter: "p", in_menu: true }
    /// What works and what does not.
    Health { path: "/health", letter: "h", in_menu: true }
    /// What is set, and where.
    Settings { path: "/settings", letter: "c", in_menu: true }
}

impl Page {
    /// Returns the pages of the menu, in its order.
    pub(crate) fn menu() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(|page| page.is_in_menu())
    }

    /// Returns the page at a path, below that of a project.
    pub fn parse(path: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|page| page.path() == path)
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
