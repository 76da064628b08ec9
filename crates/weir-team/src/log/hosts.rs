//! Whose host each is. Invariants: a host is bound once, in the transaction that says so in the audit; an upload from a
//! host that is bound already only reads.

use std::collections::{BTreeMap, BTreeSet};

use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use weir_core::Scope;
use weir_records::{HostId, Result, refused_hosts};

use super::database::{Database, check_tenant};
use super::fault::Fault;
use super::queries::{AUDIT_TENANT, BIND_HOSTS, CREATE_TENANT, HOST_USERS};
use super::transaction::OpenTransaction;
use super::values::SqlHost;

const BIND: &str = "bind hosts to a user";

/// Binds hosts that are bound to nobody to the user of the scope, and returns those of others.
pub(super) fn bind(database: &Database, scope: &Scope, hosts: &[HostId]) -> Result<Vec<HostId>> {
    // In one order for everybody, so that two who bind the same ones cannot wait for each other.
    let hosts: BTreeSet<HostId> = hosts.iter().copied().collect();
    let wanted: Vec<SqlHost> = hosts.iter().copied().map(SqlHost).collect();
    let rows = database.read(BIND, scope, &HOST_USERS, &[&scope.tenant.0, &wanted])?;
    let known = users(&rows).map_err(|fault| fault.at(BIND))?;
    let is_own = |users: &BTreeMap<HostId, String>, host: &HostId| users.get(host) == Some(&scope.user.0);
    if hosts.iter().all(|host| is_own(&known, host)) {
        return Ok(Vec::new());
    }
    check_tenant(scope, BIND)?;
    database.wait_for(BIND, async {
        let client = database.client().await?;
        let transaction = OpenTransaction::on(&client);
        client.batch_execute(database.begin_write()).await?;
        database.run(&client, &CREATE_TENANT, &[&scope.tenant.0]).await?;
        let bound = users(&database.run(&client, &BIND_HOSTS, &[&scope.tenant.0, &wanted, &scope.user.0]).await?)?;
        // What somebody else has bound at the same moment is seen by now.
        let all = users(&database.run(&client, &HOST_USERS, &[&scope.tenant.0, &wanted]).await?)?;
        let others: Vec<HostId> = hosts.iter().copied().filter(|host| !is_own(&all, host)).collect();
        if !scope.user.0.is_empty() {
            let own = bound.iter().filter(|(_, user)| **user == scope.user.0);
            let own = own.map(|(host, _)| ("bind host", host.to_string()));
            let refused = refused_hosts(&others).map(|target| ("refuse host", target));
            let (actions, targets): (Vec<&str>, Vec<String>) = own.chain(refused).unzip();
            let token = scope.session.as_ref().map(|session| session.key.as_str()).filter(|key| !key.is_empty());
            let values: [&(dyn ToSql + Sync); 5] = [&scope.tenant.0, &scope.user.0, &actions, &targets, &token];
            database.run(&client, &AUDIT_TENANT, &values).await?;
        }
        client.batch_execute("COMMIT").await?;
        transaction.end();
        Ok(others)
    })
}

/// Reads hosts and their users.
fn users(rows: &[Row]) -> Result<BTreeMap<HostId, String>, Fault> {
    rows.iter().map(|row| Ok((row.try_get::<_, SqlHost>(0)?.0, row.try_get(1)?))).collect()
}
