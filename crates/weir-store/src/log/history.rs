//! Reads events, newest first. Invariant: the cost of a page depends on what it shows, not on the size of the log.

use rusqlite::{Connection, Row, params};
use weir_core::{
    EntryKind, Event, EventKind, LoggedEvent, Origin, Priority, Reference, RunFacts, Scope, SessionKey, Timestamp,
    WhyGone,
};
use weir_ledger::Sql as _;

use super::scopes::{self, VISIBLE};
use super::{runs, written};

/// The part of the history to return.
#[derive(Debug, Clone, Default)]
pub struct HistoryFilter {
    pub session: Option<String>,
    pub work: Option<String>,
    pub client: Option<String>,
    pub kind: Option<EventKind>,
    /// Only events at or after this time.
    pub since: Option<Timestamp>,
    /// Only events before this time.
    pub until: Option<Timestamp>,
    /// Only events before this one, for the next page.
    pub before: Option<i64>,
    pub limit: usize,
}

/// One line of history.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
    pub logged: LoggedEvent,
    /// The kind and title of the event's entry, if it still exists.
    pub entry: Option<(EntryKind, String)>,
    /// Who wrote the text of that entry.
    pub origin: Option<Origin>,
    pub gone: Option<WhyGone>,
    /// How the run of that entry ended, if it is one.
    pub run: Option<RunFacts>,
}

/// Reads a page of history that is visible in `scope`. A session or work that does not exist has no history.
pub(crate) fn page(db: &Connection, scope: &Scope, filter: &HistoryFilter) -> rusqlite::Result<Vec<Moment>> {
    let scope_ids = scopes::find(db, scope)?;
    let (driver, id) = match (&filter.session, &filter.work) {
        (Some(key), _) => ("v.session_id = ?3", scopes::sessions_with_key(db, key)?.first().copied()),
        (None, Some(name)) => ("+v.work_id = ?3", scopes::find_work(db, name)?),
        // `?3` must appear in every variant; here the condition is always true.
        (None, None) => ("?3 = 0", Some(0)),
    };
    let Some(id) = id else { return Ok(Vec::new()) };
    let sql = format!(
        "SELECT v.id, v.at, s.client, s.key, w.name, v.kind, v.priority, v.text, v.data,
             coalesce(e.reference, g.reference), e.kind, e.title, g.why, e.origin, e.id
         FROM events v LEFT JOIN sessions s ON s.id = v.session_id LEFT JOIN works w ON w.id = v.work_id
             LEFT JOIN entries e ON e.id = v.entry_id LEFT JOIN gone g ON g.entry_id = v.entry_id
         WHERE v.at >= ?4 AND (v.at, v.id) < (?5, ?6) AND {driver} AND (?7 IS NULL OR w.name = ?7)
             AND (?8 IS NULL OR s.client = ?8) AND (?9 IS NULL OR v.kind = ?9)
             AND (v.entry_id IS NULL OR NOT EXISTS (SELECT 1 FROM said x WHERE x.entry_id = v.entry_id))
             AND (g.why IS NULL OR g.why <> 'replaced' OR g.kind <> 'said')
             AND (v.entry_id IS NULL OR {VISIBLE} OR g.level IN ('project', 'user'))
         ORDER BY v.at DESC, v.id DESC"
    );
    let mut statement = db.prepare_cached(&sql)?;
    let since = filter.since.map_or(i64::MIN, |since| since.0);
    let page = match filter.before {
        Some(id) => (time_of(db, id)?, id),
        None => (i64::MAX, i64::MAX),
    };
    let (at, before) = page.min((filter.until.map_or(i64::MAX, |until| until.0), i64::MIN));
    let kind = filter.kind.map(EventKind::as_str);
    let mut rows = statement
        .query(params![scope_ids.session, scope_ids.work, id, since, at, before, filter.work, filter.client, kind])?;
    let mut moments = Vec::new();
    while moments.len() < filter.limit
        && let Some(row) = rows.next()?
    {
        let mut moment = read(row)?;
        if matches!(moment.entry, Some((EntryKind::Run, _))) {
            moment.run = runs::load(db, row.get(14)?)?;
        }
        moments.push(moment);
    }
    Ok(moments)
}

/// Returns the time of an event. If the event is gone, the time of the one before it.
fn time_of(db: &Connection, id: i64) -> rusqlite::Result<i64> {
    let at = db.sql("SELECT at FROM events WHERE id <= ?1 ORDER BY id DESC LIMIT 1").find_value([id])?;
    Ok(at.unwrap_or(i64::MIN))
}

fn read(row: &Row<'_>) -> rusqlite::Result<Moment> {
    let client: Option<String> = row.get(2)?;
    let key: Option<String> = row.get(3)?;
    let reference: Option<String> = row.get(9)?;
    let kind: Option<String> = row.get(10)?;
    let title: Option<String> = row.get(11)?;
    let why: Option<String> = row.get(12)?;
    let origin: Option<String> = row.get(13)?;
    let event = Event {
        kind: written(row, 5, EventKind::parse)?,
        priority: written(row, 6, Priority::parse)?,
        text: row.get(7)?,
        data: row.get(8)?,
        whole: None,
    };
    let reference = reference.and_then(|text| Reference::parse(&text).ok()).or_else(|| event.whole_reference());
    Ok(Moment {
        logged: LoggedEvent {
            seq: row.get(0)?,
            at: Timestamp(row.get(1)?),
            session: client.zip(key).map(|(client, key)| SessionKey { client, key }),
            work: row.get(4)?,
            event,
            reference,
        },
        entry: kind.and_then(|kind| EntryKind::parse(&kind)).zip(title),
        origin: origin.and_then(|origin| Origin::parse(&origin)),
        gone: why.and_then(|why| WhyGone::parse(&why)),
        run: None,
    })
}
