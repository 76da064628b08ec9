//! Bytes that are not text, such as a printed image or database.

use std::io::{self, BufRead};

use weir_core::terminal;

use super::bytes::Bytes;
use super::magic;
use crate::kinds::Kind;
use crate::sample::Sample;
use crate::{Page, Source};

pub(crate) const KIND: Kind = Kind::data("binary", is, read);

fn is(sample: &Sample<'_>) -> bool {
    let head = sample.raw.as_slice();
    let odd = head.iter().take(4_096).filter(|byte| matches!(byte, 0..=6 | 0x0e..=0x1a | 0x1c..=0x1f)).count();
    let looked = head.len().clamp(1, 4_096);
    let known = magic::name(head).is_some() && !is_utf8(head.get(..looked).unwrap_or_default());
    // Lists of names separated by NULs are text.
    let names = terminal::is_binary(head) && odd * 8 < looked && is_utf8(head);
    (terminal::is_binary(head) && !names) || known || odd * 10 > looked
}

/// Returns whether these bytes are valid UTF-8, except that the last character may be cut.
fn is_utf8(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).map_or_else(|error| error.error_len().is_none(), |_| true)
}

fn read(source: &dyn Source, _sample: &Sample<'_>) -> io::Result<Option<Page>> {
    let mut bytes = Bytes::default();
    let mut input = source.open()?;
    loop {
        let piece = input.fill_buf()?;
        if piece.is_empty() {
            break;
        }
        bytes.take(piece);
        let used = piece.len();
        input.consume(used);
    }
    let name = bytes.name().unwrap_or("of no known kind");
    let mut page = Page::new(format!("binary, not text: {name}, {} bytes", bytes.count));
    bytes.push(&mut page);
    Ok(Some(page))
}
