//! Opens the data of a team server: a folder, or a database with a folder beside it. Invariant: nothing is created but
//! by `weir team init`, except the index, which is derived.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::ArgMatches;
use weir_records::{Accounts, ErrorKind as PortKind, PortError, Ports, sqlite};
use weir_server::{Bridge, ObjectBlobs, PostgresLog, PostgresOptions, TantivyIndex, migrate};

use crate::env::Env;
use crate::error::{CommandError, ErrorKind};

/// The role that the server uses in its database, whatever role logs in.
const ROLE: &str = "weir_app";
/// What a folder has that `weir team init` has prepared.
const DATABASE_FILE: &str = "records.db";

/// Where the data of a server is.
pub(super) struct Place {
    folder: Option<PathBuf>,
    texts: Option<PathBuf>,
    database: Option<PostgresOptions>,
}

/// The storage of a server.
pub(super) struct Storage {
    pub(super) ports: Ports,
    pub(super) accounts: Arc<dyn Accounts>,
}

impl Place {
    /// Reads the options.
    pub(super) fn of(env: &Env, arguments: &ArgMatches) -> Result<Self, CommandError> {
        let path = |name: &str| match arguments.try_get_one::<PathBuf>(name) {
            Ok(Some(path)) => Some(env.folder.join(path)),
            // Only the server has an option for texts.
            Ok(None) | Err(_) => None,
        };
        let database = match arguments.get_one::<String>("database") {
            Some(address) => Some(options(env, address)?),
            None => None,
        };
        Ok(Self { folder: path("data"), texts: path("texts"), database })
    }

    /// Creates what is missing, and returns the names of the migrations that ran on a database of its own.
    pub(super) fn prepare(&self) -> Result<Vec<&'static str>, CommandError> {
        match (&self.database, &self.folder) {
            (Some(options), _) => {
                let mut owner = options.clone();
                owner.role = None;
                let bridge = Bridge::start().map_err(failed)?;
                migrate(&owner, ROLE, &bridge).map_err(failed)
            }
            (None, Some(folder)) => sqlite::open_accounts(folder).map(|_| Vec::new()).map_err(failed),
            (None, None) => Ok(Vec::new()),
        }
    }

    /// Opens the accounts.
    pub(super) fn accounts(&self) -> Result<Arc<dyn Accounts>, CommandError> {
        match &self.database {
            Some(options) => {
                let bridge = Bridge::start().map_err(failed)?;
                let log = PostgresLog::open(options, &bridge).map_err(unprepared)?;
                Ok(Arc::new(log.accounts()))
            }
            None => Ok(Arc::new(sqlite::open_accounts(self.prepared_folder()?).map_err(failed)?)),
        }
    }

    /// Opens everything that a server needs.
    pub(super) fn open(&self) -> Result<Storage, CommandError> {
        let Some(options) = &self.database else {
            let folder = self.prepared_folder()?;
            let accounts = Arc::new(sqlite::open_accounts(folder).map_err(failed)?);
            return Ok(Storage { ports: sqlite::open(folder).map_err(failed)?, accounts });
        };
        let folder = self.folder()?;
        let bridge = Bridge::start().map_err(failed)?;
        let log = PostgresLog::open(options, &bridge).map_err(unprepared)?;
        let accounts = Arc::new(log.accounts());
        let texts = self.texts.clone().unwrap_or_else(|| folder.join("texts"));
        let ports = Ports {
            log: Arc::new(log),
            index: Arc::new(TantivyIndex::open(&folder.join("index")).map_err(in_use)?),
            blobs: Arc::new(ObjectBlobs::in_folder(&texts).map_err(failed)?),
        };
        Ok(Storage { ports, accounts })
    }

    fn folder(&self) -> Result<&Path, CommandError> {
        self.folder.as_deref().ok_or_else(|| CommandError::usage("name a folder with --data"))
    }

    fn prepared_folder(&self) -> Result<&Path, CommandError> {
        let folder = self.folder()?;
        if folder.join(DATABASE_FILE).is_file() {
            return Ok(folder);
        }
        let shown = folder.display();
        Err(CommandError::new(ErrorKind::NotFound, format!("there is no data of a team in {shown}"))
            .hint(format!("`weir team init USER --data {shown}` creates it")))
    }
}

/// Reads the address of a database, or the file that has it.
fn options(env: &Env, address: &str) -> Result<PostgresOptions, CommandError> {
    let address = match address.strip_prefix('@') {
        Some(file) => {
            let path = env.folder.join(file);
            std::fs::read_to_string(&path).map_err(|error| {
                CommandError::new(ErrorKind::Failed, format!("cannot read {}: {error}", path.display()))
            })?
        }
        None => address.to_owned(),
    };
    let mut options = PostgresOptions::parse(address.trim()).map_err(failed)?;
    options.role = Some(ROLE.to_owned());
    Ok(options)
}

/// Returns the failure of a port as a person reads it.
pub(super) fn failed(error: PortError) -> CommandError {
    let kind = match error.kind {
        PortKind::Invalid => ErrorKind::Usage,
        PortKind::Missing => ErrorKind::NotFound,
        _ => ErrorKind::Store,
    };
    let message = match (error.kind, &error.source) {
        // What is missing here is not a record.
        (PortKind::Missing, Some(reason)) => format!("cannot {}: {reason}", error.at),
        _ => error.to_string(),
    };
    CommandError::new(kind, message)
}

fn unprepared(error: PortError) -> CommandError {
    failed(error).hint("`weir team init USER --database URL` prepares a database, as its owner; also after an update")
}

fn in_use(error: PortError) -> CommandError {
    failed(error).hint("each server needs a folder of its own for --data; --texts names the one that they share")
}
