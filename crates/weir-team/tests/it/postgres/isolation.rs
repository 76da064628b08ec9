//! Tests the second lock: what hand-written SQL can do as the role of the program.

use weir_core::{Scope, TenantId, Timestamp, UserId};
use weir_records::{
    Accounts as _, ApiToken, Credential, ErrorKind, Log as _, Position, Readers, Revoked, TextKey, TokenScope,
};
use weir_team::{PostgresLog, delete_tenant, migrate};

use super::support::{TestDatabase, bridge, ids, note, scope};

const TABLES: [&str; 5] = ["tenants", "projects", "heads", "records", "audit"];

fn acme() -> Scope {
    scope("acme", "ana", "api")
}

/// Makes a database with a record of each of two tenants.
fn two_tenants() -> TestDatabase {
    let database = TestDatabase::new();
    let (log, id) = (database.log(), ids());
    for scope in [acme(), scope("umbrella", "ben", "api")] {
        log.append(&scope, &[note(&scope, id(0))]).unwrap();
    }
    database
}

#[test]
fn a_transaction_sees_one_row_of_each_table_and_never_that_of_another_tenant() {
    let database = two_tenants();
    let session = database.session("app");
    for tenant in ["acme", "umbrella"] {
        let names = session.run_as(tenant, "SELECT name FROM weir.tenants").unwrap();
        assert_eq!(names, [tenant]);
        for table in TABLES {
            let count = format!("SELECT count(*), count(DISTINCT tenant_id) FROM weir.{table}");
            assert_eq!(session.run_as(tenant, &count).unwrap(), ["1|1"], "{table} of {tenant}");
        }
        let joined = "SELECT t.name FROM weir.records r FULL JOIN weir.tenants t USING (tenant_id)";
        assert_eq!(session.run_as(tenant, joined).unwrap(), [tenant]);
    }
    for table in TABLES {
        assert_eq!(session.run_as("nobody", &format!("SELECT * FROM weir.{table}")).unwrap(), [""; 0], "{table}");
    }
}

#[test]
fn a_transaction_changes_nothing_of_another_tenant() {
    let database = two_tenants();
    let (session, owner) = (database.session("app"), database.session("owner"));
    let other = owner.run("SELECT tenant_id FROM weir.tenants WHERE name = 'umbrella'").unwrap().concat();
    let others = |sql: &str| session.run_as("acme", &sql.replace("OTHER", &other));
    for sql in [
        "UPDATE weir.records SET json = NULL WHERE tenant_id = OTHER RETURNING 1",
        "UPDATE weir.heads SET position = 9 WHERE tenant_id = OTHER RETURNING 1",
        "SELECT * FROM weir.heads WHERE tenant_id = OTHER FOR UPDATE",
    ] {
        assert_eq!(others(sql).unwrap(), [""; 0], "{sql}");
    }
    for sql in [
        "INSERT INTO weir.audit (tenant_id, project_id, actor, action, target) VALUES (OTHER, 1, '', '', '')",
        "INSERT INTO weir.records (tenant_id, project_id, position, number, host, audience, author)
             SELECT OTHER, 1, 2, 2, host, audience, author FROM weir.records",
    ] {
        let error = others(sql).unwrap_err();
        assert!(error.starts_with("42501 new row violates row-level security policy"), "{error}");
    }
}

