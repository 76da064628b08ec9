//! Opens the data of a team server: a folder, or a database with a folder beside it. Invariant: nothing is created but
//! by `weir-server init`, except the index, which is derived.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::ArgMatches;
use weir_core::{Scope, TenantId, Timestamp, UserId};
use weir_embed::Embed as _;
use weir_host::env::Env;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::when;
use weir_records::moving::MoveState;
use weir_records::{
    Accounts, DeletedTenant, ErasedName, Index as _, Log, OPERATOR, PortError, Ports, Revoked, Shelf, Writer, memory,
    sqlite,
};
use weir_team::{
    Bridge, BucketCopier, BucketOptions, BucketedIndex, ConnectionWatch, CopyPlace, Copying, Meaning, ObjectBlobs,
    PostgresAccounts, PostgresLog, PostgresOptions, SCHEMA, Started, Vectors, delete_tenant, delete_tokens, end_update,
    erase_name, expire_audit, migrate as migrate_schema,
};

use crate::cells::DirectoryPlace;
use crate::database::{ROLE, options, owner_of, refused, unprepared};
use crate::failure::failed;
use crate::texts::TextsPlace;

/// What a folder has that `weir-server init` has prepared.
const DATABASE_FILE: &str = "records.db";
/// The file in a server's folder that has the name of its copies.
const COPY_NAME_FILE: &str = "copy-name";
/// How often an index is copied to a bucket, in minutes.
const DEFAULT_COPY_MINUTES: u64 = 10;

/// Where the data of a server is.
pub(super) struct Place {
    folder: Option<PathBuf>,
    texts: Option<TextsPlace>,
    database: Option<PostgresOptions>,
    directory: Option<DirectoryPlace>,
    /// How often the index is copied, in minutes, if something says so.
    copy_minutes: Option<u64>,
    is_semantic: bool,
}

/// A database that a team moves to.
pub(super) struct NewPlace {
    pub(super) log: PostgresLog,
    pub(super) accounts: PostgresAccounts,
    pub(super) place: String,
}

/// A database that is ready.
#[derive(Default)]
pub(super) struct Prepared {
    /// The names of the migrations that have just run.
    pub(super) ran: Vec<&'static str>,
    pub(super) schema: usize,
}

/// The log and the accounts on PostgreSQL.
struct Backend {
    log: Arc<dyn Log>,
    accounts: Arc<dyn Accounts>,
    connections: ConnectionWatch,
}

/// What was deleted with a tenant.
pub(super) struct Deleted {
    pub(super) existed: bool,
    pub(super) records: u64,
    pub(super) tokens: u64,
    pub(super) from_index: bool,
}

/// What was removed with a user.
pub(super) struct Erased {
    pub(super) tokens: u64,
    pub(super) entries: u64,
    /// Records that stay and have the name.
    pub(super) left: u64,
    /// Rows besides records that had the name.
    pub(super) renamed: u64,
    /// What they have instead.
    pub(super) name: String,
}

pub(super) struct Storage {
    pub(super) ports: Ports,
    pub(super) accounts: Arc<dyn Accounts>,
    pub(super) index_started: Option<Started>,
    pub(super) copying: Option<Copying>,
    /// The model of the index's vectors, if it has any.
    pub(super) meaning: Option<Meaning>,
    pub(super) connections: Option<ConnectionWatch>,
}

impl Place {
    pub(super) fn of(env: &Env, arguments: &ArgMatches) -> Result<Self, CommandError> {
        // Not every library that stores something here lets its caller set modes.
        #[cfg(unix)]
        rustix::process::umask(rustix::fs::Mode::from_raw_mode(0o077));
        let path = |name: &str| match arguments.try_get_one::<PathBuf>(name) {
            Ok(Some(path)) => Some(env.folder.join(path)),
            Ok(None) | Err(_) => None,
        };
        let database = match arguments.try_get_one::<String>("database").ok().flatten() {
            Some(address) => Some(options(&env.folder, address)?),
            None => None,
        };
        let connections = arguments.try_get_one::<u64>("database-connections").ok().flatten();
        let connections = connections.and_then(|count| usize::try_from(*count).ok());
        let database = database.map(|mut database| {
            database.connections = connections.unwrap_or(database.connections);
            database
        });
        let directory = DirectoryPlace::of(env, arguments, connections)?;
        let texts = match arguments.try_get_one::<String>("texts") {
            Ok(Some(value)) => Some(TextsPlace::parse(env, value)?),
            // Not every command has an option for texts.
            Ok(None) | Err(_) => None,
        };
        // Only a server copies an index.
        let copy_minutes = arguments.try_get_one::<u64>("copy-index").ok().flatten().copied();
        let is_semantic = arguments.try_get_one::<bool>("semantic").ok().flatten().copied().unwrap_or_default();
        Ok(Self { folder: path("data"), texts, database, directory, copy_minutes, is_semantic })
    }

