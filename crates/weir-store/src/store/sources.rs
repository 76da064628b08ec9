//! Keeps texts whose source can be read again: files and pages. Invariant: each source has one entry, which a newer
//! text replaces in the same transaction.

use weir_core::{EntryKind, NewEntry, Scope, Timestamp, WhyGone};

use super::keep::{EntryWriter, InsertedEntry};
use super::{Kept, Store, redacted_text};
use crate::blobs::FinishedText;
use crate::db::Durability;
use crate::error::{Fault, Result};
use crate::log::retention::{self, Removal};
use crate::log::sources::{self, KnownFile, PageState, Stamp, TextInFile, Validators};

#[derive(Debug, Clone)]
pub struct NewFile {
    /// The entry. Its source is the name under which the file is found.
    pub entry: NewEntry,
    /// The size, modification time and hash of the file.
    pub stamp: Stamp,
}

#[derive(Debug)]
pub struct NewPage<'a> {
    /// The URL under which the page is found.
    pub url: &'a str,
    pub entry: NewEntry,
    /// What the server needs to decide whether the page has changed.
    pub validators: &'a Validators,
}

impl Store {
    /// Returns the sources of the newest entries, newest first and without repeats. Entries without a source are listed
    /// by title.
    pub fn sources(&self, scope: &Scope) -> Result<Vec<String>> {
        let scope_ids = self.scope_ids(scope)?;
        self.log.read(|c| sources::newest(c, scope_ids))
    }

    /// Returns the name under which a source is stored, which has no secrets.
    pub fn source_name(source: &str) -> String {
        redacted_text(source)
    }

    /// Returns the files kept at a source or below it. A file whose text is lost gets a stamp that matches no file, so
    /// that it is read again.
    pub fn known_files(&self, scope: &Scope, under: &str) -> Result<Vec<KnownFile>> {
        self.check_scope(scope)?;
        let mut known = self.log.read(|c| sources::files(c, under))?;
        for (file, text) in &mut known {
            if text.as_ref().is_some_and(|text| self.is_lost(text)) {
                file.stamp = Stamp { bytes: u64::MAX, modified: 0, hash: String::new() };
            }
        }
        Ok(known.into_iter().map(|(file, _)| file).collect())
    }

    /// Keeps files as documents in one transaction. Each replaces the previous document of its source. They become
    /// searchable with [`Self::catch_up`].
    pub fn keep_files(&mut self, scope: &Scope, files: Vec<NewFile>, now: Timestamp) -> Result<Vec<Kept>> {
        let mut ready = Vec::with_capacity(files.len());
        for NewFile { mut entry, stamp } in files {
            entry.kind = EntryKind::Document;
            let text = self.finished(scope, &mut entry)?;
            entry.text = Vec::new();
            ready.push(PreparedFile { entry, stamp, text });
        }
        let kept = self.take_files(scope, &ready, now)?;
        let after_insert =
            |(taken, ready): (InsertedEntry, PreparedFile)| self.after_insert(taken, ready.text.redactions, false, now);
        Ok(kept.into_iter().zip(ready).map(after_insert).collect())
    }

    fn take_files(&mut self, scope: &Scope, files: &[PreparedFile], now: Timestamp) -> Result<Vec<InsertedEntry>> {
        let own = self.own_scope(scope);
        let (blobs, limits) = (&self.blobs, &self.limits);
        let mut removed = Removal::default();
        // Documents wait for the disk, but only once for all files of a transaction.
        let taken = self.log.write(Durability::Power, |tx| -> Result<_, Fault> {
            let mut all = Vec::with_capacity(files.len());
            for file in files {
                let source = file.entry.source.as_deref().unwrap_or_default();
                let former = sources::release_file(tx, source)?;
                removed += retention::remove(tx, blobs, former.as_slice(), WhyGone::Replaced, now)?;
                let taken = EntryWriter { tx, blobs, limits }.insert(&own, &file.entry, &file.text, now)?;
                sources::set_file(tx, source, taken.id, &file.stamp)?;
                all.push(taken);
            }
            blobs.sync_names()?;
            Ok(all)
        })?;
        self.remove_files(&removed)?;
        Ok(taken)
    }

    /// Records the new stamps of files whose contents have not changed.
    pub fn restamp_files(&mut self, files: &[(String, Stamp)]) -> Result<()> {
        self.log.write(Durability::Process, |tx| {
            files.iter().try_for_each(|(source, stamp)| sources::restamp(tx, source, stamp))
        })
    }

    /// Removes files that no longer exist. Returns how many of them were known.
    pub fn drop_files(&mut self, scope: &Scope, gone: &[String], now: Timestamp) -> Result<usize> {
        self.check_scope(scope)?;
        self.remove(WhyGone::Replaced, now, |tx, _| {
            let ids = gone.iter().map(|source| sources::release_file(tx, source));
            Ok(ids.collect::<rusqlite::Result<Vec<_>>>()?.into_iter().flatten().collect())
        })
    }

    /// Returns the page kept for a URL, unless its text is lost.
    pub fn page(&self, scope: &Scope, url: &str) -> Result<Option<PageState>> {
        self.check_scope(scope)?;
        let key = page_key(url);
        let page = self.log.read(|c| sources::page(c, &key))?;
        Ok(page.filter(|(_, text)| !text.as_ref().is_some_and(|text| self.is_lost(text))).map(|(page, _)| page))
    }

    fn is_lost(&self, text: &TextInFile) -> bool {
        matches!(self.blobs.check_file(&text.hash, text.stored), Ok(Some(_)))
    }

    /// Keeps a page, replacing the previous one of this URL.
    pub fn keep_page(&mut self, scope: &Scope, page: NewPage<'_>, now: Timestamp) -> Result<Kept> {
        let NewPage { url, mut entry, validators } = page;
        let key = page_key(url);
        let text = self.finished(scope, &mut entry)?;
        let own = self.own_scope(scope);
        let (blobs, limits) = (&self.blobs, &self.limits);
        let (taken, removed) = self.log.write(Durability::Process, |tx| -> Result<_, Fault> {
            // Earlier versions did not redact the URL.
            let former = [sources::release_page(tx, &key)?, sources::release_page(tx, url)?];
            let former: Vec<i64> = former.into_iter().flatten().collect();
            let removed = retention::remove(tx, blobs, &former, WhyGone::Replaced, now)?;
            let taken = EntryWriter { tx, blobs, limits }.insert(&own, &entry, &text, now)?;
            sources::set_page(tx, &key, taken.id, validators, now)?;
            blobs.sync_names()?;
            Ok((taken, removed))
        })?;
        self.remove_files(&removed)?;
        Ok(self.after_insert(taken, text.redactions, true, now))
    }

    /// Records that a page has not changed.
    pub fn page_is_unchanged(&mut self, scope: &Scope, url: &str, now: Timestamp) -> Result<()> {
        self.check_scope(scope)?;
        let key = page_key(url);
        self.log.write(Durability::Process, |tx| sources::check_page(tx, &key, now))
    }
}

struct PreparedFile {
    entry: NewEntry,
    stamp: Stamp,
    text: FinishedText,
}

/// Returns the name under which the page of a URL is found. A URL with a secret is redacted, with a hash that tells it
/// from the same URL with another secret.
fn page_key(url: &str) -> String {
    let redacted = redacted_text(url);
    if redacted == url {
        return redacted;
    }
    format!("{redacted} {}", &blake3::hash(url.as_bytes()).to_hex()[..32])
}
