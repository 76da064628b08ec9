//! Sealed projects: entries that the members of a project can read, and its server cannot.
//!
//! A project is sealed by the first [`KeyGrants`] in its log. From then on the log takes entries only as
//! [`SealedEntry`]: reference, kind, title, topic, files and text are ciphertext under a data key of the project. What
//! the server needs stays in clear: the id, the time, the author and their client, and the size. What is superseded,
//! confirmed or removed is named by its id, as everywhere.
//!
//! Who is a member is said by the changes in the log alone. Each is signed by a member (Ed25519), names the changes
//! that its author knew by their hashes, and brings a new data key, wrapped with HPKE (RFC 9180: X25519, HKDF-SHA256,
//! ChaCha20-Poly1305) for every member after it. [`Roster`] says what a set of changes means; the order in which they
//! came does not matter. `docs/team.md` has the protocol and what it promises.
//!
//! Invariants: the ciphertext of an entry is bound to every field of its record that is in clear, so it opens at its
//! own place and nowhere else, and it is signed by the machine that wrote it; a key that was removed is never a
//! member's again; a project that is sealed stays so, since grants cannot be removed. What is secret is in [`Keyring`]
//! and [`Identity`], and no `Debug` shows it.

mod keyring;
mod roster;

use std::fmt;

use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use hpke::Deserializable as _;
pub use keyring::{Keyring, OpenedEntry};
pub use roster::{Learned, Member, Roster};
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

/// A change of who the members are, with a new data key for those who are members after it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyGrants {
    /// The machine that makes the change.
    pub by: MemberKey,
    /// The changes that it knew and that no other one follows, in order. The first change of a project has none.
    pub after: Vec<ChangeId>,
    /// The members that it removes, for good and in order.
    pub removed: Vec<MemberKey>,
    /// The new data key. Entries are sealed with it from here on.
    pub key: KeyId,
    /// The older data keys, sealed with the new one, in Base64.
    pub older: String,
    /// The new key for each member after the change, in order. Those who were none before are admitted by it.
    pub grants: Vec<Grant>,
    /// The signature of the machine, in hexadecimal.
    pub signature: String,
}

/// The new data key of a project, wrapped for one member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grant {
    pub member: MemberKey,
    /// The user whose machine it is. Entries that it signs count in this name only.
    pub user: String,
    /// The encapsulated key and the ciphertext, in Base64.
    pub key: String,
}

/// The hash of a change without its signature, and of its project.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChangeId([u8; 32]);

impl ChangeId {
    /// Parses 64 hexadecimal digits in lower case.
    pub fn parse(text: &str) -> Result<Self> {
        from_hex(text).map(Self).ok_or_else(|| not(text, "the hash of a change"))
    }

    /// Returns the first half, which is long enough for people to compare.
    pub fn fingerprint(&self) -> String {
        hex(self.0.first_chunk::<16>().map_or(&[], |half| half.as_slice()))
    }
}

impl fmt::Display for ChangeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(f, &self.0)
    }
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

/// The public key of a member's machine: it checks what the machine signs, and keys are wrapped for it. Written as
/// `wk1` and hexadecimal digits, of which the last eight are a checksum.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MemberKey([u8; 32]);

impl MemberKey {
    const PREFIX: &str = "wk1";

    /// Parses the written form. A key that was not copied as a whole is refused, and so is one that is no point of the
    /// curve, or one under which anybody can sign.
    pub fn parse(text: &str) -> Result<Self> {
        let parsed = text.strip_prefix(Self::PREFIX).and_then(|digits| digits.split_at_checked(64));
        let parsed = parsed.and_then(|(key, check)| {
            let key = Self(from_hex(key)?);
            let is_usable = key.verifying().is_some_and(|point| !point.is_weak());
            (is_usable && from_hex(check) == Some(key.checksum())).then_some(key)
        });
        parsed.ok_or_else(|| not(text, "the key of a member"))
    }

