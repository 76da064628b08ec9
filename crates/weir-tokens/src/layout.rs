//! The layout of the token table, shared by `build.rs`, which writes it, and by [`crate::table`], which reads it.
//!
//! Tokens of the same length share one perfect hash: the hash of the bytes selects a bucket, which holds a
//! displacement, and hash and displacement together select the only slot where those bytes can be. A slot is the bytes
//! of the token followed by its rank, so a lookup reads one displacement and one slot, whether it hits or misses.
//!
//! Invariant: nothing here depends on the machine, since the table may be built on a different one than it is read on.

/// The length of the longest token of o200k, in bytes.
pub(crate) const MAX_TOKEN_BYTES: usize = 128;

/// The rank of bytes that are not a token, both in an empty slot and as the result of a lookup.
pub(crate) const NO_RANK: u32 = 0xFF_FFFF;

pub(crate) const RANK_BYTES: usize = 3;

pub(crate) const DISPLACEMENT_BYTES: usize = 2;

/// The length of one [`LengthShape`] in the head of the table, which has one for each token length from 0 to
/// [`MAX_TOKEN_BYTES`].
pub(crate) const SHAPE_BYTES: usize = 16;

/// The location of the tokens of one length. In the table, these are four little-endian `u32` in this order.
#[derive(Clone, Copy)]
pub(crate) struct LengthShape {
    /// The offset of the displacements in the table.
    pub(crate) displacements: u32,
    /// The number of displacements.
    pub(crate) buckets: u32,
    /// The offset of the slots in the table.
    pub(crate) entries: u32,
    /// The number of slots; 0 if no token has this length.
    pub(crate) slots: u32,
}

/// Returns the hash of a token's bytes.
///
/// It need not distinguish lengths, since each length has its own slots. Up to eight bytes take one multiplication.
#[inline]
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    let length = bytes.len();
    let word = if length <= 8 {
        pack(bytes)
    } else {
        // Mixed first, so that bytes that the tail shares with a chunk do not cancel out.
        let mut word = fold(eight(&bytes[length - 8..]), MULTIPLIERS[3]);
        for chunk in bytes.chunks_exact(8) {
            word = fold(word ^ eight(chunk), MULTIPLIERS[0]);
        }
        word
    };
    fold(word ^ MULTIPLIERS[1], MULTIPLIERS[2])
}

/// Packs at most eight bytes into a number that is unique among bytes of the same length.
#[inline]
pub(crate) fn pack(bytes: &[u8]) -> u64 {
    match *bytes {
        [] => 0,
        [a] => u64::from(a),
        [a, b] => u64::from(u16::from_le_bytes([a, b])),
        [a, b, c] => u64::from(u32::from_le_bytes([a, b, c, 0])),
        _ => four(bytes) | four(&bytes[bytes.len() - 4..]) << 32,
    }
}

/// Returns the bucket, in `shape`, of bytes with this hash.
#[inline]
pub(crate) fn bucket(hash: u64, shape: LengthShape) -> usize {
    scale(hash >> 32, shape.buckets)
}

/// Returns the slot, in `shape`, of bytes with this hash, in a bucket with this displacement.
#[inline]
pub(crate) fn slot(hash: u64, displacement: u16, shape: LengthShape) -> usize {
    let moved = hash ^ u64::from(displacement).wrapping_mul(MULTIPLIERS[3]);
    scale(fold(moved, MULTIPLIERS[0]) >> 32, shape.slots)
}

/// Odd numbers without a pattern, from the digits of pi.
const MULTIPLIERS: [u64; 4] =
    [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7345, 0xa409_3822_299f_31d1, 0x082e_fa98_ec4e_6c89];

/// Combines both halves of the 128-bit product, so that every bit of `a` affects every part of the result.
#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product >> 64) as u64 ^ product as u64
}

/// Reduces 32 random bits to `0..count` by a multiplication, which is cheaper than a division.
#[inline]
fn scale(bits: u64, count: u32) -> usize {
    ((bits * u64::from(count)) >> 32) as usize
}

#[inline]
fn four(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |&chunk| u64::from(u32::from_le_bytes(chunk)))
}

#[inline]
fn eight(bytes: &[u8]) -> u64 {
    bytes.first_chunk().map_or(0, |&chunk| u64::from_le_bytes(chunk))
}
