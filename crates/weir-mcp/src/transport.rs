//! Messages over standard input and output, one per line.
//!
//! Invariants: a line that cannot be served is answered with a JSON-RPC error, so that no client waits in vain; memory
//! is bounded for any input, however slowly the client reads: beyond [`MAX_OPEN_REQUESTS`] unanswered requests, nothing
//! more is read.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;

use rmcp::model::{ClientNotification, ErrorCode, JsonRpcMessage, RequestId};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{Mutex, Notify};
use tokio::task::JoinHandle;
use weir_host::mutex::lock;

use super::message::{parse, refusal};

const MAX_LINE_BYTES: usize = 16 << 20;
/// How many bytes of both ends of a longer line are kept, to answer it by its ID.
const END_BYTES: usize = 256;
const MAX_OPEN_REQUESTS: usize = 1_024;
/// A larger buffer is not kept for the next line.
const MAX_KEPT_BUFFER_BYTES: usize = 64 << 10;

/// The lines of a client.
pub(super) struct LineTransport<R, W> {
    read: BufReader<R>,
    line: Vec<u8>,
    /// The ends of a line that is too long, until it is complete.
    skipped: Option<LineEnds>,
    out: AnswerWriter<W>,
    /// The pending answer to a line that cannot be served.
    refusing: Option<JoinHandle<io::Result<()>>>,
    /// Whether a message was handed out whose handling has not begun yet.
    owes_turn: bool,
}

struct LineEnds {
    head: Vec<u8>,
    tail: Vec<u8>,
}

/// The state that the writers of answers share.
struct AnswerWriter<W> {
    write: Arc<Mutex<Option<W>>>,
    open: Arc<OpenRequests>,
}

#[derive(Default)]
struct OpenRequests {
    ids: std::sync::Mutex<HashSet<RequestId>>,
    fewer: Notify,
}

impl OpenRequests {
    fn with<T>(&self, change: impl FnOnce(&mut HashSet<RequestId>) -> T) -> T {
        change(&mut lock(&self.ids))
    }

    fn close(&self, id: &RequestId) {
        self.with(|ids| ids.remove(id));
        self.fewer.notify_one();
    }
}

impl<R: AsyncRead + Unpin, W: AsyncWrite + Send + Unpin + 'static> LineTransport<R, W> {
    pub(super) fn new(read: R, write: W) -> Self {
        let out = AnswerWriter { write: Arc::new(Mutex::new(Some(write))), open: Arc::default() };
        Self { read: BufReader::new(read), line: Vec::new(), skipped: None, out, refusing: None, owes_turn: false }
    }

    /// Reads to the end of a line, or of the input. Returns the line, or the error that answers it. Dropping the future
    /// loses nothing.
    async fn next_line(&mut self) -> Option<Result<Vec<u8>, Value>> {
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
                None if self.line.len() + piece.len() > MAX_LINE_BYTES => {
                    let mut ends =
                        LineEnds { head: self.line[..self.line.len().min(END_BYTES)].to_vec(), tail: Vec::new() };
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
                let why = format!("the message is longer than {} MiB", MAX_LINE_BYTES >> 20);
                return Some(Err(refusal(ErrorCode::INVALID_REQUEST, &why, ends.id())));
            }
            let line = std::mem::take(&mut self.line);
            if line.capacity() <= MAX_KEPT_BUFFER_BYTES {
                self.line.reserve(line.capacity());
            }
            return Some(Ok(line));
        }
    }
}

impl LineEnds {
    fn push(&mut self, piece: &[u8]) {
        self.tail.extend_from_slice(&piece[piece.len().saturating_sub(END_BYTES)..]);
        let over = self.tail.len().saturating_sub(END_BYTES);
        self.tail.drain(..over);
    }

    /// Returns the ID of the message, which clients write before or after all long members.
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

impl<W: AsyncWrite + Send + Unpin + 'static> AnswerWriter<W> {
    fn write(
        &self,
        message: Vec<u8>,
        answers: Option<RequestId>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let (write, open) = (Arc::clone(&self.write), Arc::clone(&self.open));
        async move {
            let mut write = write.lock().await;
            let result = match write.as_mut() {
                Some(write) => {
                    let written = write.write_all(&message).await;
                    if written.is_ok() { write.flush().await } else { written }
                }
                None => Err(io::ErrorKind::NotConnected.into()),
            };
            if let Some(id) = answers {
                open.close(&id);
            }
            result
        }
    }
}

fn line_of(message: &impl serde::Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(message).unwrap_or_default();
    line.push(b'\n');
    line
}

impl<R: AsyncRead + Send + Unpin, W: AsyncWrite + Send + Unpin + 'static> Transport<RoleServer>
    for LineTransport<R, W>
{
    type Error = io::Error;

    fn send(&mut self, message: TxJsonRpcMessage<RoleServer>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let answers = match &message {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            _ => None,
        };
        self.out.write(line_of(&message), answers)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        // Each message is handled by its own task, which gets its turn before the next message is read.
        if std::mem::take(&mut self.owes_turn) {
            tokio::task::yield_now().await;
        }
        loop {
            if let Some(refusing) = &mut self.refusing {
                let written = refusing.await;
                self.refusing = None;
                written.ok()?.ok()?;
            }
            while self.out.open.with(|ids| ids.len()) >= MAX_OPEN_REQUESTS {
                self.out.open.fewer.notified().await;
            }
            let refused = match self.next_line().await? {
                Ok(line) => match parse(&line) {
                    Some(Ok(message)) => {
                        self.follow(&message);
                        self.owes_turn = true;
                        return Some(*message);
                    }
                    Some(Err(refused)) => refused,
                    None => continue,
                },
                Err(refused) => refused,
            };
            // In a task, since this future may be dropped at any time, and a partial line must not be written.
            self.refusing = Some(tokio::spawn(self.out.write(line_of(&refused), None)));
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        drop(self.out.write.lock().await.take());
        Ok(())
    }
}

impl<R, W> LineTransport<R, W> {
    /// Tracks the unanswered requests. A cancelled request gets no answer.
    fn follow(&self, message: &RxJsonRpcMessage<RoleServer>) {
        match message {
            JsonRpcMessage::Request(request) => {
                self.out.open.with(|ids| ids.insert(request.id.clone()));
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.out.open.close(id);
                }
            }
            _ => {}
        }
    }
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
        for (line, id) in lines {
            let mut ends = LineEnds { head: line.as_bytes()[..END_BYTES].to_vec(), tail: Vec::new() };
            for piece in line.as_bytes()[END_BYTES..].chunks(100) {
                ends.push(piece);
            }
            assert_eq!(ends.id(), id);
        }
    }
}
