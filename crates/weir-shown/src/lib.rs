//! The lines that a conversation has been shown, so that they need not be shown again.
//!
//! There is one file per conversation, in the folder `shown` of a store. It has keyed hashes of lines and a label per text,
//! never the lines themselves. The key is random, so that no output can be crafted to pass for another.
//!
//! # Invariants
//!
//! - Lines that cannot be read back count as never shown.
//! - A file has an upper bound. A record is appended with one write, and a file with a torn record is removed.

mod matching;
mod record;

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

pub use matching::Repeat;
use record::{HEADER_BYTES, ShownRecord};
use weir_core::redact::redacted;
use weir_ledger::private;

/// Name of the folder within the store's folder.
const FOLDER: &str = "shown";
/// Maximum size of a file in bytes. A file that reaches it is started over.
const MAX_BYTES: u64 = 4 << 20;
/// A file that has not been written for this long belongs to a conversation that has ended.
const MAX_AGE: Duration = Duration::from_secs(14 * 24 * 60 * 60);

/// The lines that one conversation has been shown.
pub struct ShownLines {
    path: PathBuf,
    key: [u8; blake3::KEY_LEN],
    /// The file's bytes after its header; `None` if there is no file.
    records: Option<Vec<u8>>,
}

/// A text, as hashes of its lines.
pub struct HashedText {
    lines: Vec<u64>,
    /// The position of the end of each line, in bytes.
    ends: Vec<usize>,
}

impl HashedText {
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    pub fn bytes(&self, lines: &std::ops::Range<usize>) -> usize {
        let before = |line: usize| line.checked_sub(1).map_or(0, |last| self.ends[last]);
        before(lines.end) - before(lines.start)
    }
}

impl ShownLines {
    /// Opens the lines shown to a conversation, by its name in the store at `folder`.
    pub fn open(folder: &Path, conversation: &str) -> std::io::Result<Self> {
        let path = path_of(folder, conversation);
        if let Some((key, records)) = read(&path)? {
            return Ok(Self { path, key, records: Some(records) });
        }
        let mut key = [0; blake3::KEY_LEN];
        getrandom::fill(&mut key).map_err(std::io::Error::other)?;
        Ok(Self { path, key, records: None })
    }

    /// Hashes the lines of a text with the key of this conversation.
    pub fn hash(&self, text: &str) -> HashedText {
        let mut end = 0;
        let ends = text.split_inclusive('\n').map(|line| {
            end += line.len();
            end
        });
        let ends = ends.collect();
        let lines = matching::without_numbers(text).into_iter().map(|line| match line.trim_end() {
            // Blank lines are in every text, so they continue a run but never begin one.
            "" => matching::BLANK,
            line => self.short_hash(line) | 1,
        });
        HashedText { lines: lines.collect(), ends }
    }

    pub fn is_empty(&self) -> bool {
        let records = self.records.as_deref().unwrap_or_default();
        !record::all(records).any(|record| matches!(record, ShownRecord::Text(_)))
    }

    /// Returns the runs of at least `least` lines of a text that were shown before, in order and without overlap.
    pub fn repeats(&self, text: &HashedText, least: usize) -> Vec<Repeat> {
        let records = record::live(self.records.as_deref().unwrap_or_default());
        matching::repeats(&records, &text.lines, least)
    }

    /// Returns whether this call was once answered with lines left out.
    pub fn was_shortened(&self, call: &str) -> bool {
        let call = self.short_hash(call);
        let records = self.records.as_deref().unwrap_or_default();
        record::all(records).any(|record| matches!(record, ShownRecord::Shortened(hash) if hash == call))
    }

    /// Records that a text was shown. The label is a phrase that can follow "same as in".
    pub fn add(&mut self, label: &str, text: &HashedText) -> std::io::Result<()> {
        self.append(&ShownRecord::text(&redacted(label), &text.lines).record())
    }

    /// Records that a call was answered with lines left out.
    pub fn add_shortened(&mut self, call: &str) -> std::io::Result<()> {
        let call = self.short_hash(call);
        self.append(&ShownRecord::Shortened(call))
    }

    /// Forgets what was shown under labels that contain this text, because it is about to be needed again word for
    /// word.
    pub fn forget_about(&mut self, part: &str) -> std::io::Result<()> {
        if self.records.is_none() {
            return Ok(());
        }
        self.append(&ShownRecord::Forgotten(&redacted(part)))
    }

