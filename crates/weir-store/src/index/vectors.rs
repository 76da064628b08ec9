//! The vectors of chunks: one byte per number, up to 1,024 vectors in a row, in the order of the chunks.
//!
//! Invariants: all vectors are of one model; a chunk that is gone has none; the cost of adding depends on what is
//! added, plus a share of merging small rows.

use rusqlite::{Connection, Transaction, params};
use weir_ledger::Sql as _;

use crate::quantised::{Quantised, dots};

/// Maximum number of vectors in a row. With fewer, a scan reads more rows; with more, a lookup reads more pages.
const MAX_BLOCK_VECTORS: usize = 1_024;
const ID_BYTES: usize = 4;
const SCALE_BYTES: usize = 4;

/// Which chunks have vectors, and of which model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EmbedProgress {
    pub(crate) embedded: i64,
    pub(crate) next_chunk: i64,
    pub(crate) model: String,
}

/// Reads which chunks have vectors.
pub(crate) fn covered(db: &Connection) -> rusqlite::Result<EmbedProgress> {
    db.sql("SELECT embedded, next_chunk, model FROM progress WHERE id = 1")
        .one([], |row| Ok(EmbedProgress { embedded: row.get(0)?, next_chunk: row.get(1)?, model: row.get(2)? }))
}

/// Removes all vectors, to start over with another model.
pub(crate) fn begin(tx: &Transaction<'_>, model: &str) -> rusqlite::Result<()> {
    tx.execute_batch("DELETE FROM vectors WHERE first > 0")?;
    tx.execute("UPDATE progress SET embedded = 0, model = ?1 WHERE id = 1", [model]).map(drop)
}

struct VectorBlock {
    first: i64,
    ids: Vec<u8>,
    scales: Vec<u8>,
    data: Vec<u8>,
}

impl VectorBlock {
    fn len(&self) -> usize {
        self.ids.len() / ID_BYTES
    }

    fn push(&mut self, id: i64, vector: &Quantised) {
        self.ids.extend_from_slice(&offset(self.first, id).to_le_bytes());
        self.scales.extend_from_slice(&vector.scale.to_le_bytes());
        self.data.extend(vector.values.iter().map(|value| value.cast_unsigned()));
    }

    fn append(&mut self, other: &VectorBlock) {
        for id in ids(other.first, &other.ids) {
            self.ids.extend_from_slice(&offset(self.first, id).to_le_bytes());
        }
        self.scales.extend_from_slice(&other.scales);
        self.data.extend_from_slice(&other.data);
    }
}

/// Adds the vectors of chunks that come after all those with a vector, and records that everything up to `embedded` is
/// done.
pub(crate) fn add(tx: &Transaction<'_>, vectors: &[(i64, Quantised)], embedded: i64) -> rusqlite::Result<()> {
    for part in vectors.chunks(MAX_BLOCK_VECTORS) {
        let Some((first, _)) = part.first() else { continue };
        let mut block = VectorBlock { first: *first, ids: Vec::new(), scales: Vec::new(), data: Vec::new() };
        part.iter().for_each(|(id, vector)| block.push(*id, vector));
        // Merge small rows before this one, so that there are few. Each vector is moved a few times at most.
        while let Some(mut before) = last(tx)? {
            if before.len() > block.len()
                || before.len() + block.len() > MAX_BLOCK_VECTORS
                || !fits(before.first, &block)
            {
                break;
            }
            tx.sql("DELETE FROM vectors WHERE first = ?1").run([before.first])?;
            before.append(&block);
            block = before;
        }
        tx.sql("INSERT INTO vectors (first, ids, scales, data) VALUES (?1, ?2, ?3, ?4)")
            .run(params![block.first, block.ids, block.scales, block.data])?;
    }
    tx.sql("UPDATE progress SET embedded = ?1 WHERE id = 1").run([embedded])
}

/// Returns whether the ids of a block can be written as offsets from `first`.
fn fits(first: i64, block: &VectorBlock) -> bool {
    ids(block.first, &block.ids).last().is_none_or(|last| u32::try_from(last - first).is_ok())
}

fn last(db: &Connection) -> rusqlite::Result<Option<VectorBlock>> {
    db.sql("SELECT first, ids, scales, data FROM vectors WHERE first > 0 ORDER BY first DESC LIMIT 1").find([], |row| {
        Ok(VectorBlock { first: row.get(0)?, ids: row.get(1)?, scales: row.get(2)?, data: row.get(3)? })
    })
}

/// Overwrites the vectors of chunks with zeros.
pub(super) fn remove(tx: &Transaction<'_>, chunks: &[i64]) -> rusqlite::Result<()> {
    let mut sorted = chunks.to_vec();
    sorted.sort_unstable();
    each_found(tx, &sorted, |found| {
        write_zeros(tx, "scales", found.block, found.slot * SCALE_BYTES, SCALE_BYTES)?;
        write_zeros(tx, "data", found.block, found.slot * found.width, found.width)
    })
}

fn write_zeros(tx: &Transaction<'_>, column: &str, row: i64, at: usize, length: usize) -> rusqlite::Result<()> {
    let mut blob = tx.blob_open("main", "vectors", column, row, false)?;
    blob.write_all_at(&vec![0; length], at)
}

