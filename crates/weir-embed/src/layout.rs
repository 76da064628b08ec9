//! The layout of a vocabulary's table, shared by `build.rs` and [`crate::open`], which write it, and by
//! [`crate::vocabulary`], which reads it.
//!
//! The table has three numbers (the number of slots, the length of the longest token in bytes, the offset of the text),
//! then the slots, then the end of each token in the text, then the text of all tokens. A slot is 0, or a part of the
//! token's hash and the token's number plus one; tokens that collide are in the next free slots.
//!
//! Invariant: nothing here depends on the machine, since the table may be built on a different one than it is read on.

/// The length of the three numbers at the beginning, in bytes.
pub(crate) const HEAD_BYTES: usize = 12;

/// The number of bits in a slot for the token's number plus one; the others tell most tokens apart without reading
/// them.
pub(crate) const NUMBER_BITS: u32 = 20;

/// The hash of an empty text.
pub(crate) const EMPTY_HASH: u64 = 0xcbf2_9ce4_8422_2325;

/// Extends the hash of some bytes by one more. It works byte by byte, so one pass hashes all beginnings of a word.
#[inline]
pub(crate) const fn hash(before: u64, byte: u8) -> u64 {
    (before ^ byte as u64).wrapping_mul(0x100_0000_01b3)
}

/// Returns the slot at which the search for a hash begins, and the upper bits of its token's slot.
#[inline]
pub(crate) fn first_slot(hash: u64, slots: usize) -> (usize, u32) {
    let mixed = (hash ^ (hash >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed >> 32) as usize & (slots - 1), (mixed as u32 >> NUMBER_BITS) << NUMBER_BITS)
}

/// Builds the table of these tokens, which are numbered in this order.
pub(crate) fn lay_out(tokens: &[&str]) -> Result<Vec<u8>, &'static str> {
    if tokens.len() >= (1 << NUMBER_BITS) - 1 {
        return Err("the vocabulary has more than a million tokens");
    }
    let slot_count = (tokens.len() * 2).next_power_of_two().max(2);
    let mut slots = vec![0_u32; slot_count];
    let mut ends = Vec::with_capacity(tokens.len());
    let mut text: Vec<u8> = Vec::new();
    for (number, token) in (1..).zip(tokens) {
        let (mut slot, tag) = first_slot(token.bytes().fold(EMPTY_HASH, hash), slot_count);
        while slots[slot] != 0 {
            slot = (slot + 1) & (slot_count - 1);
        }
        slots[slot] = tag | number;
        text.extend_from_slice(token.as_bytes());
        ends.push(u32::try_from(text.len()).map_err(|_| "the vocabulary is longer than four gigabytes")?);
    }
    let longest = tokens.iter().map(|token| token.len()).max().unwrap_or(0);
    let text_at = HEAD_BYTES + (slots.len() + ends.len()) * 4;
    let mut table = Vec::with_capacity(text_at + text.len());
    for number in [slot_count, longest, text_at] {
        table.extend_from_slice(&u32::try_from(number).map_err(|_| "the vocabulary is too big")?.to_le_bytes());
    }
    table.extend(slots.into_iter().chain(ends).flat_map(u32::to_le_bytes));
    table.extend(text);
    Ok(table)
}