    /// Creates what is missing, and runs the migrations that have not run. A database that is newer than this program,
    /// or that belongs to another one, is refused.
    pub(super) fn prepare(&self) -> Result<Prepared, CommandError> {
        if let Some(directory) = &self.directory {
            // A cell was prepared when it was added.
            return Ok(Prepared { ran: directory.prepare()?, schema: SCHEMA });
        }
        match (&self.database, &self.folder) {
            (Some(options), _) => {
                let bridge = Bridge::start().map_err(failed)?;
                let ran = migrate_schema(&owner_of(options), ROLE, &bridge).map_err(refused)?;
                Ok(Prepared { ran, schema: SCHEMA })
            }
            (None, Some(folder)) => {
                let ran = sqlite::prepare(folder).map_err(refused)?;
                Ok(Prepared { ran, schema: sqlite::SCHEMA })
            }
            (None, None) => Ok(Prepared::default()),
        }
    }

    /// Lets no server of an older version start on the database any more.
    pub(super) fn end_update(&self) -> Result<(), CommandError> {
        let Some(options) = &self.database else { return Ok(()) };
        end_update(&owner_of(options), &Bridge::start().map_err(failed)?).map_err(refused)
    }

    /// Returns how many calls of one tenant may be at work: half of the connections to the database, so that other
    /// tenants find one.
    pub(super) fn tenant_calls(&self) -> Option<usize> {
        let of_directory = self.directory.as_ref().map(DirectoryPlace::connections);
        let connections = self.database.as_ref().map(|database| database.connections).or(of_directory);
        connections.map(|connections| (connections / 2).max(1))
    }

    /// Returns the directory, for a command that is about it.
    pub(super) fn directory(&self) -> Result<&DirectoryPlace, CommandError> {
        self.directory.as_ref().ok_or_else(|| CommandError::usage("name a directory with --directory"))
    }

    /// Creates a tenant, in a cell of its own if one is named.
    pub(super) fn create_tenant(
        &self,
        accounts: &dyn Accounts,
        tenant: &TenantId,
        cell: Option<&str>,
    ) -> Result<bool, CommandError> {
        if cell.is_none() {
            return accounts.create_tenant(tenant).map_err(failed);
        }
        let cells = self.directory()?.open(&Bridge::start().map_err(failed)?)?;
        cells.create_tenant_in(tenant, cell).map_err(failed)
    }

    /// Opens the log on PostgreSQL, in one database or several, or returns `None` if it is in a folder.
    fn backend(&self) -> Result<Option<Backend>, CommandError> {
        let bridge = Bridge::start().map_err(failed)?;
        if let Some(directory) = &self.directory {
            let cells = directory.open(&bridge)?;
            let connections = cells.connection_watch();
            return Ok(Some(Backend { log: Arc::clone(&cells) as _, accounts: cells, connections }));
        }
        let Some(options) = &self.database else { return Ok(None) };
        let log = PostgresLog::open(options, &bridge).map_err(unprepared)?;
        let (accounts, connections) = (Arc::new(log.accounts()), log.connection_watch());
        Ok(Some(Backend { log: Arc::new(log), accounts, connections }))
    }

    pub(super) fn accounts(&self) -> Result<Arc<dyn Accounts>, CommandError> {
        match self.backend()? {
            Some(backend) => Ok(backend.accounts),
            None => Ok(Arc::new(sqlite::open_accounts(self.unmoved_folder()?).map_err(failed)?)),
        }
    }

