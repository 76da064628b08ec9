//! The words of the index as they are written, used to resolve misspelt words, prefixes and parts of words. Invariant:
//! a word that only a forgotten entry has is forgotten with it.

use std::collections::HashSet;

use rusqlite::{Connection, Transaction, params};
use weir_core::words;
use weir_ledger::Sql as _;

use super::chunk_texts::{ChunkTexts, TitledText};
use super::documents::{self, CHUNK_COLUMNS, ChunkRow};
use crate::error::{Fault, Unreadable};

/// Maximum number of words remembered as known, so that most need no database query. Each takes eight bytes.
const MAX_REMEMBERED_WORDS: usize = 1 << 20;
/// Number of slots for frequent words. A power of two, so that finding a slot takes no division.
const FREQUENT_WORDS: usize = 1 << 14;
/// Maximum number of words that a part or prefix expands to. More would add little and cost much.
const MAX_EXPANDED_WORDS: usize = 30;
const MAX_CANDIDATES: usize = 8_000;
/// Maximum number of chunks that are searched for another use of a word before it is forgotten.
const MAX_SEARCHED_CHUNKS: usize = 50;

/// Learns words, and remembers which ones it has learnt until another process writes to the index, since that process
/// may forget one.
#[derive(Default)]
pub(crate) struct Learner {
    /// Words as written in texts, each as a number.
    known: HashSet<u64, std::hash::BuildHasherDefault<IdentityHasher>>,
    /// Some of the same numbers, each in the slot of its last bits: most words of a text are frequent ones, and this
    /// table fits into the processor's cache.
    frequent: Vec<u64>,
    as_of: i64,
    /// The number of removed chunks when those that are left were last counted.
    pub(super) removed_when_counted: i64,
}

impl Learner {
    /// Forgets everything learnt before another process wrote to the index.
    pub(super) fn trust_only(&mut self, as_of: i64) {
        if self.as_of != as_of {
            self.distrust();
            self.as_of = as_of;
        }
    }

    /// Forgets everything, because what was learnt was not committed.
    pub(super) fn distrust(&mut self) {
        self.known.clear();
        self.frequent.clear();
    }

    pub(super) fn learn(&mut self, tx: &Transaction<'_>, text: &str) -> rusqlite::Result<()> {
        let mut result = Ok(());
        self.frequent.resize(FREQUENT_WORDS, 0);
        words::each_word(text, |word| {
            if result.is_ok() && self.is_new(fingerprint(word)) {
                words::spellings(word, |word| {
                    if result.is_ok() {
                        result = insert(tx, word);
                    }
                });
            }
        });
        if self.known.len() > MAX_REMEMBERED_WORDS {
            self.distrust();
        }
        result
    }

    /// Remembers a word. Returns whether it was not remembered yet.
    fn is_new(&mut self, word: u64) -> bool {
        let slot = &mut self.frequent[word as usize % FREQUENT_WORDS];
        if *slot == word {
            return false;
        }
        *slot = word;
        self.known.insert(word)
    }
}

fn insert(tx: &Transaction<'_>, word: &str) -> rusqlite::Result<()> {
    let marked = format!("^{word}$");
    let new = tx.sql("INSERT INTO vocabulary (word) VALUES (?1) ON CONFLICT DO NOTHING").execute([&marked])?;
    if new == 1 {
        tx.sql("INSERT INTO spellings (rowid, word) VALUES (?1, ?2)").run(params![tx.last_insert_rowid(), marked])?;
    }
    Ok(())
}

/// Forgets words that no chunk has any more. Called once their chunks are removed from the index.
pub(super) fn forget(
    tx: &Transaction<'_>,
    texts: &mut ChunkTexts<'_>,
    forgotten: &HashSet<String>,
) -> Result<(), Fault> {
    for word in forgotten {
        if !is_used(tx, texts, word)? {
            remove(tx, word)?;
        }
    }
    Ok(())
}

/// Returns whether a chunk has exactly this word. The full-text table has only its stem, so the texts are searched, but
/// only some of them: a word missing from the vocabulary can still be searched for.
fn is_used(tx: &Transaction<'_>, texts: &mut ChunkTexts<'_>, word: &str) -> Result<bool, Fault> {
    let sql = format!(
        "SELECT {CHUNK_COLUMNS} FROM words CROSS JOIN chunks ON chunks.id = words.rowid WHERE words MATCH ?1 LIMIT ?2"
    );
    let mut statement = tx.prepare_cached(&sql)?;
    let mut rows = statement.query(params![format!("\"{word}\""), MAX_SEARCHED_CHUNKS as i64])?;
    while let Some(row) = rows.next()? {
        let Some(text) = read(tx, texts, &ChunkRow::read(row)?)? else { continue };
        let mut used = false;
        words::each_spelling(&text.title, |other| used |= other == word);
        words::each_spelling(&text.body, |other| used |= other == word);
        if used {
            return Ok(true);
        }
    }
    Ok(false)
}

fn remove(tx: &Transaction<'_>, word: &str) -> rusqlite::Result<()> {
    let marked = format!("^{word}$");
    let id: Option<i64> = tx.sql("SELECT id FROM vocabulary WHERE word = ?1").find_value([&marked])?;
    let Some(id) = id else { return Ok(()) };
    tx.sql("INSERT INTO spellings (spellings, rowid, word) VALUES ('delete', ?1, ?2)").run(params![id, marked])?;
    tx.sql("DELETE FROM vocabulary WHERE id = ?1").run([id])
}

