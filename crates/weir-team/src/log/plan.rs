//! Decides what an append writes, from what the log has. Pure: it sees no connection, so that what is in the log cannot
//! change meanwhile. The rules themselves are those of `weir_records::Record`.

use std::collections::BTreeMap;

use weir_records::sealed::GRANTS;
use weir_records::{Body, Imprint, KnownContent, Position, Record, RecordId, Result};

/// What the log has that matters for an append.
#[derive(Debug, Default)]
pub(super) struct LogState {
    /// The position of the project's newest record.
    pub(super) head: Position,
    /// What the tenant has under the ids of the new records, and of those that they remove.
    pub(super) known: BTreeMap<RecordId, KnownRecord>,
    /// The records of the project that are about the new ones or about its keys, by what they are about.
    pub(super) earlier: BTreeMap<RecordId, Vec<Record>>,
}

/// A record that the tenant has.
#[derive(Debug)]
pub(super) struct KnownRecord {
    pub(super) position: Position,
    /// Whether it belongs to the project of the call.
    pub(super) is_here: bool,
    /// Its JSON, unless it is erased.
    pub(super) json: Option<String>,
    /// Its imprint, if it is erased and that is known.
    pub(super) imprint: Option<Imprint>,
}

impl KnownRecord {
    /// Checks that a record with the same id is the same record, by its JSON.
    fn check(&self, id: RecordId, json: &str) -> Result<()> {
        let known = match self.is_here {
            true => KnownContent::of_row(self.json.as_deref(), self.imprint),
            false => KnownContent::Elsewhere,
        };
        known.check_same(id, json)
    }
}

/// What an append writes.
#[derive(Debug, Default)]
pub(super) struct AppendPlan<'a> {
    /// The position of each record of the call, new or not.
    pub(super) positions: Vec<Position>,
    /// The records that are new, in the order of their positions.
    pub(super) rows: Vec<NewRow<'a>>,
    /// The stored records to be erased.
    pub(super) erased: Vec<ErasedRow>,
    /// The records that the new ones remove, stored or not, each after what the audit calls that.
    pub(super) removed: Vec<(&'static str, RecordId)>,
    /// The bytes of the stored records to be erased.
    pub(super) erased_bytes: u64,
}

/// A record to be added.
#[derive(Debug)]
pub(super) struct NewRow<'a> {
    pub(super) position: Position,
    pub(super) record: &'a Record,
    /// Its JSON, or none if it was removed before it arrived.
    pub(super) json: Option<String>,
    pub(super) imprint: Imprint,
}

/// A stored record to be erased, and what stays of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ErasedRow {
    pub(super) position: Position,
    pub(super) imprint: Imprint,
}

/// Decides what appending these records writes. All of them belong to one project.
pub(super) fn plan(records: &[Record], mut log: LogState) -> Result<AppendPlan<'_>> {
    let mut plan = AppendPlan::default();
    for record in records {
        let position = plan.add(&mut log, record)?;
        plan.positions.push(position);
    }
    Ok(plan)
}

impl<'a> AppendPlan<'a> {
    /// Returns by how many bytes the project grows; less than zero if more is erased than added.
    pub(super) fn growth(&self) -> i64 {
        let size = |row: &NewRow<'_>| row.json.as_deref().map_or(0, |json| row.record.stored_bytes(json));
        let added = self.rows.iter().map(size).fold(0, u64::saturating_add);
        let signed = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
        signed(added).saturating_sub(signed(self.erased_bytes))
    }

    fn add(&mut self, log: &mut LogState, record: &'a Record) -> Result<Position> {
        let json = record.to_json()?;
        if let Some(known) = log.known.get(&record.id) {
            known.check(record.id, &json)?;
            return Ok(known.position);
        }
        let imprint = Imprint::of(&json);
        record.check_sealed(log.earlier.get(&GRANTS).into_iter().flatten())?;
        if let Body::Removed { record: target, .. } = &record.body {
            self.erase(log, record, *target)?;
            self.removed.extend(record.body.removal());
        }
        let mut earlier = log.earlier.get(&record.id).into_iter().flatten();
        let json = if earlier.any(|earlier| earlier.erases_on_arrival(record)) { None } else { Some(json) };
        let position = Position(log.head.0 + 1);
        log.head = position;
        let known = KnownRecord { position, is_here: true, json: json.clone(), imprint: Some(imprint) };
        log.known.insert(record.id, known);
        if let Some(about) = record.body.about() {
            log.earlier.entry(about).or_default().push(record.clone());
        }
        self.rows.push(NewRow { position, record, json, imprint });
        Ok(position)
    }

    /// Erases the record that `removal` removes, if the log has it or this append adds it.
    fn erase(&mut self, log: &mut LogState, removal: &Record, target: RecordId) -> Result<()> {
        let Some(known) = log.known.get_mut(&target).filter(|known| known.is_here) else { return Ok(()) };
        let Some(json) = known.json.take() else { return Ok(()) };
        let erased = Record::from_json(&json)?;
        removal.check_removal_of(&erased)?;
        let imprint = Imprint::of(&json);
        known.imprint = Some(imprint);
        match self.rows.iter_mut().find(|row| row.record.id == target) {
            Some(row) => row.json = None,
            None => {
                self.erased.push(ErasedRow { position: known.position, imprint });
                self.erased_bytes = self.erased_bytes.saturating_add(erased.stored_bytes(&json));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
