//! Whose words a text is, and how far they can be trusted.

use weir_core::Origin;

use crate::text::Text;

/// Who wrote a text, and whether the user stands behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Words {
    /// Who wrote it.
    pub origin: Origin,
    /// What the user has to do with it.
    pub standing: Standing,
}

/// What the user has to do with a text of somebody else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Nothing needs to be said.
    Plain,
    Confirmed,
    /// It waits for the user.
    Unconfirmed,
    /// It is a file of the project, which counts as the user's.
    ProjectFile,
}

impl Words {
    /// Words of this origin about which nothing else is known.
    pub const fn of(origin: Origin) -> Self {
        Self { origin, standing: Standing::Plain }
    }

    pub(crate) fn label(self) -> String {
        let origin = self.origin.as_str();
        match self.standing {
            Standing::Plain => origin.to_owned(),
            Standing::Confirmed => format!("{origin}, confirmed by the user"),
            Standing::Unconfirmed => format!("{origin}, not confirmed"),
            Standing::ProjectFile => "project file".to_owned(),
        }
    }
}

/// A state that changes how far a text can be trusted, or a result. Lower case, a whole phrase.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Badge {
    /// A fact: superseded, expired, similar in meaning.
    Plain(Text),
    /// Something speaks against the text.
    Doubt(Text),
    /// Something failed or did not pay.
    Bad(Text),
}

/// A piece of a text, marked or not: what was searched for, what a revision added or removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    pub text: Text,
    pub mark: Mark,
}

/// How a piece of a text is marked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    None,
    Found,
    /// As new in this revision.
    Added,
    /// As gone in the next revision.
    Removed,
}

impl maud::Render for Span {
    fn render_to(&self, page: &mut String) {
        let text = &self.text;
        let span = match self.mark {
            Mark::None => maud::html! { (text) },
            Mark::Found => maud::html! { mark { (text) } },
            Mark::Added => maud::html! { ins { (text) } },
            Mark::Removed => maud::html! { del { (text) } },
        };
        page.push_str(&span.0);
    }
}
