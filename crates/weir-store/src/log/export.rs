//! Reads the log from its beginning, page by page.

use rusqlite::{Connection, params};
use weir_ledger::Sql as _;

#[derive(Debug, Clone)]
pub struct ExportedEvent {
    /// The position of the event in the order.
    pub id: i64,
    /// The time, in milliseconds since 1970.
    pub at: i64,
    pub session: Option<(String, String)>,
    pub work: Option<String>,
    pub kind: String,
    pub priority: String,
    /// The event in one sentence.
    pub text: String,
    /// Details, as JSON.
    pub data: Option<String>,
    /// The reference of the event's entry and why it is gone, if it is.
    pub gone: Option<(String, String)>,
}

#[derive(Debug, Clone)]
pub struct ExportedEntry {
    pub event: ExportedEvent,
    pub reference: String,
    pub kind: String,
    /// Who wrote the text.
    pub origin: String,
    /// How far the entry is visible.
    pub level: String,
    pub title: String,
    pub source: Option<String>,
    pub redactions: i64,
    /// Whether a note keeps the entry from expiring.
    pub pinned: bool,
    /// When the entry expires, in milliseconds since 1970.
    pub expires_at: Option<i64>,
    pub note: Option<ExportedNote>,
    pub run: Option<ExportedRun>,
}

/// The fields that make an entry a note.
#[derive(Debug, Clone)]
pub struct ExportedNote {
    pub kind: String,
    pub topic: Option<String>,
    pub revision: i64,
    pub superseded_by: Option<String>,
    pub commit: Option<String>,
    pub branch: Option<String>,
    /// When the user confirmed the note, in milliseconds since 1970.
    pub confirmed_at: Option<i64>,
    /// The files that the note is bound to, with the hashes of their content.
    pub files: Vec<(String, String)>,
    pub cites: Vec<String>,
}

#[derive(Debug, Clone)]
pub struct ExportedRun {
    pub exit_code: Option<i64>,
    pub signal: Option<i64>,
    /// The duration, in milliseconds.
    pub millis: i64,
    pub sandbox: String,
    pub ended: String,
}

/// One row of the log, with the id of its text if it is an entry.
pub(crate) enum LogRow {
    Event(Box<ExportedEvent>),
    Entry(Box<ExportedEntry>, i64),
}

/// Returns the next rows after an id, with their ids. The event that kept an entry is left out if the entry is gone;
/// the event that it is gone is not.
pub(crate) fn page(db: &Connection, after: i64, most: usize) -> rusqlite::Result<Vec<(i64, LogRow)>> {
    let mut statement = db.prepare_cached(
        "SELECT v.id, v.at, s.client, s.key, w.name, v.kind, v.priority, v.text, v.data, g.reference, g.why,
             e.reference, e.kind, e.origin, e.level, e.title, e.source, e.redactions, e.pinned, e.expires_at, e.blob_id
         FROM events v LEFT JOIN sessions s ON s.id = v.session_id LEFT JOIN works w ON w.id = v.work_id
             LEFT JOIN entries e ON e.id = v.id LEFT JOIN gone g ON g.entry_id = v.entry_id
         WHERE v.id > ?1 ORDER BY v.id LIMIT ?2",
    )?;
    let mut rows = statement.query(params![after, most.cast_signed()])?;
    let mut things = Vec::new();
    while let Some(row) = rows.next()? {
        let (client, key): (Option<String>, Option<String>) = (row.get(2)?, row.get(3)?);
        let (gone, why): (Option<String>, Option<String>) = (row.get(9)?, row.get(10)?);
        let event = ExportedEvent {
            id: row.get(0)?,
            at: row.get(1)?,
            session: client.zip(key),
            work: row.get(4)?,
            kind: row.get(5)?,
            priority: row.get(6)?,
            text: row.get(7)?,
            data: row.get(8)?,
            gone: gone.zip(why),
        };
        let id = event.id;
        let Some(reference) = row.get::<_, Option<String>>(11)? else {
            things.push((id, LogRow::Event(Box::new(event))));
            continue;
        };
        let entry = ExportedEntry {
            event,
            reference,
            kind: row.get(12)?,
            origin: row.get(13)?,
            level: row.get(14)?,
            title: row.get(15)?,
            source: row.get(16)?,
            redactions: row.get(17)?,
            pinned: row.get(18)?,
            expires_at: row.get(19)?,
            note: note(db, id)?,
            run: run(db, id)?,
        };
        things.push((id, LogRow::Entry(Box::new(entry), row.get(20)?)));
    }
    Ok(things)
}

pub(crate) fn is_there(db: &Connection, id: i64) -> rusqlite::Result<bool> {
    db.sql("SELECT 1 FROM entries WHERE id = ?1").has([id])
}

fn note(db: &Connection, id: i64) -> rusqlite::Result<Option<ExportedNote>> {
    let note = db
        .sql(
            "SELECT n.kind, n.topic, n.revision, e.reference, n.commit_id, n.branch, n.confirmed_at
         FROM notes n LEFT JOIN entries e ON e.id = n.superseded_by WHERE n.entry_id = ?1",
        )
        .find([id], |row| {
            Ok(ExportedNote {
                kind: row.get(0)?,
                topic: row.get(1)?,
                revision: row.get(2)?,
                superseded_by: row.get(3)?,
                commit: row.get(4)?,
                branch: row.get(5)?,
                confirmed_at: row.get(6)?,
                files: Vec::new(),
                cites: Vec::new(),
            })
        });
    let Some(mut note) = note? else { return Ok(None) };
    let files = db.sql("SELECT path, hash FROM note_files WHERE entry_id = ?1 ORDER BY path");
    note.files = files.all([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let cites =
        "SELECT e.reference FROM citations c JOIN entries e ON e.id = c.entry_id WHERE c.note_id = ?1 ORDER BY e.id";
    note.cites = db.sql(cites).values([id])?;
    Ok(Some(note))
}

fn run(db: &Connection, id: i64) -> rusqlite::Result<Option<ExportedRun>> {
    db.sql("SELECT exit_code, signal, millis, sandbox, ended FROM runs WHERE entry_id = ?1").find([id], |row| {
        let (exit_code, signal, millis) = (row.get(0)?, row.get(1)?, row.get(2)?);
        Ok(ExportedRun { exit_code, signal, millis, sandbox: row.get(3)?, ended: row.get(4)? })
    })
}
