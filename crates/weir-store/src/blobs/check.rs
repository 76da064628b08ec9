//! Finds texts that can no longer be read, because of a power cut, a failing disk or a removed file.

use rusqlite::Connection;

use super::{Blobs, stored_hash};
use crate::error::{Fault, Result, StoreError};

/// Description of a text whose file does not exist.
pub(super) const MISSING: &str = "its file is missing";

/// How thoroughly texts are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Checks that each file exists and has the right length.
    Quick,
    /// Also reads every text and compares it with its hash.
    Deep,
}

/// A text that cannot be read.
pub(crate) struct FaultyText {
    pub(crate) blob_id: i64,
    pub(crate) why: String,
}

impl Blobs {
    /// Returns whether the file of a text exists and has this length.
    pub(crate) fn is_whole(&self, hash: &blake3::Hash, stored: u64) -> bool {
        self.fault_of_file(hash, stored).is_none()
    }

    /// Checks at most `limit` texts after the one with id `after`, and returns those that cannot be read. Also returns
    /// the last id checked, or `None` if there are no more texts.
    pub(crate) fn faulty(
        &self,
        connection: &Connection,
        depth: Depth,
        after: i64,
        limit: usize,
    ) -> Result<(Vec<FaultyText>, Option<i64>), Fault> {
        let mut statement = connection
            .prepare_cached("SELECT id, hash, stored, data IS NULL FROM blobs WHERE id > ?1 ORDER BY id LIMIT ?2")?;
        let mut rows = statement.query([after, limit as i64])?;
        let (mut faulty, mut last) = (Vec::new(), None);
        while let Some(row) = rows.next()? {
            let (blob_id, hash, stored, in_file): (i64, Vec<u8>, i64, bool) =
                (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
            last = Some(blob_id);
            let mut why = None;
            if in_file {
                why = self.fault_of_file(&stored_hash(&hash)?, stored as u64);
            }
            if why.is_none() && depth == Depth::Deep {
                why = self.fault_of_text(connection, blob_id)?;
            }
            // Another process may have removed the text since. The next view of the log shows that.
            faulty.extend(why.map(|why| FaultyText { blob_id, why }));
        }
        Ok((faulty, last))
    }

    fn fault_of_file(&self, hash: &blake3::Hash, stored: u64) -> Option<String> {
        match std::fs::metadata(self.path_of(hash)) {
            Ok(about) if about.len() == stored => None,
            Ok(about) => Some(format!("its file has {} bytes instead of {stored}", about.len())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Some(MISSING.to_owned()),
            Err(error) => Some(error.to_string()),
        }
    }

    fn fault_of_text(&self, connection: &Connection, blob_id: i64) -> Result<Option<String>, Fault> {
        let checked = match self.open_at(connection, blob_id) {
            Ok(reader) => reader.map_or(Ok(()), |reader| reader.verify()).map_err(Fault::from),
            Err(fault) => Err(fault),
        };
        match checked {
            Ok(()) => Ok(None),
            Err(Fault::Store(StoreError::Unreadable { detail, .. })) => Ok(Some(detail)),
            Err(other) => Err(other),
        }
    }
}
