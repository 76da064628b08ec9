//! Reads numbers from a `safetensors` file: a length, a header in JSON, and the numbers.
//!
//! Invariant: nothing in the file is trusted before it is checked against the file's length.

use std::collections::HashMap;
use std::ops::Range;

use serde::Deserialize;

/// The tensors of a file, by name.
#[derive(Debug)]
pub(crate) struct Tensors {
    bytes: Vec<u8>,
    /// The offset in `bytes` at which the numbers begin.
    start: usize,
    tensors: HashMap<String, TensorInfo>,
}

/// The location, type and shape of a tensor.
#[derive(Debug, Deserialize)]
struct TensorInfo {
    dtype: String,
    shape: Vec<usize>,
    data_offsets: [usize; 2],
}

#[derive(Debug, PartialEq)]
pub(crate) enum TensorNumbers {
    Bytes(Vec<u8>),
    Floats(Vec<f32>),
}

impl Tensors {
    pub(crate) fn read(bytes: Vec<u8>) -> Result<Self, String> {
        let (length, rest) = bytes.split_first_chunk().ok_or("it is too short")?;
        let header = usize::try_from(u64::from_le_bytes(*length)).ok().and_then(|length| rest.get(..length));
        let header = header.ok_or("its header is longer than the file")?;
        let mut entries: HashMap<String, serde_json::Value> =
            serde_json::from_slice(header).map_err(|error| format!("cannot parse its header: {error}"))?;
        // Metadata about the file is not a tensor.
        entries.remove("__metadata__");
        let tensor = |(name, value)| Ok((name, serde_json::from_value(value)?));
        let tensors = entries.into_iter().map(tensor).collect::<Result<_, serde_json::Error>>();
        let tensors = tensors.map_err(|error| format!("cannot parse its header: {error}"))?;
        let start = bytes.len() - rest.len() + header.len();
        Ok(Self { start, tensors, bytes })
    }

    /// Returns the shape of a tensor, or `None` if there is no such tensor.
    pub(crate) fn shape(&self, name: &str) -> Option<&[usize]> {
        Some(&self.tensors.get(name)?.shape)
    }

    /// Returns the numbers of a tensor of integers, or `None` if there is no such tensor.
    pub(crate) fn integers(&self, name: &str) -> Option<Result<Vec<u32>, String>> {
        let tensor = self.tensors.get(name)?;
        let number =
            |number: Option<u32>| number.ok_or_else(|| format!("`{name}` has a number that is negative or too large"));
        Some(self.range(name, tensor).and_then(|range| {
            let bytes = &self.bytes[range];
            match tensor.dtype.as_str() {
                "I64" => each(bytes, |bytes| u32::try_from(i64::from_le_bytes(bytes)).ok()).map(number).collect(),
                "I32" => each(bytes, |bytes| u32::try_from(i32::from_le_bytes(bytes)).ok()).map(number).collect(),
                other => Err(format!("`{name}` has type {other}, not I32 or I64")),
            }
        }))
    }

    /// Returns the numbers of a tensor. Consumes the file, so that they are not in memory twice.
    pub(crate) fn into_numbers(mut self, name: &str) -> Result<TensorNumbers, String> {
        let tensor = self.tensors.remove(name).ok_or_else(|| format!("it has no `{name}`"))?;
        let range = self.range(name, &tensor)?;
        if tensor.dtype == "I8" {
            self.bytes.truncate(range.end);
            self.bytes.drain(..range.start);
            return Ok(TensorNumbers::Bytes(self.bytes));
        }
        floats(name, &tensor.dtype, &self.bytes[range]).map(TensorNumbers::Floats)
    }

    /// Returns the numbers of a tensor as floats, or `None` if there is no such tensor.
    pub(crate) fn floats(&self, name: &str) -> Option<Result<Vec<f32>, String>> {
        let tensor = self.tensors.get(name)?;
        Some(self.range(name, tensor).and_then(|range| floats(name, &tensor.dtype, &self.bytes[range])))
    }

    /// Returns the range of a tensor's bytes, if it is within the file and as long as the shape requires.
    fn range(&self, name: &str, tensor: &TensorInfo) -> Result<Range<usize>, String> {
        let [start, end] = tensor.data_offsets.map(|at| at.checked_add(self.start));
        let size = match tensor.dtype.as_str() {
            "I8" => 1,
            "F16" | "BF16" => 2,
            "F32" | "I32" => 4,
            "F64" | "I64" => 8,
            other => return Err(format!("`{name}` has type {other}, which is not supported")),
        };
        let wanted = tensor.shape.iter().try_fold(size, |product: usize, &count| product.checked_mul(count));
        match (start, end) {
            (Some(start), Some(end)) if start <= end && end <= self.bytes.len() && Some(end - start) == wanted => {
                Ok(start..end)
            }
            _ => Err(format!("`{name}` is not where the header says")),
        }
    }
}

