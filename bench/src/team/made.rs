//! The entries that are written and searched: tenants by Zipf's law, the same in every run.

use weir_core::{EntryKind, Origin, ProjectKey, Reference, Scope, TenantId, UserId};
use weir_records::{Audience, Author, Body, HostId, Kept, LogicalTime, Record, RecordId, TextKey};

use crate::text::{RandomNumbers, paragraph};

const TENANTS: usize = 1_000;
const BATCH: usize = 100;
pub(super) const PROJECT: &str = "github.com/acme/api";
pub(super) const USER: &str = "ana";
pub(super) const MILLIS: i64 = 1_700_000_000_000;

pub(super) struct Made {
    /// How many entries each tenant has, largest first.
    pub(super) tenants: Vec<u64>,
    pub(super) entries: Vec<MadeEntry>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct MadeEntry {
    pub(super) tenant: usize,
    pub(super) number: u64,
}

impl MadeEntry {
    pub(super) fn text(self) -> String {
        paragraph(self.number)
    }
}

impl Made {
    pub(super) fn new(entries: u64) -> Self {
        let sum: f64 = (1..=TENANTS).map(|rank| 1.0 / rank as f64).sum();
        let share = |rank: usize| (entries as f64 / rank as f64 / sum) as u64;
        let mut tenants: Vec<u64> = (1..=TENANTS).map(|rank| share(rank).max(1)).collect();
        let rest = entries.saturating_sub(tenants.iter().sum());
        tenants[0] += rest;
        let of_tenants = tenants.iter().enumerate();
        let owners = of_tenants.flat_map(|(tenant, count)| std::iter::repeat_n(tenant, *count as usize));
        let made = owners.zip(0u64..).map(|(tenant, number)| MadeEntry { tenant, number });
        let entries = made.collect();
        Self { tenants, entries }
    }

    pub(super) fn scope(&self, tenant: usize) -> Scope {
        Scope {
            tenant: TenantId(format!("tenant{tenant}")),
            user: UserId(USER.into()),
            ..Scope::project(ProjectKey(PROJECT.into()))
        }
    }

    /// Returns the entries in batches of one tenant each, in a random order.
    pub(super) fn batches(&self) -> Vec<&[MadeEntry]> {
        let of_tenants = self.entries.chunk_by(|one, next| one.tenant == next.tenant);
        let mut batches: Vec<&[MadeEntry]> = of_tenants.flat_map(|entries| entries.chunks(BATCH)).collect();
        let mut numbers = RandomNumbers::new(19);
        for at in (1..batches.len()).rev() {
            batches.swap(at, (numbers.next() % (at as u64 + 1)) as usize);
        }
        batches
    }

    pub(super) fn record(&self, entry: MadeEntry) -> Record {
        self.record_by(entry, HostId::from_bytes([7; 16]))
    }

    pub(super) fn record_by(&self, entry: MadeEntry, host: HostId) -> Record {
        let scope = self.scope(entry.tenant);
        let text = entry.text();
        let kept = Kept {
            reference: Reference::from_bits(entry.number),
            kind: EntryKind::Note,
            origin: Origin::User,
            title: format!("entry {}", entry.number),
            source: None,
            note: None,
            text: TextKey::of(text.as_bytes()),
            bytes: text.len() as u64,
        };
        Record {
            id: RecordId { host, index: entry.number },
            time: LogicalTime { millis: MILLIS + entry.number as i64, count: 0 },
            tenant: scope.tenant,
            project: scope.project,
            author: Author { user: scope.user, client: String::new() },
            audience: Audience::Team,
            body: Body::Kept(Box::new(kept)),
        }
    }
}
