//! Lists the sessions of a store for a person: all of them, or a page at a time. Invariant: the cost of a page depends
//! on what it shows and on the number of clients, not on the number of sessions.

use rusqlite::{Connection, params};
use weir_core::time::DAY;
use weir_core::{SessionKey, Timestamp};
use weir_ledger::Sql as _;

/// A session, with its time and its requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSummary {
    pub key: SessionKey,
    pub from: Timestamp,
    /// When the last event happened.
    pub to: Timestamp,
    pub events: u64,
    /// The work that the session was last on.
    pub work: Option<String>,
    /// The first few requests, oldest first.
    pub requests: Vec<String>,
}

/// The place of a session in the list, which is in the order in which sessions were first seen.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SessionPlace {
    /// When the session was first seen.
    pub started_at: Timestamp,
    /// The client's own identifier of the session.
    pub key: String,
    pub client: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedSession {
    pub place: SessionPlace,
    pub summary: SessionSummary,
}

#[derive(Debug, Clone, Default)]
pub struct SessionFilter {
    pub client: Option<String>,
    /// Only sessions that were first seen before the one at this place.
    pub before: Option<SessionPlace>,
    /// Only sessions with an event at or after this time.
    pub active_since: Option<Timestamp>,
    pub limit: usize,
}

pub(crate) const MAX_COUNTED_SESSIONS: usize = 10_000;
const MAX_REQUESTS: usize = 4;
/// Number of the newest sessions of each client among which active ones are looked for.
const MAX_LOOKED_AT: usize = 1_000;

/// Returns at most `most` sessions with events, newest first. If `named` is given, only those whose key begins with it.
pub(crate) fn list(db: &Connection, named: Option<&str>, most: usize) -> rusqlite::Result<Vec<SessionSummary>> {
    let mut statement =
        db.prepare_cached("SELECT id, client, key, started_at FROM sessions ORDER BY started_at DESC")?;
    let mut rows = statement.query([])?;
    let mut found = Vec::new();
    while found.len() < most
        && let Some(row) = rows.next()?
    {
        let key: String = row.get(2)?;
        if named.is_none_or(|named| key.starts_with(named)) {
            found.extend(about(db, row.get(0)?, SessionKey { client: row.get(1)?, key })?);
        }
    }
    Ok(found)
}

/// Returns a page of the sessions with events, newest first.
pub(crate) fn page(db: &Connection, filter: &SessionFilter) -> rusqlite::Result<Vec<ListedSession>> {
    let clients = match &filter.client {
        Some(client) => vec![client.clone()],
        None => clients(db)?,
    };
    let mut found = Vec::new();
    for client in clients {
        found.extend(newest_of(db, &client, filter)?);
    }
    found.sort_by(|(_, one), (_, other)| other.cmp(one));
    found.truncate(filter.limit);
    let listed = found.into_iter().map(|(id, place)| listed(db, id, place));
    listed.filter_map(Result::transpose).collect()
}

