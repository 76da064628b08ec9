//! What tells an erased record from another one with the same id. Invariant: it does not tell what the record said.

use crate::error::{ErrorKind, PortError, Result};
use crate::id::RecordId;

/// 32 bits of the hash of a record's JSON, which stay when the record is erased. They cannot confirm a guess of what an
/// entry said: its reference has 50 random bits, so every guess fits with some reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Imprint(u32);

impl Imprint {
    pub fn of(json: &str) -> Self {
        let [a, b, c, d, ..] = *blake3::hash(json.as_bytes()).as_bytes();
        Self(u32::from_le_bytes([a, b, c, d]))
    }

    /// Returns the number that a database stores.
    pub fn number(self) -> i64 {
        i64::from(self.0)
    }

    /// Returns the imprint that a database has stored as a number.
    pub fn from_number(number: i64) -> Option<Self> {
        u32::try_from(number).ok().map(Self)
    }
}

/// What a log has under an id.
#[derive(Debug, Clone, Copy)]
pub enum KnownContent<'a> {
    /// A record of another project of the tenant.
    Elsewhere,
    /// The JSON of the record.
    Json(&'a str),
    /// The record is erased. Records that were erased by an earlier version have no imprint.
    Erased(Option<Imprint>),
}

impl<'a> KnownContent<'a> {
    /// Returns what a row of the project has: the JSON of its record, or the imprint if it is erased.
    pub fn of_row(json: Option<&'a str>, imprint: Option<Imprint>) -> Self {
        json.map_or(Self::Erased(imprint), Self::Json)
    }

    /// Checks that a record with the same id is the same record, by its JSON. Every backend asks this in the
    /// transaction that appends.
    pub fn check_same(self, id: RecordId, json: &str) -> Result<()> {
        let refused = |kind| Err(PortError::new(kind, format!("append record {id}")));
        let is_same = match self {
            Self::Elsewhere => false,
            Self::Json(known) => known == json,
            Self::Erased(Some(known)) => known == Imprint::of(json),
            Self::Erased(None) => return refused(ErrorKind::Erased),
        };
        if is_same { Ok(()) } else { refused(ErrorKind::Conflict) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::HostId;

    #[test]
    fn an_erased_record_is_told_from_another_one_if_its_imprint_was_kept() {
        let id = RecordId { host: HostId::from_bytes([7; 16]), index: 3 };
        let kept = Some(Imprint::of("{\"one\"}"));
        let check = |known: KnownContent<'_>, json| known.check_same(id, json).map_err(|error| error.kind);
        assert_eq!(check(KnownContent::Erased(kept), "{\"one\"}"), Ok(()));
        assert_eq!(check(KnownContent::Erased(kept), "{\"two\"}"), Err(ErrorKind::Conflict));
        assert_eq!(check(KnownContent::Erased(None), "{\"one\"}"), Err(ErrorKind::Erased));
        assert_eq!(kept.map(Imprint::number).and_then(Imprint::from_number), kept);
        assert_eq!([-1, 1 << 32].map(Imprint::from_number), [None, None]);
    }
}
