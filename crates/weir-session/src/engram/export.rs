//! Reads what `engram export` writes: one JSON object with lists of sessions, observations and prompts.
//!
//! Invariants: an export is untrusted text; rows are read one after the other, and none of more than `MAX_ROW_BYTES`
//! is held in memory; a row that does not fit is passed on as such, with its place.

use std::cell::Cell;
use std::fmt;
use std::io::{self, Read};
use std::ops::ControlFlow;

use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::Value;
use weir_core::Timestamp;
use weir_host::when;

const MAX_ROW_BYTES: usize = 32 << 20;
/// How much of a file is read to see whether it is an export, in bytes.
const MAX_SNIFFED_BYTES: u64 = 64 << 10;

#[derive(Debug, serde::Deserialize)]
pub struct SessionRow {
    /// Its key.
    pub id: String,
    pub project: Option<String>,
    pub directory: Option<String>,
    started_at: Option<String>,
    ended_at: Option<String>,
    /// What the model wrote at its end.
    pub summary: Option<String>,
}

/// An observation of an export: what a model saved.
#[derive(Debug, serde::Deserialize)]
pub struct ObservationRow {
    id: Option<i64>,
    sync_id: Option<String>,
    pub session_id: Option<String>,
    #[serde(rename = "type")]
    pub kind: String,
    pub title: String,
    pub content: String,
    pub project: Option<String>,
    /// Who it is for: `project` or `personal`.
    pub scope: Option<String>,
    pub topic_key: Option<String>,
    revision_count: Option<i64>,
    created_at: Option<String>,
    updated_at: Option<String>,
    deleted_at: Option<String>,
}

/// A prompt of an export: what the user asked for.
#[derive(Debug, serde::Deserialize)]
pub struct PromptRow {
    id: Option<i64>,
    sync_id: Option<String>,
    pub session_id: Option<String>,
    /// The user's words.
    pub content: String,
    pub project: Option<String>,
    created_at: Option<String>,
    deleted_at: Option<String>,
}

impl SessionRow {
    pub fn began(&self) -> Option<Timestamp> {
        time(self.started_at.as_deref())
    }

    pub fn ended(&self) -> Option<Timestamp> {
        time(self.ended_at.as_deref())
    }
}

impl ObservationRow {
    pub fn key(&self) -> Option<String> {
        key(self.sync_id.as_deref(), self.id, [self.session_id.as_deref(), self.created_at.as_deref()])
    }

    pub fn written(&self) -> Option<Timestamp> {
        let created = time(self.created_at.as_deref());
        match self.revision_count {
            Some(2..) => self.changed().or(created),
            _ => created,
        }
    }

    /// Returns when it was last changed, which includes that it was saved again.
    pub fn changed(&self) -> Option<Timestamp> {
        time(self.updated_at.as_deref()).or_else(|| time(self.created_at.as_deref()))
    }

    pub fn is_deleted(&self) -> bool {
        is_set(self.deleted_at.as_deref())
    }
}

impl PromptRow {
    pub fn key(&self) -> Option<String> {
        key(self.sync_id.as_deref(), self.id, [self.session_id.as_deref(), self.created_at.as_deref()])
    }

    pub fn written(&self) -> Option<Timestamp> {
        time(self.created_at.as_deref())
    }

    pub fn is_deleted(&self) -> bool {
        is_set(self.deleted_at.as_deref())
    }
}

/// Returns the name of a row. Numbers repeat between databases, so a number alone does not name a row.
fn key(sync_id: Option<&str>, id: Option<i64>, others: [Option<&str>; 2]) -> Option<String> {
    if let Some(sync_id) = sync_id.filter(|sync_id| !sync_id.trim().is_empty()) {
        return Some(sync_id.to_owned());
    }
    let [session, created] = others.map(Option::unwrap_or_default);
    id.map(|id| format!("{id} {session} {created}"))
}

/// Returns a time as engram writes it: as `2026-01-31 12:00:00` in UTC, or with a zone.
fn time(text: Option<&str>) -> Option<Timestamp> {
    text.and_then(|text| when::absolute(text.trim()))
}

fn is_set(text: Option<&str>) -> bool {
    text.is_some_and(|text| !text.trim().is_empty())
}

/// A list of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Section {
    Sessions,
    Observations,
    Prompts,
}

