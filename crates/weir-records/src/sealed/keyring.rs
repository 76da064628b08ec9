//! The data keys of a sealed project, and what is done with them. Invariants: a nonce is drawn for each ciphertext; a
//! data key is used only to derive names and other keys; keys are overwritten when dropped.

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

const KEY_BYTES: usize = 32;
const NONCE_BYTES: usize = 24;
const ENCAPSULATED_BYTES: usize = 32;
/// What each derived key is for. Changing a text makes everything that was sealed unreadable.
const FOR_NAMES: &str = "weir 2026-11 sealed project: name of a data key";
const FOR_ENTRIES: &str = "weir 2026-11 sealed project: entries";
const FOR_OLDER_KEYS: &str = "weir 2026-11 sealed project: older keys";
const FOR_SIGNATURES: &str = "weir 2026-11 sealed project: signature of an entry";
const FOR_GRANTS: &[u8] = b"weir 2026-11 sealed project: grants";

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

    /// Encrypts something. What it is bound to has to be the same when it is decrypted.
    fn encrypt(&self, purpose: &str, clear: &[u8], bound: &[u8]) -> Result<String> {
        let (cipher, nonce) = (self.cipher(purpose), random::<NONCE_BYTES>()?);
        let ciphertext = cipher.encrypt(&XNonce::from(*nonce), Payload { msg: clear, aad: bound });
        let ciphertext = ciphertext.map_err(|_| failed("seal").because("it is too long"))?;
        Ok(STANDARD.encode([nonce.as_slice(), &ciphertext].concat()))
    }

    fn decrypt(&self, purpose: &str, content: &str, bound: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let bytes = STANDARD.decode(content).ok()?;
        let (nonce, ciphertext) = bytes.split_first_chunk::<NONCE_BYTES>()?;
        let payload = Payload { msg: ciphertext, aad: bound };
        self.cipher(purpose).decrypt(&XNonce::from(*nonce), payload).ok().map(Zeroizing::new)
    }

    fn cipher(&self, purpose: &str) -> XChaCha20Poly1305 {
        XChaCha20Poly1305::new((&*self.derived(purpose)).into())
    }
}

/// The data keys of a project that a machine has, in the order in which they came.
#[derive(Clone, Default)]
pub struct Keyring {
    keys: Vec<DataKey>,
}

/// An entry as it was before it was sealed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenedEntry {
    pub entry: Kept,
    pub text: String,
}

/// What the ciphertext of an entry says.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SignedEntry {
    opened: OpenedEntry,
    by: MemberKey,
    signature: String,
}

/// A new data key as a change grants it.
pub(super) struct NewKey {
    pub(super) key: KeyId,
    pub(super) older: String,
    pub(super) grants: Vec<Grant>,
}

impl Keyring {
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

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

    /// Seals a record that keeps an entry with a data key, and signs it. Everything but the entry and its text stays in
    /// clear, and is bound to them.
    pub fn seal(&self, key: KeyId, identity: &Identity, record: &Record, text: &str) -> Result<Record> {
        let (Some(key), Some(kept)) = (self.key(key), record.body.kept()) else {
            return Err(failed("seal a record").because("there is no data key, or no entry"));
        };
        let opened = OpenedEntry { entry: kept.clone(), text: text.to_owned() };
        let sealed =
            |content| Record { body: Body::Sealed(Box::new(SealedEntry { key: key.id(), content })), ..record.clone() };
        let bound = sealed(String::new()).to_json()?;
        let signature = identity.sign(&said(&bound, &opened)?);
        let clear = serde_json::to_vec(&SignedEntry { opened, by: identity.public(), signature });
        let clear = Zeroizing::new(clear.map_err(|error| failed("seal a record").because(error))?);
        Ok(sealed(key.encrypt(FOR_ENTRIES, &clear, bound.as_bytes())?))
    }

    /// Opens a sealed record, and returns the machine that has signed it. It fails if the ring does not have its key,
    /// if any of its fields was changed, and if its text is not that of its entry.
    pub fn open(&self, record: &Record) -> Result<(OpenedEntry, MemberKey)> {
        let refused = |why: &str| failed(&format!("open record {}", record.id)).because(why);
        let Body::Sealed(sealed) = &record.body else { return Err(refused("it is not sealed")) };
        let key = self.key(sealed.key).ok_or_else(|| refused("this machine does not have its key"))?;
        let empty = SealedEntry { key: sealed.key, content: String::new() };
        let bound = Record { body: Body::Sealed(Box::new(empty)), ..record.clone() }.to_json()?;
        let clear = key.decrypt(FOR_ENTRIES, &sealed.content, bound.as_bytes());
        let clear = clear.ok_or_else(|| refused("it was changed, or is at another place than its own"))?;
        let SignedEntry { opened, by, signature } =
            serde_json::from_slice(&clear).map_err(|error| refused(&error.to_string()))?;
        if !by.has_signed(&said(&bound, &opened)?, &signature) {
            return Err(refused("it is signed by another machine than it says"));
        }
        let is_whole = opened.entry.text == TextKey::of(opened.text.as_bytes());
        if is_whole { Ok((opened, by)) } else { Err(refused("its text is another one")) }
    }