/// Forgets all words and learns those that the chunks have.
pub(super) fn relearn(tx: &Transaction<'_>, texts: &mut ChunkTexts<'_>) -> Result<(), Fault> {
    tx.execute_batch("INSERT INTO spellings (spellings) VALUES ('delete-all'); DELETE FROM vocabulary WHERE id > 0;")?;
    let mut learner = Learner::default();
    let mut statement = tx.prepare(&format!("SELECT {CHUNK_COLUMNS} FROM chunks WHERE id > 0"))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let Some(text) = read(tx, texts, &ChunkRow::read(row)?)? else { continue };
        learner.learn(tx, &text.title)?;
        learner.learn(tx, &text.body)?;
    }
    Ok(())
}

/// Reads a chunk. If its text cannot be read at the moment, marks its entry: once it is indexed again, its words are
/// learnt.
fn read(tx: &Transaction<'_>, texts: &mut ChunkTexts<'_>, chunk: &ChunkRow) -> Result<Option<TitledText>, Fault> {
    let text = texts.read(chunk)?;
    if text.as_ref().and_then(|text| text.unreadable) == Some(Unreadable::Now) {
        documents::mark(tx, chunk.entry_id, Unreadable::Now)?;
    }
    Ok(text)
}

/// Returns whether some text has exactly this word, in any case. Always false for words that are not learnt.
pub(super) fn has(db: &Connection, word: &str) -> rusqlite::Result<bool> {
    db.sql("SELECT 1 FROM vocabulary WHERE word = ?1").has([format!("^{word}$")])
}

pub(super) fn beginning_with(db: &Connection, start: &str) -> rusqlite::Result<Vec<String>> {
    let (from, to) = (format!("^{start}"), format!("^{start}\u{10ffff}"));
    db.sql("SELECT word FROM vocabulary WHERE word >= ?1 AND word < ?2 ORDER BY word LIMIT ?3")
        .all(params![from, to, MAX_EXPANDED_WORDS as i64], |row| row.get(0).map(unmarked))
}

/// Returns words that contain this part, the shortest first.
pub(super) fn containing(db: &Connection, part: &str) -> rusqlite::Result<Vec<String>> {
    let chars: Vec<char> = part.chars().collect();
    let pieces: Vec<String> = chars.windows(3).take(60).map(quoted).collect();
    if pieces.is_empty() {
        return Ok(Vec::new());
    }
    let mut words = candidates(db, &pieces.join(" AND "))?;
    words.retain(|word| word.contains(part));
    words.sort_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
    words.truncate(MAX_EXPANDED_WORDS);
    Ok(words)
}

/// Returns words that this one may be a misspelling of. Only the closest are returned, and all of them are equally
/// close.
pub(super) fn near(db: &Connection, word: &str) -> rusqlite::Result<Vec<String>> {
    let length = word.chars().count();
    let most = match length {
        // A name with a different number is a different name, not a misspelling.
        _ if word.chars().any(char::is_numeric) => return Ok(Vec::new()),
        0..4 => return Ok(Vec::new()),
        4..8 => 1,
        _ => 2,
    };
    // An edit changes only one of the pieces that do not overlap, so it is enough to find one of the others.
    let marked: Vec<char> = format!("^{word}$").chars().collect();
    let mut pieces: Vec<String> = marked.chunks_exact(3).map(quoted).collect();
    pieces.extend(marked.rchunks_exact(3).map(quoted));
    pieces.sort_unstable();
    pieces.dedup();
    let mut best: Vec<(usize, String)> = Vec::new();
    for candidate in candidates(db, &pieces.join(" OR "))? {
        if candidate.chars().count().abs_diff(length) > most {
            continue;
        }
        let distance = strsim::osa_distance(word, &candidate);
        if distance > 0 && distance <= most {
            best.push((distance, candidate));
        }
    }
    best.sort_unstable();
    let nearest = best.first().map_or(0, |(distance, _)| *distance);
    Ok(best.into_iter().take_while(|(distance, _)| *distance == nearest).map(|(_, word)| word).collect())
}

fn candidates(db: &Connection, expression: &str) -> rusqlite::Result<Vec<String>> {
    db.sql(
        "SELECT v.word FROM spellings CROSS JOIN vocabulary v ON v.id = spellings.rowid
         WHERE spellings MATCH ?1 LIMIT ?2",
    )
    .all(params![expression, MAX_CANDIDATES as i64], |row| row.get(0).map(unmarked))
}

fn unmarked(word: String) -> String {
    word.trim_start_matches('^').trim_end_matches('$').to_owned()
}

/// Quotes a piece for the engine. Words consist of letters and digits only, so nothing has to be escaped.
fn quoted(piece: &[char]) -> String {
    format!("\"{}\"", piece.iter().collect::<String>())
}

/// Returns a number for a word. If two words had the same number, one of them would not be learnt; the chance is one in
/// a million billion.
fn fingerprint(word: &str) -> u64 {
    let mut state = 0xcbf2_9ce4_8422_2325_u64;
    for part in word.as_bytes().chunks(8) {
        let mut bytes = [0; 8];
        bytes[..part.len()].copy_from_slice(part);
        state = (state.rotate_left(23) ^ u64::from_le_bytes(bytes)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
    state ^ (state >> 29)
}

/// Uses a number that is already well distributed as its own hash.
#[derive(Default)]
struct IdentityHasher(u64);

impl std::hash::Hasher for IdentityHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}
