//! The accounts of all cells, and their invitations, which the directory knows as it knows tokens.

use weir_core::{ProjectKey, TenantId, Timestamp};
use weir_records::{
    Acceptance, Accounts, ApiToken, ErrorKind, Invitation, Invitations, PortError, Result, Revoked, TenantUsage,
    TokenId,
};

use super::Cells;
use crate::log::{PostgresAccounts, PostgresLog};

impl Cells {
    /// Calls the accounts of an existing tenant.
    fn of_known<T>(
        &self,
        tenant: &TenantId,
        doing: &str,
        mut call: impl FnMut(&PostgresAccounts) -> Result<T>,
    ) -> Result<T> {
        let missing = || PortError::new(ErrorKind::Missing, doing).because("there is no such tenant");
        self.in_cell(tenant, doing, |log| call(&log.accounts()))?.ok_or_else(missing)
    }

    /// Looks up a token or an invitation, which names its tenant.
    fn find<T>(
        &self,
        id: TokenId,
        doing: &str,
        find: impl Fn(&PostgresAccounts) -> Result<Option<T>>,
    ) -> Result<Option<T>> {
        let Some(tenant) = self.directory.tenant_of(id)? else { return Ok(None) };
        let known = self.directory.home(&tenant)?;
        let look = || self.in_cell(&tenant, doing, |log| find(&log.accounts()));
        let found = look()?.flatten();
        // A cell that the tenant has left has nothing of it, and does not say so.
        if found.is_some() || self.directory.home_now(&tenant)? == known {
            return Ok(found);
        }
        Ok(look()?.flatten())
    }
}

impl Accounts for Cells {
    fn answers(&self) -> Result<()> {
        self.answers()
    }

    fn create_tenant(&self, tenant: &TenantId) -> Result<bool> {
        self.create_tenant_in(tenant, None)
    }

    fn set_max_records(&self, tenant: &TenantId, max_records: u64) -> Result<()> {
        self.of_known(tenant, "set the quota of a tenant", |accounts| accounts.set_max_records(tenant, max_records))
    }

    fn set_max_bytes(&self, tenant: &TenantId, max_bytes: u64) -> Result<()> {
        self.of_known(tenant, "set the quota of a tenant", |accounts| accounts.set_max_bytes(tenant, max_bytes))
    }

    fn has_tenant(&self, tenant: &TenantId) -> Result<bool> {
        let found = self.in_cell(tenant, "look up a tenant", |log| log.accounts().has_tenant(tenant))?;
        Ok(found.unwrap_or_default())
    }

    fn usage(&self, tenant: &TenantId) -> Result<TenantUsage> {
        let found = self.in_cell(tenant, "read the usage of a tenant", |log| log.accounts().usage(tenant))?;
        Ok(found.unwrap_or_default())
    }

    fn projects(&self, tenant: &TenantId) -> Result<Vec<ProjectKey>> {
        let found = self.in_cell(tenant, "list the projects of a tenant", |log| log.accounts().projects(tenant))?;
        Ok(found.unwrap_or_default())
    }

    fn add_token(&self, token: &ApiToken, replaced: Option<TokenId>) -> Result<()> {
        // A token that the directory knows and no cell has is good for nothing.
        self.directory.add_token(token.id, &token.tenant)?;
        self.of_known(&token.tenant, "add a token", |accounts| accounts.add_token(token, replaced))
    }

    fn token(&self, id: TokenId) -> Result<Option<ApiToken>> {
        self.find(id, "look up a token", |accounts| accounts.token(id))
    }

    fn tokens(&self, tenant: &TenantId) -> Result<Vec<ApiToken>> {
        let found = self.in_cell(tenant, "list tokens", |log| log.accounts().tokens(tenant))?;
        Ok(found.unwrap_or_default())
    }

    fn revoke(&self, tenant: &TenantId, revoked: &Revoked, now: Timestamp) -> Result<u64> {
        let found = self.in_cell(tenant, "revoke tokens", |log| log.accounts().revoke(tenant, revoked, now))?;
        Ok(found.unwrap_or_default())
    }

    fn invitations(&self) -> Option<&dyn Invitations> {
        Some(self)
    }
}

impl Invitations for Cells {
    fn add_invitation(&self, invitation: &Invitation) -> Result<()> {
        self.directory.add_token(invitation.id, &invitation.tenant)?;
        self.of_known(&invitation.tenant, "add an invitation", |accounts| accounts.add_invitation(invitation))
    }

    fn invitation(&self, id: TokenId) -> Result<Option<Invitation>> {
        self.find(id, "look up an invitation", |accounts| accounts.invitation(id))
    }

    fn invitations(&self, tenant: &TenantId) -> Result<Vec<Invitation>> {
        let list = |log: &PostgresLog| Invitations::invitations(&log.accounts(), tenant);
        Ok(self.in_cell(tenant, "list invitations", list)?.unwrap_or_default())
    }

    fn revoke_invitation(&self, id: TokenId, by: &ApiToken, now: Timestamp) -> Result<bool> {
        let revoke = |log: &PostgresLog| log.accounts().revoke_invitation(id, by, now);
        Ok(self.in_cell(&by.tenant, "revoke an invitation", revoke)?.unwrap_or_default())
    }

    fn accept(&self, invitation: TokenId, token: &ApiToken) -> Result<Acceptance> {
        self.directory.add_token(token.id, &token.tenant)?;
        self.of_known(&token.tenant, "accept an invitation", |accounts| accounts.accept(invitation, token))
    }
}
