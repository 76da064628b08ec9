//! Searches the index: ranked by words, then, when those find nothing, inside words.
//!
//! Invariants: any query text is safe; a hit is always one the scope sees; the order is the same for the same store.

use rusqlite::{Connection, params};
use weir_core::query::{self, Term};
use weir_core::{Entry, Level, Query, Scope};

use super::Hit;
use super::excerpt::{self, Excerpt, MARK_END, MARK_START};

/// How many candidates are checked letter by letter when looking inside words.
const MOST_CANDIDATES: usize = 200;
/// How many three-letter pieces of one fragment are asked for.
const MOST_PIECES: usize = 60;

/// A ranked chunk, before its entry is looked up.
#[derive(Debug, Clone)]
pub(crate) struct RawHit {
    pub(crate) entry_id: i64,
    pub(crate) ordinal: u32,
    pub(crate) line: u64,
    pub(crate) excerpt: String,
    pub(crate) partial: bool,
    pub(crate) score: f64,
}

impl RawHit {
    /// The hit with the entry it belongs to.
    pub(crate) fn with(self, entry: Entry) -> Hit {
        Hit {
            entry,
            ordinal: self.ordinal,
            line: self.line,
            excerpt: self.excerpt,
            partial: self.partial,
            score: self.score,
        }
    }
}

/// The best chunks for a query, best first.
pub(crate) fn search(connection: &Connection, scope: &Scope, query: &Query) -> rusqlite::Result<Vec<RawHit>> {
    let terms = query::terms(&query.text);
    let mut hits = if terms.is_empty() { Vec::new() } else { by_words(connection, scope, query, &terms)? };
    // The stem of a word's beginning is not the beginning of its stem: `deploy*` would miss `deployment`.
    let any_prefix = terms.iter().any(|term| term.prefix);
    if hits.is_empty() || any_prefix {
        let inside = inside_words(connection, scope, query)?;
        let new = |hit: &RawHit, known: &[RawHit]| {
            !known.iter().any(|other| (other.entry_id, other.ordinal) == (hit.entry_id, hit.ordinal))
        };
        for hit in inside {
            if hits.len() < query.limit && new(&hit, &hits) {
                hits.push(hit);
            }
        }
    }
    Ok(hits)
}

/// The filters of a search. ?2 and ?3 are the session's client and key, ?4 the work, ?5 the kind, ?6 the source,
/// ?7 the earliest time, ?8 the level within which the entry was made.
const FILTERS: &str = "(d.level IN ('project', 'user') OR (d.level = 'work' AND d.work = ?4)
        OR (d.level = 'session' AND d.client = ?2 AND d.session = ?3))
    AND (?5 IS NULL OR d.kind = ?5) AND (?6 IS NULL OR d.source = ?6) AND (?7 IS NULL OR d.at >= ?7)
    AND (?8 IS NULL OR ?8 IN ('project', 'user') OR (?8 = 'work' AND d.work = ?4)
        OR (?8 = 'session' AND d.client = ?2 AND d.session = ?3))";

/// Whether an entry has other chunks beside this one.
const HAS_MORE: &str = "EXISTS (SELECT 1 FROM chunks o WHERE o.entry_id = c.entry_id AND o.ordinal <> c.ordinal)";

