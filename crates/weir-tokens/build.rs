//! Writes the o200k token table of the crate, from the ranks in `tiktoken-rs`.
//!
//! Invariant: the table contains every token of o200k with its rank, in the layout described in `src/layout.rs`.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use layout::{DISPLACEMENT_BYTES, LengthShape, MAX_TOKEN_BYTES, NO_RANK, RANK_BYTES, SHAPE_BYTES};

#[path = "src/layout.rs"]
mod layout;

/// The number of tokens in o200k without the special ones. Any other number means that the source has changed.
const TOKENS: usize = 199_998;

/// The number of tokens per displacement. A higher number makes the table smaller and the build slower.
const TOKENS_PER_BUCKET: usize = 4;

#[expect(clippy::disallowed_methods, reason = "cargo tells a build script by the environment where to write")]
fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/layout.rs");
    let out = PathBuf::from(env::var_os("OUT_DIR").ok_or("cargo sets OUT_DIR")?);
    fs::write(out.join("o200k.bin"), table(&by_length(tokens()?)?)?)?;
    Ok(())
}

type RankedToken = (Vec<u8>, u32);

/// Returns all tokens, by ascending rank.
fn tokens() -> Result<Vec<RankedToken>, Box<dyn Error>> {
    let source = tiktoken_rs::o200k_base()?;
    // The ranks run from 0 to the first unused number without a gap; the special tokens come after it.
    let tokens: Vec<RankedToken> = (0..).map_while(|rank| Some((source.decode_bytes(&[rank]).ok()?, rank))).collect();
    if tokens.len() != TOKENS {
        return Err(format!("o200k has {TOKENS} tokens, not {}", tokens.len()).into());
    }
    Ok(tokens)
}

/// Groups the tokens by length, from 0 to [`MAX_TOKEN_BYTES`].
fn by_length(tokens: Vec<RankedToken>) -> Result<Vec<Vec<RankedToken>>, Box<dyn Error>> {
    let mut lengths = vec![Vec::new(); MAX_TOKEN_BYTES + 1];
    for token in tokens {
        lengths.get_mut(token.0.len()).ok_or("a token is longer than the longest")?.push(token);
    }
    Ok(lengths)
}

/// Returns the bytes of the whole table: the shapes of all lengths, then the displacements and slots of each.
fn table(lengths: &[Vec<RankedToken>]) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut head = Vec::new();
    let mut body = Vec::new();
    for (length, tokens) in lengths.iter().enumerate() {
        let buckets = tokens.len().div_ceil(TOKENS_PER_BUCKET);
        let displacements = lengths.len() * SHAPE_BYTES + body.len();
        let shape = LengthShape {
            displacements: u32::try_from(displacements)?,
            buckets: u32::try_from(buckets)?,
            entries: u32::try_from(displacements + buckets * DISPLACEMENT_BYTES)?,
            // A few slots stay empty, since it would take long to place the last tokens in the last free slots.
            slots: u32::try_from(tokens.len() + tokens.len() / 32)?,
        };
        for number in [shape.displacements, shape.buckets, shape.entries, shape.slots] {
            head.extend_from_slice(&number.to_le_bytes());
        }
        let (displacements, slots) =
            place(tokens, shape).ok_or_else(|| format!("no place for tokens of {length} bytes"))?;
        body.extend(displacements.into_iter().flat_map(u16::to_le_bytes));
        for token in slots {
            let empty = (vec![0; length], NO_RANK);
            let (bytes, rank) = token.unwrap_or(&empty);
            body.extend_from_slice(bytes);
            body.extend_from_slice(&rank.to_le_bytes()[..RANK_BYTES]);
        }
    }
    Ok([head, body].concat())
}

/// Returns a displacement for each bucket such that every token gets its own slot, and the tokens in those slots.
///
/// The fullest buckets choose first, while there is room.
fn place(tokens: &[RankedToken], shape: LengthShape) -> Option<(Vec<u16>, Vec<Option<&RankedToken>>)> {
    let mut buckets = vec![Vec::new(); shape.buckets as usize];
    for token in tokens {
        let hash = layout::hash(&token.0);
        buckets[layout::bucket(hash, shape)].push((hash, token));
    }
    let mut order: Vec<usize> = (0..buckets.len()).collect();
    order.sort_by_key(|&bucket| std::cmp::Reverse(buckets[bucket].len()));

    let mut displacements = vec![0; buckets.len()];
    let mut slots: Vec<Option<&RankedToken>> = vec![None; shape.slots as usize];
    for bucket in order {
        let displacement =
            (0..=u16::MAX).find(|&displacement| all_free(&buckets[bucket], displacement, shape, &slots))?;
        displacements[bucket] = displacement;
        for &(hash, token) in &buckets[bucket] {
            slots[layout::slot(hash, displacement, shape)] = Some(token);
        }
    }
    Some((displacements, slots))
}

/// Returns whether this displacement gives each token of the bucket its own free slot.
fn all_free(
    bucket: &[(u64, &RankedToken)],
    displacement: u16,
    shape: LengthShape,
    slots: &[Option<&RankedToken>],
) -> bool {
    let mut taken = Vec::with_capacity(bucket.len());
    bucket.iter().all(|&(hash, _)| {
        let slot = layout::slot(hash, displacement, shape);
        let free = slots[slot].is_none() && !taken.contains(&slot);
        taken.push(slot);
        free
    })
}
