//! A page of a download: records with their texts. Invariants: what a page holds in memory is bounded by
//! `MAX_PAGE_BYTES` and its last record, whatever its records consist of; a record that is left out is after the
//! position where the next page begins.

use serde_json::{Map, Value, json};
use weir_core::Scope;
use weir_http::problem::Problem;
use weir_records::{Batch, ErrorKind, PortError, Position, Record, StoredRecord, TextKey};

use crate::service::Service;
use crate::service::problem::invalid;

/// How much one page has, in bytes of JSON: its records and their texts. It ends with the record that exceeds it.
const MAX_PAGE_BYTES: usize = 8 << 20;

/// What a download has collected.
#[derive(Default)]
pub(super) struct Page {
    pub(super) records: Vec<Value>,
    pub(super) texts: Map<String, Value>,
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
        let count = batch.records.len();
        for (number, stored) in batch.records.into_iter().enumerate() {
            let position = stored.position;
            self.add_record(service, scope, stored)?;
            if self.is_full() && number + 1 < count {
                return Ok(position);
            }
        }
        Ok(batch.next)
    }

    fn add_record(&mut self, service: &Service, scope: &Scope, stored: StoredRecord) -> Result<(), Problem> {
        let StoredRecord { position, record } = stored;
        if let Some(kept) = record.body.kept() {
            match text_of(service, scope, &record, &kept.text)? {
                Given::Text(text) => {
                    let bytes = written_bytes(&text);
                    if self.texts.insert(kept.text.to_string(), text.into()).is_none() {
                        self.bytes += bytes;
                    }
                }
                Given::Lost => self.missing.push(kept.text.to_string()),
                // The removal is further on in the log.
                Given::Removed => return Ok(()),
            }
        }
        let written = record.to_json().map_err(|error| service.failure(&error))?;
        let value: Value = serde_json::from_str(&written).map_err(|error| invalid(error.to_string()))?;
        self.bytes += written.len();
        self.records.push(json!({ "seq": position.0, "record": value }));
        Ok(())
    }
}

/// The text of a record.
enum Given {
    Text(String),
    /// It cannot be read any more, or is not text.
    Lost,
    /// The record was removed since it was read.
    Removed,
}

fn text_of(service: &Service, scope: &Scope, record: &Record, key: &TextKey) -> Result<Given, Problem> {
    let found = match service.shelf.ports().blobs.get(scope, key) {
        Ok(Some(text)) => Ok(Some(text)),
        // Asks the log again, since the record may have been removed.
        Ok(None) | Err(PortError { kind: ErrorKind::Damaged, .. }) => service.shelf.text(scope, record.id),
        Err(error) => Err(error),
    };
    match found {
        Ok(Some(text)) => Ok(String::from_utf8(text).map_or(Given::Lost, Given::Text)),
        Ok(None) => Ok(Given::Removed),
        Err(PortError { kind: ErrorKind::Damaged, .. }) => Ok(Given::Lost),
        Err(error) => Err(service.failure(&error)),
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
