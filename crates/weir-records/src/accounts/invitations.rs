//! Invitations: how an admin lets others make themselves a token of the tenant, and the port that they are stored
//! behind.
//!
//! Invariants: a secret is never stored, only its hash; a use is counted in the transaction that adds its token, so an
//! invitation is never used more often than it may be; it gives nobody a token of somebody who is a user already, other
//! than the admin who made it; it ends with the token that it was made with; each change is in the audit of the same
//! transaction.

use std::fmt;

use weir_core::{ProjectKey, TenantId, Timestamp, UserId};

use super::{ApiToken, Credential, TokenId, TokenScope};
use crate::error::Result;

/// How long an invitation is kept after it has expired, in milliseconds: 90 days. The next one of its tenant removes it.
pub const MAX_CLOSED_MILLIS: i64 = 90 * 24 * 60 * 60 * 1000;

/// What stands before an invitation.
const PREFIX: &str = "invite_";

/// An invitation as the one who is invited has it, written `invite_weir_<id>_<secret>`. It is shown once and stored
/// nowhere.
pub struct InvitationCode(Credential);

impl InvitationCode {
    pub fn draw() -> Result<Self> {
        Credential::draw().map(Self)
    }

    /// Parses an invitation. Any other text is none.
    pub fn parse(text: &str) -> Option<Self> {
        Credential::parse(text.strip_prefix(PREFIX)?).map(Self)
    }

    pub fn id(&self) -> TokenId {
        self.0.id()
    }

    /// Returns the hash of its secret half, which is what is stored.
    pub fn hash(&self) -> blake3::Hash {
        self.0.hash()
    }
}

impl fmt::Display for InvitationCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{PREFIX}{}", self.0)
    }
}

/// An invitation as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invitation {
    /// Its public half.
    pub id: TokenId,
    pub hash: blake3::Hash,
    pub tenant: TenantId,
    /// Whom it is for. Without a user, those who accept it name themselves.
    pub user: Option<UserId>,
    /// What its tokens are good for.
    pub scope: TokenScope,
    /// The projects that they are good for, or `None` for all of the tenant.
    pub projects: Option<Vec<ProjectKey>>,
    /// How long they are good, in milliseconds, or `None` for as long as they are not revoked.
    pub token_millis: Option<i64>,
    pub max_uses: u32,
    /// How often it was accepted.
    pub uses: u32,
    /// The admin who made it, and the token that they used.
    pub invited_by: UserId,
    pub invited_with: TokenId,
    pub created_at: Timestamp,
    pub expires_at: Timestamp,
    pub revoked_at: Option<Timestamp>,
}

/// What an invitation is worth at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvitationStanding {
    /// It can be accepted.
    Open,
    /// It was accepted as often as it may be.
    Used,
    Expired,
    /// It was revoked, or the token that it was made with was.
    Revoked,
}

impl InvitationStanding {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Used => "used",
            Self::Expired => "expired",
            Self::Revoked => "revoked",
        }
    }
}

impl Invitation {
    /// Returns what the invitation is worth now.
    pub fn standing(&self, now: Timestamp) -> InvitationStanding {
        if self.revoked_at.is_some() {
            InvitationStanding::Revoked
        } else if self.uses >= self.max_uses {
            InvitationStanding::Used
        } else if self.expires_at <= now {
            InvitationStanding::Expired
        } else {
            InvitationStanding::Open
        }
    }

    /// Whether it may give a token of a user who is one already.
    pub fn is_for_its_admin(&self) -> bool {
        self.user.as_ref() == Some(&self.invited_by)
    }
}

/// What became of an invitation that somebody accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acceptance {
    /// The token was added.
    Added,
    /// The invitation is not open any more, and nothing was added.
    Closed(InvitationStanding),
    /// The tenant has a user of this name, and nothing was added.
    NameTaken,
}

/// The invitations of a server. A look-up is the only call that does not name its tenant, because the invitation does.
///
/// A stored `revoked_at` is also the time at which the token was revoked that the invitation was made with.
pub trait Invitations: Send + Sync {
    /// Adds an invitation, in the name of who made it. A tenant that does not exist is
    /// [`Missing`](crate::ErrorKind::Missing).
    fn add_invitation(&self, invitation: &Invitation) -> Result<()>;

    /// Returns the invitation with this id, open or not.
    fn invitation(&self, id: TokenId) -> Result<Option<Invitation>>;

    /// Returns the invitations of a tenant, oldest first, with those that are not open any more.
    fn invitations(&self, tenant: &TenantId) -> Result<Vec<Invitation>>;

    /// Revokes an invitation of the tenant of a token, in the name of its user. Returns whether it was not revoked
    /// before.
    fn revoke_invitation(&self, id: TokenId, by: &ApiToken, now: Timestamp) -> Result<bool>;

    /// Adds a token for an invitation and counts a use of it, or does neither. Of several calls at once, no more are
    /// [`Added`](Acceptance::Added) than the invitation has uses, and no two with the same user.
    fn accept(&self, invitation: TokenId, token: &ApiToken) -> Result<Acceptance>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_invitation_is_no_token_and_a_token_is_no_invitation() {
        let code = InvitationCode::draw().unwrap().to_string();
        let read = InvitationCode::parse(&code).unwrap();
        assert_eq!(read.to_string(), code);
        assert!(Credential::parse(&code).is_none());
        assert!(InvitationCode::parse(&Credential::draw().unwrap().to_string()).is_none());
    }
}
