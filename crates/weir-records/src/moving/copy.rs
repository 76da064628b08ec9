//! One pass of a move: copies what the new place does not have yet. Invariant: a text is there before its record, and
//! gone before the record that removes it.

use std::ops::Range;

use weir_core::{ProjectKey, TenantId};

use super::{
    BATCH, MoveSource, MoveTarget, MovedRecord, TenantSource, differs, for_each_host_batch, invitations_of, scope_of,
    text_of, total,
};
use crate::accounts::TokenId;
use crate::error::{ErrorKind, PortError, Result};
use crate::id::TextKey;
use crate::ports::{Blobs, Position};
use crate::record::Body;

/// Copies what is missing. `tell` gets the number of records that are there, and of all of them.
pub(super) fn copy(source: &MoveSource<'_>, target: &MoveTarget<'_>, tell: &dyn Fn(u64, u64)) -> Result<()> {
    check_deleted(source, target)?;
    let tenants = source.log.tenants()?;
    let (mut done, of) = (0, total(source, &tenants)?);
    for tenant in &tenants {
        done += copy_tenant(&source.of_tenants(), target, tenant, &|here| tell(done + here, of))?.there;
    }
    Ok(())
}

/// How many records a pass has copied, and how many the new place has then, erased ones too.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CopiedTenant {
    pub copied: u64,
    pub there: u64,
}

/// Copies what the new place does not have of a tenant. `tell` gets the number of records that it has.
///
/// While others write to the tenant, a pass ends all the same: it goes to the heads that it has seen.
pub fn copy_tenant(
    source: &TenantSource<'_>,
    target: &MoveTarget<'_>,
    tenant: &TenantId,
    tell: &dyn Fn(u64),
) -> Result<CopiedTenant> {
    let pass = TenantPass { source, target, tenant };
    pass.accounts()?;
    let (heads, there) = (source.records.heads_of(tenant)?, target.records.heads_of(tenant)?);
    let mut done = CopiedTenant::default();
    for (project, end) in heads {
        let begin = there.get(&project).copied().unwrap_or_default();
        if begin != end {
            pass.project(&project, begin..end, &|here| tell(done.there + here))?;
        }
        done.copied += end.0.saturating_sub(begin.0);
        done.there += end.0;
    }
    pass.audit()?;
    pass.hosts()?;
    pass.requests()?;
    Ok(done)
}

/// Checks that a tenant that was deleted is not at the new place, where an earlier pass may have copied it to.
fn check_deleted(source: &MoveSource<'_>, target: &MoveTarget<'_>) -> Result<()> {
    for tenant in source.log.deleted_tenants()? {
        if target.accounts.has_tenant(&tenant)? {
            let name = tenant.0;
            let reason = format!("the new place has the tenant `{name}`, which was deleted here; delete it there too");
            return Err(PortError::new(ErrorKind::Invalid, "move the team").because(reason));
        }
    }
    Ok(())
}

struct TenantPass<'a> {
    source: &'a TenantSource<'a>,
    target: &'a MoveTarget<'a>,
    tenant: &'a TenantId,
}