    pub(super) fn open(&self) -> Result<Storage, CommandError> {
        let Some(Backend { log, accounts, connections }) = self.backend()? else {
            let folder = self.unmoved_folder()?;
            let accounts = Arc::new(sqlite::open_accounts(folder).map_err(failed)?);
            let ports = sqlite::open(folder).map_err(failed)?;
            return Ok(Storage {
                ports,
                accounts,
                index_started: None,
                copying: None,
                meaning: None,
                connections: None,
            });
        };
        let folder = self.folder()?;
        let (blobs, index_folder) = (Arc::new(self.blobs()?), folder.join("index"));
        let meaning = if self.is_semantic { Some(built_in_model()?) } else { None };
        let vectors = meaning.clone().map_or(Vectors::Off, Vectors::Of);
        let every = self.copy_every();
        let open_place = || CopyPlace::open(Arc::clone(&blobs), &folder.join(COPY_NAME_FILE)).map_err(failed);
        let copies = every.map(|_| open_place()).transpose()?;
        let options = BucketOptions { vectors, copies: copies.clone(), ..BucketOptions::default() };
        let index = Arc::new(BucketedIndex::open(&index_folder, options).map_err(in_use)?);
        let index_started = Some(index.check().map_err(in_use)?);
        let copying = copies.zip(every).map(|(place, every)| {
            let copier = Arc::new(BucketCopier::new(place, Arc::clone(&index)));
            Copying { copier, every }
        });
        let ports = Ports { log, index, blobs };
        Ok(Storage { ports, accounts, index_started, copying, meaning, connections: Some(connections) })
    }

    fn copy_every(&self) -> Option<Duration> {
        let is_shared = self.texts.as_ref().is_some_and(TextsPlace::is_shared);
        let usual = if is_shared { DEFAULT_COPY_MINUTES } else { 0 };
        let minutes = self.copy_minutes.unwrap_or(usual);
        (minutes > 0).then(|| Duration::from_secs(60 * minutes))
    }

    /// Opens the database that a team moves to.
    pub(super) fn postgres(&self) -> Result<NewPlace, CommandError> {
        let options = self.database.as_ref().ok_or_else(|| CommandError::usage("name a database with --database"))?;
        let bridge = Bridge::start().map_err(failed)?;
        let log = PostgresLog::open(options, &bridge).map_err(unprepared)?;
        let accounts = log.accounts();
        Ok(NewPlace { log, accounts, place: options.place() })
    }

    /// Opens the texts, or `None` if nothing says where they are to be copied.
    pub(super) fn copied_texts(&self) -> Result<Option<ObjectBlobs>, CommandError> {
        self.texts.as_ref().map(TextsPlace::open).transpose()
    }

    /// Deletes a tenant: its tokens first, so that nobody gets in; its rows last, so that an interrupted call can be
    /// repeated.
    pub(super) fn delete_tenant(&self, tenant: &TenantId) -> Result<Deleted, CommandError> {
        let Some(options) = &self.database else {
            let folder = self.unmoved_folder()?;
            let blobs = self.blobs()?;
            let accounts = sqlite::open_accounts(folder).map_err(failed)?;
            let tokens = accounts.delete_tokens(tenant).map_err(failed)?;
            let index = sqlite::SqliteIndex::open(&folder.join("index")).map_err(failed)?;
            for project in accounts.projects(tenant).map_err(failed)? {
                index.clear(&Scope { tenant: tenant.clone(), ..Scope::project(project) }).map_err(failed)?;
            }
            blobs.remove_tenant(tenant).map_err(failed)?;
            let DeletedTenant { existed, records, .. } = accounts.delete_tenant(tenant).map_err(failed)?;
            blobs.remove_tenant(tenant).map_err(failed)?;
            return Ok(Deleted { existed: existed || tokens > 0, records, tokens, from_index: true });
        };
        let owner = owner_of(options);
        let (blobs, bridge) = (self.blobs()?, Bridge::start().map_err(failed)?);
        // The server may have vectors or not.
        let as_they_are = || BucketOptions { vectors: Vectors::AsTheyAre, ..BucketOptions::default() };
        let open = |folder: &PathBuf| BucketedIndex::open(&folder.join("index"), as_they_are());
        let index = self.folder.as_ref().map(open);
        let index = index.transpose().map_err(in_use)?;
        let tokens = delete_tokens(&owner, &bridge, tenant).map_err(failed)?;
        if let Some(index) = &index {
            index.remove_tenant(tenant).map_err(failed)?;
        }
        blobs.remove_tenant(tenant).map_err(failed)?;
        // They have the words of all tenants, and are made again by the servers that go on.
        CopyPlace::remove_all(&blobs).map_err(failed)?;
        let DeletedTenant { existed, records, .. } = delete_tenant(&owner, &bridge, tenant).map_err(failed)?;
        blobs.remove_tenant(tenant).map_err(failed)?;
        Ok(Deleted { existed: existed || tokens > 0, records, tokens, from_index: index.is_some() })
    }

