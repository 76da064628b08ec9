//! What only the operator changes in a directory, as its owner: cells, and where tenants are. Invariant: a step of a move
//! has an effect only while its number is that of the last move.

use tokio_postgres::Client;
use tokio_postgres::types::{ToSql, Type};
use weir_core::TenantId;
use weir_records::{ErrorKind, PortError, Result};

use super::{Home, HomeState, SCHEMA, home, unknown_cell};
use crate::bridge::Bridge;
use crate::log::presence::Inhabitants;
use crate::log::{Fault, PostgresOptions, as_owner};

/// Brings the schema of a directory up to this version, and lets `role` use it. Returns the names of the migrations that
/// ran. The options are those of the database's owner.
pub fn prepare_directory(options: &PostgresOptions, role: &str, bridge: &Bridge) -> Result<Vec<&'static str>> {
    SCHEMA.migrate(options, role, bridge)
}

/// A directory, for its owner.
#[derive(Clone, Copy)]
pub(in crate::cells) struct OwnedDirectory<'a> {
    pub(in crate::cells) options: &'a PostgresOptions,
    pub(in crate::cells) bridge: &'a Bridge,
}

type Values<'a> = &'a [(&'a (dyn ToSql + Sync), Type)];

impl OwnedDirectory<'_> {
    /// Adds a cell, or changes its address, with the tenants and tokens that it has already.
    pub(in crate::cells) fn add_cell(&self, name: &str, address: &str, found: &Inhabitants) -> Result<()> {
        const DOING: &str = "add a cell";
        self.run(DOING, async |client| {
            client.batch_execute("BEGIN").await?;
            let sql = "INSERT INTO weir_directory.cells (name, address) VALUES ($1, $2)
                       ON CONFLICT (name) DO UPDATE SET address = excluded.address";
            client.query_typed(sql, &[(&name, Type::TEXT), (&address, Type::TEXT)]).await?;
            for (tenant, generation) in &found.tenants {
                let sql = "INSERT INTO weir_directory.tenants (name, cell, generation) VALUES ($1, $2, greatest($3, 1))
                           ON CONFLICT (name) DO NOTHING";
                let generation = *generation as i64;
                let values: Values<'_> = &[(&tenant.0, Type::TEXT), (&name, Type::TEXT), (&generation, Type::INT8)];
                client.query_typed(sql, values).await?;
                let sql = "SELECT cell FROM weir_directory.tenants WHERE name = $1";
                let cell: String = client.query_typed(sql, &[(&tenant.0, Type::TEXT)]).await?[0].try_get(0)?;
                if cell != name {
                    let reason = format!("it has the tenant `{}`, which is in the cell `{cell}`", tenant.0);
                    return Err(PortError::new(ErrorKind::Invalid, DOING).because(reason).into());
                }
            }
            for (id, tenant) in &found.tokens {
                let sql = "INSERT INTO weir_directory.tokens (id, tenant) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING";
                client.query_typed(sql, &[(id, Type::TEXT), (&tenant.0, Type::TEXT)]).await?;
            }
            client.batch_execute("COMMIT").await?;
            Ok(())
        })
    }

    /// Returns the address of a cell.
    pub(in crate::cells) fn address(&self, cell: &str) -> Result<String> {
        self.run("find a cell", async |client| {
            let sql = "SELECT address FROM weir_directory.cells WHERE name = $1";
            let rows = client.query_typed(sql, &[(&cell, Type::TEXT)]).await?;
            Ok(rows.first().ok_or_else(|| unknown_cell(cell))?.try_get(0)?)
        })
    }

    /// Begins a move, or takes over one that was interrupted: the process that made it has no effect from now on.
    pub(in crate::cells) fn begin_move(&self, tenant: &TenantId, to: &str) -> Result<Home> {
        const DOING: &str = "begin a move";
        self.run(DOING, async |client| {
            let known = "SELECT FROM weir_directory.cells WHERE name = $1";
            if client.query_typed(known, &[(&to, Type::TEXT)]).await?.is_empty() {
                return Err(unknown_cell(to).into());
            }
            let sql = "UPDATE weir_directory.tenants SET generation = generation + 1, other = coalesce(other, $2),
                           state = CASE state WHEN 'settled' THEN 'moving' ELSE state END
                       WHERE name = $1 AND (state = 'settled' AND cell <> $2 OR state = 'moving' AND other = $2
                           OR state = 'leaving' AND cell = $2)
                       RETURNING cell, generation, state, other, name";
            let rows = client.query_typed(sql, &[(&tenant.0, Type::TEXT), (&to, Type::TEXT)]).await?;
            match rows.first() {
                Some(row) => home(row),
                None => Err(why_not(client, tenant, DOING).await?.into()),
            }
        })
    }

    /// Takes over a move in order to take it back.
    pub(in crate::cells) fn begin_undo(&self, tenant: &TenantId) -> Result<Home> {
        const DOING: &str = "take a move back";
        self.run(DOING, async |client| {
            let sql = "UPDATE weir_directory.tenants SET generation = generation + 1
                       WHERE name = $1 AND state = 'moving' RETURNING cell, generation, state, other, name";
            match client.query_typed(sql, &[(&tenant.0, Type::TEXT)]).await?.first() {
                Some(row) => home(row),
                None => Err(why_not(client, tenant, DOING).await?.into()),
            }
        })
    }

    /// Says that a tenant that was moving is in its new cell.
    pub(in crate::cells) fn switch(&self, tenant: &TenantId, generation: u64) -> Result<()> {
        let set = "cell = other, other = cell, state = 'leaving'";
        self.step("switch the directory", set, ["moving", "leaving"], (tenant, generation))
    }

    /// Says that nothing is left to do: a move has ended, or was taken back.
    pub(in crate::cells) fn end(&self, tenant: &TenantId, generation: u64, before: &str) -> Result<()> {
        self.step("end a move", "other = NULL, state = 'settled'", [before, "settled"], (tenant, generation))
    }

    /// Changes the row of a tenant from one state to the next. A step that was made before is made.
    fn step(
        &self,
        doing: &str,
        set: &str,
        [before, after]: [&str; 2],
        (tenant, generation): (&TenantId, u64),
    ) -> Result<()> {
        self.run(doing, async |client| {
            let sql = format!(
                "UPDATE weir_directory.tenants SET {set} WHERE name = $1 AND generation = $2 AND state = $3 RETURNING 1"
            );
            let generation = generation as i64;
            let was: Values<'_> = &[(&tenant.0, Type::TEXT), (&generation, Type::INT8), (&before, Type::TEXT)];
            let is: Values<'_> = &[(&tenant.0, Type::TEXT), (&generation, Type::INT8), (&after, Type::TEXT)];
            let made = "SELECT FROM weir_directory.tenants WHERE name = $1 AND generation = $2 AND state = $3";
            if client.query_typed(&sql, was).await?.is_empty() && client.query_typed(made, is).await?.is_empty() {
                return Err(PortError::new(ErrorKind::Busy, doing).because("a later move has begun").into());
            }
            Ok(())
        })
    }

    fn run<T>(&self, doing: &str, work: impl AsyncFnOnce(&Client) -> Result<T, Fault>) -> Result<T> {
        as_owner(self.options, self.bridge, doing, async |owner| work(owner.client()).await)
    }
}

/// Says why a tenant cannot be moved as it was asked for.
async fn why_not(client: &Client, tenant: &TenantId, doing: &str) -> Result<PortError, Fault> {
    let sql = "SELECT cell, generation, state, other, name FROM weir_directory.tenants WHERE name = $1";
    let rows = client.query_typed(sql, &[(&tenant.0, Type::TEXT)]).await?;
    let name = &tenant.0;
    let (kind, reason) = match rows.first().map(home).transpose()? {
        None => (ErrorKind::Missing, format!("the directory has no tenant `{name}`")),
        Some(Home { cell, state: HomeState::Settled, .. }) => {
            (ErrorKind::Invalid, format!("`{name}` is in the cell `{cell}`, and no move has begun"))
        }
        Some(Home { cell, state: HomeState::Moving { to }, .. }) => {
            (ErrorKind::Invalid, format!("`{name}` is on its way from `{cell}` to `{to}`"))
        }
        Some(Home { cell, state: HomeState::Leaving { .. }, .. }) => {
            (ErrorKind::Invalid, format!("`{name}` has arrived in `{cell}`, and its old copy is to be erased first"))
        }
    };
    Ok(PortError::new(kind, doing).because(reason))
}
