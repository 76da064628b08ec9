//! Which page or form an address means. Invariant: an address that means nothing is not guessed at.

use weir_pages::Page;
use weir_pages::routes::Act;

use super::fields;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// The project, by the name of its store's folder; none means all of them.
    pub(super) project: Option<String>,
    pub(super) at: Destination,
}

/// A page or a form.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Destination {
    Page(Page),
    Session(String),
    Entry(String),
    /// The text of an entry as it is.
    Raw(String),
    /// The form that chooses the theme.
    Theme,
    /// The form that turns keys on and off.
    Keys,
    NewNote,
    /// A form about an entry.
    Act(Act, String),
}

impl Place {
    pub(super) fn of_page(path: &str) -> Option<Self> {
        Self::parse(path, |parts| match parts {
            [] => Some(Destination::Page(Page::Today)),
            [page] => Page::parse(&format!("/{page}")).map(Destination::Page),
            ["sessions", key] => Some(Destination::Session((*key).to_owned())),
            ["entries", reference] => Some(Destination::Entry((*reference).to_owned())),
            ["entries", reference, "raw"] => Some(Destination::Raw((*reference).to_owned())),
            _ => None,
        })
    }

    pub(super) fn of_form(path: &str) -> Option<Self> {
        Self::parse(path, |parts| match parts {
            ["theme"] => Some(Destination::Theme),
            ["keys"] => Some(Destination::Keys),
            ["notes", "new"] => Some(Destination::NewNote),
            ["entries", reference, act] => Act::parse(act).map(|act| Destination::Act(act, (*reference).to_owned())),
            _ => None,
        })
    }

    /// Returns the project of an address, whatever the rest of it means.
    pub(super) fn project_of(path: &str) -> Option<String> {
        match &fields::parts_of(path)?[..] {
            [first, project, ..] if first == "in" => Some(project.clone()),
            _ => None,
        }
    }

    fn parse(path: &str, meaning: impl FnOnce(&[&str]) -> Option<Destination>) -> Option<Self> {
        let parts = fields::parts_of(path)?;
        let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
        match &parts[..] {
            ["in", project, rest @ ..] => Some(Self { project: Some((*project).to_owned()), at: meaning(rest)? }),
            rest => Some(Self { project: None, at: meaning(rest)? }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_lead_to_their_pages() {
        let check = |path: &str, project: Option<&str>, at: Option<Destination>| {
            let expected = at.map(|at| Place { project: project.map(str::to_owned), at });
            assert_eq!(Place::of_page(path), expected, "{path}");
        };
        check("/", None, Some(Destination::Page(Page::Today)));
        check("/in/app-0123", Some("app-0123"), Some(Destination::Page(Page::Today)));
        check("/in/app-0123/notes", Some("app-0123"), Some(Destination::Page(Page::Notes)));
        check("/search", None, Some(Destination::Page(Page::Search)));
        check("/sessions/claude-code%7E1%2F2", None, Some(Destination::Session("claude-code~1/2".into())));
        check("/entries/k7f2m9q4xz/raw", None, Some(Destination::Raw("k7f2m9q4xz".into())));
        for path in ["/in", "/nothing", "/entries", "/entries/a/b", "/sessions/a/b", "/in/a/b/c", "/%ff"] {
            check(path, None, None);
        }
    }

    #[test]
    fn forms_have_addresses_of_their_own() {
        let at = |path: &str| Place::of_form(path).map(|place| place.at);
        assert_eq!(at("/in/a/entries/k7f2m9q4xz/forget"), Some(Destination::Act(Act::Forget, "k7f2m9q4xz".into())));
        assert_eq!((at("/theme"), at("/notes/new")), (Some(Destination::Theme), Some(Destination::NewNote)));
        for path in ["/", "/notes", "/entries/a/keep", "/entries/a/raw", "/window/set"] {
            assert_eq!(at(path), None, "{path}");
        }
    }
}
