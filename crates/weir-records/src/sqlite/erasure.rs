//! Erases the name of a user who has left, and old rows of the audit. Invariant: what was done is in the audit.

use std::collections::BTreeMap;

use rusqlite::params;
use weir_core::{TenantId, Timestamp, UserId};

use super::accounts::{SqliteAccounts, audit};
use super::moving::check_unlocked;
use crate::accounts::{EXPIRED_AUDIT, ErasedName};
use crate::error::Result;

/// How many rows of the audit one transaction deletes.
const MAX_ROWS: i64 = 10_000;

impl SqliteAccounts {
    /// Replaces the name of a user of a tenant in the audit, the tokens, the invitations and the hosts, and returns how many
    /// rows had it. The records are the caller's part, and go first.
    pub fn erase_name(&self, tenant: &TenantId, user: &UserId, other: &ErasedName) -> Result<u64> {
        let doing = "erase the name of a user";
        let changed = self.database.write(doing, |tx| {
            check_unlocked(tx, doing)?;
            let mut changed = 0;
            for sql in [
                "UPDATE audit SET actor = ?3 WHERE tenant = ?1 AND actor = ?2",
                "UPDATE audit SET target = 'all of ' || ?3 WHERE tenant = ?1 AND target = 'all of ' || ?2",
                "UPDATE tokens SET user = ?3 WHERE tenant = ?1 AND user = ?2",
                "UPDATE hosts SET user = ?3 WHERE tenant = ?1 AND user = ?2",
                "UPDATE invitations SET user = ?3 WHERE tenant = ?1 AND user = ?2",
                "UPDATE invitations SET invited_by = ?3 WHERE tenant = ?1 AND invited_by = ?2",
            ] {
                changed += tx.execute(sql, params![tenant.0, user.0, other.as_str()])? as u64;
            }
            if changed > 0 {
                audit(tx, tenant, "erase user", other.as_str())?;
            }
            Ok(changed)
        })?;
        self.database.wipe_write_ahead_log(doing)?;
        Ok(changed)
    }

    /// Deletes the rows of the audit from before a time, those of deleted tenants too, and returns how many there were.
    pub fn expire_audit(&self, before: Timestamp) -> Result<u64> {
        let doing = "delete old rows of the audit";
        let mut deleted = 0;
        loop {
            let some = self.database.write(doing, |tx| {
                check_unlocked(tx, doing)?;
                let mut statement =
                    tx.prepare_cached("SELECT id, tenant, action FROM audit WHERE at < ?1 ORDER BY id LIMIT ?2")?;
                let old = statement.query_map(params![before.0, MAX_ROWS], |row| {
                    Ok::<(i64, String, String), _>((row.get(0)?, row.get(1)?, row.get(2)?))
                })?;
                let old: Vec<(i64, String, String)> = old.collect::<rusqlite::Result<_>>()?;
                let Some((last, ..)) = old.last() else { return Ok(0) };
                let mut told = BTreeMap::<&str, u64>::new();
                // That such rows were deleted is not worth another row.
                for (_, tenant, _) in old.iter().filter(|(_, _, action)| action != EXPIRED_AUDIT) {
                    *told.entry(tenant).or_default() += 1;
                }
                for (tenant, count) in told {
                    audit(tx, &TenantId(tenant.to_owned()), EXPIRED_AUDIT, &format!("{count} rows of the audit"))?;
                }
                // The newest row stays, since its number marks how far heads were walked over, and no other may get it.
                let mut delete = tx.prepare_cached(
                    "DELETE FROM audit WHERE at < ?1 AND id <= ?2 AND id < (SELECT max(id) FROM audit)",
                )?;
                Ok(delete.execute(params![before.0, last])? as u64)
            })?;
            if some == 0 {
                return Ok(deleted);
            }
            deleted += some;
        }
    }
}
