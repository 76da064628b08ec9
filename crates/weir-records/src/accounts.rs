//! Who may use a server: tenants, tokens, and the port that they are stored behind.
//!
//! The users of a tenant are those with a token that is still good; there is no other list of them.
//!
//! Invariants: a secret is never stored, only its hash, and it is compared in constant time; a token belongs to one
//! tenant and one user for good; a revoked token stays revoked; each change is in the audit of the same transaction.

mod invitations;

use std::fmt;

pub use self::invitations::{
    Acceptance, Invitation, InvitationCode, InvitationStanding, Invitations, MAX_CLOSED_MILLIS,
};
use weir_core::{ProjectKey, TenantId, Timestamp, UserId};

use crate::error::{ErrorKind, PortError, Result};
use crate::id::{from_hex, write_hex};

/// Who the audit names for a change that was made on the server itself.
pub const OPERATOR: &str = "operator";

/// What the audit calls that old rows of it were deleted.
pub const EXPIRED_AUDIT: &str = "expire audit";

/// The name that stands for a user who was erased. It is drawn, so that it says nothing about them, and the same
/// everywhere in a tenant, so that what one user did can still be told from what others did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ErasedName(String);

impl ErasedName {
    pub fn draw() -> Result<Self> {
        let number = getrandom::u64()
            .map_err(|error| PortError::new(ErrorKind::Unavailable, "draw a name").because(error.to_string()))?;
        Ok(Self(format!("erased-{number:016x}")))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The longest name of a tenant, user or project, in bytes.
pub const MAX_NAME_BYTES: usize = 256;

/// Returns whether a text can be the name of a tenant or user, or the key of a project, on a server: short, not empty,
/// and without control characters, which no terminal and no database shows as they are.
pub fn is_name(text: &str) -> bool {
    !text.trim().is_empty() && text.len() <= MAX_NAME_BYTES && !text.chars().any(char::is_control)
}

weir_core::written_enum! {
    /// What the bearer of a token may do. Each scope includes those before it.
    pub enum TokenScope {
        Read = "read",
        /// Add records, and remove the user's own.
        Write = "write",
        /// Read the figures of the tenant, invite others, and remove their entries.
        Admin = "admin",
    }
}

/// The public half of a token, by which it is looked up, listed and revoked.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TokenId([u8; 8]);

impl TokenId {
    /// Parses 16 hexadecimal digits in lower case.
    pub fn parse(text: &str) -> Option<Self> {
        from_hex(text).map(Self)
    }
}

impl fmt::Display for TokenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(f, &self.0)
    }
}

impl fmt::Debug for TokenId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A token as its bearer has it, written `weir_<id>_<secret>`. It is shown once and stored nowhere.
pub struct Credential {
    id: TokenId,
    secret: [u8; 32],
}

impl Credential {
    pub fn draw() -> Result<Self> {
        let (mut id, mut secret) = ([0; 8], [0; 32]);
        getrandom::fill(&mut id)
            .and_then(|()| getrandom::fill(&mut secret))
            .map_err(|error| PortError::new(ErrorKind::Unavailable, "draw a token").because(error.to_string()))?;
        Ok(Self { id: TokenId(id), secret })
    }

    /// Parses a token. Any other text is none.
    pub fn parse(text: &str) -> Option<Self> {
        let (id, secret) = text.strip_prefix("weir_")?.split_once('_')?;
        Some(Self { id: TokenId::parse(id)?, secret: from_hex(secret)? })
    }

    pub fn id(&self) -> TokenId {
        self.id
    }

    /// Returns the hash of its secret half, which is what is stored.
    pub fn hash(&self) -> blake3::Hash {
        blake3::hash(&self.secret)
    }
}

impl fmt::Display for Credential {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "weir_{}_", self.id)?;
        write_hex(f, &self.secret)
    }
}

/// A token as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiToken {
    /// Its public half.
    pub id: TokenId,
    /// The hash of its secret half. Comparing two hashes takes the same time whatever they are.
    pub hash: blake3::Hash,
    pub tenant: TenantId,
    pub user: UserId,
    /// What it is good for.
    pub scope: TokenScope,
    /// The projects that it is good for, or `None` for all of the tenant.
    pub projects: Option<Vec<ProjectKey>>,
    pub created_at: Timestamp,
    pub expires_at: Option<Timestamp>,
    pub revoked_at: Option<Timestamp>,
}

/// What a token is worth at a moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenStanding {
    /// It can be used.
    Good,
    Expired,
    Revoked,
}

