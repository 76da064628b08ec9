//! Bare full text: one table, one expression, the engine's own rank.

use rusqlite::{Connection, params};

use super::set::{Piece, Set};
use super::{MAX_RANKING_DEPTH, RankedDocument, Rankings};

/// Ranks by any word of the question, with porter stems.
pub(crate) fn any_word(set: &Set) -> Rankings {
    each_group(set, "porter unicode61", |db, text| match_all(db, "plain", &quoted(text, 1).join(" OR "), 1.0))
}

/// Ranks as engram does: the words one after another, which the engine reads as *all of them*.
pub(crate) fn every_word(set: &Set) -> Rankings {
    each_group(set, "unicode61", |db, text| match_all(db, "plain", &quoted(text, 1).join(" "), 1.0))
}

fn each_group(set: &Set, tokenizer: &str, ask: impl Fn(&Connection, &str) -> Vec<(usize, f64)>) -> Rankings {
    super::by_group(set, |documents, questions| {
        let pieces = set.pieces(documents);
        let mut db = Connection::open_in_memory().unwrap();
        fill(&mut db, "plain", tokenizer, &pieces);
        let answers = questions.iter().map(|&asked| ask(&db, &set.questions[asked].text));
        answers.map(|found| found.into_iter().map(|(at, score)| ranked(&pieces[at], score)).collect()).collect()
    })
}

pub(crate) fn ranked(piece: &Piece<'_>, score: f64) -> RankedDocument {
    RankedDocument { document: piece.document, score, shown: piece.text.to_owned() }
}

pub(crate) fn fill(db: &mut Connection, table: &str, tokenizer: &str, pieces: &[Piece<'_>]) {
    db.execute_batch(&format!("CREATE VIRTUAL TABLE {table} USING fts5 (title, body, tokenize = '{tokenizer}')"))
        .unwrap();
    let tx = db.transaction().unwrap();
    for (at, piece) in pieces.iter().enumerate() {
        tx.prepare_cached(&format!("INSERT INTO {table} (rowid, title, body) VALUES (?1, ?2, ?3)"))
            .unwrap()
            .execute(params![at as i64, piece.title, piece.text])
            .unwrap();
    }
    tx.commit().unwrap();
}

/// Returns the best rows for an expression, with their scores; `title` is the weight of the title.
pub(crate) fn match_all(db: &Connection, table: &str, expression: &str, title: f64) -> Vec<(usize, f64)> {
    if expression.is_empty() {
        return Vec::new();
    }
    let sql = format!(
        "SELECT rowid, -bm25({table}, ?2, 1.0) AS score FROM {table} WHERE {table} MATCH ?1 ORDER BY score DESC, rowid LIMIT {MAX_RANKING_DEPTH}"
    );
    let mut statement = db.prepare_cached(&sql).unwrap();
    let rows = statement.query_map(params![expression, title], |row| Ok((row.get::<_, i64>(0)? as usize, row.get(1)?)));
    rows.unwrap().map(Result::unwrap).collect()
}

/// Returns the words of a text as quoted terms of the engine, without those that are too short.
pub(crate) fn quoted(text: &str, shortest: usize) -> Vec<String> {
    words(text, shortest).iter().map(|word| format!("\"{word}\"")).collect()
}

/// Returns the words of a text in lower case, without those that are too short.
pub(crate) fn words(text: &str, shortest: usize) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() >= shortest.max(1));
    words.map(str::to_lowercase).collect()
}