impl TenantPass<'_> {
    fn accounts(&self) -> Result<()> {
        let Self { source, target, tenant } = self;
        let tokens = source.accounts.tokens(tenant)?;
        let is_known = |id: TokenId| tokens.iter().any(|token| token.id == id);
        if target.accounts.tokens(tenant)?.iter().any(|token| !is_known(token.id)) {
            return Err(differs("the new place has other tokens"));
        }
        target.records.take_tenant(tenant, &source.accounts.usage(tenant)?)?;
        target.records.take_tokens(tenant, &tokens)?;
        target.records.take_invitations(tenant, &invitations_of(source.accounts, tenant)?)
    }

    /// Copies the records of a project from where the new place is up to a position that the old place has.
    fn project(&self, project: &ProjectKey, range: Range<Position>, tell: &dyn Fn(u64)) -> Result<()> {
        let Self { source, target, tenant } = self;
        let mut head = range.start;
        self.check_last(project, head)?;
        // A server that goes on writing must not keep a pass busy forever: the last one is made while nobody writes.
        while head < range.end {
            let batch = source.records.moved_records(tenant, project, head, BATCH)?;
            let Some(last) = batch.last() else { break };
            if let Some(blobs) = target.blobs {
                for one in &batch {
                    self.text(blobs, project, one)?;
                }
            }
            target.records.take_records(tenant, project, &batch)?;
            head = last.position;
            tell(head.0);
        }
        Ok(())
    }

    /// Checks that the last record that the new place has is the same as here. It may have been erased since.
    fn check_last(&self, project: &ProjectKey, head: Position) -> Result<()> {
        if head == Position(0) {
            return Ok(());
        }
        let before = Position(head.0 - 1);
        let here = self.source.records.moved_records(self.tenant, project, before, 1)?;
        let there = self.target.records.moved_records(self.tenant, project, before, 1)?;
        let same = here.first().map(|one| (one.position, one.id)) == there.first().map(|one| (one.position, one.id));
        if same { Ok(()) } else { Err(differs("the new place has other records")) }
    }

    /// Copies the text of a record, or deletes the text of the record that it removes.
    fn text(&self, blobs: &dyn Blobs, project: &ProjectKey, one: &MovedRecord) -> Result<()> {
        let Some(record) = &one.record else { return Ok(()) };
        let scope = scope_of(self.tenant, project, &record.author.user);
        if let Body::Removed { record: removed, .. } = &record.body {
            let found = self.target.log.records(&scope, &[*removed])?;
            for key in found.iter().filter_map(|stored| Some(stored.record.body.kept()?.text)) {
                if self.source.log.text_uses(&scope, &key)? == 0 {
                    blobs.delete(&scope, &key)?;
                }
            }
        }
        let Some(key) = text_of(one) else { return Ok(()) };
        let Some(from) = self.source.blobs else { return Ok(()) };
        match from.get(&scope, &key) {
            Ok(Some(text)) => check_key(&key, &blobs.put(&scope, &text)?),
            // It is lost, or the record has been removed since. The comparison at the end counts what is lost.
            Ok(None) | Err(PortError { kind: ErrorKind::Damaged, .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn audit(&self) -> Result<()> {
        let Self { source, target, tenant } = self;
        let mut count = target.records.audit_count(tenant)?;
        if count > 0 {
            let (here, there) =
                (source.records.audit_rows(tenant, count - 1, 1)?, target.records.audit_rows(tenant, count - 1, 1)?);
            if here != there {
                return Err(differs("the new place has another audit"));
            }
        }
        loop {
            let rows = source.records.audit_rows(tenant, count, BATCH)?;
            if rows.is_empty() {
                return Ok(());
            }
            target.records.take_audit(tenant, count, &rows)?;
            count += rows.len() as u64;
        }
    }

    /// Copies whose host each is. One that has records follows from them, but a host whose records are erased does not,
    /// and neither does one that has none yet.
    fn hosts(&self) -> Result<()> {
        let Self { source, target, tenant } = self;
        for_each_host_batch(source.records, tenant, &mut |batch| target.records.take_hosts(tenant, batch))
    }

    /// Copies the keys of requests, so that one that is repeated after the move is not carried out again.
    fn requests(&self) -> Result<()> {
        let Self { source, target, tenant } = self;
        let mut after = None;
        loop {
            let batch = source.records.kept_requests(tenant, after, BATCH)?;
            let Some(last) = batch.last() else { return Ok(()) };
            after = Some(last.key.name);
            target.records.take_requests(tenant, &batch)?;
        }
    }
}

fn check_key(wanted: &TextKey, stored: &TextKey) -> Result<()> {
    if wanted == stored {
        return Ok(());
    }
    Err(PortError::new(ErrorKind::Damaged, "copy a text").because("it changed on the way"))
}
