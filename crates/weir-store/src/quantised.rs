//! Vectors as bytes, which is how they are stored and compared.
//!
//! Invariant: the error of each number is at most half a step of the vector's own scale.

mod dots;

pub use dots::dots;

/// A vector as bytes: each number is `scale` times its byte.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantised {
    /// The value of one step of a byte. Each vector has its own, since a common one would clip some and waste others.
    pub scale: f32,
    /// The bytes, from -127 to 127.
    pub values: Vec<i8>,
}

/// Quantises a vector, so that its largest number becomes 127 or -127.
pub fn quantise(vector: &[f32]) -> Quantised {
    let most = vector.iter().fold(0.0_f32, |most, number| most.max(number.abs()));
    if !(most.is_finite() && most > 0.0) {
        return Quantised { scale: 0.0, values: vec![0; vector.len()] };
    }
    let scale = most / 127.0;
    Quantised { scale, values: vector.iter().map(|number| (number / scale).round() as i8).collect() }
}

/// Returns the cosine of two vectors of length 1, from -1 to 1; 0 if their widths differ.
pub fn cosine(a: &Quantised, b: &Quantised) -> f32 {
    let mut products = Vec::new();
    if a.values.len() == b.values.len() {
        dots(&a.values, &b.values, a.values.len(), &mut products);
    }
    products.first().map_or(0.0, |dot| *dot as f32 * a.scale * b.scale)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_vector_without_a_direction_becomes_zeros() {
        for vector in [[0.0, 0.0], [f32::NAN, 1.0], [f32::INFINITY, 1.0]] {
            let Quantised { values, .. } = quantise(&vector);
            assert_eq!(values.len(), 2);
        }
        assert_eq!(quantise(&[]), Quantised { scale: 0.0, values: vec![] });
    }

    proptest! {
        #[test]
        fn no_number_is_off_by_more_than_half_a_step(vector in prop::collection::vec(-1.0_f32..1.0, 1..300)) {
            let Quantised { scale, values } = quantise(&vector);
            for (number, value) in vector.iter().zip(&values) {
                prop_assert!((number - scale * f32::from(*value)).abs() <= scale * 0.501);
                prop_assert!(*value >= -127);
            }
        }
    }
}
