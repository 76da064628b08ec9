//! Looks up the ranks of o200k tokens, in the read-only data of the program.
//!
//! Invariant: a lookup needs no initialisation and no memory; it costs only the pages it touches.

use crate::layout::{self, DISPLACEMENT_BYTES, LengthShape, MAX_TOKEN_BYTES, NO_RANK, RANK_BYTES, SHAPE_BYTES};

/// Returns the rank of the token with these bytes, or [`NO_RANK`].
///
/// The rank is also the priority of the merge that makes the token: lower ranks merge first.
#[inline]
pub(crate) fn rank(bytes: &[u8]) -> u32 {
    let length = bytes.len();
    let Some(&shape) = SHAPES.get(length) else {
        return NO_RANK;
    };
    if shape.slots == 0 {
        return NO_RANK;
    }
    let hash = layout::hash(bytes);
    let at = shape.displacements as usize + layout::bucket(hash, shape) * DISPLACEMENT_BYTES;
    let displacement = u16::from_le_bytes([TABLE[at], TABLE[at + 1]]);
    let slot = layout::slot(hash, displacement, shape);
    let at = shape.entries as usize + slot * (length + RANK_BYTES);
    let (token, rank) = TABLE[at..at + length + RANK_BYTES].split_at(length);
    if same(token, bytes) { u32::from_le_bytes([rank[0], rank[1], rank[2], 0]) } else { NO_RANK }
}

/// Returns whether two slices of the same length are equal. A call of `memcmp` takes longer than most tokens need.
#[inline]
fn same(a: &[u8], b: &[u8]) -> bool {
    if b.len() <= 8 { layout::pack(a) == layout::pack(b) } else { a == b }
}

/// The table written by `build.rs`.
static TABLE: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/o200k.bin"));

/// The head of the table, parsed at compile time.
static SHAPES: [LengthShape; MAX_TOKEN_BYTES + 1] = shapes(TABLE_IN_CONST);

/// The same bytes as a constant, since a static cannot be read while another is evaluated.
const TABLE_IN_CONST: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/o200k.bin"));

const fn shapes(table: &[u8]) -> [LengthShape; MAX_TOKEN_BYTES + 1] {
    let mut shapes = [LengthShape { displacements: 0, buckets: 0, entries: 0, slots: 0 }; MAX_TOKEN_BYTES + 1];
    let mut length = 0;
    while length < shapes.len() {
        let at = length * SHAPE_BYTES;
        shapes[length] = LengthShape {
            displacements: number(table, at),
            buckets: number(table, at + 4),
            entries: number(table, at + 8),
            slots: number(table, at + 12),
        };
        length += 1;
    }
    shapes
}

const fn number(table: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([table[at], table[at + 1], table[at + 2], table[at + 3]])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_token_has_its_rank() {
        let source = tiktoken_rs::o200k_base_singleton();
        for wanted in 0..199_998 {
            let token = source.decode_bytes(&[wanted]).unwrap();
            assert_eq!(rank(&token), wanted, "{token:?}");
        }
    }

    #[test]
    fn bytes_that_are_no_token_have_no_rank() {
        for length in 0..=MAX_TOKEN_BYTES + 1 {
            assert_eq!(rank(&vec![0xFF; length + 3]), NO_RANK);
        }
        assert_eq!(rank(b""), NO_RANK);
        assert_eq!(rank(b"<|endoftext|>"), NO_RANK);
    }

    #[test]
    fn every_byte_is_a_token() {
        for byte in 0..=u8::MAX {
            assert_ne!(rank(&[byte]), NO_RANK);
        }
    }
}