impl Section {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sessions => "sessions",
            Self::Observations => "observations",
            Self::Prompts => "prompts",
        }
    }

    fn parse(name: &str) -> Option<Self> {
        [Self::Sessions, Self::Observations, Self::Prompts].into_iter().find(|section| section.as_str() == name)
    }
}

/// A row of an export, with its place.
pub struct ExportRow {
    pub section: Section,
    /// Its position in the list, from 0.
    pub position: u64,
    value: Value,
}

impl ExportRow {
    /// Returns the fields of the row, or `None` if it has others.
    pub fn parse<T: DeserializeOwned>(self) -> Option<T> {
        serde_json::from_value(self.value).ok()
    }
}

/// Whether a file begins like an export: an object that says when it was exported before its first list.
pub fn is_export(input: impl Read) -> bool {
    let is_one = Cell::new(false);
    let head = Head { is_one: &is_one };
    // Reading stops with an error at the first list, or where the part that is read ends.
    let _ = serde_json::Deserializer::from_reader(input.take(MAX_SNIFFED_BYTES)).deserialize_map(head);
    is_one.get()
}

/// Passes the rows of an export to `take`, until it breaks.
pub fn read(input: impl Read, take: &mut dyn FnMut(ExportRow) -> ControlFlow<()>) -> io::Result<()> {
    let (room, is_over) = (Cell::new(MAX_ROW_BYTES), Cell::new(false));
    let rows = Lists { room: &room, is_over: &is_over, take };
    let read = serde_json::Deserializer::from_reader(Limited { input, room: &room }).deserialize_map(rows);
    match read {
        Err(_) if is_over.get() => Ok(()),
        Err(error) => Err(error.into()),
        Ok(()) => Ok(()),
    }
}

/// Fails when more is read than there is room for.
struct Limited<'a, R> {
    input: R,
    room: &'a Cell<usize>,
}

impl<R: Read> Read for Limited<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        let left = self.room.get().checked_sub(read);
        self.room.set(left.ok_or_else(|| {
            let text = format!("a row is longer than {} MiB", MAX_ROW_BYTES >> 20);
            io::Error::new(io::ErrorKind::InvalidData, text)
        })?);
        Ok(read)
    }
}

/// Looks at the fields of an object up to its first list.
struct Head<'a> {
    is_one: &'a Cell<bool>,
}

impl<'de> Visitor<'de> for Head<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an engram export")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut is_dated = false;
        while let Some(key) = map.next_key::<String>()? {
            if Section::parse(&key).is_some() {
                self.is_one.set(is_dated);
                return Err(A::Error::custom("the first list"));
            }
            is_dated |= key == "exported_at";
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

struct Lists<'a> {
    /// How many bytes may be read for the current row.
    room: &'a Cell<usize>,
    /// Whether the caller wants no more rows.
    is_over: &'a Cell<bool>,
    take: &'a mut dyn FnMut(ExportRow) -> ControlFlow<()>,
}

impl<'de> Visitor<'de> for Lists<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an engram export")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { room, is_over, take } = self;
        while let Some(key) = map.next_key::<String>()? {
            if let Some(section) = Section::parse(&key) {
                map.next_value_seed(Rows { section, room, is_over, take: &mut *take })?;
            } else {
                // What is passed over is not held in memory.
                room.set(usize::MAX);
                map.next_value::<IgnoredAny>()?;
            }
            room.set(MAX_ROW_BYTES);
        }
        Ok(())
    }
}

struct Rows<'a> {
    section: Section,
    room: &'a Cell<usize>,
    is_over: &'a Cell<bool>,
    take: &'a mut dyn FnMut(ExportRow) -> ControlFlow<()>,
}

impl<'de> DeserializeSeed<'de> for Rows<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Rows<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a list of {}", self.section.as_str())
    }

    /// An empty list is written as null.
    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Self { section, room, is_over, take } = self;
        let mut position = 0;
        loop {
            room.set(MAX_ROW_BYTES);
            let Some(value) = list.next_element::<Value>()? else { return Ok(()) };
            if take(ExportRow { section, position, value }).is_break() {
                is_over.set(true);
                return Err(A::Error::custom("no more rows are wanted"));
            }
            position += 1;
        }
    }
}

#[cfg(test)]
mod tests;
