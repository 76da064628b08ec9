//! A walk over the heads of all cells, one after the other. Invariant: a cell that cannot be read now is left out of a walk
//! that is repeated, and is looked at from where it was in the next one, so that it keeps no other from being indexed.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use weir_records::{HeadPage, HeadWalk, Log as _, Result};

use super::Cells;

/// How many walks are remembered. A walk that follows a forgotten one finds all heads.
const MAX_WALKS: usize = 64;
/// Where the number of a cell begins in the number of the last tenant that was looked at. A cell numbers its tenants
/// itself, and has fewer than 2^40.
const CELL_BITS: u32 = 40;

/// The walks that were made.
#[derive(Default)]
pub(super) struct Walks(Mutex<State>);

#[derive(Default)]
struct State {
    last_walk: u64,
    /// The marks of each walk: of each cell, its own.
    marks: BTreeMap<u64, BTreeMap<u32, u64>>,
    /// Cells that could not be read.
    failed: BTreeSet<u32>,
}

impl State {
    fn mark(&self, walk: u64, cell: u32) -> u64 {
        self.marks.get(&walk).and_then(|marks| marks.get(&cell)).copied().unwrap_or_default()
    }

    fn begin(&mut self) -> u64 {
        self.last_walk += 1;
        self.marks.insert(self.last_walk, BTreeMap::new());
        while self.marks.len() > MAX_WALKS {
            self.marks.pop_first();
        }
        self.last_walk
    }
}

impl Walks {
    /// Goes on with a walk.
    pub(super) fn go_on(&self, cells: &Cells, walk: HeadWalk, limit: usize) -> Result<HeadPage> {
        let state = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let all = cells.directory.cells()?;
        let first = u32::try_from(walk.last.0 >> CELL_BITS).unwrap_or(u32::MAX);
        let mut left = all.iter().filter(|cell| cell.number >= first);
        let Some(cell) = left.next() else {
            return Ok(HeadPage { heads: Vec::new(), next: walk.following(), is_last: true });
        };
        let number = cell.number;
        let before = if number == first { walk.last } else { (0, 0) };
        let since = state().mark(walk.since, number);
        let mark = if walk.mark == 0 { 0 } else { state().mark(walk.mark, number) };
        let last = (before.0 & ((1 << CELL_BITS) - 1), before.1);
        let in_cell = HeadWalk { since, mark, last };
        let page = if state().failed.remove(&number) {
            HeadPage { heads: Vec::new(), next: HeadWalk { since, ..HeadWalk::default() }, is_last: true }
        } else {
            cells.call(&cell.name, "look for new records", |log| log.moved_heads(in_cell, limit)).inspect_err(|_| {
                state().failed.insert(number);
            })?
        };
        let mut state = state();
        let this = if walk.mark == 0 { state.begin() } else { walk.mark };
        let (mark, last) = match page.is_last {
            true => (page.next.since, (u64::from(number + 1) << CELL_BITS, 0)),
            false => (page.next.mark, ((u64::from(number) << CELL_BITS) | page.next.last.0, page.next.last.1)),
        };
        state.marks.entry(this).or_default().insert(number, mark);
        let next = HeadWalk { since: walk.since, mark: this, last };
        let is_last = page.is_last && left.next().is_none();
        Ok(HeadPage { heads: page.heads, next: if is_last { next.following() } else { next }, is_last })
    }
}
