//! Reads sessions from OpenCode's database, using only its tables of sessions, messages and parts.

use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::{Map, Value};
use weir_clients::transcript::Reading;
use weir_store::{ForeignDb, StoreError};

use super::TranscriptLocation;

/// Adds the sessions of a database.
pub(super) fn sessions(path: &Path, found: &mut Vec<TranscriptLocation>) -> Result<(), StoreError> {
    ForeignDb::open(path)?.rows("session", &["id", "time_updated"], None, &mut |row| {
        let changed = SystemTime::UNIX_EPOCH + Duration::from_millis(row[1].parse().unwrap_or(0));
        let name = row[0].clone();
        found.push(TranscriptLocation { session: Some(name.clone()), name, path: path.to_owned(), changed, bytes: 0 });
    })
}

/// Returns the rows of a session, in the form that the client writes to files.
pub(super) fn rows(path: &Path, session: &str) -> io::Result<Reading> {
    let mut reading = Reading::default();
    let mut read = || -> Result<(), StoreError> {
        let db = ForeignDb::open(path)?;
        let own = Some(("id", session));
        db.rows("session", &["id", "version", "directory", "project_id"], own, &mut |row| {
            let keys = ["id", "version", "directory", "projectID"];
            let pairs = keys.iter().zip(row).map(|(key, text)| ((*key).to_owned(), Value::String(text.clone())));
            reading.row(Value::Object(pairs.collect()), 0, 1);
        })?;
        let own = Some(("session_id", session));
        db.rows("message", &["id", "session_id", "data"], own, &mut |row| {
            put(&mut reading, &["id", "sessionID"], row);
        })?;
        db.rows("part", &["id", "session_id", "message_id", "data"], own, &mut |row| {
            put(&mut reading, &["id", "sessionID", "messageID"], row);
        })
    };
    read().map_err(|error| io::Error::other(error.to_string()))?;
    Ok(reading)
}

/// Passes on a row whose last column contains the remaining fields.
fn put(reading: &mut Reading, keys: &[&str], row: &[String]) {
    let Some((data, columns)) = row.split_last() else { return };
    match serde_json::from_str::<Map<String, Value>>(data) {
        Ok(mut object) => {
            object.extend(keys.iter().zip(columns).map(|(key, text)| ((*key).to_owned(), Value::String(text.clone()))));
            reading.row(Value::Object(object), data.len(), 1);
        }
        Err(_) => reading.skip(1),
    }
}
