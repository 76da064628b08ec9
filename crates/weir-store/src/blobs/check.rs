//! Finds texts that cannot be read any more: after a power cut, on a failing disk, or because somebody removed a file.

use rusqlite::{Connection, OptionalExtension as _};

use super::{Blobs, Row, read};
use crate::error::{Fault, Result, StoreError};

/// What is said of a file that is not there.
pub(super) const MISSING: &str = "its file is missing";

/// How thoroughly texts are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Whether each file is there and as long as it should be.
    Quick,
    /// Every text is read and compared with its hash.
    Deep,
}

/// A text that cannot be read.
pub(crate) struct Faulty {
    pub(crate) blob_id: i64,
    pub(crate) why: String,
}

impl Blobs {
    /// Whether the file of a text is there and has this length.
    pub(crate) fn is_whole(&self, hash: &blake3::Hash, stored: u64) -> bool {
        self.fault_of_file(hash, stored).is_none()
    }

    /// The texts that cannot be read, of at most `limit` after the one with id `after`. Gives the last id looked at too;
    /// none when there are no more.
    pub(crate) fn faulty(
        &self,
        connection: &Connection,
        depth: Depth,
        (after, limit): (i64, usize),
    ) -> Result<(Vec<Faulty>, Option<i64>), Fault> {
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
                why = self.fault_of_file(&self.hash(&hash)?, stored as u64);
            }
            if why.is_none() && depth == Depth::Deep {
                why = self.fault_of_text(connection, blob_id)?;
            }
            // Another process may have removed the text since: the next view of the log says so.
            faulty.extend(why.map(|why| Faulty { blob_id, why }));
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
        let row: Option<Row> = connection
            .prepare_cached("SELECT hash, bytes, frames, data, lines FROM blobs WHERE id = ?1")?
            .query_row([blob_id], read)
            .optional()?;
        match row.map(|row| self.reader(row).and_then(|reader| reader.verify())) {
            None | Some(Ok(())) => Ok(None),
            Some(Err(StoreError::Unreadable { detail, .. })) => Ok(Some(detail)),
            Some(Err(other)) => Err(other.into()),
        }
    }
}