    /// Returns the ring with the keys that a change grants to a machine, if it grants any. The change must be one that
    /// counts: see [`Roster`](super::Roster).
    pub fn extended_by(&self, identity: &Identity, place: SealedPlace<'_>, change: &KeyGrants) -> Result<Option<Self>> {
        let (own, secret) = (identity.public(), identity.secret()?);
        let grant = change.grants.iter().find(|grant| grant.member == own);
        let given = grant.and_then(|grant| unwrapped(&secret, place, grant)).filter(|key| key.id() == change.key);
        let Some(newest) = given else { return Ok(None) };
        let older = newest.decrypt(FOR_OLDER_KEYS, &change.older, &place.bound()).unwrap_or_default();
        let (older, _) = older.as_chunks::<KEY_BYTES>();
        let mut extended = self.clone();
        for key in older.iter().map(|key| DataKey(Zeroizing::new(*key))).chain([newest]) {
            if !extended.has(key.id()) {
                extended.keys.push(key);
            }
        }
        Ok(Some(extended))
    }

    /// Draws a data key, and wraps it for members. The older ones are sealed with it.
    pub(super) fn new_key(
        &self,
        place: SealedPlace<'_>,
        members: impl Iterator<Item = (MemberKey, String)>,
    ) -> Result<NewKey> {
        let key = DataKey(random()?);
        let older: Vec<&[u8]> = self.keys.iter().map(|key| key.0.as_slice()).collect();
        let older = key.encrypt(FOR_OLDER_KEYS, &Zeroizing::new(older.concat()), &place.bound())?;
        let grants = members.map(|(member, user)| wrapped(&key, place, member, user)).collect::<Result<_>>()?;
        Ok(NewKey { key: key.id(), older, grants })
    }

    fn key(&self, id: KeyId) -> Option<&DataKey> {
        self.keys.iter().find(|key| key.id() == id)
    }
}

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.keys.iter().map(DataKey::id)).finish()
    }
}

fn wrapped(key: &DataKey, place: SealedPlace<'_>, member: MemberKey, user: String) -> Result<Grant> {
    let refused = || failed("wrap a key").because("the key of the member cannot be used");
    let public = member.public().ok_or_else(refused)?;
    let (key, bound) = (key.0.as_slice(), place.bound());
    let sealed = hpke::single_shot_seal::<WrapCipher, WrapHash, Kem>(&OpModeS::Base, &public, FOR_GRANTS, key, &bound);
    let (encapsulated, ciphertext) = sealed.map_err(|_| refused())?;
    let key = STANDARD.encode([encapsulated.to_bytes().as_slice(), &ciphertext].concat());
    Ok(Grant { member, user, key })
}

/// Returns the key that was wrapped for this machine, unless it was wrapped for another one or another project.
fn unwrapped(secret: &<Kem as hpke::Kem>::PrivateKey, place: SealedPlace<'_>, grant: &Grant) -> Option<DataKey> {
    let bytes = STANDARD.decode(&grant.key).ok()?;
    let (encapsulated, ciphertext) = bytes.split_at_checked(ENCAPSULATED_BYTES)?;
    let encapsulated = <Kem as hpke::Kem>::EncappedKey::from_bytes(encapsulated).ok()?;
    let opened = hpke::single_shot_open::<WrapCipher, WrapHash, Kem>(
        &OpModeR::Base,
        secret,
        &encapsulated,
        FOR_GRANTS,
        ciphertext,
        &place.bound(),
    );
    let opened = Zeroizing::new(opened.ok()?);
    opened.as_slice().try_into().ok().map(|key| DataKey(Zeroizing::new(key)))
}

/// Returns what is signed of an entry: a hash of it, and of what it is bound to.
fn said(bound: &str, opened: &OpenedEntry) -> Result<[u8; 32]> {
    let said = serde_json::to_vec(&(bound, opened)).map_err(|error| failed("sign a record").because(error))?;
    Ok(blake3::derive_key(FOR_SIGNATURES, &Zeroizing::new(said)))
}

fn failed(doing: &str) -> PortError {
    PortError::new(ErrorKind::Invalid, doing)
}
