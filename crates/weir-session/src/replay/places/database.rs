//! Reads sessions from OpenCode's database, using only its tables of sessions, messages and parts.

use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::{Map, Value};
use weir_clients::transcript::Reading;
use weir_host::error::{CommandError, ErrorKind};
use weir_store::{ForeignDb, ForeignDbError};

use super::TranscriptLocation;

pub(super) fn sessions(path: &Path, found: &mut Vec<TranscriptLocation>) -> Result<(), CommandError> {
    let mut add = |row: &[String]| {
        let changed = SystemTime::UNIX_EPOCH + Duration::from_millis(row[1].parse().unwrap_or(0));
        let name = row[0].clone();
        found.push(TranscriptLocation { session: Some(name.clone()), name, path: path.to_owned(), changed, bytes: 0 });
    };
    let read = ForeignDb::open(path).and_then(|db| db.rows("session", &["id", "time_updated"], None, &mut add));
    read.map_err(|error| {
        CommandError::new(ErrorKind::Store, unusable(path, &error))
            .hint("make sure that the folder exists and that you own it")
    })
}

/// Returns the rows of a session, in the form that the client writes to files.
pub(super) fn rows(path: &Path, session: &str) -> io::Result<Reading> {
    let mut reading = Reading::default();
    let mut read = || -> Result<(), ForeignDbError> {
        let db = ForeignDb::open(path)?;
        let own = Some(("id", session));
        db.rows("session", &["id", "version", "directory", "project_id", "parent_id"], own, &mut |row| {
            let keys = ["id", "version", "directory", "projectID", "parentID"];
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
    read().map_err(|error| io::Error::other(unusable(path, &error)))?;
    Ok(reading)
}

fn unusable(path: &Path, error: &ForeignDbError) -> String {
    format!("cannot use {}: {error}", path.display())
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
