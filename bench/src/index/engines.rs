//! The engines that are filled and searched: the store as it is used, and a bare full-text table with the same chunks.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, params};
use weir_core::chunk::{Cutter, Form};
use weir_core::{EntryKind, Level, Limits, NewEntry, Origin, ProjectKey, Query, Scope, Timestamp, query};
use weir_store::{NewFile, Owner, Stamp, Store};

use super::made::MadeFile;
use crate::semantic;

const NOW: Timestamp = Timestamp(1_800_000_000_000);
const MAX_HITS: usize = 10;
const EMBED_BATCH_CHUNKS: usize = 4_096;

pub(super) trait Engine {
    fn name(&self) -> &'static str;
    fn keep(&mut self, batch: Vec<MadeFile>);
    /// Embeds the chunks. Returns `false` if the engine has no vectors.
    fn embed(&mut self) -> bool;
    fn search(&mut self, text: &str) -> usize;
    fn disk(&self) -> f64;
    fn chunks(&self) -> u64;
}

pub(super) struct Weir {
    folder: PathBuf,
    store: Store,
    by_meaning: bool,
}

impl Weir {
    pub(super) fn open(folder: &Path) -> Self {
        let folder = folder.join("weir");
        let store = Store::open(&folder, Owner::Project(key()), Limits::default()).unwrap();
        Self { folder, store, by_meaning: false }
    }

    /// Returns the same store, searched by meaning too.
    pub(super) fn by_meaning(self) -> Self {
        Self { by_meaning: true, ..self }
    }

    pub(super) fn try_search(&mut self, text: &str) -> Result<usize, weir_store::StoreError> {
        let query = Query { now: Some(NOW), ..Query::new(text, MAX_HITS) };
        let scope = Scope::project(key());
        let found = match self.by_meaning {
            true => semantic::search(&mut self.store, &scope, query)?,
            false => self.store.search(&scope, &query)?,
        };
        Ok(found.hits.len())
    }
}

impl Engine for Weir {
    fn name(&self) -> &'static str {
        "weir"
    }

    fn keep(&mut self, batch: Vec<MadeFile>) {
        let files = batch.into_iter().map(|MadeFile { path, text }| {
            let stamp = Stamp { bytes: text.len() as u64, modified: 0, hash: path.clone() };
            let entry = NewEntry::new(EntryKind::File, Origin::User, Level::Project, path.clone());
            NewFile { entry: NewEntry { source: Some(path), text: text.into_bytes(), ..entry }, stamp }
        });
        self.store.keep_files(&Scope::project(key()), files.collect(), NOW).unwrap();
        self.store.catch_up().unwrap();
    }

    fn embed(&mut self) -> bool {
        semantic::embed_all(&mut self.store, EMBED_BATCH_CHUNKS);
        true
    }

    fn search(&mut self, text: &str) -> usize {
        self.try_search(text).unwrap()
    }

    fn disk(&self) -> f64 {
        disk(&self.folder)
    }

    fn chunks(&self) -> u64 {
        let index = Connection::open(self.folder.join("index.db")).unwrap();
        count(&index, "chunks")
    }
}

pub(super) struct Bare {
    folder: PathBuf,
    db: Connection,
}

impl Bare {
    pub(super) fn open(folder: &Path) -> Self {
        let folder = folder.join("bare");
        std::fs::create_dir_all(&folder).unwrap();
        let db = Connection::open(folder.join("bare.db")).unwrap();
        db.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
             CREATE VIRTUAL TABLE IF NOT EXISTS plain
                 USING fts5 (title, body, tokenize = 'porter unicode61 remove_diacritics 2');",
        )
        .unwrap();
        Self { folder, db }
    }
}

impl Engine for Bare {
    fn name(&self) -> &'static str {
        "bare FTS5"
    }

    fn keep(&mut self, batch: Vec<MadeFile>) {
        let tx = self.db.transaction().unwrap();
        for MadeFile { path, text } in batch {
            for piece in Cutter::new(Form::Markdown).cut(text.as_bytes(), true) {
                tx.prepare_cached("INSERT INTO plain (title, body) VALUES (?1, ?2)")
                    .unwrap()
                    .execute(params![path, &text[piece.span]])
                    .unwrap();
            }
        }
        tx.commit().unwrap();
    }

    fn embed(&mut self) -> bool {
        false
    }

    fn search(&mut self, text: &str) -> usize {
        let terms = query::terms(text).iter().map(|term| format!("\"{}\"", term.words.join(" "))).collect::<Vec<_>>();
        let mut statement = self
            .db
            .prepare_cached(
                "SELECT rowid, title, snippet(plain, 1, '', '', '…', 40) FROM plain WHERE plain MATCH ?1
                 ORDER BY rank LIMIT ?2",
            )
            .unwrap();
        let rows = statement.query_map(params![terms.join(" OR "), MAX_HITS as i64], |row| row.get::<_, String>(2));
        rows.unwrap().filter(Result::is_ok).count()
    }

    fn disk(&self) -> f64 {
        disk(&self.folder)
    }

    fn chunks(&self) -> u64 {
        count(&self.db, "plain")
    }
}

fn count(db: &Connection, table: &str) -> u64 {
    db.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get::<_, i64>(0)).unwrap() as u64
}

fn key() -> ProjectKey {
    ProjectKey("index".into())
}

fn disk(folder: &Path) -> f64 {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let about = entry.metadata().unwrap();
        bytes += if about.is_dir() { (disk(&entry.path()) * 1e6) as u64 } else { about.len() };
    }
    bytes as f64 / 1e6
}
