//! How to reach a database, and how long to wait for it.
//!
//! Invariant: what leaves this machine is encrypted, and the other side is who it says it is, unless the address says
//! `sslmode=disable`.

use std::net::IpAddr;
use std::time::Duration;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};
use weir_records::{ErrorKind, PortError, Result};

/// How many connections are open at most.
pub(crate) const DEFAULT_CONNECTIONS: usize = 16;
/// How long a call waits for another one that appends to the same project.
const DEFAULT_LOCK_TIMEOUT: Duration = Duration::from_secs(10);
/// How long one statement may take.
const DEFAULT_STATEMENT_TIMEOUT: Duration = Duration::from_secs(30);
/// How long it may take to connect.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// After how much silence the other side is asked whether it is still there, and how long an answer may take. Without
/// this, a call would wait for a server that has vanished as long as the system does, which is hours.
const KEEPALIVE: Duration = Duration::from_secs(30);
/// The option of an address that says that a pooler is there which gives each transaction another connection. It is
/// Weir's own.
const POOLER: &str = "pooler=transaction";

/// Where the database is, as whom to use it, and how. It has a password, so it is never printed.
#[derive(Clone)]
pub struct PostgresOptions {
    pub(super) config: Config,
    /// The role that statements run as, if it is not the one that logs in. The one that logs in must be a member of it.
    pub role: Option<String>,
    /// The certificates to trust instead of those of this machine, in PEM.
    pub authorities: Option<Vec<u8>>,
    /// The number of the move that the connections are for, if they are for one: then they may use its tenant while it
    /// arrives.
    pub(crate) moving: Option<u64>,
    /// How many connections are open at most.
    pub connections: usize,
    /// How statements are sent.
    pub statements: Statements,
    /// How long a call waits for another one that appends to the same project.
    pub lock_timeout: Duration,
    /// How long one statement may take.
    pub statement_timeout: Duration,
}

/// How statements are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statements {
    /// Each connection prepares a statement once.
    Prepared,
    /// Every statement is sent with its text and planned again: for a pooler that gives each transaction another
    /// connection and does not know prepared statements, such as PgBouncer before 1.21.
    Unnamed,
}

impl PostgresOptions {
    /// Reads the address of a database: `postgresql://user:password@host:port/database`, or `host=… user=…`, as `psql`
    /// takes it.
    ///
    /// `sslmode=prefer`, which is the default, would silently do without encryption where the server has none. Here it
    /// means `require`, and the certificate of the server is checked; on the same machine it means `disable`.
    ///
    /// `pooler=transaction` chooses [`Statements::Unnamed`].
    pub fn parse(address: &str) -> Result<Self> {
        let (address, statements) = without_pooler(address);
        // What the parser says may repeat a part of the address, and so of the password.
        let mut config: Config = address.parse().map_err(|_| {
            let expected = "expected `postgresql://user:password@host:port/database` and options that Weir knows";
            PortError::new(ErrorKind::Invalid, "read the address of the database").because(expected)
        })?;
        if config.get_ssl_mode() == SslMode::Prefer {
            config.ssl_mode(if is_local(&config) { SslMode::Disable } else { SslMode::Require });
        }
        if config.get_application_name().is_none() {
            config.application_name("weir");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(KEEPALIVE);
        }
        config.keepalives_idle(config.get_keepalives_idle().min(KEEPALIVE));
        Ok(Self {
            config,
            role: None,
            authorities: None,
            moving: None,
            connections: DEFAULT_CONNECTIONS,
            statements,
            lock_timeout: DEFAULT_LOCK_TIMEOUT,
            statement_timeout: DEFAULT_STATEMENT_TIMEOUT,
        })
    }

    /// Returns where the database is, for people: without a user and a password.
    pub fn place(&self) -> String {
        let ports = self.config.get_ports();
        let host = match self.config.get_hosts().first() {
            Some(Host::Tcp(name)) => name.clone(),
            #[cfg(unix)]
            Some(Host::Unix(folder)) => folder.display().to_string(),
            None => "localhost".to_owned(),
        };
        let port = ports.first().map(|port| format!(":{port}")).unwrap_or_default();
        format!("the database `{}` on {host}{port}", self.config.get_dbname().unwrap_or("postgres"))
    }

    /// Returns whether connections are encrypted.
    pub(super) fn uses_tls(&self) -> bool {
        self.config.get_ssl_mode() != SslMode::Disable
    }

    /// Returns what begins a transaction, with its limits and its role. They are set in each, because a pooler may give
    /// each another connection.
    pub(super) fn begin(&self, access: &str) -> String {
        let (statement, lock) = (self.statement_timeout.as_millis(), self.lock_timeout.as_millis());
        let role = self.role.as_deref().map(|role| format!(" SET LOCAL ROLE {};", quoted(role))).unwrap_or_default();
        let moving = self.moving.map(|number| format!(" SET LOCAL weir.move = {number};")).unwrap_or_default();
        // A connection that was cut off in the middle must not keep a head locked. A plan is made once for each
        // connection: planning takes longer than the look-ups do. Such a plan may be older than the rows, so it never
        // scans a table.
        format!(
            "BEGIN ISOLATION LEVEL READ COMMITTED {access}; SET LOCAL statement_timeout = {statement}; \
             SET LOCAL lock_timeout = {lock}; SET LOCAL idle_in_transaction_session_timeout = {statement}; \
             SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL enable_seqscan = off; SET LOCAL jit = off;{moving}{role}"
        )
    }
}

