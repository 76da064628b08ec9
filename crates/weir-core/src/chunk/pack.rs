//! Packs the blocks of a text into chunks.
//!
//! Invariant: a block is never cut, and a chunk is never longer than [`LIMIT`]. A chunk is given out when the one
//! after it is known, so that a tail or a short opening can still join it.

use super::{LIMIT, Piece, TARGET};

/// Chunks as short as this join their neighbour.
const TINY: usize = 200;
/// A chunk is not cut before this, for the sake of a better place.
const LEAST: usize = TARGET / 4;

/// What a form finds: a part of the text that is best kept whole, never longer than a chunk may be.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) length: usize,
    pub(super) joint: Joint,
    /// The heading from here on, where it changes.
    pub(super) heading: Option<String>,
}

/// How a block stands to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joint {
    /// It is a chunk of its own.
    Apart,
    /// It is the heading of a section of this level: a chunk begins here.
    Section(u8),
    /// It is a symbol that is indented so far: a chunk begins here rather than deeper or within a symbol.
    Symbol(usize),
    /// It goes on.
    Follows,
}

/// What is gathered and not given out yet: a chunk that is full, and one that is growing.
#[derive(Debug, Default)]
pub(super) struct Packer {
    full: Option<Chunk>,
    growing: Vec<Block>,
    /// The length of `growing`.
    length: usize,
    /// How much was given out in this call.
    given: usize,
    heading: String,
    level: u8,
}

/// A chunk that is full.
#[derive(Debug)]
struct Chunk {
    length: usize,
    heading: String,
    /// The level of the section it begins, if it begins one.
    opens: Option<u8>,
    /// The level of the section it ends in.
    level: u8,
}

impl Packer {
    /// How much of the text was read and not given out. A call begins here.
    pub(super) fn waiting(&mut self) -> usize {
        self.given = 0;
        self.length + self.full.as_ref().map_or(0, |chunk| chunk.length)
    }

    /// Takes the next block.
    pub(super) fn push(&mut self, block: Block, pieces: &mut Vec<Piece>) {
        match block.joint {
            Joint::Apart => self.finish(pieces),
            Joint::Section(level) => {
                let is_below = self.is_only_headings() && self.last_level() < Some(level);
                if !is_below || self.length + block.length > LIMIT {
                    self.close(self.growing.len(), pieces);
                }
            }
            Joint::Symbol(_) | Joint::Follows => {
                while !self.has_room_for(&block) {
                    self.close(self.best_cut(block.joint), pieces);
                }
            }
        }
        let is_apart = block.joint == Joint::Apart;
        self.length += block.length;
        self.growing.push(block);
        if is_apart {
            self.finish(pieces);
        }
    }

    /// Gives out all there is.
    pub(super) fn finish(&mut self, pieces: &mut Vec<Piece>) {
        self.close(self.growing.len(), pieces);
        if let Some(chunk) = self.full.take() {
            self.give(chunk, pieces);
        }
    }

    fn has_room_for(&self, block: &Block) -> bool {
        let together = self.length + block.length;
        let is_short = self.length < TARGET / 2 || self.is_only_headings();
        self.growing.is_empty() || together <= TARGET || (is_short && together <= LIMIT)
    }

    fn is_only_headings(&self) -> bool {
        !self.growing.is_empty() && self.growing.iter().all(|block| matches!(block.joint, Joint::Section(_)))
    }

    fn last_level(&self) -> Option<u8> {
        self.growing.iter().rev().find_map(|block| match block.joint {
            Joint::Section(level) => Some(level),
            _ => None,
        })
    }

    /// How many of the blocks make the chunk: up to the symbol that is indented least, else all of them.
    fn best_cut(&self, next: Joint) -> usize {
        let strength = |joint: Joint| match joint {
            Joint::Symbol(indent) => usize::MAX - indent,
            _ => 0,
        };
        let (mut best, mut strongest) = (self.growing.len(), strength(next));
        let mut before = self.length;
        for (at, block) in self.growing.iter().enumerate().rev() {
            before -= block.length;
            if before < LEAST {
                break;
            }
            if strength(block.joint) > strongest {
                (best, strongest) = (at, strength(block.joint));
            }
        }
        best
    }

    /// Makes a chunk of the first `count` blocks.
    fn close(&mut self, count: usize, pieces: &mut Vec<Piece>) {
        if count == 0 {
            return;
        }
        let (mut length, mut opens) = (0, None);
        let mut heading = self.heading.clone();
        for (at, block) in self.growing.drain(..count).enumerate() {
            length += block.length;
            if let Joint::Section(level) = block.joint {
                opens.get_or_insert(level);
                self.level = level;
            }
            if let Some(now) = block.heading {
                // Titles without a text between them are one: the deepest says them all.
                if at == 0 || heading.is_empty() || matches!(block.joint, Joint::Section(_)) {
                    heading.clone_from(&now);
                }
                self.heading = now;
            }
        }
        self.length -= length;
        let chunk = Chunk { length, heading, opens, level: self.level };
        match self.full.take() {
            Some(full) if joins(&full, &chunk) => self.full = Some(joined(full, chunk)),
            Some(full) => {
                self.give(full, pieces);
                self.full = Some(chunk);
            }
            None => self.full = Some(chunk),
        }
    }

    fn give(&mut self, chunk: Chunk, pieces: &mut Vec<Piece>) {
        let start = self.given;
        self.given += chunk.length;
        pieces.push(Piece { span: start..self.given, heading: chunk.heading });
    }
}

/// Whether a full chunk and the next one are better one.
fn joins(full: &Chunk, next: &Chunk) -> bool {
    let together = full.length + next.length;
    together <= LIMIT
        && match next.opens {
            // The tail of a section, or what stands before its first symbol.
            None => next.length < TINY || full.length < TINY,
            // A title with a line or two below it says little without the section that follows.
            Some(level) if level > full.level => full.length < TINY,
            Some(_) => together < TINY,
        }
}

fn joined(full: Chunk, next: Chunk) -> Chunk {
    let is_deeper = next.opens.is_some_and(|level| level > full.level) || full.heading.is_empty();
    Chunk {
        length: full.length + next.length,
        heading: if is_deeper { next.heading } else { full.heading },
        opens: full.opens,
        level: next.level,
    }
}
