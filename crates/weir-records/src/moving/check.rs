//! Compares both sides of a move. Invariant: it reads everything from both places again, and trusts nothing that the
//! copying has seen.

use std::collections::BTreeSet;

use weir_core::{ProjectKey, TenantId, UserId};

use super::{
    BATCH, Export, MoveFigures, MoveSource, MoveTarget, MovedRecord, for_each_batch, for_each_host_batch,
    invitations_of, scope_of, text_of, total,
};
use crate::accounts::Accounts as _;
use crate::error::{ErrorKind, PortError, Result};
use crate::id::TextKey;
use crate::ports::Blobs;

/// Compares both sides, and returns what was moved, or what differs. `tell` gets the number of records that were
/// compared, and of all of them.
pub(super) fn compare(
    source: &MoveSource<'_>,
    target: &MoveTarget<'_>,
    tell: &dyn Fn(u64, u64),
) -> Result<MoveFigures> {
    let tenants = source.log.tenants()?;
    let of = total(source, &tenants)?;
    let mut figures = MoveFigures { tenants: tenants.len() as u64, ..MoveFigures::default() };
    for tenant in &tenants {
        let tokens = source.accounts.tokens(tenant)?;
        expect(tokens == target.accounts.tokens(tenant)?, "the tokens", tenant)?;
        let invitations = (invitations_of(source.accounts, tenant)?, invitations_of(target.accounts, tenant)?);
        expect(invitations.0 == invitations.1, "the invitations", tenant)?;
        let usage = (source.accounts.usage(tenant)?, target.accounts.usage(tenant)?);
        expect(usage.0 == usage.1, "the quotas and what counts towards them", tenant)?;
        figures.tokens += tokens.len() as u64;
        let audit = (audit_of(source.log, tenant)?, audit_of(target.records, tenant)?);
        expect(audit.0 == audit.1, "the audit", tenant)?;
        figures.audit_rows += audit.0.count;
        let hosts = (hosts_of(source.log, tenant)?, hosts_of(target.records, tenant)?);
        expect(hosts.0 == hosts.1, "the users of hosts", tenant)?;
        figures.hosts += hosts.0.count;
        let mut texts = BTreeSet::new();
        for project in source.accounts.projects(tenant)? {
            let (here, there) = (digest(source.log, tenant, &project)?, digest(target.records, tenant, &project)?);
            expect(here.is_same(&there), &format!("the records of the project `{}`", project.0), tenant)?;
            figures.projects += 1;
            figures.records += here.records;
            figures.erased += here.erased;
            texts.extend(here.texts);
            tell(figures.records, of);
        }
        figures.texts += texts.len() as u64;
        if let Some(blobs) = target.blobs {
            figures.lost_texts += compare_texts(source.blobs, blobs, tenant, &texts)?;
        }
    }
    figures.count_left(source)?;
    Ok(figures)
}

/// What a project has, at one place.
struct ProjectDigest {
    records: u64,
    erased: u64,
    hash: blake3::Hash,
    texts: BTreeSet<TextKey>,
}

impl ProjectDigest {
    fn is_same(&self, other: &Self) -> bool {
        self.records == other.records && self.erased == other.erased && self.hash == other.hash
    }
}

fn digest(from: &dyn Export, tenant: &TenantId, project: &ProjectKey) -> Result<ProjectDigest> {
    let (mut records, mut erased, mut texts) = (0, 0, BTreeSet::new());
    let mut hasher = blake3::Hasher::new();
    for_each_batch(from, tenant, project, &mut |batch| {
        for one in batch {
            records += 1;
            erased += u64::from(one.record.is_none());
            texts.extend(text_of(one));
            hasher.update(line_of(one)?.as_bytes());
        }
        Ok(())
    })?;
    Ok(ProjectDigest { records, erased, hash: hasher.finalize(), texts })
}

/// Returns a record as it is hashed. JSON has no line breaks, so that lines cannot be mistaken for others.
fn line_of(one: &MovedRecord) -> Result<String> {
    let content = match &one.record {
        Some(record) => record.to_json()?,
        None => format!("erased {:?}", one.imprint),
    };
    Ok(format!("{} {} {} {content}\n", one.position.0, one.id, one.audience))
}

/// The rows of a table that belong to a tenant, at one place.
#[derive(PartialEq, Eq)]
struct RowDigest {
    count: u64,
    hash: blake3::Hash,
}

fn audit_of(from: &dyn Export, tenant: &TenantId) -> Result<RowDigest> {
    let (mut count, mut hasher) = (0, blake3::Hasher::new());
    loop {
        let rows = from.audit_rows(tenant, count, BATCH)?;
        if rows.is_empty() {
            return Ok(RowDigest { count, hash: hasher.finalize() });
        }
        for row in &rows {
            // The form for programmers quotes each part.
            hasher.update(format!("{row:?}\n").as_bytes());
        }
        count += rows.len() as u64;
    }
}

fn hosts_of(from: &dyn Export, tenant: &TenantId) -> Result<RowDigest> {
    let (mut count, mut hasher) = (0, blake3::Hasher::new());
    for_each_host_batch(from, tenant, &mut |batch| {
        for bound in batch {
            hasher.update(format!("{} {:?}\n", bound.host, bound.user.0).as_bytes());
        }
        count += batch.len() as u64;
        Ok(())
    })?;
    Ok(RowDigest { count, hash: hasher.finalize() })
}

/// Checks that the new place has every text that can be read at the old one, and returns how many cannot.
fn compare_texts(here: &dyn Blobs, there: &dyn Blobs, tenant: &TenantId, texts: &BTreeSet<TextKey>) -> Result<u64> {
    let scope = scope_of(tenant, &ProjectKey(String::new()), &UserId(String::new()));
    let mut lost = 0;
    for key in texts {
        if there.range(&scope, key, 0..0)?.is_some() {
            continue;
        }
        match here.get(&scope, key) {
            Ok(None) | Err(PortError { kind: ErrorKind::Damaged, .. }) => lost += 1,
            Ok(Some(_)) => return Err(mismatch(&format!("the new place lacks the text {key} of `{}`", tenant.0))),
            Err(error) => return Err(error),
        }
    }
    Ok(lost)
}

fn expect(is_same: bool, what: &str, tenant: &TenantId) -> Result<()> {
    if is_same { Ok(()) } else { Err(mismatch(&format!("{what} of the tenant `{}` differ", tenant.0))) }
}

fn mismatch(reason: &str) -> PortError {
    PortError::new(ErrorKind::Damaged, "compare both sides of the move").because(reason.to_owned())
}
