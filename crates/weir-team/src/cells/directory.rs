//! The directory: which cell each tenant is in, and each token's tenant. One small database.
//!
//! Invariants: what a server remembers is a hint, because a cell itself refuses a tenant that is not in it; while the
//! directory cannot be reached, what is remembered goes on to count; memory is bounded.

mod listening;
pub(super) mod operator;

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, PoisonError, RwLock};

use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};
use weir_core::TenantId;
use weir_ledger::Migration;
use weir_records::{ErrorKind, PortError, Result, TokenId};

use self::listening::Listening;
use crate::bridge::Bridge;
use crate::connections::ConnectionFigures;
use crate::log::{Database, Fault, PostgresOptions, Query, Schema};

/// How many tenants, and how many tokens, are remembered. Then all of them are forgotten.
const MAX_REMEMBERED: usize = 100_000;

static SCHEMA: Schema = Schema {
    name: "weir_directory",
    migrations: &[Migration {
        name: "0001_directory",
        sql: include_str!("../migrations/directory/0001_directory.sql"),
    }],
    oldest_server: 1,
    grants: "
        GRANT USAGE ON SCHEMA weir_directory TO APP;
        GRANT SELECT ON weir_directory.migrations, weir_directory.cells, weir_directory.tenants,
            weir_directory.tokens TO APP;
        GRANT INSERT ON weir_directory.tokens TO APP;
        GRANT EXECUTE ON FUNCTION weir_directory.place(text, text) TO APP;",
};

static CELLS: Query =
    Query { sql: "SELECT name, address, number FROM weir_directory.cells ORDER BY number", types: &[] };

static TENANT: Query = Query {
    sql: "SELECT cell, generation, state, other, name FROM weir_directory.tenants WHERE name = $1",
    types: &[Type::TEXT],
};

static TENANTS: Query =
    Query { sql: "SELECT cell, generation, state, other, name FROM weir_directory.tenants ORDER BY name", types: &[] };

static PLACE: Query = Query {
    sql: "SELECT cell, generation, state, other, name FROM weir_directory.place($1, $2)",
    types: &[Type::TEXT, Type::TEXT],
};

static TOKEN: Query = Query { sql: "SELECT tenant FROM weir_directory.tokens WHERE id = $1", types: &[Type::TEXT] };

static ADD_TOKEN: Query = Query {
    sql: "INSERT INTO weir_directory.tokens (id, tenant) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING",
    types: &[Type::TEXT, Type::TEXT],
};

/// A database that has tenants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cell {
    pub name: String,
    /// Where it is, as the operator has written it.
    pub address: String,
    pub(super) number: u32,
}

/// Where a tenant is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home {
    /// The cell that answers for it.
    pub cell: String,
    /// The number of the last move that changed this.
    pub generation: u64,
    pub state: HomeState,
}

/// What a move has to do with a tenant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HomeState {
    Settled,
    /// It is on its way to another cell.
    Moving {
        to: String,
    },
    /// It has arrived, and what it left in another cell is to be erased.
    Leaving {
        from: String,
    },
}

/// The directory, as a server uses it.
pub(super) struct Directory {
    database: Database,
    memory: Arc<Memory>,
    _listening: Listening,
}

/// What is remembered of the directory.
#[derive(Default)]
struct Memory {
    cells: RwLock<Option<Arc<[Cell]>>>,
    homes: RwLock<HashMap<TenantId, Home>>,
    tokens: RwLock<HashMap<TokenId, TenantId>>,
}

impl Memory {
    fn forget_cells(&self) {
        *self.cells.write().unwrap_or_else(PoisonError::into_inner) = None;
    }

    fn forget(&self, tenant: &TenantId) {
        self.homes.write().unwrap_or_else(PoisonError::into_inner).remove(tenant);
    }

    /// Forgets everything that can change.
    fn forget_all(&self) {
        self.forget_cells();
        self.homes.write().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

fn remember<K: Hash + Eq, V>(map: &RwLock<HashMap<K, V>>, key: K, value: V) {
    let mut map = map.write().unwrap_or_else(PoisonError::into_inner);
    if map.len() >= MAX_REMEMBERED {
        map.clear();
    }
    map.insert(key, value);
}

fn remembered<K: Hash + Eq, V: Clone>(map: &RwLock<HashMap<K, V>>, key: &K) -> Option<V> {
    map.read().unwrap_or_else(PoisonError::into_inner).get(key).cloned()
}

const LOOK: &str = "look into the directory";

impl Directory {
    /// Opens a directory, and begins to listen for its changes.
    pub(super) fn open(options: &PostgresOptions, bridge: &Bridge) -> Result<Self> {
        let database = Database::connect(options, bridge)?;
        database.look(async |client| SCHEMA.check(client).await)?;
        let memory = Arc::new(Memory::default());
        let listening = Listening::start(options, bridge, Arc::downgrade(&memory));
        Ok(Self { database, memory, _listening: listening })
    }

    /// Returns the cells, in an order that never changes.
    pub(super) fn cells(&self) -> Result<Arc<[Cell]>> {
        if let Some(known) = &*self.memory.cells.read().unwrap_or_else(PoisonError::into_inner) {
            return Ok(Arc::clone(known));
        }
        let rows = self.database.read_of_all(LOOK, &CELLS, &[])?;
        let cells: Arc<[Cell]> = rows.iter().map(|row| cell(row).map_err(at(LOOK))).collect::<Result<_>>()?;
        *self.memory.cells.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&cells));
        Ok(cells)
    }