    /// Returns how far the conversation's transcript has been searched, or `None` if the last search was of another
    /// transcript.
    pub fn transcript_searched(&self, transcript: &Path) -> Option<u64> {
        let records = self.records.as_deref().unwrap_or_default();
        let searched = record::all(records).filter_map(|record| match record {
            ShownRecord::Searched { transcript, to } => Some((transcript, to)),
            _ => None,
        });
        let (last, to) = searched.last()?;
        (last == self.name_of(transcript)).then_some(to)
    }

    pub fn set_transcript_searched(&mut self, transcript: &Path, to: u64) -> std::io::Result<()> {
        let transcript = self.name_of(transcript);
        self.append(&ShownRecord::Searched { transcript: &transcript, to })
    }

    /// Forgets everything that was shown.
    pub fn restart(&mut self) -> std::io::Result<()> {
        if self.records.take().is_some() {
            remove(&self.path)?;
        }
        Ok(())
    }

    /// Forgets everything that was shown to a conversation.
    pub fn clear(folder: &Path, conversation: &str) -> std::io::Result<()> {
        remove(&path_of(folder, conversation))
    }

    /// Removes the files of conversations that have ended, or of all.
    pub fn tidy(folder: &Path, all: bool) {
        let Ok(files) = std::fs::read_dir(folder.join(FOLDER)) else { return };
        let now = SystemTime::now();
        for file in files.flatten() {
            let written = file.metadata().and_then(|about| about.modified());
            let is_old = written.is_ok_and(|at| now.duration_since(at).is_ok_and(|age| age > MAX_AGE));
            if all || is_old {
                let _ = std::fs::remove_file(file.path());
            }
        }
    }

    fn name_of(&self, transcript: &Path) -> String {
        format!("{:016x}", self.short_hash(&transcript.to_string_lossy()))
    }

    fn short_hash(&self, text: &str) -> u64 {
        let mut first = [0; 8];
        first.copy_from_slice(&blake3::keyed_hash(&self.key, text.as_bytes()).as_bytes()[..8]);
        u64::from_le_bytes(first)
    }

    fn append(&mut self, record: &ShownRecord<'_>) -> std::io::Result<()> {
        let bytes = record.encode();
        let Some(records) = &mut self.records else {
            let whole = [&record::header(&self.key), bytes.as_slice()].concat();
            if let Some(parent) = self.path.parent() {
                private::folder(parent)?;
            }
            // Another hook of the conversation may have been faster. Its key differs from ours, so this text is not
            // recorded.
            match private::open(&self.path, private::options().create_new(true)) {
                Ok(mut file) => file.write_all(&whole)?,
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => return Ok(()),
                Err(error) => return Err(error),
            }
            self.records = Some(bytes);
            return Ok(());
        };
        if records.len() + bytes.len() > MAX_BYTES as usize {
            remove(&self.path)?;
            self.records = None;
            return self.append(record);
        }
        match File::options().append(true).open(&self.path) {
            Ok(mut file) => file.write_all(&bytes)?,
            // Another process has started over, so the records of this one no longer count.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error),
        }
        records.extend(bytes);
        Ok(())
    }
}

/// Removes a file that another process may have removed already.
fn remove(path: &Path) -> std::io::Result<()> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn path_of(folder: &Path, conversation: &str) -> PathBuf {
    let name = blake3::hash(conversation.as_bytes()).to_hex();
    folder.join(FOLDER).join(&name[..32])
}

/// Reads the key and the records of a file. Returns `None` if there is no file, or if it is damaged and had to be
/// removed.
fn read(path: &Path) -> std::io::Result<Option<([u8; blake3::KEY_LEN], Vec<u8>)>> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut header = [0; HEADER_BYTES];
    let begun = file.read_exact(&mut header);
    // Reserve everything at once: growing would copy it several times while a client waits.
    let mut records = Vec::with_capacity(file.metadata()?.len().min(MAX_BYTES + 1) as usize);
    file.take(MAX_BYTES + 1).read_to_end(&mut records)?;
    match record::key(&header).filter(|_| begun.is_ok() && record::is_whole(&records)) {
        Some(key) => Ok(Some((key, records))),
        None => {
            remove(path)?;
            Ok(None)
        }
    }
}

#[cfg(test)]
mod tests;
