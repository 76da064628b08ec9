//! Reads the rows of a transcript: JSON Lines or one JSON document. Invariant: memory is bounded for any input.

use std::io::{self, BufRead, Read as _};
use std::ops::ControlFlow;

use super::{MAX_BUFFERED_BYTES, Reading};
use crate::json;

/// The maximum length of a row, in bytes.
const MAX_ROW_BYTES: usize = 32 << 20;

/// Passes every row to `to` and calls `after` after each one, until it breaks.
pub(super) fn read(
    input: &mut dyn BufRead,
    to: &mut Reading,
    after: &mut dyn FnMut(&mut Reading) -> ControlFlow<()>,
) -> io::Result<ControlFlow<()>> {
    let mut line = Vec::new();
    let (mut number, mut first) = (0, true);
    while next(input, &mut line)? {
        number += 1;
        if line.len() > MAX_ROW_BYTES {
            to.skip(number);
        } else if !line.trim_ascii().is_empty() {
            match json::parse(&line) {
                Ok(row) => to.row(row, line.len(), number),
                // A document over several lines begins with an incomplete one.
                Err(error) if first && error.is_eof() => {
                    return document(line, input, to).map(ControlFlow::Continue);
                }
                Err(_) => to.skip(number),
            }
            first = false;
            if after(to).is_break() {
                return Ok(ControlFlow::Break(()));
            }
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// Reads one line without its end, dropping everything past [`MAX_ROW_BYTES`]. Returns whether there was a line.
fn next(input: &mut dyn BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    let mut any = false;
    loop {
        let buffer = input.fill_buf()?;
        if buffer.is_empty() {
            return Ok(any);
        }
        any = true;
        let end = buffer.iter().position(|&byte| byte == b'\n');
        let taken = end.unwrap_or(buffer.len());
        let room = (MAX_ROW_BYTES + 1).saturating_sub(line.len()).min(taken);
        line.extend_from_slice(&buffer[..room]);
        input.consume(taken + usize::from(end.is_some()));
        if end.is_some() {
            return Ok(true);
        }
    }
}

/// Reads a document that begins with the given text, or each of its lines if it is not a single document.
fn document(mut text: Vec<u8>, rest: &mut dyn BufRead, to: &mut Reading) -> io::Result<()> {
    text.push(b'\n');
    rest.take((MAX_BUFFERED_BYTES - MAX_ROW_BYTES) as u64).read_to_end(&mut text)?;
    match json::parse(&text) {
        Ok(row) => to.row(row, text.len(), 1),
        Err(_) => {
            let lines = text.split(|&byte| byte == b'\n').zip(1..);
            for (line, number) in lines.filter(|(line, _)| !line.trim_ascii().is_empty()) {
                match json::parse(line) {
                    Ok(row) => to.row(row, line.len(), number),
                    Err(_) => to.skip(number),
                }
            }
        }
    }
    Ok(())
}