pub(crate) fn find(db: &Connection, key: &SessionKey) -> rusqlite::Result<Option<ListedSession>> {
    let found: Option<(i64, i64)> = db
        .sql("SELECT id, started_at FROM sessions WHERE client = ?1 AND key = ?2")
        .find(params![key.client, key.key], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let Some((id, started_at)) = found else { return Ok(None) };
    let place = SessionPlace { started_at: Timestamp(started_at), key: key.key.clone(), client: key.client.clone() };
    listed(db, id, place)
}

/// Returns the sessions first seen before and after the one at a place, whatever their client.
pub(crate) fn beside(
    db: &Connection,
    place: &SessionPlace,
) -> rusqlite::Result<(Option<SessionKey>, Option<SessionKey>)> {
    let earlier = page(db, &SessionFilter { before: Some(place.clone()), limit: 1, ..SessionFilter::default() })?;
    let mut later: Vec<SessionPlace> = Vec::new();
    for client in clients(db)? {
        later.extend(next_of(db, &client, place)?);
    }
    let key = |place: SessionPlace| SessionKey { client: place.client, key: place.key };
    Ok((earlier.into_iter().next().map(|session| key(session.place)), later.into_iter().min().map(key)))
}

/// Returns each client with the number of its sessions that have events; `None` if there are more than `most`.
pub(crate) fn counts(db: &Connection, most: usize) -> rusqlite::Result<Vec<(String, Option<u64>)>> {
    let mut statement = db.prepare_cached(
        "SELECT 1 FROM sessions s
         WHERE s.client = ?1 AND EXISTS (SELECT 1 FROM events v WHERE v.session_id = s.id) LIMIT ?2",
    )?;
    let mut counts = Vec::new();
    for client in clients(db)? {
        let mut rows = statement.query(params![client, most.cast_signed().saturating_add(1)])?;
        let mut count = 0;
        while rows.next()?.is_some() {
            count += 1;
        }
        counts.push((client, (count <= most).then_some(count as u64)));
    }
    Ok(counts)
}

/// Returns for each of `days` days whether a session had an event. The first day begins at `from`.
pub(crate) fn active_days(
    db: &Connection,
    key: &SessionKey,
    from: Timestamp,
    days: usize,
) -> rusqlite::Result<Vec<bool>> {
    let id: Option<i64> =
        db.sql("SELECT id FROM sessions WHERE client = ?1 AND key = ?2").find_value(params![key.client, key.key])?;
    let Some(id) = id else { return Ok(vec![false; days]) };
    let mut statement =
        db.prepare_cached("SELECT 1 FROM events WHERE session_id = ?1 AND at >= ?2 AND at < ?3 LIMIT 1")?;
    let starts = (0..days).map(|day| from.0.saturating_add(DAY.saturating_mul(day as i64)));
    starts.map(|start| statement.exists(params![id, start, start.saturating_add(DAY)])).collect()
}

/// Returns the clients that have sessions. Steps from one to the next, since there are few.
fn clients(db: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = db.prepare_cached("SELECT min(client) FROM sessions WHERE client > ?1")?;
    let mut clients: Vec<String> = Vec::new();
    loop {
        let last = clients.last().map_or("", String::as_str);
        let next: Option<String> = statement.query_row([last], |row| row.get(0))?;
        match next {
            Some(client) => clients.push(client),
            None => return Ok(clients),
        }
    }
}

/// Returns the newest sessions of a client that the filter lets through, with their ids.
fn newest_of(db: &Connection, client: &str, filter: &SessionFilter) -> rusqlite::Result<Vec<(i64, SessionPlace)>> {
    let mut statement = db.prepare_cached(
        "SELECT id, key, started_at FROM sessions
         WHERE client = ?1 AND started_at <= ?2
             AND ((started_at, key) < (?2, ?3) OR (?4 AND started_at = ?2 AND key = ?3))
         ORDER BY started_at DESC, key DESC LIMIT ?5",
    )?;
    let (at, key, is_before) = match &filter.before {
        Some(place) => (place.started_at.0, place.key.as_str(), client < place.client.as_str()),
        None => (i64::MAX, "", false),
    };
    let since = filter.active_since.map_or(i64::MIN, |since| since.0);
    let mut rows = statement.query(params![client, at, key, is_before, MAX_LOOKED_AT.cast_signed()])?;
    let mut found = Vec::new();
    while found.len() < filter.limit
        && let Some(row) = rows.next()?
    {
        let id: i64 = row.get(0)?;
        if has_events(db, id, since)? {
            let place =
                SessionPlace { started_at: Timestamp(row.get(2)?), key: row.get(1)?, client: client.to_owned() };
            found.push((id, place));
        }
    }
    Ok(found)
}

/// Returns the first session of a client that was first seen after the one at a place.
fn next_of(db: &Connection, client: &str, place: &SessionPlace) -> rusqlite::Result<Option<SessionPlace>> {
    let mut statement = db.prepare_cached(
        "SELECT id, key, started_at FROM sessions
         WHERE client = ?1 AND started_at >= ?2
             AND ((started_at, key) > (?2, ?3) OR (?4 AND started_at = ?2 AND key = ?3))
         ORDER BY started_at, key LIMIT ?5",
    )?;
    let is_after = client > place.client.as_str();
    let mut rows =
        statement.query(params![client, place.started_at.0, place.key, is_after, MAX_LOOKED_AT.cast_signed()])?;
    while let Some(row) = rows.next()? {
        if has_events(db, row.get(0)?, i64::MIN)? {
            let (started_at, key) = (Timestamp(row.get(2)?), row.get(1)?);
            return Ok(Some(SessionPlace { started_at, key, client: client.to_owned() }));
        }
    }
    Ok(None)
}

fn has_events(db: &Connection, id: i64, since: i64) -> rusqlite::Result<bool> {
    db.sql("SELECT 1 FROM events WHERE session_id = ?1 AND at >= ?2 LIMIT 1").has(params![id, since])
}

fn listed(db: &Connection, id: i64, place: SessionPlace) -> rusqlite::Result<Option<ListedSession>> {
    let key = SessionKey { client: place.client.clone(), key: place.key.clone() };
    Ok(about(db, id, key)?.map(|summary| ListedSession { place, summary }))
}

fn about(db: &Connection, id: i64, key: SessionKey) -> rusqlite::Result<Option<SessionSummary>> {
    let (events, from, to): (i64, Option<i64>, Option<i64>) = db
        .sql(
            "SELECT count(*), min(at), max(at) FROM events v WHERE session_id = ?1
                 AND (entry_id IS NULL OR NOT EXISTS (SELECT 1 FROM said x WHERE x.entry_id = v.entry_id))",
        )
        .one([id], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
    let Some((from, to)) = from.zip(to) else { return Ok(None) };
    let work = db.sql("SELECT w.name FROM events v JOIN works w ON w.id = v.work_id WHERE v.session_id = ?1 ORDER BY v.at DESC LIMIT 1").find_value([id])?;
    let requests = db.sql("SELECT text FROM events INDEXED BY events_prompts WHERE session_id = ?1 AND kind = 'prompt' ORDER BY at LIMIT ?2").values((id, MAX_REQUESTS.cast_signed()))?;
    Ok(Some(SessionSummary {
        key,
        from: Timestamp(from),
        to: Timestamp(to),
        events: events.cast_unsigned(),
        work,
        requests,
    }))
}