    /// Returns the cell with a name. One that was added a moment ago is found too.
    pub(super) fn cell(&self, name: &str) -> Result<Cell> {
        let find = |cells: &[Cell]| cells.iter().find(|cell| cell.name == name).cloned();
        if let Some(known) = find(&self.cells()?) {
            return Ok(known);
        }
        self.memory.forget_cells();
        find(&self.cells()?).ok_or_else(|| unknown_cell(name))
    }

    /// Returns where a tenant is, as it is remembered.
    pub(super) fn home(&self, tenant: &TenantId) -> Result<Option<Home>> {
        if let Some(known) = remembered(&self.memory.homes, tenant) {
            return Ok(Some(known));
        }
        let rows = self.database.read_of_all(LOOK, &TENANT, &[&tenant.0])?;
        self.keep(tenant, &rows)
    }

    /// Returns where a tenant is, after it was not where it was remembered.
    pub(super) fn home_now(&self, tenant: &TenantId) -> Result<Option<Home>> {
        self.memory.forget(tenant);
        self.home(tenant)
    }

    /// Returns where a tenant is, after giving it a cell if it has none.
    pub(super) fn place(&self, tenant: &TenantId, wanted: Option<&str>) -> Result<Home> {
        const DOING: &str = "give a tenant a cell";
        if let Some(known) = remembered(&self.memory.homes, tenant) {
            return Ok(known);
        }
        let rows = self.database.write_of_all(DOING, &PLACE, &[&tenant.0, &wanted])?;
        self.keep(tenant, &rows)?.ok_or_else(|| match wanted {
            Some(name) => unknown_cell(name),
            None => PortError::new(ErrorKind::Missing, DOING).because("the directory has no cells"),
        })
    }

    /// Returns all tenants.
    pub(super) fn homes(&self) -> Result<Vec<(TenantId, Home)>> {
        let rows = self.database.read_of_all(LOOK, &TENANTS, &[])?;
        rows.iter().map(|row| named_home(row).map_err(at(LOOK))).collect()
    }

    /// Returns the tenant of a token, revoked or not.
    pub(super) fn tenant_of(&self, token: TokenId) -> Result<Option<TenantId>> {
        if let Some(known) = remembered(&self.memory.tokens, &token) {
            return Ok(Some(known));
        }
        let rows = self.database.read_of_all(LOOK, &TOKEN, &[&token.to_string()])?;
        let Some(row) = rows.first() else { return Ok(None) };
        let tenant = TenantId(row.try_get(0).map_err(|error| Fault::from(error).at(LOOK))?);
        remember(&self.memory.tokens, token, tenant.clone());
        Ok(Some(tenant))
    }

    /// Says which tenant a token belongs to, before the token is added to the cell.
    pub(super) fn add_token(&self, token: TokenId, tenant: &TenantId) -> Result<()> {
        let values: [&(dyn ToSql + Sync); 2] = [&token.to_string(), &tenant.0];
        self.database.write_of_all("add a token to the directory", &ADD_TOKEN, &values).map(drop)
    }

    /// Checks that the directory answers.
    pub(super) fn answers(&self) -> Result<()> {
        self.database.read_of_all(LOOK, &CELLS, &[]).map(drop)
    }

    pub(super) fn figures(&self) -> ConnectionFigures {
        self.database.figures()
    }

    fn keep(&self, tenant: &TenantId, rows: &[Row]) -> Result<Option<Home>> {
        let Some(row) = rows.first() else { return Ok(None) };
        let home = home(row).map_err(at(LOOK))?;
        remember(&self.memory.homes, tenant.clone(), home.clone());
        Ok(Some(home))
    }
}

fn at(doing: &'static str) -> impl Fn(Fault) -> PortError {
    move |fault| fault.at(doing)
}

fn unknown_cell(name: &str) -> PortError {
    PortError::new(ErrorKind::Missing, "find a cell").because(format!("the directory has no cell `{name}`"))
}

fn cell(row: &Row) -> Result<Cell, Fault> {
    let number: i32 = row.try_get(2)?;
    Ok(Cell { name: row.try_get(0)?, address: row.try_get(1)?, number: number.unsigned_abs() })
}

fn named_home(row: &Row) -> Result<(TenantId, Home), Fault> {
    Ok((TenantId(row.try_get(4)?), home(row)?))
}

/// Reads where a tenant is from the columns that all statements here begin with.
fn home(row: &Row) -> Result<Home, Fault> {
    let other: Option<String> = row.try_get(3)?;
    let state = match (row.try_get(2)?, other) {
        ("moving", Some(to)) => HomeState::Moving { to },
        ("leaving", Some(from)) => HomeState::Leaving { from },
        _ => HomeState::Settled,
    };
    Ok(Home { cell: row.try_get(0)?, generation: row.try_get::<_, i64>(1)? as u64, state })
}
