//! What a project shares with a team: the server it is connected to, the records on their way, and whose notes the
//! received ones are. The database lies next to the log and is opened only by what concerns a team, so hooks do not pay
//! for it.
//!
//! Invariants: a record is stored, byte for byte, before it is sent; no text is stored here, and nothing of an entry
//! that was forgotten. A crate above knows what the records say; here they are identities, states and times.

mod rows;

use std::path::Path;

use rusqlite::{OptionalExtension as _, Transaction, params};
use weir_core::{Reference, Timestamp, written_enum};

use crate::db::migrate::Migration;
use crate::db::{Db, Durability, Patience, exists};
use crate::error::Result;
use crate::layout::{StorePart, TEAM_FILE};

const MIGRATIONS: &[Migration] = &[Migration { name: "0001_team", sql: include_str!("team/migrations/0001_team.sql") }];

written_enum! {
    /// What a record says about an entry.
    pub enum TeamKind {
        Kept = "kept",
        /// Another one took its place.
        Superseded = "superseded",
        Confirmed = "confirmed",
        Removed = "removed",
        /// Nothing: it gives the keys of a sealed project to members.
        Granted = "granted",
    }
}

written_enum! {
    /// How far a record has come.
    pub enum TeamState {
        /// It was written here, and was never sent.
        Waiting = "waiting",
        /// It was sent, and whether the server has it is not known.
        Tried = "tried",
        /// The server has it.
        Sent = "sent",
        Refused = "refused",
        /// It was received, and is not in the log yet, or waits for a record that it is about.
        Received = "received",
        /// It was received, and the log says the same.
        Applied = "applied",
        /// It was received, and is not taken, because of its author or because the user has forgotten it.
        Held = "held",
        /// Its content was removed everywhere.
        Erased = "erased",
    }
}

/// The server that a project is connected to, and how far the exchange with it has come.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TeamConnection {
    pub server: String,
    pub token_file: String,
    pub tenant: String,
    pub user: String,
    /// The project, by its name on the server.
    pub project: String,
    /// Who writes the records of this installation.
    pub host: String,
    pub next_index: u64,
    /// How far the server's log was read.
    pub position: u64,
    /// Whose notes were taken when it was read.
    pub taken_from: String,
    /// The last time of the clock of records, in milliseconds, and its count within one.
    pub time_millis: i64,
    /// See `time_millis`.
    pub time_count: u32,
    /// When the last exchange began.
    pub tried_at: Option<Timestamp>,
    /// When the last exchange succeeded.
    pub synced_at: Option<Timestamp>,
    /// Why the last exchange failed, if it did.
    pub problem: Option<String>,
}

impl TeamConnection {
    /// Whether another connection leads the same user to the same project of the same server.
    pub fn is_same_place(&self, other: &Self) -> bool {
        let place = |one: &Self| [&one.server, &one.tenant, &one.user, &one.project].map(String::clone);
        place(self) == place(other)
    }
}

/// A record, without its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamRecord {
    /// Its identity on every machine.
    pub id: String,
    pub kind: TeamKind,
    /// How far it has come.
    pub state: TeamState,
    /// Whether this installation wrote it.
    pub is_own: bool,
    pub user: String,
    /// The client that they used; empty if there was none.
    pub client: String,
    pub at: Timestamp,
    pub about: Option<String>,
    /// The record that takes the place of that one.
    pub successor: Option<String>,
    /// Whether it came or leaves sealed.
    pub is_sealed: bool,
    /// The entry in the log.
    pub reference: Option<Reference>,
    /// What is sent, for a record of the user that may have to be.
    pub json: Option<String>,
    pub problem: Option<String>,
}

/// Whose note an entry is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribution {
    pub reference: Reference,
    /// Whether this installation wrote it.
    pub is_own: bool,
    /// Whether it came in clear, and the project is sealed: only the server says who wrote it.
    pub is_in_clear: bool,
    pub user: String,
    /// The client that they used; empty if there was none.
    pub client: String,
    /// Who has confirmed it, oldest first.
    pub confirmed: Vec<Confirmation>,
}

/// A user's confirmation of a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confirmation {
    pub user: String,
    pub at: Timestamp,
}

pub struct TeamDb {
    db: Db,
}

/// What the user wants to be shared although it is no note.
const INCLUDE: &str = "include";
const CONFIRM: &str = "confirm";

impl TeamDb {
    /// Whether the store in a folder has anything to do with a team.
    pub fn exists(folder: &Path) -> Result<bool> {
        exists(&folder.join(TEAM_FILE))
    }

    /// Opens the database next to the log of the store in `folder`, creating it if it does not exist.
    pub fn open(folder: &Path) -> Result<Self> {
        let db = Db::open_as(&StorePart::Team, &folder.join(TEAM_FILE), MIGRATIONS, Patience::default())?;
        Ok(Self { db })
    }

    pub fn open_existing(folder: &Path) -> Result<Option<Self>> {
        if Self::exists(folder)? { Self::open(folder).map(Some) } else { Ok(None) }
    }

    pub fn connection(&self) -> Result<Option<TeamConnection>> {
        self.db.read(|c| c.query_row(rows::SELECT_CONNECTION, [], rows::connection).optional())
    }

    /// Connects the project. Records of another server, tenant, user or project are dropped, and so is what was to be
    /// shared there.
    pub fn connect(&mut self, connection: &TeamConnection) -> Result<()> {
        let dropped = match self.connection()? {
            Some(old) if old.is_same_place(connection) => "",
            Some(_) => "DELETE FROM records; DELETE FROM wishes",
            None => "DELETE FROM wishes",
        };
        self.db.write(Durability::Power, |tx| {
            tx.execute_batch(dropped)?;
            rows::save_connection(tx, connection)
        })
    }

