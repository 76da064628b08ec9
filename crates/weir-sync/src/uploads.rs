//! Sends the records that wait, in batches. Invariants: a record counts as tried before it is sent; each batch is sent
//! or made smaller, and what the server refuses is not sent again, so that sending ends.

use std::collections::BTreeMap;

use weir_host::error::CommandError;
use weir_records::TextKey;
use weir_store::{TeamKind, TeamRecord, TeamState};

use super::exchange::{Exchange, Step};
use super::outbox::sent_bytes;
use super::sealing::is_sealed;
use super::server::{RefusedRecord, Server, Uploaded};

/// How many records are sent at once, and how many bytes with their texts. A single record may have more.
const MAX_SENT_RECORDS: usize = 200;
const MAX_SENT_BYTES: usize = 2 << 20;

impl Exchange<'_> {
    pub(super) fn send(&mut self, server: &dyn Server) -> Result<Step, CommandError> {
        let mut limits = BatchLimits { records: MAX_SENT_RECORDS, only_removals: false };
        self.report.unsent = None;
        loop {
            let batch = self.next_batch(limits)?;
            if batch.rows.is_empty() {
                return Ok(Step::Done);
            }
            for row in &batch.rows {
                self.ledger.change(&row.id, |row| row.state = TeamState::Tried);
            }
            self.ledger.save()?;
            let records: Vec<&str> = batch.rows.iter().filter_map(|row| row.json.as_deref()).collect();
            match server.upload(&records, &batch.texts)? {
                Uploaded::Taken => self.settle(&batch.rows, &[]),
                Uploaded::Cloned => return Ok(Step::Cloned),
                Uploaded::Forbidden(error) => {
                    self.report.unsent = Some(error.message);
                    if limits.only_removals {
                        return Ok(Step::Done);
                    }
                    // A server takes them over its quota too, and they are what makes room.
                    limits.only_removals = true;
                }
                Uploaded::TooLarge => match batch.rows.as_slice() {
                    [only] => self.refuse(&only.id, "the server takes no records of this size"),
                    rows => limits.records = rows.len() / 2,
                },
                Uploaded::Refused { count, named } => {
                    // Only what was sent can be refused.
                    let is_sent = |one: &&RefusedRecord| batch.rows.iter().any(|row| row.id == one.id);
                    let named: Vec<&RefusedRecord> = named.iter().filter(is_sent).collect();
                    let ids: Vec<&str> = named.iter().map(|one| one.id.as_str()).collect();
                    for one in &named {
                        self.refuse(&one.id, &one.reason);
                    }
                    if count <= named.len() as u64 {
                        self.settle(&batch.rows, &ids);
                    } else if !batch.rows.iter().any(|row| ids.contains(&row.id.as_str())) {
                        // Otherwise the same would be sent for ever.
                        batch.rows.iter().for_each(|row| self.refuse(&row.id, "the server refused it"));
                    }
                }
            }
            self.ledger.save()?;
        }
    }

    fn settle(&mut self, rows: &[TeamRecord], refused: &[&str]) {
        for row in rows.iter().filter(|row| !refused.contains(&row.id.as_str())) {
            self.ledger.change(&row.id, |row| row.state = TeamState::Sent);
            self.report.sent += 1;
        }
    }

    pub(super) fn refuse(&mut self, id: &str, reason: &str) {
        let mut entry = None;
        self.ledger.change(id, |row| {
            (row.state, row.problem) = (TeamState::Refused, Some(reason.to_owned()));
            entry = row.reference;
        });
        let what = entry.map_or_else(|| format!("record {id}"), |reference| reference.to_string());
        self.report.refused.push(format!("{what}: {reason}"));
    }

    /// Returns the next records to send, with their texts. One whose text differs now is refused. One whose entry is
    /// gone waits for the next exchange, which follows what was forgotten.
    fn next_batch(&mut self, limits: BatchLimits) -> Result<Batch, CommandError> {
        let mut batch = Batch::default();
        let (mut bytes, mut next) = (0, 0);
        while batch.rows.len() < limits.records
            && let Some((place, row)) = self.ledger.to_send_from(next)
        {
            let row = row.clone();
            next = place + 1;
            let Some(json) = &row.json else { continue };
            if !self.may_leave(&row) || (limits.only_removals && row.kind != TeamKind::Removed) {
                continue;
            }
            let text = row.reference.map(|reference| self.text_of(reference)).transpose()?.flatten();
            if row.reference.is_some() && text.is_none() {
                continue;
            }
            // What is sealed has its text in it.
            let text = text.filter(|_| !is_sealed(json));
            let size = json.len() + text.as_deref().map_or(0, sent_bytes);
            if bytes + size > MAX_SENT_BYTES && !batch.rows.is_empty() {
                break;
            }
            if let Some(text) = text {
                let key = TextKey::of(text.as_bytes()).to_string();
                if !json.contains(&key) {
                    self.refuse(&row.id, "its text is redacted differently now; write it again");
                    continue;
                }
                batch.texts.insert(key, text);
            }
            bytes += size;
            batch.rows.push(row);
        }
        self.ledger.save()?;
        Ok(batch)
    }
}

/// What a batch may have.
#[derive(Clone, Copy)]
struct BatchLimits {
    records: usize,
    /// Whether everything but removals stays here.
    only_removals: bool,
}

#[derive(Default)]
struct Batch {
    rows: Vec<TeamRecord>,
    texts: BTreeMap<String, String>,
}
