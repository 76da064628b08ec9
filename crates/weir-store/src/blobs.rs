//! Stores texts: compressed in frames of 1 MiB, addressed by content, small ones in the log's database and large ones
//! in files of their own.
//!
//! Invariants: a row is committed only after its file is complete under its final name, on the disk; a file is removed
//! only once the removal of its row is on the disk too, by a process that holds the write lock and has checked that no
//! row refers to it. So a crash or a power cut leaves at worst an extra file, and a reader that finds no file can check
//! whether the row is gone too.

mod check;
mod frames;
mod orphans;
mod parts;
mod reader;
mod stage;
mod writer;

use std::cell::Cell;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, Transaction, params};
use weir_ledger::private;

use crate::db::Db;
use crate::error::{Fault, Result, StoreError, from_system};
use crate::layout::StorePart;
pub use check::Depth;
pub(crate) use frames::FRAME_BYTES;
use frames::Frames;
pub(crate) use parts::random_name;
pub use reader::{BlobReader, Line};
pub(crate) use stage::StagedText;
use stage::{Stage, StagedData};
use weir_ledger::Sql as _;
pub(crate) use writer::FinishedText;
pub use writer::{KeepError, TextWriter};

/// Maximum stored size of a text in the database. Up to this size, the engine reads it faster than the file system
/// would.
const MAX_INLINE_BYTES: usize = 16 << 10;

/// Number of times a text with a missing file is looked up again before the store counts as damaged.
const MAX_TRIES: usize = 5;

pub(crate) struct Blobs {
    folder: PathBuf,
    /// Whether files were renamed since the folder was last synced to the disk.
    has_unsynced_names: Cell<bool>,
}

/// The columns of a row that describe how a text is stored.
struct BlobColumns<'a> {
    stored: i64,
    frames: Vec<u8>,
    /// The stored text, if it is in the row itself.
    data: Option<&'a Vec<u8>>,
    lines: Option<Vec<u8>>,
}

impl BlobColumns<'_> {
    fn filed(&self) -> i64 {
        if self.data.is_none() { self.stored } else { 0 }
    }
}

/// A text that has a row.
struct KnownText {
    id: i64,
    stored: i64,
    is_in_file: bool,
    /// Whether the row describes exactly the bytes that were staged. Another version of the compressor may have needed
    /// others for the same text.
    has_same_bytes: bool,
}

impl KnownText {
    fn find(tx: &Transaction<'_>, staged: &StagedText) -> rusqlite::Result<Option<Self>> {
        let frames = frames::to_bytes(&staged.frames);
        let (data, length) = match &staged.data {
            StagedData::Held(data) => (Some(data), data.len() as u64),
            StagedData::File(part) => (None, part.length()),
        };
        tx.sql("SELECT id, stored, data IS NULL, stored = ?2 AND frames = ?3 AND data IS ?4 FROM blobs WHERE hash = ?1")
            .find(params![staged.hash.as_bytes(), length as i64, frames, data], |row| {
                let (id, stored) = (row.get(0)?, row.get(1)?);
                Ok(Self { id, stored, is_in_file: row.get(2)?, has_same_bytes: row.get(3)? })
            })
    }
}

pub(crate) struct RemovedText {
    /// The file of the text, if it was large.
    pub(crate) file: Option<blake3::Hash>,
}

