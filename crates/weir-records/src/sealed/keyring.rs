//! The data keys of a sealed project, and what is done with them. Invariants: a nonce is drawn for each entry; a data
//! key is used only to derive names and other keys; keys are overwritten when dropped.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead as _, Payload};
use chacha20poly1305::{KeyInit as _, XChaCha20Poly1305, XNonce};
use hpke::{Deserializable as _, OpModeR, OpModeS, Serializable as _};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::{Grant, Identity, Kem, KeyGrants, KeyId, MemberKey, SealedEntry, SealedPlace, hex, random};
use crate::error::{ErrorKind, PortError, Result};
use crate::id::{TextKey, from_hex};
use crate::record::{Body, Kept, Record};

type WrapCipher = hpke::aead::ChaCha20Poly1305;
type WrapHash = hpke::kdf::HkdfSha256;

/// The size of a data key, in bytes.
const KEY_BYTES: usize = 32;
/// The size of a nonce, in bytes.
const NONCE_BYTES: usize = 24;
/// The size of an encapsulated key, in bytes.
const ENCAPSULATED_BYTES: usize = 32;
/// What each derived key is for. Changing a text makes everything that was sealed unreadable.
const FOR_NAMES: &str = "weir 2026-11 sealed project: name of a data key";
const FOR_ENTRIES: &str = "weir 2026-11 sealed project: entries";
const FOR_PROOFS: &str = "weir 2026-11 sealed project: proofs";
const FOR_GRANTS: &[u8] = b"weir 2026-11 sealed project: grants";

/// One data key.
#[derive(Clone)]
struct DataKey(Zeroizing<[u8; KEY_BYTES]>);

impl DataKey {
    fn id(&self) -> KeyId {
        let mut id = [0; 16];
        id.iter_mut().zip(*self.derived(FOR_NAMES)).for_each(|(into, byte)| *into = byte);
        KeyId(id)
    }

    fn derived(&self, purpose: &str) -> Zeroizing<[u8; KEY_BYTES]> {
        Zeroizing::new(blake3::derive_key(purpose, self.0.as_slice()))
    }

    fn cipher(&self) -> XChaCha20Poly1305 {
        let key = self.derived(FOR_ENTRIES);
        XChaCha20Poly1305::new((&*key).into())
    }

    fn prove(&self, place: SealedPlace<'_>, grants: &KeyGrants) -> Result<blake3::Hash> {
        #[derive(Serialize)]
        struct Proven<'a>(&'a str, &'a str, KeyId, KeyId, &'a [Grant]);
        let said = Proven(&place.tenant.0, &place.project.0, grants.key, grants.proven_by, grants.grants.as_slice());
        let said = serde_json::to_vec(&said).map_err(|error| failed("prove grants").because(error))?;
        Ok(blake3::keyed_hash(&self.derived(FOR_PROOFS), &said))
    }
}

/// The data keys of a project that a member has, oldest first. The newest seals; the others open what is older.
#[derive(Clone, Default)]
pub struct Keyring {
    keys: Vec<DataKey>,
}

/// An entry as it was before it was sealed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenedEntry {
    /// The entry.
    pub entry: Kept,
    /// Its text.
    pub text: String,
}

/// What a record with grants means for a machine.
#[derive(Debug)]
pub enum Followed {
    /// Its author is a member, and it has no key that the machine does not have.
    Known,
    /// It has more keys. This is the ring with them.
    Extended(Keyring),
    /// Its author is a member, and has granted a new key to others, but not to this machine.
    LeftOut,
    /// The machine has no keys, and gets none from it.
    NotForUs,
    /// Nothing proves that its author is a member.
    Unproven,
}

impl Keyring {
    /// Creates a ring with one new data key, for a project that is about to be sealed.
    pub fn random() -> Result<Self> {
        Self::default().with_new_key()
    }

    /// Returns whether the ring has no key.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns the data key that seals.
    pub fn newest(&self) -> Option<KeyId> {
        self.keys.last().map(DataKey::id)
    }

    /// Returns the first data key, which is the same for all members for ever: they compare it to see that no server
    /// has given them another one.
    pub fn fingerprint(&self) -> Option<KeyId> {
        self.keys.first().map(DataKey::id)
    }

    /// Returns whether the ring has a data key.
    pub fn has(&self, id: KeyId) -> bool {
        self.key(id).is_some()
    }