/// Numbers that a server remembers are checked against the names each time: a database that was put back may have given
/// them to others.
#[test]
fn a_number_that_belongs_to_another_tenant_by_now_gives_nothing_of_it() {
    let database = TestDatabase::new();
    let (log, id, acme, umbrella) = (database.log(), ids(), acme(), scope("umbrella", "ana", "api"));
    let notes = [note(&acme, id(0)), note(&umbrella, id(1))];
    log.append(&acme, &notes[..1]).unwrap();
    log.append(&umbrella, &notes[1..]).unwrap();
    let found = |scope: &Scope| -> Vec<u64> {
        let ids = [id(0), id(1), id(2)];
        let read = log.records(scope, &ids).unwrap();
        assert_eq!(log.look_ups(scope).records(&ids).unwrap(), read);
        assert_eq!(log.read_since(scope, Position(0), 10, Readers::Index).unwrap().records, read);
        assert_eq!(log.head(scope).unwrap().0, read.len() as u64);
        let texts: Vec<TextKey> = (0..3_u64).map(|number| TextKey::of(&number.to_le_bytes())).collect();
        assert_eq!(log.used_texts(scope, &texts).unwrap().len(), read.len());
        read.iter().map(|stored| stored.record.id.index).collect()
    };
    assert_eq!((found(&acme), found(&umbrella)), (vec![0], vec![1]));
    let superuser = database.session("postgres");
    let swap = "UPDATE weir.tenants SET name = 'other' WHERE name = 'acme';
                UPDATE weir.tenants SET name = 'acme' WHERE name = 'umbrella';
                UPDATE weir.tenants SET name = 'umbrella' WHERE name = 'other'";
    superuser.run(swap).unwrap();
    assert_eq!((found(&umbrella), found(&acme)), (vec![0], vec![1]));
    // A call that writes finds out too.
    superuser.run(swap).unwrap();
    assert_eq!(log.append(&umbrella, &[note(&umbrella, id(2))]).unwrap(), [Position(2)]);
    assert_eq!((found(&acme), found(&umbrella)), (vec![0], vec![1, 2]));
    // A tenant that was deleted has nothing, and another one by its name has its own.
    let owner = database.options("owner");
    delete_tenant(&owner, bridge(), &acme.tenant).unwrap();
    assert!(found(&acme).is_empty());
    log.append(&acme, &[note(&acme, id(2))]).unwrap();
    delete_tenant(&owner, bridge(), &acme.tenant).unwrap();
    log.append(&acme, &[note(&acme, id(1))]).unwrap();
    assert_eq!((found(&acme), found(&umbrella)), (vec![1], vec![1, 2]));
}

#[test]
fn without_a_tenant_there_is_an_error_and_not_an_empty_answer() {
    let database = two_tenants();
    let session = database.session("app");
    for table in TABLES {
        let error = session.run(&format!("SELECT * FROM weir.{table}")).unwrap_err();
        assert!(error.starts_with("42704 "), "{error}");
    }
    // A connection whose last transaction was that of a tenant.
    session.run("BEGIN; SELECT weir.enter('acme'); COMMIT").unwrap();
    for table in TABLES {
        let error = session.run(&format!("SELECT * FROM weir.{table}")).unwrap_err();
        assert!(error.starts_with("22P02 "), "{error}");
    }
}

#[test]
fn the_role_of_the_program_only_appends_moves_heads_erases_and_revokes() {
    let database = two_tenants();
    let session = database.session("app");
    for sql in [
        "DELETE FROM weir.records",
        "TRUNCATE weir.records",
        "UPDATE weir.records SET position = 7",
        "UPDATE weir.records SET json = 'another'",
        "UPDATE weir.records SET json = NULL",
        "UPDATE weir.records SET number = 7",
        "UPDATE weir.records SET imprint = 7",
        "UPDATE weir.records SET tenant_id = 7",
        "SELECT * FROM weir.records_0",
        "INSERT INTO weir.tenants (name) VALUES ('x')",
        "INSERT INTO weir.projects (tenant_id, key) VALUES (1, 'x')",
        "INSERT INTO weir.heads VALUES (1, 1, 0)",
        "DELETE FROM weir.heads",
        "UPDATE weir.tokens SET scope = 'admin'",
        "DELETE FROM weir.tokens",
        "UPDATE weir.hosts SET user_name = 'x'",
        "DELETE FROM weir.hosts",
        "UPDATE weir.tenants SET name = 'x'",
        "UPDATE weir.audit SET actor = 'x'",
        "DELETE FROM weir.audit",
        "INSERT INTO weir.migrations (position, name, checksum) VALUES (9, '', '')",
        "ALTER TABLE weir.records DISABLE ROW LEVEL SECURITY",
        "DROP POLICY own_tenant ON weir.records",
        "CREATE TABLE weir.x ()",
    ] {
        let error = session.run_as("acme", sql).unwrap_err();
        assert!(error.starts_with("42501 "), "{sql}: {error}");
    }
}

#[test]
fn a_token_is_seen_by_its_tenant_only_and_stays_revoked() {
    let database = TestDatabase::new();
    let (accounts, session) = (database.log().accounts(), database.session("app"));
    for tenant in ["acme", "umbrella"] {
        let (tenant, credential) = (TenantId(tenant.into()), Credential::draw().unwrap());
        accounts.create_tenant(&tenant).unwrap();
        let token = ApiToken {
            id: credential.id(),
            hash: credential.hash(),
            tenant: tenant.clone(),
            user: UserId("ana".into()),
            scope: TokenScope::Read,
            projects: None,
            created_at: Timestamp(1),
            expires_at: None,
            revoked_at: None,
        };
        accounts.add_token(&token, None).unwrap();
        assert_eq!(accounts.token(token.id).unwrap(), Some(token.clone()));
        assert_eq!(accounts.tokens(&tenant).unwrap(), [token]);
        let count = "SELECT count(*), count(DISTINCT tenant_id) FROM weir.tokens";
        assert_eq!(session.run_as(&tenant.0, count).unwrap(), ["1|1"]);
    }
    let acme = TenantId("acme".into());
    assert_eq!(accounts.revoke(&acme, &Revoked::User(UserId("ana".into())), Timestamp(2)).unwrap(), 1);
    let undo = "UPDATE weir.tokens SET revoked_at = NULL RETURNING id";
    assert_eq!(session.run_as("acme", undo).unwrap(), [""; 0]);
    assert!(session.run_as("umbrella", undo).unwrap_err().starts_with("42501 "));
    assert!(session.run("SELECT * FROM weir.tokens").is_err());
}

