//! Opens a database: to write, to read if nothing can be written, or as it is.

use std::path::Path;

use crate::connect::{OpenMode, connect};
use crate::error::{Result, StoreError};
use crate::files::{create_private_file, with_suffix};
use crate::layout::StorePart;
use crate::migrate::{self, Migration};
use crate::{Access, Db, Patience};

impl Db {
    /// Opens a database, creating or migrating it first if necessary. If nothing can be written, opens it read-only.
    pub fn open(path: &Path, migrations: &[Migration], patience: Patience) -> Result<Self> {
        Self::open_as(&StorePart::of_database(path), path, migrations, patience)
    }

    /// Like [`Self::open`], for a database that is another part than its name says.
    pub fn open_as(part: &StorePart, path: &Path, migrations: &[Migration], patience: Patience) -> Result<Self> {
        let opened = Self::open_to_write(part, path, migrations, patience);
        opened.or_else(|error| Self::open_despite(error, part, path, migrations, patience))
    }

    /// Opens a database as it is: it must exist, and is not migrated. If nothing can be written, opens it read-only.
    pub fn open_as_is(path: &Path, migrations: &[Migration], patience: Patience) -> Result<Self> {
        let part = StorePart::of_database(path);
        let connected = connect(&part, path, &OpenMode::Writing)
            .and_then(|connection| Self::new(connection, &part, path, patience, Access::Writing));
        let opened = connected.and_then(|db| migrate::check_is_current(&db, migrations).map(|()| db));
        opened.or_else(|error| Self::open_despite(error, &part, path, migrations, patience))
    }

    /// Opens a database that cannot be opened for writing, if it can be read.
    fn open_despite(
        error: StoreError,
        part: &StorePart,
        path: &Path,
        migrations: &[Migration],
        patience: Patience,
    ) -> Result<Self> {
        let access = match error {
            StoreError::ReadOnly { .. } if path.exists() => Access::Reading,
            StoreError::Full { .. } if path.exists() => Access::ReadingFull,
            _ => return Err(error),
        };
        Self::open_to_read(part, path, migrations, patience, access).map_err(|_| error)
    }

    fn open_to_write(part: &StorePart, path: &Path, migrations: &[Migration], patience: Patience) -> Result<Self> {
        create_private_file(part, path)?;
        let mut db = Self::new(connect(part, path, &OpenMode::Writing)?, part, path, patience, Access::Writing)?;
        migrate::bring_up_to_date(&mut db, migrations)?;
        Ok(db)
    }

    fn open_to_read(
        part: &StorePart,
        path: &Path,
        migrations: &[Migration],
        patience: Patience,
        access: Access,
    ) -> Result<Self> {
        // Without a write-ahead log, the database file is complete. With one, the engine needs its side files, which
        // exist unless the last process closed the database in an orderly way.
        let mode = match std::fs::metadata(with_suffix(path, "-wal")) {
            Ok(about) if about.len() > 0 => OpenMode::Reading,
            _ => OpenMode::Unchanging,
        };
        let db = Self::new(connect(part, path, &mode)?, part, path, patience, access)?;
        migrate::check_is_current(&db, migrations)?;
        Ok(db)
    }
}
