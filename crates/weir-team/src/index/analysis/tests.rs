//! Compares our tokens with those of FTS5.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

use std::collections::BTreeMap;

use super::*;

/// Returns the tokens that FTS5 makes of each text.
fn of_engine(texts: &[String]) -> Vec<Vec<String>> {
    #[expect(clippy::disallowed_methods, reason = "asks the engine itself, which keeps nothing")]
    let connection = rusqlite::Connection::open_in_memory().unwrap();
    connection
        .execute_batch(
            "CREATE VIRTUAL TABLE t USING fts5 (x, tokenize = 'porter unicode61 remove_diacritics 2');
             CREATE VIRTUAL TABLE v USING fts5vocab (t, 'instance');
             BEGIN;",
        )
        .unwrap();
    let mut insert = connection.prepare("INSERT INTO t (rowid, x) VALUES (?1, ?2)").unwrap();
    for (at, text) in texts.iter().enumerate() {
        insert.execute(rusqlite::params![at as i64, text]).unwrap();
    }
    let mut select = connection.prepare("SELECT doc, offset, term FROM v").unwrap();
    let rows = select.query_map([], |row| Ok(((row.get(0)?, row.get(1)?), row.get(2)?))).unwrap();
    let terms: BTreeMap<(i64, i64), String> = rows.map(Result::unwrap).collect();
    let mut found = vec![Vec::new(); texts.len()];
    for ((at, _), term) in terms {
        found[at as usize].push(term);
    }
    found
}

fn of_ours(text: &str) -> Vec<String> {
    let project = "0".repeat(NAME_BYTES);
    let (mut tokenizer, mut found) = (WordTokenizer::default(), Vec::new());
    let text = of_project(&project, text);
    let mut stream = tokenizer.token_stream(&text);
    while stream.advance() {
        found.push(stream.token().text[NAME_BYTES..].to_owned());
    }
    found
}

fn check(texts: &[String]) {
    for (text, expected) in texts.iter().zip(of_engine(texts)) {
        assert_eq!(of_ours(text), expected, "{text}");
    }
}

#[test]
fn stems_are_those_of_the_engine() {
    let beginnings = ["", "b", "a", "y", "bl", "tr", "ab", "ba", "by", "oat", "bob", "hop", "fill", "conn", "relate"];
    let middles = ["", "e", "i", "y", "at", "bl", "iz", "tt", "ss", "ll", "al", "er", "ion", "ous", "able", "ness"];
    let endings = [
        "", "s", "es", "ies", "sses", "ss", "ed", "eed", "ing", "y", "ly", "ational", "tional", "enci",
        "anci", // typos: allow
        "izer", "logi", "bli", "alli", "entli", "eli", "ousli", "ization", "ation", "ator", "alism",
        "iveness", // typos: allow
        "fulness", "ousness", "aliti", "iviti", "biliti", "icate", "iciti", "ful", "ative", "alize",
        "ance", // typos: allow
        "able", "ement", "ment", "ent", "sion", "tion", "ism", "ate", "ive", "ize", "e", "ll", // typos: allow
    ];
    let mut words = Vec::new();
    for beginning in beginnings {
        for middle in middles {
            words.extend(endings.map(|ending| format!("{beginning}{middle}{ending}")));
        }
    }
    words.retain(|word| !word.is_empty());
    assert!(words.len() > 10_000);
    check(&words);
}

#[test]
fn words_of_every_script_are_split_and_folded_as_the_engine_does() {
    let texts = [
        "Größe und Straße, ÜBER naïve cafés",
        "parse_HTTPRequest(url) -> Result<Vec<u8>, Error>",
        "C:\\Windows\\system32 and /usr/local/bin v1.2.3-beta",
        "размер пула СОЕДИНЕНИЙ й",
        "数据库连接池的大小 データベース接続",
        "Ελληνικά ΟΔΟΣ",
        "Việt Nam: tiếng Việt, ắ ằ ẵ",
        "øre æble łódź Đà",
        "x² ½ ① Ⅷ 42 3f2a9c",
        "a ★ between words",
        "re\u{301}sume\u{301} in Zu\u{308}rich \u{301} alone",
    ];
    check(&texts.map(str::to_owned));
}

#[test]
fn a_query_word_is_the_token_of_the_text() {
    let project = "f".repeat(NAME_BYTES);
    for (query, text) in [("connections", "Connection"), ("ΟΔΟΣ", "οδος"), ("i\u{307}stanbul", "İstanbul")] {
        let expected = of_ours(text).into_iter().map(|token| format!("{project}{token}")).next();
        assert_eq!(query_token(&project, &query.to_lowercase()), expected, "{query}");
    }
    assert_eq!(query_token(&project, "\u{301}"), None);
    let long = "x".repeat(10_000);
    assert_eq!(query_token(&project, &long).unwrap().len(), NAME_BYTES + MAX_WORD_BYTES);
}