fn by_words(connection: &Connection, scope: &Scope, query: &Query, terms: &[Term]) -> rusqlite::Result<Vec<RawHit>> {
    let expression = terms.iter().map(expression_of).collect::<Vec<_>>().join(" OR ");
    // The engine hands out rows in the order of their rank, so the joins run for as many rows as are taken.
    let sql = format!(
        "SELECT {HAS_MORE}, c.entry_id, c.ordinal, c.line, words.rank,
             highlight(words, 1, char({start}), char({end})) AS marked
         FROM words CROSS JOIN chunks c ON c.id = words.rowid CROSS JOIN documents d ON d.entry_id = c.entry_id
         WHERE words MATCH ?1 AND {FILTERS} ORDER BY words.rank LIMIT ?9",
        start = u32::from(MARK_START),
        end = u32::from(MARK_END),
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = bind(&mut statement, &expression, scope, query, query.limit)?;
    let mut hits = Vec::new();
    while let Some(row) = rows.next()? {
        let score: f64 = row.get(4)?;
        let excerpt = excerpt::cut(row.get_ref(5)?.as_str()?);
        hits.push(raw_hit(row, excerpt, -score)?);
    }
    Ok(hits)
}

/// Chunks that have a piece of the query inside a word, newest first.
fn inside_words(connection: &Connection, scope: &Scope, query: &Query) -> rusqlite::Result<Vec<RawHit>> {
    let fragments: Vec<String> = query::fragments(&query.text)
        .into_iter()
        .map(|fragment| fragment.trim_end_matches('*').to_owned())
        .filter(|fragment| fragment.chars().count() >= 3)
        .collect();
    if fragments.is_empty() {
        return Ok(Vec::new());
    }
    let alternatives = fragments.iter().map(|fragment| format!("({})", pieces_of(fragment)));
    let expression = alternatives.collect::<Vec<_>>().join(" OR ");
    let sql = format!(
        "SELECT {HAS_MORE}, c.entry_id, c.ordinal, c.line, c.body, c.title
         FROM pieces CROSS JOIN chunks c ON c.id = pieces.rowid CROSS JOIN documents d ON d.entry_id = c.entry_id
         WHERE pieces MATCH ?1 AND {FILTERS} ORDER BY pieces.rowid DESC LIMIT ?9"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = bind(&mut statement, &expression, scope, query, MOST_CANDIDATES)?;
    let mut hits = Vec::new();
    while let Some(row) = rows.next()? {
        let body = row.get_ref(4)?.as_str()?;
        let title = row.get_ref(5)?.as_str()?.to_lowercase();
        let marked = mark(body, &fragments);
        if marked.is_some() || fragments.iter().any(|fragment| title.contains(fragment)) {
            let excerpt = excerpt::cut(marked.as_deref().unwrap_or(body));
            hits.push(raw_hit(row, excerpt, 0.0)?);
        }
        if hits.len() == query.limit {
            break;
        }
    }
    Ok(hits)
}

fn bind<'s>(
    statement: &'s mut rusqlite::CachedStatement<'_>,
    expression: &str,
    scope: &Scope,
    query: &Query,
    limit: usize,
) -> rusqlite::Result<rusqlite::Rows<'s>> {
    let session = scope.session.as_ref();
    statement.query(params![
        expression,
        session.map(|session| &session.client),
        session.map(|session| &session.key),
        scope.work,
        query.kind.map(weir_core::EntryKind::as_str),
        query.source,
        query.since.map(|since| since.0),
        query.within.map(Level::as_str),
        limit as i64
    ])
}

fn raw_hit(row: &rusqlite::Row<'_>, excerpt: Excerpt, score: f64) -> rusqlite::Result<RawHit> {
    Ok(RawHit {
        entry_id: row.get(1)?,
        ordinal: row.get(2)?,
        line: row.get::<_, i64>(3)? as u64 + excerpt.lines_before,
        excerpt: excerpt.text,
        partial: excerpt.partial || row.get(0)?,
        score,
    })
}

/// A term in the engine's syntax. Words hold letters and digits only, so nothing in them can be an operator.
fn expression_of(term: &Term) -> String {
    let star = if term.prefix { " *" } else { "" };
    format!("\"{}\"{star}", term.words.join(" "))
}

/// The three-letter pieces of a fragment, each once and quoted. A long one has more than are needed to find it: what
/// they find is checked against the whole fragment.
fn pieces_of(fragment: &str) -> String {
    let chars: Vec<char> = fragment.chars().take(MOST_PIECES + 2).collect();
    let mut pieces: Vec<String> = chars.windows(3).map(|piece| piece.iter().collect()).collect();
    pieces.sort_unstable();
    pieces.dedup();
    let quoted = pieces.iter().map(|piece| format!("\"{}\"", piece.replace('"', "\"\"").replace('\0', " ")));
    quoted.collect::<Vec<_>>().join(" AND ")
}

/// The body with its matches marked; none when no fragment really stands in it.
fn mark(body: &str, fragments: &[String]) -> Option<String> {
    let lower = body.to_lowercase();
    if lower.len() != body.len() {
        // Rare letters change length with their case; then the excerpt is cut without marks.
        return fragments.iter().any(|fragment| lower.contains(fragment)).then(|| body.to_owned());
    }
    let mut starts: Vec<usize> = fragments.iter().filter_map(|fragment| lower.find(fragment)).collect();
    if starts.is_empty() {
        return None;
    }
    starts.sort_unstable();
    starts.dedup();
    let mut marked = String::with_capacity(body.len() + starts.len());
    let mut copied = 0;
    for start in starts.into_iter().filter(|&start| body.is_char_boundary(start)) {
        marked.push_str(&body[copied..start]);
        marked.push(MARK_START);
        copied = start;
    }
    marked.push_str(&body[copied..]);
    Some(marked)
}
