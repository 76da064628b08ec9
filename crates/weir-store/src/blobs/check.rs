//! Finds texts that are lost, because of a power cut, a failing disk or a removed file, and texts that cannot be read
//! at the moment. Invariant: an error that may pass never counts as a loss.

use rusqlite::Connection;

use super::{Blobs, part_of, stored_hash};
use crate::error::{Fault, Loss, Result, StoreError};
use crate::layout::StorePart;

/// How thoroughly texts are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Checks that each file exists and has the right length.
    Quick,
    /// Also reads every text and compares it with its hash.
    Deep,
}

/// The texts of one batch that cannot be read, by their ids.
#[derive(Default)]
pub(crate) struct FaultyTexts {
    pub(crate) lost: Vec<(i64, Loss)>,
    /// Texts that cannot be read at the moment, and why.
    pub(crate) unavailable: Vec<(i64, StoreError)>,
    /// The last text that was checked, or `None` if there are no more.
    pub(crate) last: Option<i64>,
}

impl Blobs {
    /// Returns what shows that a text with a file is lost: the file does not exist or has another length.
    pub(crate) fn check_file(&self, hash: &blake3::Hash, stored: u64) -> Result<Option<Loss>> {
        match std::fs::metadata(self.path_of(hash)) {
            Ok(about) if about.len() == stored => Ok(None),
            Ok(about) => Ok(Some(Loss::Damaged(format!("its file has {} bytes instead of {stored}", about.len())))),
            Err(error) => loss_in(Err(self.fault(hash, &error))),
        }
    }

    /// Returns what shows that a text is lost. Reads all of it, and compares it with its hash.
    pub(crate) fn check_text(&self, db: &Connection, blob_id: i64) -> Result<Option<Loss>, Fault> {
        let read = self.open_at(db, blob_id).and_then(|reader| Ok(reader.map_or(Ok(()), |it| it.verify())?));
        match read {
            Ok(()) => Ok(None),
            Err(Fault::Store(error)) => Ok(loss_in(Err(error))?),
            Err(other) => Err(other),
        }
    }

    /// Checks at most `limit` texts after the one with id `after`.
    pub(crate) fn faulty(&self, db: &Connection, depth: Depth, after: i64, limit: usize) -> Result<FaultyTexts, Fault> {
        let mut statement =
            db.prepare_cached("SELECT id, hash, stored, data IS NULL FROM blobs WHERE id > ?1 ORDER BY id LIMIT ?2")?;
        let mut rows = statement.query([after, limit as i64])?;
        let mut faulty = FaultyTexts::default();
        while let Some(row) = rows.next()? {
            let (blob_id, hash, stored, in_file): (i64, Vec<u8>, i64, bool) =
                (row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?);
            faulty.last = Some(blob_id);
            let mut checked = if in_file { self.check_file(&stored_hash(&hash)?, stored as u64) } else { Ok(None) };
            if matches!(checked, Ok(None)) && depth == Depth::Deep {
                checked = match self.check_text(db, blob_id) {
                    Err(Fault::Engine(error)) => return Err(error.into()),
                    Err(Fault::Store(error)) => Err(error),
                    Ok(found) => Ok(found),
                };
            }
            // Another process may have removed the text since. The next view of the log shows that.
            match checked {
                Ok(loss) => faulty.lost.extend(loss.map(|loss| (blob_id, loss))),
                Err(error) => faulty.unavailable.push((blob_id, error)),
            }
        }
        Ok(faulty)
    }

    /// Returns the error for the file of a text that cannot be opened.
    pub(super) fn fault(&self, hash: &blake3::Hash, error: &std::io::Error) -> StoreError {
        match StoreError::of_text(part_of(hash), error) {
            // The folder may be a link to a disk that is not mounted.
            StoreError::Lost { loss: Loss::Absent, .. } if self.folder.is_symlink() && !self.folder.exists() => {
                StoreError::unusable(StorePart::Blobs, error)
            }
            other => other,
        }
    }
}

/// Returns the loss that a read shows. Any other error stays an error.
fn loss_in(read: Result<()>) -> Result<Option<Loss>> {
    match read {
        Ok(()) => Ok(None),
        Err(StoreError::Lost { loss, .. }) => Ok(Some(loss)),
        Err(error) => Err(error),
    }
}
