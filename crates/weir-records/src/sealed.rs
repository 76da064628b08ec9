//! Sealed projects: entries that the members of a project can read, and its server cannot.
//!
//! A project is sealed by the first [`KeyGrants`] in its log. From then on the log takes entries only as
//! [`SealedEntry`]: reference, kind, title, topic, files and text are ciphertext under a data key of the project. What
//! the server needs stays in clear: the id, the time, the author and their client, and the size. What is superseded,
//! confirmed or removed is named by its id, as everywhere.
//!
//! Data keys travel in the log as well, wrapped for each [`MemberKey`] with HPKE (RFC 9180: X25519, HKDF-SHA256,
//! ChaCha20-Poly1305). A record that adds a member or a data key proves that its author has the data key before it; a
//! server has none, so it can add neither.
//!
//! Invariants: the ciphertext of an entry is bound to every field of its record that is in clear, so it opens at its
//! own place and nowhere else; a machine that has keys takes others only from somebody who has its newest; a project
//! that is sealed stays so, since grants cannot be removed. What is secret is in [`Keyring`] and [`Identity`], and no
//! `Debug` shows it.

mod keyring;

use std::fmt;

use hpke::{Deserializable as _, Kem as _, Serializable as _};
pub use keyring::{Followed, Keyring, OpenedEntry};
use serde::{Deserialize, Serialize};
use weir_core::{ProjectKey, TenantId};
use zeroize::Zeroizing;

use crate::error::{ErrorKind, PortError, Result};
use crate::id::{HostId, RecordId, from_hex, not, write_hex, written_id};

/// What every record with grants is about, so that any log finds them without a table of its own. It is the id of no
/// record.
pub const GRANTS: RecordId = RecordId { host: HostId::from_bytes(*b"weir-sealed-keys"), index: 0 };
/// How many members one record may grant keys to.
pub const MAX_GRANTS: usize = 500;

/// The suite that wraps keys.
pub(crate) type Kem = hpke::kem::X25519HkdfSha256;

/// An entry that only members can read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SealedEntry {
    /// The data key that opens it.
    pub key: KeyId,
    /// The nonce, the ciphertext and its tag, in Base64.
    pub content: String,
}

/// The data keys of a project, wrapped for members.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyGrants {
    /// The newest data key that is granted. Entries are sealed with it from here on.
    pub key: KeyId,
    /// The data key that the proof is made with: the newest before this record, or the first one of all.
    pub proven_by: KeyId,
    /// The keys for each member. If the newest key is a new one, others are members no longer.
    pub grants: Vec<Grant>,
    /// The proof that the author had the data key, in hexadecimal.
    pub proof: String,
}

/// All data keys of a project, wrapped for one member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    /// The member.
    pub member: MemberKey,
    /// The encapsulated key and the ciphertext, in Base64.
    pub keys: String,
}

/// The name of a data key, which says nothing about it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyId([u8; 16]);

impl KeyId {
    /// Parses 32 hexadecimal digits in lower case.
    pub fn parse(text: &str) -> Result<Self> {
        from_hex(text).map(Self).ok_or_else(|| not(text, "the name of a data key"))
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(f, &self.0)
    }
}

/// The public key of a member's machine. Written as `wk1` and hexadecimal digits, of which the last eight are a
/// checksum.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MemberKey([u8; 32]);

impl MemberKey {
    const PREFIX: &str = "wk1";

    /// Parses the written form. A key that was not copied as a whole is refused.
    pub fn parse(text: &str) -> Result<Self> {
        let parsed = text.strip_prefix(Self::PREFIX).and_then(|digits| digits.split_at_checked(64));
        let parsed = parsed.and_then(|(key, check)| {
            let key = Self(from_hex(key)?);
            (from_hex(check) == Some(key.checksum())).then_some(key)
        });
        parsed.ok_or_else(|| not(text, "the key of a member"))
    }

    fn checksum(&self) -> [u8; 4] {
        let [first, second, third, fourth, ..] = *blake3::hash(&self.0).as_bytes();
        [first, second, third, fourth]
    }

    fn public(&self) -> Option<<Kem as hpke::Kem>::PublicKey> {
        <Kem as hpke::Kem>::PublicKey::from_bytes(&self.0).ok()
    }
}

impl fmt::Display for MemberKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::PREFIX)?;
        write_hex(f, &self.0)?;
        write_hex(f, &self.checksum())
    }
}

written_id!(KeyId, MemberKey);

/// The project that keys belong to, by the names that its server has for it.
#[derive(Debug, Clone, Copy)]
pub struct SealedPlace<'a> {
    /// The tenant.
    pub tenant: &'a TenantId,
    /// The project.
    pub project: &'a ProjectKey,
}

/// The secret half of a member's key. It never leaves the machine.
pub struct Identity {
    secret: <Kem as hpke::Kem>::PrivateKey,
}

impl Identity {
    /// Draws a new identity.
    pub fn random() -> Result<Self> {
        let seed = random::<32>()?;
        let (secret, _) = Kem::derive_keypair(seed.as_slice());
        Ok(Self { secret })
    }

    /// Reads an identity from the text that [`Self::to_text`] returns.
    pub fn from_text(text: &str) -> Result<Self> {
        // The text is a secret, so it is not repeated.
        let invalid = || PortError::new(ErrorKind::Damaged, "read the identity of this machine");
        let bytes = Zeroizing::new(from_hex::<32>(text).ok_or_else(invalid)?);
        let secret = <Kem as hpke::Kem>::PrivateKey::from_bytes(bytes.as_slice()).map_err(|_| invalid())?;
        Ok(Self { secret })
    }

    /// Returns the identity as text, for a file that only its owner can read.
    pub fn to_text(&self) -> Zeroizing<String> {
        let bytes = Zeroizing::new(self.secret.to_bytes().0);
        Zeroizing::new(hex(bytes.as_slice()))
    }

    /// Returns the public key, which others wrap data keys for.
    pub fn public(&self) -> MemberKey {
        MemberKey(Kem::sk_to_pk(&self.secret).to_bytes().0)
    }

    pub(crate) fn secret(&self) -> &<Kem as hpke::Kem>::PrivateKey {
        &self.secret
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Identity({})", self.public())
    }
}

/// Draws random bytes.
pub(crate) fn random<const N: usize>() -> Result<Zeroizing<[u8; N]>> {
    let mut bytes = Zeroizing::new([0; N]);
    getrandom::fill(bytes.as_mut_slice())
        .map_err(|error| PortError::new(ErrorKind::Unavailable, "draw a key").because(error.to_string()))?;
    Ok(bytes)
}

/// Returns bytes in hexadecimal.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
