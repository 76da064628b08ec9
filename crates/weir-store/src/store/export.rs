//! Exports everything in a store, one record after the other, for use by other programs.

use super::Store;
use crate::blobs::BlobReader;
use crate::error::{Fault, Result, StoreError};
use crate::log::export;
pub use crate::log::export::{ExportedEntry, ExportedEvent};

/// One exported record.
pub enum Exported {
    Event(ExportedEvent),
    /// An entry, with its text or the reason why that cannot be read.
    Entry(Box<ExportedEntry>, Result<BlobReader, StoreError>),
}

impl Store {
    /// Passes every record to `take`, in the order it was stored, until `take` fails. Only one record's text is open at
    /// a time.
    pub fn export<E>(&self, mut take: impl FnMut(Exported) -> Result<(), E>) -> Result<Result<(), E>> {
        const PAGE: usize = 500;
        let mut after = 0;
        loop {
            let page = self.log.read(|c| export::page(c, after, PAGE))?;
            let Some(last) = page.last().map(|(id, _)| *id) else { return Ok(Ok(())) };
            after = last;
            for (id, thing) in page {
                let exported = match thing {
                    export::LogRow::Event(event) => Exported::Event(*event),
                    export::LogRow::Entry(entry, blob_id) => {
                        let find = |c: &rusqlite::Connection| -> Result<_, Fault> {
                            Ok(export::is_there(c, id)?.then_some(((), blob_id)))
                        };
                        match self.blobs.open(&self.log, find) {
                            // Another process has removed the entry since.
                            Ok(None) => continue,
                            Ok(Some(((), text))) => Exported::Entry(entry, Ok(text)),
                            Err(error) => Exported::Entry(entry, Err(error)),
                        }
                    }
                };
                if let Err(error) = take(exported) {
                    return Ok(Err(error));
                }
            }
        }
    }
}