impl TokenStanding {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Expired => "expired",
            Self::Revoked => "revoked",
        }
    }
}

impl ApiToken {
    /// Returns what the token is worth now.
    pub fn standing(&self, now: Timestamp) -> TokenStanding {
        match (self.revoked_at, self.expires_at) {
            (Some(_), _) => TokenStanding::Revoked,
            (None, Some(at)) if at <= now => TokenStanding::Expired,
            (None, _) => TokenStanding::Good,
        }
    }

    pub fn has_project(&self, project: &ProjectKey) -> bool {
        self.projects.as_ref().is_none_or(|projects| projects.contains(project))
    }
}

/// The tokens that a call revokes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Revoked {
    Token(TokenId),
    /// All tokens of a user, who is shut out until the next one.
    User(UserId),
}

/// How much a tenant has, and how much it may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TenantUsage {
    /// Records that were appended, in all projects. Erased ones count, since their ids and positions stay.
    pub records: u64,
    /// The most records that it may have, if that was set.
    pub max_records: Option<u64>,
    /// The bytes of its records that are not erased: of their JSON, and of their texts, each counted for itself.
    pub bytes: u64,
    /// The most bytes that it may have, if that was set.
    pub max_bytes: Option<u64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DeletedTenant {
    pub existed: bool,
    /// Its records, erased ones too.
    pub records: u64,
    pub tokens: u64,
}

/// The accounts of a server. A look-up by token is the only call that does not name its tenant, because the token does.
pub trait Accounts: Send + Sync {
    /// Checks that the accounts answer, as [`Log::answers`](crate::Log::answers) does.
    fn answers(&self) -> Result<()> {
        self.token(TokenId([0; 8])).map(drop)
    }

    fn create_tenant(&self, tenant: &TenantId) -> Result<bool>;

    /// Sets how many records a tenant may have. A tenant that does not exist is
    /// [`Missing`](crate::ErrorKind::Missing).
    fn set_max_records(&self, tenant: &TenantId, max_records: u64) -> Result<()>;

    /// Sets how many bytes a tenant may have. A tenant that does not exist is
    /// [`Missing`](crate::ErrorKind::Missing).
    fn set_max_bytes(&self, tenant: &TenantId, max_bytes: u64) -> Result<()>;

    fn has_tenant(&self, tenant: &TenantId) -> Result<bool>;

    /// Returns how much a tenant has. One that does not exist has nothing.
    fn usage(&self, tenant: &TenantId) -> Result<TenantUsage>;

    fn projects(&self, tenant: &TenantId) -> Result<Vec<ProjectKey>>;

    /// Adds a token and revokes the one that it replaces, if any, both or neither. A tenant that does not exist, or a
    /// replaced token that is not one of the tenant or already revoked, is [`Missing`](crate::ErrorKind::Missing).
    fn add_token(&self, token: &ApiToken, replaced: Option<TokenId>) -> Result<()>;

    /// Returns the token with this id, revoked or not.
    fn token(&self, id: TokenId) -> Result<Option<ApiToken>>;

    /// Returns the tokens of a tenant, oldest first, with those that were revoked.
    fn tokens(&self, tenant: &TenantId) -> Result<Vec<ApiToken>>;

    /// Revokes tokens of a tenant, and returns how many of them were not revoked before.
    fn revoke(&self, tenant: &TenantId, revoked: &Revoked, now: Timestamp) -> Result<u64>;

    /// Returns the invitations of these accounts, if they have any.
    fn invitations(&self) -> Option<&dyn Invitations> {
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_token_is_read_back_and_only_its_secret_matches() {
        let (one, other) = (Credential::draw().unwrap(), Credential::draw().unwrap());
        let read = Credential::parse(&one.to_string()).unwrap();
        assert_eq!((read.id(), read.hash()), (one.id(), one.hash()));
        assert_ne!(one.hash(), other.hash());
    }

    #[test]
    fn what_is_not_a_token_is_refused() {
        let good = Credential::draw().unwrap().to_string();
        let cut: String = good.chars().take(good.len() - 1).collect();
        for text in ["", "weir_", "weir__", "weir_read_0011", &cut, &good.to_uppercase(), &format!("{good}0")] {
            assert!(Credential::parse(text).is_none(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn parsing_any_text_is_safe_and_has_one_written_form(text in "(weir_)?[0-9a-f_]{0,90}") {
            if let Some(token) = Credential::parse(&text) {
                prop_assert_eq!(token.to_string(), text);
            }
        }
    }
}
