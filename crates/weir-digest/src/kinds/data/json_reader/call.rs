//! Values that Python prints as calls.

use std::io;

use super::{Piece, Reader};

impl Reader<'_> {
    /// Reads the rest of `Decimal('1.5')` or `datetime.date(2026, 1, 2)`: what is in quotes if that is all, otherwise
    /// the call as it is.
    pub(super) fn call(&mut self) -> io::Result<Piece> {
        let mut call = std::mem::take(&mut self.text);
        let begin = call.len();
        let mut depth = 0;
        while let Some(byte) = self.peek()? {
            self.step();
            if call.len() < self.limit {
                call.push(char::from(byte));
            }
            match byte {
                b'(' => depth += 1,
                b')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
        let inner = call[begin..].strip_prefix("('").and_then(|inner| inner.strip_suffix("')"));
        self.text = inner.filter(|inner| !inner.contains('\'')).unwrap_or(&call).to_owned();
        self.length = self.text.len();
        self.ended();
        Ok(if depth == 0 { Piece::Text } else { Piece::Broken })
    }
}
