//! Packs the blocks of a text into chunks.
//!
//! Invariant: a block is never cut, and a chunk is never longer than [`MAX_CHUNK_BYTES`]. A chunk is only emitted once
//! the next one is known, so that a tail or a short opening can still join it.

use super::{MAX_CHUNK_BYTES, Piece, TARGET_CHUNK_BYTES};

/// Size below which a chunk joins its neighbour, in bytes.
const MIN_CHUNK_BYTES: usize = 200;
/// Minimum size of a chunk when looking for a better place to cut, in bytes.
const MIN_CUT_BYTES: usize = TARGET_CHUNK_BYTES / 4;

/// A block found by a scanner: a part of the text that is best kept whole, never longer than a chunk may be.
#[derive(Debug)]
pub(super) struct TextBlock {
    pub(super) length: usize,
    pub(super) joint: Joint,
    pub(super) heading: Option<String>,
}

/// The relation of a block to the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Joint {
    /// The block is a chunk of its own.
    Apart,
    /// The block is the heading of a section of this level: a chunk begins here.
    Section(u8),
    /// The block is a symbol with this indentation. A cut here is better than one at a deeper symbol or within a
    /// symbol.
    Symbol(usize),
    /// The block continues the one before it.
    Follows,
}

/// What is not emitted yet: a chunk that is full, and one that is growing.
#[derive(Debug, Default)]
pub(super) struct Packer {
    full: Option<Chunk>,
    growing: Vec<TextBlock>,
    /// The length of `growing`.
    length: usize,
    /// Number of bytes emitted in this call.
    given: usize,
    heading: String,
    level: u8,
}

#[derive(Debug)]
struct Chunk {
    length: usize,
    heading: String,
    /// The level of the section that the chunk begins with, if any.
    opens: Option<u8>,
    /// The level of the section that the chunk ends in.
    level: u8,
}

impl Packer {
    /// Returns how many bytes were read but not emitted, and resets the count of this call.
    pub(super) fn waiting(&mut self) -> usize {
        self.given = 0;
        self.length + self.full.as_ref().map_or(0, |chunk| chunk.length)
    }

    pub(super) fn push(&mut self, block: TextBlock, pieces: &mut Vec<Piece>) {
        match block.joint {
            Joint::Apart => self.finish(pieces),
            Joint::Section(level) => {
                let is_below = self.is_only_headings() && self.last_level() < Some(level);
                if !is_below || self.length + block.length > MAX_CHUNK_BYTES {
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

    pub(super) fn finish(&mut self, pieces: &mut Vec<Piece>) {
        self.close(self.growing.len(), pieces);
        if let Some(chunk) = self.full.take() {
            self.give(chunk, pieces);
        }
    }

    fn has_room_for(&self, block: &TextBlock) -> bool {
        let together = self.length + block.length;
        let is_short = self.length < TARGET_CHUNK_BYTES / 2 || self.is_only_headings();
        self.growing.is_empty() || together <= TARGET_CHUNK_BYTES || (is_short && together <= MAX_CHUNK_BYTES)
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

    /// Returns how many blocks form the chunk: up to the symbol with the least indentation, otherwise all of them.
    fn best_cut(&self, next: Joint) -> usize {
        let strength = |joint: Joint| match joint {
            Joint::Symbol(indent) => usize::MAX - indent,
            _ => 0,
        };
        let (mut best, mut strongest) = (self.growing.len(), strength(next));
        let mut before = self.length;
        for (at, block) in self.growing.iter().enumerate().rev() {
            before -= block.length;
            if before < MIN_CUT_BYTES {
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
                // Titles without text between them count as one: the path of the deepest contains them all.
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

fn joins(full: &Chunk, next: &Chunk) -> bool {
    let together = full.length + next.length;
    together <= MAX_CHUNK_BYTES
        && match next.opens {
            // The tail of a section, or the text before its first symbol.
            None => next.length < MIN_CHUNK_BYTES || full.length < MIN_CHUNK_BYTES,
            // A title with a line or two below it says little without the section that follows.
            Some(level) if level > full.level => full.length < MIN_CHUNK_BYTES,
            Some(_) => together < MIN_CHUNK_BYTES,
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