#[test]
fn every_table_of_tenants_has_row_level_security() {
    let database = TestDatabase::new();
    let without = "SELECT relname FROM pg_class WHERE relnamespace = 'weir'::regnamespace AND relkind IN ('r', 'p')
                       AND (NOT relrowsecurity OR oid NOT IN (SELECT polrelid FROM pg_policy))";
    assert_eq!(database.session("owner").run(without).unwrap(), ["migrations"]);
}

#[test]
fn a_role_that_row_level_security_does_not_hold_back_is_refused() {
    let database = TestDatabase::new();
    let refused = |who: &str| {
        let error = PostgresLog::open(&database.options(who), bridge()).err().unwrap();
        assert_eq!(error.kind, ErrorKind::Unavailable);
        error.to_string()
    };
    let expected = |why: &str| {
        let hint = "use one that neither owns the tables nor bypasses it";
        format!("cannot open the database: the backend cannot be used (its role {why}; {hint})")
    };
    assert_eq!(refused("owner"), expected("owns the tables"));
    assert_eq!(refused("postgres"), expected("bypasses row-level security"));
    let admin = database.session("postgres");
    admin.run(&format!("GRANT {0}_owner TO {0}_app", database.name)).unwrap();
    assert_eq!(refused("app"), expected("owns the tables"));
    admin.run(&format!("REVOKE {0}_owner FROM {0}_app", database.name)).unwrap();
    database.session("owner").run("ALTER TABLE weir.records_3 DISABLE ROW LEVEL SECURITY").unwrap();
    assert_eq!(refused("app"), expected("is not held back, because a table has no row-level security"));
}

#[test]
fn one_address_is_enough_if_the_program_gives_up_the_rights_of_the_owner() {
    let database = TestDatabase::empty();
    let (mut options, role) = (database.options("owner"), format!("{}_group", database.name));
    migrate(&options, &role, bridge()).unwrap();
    options.role = Some(role.clone());
    let log = PostgresLog::open(&options, bridge()).unwrap();
    log.append(&acme(), &[note(&acme(), ids()(0))]).unwrap();
    assert_eq!(log.head(&acme()).unwrap().0, 1);
    assert_eq!(log.head(&scope("umbrella", "ben", "api")).unwrap().0, 0);
    drop(log);
    let owner = database.session("owner");
    owner.run(&format!("DROP OWNED BY {role}; DROP ROLE {role}")).unwrap();
}

#[test]
fn names_are_only_names() {
    let database = TestDatabase::new();
    let log = database.log();
    let names = ["'; DROP TABLE weir.records; --", "a\"b", "$1", "%", "ä 🦀", "x'; SET ROLE postgres; --"];
    for (number, name) in names.into_iter().enumerate() {
        let (own, id) = (scope(name, name, name), ids());
        log.append(&own, &[note(&own, id(0))]).unwrap();
        assert_eq!(log.records(&own, &[id(0)]).unwrap().len(), 1, "{name}");
        assert_eq!(log.records(&acme(), &[id(0)]).unwrap(), [], "{name}");
        let tenants = database.session("owner").run("SELECT count(*) FROM weir.tenants").unwrap();
        assert_eq!(tenants, [(number + 1).to_string()]);
    }
    for scope in [scope("a\0b", "ana", "api"), scope("acme", "ana", "a\0b"), scope("acme", "a\0b", "api")] {
        let refused = log.append(&scope, &[note(&scope, ids()(0))]).unwrap_err();
        assert_eq!(refused.kind, ErrorKind::Invalid, "{refused}");
    }
    let nobody = scope("", "ana", "api");
    for error in [log.head(&nobody).unwrap_err(), log.append(&nobody, &[note(&nobody, ids()(0))]).unwrap_err()] {
        assert_eq!(error.kind, ErrorKind::Invalid);
        assert!(error.to_string().ends_with("(the scope names no tenant)"), "{error}");
    }
}