    /// Erases a user: their tokens first, so that they write nothing meanwhile; their name last, so that an interrupted
    /// call can be repeated.
    pub(super) fn erase_user(&self, tenant: &TenantId, user: &UserId) -> Result<Erased, CommandError> {
        let name = ErasedName::draw().map_err(failed)?;
        let accounts = self.accounts()?;
        let (owner, ports) = match &self.database {
            Some(options) => {
                let bridge = Bridge::start().map_err(failed)?;
                let log = PostgresLog::open(options, &bridge).map_err(unprepared)?;
                // Each server has an index of its own, which follows the log.
                let ports = Ports { log: Arc::new(log), blobs: Arc::new(self.blobs()?), ..memory::ports() };
                (Some((owner_of(options), bridge)), ports)
            }
            None => (None, sqlite::open(self.unmoved_folder()?).map_err(failed)?),
        };
        let tokens = accounts.revoke(tenant, &Revoked::User(user.clone()), when::now()).map_err(failed)?;
        let shelf = Shelf::new(ports, Writer::new().map_err(failed)?);
        let (mut entries, mut left) = (0, 0);
        for project in accounts.projects(tenant).map_err(failed)? {
            let operator = UserId(OPERATOR.to_owned());
            let scope = Scope { tenant: tenant.clone(), user: operator, ..Scope::project(project) };
            let erased = shelf.erase_author(&scope, user, when::now()).map_err(failed)?;
            (entries, left) = (entries + erased.entries, left + erased.left);
            if owner.is_none() {
                shelf.follow(&scope, usize::MAX).map_err(failed)?;
            }
        }
        let renamed = match &owner {
            Some((options, bridge)) => erase_name(options, bridge, tenant, user, &name).map_err(failed)?,
            None => {
                let accounts = sqlite::open_accounts(self.unmoved_folder()?).map_err(failed)?;
                accounts.erase_name(tenant, user, &name).map_err(failed)?
            }
        };
        Ok(Erased { tokens, entries, left, renamed, name: name.as_str().to_owned() })
    }

    /// Deletes rows of the audit from before a time, and returns how many there were.
    pub(super) fn expire_audit(&self, before: Timestamp) -> Result<u64, CommandError> {
        let Some(options) = &self.database else {
            let accounts = sqlite::open_accounts(self.unmoved_folder()?).map_err(failed)?;
            return accounts.expire_audit(before).map_err(failed);
        };
        expire_audit(&owner_of(options), &Bridge::start().map_err(failed)?, before).map_err(failed)
    }

    fn blobs(&self) -> Result<ObjectBlobs, CommandError> {
        match (&self.texts, &self.folder) {
            (Some(texts), _) => texts.open(),
            (None, Some(folder)) => ObjectBlobs::in_folder(&folder.join("texts")).map_err(failed),
            (None, None) => Err(CommandError::usage("name the place of the texts with --texts or --data")),
        }
    }

    /// Returns the folder, if it has a team that was not moved away.
    pub(super) fn unmoved_folder(&self) -> Result<&Path, CommandError> {
        let folder = self.prepared_folder()?;
        check_not_moved(folder)?;
        Ok(folder)
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
            .hint(format!("`weir-server init USER --data {shown}` creates it")))
    }
}

/// Returns the model inside the program.
fn built_in_model() -> Result<Meaning, CommandError> {
    let model = weir_embed::built_in().ok_or_else(|| {
        CommandError::usage("--semantic is not supported by this build, which has no model")
            .hint("build it with the feature `built-in` of weir-embed, or leave --semantic out")
    })?;
    let embed = move |text: &str| model.embed(&[text]).ok()?.into_iter().next().flatten();
    Ok(Meaning::new(model.name(), model.width(), embed))
}

fn in_use(error: PortError) -> CommandError {
    failed(error).hint("each server needs a folder of its own for --data; --texts names the one that they share")
}

/// Refuses a folder whose team was moved.
fn check_not_moved(folder: &Path) -> Result<(), CommandError> {
    match sqlite::move_state(folder).map_err(failed)? {
        MoveState::Moved { place } => {
            let message = format!("the team in {} was moved to {place}", folder.display());
            Err(CommandError::new(ErrorKind::Failed, message)
                .hint("serve it from there with --database URL; docs/team.md describes the move"))
        }
        MoveState::Here | MoveState::Moving { .. } => Ok(()),
    }
}
