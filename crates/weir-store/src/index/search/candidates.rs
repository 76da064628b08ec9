//! Finds the chunks that may be hits, by keywords and by meaning. Invariant: every candidate passes the scope and the
//! filters of the query.

use rusqlite::{CachedStatement, Connection, Row, Rows, params};
use weir_core::{EntryKind, Level, Query, Scope, Timestamp};

use crate::log::turns::TURN;

/// What an entry is to a reader who looks for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Spoken {
    /// An earlier request, which repeats the question.
    Question,
    /// A turn of a session, whose beginning says the most.
    Turn,
    Other,
}

impl Spoken {
    fn of(kind: Option<EntryKind>, source: Option<&str>) -> Self {
        match source.filter(|_| kind == Some(EntryKind::Said)) {
            Some("prompt") => Self::Question,
            Some(TURN) => Self::Turn,
            _ => Self::Other,
        }
    }
}

/// A chunk that may be a hit.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) id: i64,
    pub(super) entry_id: i64,
    pub(super) kind: Option<EntryKind>,
    /// What of a session the entry is, if it is something that was said.
    pub(super) spoken: Spoken,
    /// The length of the turn in bytes, once it is looked up; 0 for any other entry.
    pub(super) turn_bytes: u64,
    pub(super) at: Timestamp,
    pub(super) same_work: bool,
    /// How well the words match; 0 if none does.
    pub(super) words: f64,
    /// How close the chunk is in meaning; 0 if unknown.
    pub(super) near: f32,
    pub(super) score: f64,
}

/// The filters of a search. ?2 and ?3 are the session's client and key, ?4 the work, ?5 the kind, ?6 the source, ?7 the
/// earliest time, ?8 the level within which the entry was made. A source includes everything below it: `/` is the last
/// character before `0`.
const FILTERS: &str = "(d.level IN ('project', 'user') OR (d.level = 'work' AND d.work = ?4)
        OR (d.level = 'session' AND d.client = ?2 AND d.session = ?3))
    AND (?5 IS NULL OR d.kind = ?5)
    AND (?6 IS NULL OR d.source = ?6 OR (d.source > ?6 || '/' AND d.source < ?6 || '0'))
    AND (?7 IS NULL OR d.at >= ?7)
    AND (?8 IS NULL OR ?8 IN ('project', 'user') OR (?8 = 'work' AND d.work = ?4)
        OR (?8 = 'session' AND d.client = ?2 AND d.session = ?3))";

const COLUMNS: &str = "c.id, c.entry_id, d.kind, d.at, d.work IS ?4 AND ?4 IS NOT NULL, d.source";

pub(super) fn by_words(
    db: &Connection,
    scope: &Scope,
    query: &Query,
    expression: &str,
    most: usize,
) -> rusqlite::Result<Vec<Candidate>> {
    // The engine can return rows in the order of their rank, so that the joins run only for the rows that are taken.
    // But then it ranks every row with a word of the query. If a filter may refuse most of them, it is better to rank
    // those that pass: the sign keeps the engine from ordering.
    let is_filtered = query.kind.is_some() || query.source.is_some() || query.since.is_some() || query.within.is_some();
    let sign = if is_filtered { "+" } else { "" };
    let sql = format!(
        "SELECT {COLUMNS}, words.rank FROM words CROSS JOIN chunks c ON c.id = words.rowid
             CROSS JOIN documents d ON d.entry_id = c.entry_id
         WHERE words MATCH ?1 AND {FILTERS} ORDER BY {sign}words.rank LIMIT ?9"
    );
    let mut statement = db.prepare_cached(&sql)?;
    let mut rows = bind(&mut statement, &expression, scope, query, most)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let rank: f64 = row.get(6)?;
        found.push(Candidate { words: -rank, ..read(row)? });
    }
    Ok(found)
}

pub(super) fn one(db: &Connection, scope: &Scope, query: &Query, id: i64) -> rusqlite::Result<Option<Candidate>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM chunks c CROSS JOIN documents d ON d.entry_id = c.entry_id
         WHERE c.id = ?1 AND {FILTERS} LIMIT ?9"
    );
    let mut statement = db.prepare_cached(&sql)?;
    let mut rows = bind(&mut statement, &id, scope, query, 1)?;
    rows.next()?.map(read).transpose()
}

fn bind<'s>(
    statement: &'s mut CachedStatement<'_>,
    first: &dyn rusqlite::ToSql,
    scope: &Scope,
    query: &Query,
    most: usize,
) -> rusqlite::Result<Rows<'s>> {
    let session = scope.session.as_ref();
    statement.query(params![
        first,
        session.map(|session| &session.client),
        session.map(|session| &session.key),
        scope.work,
        query.kind.map(EntryKind::as_str),
        query.source.as_deref().map(|source| source.trim_end_matches('/')),
        query.since.map(|since| since.0),
        query.within.map(Level::as_str),
        most as i64
    ])
}

fn read(row: &Row<'_>) -> rusqlite::Result<Candidate> {
    let kind = EntryKind::parse(row.get_ref(2)?.as_str()?);
    Ok(Candidate {
        id: row.get(0)?,
        entry_id: row.get(1)?,
        kind,
        spoken: Spoken::of(kind, row.get_ref(5)?.as_str_or_null()?),
        turn_bytes: 0,
        at: Timestamp(row.get(3)?),
        same_work: row.get(4)?,
        words: 0.0,
        near: 0.0,
        score: 0.0,
    })
}