    /// Ends the connection, and forgets everything about it but which records were not taken: if the project is
    /// connected again, what the user has forgotten does not come back. Notes that were received stay.
    pub fn disconnect(&mut self) -> Result<()> {
        self.db.write(Durability::Power, |tx| {
            tx.execute_batch("DELETE FROM connection; DELETE FROM records WHERE state <> 'held'; DELETE FROM wishes")
        })
    }

    /// Returns all records, in the order in which they were written or received.
    pub fn records(&self) -> Result<Vec<TeamRecord>> {
        self.db.read(|c| {
            let mut statement = c.prepare(&format!("{} ORDER BY number", rows::SELECT_RECORDS))?;
            statement.query_map([], rows::record)?.collect::<rusqlite::Result<Vec<_>>>()
        })
    }

    /// Writes the connection and records that are new or have changed, in one transaction.
    pub fn save<'a>(
        &mut self,
        connection: &TeamConnection,
        records: impl IntoIterator<Item = &'a TeamRecord>,
    ) -> Result<()> {
        self.db.write(Durability::Power, |tx| {
            rows::save_connection(tx, connection)?;
            records.into_iter().try_for_each(|record| rows::save_record(tx, record))
        })
    }

    /// Replaces records by others, which have other identities, in one transaction.
    pub fn replace(&mut self, connection: &TeamConnection, old: &[String], new: &[TeamRecord]) -> Result<()> {
        self.db.write(Durability::Power, |tx| {
            rows::save_connection(tx, connection)?;
            old.iter().try_for_each(|id| rows::delete_record(tx, id))?;
            new.iter().try_for_each(|record| rows::save_record(tx, record))
        })
    }

    /// Erases what is stored of the content of entries that were forgotten.
    pub fn erase(&mut self, references: &[Reference]) -> Result<()> {
        let sql = "UPDATE records SET json = NULL, problem = NULL WHERE reference = ?1";
        let each = |tx: &Transaction<'_>| -> rusqlite::Result<()> {
            let mut statement = tx.prepare(sql)?;
            references.iter().try_for_each(|one| statement.execute([one.as_str()]).map(drop))
        };
        self.db.write(Durability::Power, each)?;
        self.db.truncate_write_ahead_log().map(drop)
    }

    /// Records that the user wants an entry to be shared.
    pub fn wish_to_include(&mut self, reference: Reference) -> Result<()> {
        self.wish(reference, INCLUDE)
    }

    /// Records that the user has confirmed a note.
    pub fn wish_to_confirm(&mut self, reference: Reference) -> Result<()> {
        self.wish(reference, CONFIRM)
    }

    /// Returns the entries that the user wants to be shared.
    pub fn to_include(&self) -> Result<Vec<Reference>> {
        self.wishes(INCLUDE)
    }

    pub fn to_confirm(&self) -> Result<Vec<Reference>> {
        self.wishes(CONFIRM)
    }

    /// Drops wishes to share entries and to confirm notes, once records say so.
    pub fn drop_wishes(&mut self, included: &[Reference], confirmed: &[Reference]) -> Result<()> {
        self.db.write(Durability::Power, |tx| {
            let mut statement = tx.prepare("DELETE FROM wishes WHERE reference = ?1 AND wish = ?2")?;
            for (references, wish) in [(included, INCLUDE), (confirmed, CONFIRM)] {
                for reference in references {
                    statement.execute(params![reference.as_str(), wish])?;
                }
            }
            Ok::<_, rusqlite::Error>(())
        })
    }

    /// Returns whose notes these entries are, as far as records say.
    pub fn attributions(&self, references: &[Reference]) -> Result<Vec<Attribution>> {
        self.db.read(|c| {
            let mut found = Vec::new();
            for reference in references {
                found.extend(rows::attribution(c, *reference)?);
            }
            Ok::<_, rusqlite::Error>(found)
        })
    }

    /// Returns how many records wait to be sent, how many were refused, and how many notes of others are in the log.
    pub fn counts(&self) -> Result<[u64; 3]> {
        self.db.read(|c| {
            c.query_row(
                "SELECT count(*) FILTER (WHERE state IN ('waiting', 'tried')),
                     count(*) FILTER (WHERE state = 'refused'),
                     count(*) FILTER (WHERE state = 'applied' AND kind = 'kept' AND NOT is_own) FROM records",
                [],
                |row| {
                    let count = |at: usize| row.get::<_, i64>(at).map(i64::cast_unsigned);
                    Ok([count(0)?, count(1)?, count(2)?])
                },
            )
        })
    }

    fn wish(&mut self, reference: Reference, wish: &str) -> Result<()> {
        self.db.write(Durability::Power, |tx| {
            tx.execute(
                "INSERT OR IGNORE INTO wishes (reference, wish) VALUES (?1, ?2)",
                params![reference.as_str(), wish],
            )
            .map(drop)
        })
    }

    fn wishes(&self, wish: &str) -> Result<Vec<Reference>> {
        self.db.read(|c| {
            let mut statement = c.prepare("SELECT reference FROM wishes WHERE wish = ?1 ORDER BY reference")?;
            let rows = statement.query_map([wish], |row| crate::log::entries::read_reference(row, 0))?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        })
    }
}
