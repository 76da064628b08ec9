//! Visibility. Invariant: `Scope::sees` is the only rule, and every backend's filter is tested against it.

crate::written_enum! {
    /// How far an entry is visible: session ⊂ work ⊂ project ⊂ user.
    pub enum Level {
        Session = "session",
        Work = "work",
        Project = "project",
        User = "user",
    }
}

/// An organisation on a server. Nothing is shared between two of them. Empty in local use.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct TenantId(pub String);

/// A person, by the name that their tenant has for them. Empty in local use.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct UserId(pub String);

/// The key of a project on this machine, derived from its folder or its git repository.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct ProjectKey(pub String);

/// One conversation of a client, by the client's own name for it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, serde::Serialize)]
pub struct SessionKey {
    /// The client, such as `claude-code`.
    pub client: String,
    /// The client's own identifier of the session.
    pub key: String,
}

/// The tenant, user, project, work and session of a call, which decide what it may see. Every call on the store takes
/// one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    pub tenant: TenantId,
    /// The user who makes the call.
    pub user: UserId,
    pub project: ProjectKey,
    /// The unit of work: a branch, a ticket or a given name.
    pub work: Option<String>,
    pub session: Option<SessionKey>,
}

impl Scope {
    /// Creates a local scope with a project, but no work or session.
    pub fn project(key: ProjectKey) -> Self {
        Self { tenant: TenantId::default(), user: UserId::default(), project: key, work: None, session: None }
    }

    /// Returns whether the call is local: made on the user's own machine, without a tenant or a named user.
    pub fn is_local(&self) -> bool {
        self.tenant.0.is_empty() && self.user.0.is_empty()
    }

    /// Returns whether an entry made in `origin` with this level is visible in this scope.
    pub fn sees(&self, level: Level, origin: &Scope) -> bool {
        let same_user = self.tenant == origin.tenant && self.user == origin.user;
        let same_project = same_user && self.project == origin.project;
        match level {
            Level::User => same_user,
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
    use proptest::prelude::*;

    use super::*;

    fn scope(project: &str, work: Option<&str>, session: Option<&str>) -> Scope {
        Scope {
            work: work.map(Into::into),
            session: session.map(|key| SessionKey { client: "test".into(), key: key.into() }),
            ..Scope::project(ProjectKey(project.into()))
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

    #[test]
    fn a_local_scope_names_no_tenant_and_no_user() {
        let local = scope("p", None, None);
        assert!(local.is_local());
        assert!(!Scope { tenant: TenantId("t".into()), ..local.clone() }.is_local());
        assert!(!Scope { user: UserId("u".into()), ..local }.is_local());
    }

    /// Makes scopes of few tenants, users, projects, works and sessions, so that many of them are equal.
    fn any_scope() -> impl Strategy<Value = Scope> {
        let name =
            |letter: char| (0u8..3).prop_map(move |n| if n == 0 { String::new() } else { format!("{letter}{n}") });
        let few = |letter: &'static str| prop::option::of((0u8..2).prop_map(move |n| format!("{letter}{n}")));
        (name('t'), name('u'), name('p'), few("w"), few("s")).prop_map(|(tenant, user, project, work, session)| Scope {
            tenant: TenantId(tenant),
            user: UserId(user),
            project: ProjectKey(project),
            work,
            session: session.map(|key| SessionKey { client: "test".into(), key }),
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn nothing_is_seen_across_tenants_users_and_projects(reader in any_scope(), origin in any_scope()) {
            for &level in Level::ALL {
                let sees = reader.sees(level, &origin);
                prop_assert!(!sees || (reader.tenant == origin.tenant && reader.user == origin.user));
                prop_assert!(!sees || level == Level::User || reader.project == origin.project);
                // The same rule from both sides.
                prop_assert_eq!(sees, origin.sees(level, &reader));
            }
        }

        #[test]
        fn what_a_scope_can_hold_it_sees_again(scope in any_scope()) {
            for &level in Level::ALL {
                prop_assert_eq!(scope.sees(level, &scope), scope.can_hold(level));
            }
        }
    }
}
