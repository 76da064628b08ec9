//! Deletes a tenant from the database of the log and the accounts. Invariant: rows of the audit stay.

use rusqlite::params;
use weir_core::TenantId;

use super::accounts::{SqliteAccounts, audit};
use super::moving::check_unlocked;
use crate::accounts::DeletedTenant;
use crate::error::Result;

const DELETE: &str = "delete a tenant";

impl SqliteAccounts {
    /// Deletes the tokens and invitations of a tenant, so that nobody gets in while the rest is deleted. Returns the number
    /// of tokens.
    pub fn delete_tokens(&self, tenant: &TenantId) -> Result<u64> {
        self.database.write(DELETE, |tx| {
            check_unlocked(tx, DELETE)?;
            tx.execute("DELETE FROM invitations WHERE tenant = ?1", params![tenant.0])?;
            Ok(tx.execute("DELETE FROM tokens WHERE tenant = ?1", params![tenant.0])? as u64)
        })
    }

    /// Deletes a tenant with its records and tokens. Texts and index are the caller's part, and go first.
    pub fn delete_tenant(&self, tenant: &TenantId) -> Result<DeletedTenant> {
        let deleted = self.database.write(DELETE, |tx| {
            check_unlocked(tx, DELETE)?;
            let delete = |sql: &str| tx.execute(sql, params![tenant.0]).map(|count| count as u64);
            let records = delete("DELETE FROM records WHERE tenant = ?1")?;
            let heads = delete("DELETE FROM heads WHERE tenant = ?1")?;
            delete("DELETE FROM hosts WHERE tenant = ?1")?;
            delete("DELETE FROM requests WHERE tenant = ?1")?;
            delete("DELETE FROM invitations WHERE tenant = ?1")?;
            let tokens = delete("DELETE FROM tokens WHERE tenant = ?1")?;
            let tenants = delete("DELETE FROM tenants WHERE name = ?1")?;
            let existed = records + heads + tokens + tenants > 0;
            if existed {
                audit(tx, tenant, "delete tenant", &tenant.0)?;
            }
            Ok(DeletedTenant { existed, records, tokens })
        })?;
        self.database.wipe_write_ahead_log(DELETE)?;
        Ok(deleted)
    }
}