impl Blobs {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder, has_unsynced_names: Cell::new(false) }
    }

    /// Compresses a text and, if it is large, writes it to the disk under a temporary name.
    pub(crate) fn stage(&self, text: &[u8]) -> Result<StagedText> {
        let mut stage = Stage::new(&self.folder);
        stage.write(text)?;
        stage.finish()
    }

    /// Starts a text that is written piece by piece, and removes unfinished ones that killed processes left.
    pub(crate) fn writer(&self) -> TextWriter {
        self.remove_unfinished();
        TextWriter::new(&self.folder)
    }

    /// Removes unfinished texts that killed processes left. Returns how many there were.
    pub(crate) fn remove_unfinished(&self) -> usize {
        parts::sweep(&self.folder)
    }

    /// Adds a row for a staged text, or finds the row of an identical text and restores what is lost of it.
    /// [`Self::sync_names`] must be called before the transaction is committed.
    pub(crate) fn commit(&self, tx: &Transaction<'_>, staged: &StagedText) -> Result<i64, Fault> {
        if let Some(known) = KnownText::find(tx, staged)? {
            self.restore(tx, &known, staged)?;
            return Ok(known.id);
        }
        let columns = self.columns_of(staged)?;
        let id = tx
            .sql("INSERT INTO blobs (hash, bytes, stored, frames, data, lines) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")
            .insert(params![
                staged.hash.as_bytes(),
                staged.bytes as i64,
                columns.stored,
                columns.frames,
                columns.data,
                columns.lines
            ])?;
        add_to_totals(tx, columns.stored, columns.filed())?;
        Ok(id)
    }

    /// Makes sure that a text that is known can be read. Most compressed texts are the same bytes again, so a new file
    /// takes the place of the old one without anyone reading it.
    fn restore(&self, tx: &Transaction<'_>, known: &KnownText, staged: &StagedText) -> Result<(), Fault> {
        let is_restored = match &staged.data {
            _ if !known.has_same_bytes => false,
            StagedData::Held(_) => true,
            StagedData::File(part) => part.rename(&self.path_of(&staged.hash)).is_ok(),
        };
        if is_restored {
            return Ok(());
        }
        match self.check_text(tx, known.id)? {
            None => Ok(()),
            Some(_) => self.replace_lost(tx, known, staged),
        }
    }

    /// Replaces a text that is lost. Its row then describes the new bytes.
    fn replace_lost(&self, tx: &Transaction<'_>, known: &KnownText, staged: &StagedText) -> Result<(), Fault> {
        let columns = self.columns_of(staged)?;
        let runs: i64 = tx.sql("SELECT count(*) FROM entries WHERE blob_id = ?1 AND kind = 'run'").value([known.id])?;
        tx.sql("UPDATE blobs SET stored = ?2, frames = ?3, data = ?4, lines = ?5 WHERE id = ?1")
            .run(params![known.id, columns.stored, columns.frames, columns.data, columns.lines])?;
        let grown = columns.stored - known.stored;
        let filed = if known.is_in_file { known.stored } else { 0 };
        add_to_totals(tx, grown, columns.filed() - filed)?;
        tx.sql("UPDATE totals SET runs = runs + ?1 WHERE id = 1").run([runs * grown])?;
        Ok(())
    }

    /// Gives the file of a staged text its name, if it has one, and returns what its row says about the text.
    fn columns_of<'a>(&self, staged: &'a StagedText) -> Result<BlobColumns<'a>> {
        let (stored, data) = match &staged.data {
            StagedData::Held(data) => (data.len() as u64, Some(data)),
            StagedData::File(part) => {
                self.name(part, &staged.hash)?;
                (part.length(), None)
            }
        };
        let lines = (!staged.lines.is_empty()).then(|| frames::to_bytes(&staged.lines));
        Ok(BlobColumns { stored: stored as i64, frames: frames::to_bytes(&staged.frames), data, lines })
    }

    /// Waits until the new file names are on the disk. The contents of the files are there already.
    pub(crate) fn sync_names(&self) -> Result<()> {
        if self.has_unsynced_names.replace(false) {
            private::sync(&self.folder).map_err(|error| from_system(StorePart::Blobs, &error))?;
        }
        Ok(())
    }

    fn name(&self, part: &parts::PartFile, hash: &blake3::Hash) -> Result<()> {
        part.rename(&self.path_of(hash))?;
        self.has_unsynced_names.set(true);
        Ok(())
    }

    /// Removes the row of a text that no entry refers to any more. Its file, if any, is left for
    /// [`Self::remove_files`], because a rollback of this transaction brings back the row, which needs the file.
    pub(crate) fn remove_if_unused(&self, tx: &Transaction<'_>, id: i64) -> Result<Option<RemovedText>, Fault> {
        if tx.sql("SELECT 1 FROM entries WHERE blob_id = ?1 LIMIT 1").has([id])? {
            return Ok(None);
        }
        let (hash, stored, held): (Vec<u8>, i64, bool) = tx
            .sql("DELETE FROM blobs WHERE id = ?1 RETURNING hash, stored, data IS NOT NULL")
            .one([id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        // Its share of the index will be freed too, but later.
        tx.sql(
            "UPDATE totals SET index_bytes = index_bytes - CAST(index_bytes * 1.0 * ?1 / max(stored, 1) AS INTEGER),
                 stored = stored - ?1, filed = filed - ?2 WHERE id = 1",
        )
        .run([stored, if held { 0 } else { stored }])?;
        let file = if held { None } else { Some(stored_hash(&hash)?) };
        Ok(Some(RemovedText { file }))
    }

    /// Removes the files of texts whose rows were removed, unless the same text was kept again since.
    pub(crate) fn remove_files(&self, tx: &Transaction<'_>, files: &[blake3::Hash]) -> Result<(), Fault> {
        for hash in files {
            if !named(tx, hash)?
                && let Err(error) = std::fs::remove_file(self.path_of(hash))
                && error.kind() != std::io::ErrorKind::NotFound
            {
                return Err(from_system(part_of(hash), &error).into());
            }
        }
        Ok(())
    }

    /// Opens for reading the text of what `find` finds. `find` returns what it found and the id of its text.
    pub(crate) fn open<T>(
        &self,
        log: &Db,
        find: impl Fn(&Connection) -> Result<Option<(T, i64)>, Fault>,
    ) -> Result<Option<(T, BlobReader)>> {
        let mut tries = 0;
        loop {
            let found = log.read_at_once(|db| -> Result<_, Fault> {
                let Some((found, id)) = find(db)? else { return Ok(None) };
                Ok(Some((found, row(db, id)?)))
            })?;
            let Some((found, row)) = found else { return Ok(None) };
            match self.reader(row) {
                // Another process may have removed the text since the lookup. If so, the next lookup does not find it.
                Err(StoreError::Lost { .. }) if tries < MAX_TRIES => tries += 1,
                other => return other.map(|reader| Some((found, reader))),
            }
        }
    }

    pub(crate) fn open_at(&self, db: &Connection, id: i64) -> Result<Option<BlobReader>, Fault> {
        Ok(row(db, id).optional()?.map(|row| self.reader(row)).transpose()?)
    }

    fn reader(&self, (hash, bytes, frames, data, lines): BlobRow) -> Result<BlobReader> {
        let hash = stored_hash(&hash)?;
        let data = match data {
            Some(data) => reader::Data::Held(data),
            None => {
                let at = part_of(&hash);
                let file = std::fs::File::open(self.path_of(&hash)).map_err(|error| self.fault(&hash, &error))?;
                reader::Data::File { at, file }
            }
        };
        let lines = frames::numbers(&lines.unwrap_or_default()).collect();
        Ok(BlobReader::new(hash, bytes as u64, Frames::from_bytes(&frames), lines, data))
    }

    /// Returns the path of the file for a hash. The file consists of whole zstd frames, so any zstd tool can read it.
    fn path_of(&self, hash: &blake3::Hash) -> PathBuf {
        self.folder.join(file_name(hash.as_bytes()))
    }
}

fn add_to_totals(tx: &Transaction<'_>, stored: i64, filed: i64) -> rusqlite::Result<()> {
    tx.sql("UPDATE totals SET stored = stored + ?1, filed = filed + ?2 WHERE id = 1").run([stored, filed])
}

fn stored_hash(bytes: &[u8]) -> Result<blake3::Hash> {
    let wrong = |_| StoreError::Damaged { at: StorePart::Log, detail: "a hash of the wrong length".to_owned() };
    blake3::Hash::from_slice(bytes).map_err(wrong)
}

fn part_of(hash: &blake3::Hash) -> StorePart {
    StorePart::Blob(file_name(hash.as_bytes()))
}

pub(crate) fn file_name(hash: &[u8]) -> String {
    let hex: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{hex}.zst")
}

type BlobRow = (Vec<u8>, i64, Vec<u8>, Option<Vec<u8>>, Option<Vec<u8>>);

fn row(db: &Connection, id: i64) -> rusqlite::Result<BlobRow> {
    db.sql("SELECT hash, bytes, frames, data, lines FROM blobs WHERE id = ?1")
        .one([id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)))
}

/// Returns whether a row refers to the file of this text.
fn named(db: &Connection, hash: &blake3::Hash) -> rusqlite::Result<bool> {
    db.sql("SELECT 1 FROM blobs WHERE hash = ?1 AND data IS NULL").has([hash.as_bytes()])
}

pub(crate) fn is_old(path: &Path) -> bool {
    let age = path.metadata().and_then(|meta| meta.modified()).ok().and_then(|time| time.elapsed().ok());
    age.is_some_and(|age| age.as_secs() > 3600)
}