    /// Reads a ring from the texts that [`Self::to_texts`] returns.
    pub fn from_texts<'a>(texts: impl IntoIterator<Item = &'a str>) -> Result<Self> {
        let read = |text| {
            let bytes = from_hex(text).ok_or_else(|| PortError::new(ErrorKind::Damaged, "read a data key"))?;
            Ok(DataKey(Zeroizing::new(bytes)))
        };
        Ok(Self { keys: texts.into_iter().map(read).collect::<Result<_>>()? })
    }

    /// Returns the keys as texts, for a file that only its owner can read.
    pub fn to_texts(&self) -> Vec<Zeroizing<String>> {
        self.keys.iter().map(|key| Zeroizing::new(hex(key.0.as_slice()))).collect()
    }

    /// Seals a record that keeps an entry. Everything but the entry and its text stays in clear, and is bound to them.
    pub fn seal(&self, record: &Record, text: &str) -> Result<Record> {
        let (Some(key), Some(kept)) = (self.keys.last(), record.body.kept()) else {
            return Err(failed("seal a record").because("there is no data key, or no entry"));
        };
        let opened = OpenedEntry { entry: kept.clone(), text: text.to_owned() };
        let clear = serde_json::to_vec(&opened).map_err(|error| failed("seal a record").because(error))?;
        let clear = Zeroizing::new(clear);
        let mut sealed = Record {
            body: Body::Sealed(Box::new(SealedEntry { key: key.id(), content: String::new() })),
            ..record.clone()
        };
        let bound = sealed.to_json()?;
        let nonce = random::<NONCE_BYTES>()?;
        let payload = Payload { msg: &clear, aad: bound.as_bytes() };
        let ciphertext = key.cipher().encrypt(&XNonce::from(*nonce), payload);
        let ciphertext = ciphertext.map_err(|_| failed("seal a record").because("it is too long"))?;
        let content = STANDARD.encode([nonce.as_slice(), &ciphertext].concat());
        sealed.body = Body::Sealed(Box::new(SealedEntry { key: key.id(), content }));
        Ok(sealed)
    }

    /// Opens a sealed record. It fails if the ring does not have its key, if any of its fields was changed, and if its
    /// text is not that of its entry.
    pub fn open(&self, record: &Record) -> Result<OpenedEntry> {
        let refused = |why: &str| failed(&format!("open record {}", record.id)).because(why);
        let Body::Sealed(sealed) = &record.body else { return Err(refused("it is not sealed")) };
        let key = self.key(sealed.key).ok_or_else(|| refused("this machine does not have its key"))?;
        let empty = SealedEntry { key: sealed.key, content: String::new() };
        let bound = Record { body: Body::Sealed(Box::new(empty)), ..record.clone() }.to_json()?;
        let changed = || refused("it was changed, or is at another place than its own");
        let bytes = STANDARD.decode(&sealed.content).map_err(|_| changed())?;
        let (nonce, ciphertext) = bytes.split_first_chunk::<NONCE_BYTES>().ok_or_else(changed)?;
        let payload = Payload { msg: ciphertext, aad: bound.as_bytes() };
        let clear = key.cipher().decrypt(&XNonce::from(*nonce), payload).map_err(|_| changed())?;
        let clear = Zeroizing::new(clear);
        let opened: OpenedEntry = serde_json::from_slice(&clear).map_err(|error| refused(&error.to_string()))?;
        let is_whole = opened.entry.text == TextKey::of(opened.text.as_bytes());
        if is_whole { Ok(opened) } else { Err(refused("its text is another one")) }
    }

    /// Grants all keys to members. The record that says so seals the project, or adds members to it.
    pub fn grant(&self, place: SealedPlace<'_>, members: &[MemberKey]) -> Result<KeyGrants> {
        let prover = self.keys.last().ok_or_else(|| failed("grant keys").because("there is no data key"))?;
        self.grant_proven_by(prover, place, members)
    }

    /// Grants all keys and a new one to the members that stay. The new one reaches this machine through the log, like
    /// all others.
    pub fn replace_key(&self, place: SealedPlace<'_>, members: &[MemberKey]) -> Result<KeyGrants> {
        let prover = self.keys.last().ok_or_else(|| failed("replace the key").because("there is no data key"))?;
        self.with_new_key()?.grant_proven_by(prover, place, members)
    }

    /// Returns what a record with grants means for the machine that has this ring.
    ///
    /// A machine without keys takes the first that it is given, and shows their fingerprint. One that has keys takes
    /// more only together with all of its own, in their order, which nobody but a member could have wrapped.
    pub fn follow(&self, identity: &Identity, place: SealedPlace<'_>, grants: &KeyGrants) -> Result<Followed> {
        if self.has(grants.key) {
            let is_proven = self.proves(place, grants)?;
            return Ok(if is_proven { Followed::Known } else { Followed::Unproven });
        }
        let own = identity.public();
        let Some(grant) = grants.grants.iter().find(|grant| grant.member == own) else {
            let is_ours = self.newest() == Some(grants.proven_by) && self.proves(place, grants)?;
            return Ok(match is_ours {
                true => Followed::LeftOut,
                false if self.is_empty() => Followed::NotForUs,
                false => Followed::Unproven,
            });
        };
        let Some(given) = unwrapped(identity, place, grant) else { return Ok(Followed::Unproven) };
        let continues = given.keys.len() > self.keys.len()
            && self.keys.iter().zip(&given.keys).all(|(own, other)| own.id() == other.id());
        if continues && given.newest() == Some(grants.key) && given.proves(place, grants)? {
            return Ok(Followed::Extended(given));
        }
        Ok(Followed::Unproven)
    }

    fn key(&self, id: KeyId) -> Option<&DataKey> {
        self.keys.iter().find(|key| key.id() == id)
    }

    fn with_new_key(&self) -> Result<Self> {
        let mut keys = self.keys.clone();
        keys.push(DataKey(random()?));
        Ok(Self { keys })
    }

    fn proves(&self, place: SealedPlace<'_>, grants: &KeyGrants) -> Result<bool> {
        let (Some(key), Some(said)) = (self.key(grants.proven_by), from_hex(&grants.proof)) else { return Ok(false) };
        // This compares in constant time.
        Ok(key.prove(place, grants)? == blake3::Hash::from_bytes(said))
    }

    fn grant_proven_by(&self, prover: &DataKey, place: SealedPlace<'_>, members: &[MemberKey]) -> Result<KeyGrants> {
        let key = self.newest().ok_or_else(|| failed("grant keys").because("there is no data key"))?;
        let all: Vec<&[u8]> = self.keys.iter().map(|key| key.0.as_slice()).collect();
        let all = Zeroizing::new(all.concat());
        let grants = members.iter().map(|member| wrapped(&all, place, *member)).collect::<Result<_>>()?;
        let mut grants = KeyGrants { key, proven_by: prover.id(), grants, proof: String::new() };
        grants.proof = prover.prove(place, &grants)?.to_hex().to_string();
        Ok(grants)
    }
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.keys.iter().map(DataKey::id)).finish()
    }
}