pub(super) fn remaining(db: &Connection, chunks: &[i64]) -> rusqlite::Result<usize> {
    let mut found = 0;
    let mut sorted = chunks.to_vec();
    sorted.sort_unstable();
    each_found(db, &sorted, |vector| {
        found += usize::from(vector.scale != 0.0);
        Ok(())
    })?;
    Ok(found)
}

/// Returns the vectors of these chunks, for those that have one. The chunks must be sorted.
pub(super) fn load(db: &Connection, chunks: &[i64]) -> rusqlite::Result<Vec<(i64, Quantised)>> {
    let mut loaded = Vec::with_capacity(chunks.len());
    let mut opened: Option<(i64, rusqlite::blob::Blob<'_>)> = None;
    each_found(db, chunks, |found| {
        if found.scale == 0.0 {
            return Ok(());
        }
        let blob = match &mut opened {
            Some((open, blob)) if *open == found.block => blob,
            other => &mut other.insert((found.block, db.blob_open("main", "vectors", "data", found.block, true)?)).1,
        };
        let mut bytes = vec![0_u8; found.width];
        blob.read_at_exact(&mut bytes, found.slot * found.width)?;
        let values = bytes.into_iter().map(u8::cast_signed).collect();
        loaded.push((found.id, Quantised { scale: found.scale, values }));
        Ok(())
    })?;
    Ok(loaded)
}

/// Returns the chunks closest to a query, closest first. Every vector is compared.
pub(super) fn nearest(db: &Connection, query: &Quantised, most: usize) -> rusqlite::Result<Vec<(i64, f32)>> {
    let width = query.values.len();
    let mut statement = db.prepare_cached("SELECT first, ids, scales, data FROM vectors WHERE first > 0")?;
    let mut rows = statement.query([])?;
    let (mut products, mut best, mut least) = (Vec::new(), Vec::new(), f32::MIN_POSITIVE);
    while let Some(row) = rows.next()? {
        let first: i64 = row.get(0)?;
        let (row_ids, row_scales, data) =
            (row.get_ref(1)?.as_blob()?, row.get_ref(2)?.as_blob()?, row.get_ref(3)?.as_blob()?);
        if data.len() != row_ids.len() / ID_BYTES * width {
            continue;
        }
        dots(&query.values, bytemuck::cast_slice(data), width, &mut products);
        for ((id, scale), &dot) in ids(first, row_ids).zip(scales(row_scales)).zip(&products) {
            let near = dot as f32 * scale * query.scale;
            if near > least {
                best.push((id, near));
            }
        }
        // Sort only now and then, not for each vector, so that most vectors cost a single comparison.
        if best.len() > most * 8 {
            least = keep_best(&mut best, most);
        }
    }
    keep_best(&mut best, most);
    Ok(best)
}

/// Keeps the closest in order, and returns how close the last of them is.
fn keep_best(best: &mut Vec<(i64, f32)>, most: usize) -> f32 {
    best.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    best.truncate(most);
    best.last().filter(|_| best.len() == most).map_or(f32::MIN_POSITIVE, |(_, near)| *near)
}

struct VectorSlot {
    id: i64,
    block: i64,
    slot: usize,
    scale: f32,
    width: usize,
}

/// Finds the vectors of chunks, which must be sorted. Each row is read once for all its vectors.
fn each_found(
    db: &Connection,
    chunks: &[i64],
    mut found: impl FnMut(VectorSlot) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let mut statement = db.prepare_cached(
        "SELECT first, ids, scales, length(data) FROM vectors WHERE first <= ?1 ORDER BY first DESC LIMIT 1",
    )?;
    let mut rest = chunks;
    while let Some(&chunk) = rest.first() {
        let mut rows = statement.query([chunk])?;
        let Some(row) = rows.next()? else {
            rest = &rest[1..];
            continue;
        };
        let block: i64 = row.get(0)?;
        let (row_ids, row_scales) = (row.get_ref(1)?.as_blob()?, row.get_ref(2)?.as_blob()?);
        let known: Vec<i64> = ids(block, row_ids).collect();
        let width = row.get::<_, i64>(3)? as usize / known.len().max(1);
        let last = known.last().copied().unwrap_or(block);
        let here = rest.partition_point(|chunk| *chunk <= last).max(1);
        for &id in &rest[..here] {
            if let Ok(slot) = known.binary_search(&id) {
                let scale = scales(row_scales).nth(slot).unwrap_or_default();
                found(VectorSlot { id, block, slot, scale, width })?;
            }
        }
        rest = &rest[here..];
    }
    Ok(())
}

fn offset(first: i64, id: i64) -> u32 {
    u32::try_from(id - first).unwrap_or(u32::MAX)
}

fn ids(first: i64, bytes: &[u8]) -> impl Iterator<Item = i64> {
    bytes
        .chunks_exact(ID_BYTES)
        .map(move |bytes| first + i64::from(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])))
}

fn scales(bytes: &[u8]) -> impl Iterator<Item = f32> {
    bytes.chunks_exact(SCALE_BYTES).map(|bytes| f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
}
