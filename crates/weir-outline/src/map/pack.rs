//! Encodes facts as bytes and lines, for a store.
//!
//! Invariant: decoding returns what was encoded. Other bytes are decoded as far as possible.

use super::facts::Symbol;

pub fn pack(numbers: impl IntoIterator<Item = u32>) -> Vec<u8> {
    numbers.into_iter().flat_map(u32::to_le_bytes).collect()
}

pub fn unpack(bytes: &[u8]) -> Vec<u32> {
    let (whole, _) = bytes.as_chunks::<4>();
    whole.iter().map(|number| u32::from_le_bytes(*number)).collect()
}

pub fn symbols_to_text(symbols: &[Symbol]) -> String {
    let line = |symbol: &Symbol| {
        let offered = if symbol.is_offered { '+' } else { '-' };
        format!("{}\t{offered}\t{}\t{}\t{}\n", symbol.line, symbol.path, symbol.signature, symbol.doc)
    };
    symbols.iter().map(line).collect()
}

/// Decodes symbols from lines. Invalid lines are skipped.
pub fn symbols_from_text(text: &str) -> Vec<Symbol> {
    let symbol = |line: &str| {
        let mut parts = line.split('\t');
        Some(Symbol {
            line: parts.next()?.parse().ok()?,
            is_offered: parts.next()? == "+",
            path: parts.next()?.to_owned(),
            signature: parts.next()?.to_owned(),
            doc: parts.next()?.to_owned(),
        })
    };
    text.lines().filter_map(symbol).collect()
}
