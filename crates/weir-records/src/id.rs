//! Identities that mean the same on every machine: hosts, records and texts.
//!
//! Invariant: each has one written form, which is read back as the same value; nothing else parses.

use std::fmt;

use crate::error::{ErrorKind, PortError, Result};

/// A writer of records: one installation, or one run of a server. Drawn at random, so that no two are the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HostId([u8; 16]);

impl HostId {
    /// Creates an identity from random bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    pub fn random() -> Result<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)
            .map_err(|error| PortError::new(ErrorKind::Unavailable, "draw an identity").because(error.to_string()))?;
        Ok(Self(bytes))
    }

    pub fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// Parses 32 hexadecimal digits in lower case.
    pub fn parse(text: &str) -> Result<Self> {
        from_hex(text).map(Self).ok_or_else(|| not(text, "a host"))
    }
}

impl fmt::Display for HostId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(f, &self.0)
    }
}

/// The identity of a record beyond the machine that wrote it: the host, and the host's own count of its records.
/// Written as `<host>-<index>`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RecordId {
    pub host: HostId,
    /// The number of the record among those of its host, from 0. Numbers may be left out, and none is used twice.
    pub index: u64,
}

impl RecordId {
    /// The largest index, so that every database can store it.
    pub const MAX_INDEX: u64 = i64::MAX as u64;

    /// Parses `<host>-<index>`.
    pub fn parse(text: &str) -> Result<Self> {
        let parsed = text.split_once('-').and_then(|(host, index)| {
            let number: u64 = index.parse().ok()?;
            // One written form: no sign and no leading zeros.
            let is_plain = number <= Self::MAX_INDEX && number.to_string() == index;
            is_plain.then_some(Self { host: HostId(from_hex(host)?), index: number })
        });
        parsed.ok_or_else(|| not(text, "the id of a record"))
    }
}

impl fmt::Display for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.host, self.index)
    }
}

/// The content of a text as its BLAKE3 hash, which is the name of its blob.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TextKey([u8; 32]);

impl TextKey {
    pub fn of(text: &[u8]) -> Self {
        Self(*blake3::hash(text).as_bytes())
    }

    /// Creates a key from the bytes of a hash.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Parses 64 hexadecimal digits in lower case.
    pub fn parse(text: &str) -> Result<Self> {
        from_hex(text).map(Self).ok_or_else(|| not(text, "the key of a text"))
    }
}

impl fmt::Display for TextKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(f, &self.0)
    }
}

/// Derives what follows from the one written form of each identity.
macro_rules! written_id {
    ($($name:ident),+) => { $(
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                Self::parse(&text).map_err(serde::de::Error::custom)
            }
        }
    )+ };
}

pub(crate) use written_id;

written_id!(HostId, RecordId, TextKey);

pub(crate) fn write_hex(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

pub(crate) fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; N];
    if text.len() != 2 * N {
        return None;
    }
    for (into, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        let [high, low] = pair else { return None };
        *into = digit(*high)? << 4 | digit(*low)?;
    }
    Some(bytes)
}

pub(crate) fn not(text: &str, what: &str) -> PortError {
    let shown: String = text.chars().take(80).collect();
    PortError::new(ErrorKind::Invalid, format!("read `{shown}` as {what}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_written_is_read_back(host: [u8; 16], index in 0..=RecordId::MAX_INDEX, text: Vec<u8>) {
            let id = RecordId { host: HostId::from_bytes(host), index };
            prop_assert_eq!(RecordId::parse(&id.to_string()).unwrap(), id);
            let key = TextKey::of(&text);
            prop_assert_eq!(TextKey::parse(&key.to_string()).unwrap(), key);
            let json = serde_json::to_string(&id).unwrap();
            prop_assert_eq!(serde_json::from_str::<RecordId>(&json).unwrap(), id);
        }

        #[test]
        fn parsing_any_text_is_safe_and_has_one_written_form(text: String) {
            if let Ok(id) = RecordId::parse(&text) {
                prop_assert_eq!(id.to_string(), text);
            }
        }
    }

    #[test]
    fn other_spellings_are_refused() {
        let host = "00112233445566778899aabbccddeeff";
        assert!(RecordId::parse(&format!("{host}-7")).is_ok());
        for text in ["", "-7", host, &format!("{host}-07"), &format!("{host}-+7"), &format!("{host}--7")] {
            assert!(RecordId::parse(text).is_err(), "{text}");
        }
        assert!(RecordId::parse(&format!("{}-7", host.to_uppercase())).is_err());
        assert!(RecordId::parse(&format!("{host}-9223372036854775808")).is_err());
        assert!(TextKey::parse(host).is_err());
    }
}
