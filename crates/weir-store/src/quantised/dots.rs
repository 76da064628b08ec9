//! Computes dot products of byte vectors, with the widest instructions that the machine has.
//!
//! Invariant: the products are exact, and the same on every machine, for vectors of up to 131,000 numbers.

use fearless_simd::prelude::*;
use fearless_simd::{Level, dispatch, i8x32, i16x16, i32x8};

/// The number of bytes that one step multiplies.
const STEP: usize = 32;

/// Computes the dot product of a query with each row of a block, in order, and replaces the content of `out` with them.
///
/// A block is a sequence of rows of `width` bytes; an incomplete last row is ignored. If the query is not `width` bytes
/// long, there are no products.
pub fn dots(query: &[i8], block: &[i8], width: usize, out: &mut Vec<i32>) {
    out.clear();
    if width == 0 || query.len() != width {
        return;
    }
    out.reserve(block.len() / width);
    dispatch!(Level::new(), simd => wide(simd, query, block, out));
}

#[inline(always)]
fn dot(a: &[i8], b: &[i8]) -> i32 {
    a.iter().zip(b).map(|(&a, &b)| i32::from(a) * i32::from(b)).sum()
}

/// Multiplies 16 numbers and adds pairs of the products in one instruction, where the machine has one. Code that is
/// left to the compiler to vectorise is only half as fast.
#[inline(always)]
fn wide<S: Simd>(simd: S, query: &[i8], block: &[i8], out: &mut Vec<i32>) {
    let (steps, tail) = query.as_chunks::<STEP>();
    // The query is widened once, so only the rows are widened in the loop.
    let steps: Vec<(i16x16<S>, i16x16<S>)> = steps.iter().map(|step| i8x32::from_slice(simd, step).widen()).collect();
    for row in block.chunks_exact(query.len()) {
        let (row_steps, row_tail) = row.as_chunks::<STEP>();
        // Two sums, since each addition waits for the previous one.
        let mut sums = [i32x8::splat(simd, 0); 2];
        for (row, query) in row_steps.iter().zip(&steps) {
            let (low, high) = i8x32::from_slice(simd, row).widen();
            sums[0] += low.pairwise_dot_product(query.0);
            sums[1] += high.pairwise_dot_product(query.1);
        }
        let sums: [i32; 8] = (sums[0] + sums[1]).into();
        out.push(sums.iter().sum::<i32>() + dot(row_tail, tail));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_extremes_do_not_overflow() {
        for (a, b) in [(i8::MIN, i8::MIN), (i8::MIN, i8::MAX), (i8::MAX, i8::MAX)] {
            let mut out = vec![1, 2, 3];
            dots(&[a; 256], &[b; 512], 256, &mut out);
            assert_eq!(out, [256 * i32::from(a) * i32::from(b); 2]);
        }
    }

    #[test]
    fn a_query_of_another_width_has_no_products() {
        let mut out = vec![1];
        dots(&[1, 2], &[1, 2, 3], 3, &mut out);
        assert!(out.is_empty());
        dots(&[], &[1], 0, &mut out);
        assert!(out.is_empty());
    }

    proptest! {
        #[test]
        fn the_products_are_those_of_a_plain_loop(
            query in prop::collection::vec(any::<i8>(), 1..300),
            block in prop::collection::vec(any::<i8>(), 0..2000),
        ) {
            let (mut out, mut wanted) = (Vec::new(), Vec::<i32>::new());
            dots(&query, &block, query.len(), &mut out);
            for row in block.chunks_exact(query.len()) {
                wanted.push((0..query.len()).map(|at| i32::from(query[at]) * i32::from(row[at])).sum());
            }
            prop_assert_eq!(out, wanted);
        }
    }
}
