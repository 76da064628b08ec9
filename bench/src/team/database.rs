//! A database of this run's own, on the server that the environment names. It is dropped with this.

use tokio_postgres::{Client, NoTls};
use weir_team::{Bridge, PostgresOptions, migrate};

const ROLE: &str = "weir_bench_app";

pub(super) struct Database {
    name: String,
    server: String,
    bridge: Bridge,
}

impl Database {
    pub(super) fn create() -> Self {
        let hint = "run `.ci/postgres run -- target/release/weir-bench team`";
        let server = std::env::var("WEIR_POSTGRES").unwrap_or_else(|_| panic!("WEIR_POSTGRES is not set: {hint}"));
        let name = format!("weir_bench_{}", std::process::id());
        let database = Self { name, server, bridge: Bridge::start().unwrap() };
        let admin = database.connect_to(&database.server);
        let sql = format!("CREATE DATABASE {}", database.name);
        database.bridge.block_on(admin.batch_execute(&sql)).unwrap();
        migrate(&PostgresOptions::parse(&database.address()).unwrap(), ROLE, &database.bridge).unwrap();
        database
    }

    pub(super) fn bridge(&self) -> &Bridge {
        &self.bridge
    }

    pub(super) fn options(&self) -> PostgresOptions {
        let mut options = PostgresOptions::parse(&self.address()).unwrap();
        options.role = Some(ROLE.into());
        options
    }

    pub(super) fn connect(&self) -> Client {
        self.connect_to(&self.address())
    }

    pub(super) fn run(&self, sql: &str) {
        self.bridge.block_on(self.connect().batch_execute(sql)).unwrap();
    }

    pub(super) fn number(&self, sql: &str) -> i64 {
        self.bridge.block_on(self.connect().query_one(sql, &[])).unwrap().get(0)
    }

    fn address(&self) -> String {
        self.server.replace("///postgres?", &format!("///{}?", self.name))
    }

    fn connect_to(&self, address: &str) -> Client {
        self.bridge.block_on(async {
            let (client, connection) = tokio_postgres::connect(address, NoTls).await.unwrap();
            tokio::spawn(connection);
            client
        })
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let admin = self.connect_to(&self.server);
        let sql = format!("DROP DATABASE {} WITH (FORCE)", self.name);
        // What was measured is printed by now.
        let _ = self.bridge.block_on(admin.batch_execute(&sql));
    }
}
