//! Several databases behind one server: cells. Each tenant is in one of them, and a directory knows in which.
//!
//! [`Cells`] is the log and the accounts of all tenants, behind the ports that one database has. It sends each call to the
//! cell of its tenant, and opens the connections to a cell when they are first needed.
//!
//! Invariants: whatever a server remembers, a cell answers only for tenants that are in it, and a call that was sent to the
//! wrong one has changed nothing and is sent again; a cell that does not answer costs calls for other cells neither time
//! nor threads.

mod accounts;
mod call;
mod directory;
mod log;
mod moving;
mod walk;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use weir_core::TenantId;
use weir_records::{Accounts as _, ErrorKind, Log as _, PortError, Result};

use self::call::Health;
use self::directory::Directory;
pub use self::directory::operator::prepare_directory;
pub use self::directory::{Cell, Home, HomeState};
pub use self::moving::{AddedCell, CellMovePhase, CellOwner, MovedTenant};
use self::walk::Walks;
use crate::bridge::Bridge;
use crate::connections::{ConnectionFigures, ConnectionWatch};
use crate::log::{PostgresLog, PostgresOptions};

/// How long a call waits for a tenant that is between two cells.
const MAX_WAIT: Duration = Duration::from_secs(3);
/// How long it waits before it looks again: first, and at most.
const FIRST_WAIT: Duration = Duration::from_millis(5);
const MOST_WAIT: Duration = Duration::from_millis(100);

/// Reads the address of a cell, as the directory has it.
pub type ReadAddress = Arc<dyn Fn(&str) -> Result<PostgresOptions> + Send + Sync>;

/// The log and the accounts of all tenants, on several databases.
pub struct Cells {
    directory: Directory,
    bridge: Bridge,
    read_address: ReadAddress,
    open: Mutex<BTreeMap<String, Arc<OpenCell>>>,
    walks: Walks,
}

/// The connections to a cell, which are made when they are first needed.
struct OpenCell {
    address: String,
    health: Health,
    log: Mutex<Option<Arc<PostgresLog>>>,
}

impl Cells {
    /// Opens the directory.
    pub fn open(directory: &PostgresOptions, bridge: &Bridge, read_address: ReadAddress) -> Result<Self> {
        Ok(Self {
            directory: Directory::open(directory, bridge)?,
            bridge: bridge.clone(),
            read_address,
            open: Mutex::default(),
            walks: Walks::default(),
        })
    }

    /// Returns the cells, oldest first.
    pub fn cells(&self) -> Result<Vec<Cell>> {
        Ok(self.directory.cells()?.to_vec())
    }

    /// Returns all tenants in the order of their names, and where they are.
    pub fn homes(&self) -> Result<Vec<(TenantId, Home)>> {
        self.directory.homes()
    }

    /// Creates a tenant in a cell of its own choice, if it does not exist. Returns whether it is new.
    pub fn create_tenant_in(&self, tenant: &TenantId, cell: Option<&str>) -> Result<bool> {
        let home = self.directory.place(tenant, cell)?;
        if let Some(wanted) = cell.filter(|wanted| *wanted != home.cell) {
            let reason = format!("the tenant is in the cell `{}`, not in `{wanted}`", home.cell);
            return Err(PortError::new(ErrorKind::Invalid, "create a tenant").because(reason));
        }
        self.in_cell(tenant, "create a tenant", |log| log.accounts().create_tenant(tenant))
            .map(Option::unwrap_or_default)
    }

    /// Returns what says how the connections to all cells and the directory are used.
    pub fn connection_watch(self: &Arc<Self>) -> ConnectionWatch {
        let cells = Arc::clone(self);
        Arc::new(move || {
            let open = cells.open.lock().unwrap_or_else(PoisonError::into_inner);
            let figures = open.values().filter_map(|cell| Some(cell.opened()?.connection_watch()()));
            figures.fold(cells.directory.figures(), ConnectionFigures::plus)
        })
    }

