//! Visibility. Invariant: `Scope::sees` is the only rule, and every backend's filter is tested against it.

crate::written_enum! {
    /// How far an entry is visible: session ⊂ work ⊂ project ⊂ user.
    pub enum Level {
        /// Only in the session that made it.
        Session = "session",
        /// In every session of the same work.
        Work = "work",
        /// In every session in the project.
        Project = "project",
        /// In every project of this user.
        User = "user",
    }
}

/// The key of a project on this machine, derived from its folder or its git repository.
#[derive(Debug, Clone, PartialEq, Eq, Hash, serde::Serialize)]
pub struct ProjectKey(pub String);

/// One conversation of a client, by the client's own name for it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, serde::Serialize)]
pub struct SessionKey {
    /// The client, such as `claude-code`.
    pub client: String,
    /// The client's own identifier of the session.
    pub key: String,
}

/// The session, work and project of a call, which decide what it may see. Every call on the store takes one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// The project of the call.
    pub project: ProjectKey,
    /// The unit of work: a branch, a ticket or a given name.
    pub work: Option<String>,
    /// The session of the client.
    pub session: Option<SessionKey>,
}

impl Scope {
    /// Creates a scope with a project, but no work or session.
    pub fn project(key: ProjectKey) -> Self {
        Self { project: key, work: None, session: None }
    }

    /// Returns whether an entry made in `origin` with this level is visible in this scope.
    pub fn sees(&self, level: Level, origin: &Scope) -> bool {
        let same_project = self.project == origin.project;
        match level {
            Level::User => true,
            Level::Project => same_project,
            Level::Work => same_project && origin.work.is_some() && self.work == origin.work,
            Level::Session => same_project && origin.session.is_some() && self.session == origin.session,
        }
    }

    /// Returns whether an entry of this level can be made in this scope: a session's entry needs a session.
    pub fn can_hold(&self, level: Level) -> bool {
        match level {
            Level::Session => self.session.is_some(),
            Level::Work => self.work.is_some(),
            Level::Project | Level::User => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(project: &str, work: Option<&str>, session: Option<&str>) -> Scope {
        Scope {
            project: ProjectKey(project.into()),
            work: work.map(Into::into),
            session: session.map(|key| SessionKey { client: "test".into(), key: key.into() }),
        }
    }

    #[test]
    fn each_level_is_seen_as_far_as_it_says() {
        let maker = scope("p", Some("w"), Some("s"));
        let seen_from = |reader: &Scope| -> Vec<Level> {
            Level::ALL.iter().copied().filter(|level| reader.sees(*level, &maker)).collect()
        };
        use Level::*;
        assert_eq!(seen_from(&maker), [Session, Work, Project, User]);
        assert_eq!(seen_from(&scope("p", Some("w"), Some("t"))), [Work, Project, User]);
        assert_eq!(seen_from(&scope("p", Some("v"), None)), [Project, User]);
        assert_eq!(seen_from(&scope("q", Some("w"), Some("s"))), [User]);
    }

    #[test]
    fn nothing_is_not_the_same_as_nothing() {
        let nowhere = scope("p", None, None);
        assert!(!nowhere.sees(Level::Session, &nowhere));
        assert!(!nowhere.sees(Level::Work, &nowhere));
        assert!(!nowhere.can_hold(Level::Session));
    }
}