    fn checksum(&self) -> [u8; 4] {
        let [first, second, third, fourth, ..] = *blake3::hash(&self.0).as_bytes();
        [first, second, third, fourth]
    }

    fn verifying(&self) -> Option<VerifyingKey> {
        VerifyingKey::from_bytes(&self.0).ok()
    }

    /// Returns the key that data keys are wrapped for.
    pub(crate) fn public(&self) -> Option<<Kem as hpke::Kem>::PublicKey> {
        <Kem as hpke::Kem>::PublicKey::from_bytes(self.verifying()?.to_montgomery().as_bytes()).ok()
    }

    /// Returns whether the machine with this key has signed something.
    pub(crate) fn has_signed(&self, said: &[u8], signature: &str) -> bool {
        let signature = from_hex(signature).map(|bytes| Signature::from_bytes(&bytes));
        let (Some(key), Some(signature)) = (self.verifying(), signature) else { return false };
        key.verify_strict(said, &signature).is_ok()
    }
}

impl fmt::Display for MemberKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::PREFIX)?;
        write_hex(f, &self.0)?;
        write_hex(f, &self.checksum())
    }
}

written_id!(ChangeId, KeyId, MemberKey);

/// The project that keys belong to, by the names that its server has for it.
#[derive(Debug, Clone, Copy)]
pub struct SealedPlace<'a> {
    pub tenant: &'a TenantId,
    pub project: &'a ProjectKey,
}

impl SealedPlace<'_> {
    /// Returns the names as bytes, each with its length, so that no two projects have the same.
    pub(crate) fn bound(&self) -> Vec<u8> {
        let named = |name: &str| [(name.len() as u64).to_le_bytes().as_slice(), name.as_bytes()].concat();
        [named(&self.tenant.0), named(&self.project.0)].concat()
    }
}

/// The secret half of a member's key. It never leaves the machine.
pub struct Identity {
    key: SigningKey,
}

impl Identity {
    pub fn random() -> Result<Self> {
        Ok(Self { key: SigningKey::from_bytes(&*random()?) })
    }

    /// Reads an identity from the text that [`Self::to_text`] returns.
    pub fn from_text(text: &str) -> Result<Self> {
        // The text is a secret, so it is not repeated.
        let invalid = || PortError::new(ErrorKind::Damaged, "read the identity of this machine");
        let bytes = Zeroizing::new(from_hex::<32>(text).ok_or_else(invalid)?);
        Ok(Self { key: SigningKey::from_bytes(&bytes) })
    }

    /// Returns the identity as text, for a file that only its owner can read.
    pub fn to_text(&self) -> Zeroizing<String> {
        Zeroizing::new(hex(self.key.as_bytes()))
    }

    /// Returns the public key, which others wrap data keys for.
    pub fn public(&self) -> MemberKey {
        MemberKey(self.key.verifying_key().to_bytes())
    }

    pub(crate) fn sign(&self, said: &[u8]) -> String {
        hex(&self.key.sign(said).to_bytes())
    }

    /// Returns the key that unwraps. One pair for signatures and for X25519 is safe:
    /// <https://eprint.iacr.org/2021/509>.
    pub(crate) fn secret(&self) -> Result<<Kem as hpke::Kem>::PrivateKey> {
        let bytes = Zeroizing::new(self.key.to_scalar_bytes());
        <Kem as hpke::Kem>::PrivateKey::from_bytes(bytes.as_slice())
            .map_err(|_| PortError::new(ErrorKind::Damaged, "use the identity of this machine"))
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Identity({})", self.public())
    }
}

pub(crate) fn random<const N: usize>() -> Result<Zeroizing<[u8; N]>> {
    let mut bytes = Zeroizing::new([0; N]);
    getrandom::fill(bytes.as_mut_slice())
        .map_err(|error| PortError::new(ErrorKind::Unavailable, "draw a key").because(error.to_string()))?;
    Ok(bytes)
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod search_tests;
#[cfg(test)]
mod tests;