fn floats(name: &str, dtype: &str, bytes: &[u8]) -> Result<Vec<f32>, String> {
    match dtype {
        "F64" => Ok(each(bytes, |bytes| f64::from_le_bytes(bytes) as f32).collect()),
        "F32" => Ok(each(bytes, f32::from_le_bytes).collect()),
        "F16" => Ok(each(bytes, |bytes| half(u16::from_le_bytes(bytes))).collect()),
        "BF16" => Ok(each(bytes, |bytes| f32::from_bits(u32::from(u16::from_le_bytes(bytes)) << 16)).collect()),
        other => Err(format!("`{name}` has type {other}, not F64, F32, F16 or BF16")),
    }
}

fn each<const SIZE: usize, T>(bytes: &[u8], read: impl Fn([u8; SIZE]) -> T) -> impl Iterator<Item = T> {
    bytes.as_chunks().0.iter().map(move |&chunk| read(chunk))
}

/// Converts a 16-bit float, for which the language has no stable type.
fn half(bits: u16) -> f32 {
    let sign = u32::from(bits >> 15) << 31;
    let (exponent, fraction) = (u32::from(bits >> 10) & 0x1F, u32::from(bits) & 0x3FF);
    let magnitude = match exponent {
        0 => fraction as f32 * 2.0_f32.powi(-24),
        0x1F => f32::from_bits(0x7F80_0000 | fraction << 13),
        _ => f32::from_bits((exponent + 112) << 23 | fraction << 13),
    };
    f32::from_bits(magnitude.to_bits() | sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(header: &str, numbers: &[u8]) -> Vec<u8> {
        [&(header.len() as u64).to_le_bytes(), header.as_bytes(), numbers].concat()
    }

    #[test]
    fn halves_are_what_they_should_be() {
        for (bits, number) in
            [(0, 0.0), (0x3C00, 1.0), (0xC000, -2.0), (0x7BFF, 65504.0), (1, 5.960_464_5e-8), (0x3555, 0.333_251_95)]
        {
            assert_eq!(half(bits), number);
        }
        assert!(half(0x7C00).is_infinite() && half(0x7E00).is_nan());
    }

    #[test]
    fn numbers_of_all_kinds_are_read() {
        let header = r#"{"__metadata__":{"a":"b"},"x":{"dtype":"F16","shape":[2],"data_offsets":[0,4]},
            "y":{"dtype":"I64","shape":[1],"data_offsets":[4,12]},"z":{"dtype":"I8","shape":[2,1],"data_offsets":[12,14]}}"#;
        let numbers = [0, 0x3C, 0, 0xC0, 7, 0, 0, 0, 0, 0, 0, 0, 1, 0xFF];
        let tensors = Tensors::read(file(header, &numbers)).unwrap();
        assert_eq!(tensors.floats("x").unwrap().unwrap(), [1.0, -2.0]);
        assert_eq!(tensors.integers("y").unwrap().unwrap(), [7]);
        assert_eq!(tensors.shape("z").unwrap(), [2, 1]);
        assert_eq!(tensors.into_numbers("z").unwrap(), TensorNumbers::Bytes(vec![1, 0xFF]));
    }

    #[test]
    fn a_header_that_lies_is_an_error() {
        for (dtype, shape, offsets) in [
            ("F32", "[2]", "[0,4]"),
            ("F32", "[1]", "[4,8]"),
            ("F32", "[1]", "[4,0]"),
            ("I8", "[4]", "[0,18446744073709551615]"),
        ] {
            let header = format!(r#"{{"x":{{"dtype":"{dtype}","shape":{shape},"data_offsets":{offsets}}}}}"#);
            let tensors = Tensors::read(file(&header, &[0; 4])).unwrap();
            assert!(tensors.into_numbers("x").is_err(), "{header}");
        }
        assert!(Tensors::read(vec![0xFF; 20]).is_err());
        assert!(Tensors::read(vec![1, 2]).is_err());
        assert!(Tensors::read(file("[]", &[])).is_err());
    }
}