    /// Calls the cell of a tenant. Returns `None` if the directory does not have the tenant.
    fn in_cell<T>(
        &self,
        tenant: &TenantId,
        doing: &str,
        mut call: impl FnMut(&PostgresLog) -> Result<T>,
    ) -> Result<Option<T>> {
        check_named(tenant, doing)?;
        let (until, mut wait) = (Instant::now() + MAX_WAIT, FIRST_WAIT);
        let mut home = self.directory.home(tenant)?;
        loop {
            let Some(at) = home else { return Ok(None) };
            match self.call(&at.cell, doing, &mut call) {
                Err(error) if error.kind == ErrorKind::Elsewhere => {
                    home = self.directory.home_now(tenant)?;
                    // What was remembered was old. Otherwise the tenant is between two cells.
                    if home.as_ref().is_some_and(|now| now.cell != at.cell) {
                        continue;
                    }
                    if Instant::now() >= until {
                        let reason = "the tenant is being moved to another cell; the same call succeeds afterwards";
                        return Err(PortError::new(ErrorKind::Busy, doing).because(reason));
                    }
                    pause(wait);
                    wait = wait.saturating_mul(2).min(MOST_WAIT);
                }
                other => return other.map(Some),
            }
        }
    }

    /// Calls the cell of a tenant, which is given one if it has none.
    fn in_cell_of_new<T>(
        &self,
        tenant: &TenantId,
        doing: &str,
        call: impl FnMut(&PostgresLog) -> Result<T>,
    ) -> Result<T> {
        check_named(tenant, doing)?;
        self.directory.place(tenant, None)?;
        let gone = || PortError::new(ErrorKind::Missing, doing).because("the tenant was deleted");
        self.in_cell(tenant, doing, call)?.ok_or_else(gone)
    }

    /// Calls a cell.
    fn call<T>(&self, name: &str, doing: &str, call: impl FnOnce(&PostgresLog) -> Result<T>) -> Result<T> {
        let cell = self.slot(name)?;
        cell.health.watch(doing, || {
            let log = cell.log(self)?;
            call(&log)
        })
    }

    fn slot(&self, name: &str) -> Result<Arc<OpenCell>> {
        let Cell { address, .. } = self.directory.cell(name)?;
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = open.get(name).filter(|known| known.address == address) {
            return Ok(Arc::clone(known));
        }
        let cell = Arc::new(OpenCell { address, health: Health::default(), log: Mutex::default() });
        open.insert(name.to_owned(), Arc::clone(&cell));
        Ok(cell)
    }

    /// Checks that the directory or a cell answers. Without the directory, tenants that are remembered are served.
    fn answers(&self) -> Result<()> {
        let Err(failure) = self.directory.answers() else { return Ok(()) };
        let open: Vec<String> = self.open.lock().unwrap_or_else(PoisonError::into_inner).keys().cloned().collect();
        let answers =
            |name: &String| self.call(name, "look for a cell that answers", weir_records::Log::answers).is_ok();
        if open.iter().any(answers) { Ok(()) } else { Err(failure) }
    }
}

/// Waits before something in another database is looked at again, which nothing here can be told of.
#[expect(clippy::disallowed_methods, reason = "no database tells when a move in another one has ended")]
fn pause(time: Duration) {
    std::thread::sleep(time);
}

/// Checks that a call names a tenant. A local scope does not.
fn check_named(tenant: &TenantId, doing: &str) -> Result<()> {
    if tenant.0.is_empty() {
        return Err(PortError::new(ErrorKind::Invalid, doing).because("the scope names no tenant"));
    }
    Ok(())
}

/// Opens the log of a cell. Every cell keeps small texts in the rows of their records, so that a tenant can bring them
/// along.
fn open_cell(options: &PostgresOptions, bridge: &Bridge) -> Result<PostgresLog> {
    let log = PostgresLog::open(options, bridge)?;
    if log.max_kept_text() == 0 {
        let reason = "servers may still start on it that cannot read texts in it; add the cell once more";
        return Err(PortError::new(ErrorKind::Unavailable, "open a cell").because(reason));
    }
    Ok(log)
}

impl OpenCell {
    fn opened(&self) -> Option<Arc<PostgresLog>> {
        self.log.try_lock().ok()?.clone()
    }

    /// Returns the log of the cell, and opens it if nobody has. Others wait meanwhile.
    fn log(&self, cells: &Cells) -> Result<Arc<PostgresLog>> {
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(open) = &*log {
            return Ok(Arc::clone(open));
        }
        let opened = Arc::new(open_cell(&(cells.read_address)(&self.address)?, &cells.bridge)?);
        *log = Some(Arc::clone(&opened));
        Ok(opened)
    }
}
