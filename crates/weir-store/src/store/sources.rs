//! Keeps texts that come from somewhere they can be read again: files and pages. Invariant: each source has one entry;
//! a newer text takes the place of the older one in the same transaction.

use weir_core::{EntryKind, NewEntry, Scope, Timestamp, WhyGone};

use super::keep::{self, Taken, redact_labels, redact_text};
use super::{Kept, Store};
use crate::blobs::Staged;
use crate::db::Durability;
use crate::error::{Fault, Result};
use crate::log::retention::{self, Removed};
use crate::log::sources::{self, KnownFile, PageState, Stamp, TextInFile, Validators};

/// A file to be kept.
#[derive(Debug, Clone)]
pub struct NewFile {
    /// The entry; its source is the name it is found under.
    pub entry: NewEntry,
    /// What the file is like.
    pub stamp: Stamp,
}

impl Store {
    /// Where the newest entries came from, newest first and each once; titles for those without a source.
    pub fn sources(&self, scope: &Scope) -> Result<Vec<String>> {
        let place = self.place(scope)?;
        self.log.read(|c| sources::newest(c, place))
    }

    /// The files kept at a source or below it. One whose text is lost has a stamp that no file has, so that it is read
    /// again.
    pub fn known_files(&self, scope: &Scope, under: &str) -> Result<Vec<KnownFile>> {
        self.check_scope(scope)?;
        let mut known = self.log.read(|c| sources::files(c, under))?;
        for (file, text) in &mut known {
            if text.as_ref().is_some_and(|text| !self.blobs.is_whole(&text.hash, text.stored)) {
                file.stamp = Stamp { bytes: u64::MAX, modified: 0, hash: String::new() };
            }
        }
        Ok(known.into_iter().map(|(file, _)| file).collect())
    }

    /// Keeps files as documents, all in one transaction, each in place of the former one of its source. They are made
    /// searchable by [`Self::catch_up`].
    pub fn keep_files(&mut self, scope: &Scope, files: Vec<NewFile>, now: Timestamp) -> Result<Vec<Kept>> {
        let mut ready = Vec::with_capacity(files.len());
        for NewFile { mut entry, stamp } in files {
            entry.kind = EntryKind::Document;
            self.check_level(scope, &entry)?;
            redact_labels(&mut entry);
            let redactions = redact_text(&mut entry);
            let staged = self.blobs.stage(&entry.text)?;
            entry.text = Vec::new();
            ready.push(Ready { entry, stamp, staged, redactions });
        }
        let kept = self.take_files(scope, &ready, now)?;
        let settle = |(taken, ready): (Taken, Ready)| self.settle(taken, ready.redactions, false, now);
        Ok(kept.into_iter().zip(ready).map(settle).collect())
    }

    fn take_files(&mut self, scope: &Scope, files: &[Ready], now: Timestamp) -> Result<Vec<Taken>> {
        let own = self.own_scope(scope);
        let (blobs, limits) = (&self.blobs, &self.limits);
        let mut removed = Removed::default();
        // Documents wait for the disk: once for all files of a transaction.
        let taken = self.log.write(Durability::Power, |tx| -> Result<_, Fault> {
            let mut all = Vec::with_capacity(files.len());
            for file in files {
                let source = file.entry.source.as_deref().unwrap_or_default();
                let former = sources::release_file(tx, source)?;
                removed += retention::remove(tx, blobs, former.as_slice(), WhyGone::Replaced, now)?;
                let parts = (&file.staged, file.redactions.as_slice());
                let taken = keep::insert((tx, blobs, limits), &own, &file.entry, parts, now)?;
                sources::set_file(tx, source, taken.id, &file.stamp)?;
                all.push(taken);
            }
            blobs.settle()?;
            Ok(all)
        })?;
        self.remove_files(&removed)?;
        Ok(taken)
    }

    /// Notes that files are the same although they look newer.
    pub fn restamp_files(&mut self, files: &[(String, Stamp)]) -> Result<()> {
        self.log.write(Durability::Process, |tx| {
            files.iter().try_for_each(|(source, stamp)| sources::restamp(tx, source, stamp))
        })
    }

    /// Drops files that are gone. Returns how many were known.
    pub fn drop_files(&mut self, scope: &Scope, gone: &[String], now: Timestamp) -> Result<usize> {
        self.check_scope(scope)?;
        self.remove(WhyGone::Replaced, now, |tx| {
            let ids = gone.iter().map(|source| sources::release_file(tx, source));
            Ok(ids.collect::<rusqlite::Result<Vec<_>>>()?.into_iter().flatten().collect())
        })
    }

    /// The page kept of a URL, if its text is still there.
    pub fn page(&self, scope: &Scope, url: &str) -> Result<Option<PageState>> {
        self.check_scope(scope)?;
        let page = self.log.read(|c| sources::page(c, url))?;
        let is_whole = |text: &TextInFile| self.blobs.is_whole(&text.hash, text.stored);
        Ok(page.filter(|(_, text)| text.as_ref().is_none_or(is_whole)).map(|(page, _)| page))
    }

    /// Keeps a page in place of the former one of this URL.
    pub fn keep_page(
        &mut self,
        scope: &Scope,
        (url, mut entry): (&str, NewEntry),
        validators: &Validators,
        now: Timestamp,
    ) -> Result<Kept> {
        self.check_level(scope, &entry)?;
        redact_labels(&mut entry);
        let redactions = redact_text(&mut entry);
        let staged = self.blobs.stage(&entry.text)?;
        let own = self.own_scope(scope);
        let (blobs, limits) = (&self.blobs, &self.limits);
        let (taken, removed) = self.log.write(Durability::Process, |tx| -> Result<_, Fault> {
            let former = sources::release_page(tx, url)?;
            let removed = retention::remove(tx, blobs, former.as_slice(), WhyGone::Replaced, now)?;
            let taken = keep::insert((tx, blobs, limits), &own, &entry, (&staged, &redactions), now)?;
            sources::set_page(tx, url, taken.id, validators, now)?;
            blobs.settle()?;
            Ok((taken, removed))
        })?;
        self.remove_files(&removed)?;
        Ok(self.settle(taken, redactions, true, now))
    }

    /// Notes that a page is what it was.
    pub fn page_is_unchanged(&mut self, scope: &Scope, url: &str, now: Timestamp) -> Result<()> {
        self.check_scope(scope)?;
        self.log.write(Durability::Process, |tx| sources::check_page(tx, url, now))
    }
}

/// A file made ready for the store.
struct Ready {
    entry: NewEntry,
    stamp: Stamp,
    staged: Staged,
    redactions: Vec<(&'static str, u64)>,
}
