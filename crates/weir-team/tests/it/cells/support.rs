//! Two databases of one cluster as cells, and a directory beside the first.

use std::sync::Arc;

use weir_core::{Scope, TenantId};
use weir_records::{Accounts as _, ApiToken, Credential, Log, Position, Readers, Record, Result, TokenScope};
use weir_team::{
    AddedCell, CellMovePhase, CellOwner, Cells, MovedTenant, PostgresOptions, ReadAddress, prepare_directory,
};

use crate::postgres::support::{TestDatabase, bridge, scope};
use crate::support::NOW;

/// The names of the cells.
pub(crate) const NAMES: [&str; 2] = ["one", "two"];

/// The databases. They are dropped with this.
pub(crate) struct World {
    pub(crate) cells: [TestDatabase; 2],
}

impl World {
    /// Makes a directory with two cells, which have no tenants.
    pub(crate) fn new() -> Self {
        let world = Self::without_cells();
        for name in NAMES {
            world.add(name).unwrap();
        }
        world
    }

    /// Makes a directory without cells.
    pub(crate) fn without_cells() -> Self {
        let cells = [TestDatabase::empty(), TestDatabase::empty()];
        let world = Self { cells };
        world.prepare_directory();
        world
    }

    /// Makes the directory, if there is none.
    pub(crate) fn prepare_directory(&self) {
        prepare_directory(&self.directory("owner"), &self.cells[0].app(), bridge()).unwrap();
    }

    /// Returns the database of a cell.
    pub(crate) fn cell(&self, name: &str) -> &TestDatabase {
        &self.cells[usize::from(name == NAMES[1])]
    }

    /// Returns the options to open the directory as somebody.
    pub(crate) fn directory(&self, who: &str) -> PostgresOptions {
        self.cells[0].options(who)
    }

    /// Returns what reads the address of a cell, which is its name here.
    fn reader(&self, who: &str) -> ReadAddress {
        let addresses = NAMES.map(|name| (name, self.cell(name).address(who)));
        Arc::new(move |wanted: &str| {
            let found = addresses.iter().find(|(name, _)| *name == wanted);
            PostgresOptions::parse(&found.unwrap().1)
        })
    }

    /// Adds a cell.
    pub(crate) fn add(&self, name: &str) -> Result<AddedCell> {
        self.owner().add_cell(name, name, &self.cell(name).app())
    }

    /// Opens the log and the accounts as a server does.
    pub(crate) fn open(&self) -> Arc<Cells> {
        Arc::new(Cells::open(&self.directory("app"), bridge(), self.reader("app")).unwrap())
    }

    pub(crate) fn owner(&self) -> CellOwner<'static> {
        CellOwner {
            directory: self.directory("owner"),
            bridge: bridge(),
            program: self.reader("app"),
            owner: self.reader("owner"),
        }
    }

    /// Moves a tenant.
    pub(crate) fn move_to(&self, tenant: &TenantId, to: &str, tell: &dyn Fn(CellMovePhase)) -> Result<MovedTenant> {
        self.owner().move_tenant(tenant, to, tell)
    }

    /// Returns what the directory says of a tenant: its cell, its state and the other cell.
    pub(crate) fn home(&self, tenant: &TenantId) -> String {
        let sql = "SELECT cell, state, other FROM weir_directory.tenants WHERE name =";
        self.cells[0].session("owner").run(&format!("{sql} '{}'", tenant.0)).unwrap().remove(0)
    }

    /// Returns where a tenant is as each cell says, and how many records of it each has.
    pub(crate) fn presences(&self, tenant: &TenantId) -> [String; 2] {
        NAMES.map(|name| {
            let sql = format!(
                "SELECT t.state, (SELECT count(*) FROM weir.records r WHERE r.tenant_id = t.tenant_id)
                 FROM weir.tenants t WHERE t.name = '{}'",
                tenant.0
            );
            self.cell(name).session("owner").run(&sql).unwrap().pop().unwrap_or_else(|| "none".to_owned())
        })
    }

    /// Checks that the cell of a tenant is the only one that has anything of it.
    #[track_caller]
    pub(crate) fn check_only_in(&self, tenant: &TenantId, cell: &str, records: usize) {
        assert_eq!(self.home(tenant), format!("{cell}|settled|-"));
        for (name, presence) in NAMES.iter().zip(self.presences(tenant)) {
            if *name == cell {
                assert_eq!(presence, format!("here|{records}"), "{name}");
            } else {
                assert!(["none", "left|0"].contains(&presence.as_str()), "{name}: {presence}");
            }
        }
    }
}

/// Creates a tenant in the first cell, with a token. Returns the scope of its user in a project.
pub(crate) fn acme(cells: &Cells) -> (Scope, ApiToken) {
    let ana = scope("acme", "ana", "api");
    cells.create_tenant_in(&ana.tenant, Some(NAMES[0])).unwrap();
    let token = token(&ana);
    cells.add_token(&token, None).unwrap();
    (ana, token)
}

/// Returns a new token of a user, which is not added.
pub(crate) fn token(of: &Scope) -> ApiToken {
    let credential = Credential::draw().unwrap();
    ApiToken {
        id: credential.id(),
        hash: credential.hash(),
        tenant: of.tenant.clone(),
        user: of.user.clone(),
        scope: TokenScope::Write,
        projects: None,
        created_at: NOW,
        expires_at: None,
        revoked_at: None,
    }
}

/// Returns all records of a project with their positions, read in small batches.
pub(crate) fn read_all(log: &dyn Log, scope: &Scope) -> Vec<(Position, Record)> {
    let (mut found, mut after) = (Vec::new(), Position(0));
    loop {
        let batch = log.read_since(scope, after, 700, Readers::Scope).unwrap();
        found.extend(batch.records.into_iter().map(|stored| (stored.position, stored.record)));
        after = batch.next;
        if after == batch.head {
            return found;
        }
    }
}
