//! The rows of a model, one for each token, and their sum.
//!
//! Invariants: a token without a row adds nothing; sums of bytes are exact.

use std::borrow::Cow;

/// The number of rows of bytes whose sum always fits into 16 bits.
const ROWS_IN_SHORT: usize = 255;

/// The rows of a model, one after the other.
#[derive(Debug)]
pub(crate) enum VectorTable {
    /// Numbers from -128 to 127 with one common scale, which does not affect the direction of a sum.
    Bytes(Cow<'static, [u8]>),
    /// Numbers as they are.
    Floats(Vec<f32>),
}

#[derive(Debug, Default)]
pub(crate) struct TokenWeights {
    /// The row of each token; without this, a token's row is its own number.
    pub(crate) rows: Option<Vec<u32>>,
    /// The weight of each token's row; without this, all weigh the same.
    pub(crate) weights: Option<Vec<f32>>,
}

impl VectorTable {
    pub(crate) fn sum(&self, tokens: &[u32], token_weights: &TokenWeights, width: usize) -> Vec<f32> {
        match (self, &token_weights.weights) {
            (Self::Bytes(bytes), None) => sum_of_bytes(bytes, tokens, token_weights, width),
            (Self::Bytes(bytes), Some(_)) => weighted(tokens, token_weights, width, |range| {
                Some(bytes.get(range)?.iter().map(|&byte| f32::from(byte as i8)))
            }),
            (Self::Floats(floats), _) => {
                weighted(tokens, token_weights, width, |range| Some(floats.get(range)?.iter().copied()))
            }
        }
    }
}

impl TokenWeights {
    fn row(&self, token: u32) -> Option<usize> {
        let row = match &self.rows {
            Some(rows) => *rows.get(token as usize)?,
            None => token,
        };
        Some(row as usize)
    }

    fn weight(&self, token: u32) -> f32 {
        self.weights.as_ref().map_or(1.0, |weights| weights.get(token as usize).copied().unwrap_or(0.0))
    }
}

fn sum_of_bytes(bytes: &[u8], tokens: &[u32], token_weights: &TokenWeights, width: usize) -> Vec<f32> {
    let mut sum = vec![0_i32; width];
    let mut short = vec![0_i16; width];
    for tokens in tokens.chunks(ROWS_IN_SHORT) {
        short.fill(0);
        for row in tokens.iter().filter_map(|&token| token_weights.row(token)) {
            let Some(row) = bytes.get(row * width..(row + 1) * width) else { continue };
            for (sum, &byte) in short.iter_mut().zip(row) {
                *sum += i16::from(byte as i8);
            }
        }
        for (sum, &short) in sum.iter_mut().zip(&short) {
            *sum += i32::from(short);
        }
    }
    sum.into_iter().map(|number| number as f32).collect()
}

fn weighted<N: Iterator<Item = f32>>(
    tokens: &[u32],
    token_weights: &TokenWeights,
    width: usize,
    row_at: impl Fn(std::ops::Range<usize>) -> Option<N>,
) -> Vec<f32> {
    let mut sum = vec![0.0; width];
    for &token in tokens {
        let weight = token_weights.weight(token);
        let Some(row) = token_weights.row(token).and_then(|row| row_at(row * width..(row + 1) * width)) else {
            continue;
        };
        for (sum, number) in sum.iter_mut().zip(row) {
            *sum += weight * number;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_bytes_do_not_overflow() {
        let rows = VectorTable::Bytes(Cow::Borrowed(&[0x80, 0x7F]));
        let tokens = vec![0; 100_000];
        assert_eq!(rows.sum(&tokens, &TokenWeights::default(), 2), [-12_800_000.0, 12_700_000.0]);
    }

    #[test]
    fn a_token_without_a_row_adds_nothing() {
        let token_weights = TokenWeights::default();
        assert_eq!(VectorTable::Bytes(Cow::Borrowed(&[1, 2])).sum(&[0, 1, u32::MAX], &token_weights, 2), [1.0, 2.0]);
        assert_eq!(VectorTable::Floats(vec![1.0, 2.0]).sum(&[0, 1, u32::MAX], &token_weights, 2), [1.0, 2.0]);
    }
}