/// Returns a name as SQL quotes it.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Takes the option of a pooler out of an address, which the parser would refuse, and returns how statements are sent.
fn without_pooler(address: &str) -> (String, Statements) {
    let (start, options, separator) = match address.rsplit_once('?') {
        Some((start, options)) if address.contains("://") => (start, options, "&"),
        _ => ("", address, " "),
    };
    if !options.split(separator).any(|option| option == POOLER) {
        return (address.to_owned(), Statements::Prepared);
    }
    let others: Vec<&str> = options.split(separator).filter(|option| *option != POOLER).collect();
    let others = others.join(separator);
    let address = if start.is_empty() { others } else { format!("{start}?{others}") };
    (address, Statements::Unnamed)
}

/// Returns whether every host of an address is this machine.
fn is_local(config: &Config) -> bool {
    let is_local_name = |name: &str| match name.parse::<IpAddr>() {
        Ok(address) => address.is_loopback(),
        Err(_) => name.eq_ignore_ascii_case("localhost"),
    };
    let is_local_host = |host: &Host| match host {
        Host::Tcp(name) => is_local_name(name),
        #[cfg(unix)]
        Host::Unix(_) => true,
    };
    config.get_hosts().iter().all(is_local_host) && config.get_hostaddrs().iter().all(IpAddr::is_loopback)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leaves_this_machine_is_encrypted() {
        let mode = |address: &str| PostgresOptions::parse(address).unwrap().config.get_ssl_mode();
        for local in [
            "postgresql://u@localhost/d",
            "postgresql://u@127.0.0.1:5433/d",
            "postgresql://u@[::1]/d",
            "postgresql:///d?user=u&host=/run/postgresql&port=5433",
            "host=/run/postgresql user=u",
        ] {
            assert_eq!(mode(local), SslMode::Disable, "{local}");
        }
        for remote in [
            "postgresql://u:p@db.example.com/d",
            "postgresql://u@10.0.0.7/d",
            "postgresql://u@localhost,db.example.com/d",
            "postgresql://u@localhost/d?hostaddr=10.0.0.7",
            "postgresql://u@db.example.com/d?sslmode=prefer",
            "postgresql://u@localhost/d?sslmode=require",
        ] {
            assert_eq!(mode(remote), SslMode::Require, "{remote}");
        }
        assert_eq!(mode("postgresql://u@db.example.com/d?sslmode=disable"), SslMode::Disable);
    }

    #[test]
    fn an_address_says_whether_a_pooler_is_there() {
        for (address, statements) in [
            ("postgresql://u:p@localhost/d", Statements::Prepared),
            ("postgresql://u:pooler=transaction@localhost/d", Statements::Prepared),
            ("postgresql://u:p@localhost/d?pooler=transaction", Statements::Unnamed),
            ("postgresql://u:p@localhost/d?sslmode=require&pooler=transaction&connect_timeout=3", Statements::Unnamed),
            ("host=localhost pooler=transaction user=u dbname=d", Statements::Unnamed),
        ] {
            let options = PostgresOptions::parse(address).unwrap();
            assert_eq!(options.statements, statements, "{address}");
            assert_eq!((options.config.get_user(), options.config.get_dbname()), (Some("u"), Some("d")), "{address}");
        }
        assert!(PostgresOptions::parse("postgresql://u@localhost/d?pooler=session").is_err());
    }

    #[test]
    fn a_wrong_address_is_refused_without_its_password() {
        let wrong = ["postgresql://u:secret@h/d?colour=red", "postgresql://u:secret@h:port/d", "u:secret@h?sslmode=no"];
        for address in wrong {
            let error = PostgresOptions::parse(address).err().unwrap().to_string();
            assert!(error.starts_with("cannot read the address of the database: "), "{error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn a_place_is_shown_without_user_and_password() {
        let place = |address: &str| PostgresOptions::parse(address).unwrap().place();
        assert_eq!(
            place("postgresql://u:secret@db.example.com:5433/weir"),
            "the database `weir` on db.example.com:5433"
        );
        assert_eq!(place("host=/run/postgresql user=u dbname=weir"), "the database `weir` on /run/postgresql");
    }

    #[test]
    fn a_transaction_begins_with_its_limits_and_its_role() {
        let mut options = PostgresOptions::parse("postgresql://u@localhost/d").unwrap();
        options.lock_timeout = Duration::from_millis(5);
        options.role = Some("the \"app\"".into());
        assert_eq!(
            options.begin("READ ONLY"),
            "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY; SET LOCAL statement_timeout = 30000; \
             SET LOCAL lock_timeout = 5; SET LOCAL idle_in_transaction_session_timeout = 30000; \
             SET LOCAL plan_cache_mode = force_generic_plan; SET LOCAL enable_seqscan = off; SET LOCAL jit = off; \
             SET LOCAL ROLE \"the \"\"app\"\"\";"
        );
    }
}
