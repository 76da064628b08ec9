//! Products of vectors of bytes, with the widest instructions that the machine has.
//!
//! Invariant: the products are exact, and the same on every machine, for vectors of up to 131,000 numbers.

/// The products of a query with each row of a block, in their order, in place of what is in `out`.
///
/// A block is rows of `width` bytes one after the other; bytes after the last whole row are left out. A query that is
/// not `width` bytes long has no products.
pub fn dots(query: &[i8], block: &[i8], width: usize, out: &mut Vec<i32>) {
    out.clear();
    if width == 0 || query.len() != width {
        return;
    }
    out.reserve(block.len() / width);
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = pulp::x86::V3::try_new() {
        return simd.vectorize(wide::Dots { simd, query, block, out });
    }
    plain(query, block, out);
}

/// What the compiler makes of a loop without knowing the machine.
fn plain(query: &[i8], block: &[i8], out: &mut Vec<i32>) {
    out.extend(block.chunks_exact(query.len()).map(|row| dot(query, row)));
}

#[inline(always)]
fn dot(a: &[i8], b: &[i8]) -> i32 {
    a.iter().zip(b).map(|(&a, &b)| i32::from(a) * i32::from(b)).sum()
}

/// AVX2: 16 products and half of their sums in one instruction. The compiler finds it by itself only at half the speed.
#[cfg(target_arch = "x86_64")]
mod wide {
    use pulp::NullaryFnOnce;
    use pulp::x86::V3;

    /// How many bytes one instruction multiplies.
    const STEP: usize = 16;

    pub(super) struct Dots<'a> {
        pub(super) simd: V3,
        pub(super) query: &'a [i8],
        pub(super) block: &'a [i8],
        pub(super) out: &'a mut Vec<i32>,
    }

    impl NullaryFnOnce for Dots<'_> {
        type Output = ();

        #[inline(always)]
        fn call(self) {
            let V3 { avx, avx2, .. } = self.simd;
            let (steps, tail) = self.query.as_chunks::<STEP>();
            // Widened once, so that only the rows are widened in the loop.
            let steps: Vec<[i16; STEP]> = steps.iter().map(|step| step.map(i16::from)).collect();
            // Two sums, since each waits for its last addition.
            let (pairs, single) = steps.as_chunks::<2>();
            for row in self.block.chunks_exact(self.query.len()) {
                let (row_steps, row_tail) = row.as_chunks::<STEP>();
                let (row_pairs, row_single) = row_steps.as_chunks::<2>();
                let products = |row: [i8; STEP], query: [i16; STEP]| {
                    avx2._mm256_madd_epi16(avx2._mm256_cvtepi8_epi16(pulp::cast(row)), pulp::cast(query))
                };
                let mut sums = [avx._mm256_setzero_si256(); 2];
                for (row, query) in row_pairs.iter().zip(pairs) {
                    sums[0] = avx2._mm256_add_epi32(sums[0], products(row[0], query[0]));
                    sums[1] = avx2._mm256_add_epi32(sums[1], products(row[1], query[1]));
                }
                for (row, query) in row_single.iter().zip(single) {
                    sums[0] = avx2._mm256_add_epi32(sums[0], products(*row, *query));
                }
                let sums: [i32; 8] = pulp::cast(avx2._mm256_add_epi32(sums[0], sums[1]));
                self.out.push(sums.iter().sum::<i32>() + super::dot(row_tail, tail));
            }
        }
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
            prop_assert_eq!(&out, &wanted);
            out.clear();
            plain(&query, &block, &mut out);
            prop_assert_eq!(out, wanted);
        }
    }
}
