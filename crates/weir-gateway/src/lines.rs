//! Reads messages, one per line. Invariants: memory is bounded for any input; a line that is too long is passed over,
//! and its ID is found, so that the call that waits for it can be told; dropping a future loses nothing.

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};

/// How many bytes of both ends of a long line are kept, to find its ID.
const END_BYTES: usize = 256;
/// A larger buffer is not kept for the next line.
const MAX_KEPT_BUFFER_BYTES: usize = 64 << 10;

/// Lines of at most so many bytes.
pub struct LineReader<R> {
    read: BufReader<R>,
    most: usize,
    line: Vec<u8>,
    /// The ends of a line that is too long, until it is complete.
    skipped: Option<LineEnds>,
}

/// A line that was too long.
#[derive(Debug, PartialEq, Eq)]
pub struct LongLine {
    /// The ID of its message, or null.
    pub id: Value,
}

struct LineEnds {
    head: Vec<u8>,
    tail: Vec<u8>,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub fn new(read: R, most: usize) -> Self {
        Self { read: BufReader::new(read), most, line: Vec::new(), skipped: None }
    }

    /// Reads to the end of a line, or of the input.
    pub async fn next(&mut self) -> Option<Result<Vec<u8>, LongLine>> {
        loop {
            let available = self.read.fill_buf().await.ok()?;
            let is_last = available.is_empty();
            if is_last && self.line.is_empty() && self.skipped.is_none() {
                return None;
            }
            let end = available.iter().position(|&byte| byte == b'\n');
            let (piece, length) = (&available[..end.unwrap_or(available.len())], end.map(|end| end + 1));
            match &mut self.skipped {
                Some(ends) => ends.push(piece),
                None if self.line.len() + piece.len() > self.most => {
                    let head = self.line.iter().chain(piece).take(END_BYTES).copied().collect();
                    let mut ends = LineEnds { head, tail: Vec::new() };
                    ends.push(piece);
                    self.line = Vec::new();
                    self.skipped = Some(ends);
                }
                None => self.line.extend_from_slice(piece),
            }
            let consumed = length.unwrap_or(piece.len());
            self.read.consume(consumed);
            if length.is_none() && !is_last {
                continue;
            }
            if let Some(ends) = self.skipped.take() {
                return Some(Err(LongLine { id: ends.id() }));
            }
            let line = std::mem::take(&mut self.line);
            if line.capacity() <= MAX_KEPT_BUFFER_BYTES {
                self.line.reserve(line.capacity());
            }
            return Some(Ok(line));
        }
    }
}

/// Returns the ID of a message that cannot be parsed, or null.
pub(crate) fn id_of(line: &[u8]) -> Value {
    let mut ends = LineEnds { head: line.iter().take(END_BYTES).copied().collect(), tail: Vec::new() };
    ends.push(line);
    ends.id()
}

impl LineEnds {
    fn push(&mut self, piece: &[u8]) {
        self.tail.extend_from_slice(&piece[piece.len().saturating_sub(END_BYTES)..]);
        let over = self.tail.len().saturating_sub(END_BYTES);
        self.tail.drain(..over);
    }

    /// Returns the ID of the message, which programs write before or after all long members.
    fn id(&self) -> Value {
        let (head, tail) = (String::from_utf8_lossy(&self.head), String::from_utf8_lossy(&self.tail));
        let head = head.strip_prefix('{').and_then(|inside| inside.split(['{', '[']).next());
        let tail = tail.trim_end().strip_suffix('}').and_then(|inside| inside.rsplit(['}', ']']).next());
        [head, tail].into_iter().flatten().find_map(id_in).unwrap_or_default()
    }
}

fn id_in(members: &str) -> Option<Value> {
    let (_, value) = members.rsplit_once("\"id\":")?;
    serde_json::Deserializer::from_str(value)
        .into_iter()
        .next()?
        .ok()
        .filter(|id: &Value| id.is_number() || id.is_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_id_of_a_long_line_is_found_at_either_end() {
        let long = "x".repeat(9_000);
        let lines = [
            (
                format!(r#"{{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{{"id":1,"text":"{long}"}}}}"#),
                json!(7),
            ),
            (format!(r#"{{"method":"m","params":{{"id":1,"text":"{long}"}},"jsonrpc":"2.0","id":"b"}}"#), json!("b")),
            (format!(r#"{{"jsonrpc":"2.0","method":"m","params":{{"id":1,"text":"{long}"}}}}"#), Value::Null),
            (long, Value::Null),
        ];
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        for (line, id) in lines {
            let text = format!("short\n{line}\nlast");
            let read = async {
                let mut lines = LineReader::new(text.as_bytes(), 1_000);
                [lines.next().await, lines.next().await, lines.next().await, lines.next().await]
            };
            let expected = [Some(Ok(b"short".to_vec())), Some(Err(LongLine { id })), Some(Ok(b"last".to_vec())), None];
            assert_eq!(runtime.block_on(read), expected);
        }
    }
}
