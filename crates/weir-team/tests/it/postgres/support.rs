//! A database for each test, hand-written SQL, and records without a shelf.

use std::sync::OnceLock;

use tokio_postgres::{Client, NoTls, SimpleQueryMessage};
use weir_core::{EntryKind, Origin, ProjectKey, Reference, Scope, TenantId, UserId};
use weir_records::{Audience, Author, Body, HostId, Kept, LogicalTime, Record, RecordId, TextKey};
use weir_team::{Bridge, PostgresLog, PostgresOptions, migrate};

/// The names of all migrations.
pub(crate) const MIGRATIONS: [&str; 6] =
    ["0001_records", "0002_heads", "0003_requests", "0004_cells", "0005_invitations", "0006_texts"];

/// The runtime that the tests of this process share.
pub(crate) fn bridge() -> &'static Bridge {
    static BRIDGE: OnceLock<Bridge> = OnceLock::new();
    BRIDGE.get_or_init(|| Bridge::start().unwrap())
}

/// Returns a variable that says where the server is.
#[expect(clippy::disallowed_methods, reason = "the environment says where the server is")]
pub(crate) fn variable(name: &str) -> String {
    let hint = "start a server with `.ci/postgres run -- cargo nextest run -p weir-team`";
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set; {hint}"))
}

/// A database of its own, with an owner and a role for the program. It is dropped with this.
pub(crate) struct TestDatabase {
    /// Its name.
    pub(crate) name: String,
    admin: Session,
}

impl TestDatabase {
    /// Creates a database with the tables.
    pub(crate) fn new() -> Self {
        let database = Self::empty();
        assert_eq!(database.migrate().unwrap(), MIGRATIONS);
        database
    }

    /// Creates a database without tables.
    pub(crate) fn empty() -> Self {
        let name = format!("weir_{}", HostId::random().unwrap());
        let admin = Session::open(&variable("WEIR_POSTGRES"));
        admin.run(&format!("CREATE ROLE {name}_owner LOGIN CREATEROLE")).unwrap();
        admin.run(&format!("CREATE ROLE {name}_app LOGIN PASSWORD 'secret'")).unwrap();
        admin.run(&format!("CREATE DATABASE {name} OWNER {name}_owner")).unwrap();
        Self { name, admin }
    }

    /// Runs the migrations as the owner.
    pub(crate) fn migrate(&self) -> weir_records::Result<Vec<&'static str>> {
        migrate(&self.options("owner"), &self.app(), bridge())
    }

    /// Returns the name of the program's role.
    pub(crate) fn app(&self) -> String {
        format!("{}_app", self.name)
    }

    /// Returns the address of the database for its `owner`, the program (`app`) or the superuser (`postgres`).
    pub(crate) fn address(&self, who: &str) -> String {
        let user = if who == "postgres" { who.to_owned() } else { format!("{}_{who}", self.name) };
        let server = variable("WEIR_POSTGRES");
        server.replace("///postgres?", &format!("///{}?", self.name)).replace("user=postgres", &format!("user={user}"))
    }

    /// Returns the options to open the database as somebody.
    pub(crate) fn options(&self, who: &str) -> PostgresOptions {
        PostgresOptions::parse(&self.address(who)).unwrap()
    }

    /// Opens the log as the program does.
    pub(crate) fn log(&self) -> PostgresLog {
        PostgresLog::open(&self.options("app"), bridge()).unwrap()
    }

    /// Opens a connection for hand-written SQL.
    pub(crate) fn session(&self, who: &str) -> Session {
        Session::open(&self.address(who))
    }

    /// Waits until no connection of the program is open.
    pub(crate) fn wait_until_unused(&self) {
        let count = format!("SELECT count(*) FROM pg_stat_activity WHERE usename = '{}'", self.app());
        while self.admin.run(&count).unwrap() != ["0"] {
            std::thread::yield_now();
        }
    }

    /// Waits until a connection of the program waits for a lock.
    pub(crate) fn wait_until_blocked(&self) {
        let count = format!(
            "SELECT count(*) FROM pg_stat_activity WHERE usename = '{}' AND wait_event_type = 'Lock'",
            self.app()
        );
        while self.admin.run(&count).unwrap() != ["1"] {
            std::thread::yield_now();
        }
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        let name = &self.name;
        // A test that fails has already said why.
        let _ = self.admin.run(&format!("DROP DATABASE {name} WITH (FORCE)"));
        for who in ["app", "owner"] {
            let _ = self.admin.run(&format!("DROP ROLE {name}_{who}"));
        }
    }
}

/// A connection for hand-written SQL.
pub(crate) struct Session {
    client: Client,
}

impl Session {
    fn open(address: &str) -> Self {
        let client = bridge().block_on(async {
            let (client, connection) = tokio_postgres::connect(address, NoTls).await.unwrap();
            tokio::spawn(connection);
            client
        });
        Self { client }
    }

    /// Runs statements and returns all rows, with `|` between columns; or the code of the error and what it says.
    pub(crate) fn run(&self, sql: &str) -> Result<Vec<String>, String> {
        let messages = bridge().block_on(self.client.simple_query(sql)).map_err(|error| match error.as_db_error() {
            Some(said) => format!("{} {}", said.code().code(), said.message()),
            None => error.to_string(),
        })?;
        let rows = messages.iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row),
            _ => None,
        });
        Ok(rows.map(|row| (0..row.len()).map(|at| row.get(at).unwrap_or("-")).collect::<Vec<_>>().join("|")).collect())
    }

    /// Runs statements in a transaction of a tenant, and leaves nothing of it.
    pub(crate) fn run_as(&self, tenant: &str, sql: &str) -> Result<Vec<String>, String> {
        let entered = self.run(&format!("BEGIN; SELECT weir.enter('{tenant}')")).and_then(|_| self.run(sql));
        self.run("ROLLBACK").unwrap();
        entered
    }
}

/// Returns the scope of a user in a project.
pub(crate) fn scope(tenant: &str, user: &str, project: &str) -> Scope {
    Scope { tenant: TenantId(tenant.into()), user: UserId(user.into()), ..Scope::project(ProjectKey(project.into())) }
}

/// Returns a record of a scope's user.
pub(crate) fn record(scope: &Scope, id: RecordId, body: Body) -> Record {
    Record {
        id,
        time: LogicalTime { millis: 1_700_000_000_000, count: 0 },
        tenant: scope.tenant.clone(),
        project: scope.project.clone(),
        author: Author { user: scope.user.clone(), client: String::new() },
        audience: Audience::Team,
        body,
    }
}

/// Returns a record that keeps a note, whose text is stored nowhere.
pub(crate) fn note(scope: &Scope, id: RecordId) -> Record {
    let kept = Kept {
        reference: Reference::from_bits(id.index),
        kind: EntryKind::Note,
        origin: Origin::User,
        title: format!("note {}", id.index),
        source: None,
        note: None,
        text: TextKey::of(&id.index.to_le_bytes()),
        bytes: 8,
    };
    record(scope, id, Body::Kept(Box::new(kept)))
}

/// Returns a record that removes another one.
pub(crate) fn removal(scope: &Scope, id: RecordId, of: RecordId) -> Record {
    record(scope, id, Body::forgets(of))
}

/// Returns ids of a new host.
pub(crate) fn ids() -> impl Fn(u64) -> RecordId {
    let host = HostId::random().unwrap();
    move |index| RecordId { host, index }
}
