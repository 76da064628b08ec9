//! Copies a whole store while others write to it, and checks a copy before it replaces a store. The index is derived,
//! so copies do not include it. Invariant: a text that cannot be read is left out and named, and the rest is copied.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use weir_core::Limits;

use super::{Owner, Store, owner_key};
use crate::blobs::{Blobs, file_name};
use crate::db::{Db, Durability, Patience, create_private_folder};
use crate::error::{Fault, Loss, Result, StoreError, from_system};
use crate::layout::{BLOBS_FOLDER, LOG_FILE, StorePart};
use crate::log;

/// Number of attempts that restart because a text was removed meanwhile, before other writers are blocked.
const MAX_TRIES: usize = 3;

/// What a copy has, once it was checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckedCopy {
    pub entries: u64,
    pub events: u64,
    /// Texts of entries that the copy does not have, or that are damaged in it.
    pub lost: u64,
}

/// The contents of a copy.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Copied {
    pub log: PathBuf,
    pub texts: Vec<PathBuf>,
    /// Names of text files that the log refers to but that do not exist.
    pub missing: Vec<String>,
    /// Names of texts that are damaged. Their files are left out.
    pub damaged: Vec<String>,
    /// Names of text files that are left out because they cannot be read at the moment, and why.
    pub unavailable: Vec<(String, String)>,
    pub entries: u64,
    pub events: u64,
}

impl Store {
    /// Copies the log and the texts, as of one moment, into a folder on the same disk.
    pub fn copy_to(&mut self, folder: &Path) -> Result<Copied> {
        for _ in 0..MAX_TRIES {
            let copied = copy(&self.log, &self.folder, folder)?;
            if copied.missing.is_empty() {
                return Ok(copied);
            }
        }
        // The lock keeps other processes from removing texts, so a file that is missing now really does not exist.
        let reader = Db::open(self.log.path(), log::MIGRATIONS, self.log.patience())?;
        let own = self.folder.clone();
        self.log.write(Durability::Process, |_| copy(&reader, &own, folder).map_err(Fault::from))
    }

    /// Returns whether the store has never had an entry or event.
    pub fn is_blank(&self) -> Result<bool> {
        Ok(self.counts()? == (0, 0))
    }

    pub fn counts(&self) -> Result<(u64, u64)> {
        self.log.read(counts)
    }

    /// Opens a copy of any owner's store, checks everything in it, and makes it the store of `owner`. A text that is
    /// lost does not make the rest worthless. An error says that the log is damaged, or that something cannot be read
    /// at the moment.
    pub fn take_over_copy(folder: &Path, owner: &Owner, mut tell: impl FnMut(u64)) -> Result<CheckedCopy> {
        let mut log = Db::open(&folder.join(LOG_FILE), log::MIGRATIONS, Patience::default())?;
        if let Some(problem) = log.integrity_problems()?.into_iter().next() {
            return Err(StoreError::Damaged { at: StorePart::Log, detail: problem });
        }
        let blobs = Blobs::new(folder.join(BLOBS_FOLDER));
        let texts: Vec<i64> = log.read(|c| {
            let mut statement = c.prepare("SELECT id FROM blobs")?;
            statement.query_map([], |row| row.get(0))?.collect()
        })?;
        let mut lost = 0;
        for (number, id) in texts.iter().enumerate() {
            lost += u64::from(log.read(|c| blobs.check_text(c, *id))?.is_some());
            tell(number as u64 + 1);
        }
        // Copies are made without write-ahead logging.
        log.set_write_ahead_logging()?;
        let key = owner_key(owner);
        log.write(Durability::Power, |tx| {
            tx.execute("INSERT INTO owner (id, key) VALUES (1, ?1) ON CONFLICT (id) DO UPDATE SET key = ?1", [&key])
        })?;
        log.truncate_write_ahead_log()?;
        let (entries, events) = log.read(counts)?;
        Ok(CheckedCopy { entries, events, lost })
    }

    /// Transfers the store in a folder to another owner. From then on, opening it as the former owner is refused.
    pub fn hand_over(folder: &Path, from: Owner, to: &Owner) -> Result<()> {
        let mut store = Self::open(folder, from, Limits::default())?;
        let key = owner_key(to);
        store.log.write(Durability::Power, |tx| tx.execute("UPDATE owner SET key = ?1 WHERE id = 1", [&key]).map(drop))
    }
}

/// Makes one attempt at a copy.
fn copy(log: &Db, from: &Path, to: &Path) -> Result<Copied> {
    create_private_folder(StorePart::Copy, &to.join(BLOBS_FOLDER))?;
    let copied = to.join(LOG_FILE);
    log.copy_to(&copied)?;
    let connection = Db::open_as(&StorePart::Copy, &copied, log::MIGRATIONS, Patience::default())?;
    let (entries, events) = connection.read(counts)?;
    let mut copied = Copied { log: copied, entries, events, ..Copied::default() };
    let all: Vec<(i64, Vec<u8>, bool)> = connection.read(|c| {
        let mut statement = c.prepare("SELECT id, hash, data IS NULL FROM blobs ORDER BY hash")?;
        statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?.collect()
    })?;
    let blobs = Blobs::new(to.join(BLOBS_FOLDER));
    for (id, hash, is_in_file) in all {
        let name = file_name(&hash);
        let (source, target) = (from.join(BLOBS_FOLDER).join(&name), to.join(BLOBS_FOLDER).join(&name));
        let linked = if is_in_file { link_or_copy(&source, &target) } else { Ok(()) };
        let checked = match linked {
            Ok(()) => connection.read(|c| blobs.check_text(c, id)),
            Err(error) => match Loss::shown_by(&error) {
                Some(loss) => Ok(Some(loss)),
                // The copy itself may be what cannot be written.
                None if std::fs::File::open(&source).is_ok() => return Err(from_system(StorePart::Copy, &error)),
                None => Err(StoreError::unusable(StorePart::Blob(name.clone()), &error)),
            },
        };
        match checked {
            Ok(None) => copied.texts.extend(is_in_file.then_some(target)),
            Ok(Some(Loss::Absent)) => copied.missing.push(name),
            Ok(Some(Loss::Damaged(_))) => copied.damaged.push(name),
            Err(StoreError::Unusable { detail, .. }) => copied.unavailable.push((name, detail)),
            Err(other) => return Err(other),
        }
    }
    Ok(copied)
}

/// Links the file, or copies it if that fails. Texts never change, so a hard link is as good as a copy.
fn link_or_copy(source: &Path, target: &Path) -> std::io::Result<()> {
    match std::fs::hard_link(source, target) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => std::fs::copy(source, target).map(drop),
        other => other,
    }
}

fn counts(connection: &Connection) -> rusqlite::Result<(u64, u64)> {
    let count = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0)).map(i64::cast_unsigned);
    Ok((count("SELECT count(*) FROM entries")?, count("SELECT count(*) FROM events WHERE kind <> 'kept'")?))
}
