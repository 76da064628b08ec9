//! A page of a download: records with their texts. Invariants: what a page holds in memory is bounded by
//! `MAX_PAGE_BYTES`, its last record and one batch of the log, whatever its records consist of; a record that is left
//! out is after the position where the next page begins.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use weir_core::Scope;
use weir_http::problem::Problem;
use weir_records::{Batch, ErrorKind, PortError, Position, Record, Result as PortResult, StoredRecord};

use crate::service::Service;
use crate::service::problem::invalid;

/// How much one page has, in bytes of JSON: its records and their texts. It ends with the record that exceeds it.
const MAX_PAGE_BYTES: usize = 8 << 20;

/// A record with its place in the log.
#[derive(Serialize, JsonSchema)]
pub(super) struct PlacedRecord {
    seq: u64,
    record: Map<String, Value>,
}

/// What a download has collected.
#[derive(Default)]
pub(super) struct Page {
    pub(super) records: Vec<PlacedRecord>,
    pub(super) texts: BTreeMap<String, String>,
    /// The keys of texts that cannot be read any more.
    pub(super) missing: Vec<String>,
    bytes: usize,
}

impl Page {
    /// Returns whether it has as much as a page may have.
    pub(super) fn is_full(&self) -> bool {
        self.bytes > MAX_PAGE_BYTES
    }

    /// Adds records until the page is full, and returns the position after which the next page begins.
    pub(super) fn add(&mut self, service: &Service, scope: &Scope, batch: Batch) -> Result<Position, Problem> {
        let mut rest = batch.records.as_slice();
        while !rest.is_empty() {
            // Their texts are fetched at once, so no more than fit.
            let mut room = MAX_PAGE_BYTES.saturating_sub(self.bytes) as u64;
            let fitting = rest.iter().take_while(|stored| {
                let fits = room > 0;
                room = room.saturating_sub(stored.record.body.kept().map_or(0, |kept| kept.bytes));
                fits
            });
            let (some, others) = rest.split_at(fitting.count().max(1));
            rest = others;
            let records: Vec<&Record> = some.iter().map(|stored| &stored.record).collect();
            let mut texts = service.shelf.texts(scope, &records).into_iter();
            for (number, StoredRecord { position, record }) in some.iter().enumerate() {
                let text = record.body.kept().and_then(|_| texts.next());
                self.add_record(service, *position, record, text)?;
                if self.is_full() && number + 1 < some.len() + rest.len() {
                    return Ok(*position);
                }
            }
        }
        Ok(batch.next)
    }

    fn add_record(
        &mut self,
        service: &Service,
        position: Position,
        record: &Record,
        text: Option<PortResult<Option<Vec<u8>>>>,
    ) -> Result<(), Problem> {
        if let (Some(kept), Some(text)) = (record.body.kept(), text) {
            let key = kept.text.to_string();
            match text.map(|text| text.map(String::from_utf8)) {
                Ok(Some(Ok(text))) => {
                    let bytes = written_bytes(&text);
                    if self.texts.insert(key, text).is_none() {
                        self.bytes += bytes;
                    }
                }
                // It cannot be read any more, or is not text.
                Ok(Some(Err(_))) | Err(PortError { kind: ErrorKind::Damaged, .. }) => self.missing.push(key),
                // The record was removed since it was read. The removal is further on in the log.
                Ok(None) => return Ok(()),
                Err(error) => return Err(service.failure(&error)),
            }
        }
        let written = record.to_json().map_err(|error| service.failure(&error))?;
        let record = serde_json::from_str(&written).map_err(|error| invalid(error.to_string()))?;
        self.bytes += written.len();
        self.records.push(PlacedRecord { seq: position.0, record });
        Ok(())
    }
}

/// Returns how many bytes a text has in an answer, where control characters are written as up to six.
fn written_bytes(text: &str) -> usize {
    let width = |byte: u8| -> usize {
        match byte {
            b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 2,
            0..0x20 => 6,
            _ => 1,
        }
    };
    text.bytes().map(width).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_counts_as_many_bytes_as_its_json_has_between_the_quotes() {
        let every: String = (0..0x100).filter_map(char::from_u32).collect();
        for text in ["", "plain", "\"quoted\" and \\", "é…\u{2028}", &every] {
            assert_eq!(written_bytes(text) + 2, serde_json::to_string(text).unwrap().len(), "{text:?}");
        }
    }
}
