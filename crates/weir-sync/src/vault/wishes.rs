//! Changes of who the members are, as this machine makes them. Invariant: nothing counts before it is read from the
//! log.

use weir_host::error::{CommandError, ErrorKind};
use weir_records::sealed::{KeyGrants, MAX_GRANTS, Member, MemberKey, SealedPlace};

use super::Vault;
use crate::outbox::broken;

/// A change of who can read a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyWish {
    /// Seal it, for this machine alone at first.
    Seal,
    /// Give its keys to these machines.
    Admit(Vec<Member>),
    /// Use a new key from now on, which these machines do not get.
    Revoke(Vec<MemberKey>),
}

impl Vault {
    /// Returns a change that brings a new data key, if this machine is a member and has none that all members have:
    /// members have made changes that did not know of each other.
    pub(crate) fn renewal(&self) -> Result<Option<KeyGrants>, CommandError> {
        let is_needed = self.is_member() && !self.can_seal();
        is_needed.then(|| self.changed(&[], &[])).transpose()
    }

    pub(crate) fn grants_for(&mut self, wish: &KeyWish) -> Result<KeyGrants, CommandError> {
        if let KeyWish::Seal = wish {
            if !self.roster.changes().is_empty() {
                let error = CommandError::new(ErrorKind::Failed, "this project is sealed already");
                return Err(error.hint("weir sync says whether this machine is a member, and how to become one"));
            }
            let own = Member { key: self.expect_sealed()?, user: self.user.clone() };
            return self.changed(&[own], &[]);
        }
        if !self.is_member() {
            return Err(not_a_member());
        }
        match wish {
            KeyWish::Revoke(keys) => {
                if let Some(stranger) = keys.iter().find(|key| !self.roster.has(**key)) {
                    return Err(CommandError::usage(format!("{stranger} is not the key of a member"))
                        .hint("weir sync --json lists the keys of the members"));
                }
                if keys.iter().any(|key| self.own_key() == Some(*key)) {
                    return Err(CommandError::usage("a machine cannot remove itself from a sealed project")
                        .hint("another member can; weir sync --stop ends the connection of this one"));
                }
                self.changed(&[], keys)
            }
            KeyWish::Admit(members) if self.roster.members().count() + members.len() <= MAX_GRANTS => {
                if let Some(gone) = members.iter().find(|member| self.roster.has_removed(member.key)) {
                    return Err(CommandError::usage(format!("{} was removed, and stays so", gone.key))
                        .hint("weir sync --key prints a new key on that machine"));
                }
                self.changed(members, &[])
            }
            _ => Err(CommandError::usage(format!("a sealed project has at most {MAX_GRANTS} machines as members"))),
        }
    }

    fn changed(&self, admitted: &[Member], removed: &[MemberKey]) -> Result<KeyGrants, CommandError> {
        let (Some((tenant, project)), Some(identity)) = (self.place(), &self.identity) else {
            return Err(not_a_member());
        };
        let place = SealedPlace { tenant: &tenant, project: &project };
        self.roster.change(place, identity, &self.ring, (admitted, removed)).map_err(broken)
    }
}

pub(super) fn not_a_member() -> CommandError {
    CommandError::new(
        ErrorKind::Denied,
        "this machine is not a member of the sealed project, so it cannot change who is",
    )
    .hint("a member can: weir sync --admit USER=KEY, with the key that weir sync --key prints here")
}