/// Wraps keys for a member of a project.
fn wrapped(keys: &[u8], place: SealedPlace<'_>, member: MemberKey) -> Result<Grant> {
    let refused = || failed("wrap keys").because("the key of the member cannot be used");
    let public = member.public().ok_or_else(refused)?;
    let sealed =
        hpke::single_shot_seal::<WrapCipher, WrapHash, Kem>(&OpModeS::Base, &public, FOR_GRANTS, keys, &bound(place));
    let (encapsulated, ciphertext) = sealed.map_err(|_| refused())?;
    let keys = STANDARD.encode([encapsulated.to_bytes().as_slice(), &ciphertext].concat());
    Ok(Grant { member, keys })
}

/// Returns the keys that were wrapped for this machine, unless they were wrapped for another one or another project.
fn unwrapped(identity: &Identity, place: SealedPlace<'_>, grant: &Grant) -> Option<Keyring> {
    let bytes = STANDARD.decode(&grant.keys).ok()?;
    let (encapsulated, ciphertext) = bytes.split_at_checked(ENCAPSULATED_BYTES)?;
    let encapsulated = <Kem as hpke::Kem>::EncappedKey::from_bytes(encapsulated).ok()?;
    let opened = hpke::single_shot_open::<WrapCipher, WrapHash, Kem>(
        &OpModeR::Base,
        identity.secret(),
        &encapsulated,
        FOR_GRANTS,
        ciphertext,
        &bound(place),
    );
    let opened = Zeroizing::new(opened.ok()?);
    let (keys, rest) = opened.as_chunks::<KEY_BYTES>();
    let keys = keys.iter().map(|key| DataKey(Zeroizing::new(*key))).collect();
    rest.is_empty().then_some(Keyring { keys })
}

/// Returns the names of a project as bytes, each with its length, so that no two projects have the same.
fn bound(place: SealedPlace<'_>) -> Vec<u8> {
    let named = |name: &str| [(name.len() as u64).to_le_bytes().as_slice(), name.as_bytes()].concat();
    [named(&place.tenant.0), named(&place.project.0)].concat()
}

fn failed(doing: &str) -> PortError {
    PortError::new(ErrorKind::Invalid, doing)
}
