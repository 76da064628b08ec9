//! Tests that connections over the network are encrypted, and only to the server that was meant.

use weir_records::{ErrorKind, Log as _, PortError};
use weir_team::{PostgresLog, PostgresOptions};

use super::support::{TestDatabase, bridge, scope, variable};

/// Whose certificates are trusted.
#[derive(PartialEq)]
enum Trust {
    /// Those of this machine.
    Machine,
    /// The one that signed that of the server.
    Authority,
}

/// Opens the log over TCP.
fn open(database: &TestDatabase, place: &str, more: &str, trust: Trust) -> Result<PostgresLog, PortError> {
    let server = variable("WEIR_POSTGRES");
    let port = server.split("port=").nth(1).unwrap().split('&').next().unwrap();
    let address = format!("postgresql://{}:secret@{place}:{port}/{}?{more}", database.app(), database.name);
    let mut options = PostgresOptions::parse(&address).unwrap();
    if trust == Trust::Authority {
        options.authorities = Some(std::fs::read(variable("WEIR_POSTGRES_CA")).unwrap());
    }
    PostgresLog::open(&options, bridge())
}

/// Returns whether the connections of the program are encrypted.
fn encrypted(database: &TestDatabase) -> Vec<String> {
    let ssl = format!(
        "SELECT DISTINCT s.ssl FROM pg_stat_ssl s JOIN pg_stat_activity a USING (pid) WHERE a.usename = '{}'",
        database.app()
    );
    database.session("postgres").run(&ssl).unwrap()
}

#[test]
fn a_connection_is_encrypted_and_bound_to_the_certificate_of_the_server() {
    let database = TestDatabase::new();
    for place in ["127.0.0.1", "localhost"] {
        let log = open(&database, place, "sslmode=require&channel_binding=require", Trust::Authority).unwrap();
        assert_eq!(log.head(&scope("acme", "ana", "api")).unwrap().0, 0);
        assert_eq!(encrypted(&database), ["t"], "{place}");
        drop(log);
        database.wait_until_unused();
    }
}

#[test]
fn on_the_same_machine_there_is_nothing_to_encrypt() {
    let database = TestDatabase::new();
    let log = open(&database, "127.0.0.1", "", Trust::Machine).unwrap();
    assert_eq!(log.head(&scope("acme", "ana", "api")).unwrap().0, 0);
    assert_eq!(encrypted(&database), ["f"]);
}

#[test]
fn a_server_with_an_unknown_certificate_or_another_name_is_refused() {
    let database = TestDatabase::new();
    let unknown = open(&database, "127.0.0.1", "sslmode=require", Trust::Machine).err().unwrap();
    assert_eq!(unknown.kind, ErrorKind::Unavailable, "{unknown}");
    // The name is that of another machine, so nothing has to ask for encryption.
    let other = open(&database, "db.example.com", "hostaddr=127.0.0.1", Trust::Authority).err().unwrap();
    assert_eq!(other.kind, ErrorKind::Unavailable, "{other}");
    assert!(other.to_string().contains("TLS handshake"), "{other}");
}

#[test]
fn a_wrong_password_is_refused_without_repeating_it() {
    let database = TestDatabase::new();
    database.session("postgres").run(&format!("ALTER ROLE {} PASSWORD 'another'", database.app())).unwrap();
    let error = open(&database, "127.0.0.1", "", Trust::Machine).err().unwrap();
    assert_eq!(error.kind, ErrorKind::Unavailable);
    assert!(error.to_string().contains("password authentication failed"), "{error}");
    assert!(!error.to_string().contains("secret"), "{error}");
}
