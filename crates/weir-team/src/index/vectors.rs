//! Records and queries as vectors, so that a search also finds texts that say the same in other words.
//!
//! Invariants: a vector depends on the record and on the model alone, so an index that is made again has the same ones;
//! an index has vectors of one model only. A vector is a column of its record: it is committed, removed and copied with
//! it, and compared within one project only.

use std::sync::Arc;

use tantivy::DocId;
use tantivy::columnar::Column;

/// How much of a text becomes a vector, in bytes. The mean of a long text says little about any of its parts.
const MAX_EMBEDDED_BYTES: usize = 8 << 10;
/// How many numbers of a vector are in one value of the column.
const NUMBERS_IN_VALUE: usize = 8;

/// A model that embeds texts as vectors of length 1. Clones share it.
#[derive(Clone)]
pub struct Meaning {
    name: String,
    width: usize,
    embed: Arc<EmbedText>,
}

type EmbedText = dyn Fn(&str) -> Option<Vec<f32>> + Send + Sync;

/// What an index does about vectors.
#[derive(Clone, Default)]
pub enum Vectors {
    /// It has none. One that has some is made again.
    #[default]
    Off,
    /// It has those of a model. One that has others, or none, is made again.
    Of(Meaning),
    /// It keeps those that it has, and makes none: for removals only.
    AsTheyAre,
}

impl Vectors {
    /// Returns the name of the model that the vectors must be of: empty for none, `None` for any.
    pub(super) fn model(&self) -> Option<&str> {
        match self {
            Self::Off => Some(""),
            Self::Of(meaning) => Some(&meaning.name),
            Self::AsTheyAre => None,
        }
    }

    /// Returns the model, if there is one.
    pub(super) fn meaning(&self) -> Option<&Meaning> {
        match self {
            Self::Of(meaning) => Some(meaning),
            Self::Off | Self::AsTheyAre => None,
        }
    }
}

impl Meaning {
    /// Returns the model with this name and number of dimensions. Its function returns the vector of a text, or `None`
    /// if it knows nothing about it, and always the same for the same text.
    pub fn new(
        name: impl Into<String>,
        width: usize,
        embed: impl Fn(&str) -> Option<Vec<f32>> + Send + Sync + 'static,
    ) -> Self {
        Self { name: name.into(), width, embed: Arc::new(embed) }
    }

    /// Returns the vector of a text, if it has one.
    pub fn embed(&self, text: &str) -> Option<Vec<f32>> {
        (self.embed)(text).filter(|vector| vector.len() == self.width)
    }

    /// Returns the vector of a record as the values of its column. Without a vector, there are none.
    pub(super) fn values(&self, title: &str, text: &str) -> Vec<u64> {
        let text = &text[..text.floor_char_boundary(MAX_EMBEDDED_BYTES)];
        self.embed(&format!("{title}\n{text}"))
            .as_deref()
            .and_then(Quantised::of)
            .map(Quantised::into_values)
            .unwrap_or_default()
    }

    /// Returns a query to compare records with, if its vector is of this model's width.
    pub(super) fn query(&self, vector: &[f32]) -> Option<Quantised> {
        if vector.len() == self.width { Quantised::of(vector) } else { None }
    }
}

/// A vector as bytes: each number is `scale` times its byte.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Quantised {
    scale: f32,
    /// The bytes, with zeros at the end.
    numbers: Vec<[i8; NUMBERS_IN_VALUE]>,
}

impl Quantised {
    /// Quantises a vector, so that its largest number becomes 127 or -127. Returns `None` if it has no direction.
    pub(super) fn of(vector: &[f32]) -> Option<Self> {
        let most = vector.iter().fold(0.0_f32, |most, number| most.max(number.abs()));
        if !(most.is_finite() && most > 0.0) {
            return None;
        }
        let scale = most / 127.0;
        let numbers = vector.chunks(NUMBERS_IN_VALUE).map(|chunk| {
            let mut bytes = [0; NUMBERS_IN_VALUE];
            for (byte, number) in bytes.iter_mut().zip(chunk) {
                *byte = (number / scale).round() as i8;
            }
            bytes
        });
        Some(Self { scale, numbers: numbers.collect() })
    }

    /// Returns it as values of a column: the scale, then the numbers.
    fn into_values(self) -> Vec<u64> {
        let numbers = self.numbers.into_iter().map(|eight| u64::from_le_bytes(eight.map(|number| number as u8)));
        std::iter::once(u64::from(self.scale.to_bits())).chain(numbers).collect()
    }

    /// Returns the cosine of this vector and that of a record, from -1 to 1, or `None` if the record has none.
    pub(super) fn cosine(&self, vectors: &Column<u64>, doc: DocId) -> Option<f32> {
        let mut values = vectors.values_for_doc(doc);
        let scale = f32::from_bits(values.next()? as u32);
        let (mut dot, mut compared) = (0_i32, 0);
        for (own, value) in self.numbers.iter().zip(values.by_ref()) {
            let products =
                own.iter().zip(value.to_le_bytes()).map(|(own, other)| i32::from(*own) * i32::from(other as i8));
            dot += products.sum::<i32>();
            compared += 1;
        }
        (compared == self.numbers.len()).then_some(dot as f32 * scale * self.scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_vector_survives_as_values_within_half_a_step() {
        let vector: Vec<f32> = (0..30).map(|number| ((number * 37 % 61) as f32 - 30.0) / 100.0).collect();
        let quantised = Quantised::of(&vector).unwrap();
        let values = quantised.clone().into_values();
        assert_eq!(values.len(), 1 + 4);
        assert_eq!(f32::from_bits(values[0] as u32), quantised.scale);
        let bytes: Vec<i8> = values[1..].iter().flat_map(|value| value.to_le_bytes()).map(|byte| byte as i8).collect();
        for (number, byte) in vector.iter().zip(&bytes) {
            assert!((number - quantised.scale * f32::from(*byte)).abs() <= quantised.scale * 0.501);
        }
        assert!(bytes[30..].iter().all(|byte| *byte == 0));
    }

    #[test]
    fn what_has_no_direction_or_another_width_has_no_vector() {
        for vector in [[0.0, 0.0], [f32::INFINITY, 1.0]] {
            assert_eq!(Quantised::of(&vector), None);
        }
        let model = Meaning::new("two", 2, |text| (!text.trim().is_empty()).then(|| vec![0.6; text.trim().len()]));
        assert_eq!(model.values("", ""), Vec::<u64>::new());
        assert_eq!(model.values("long", "er"), Vec::<u64>::new());
        assert_eq!(model.values("", "ab").len(), 2);
        assert!(model.query(&[0.5]).is_none() && model.query(&[0.5, 0.5]).is_some());
    }
}
