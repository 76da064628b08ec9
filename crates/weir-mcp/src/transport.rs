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
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::{Mutex, Notify};
use tokio::task::JoinHandle;
use weir_gateway::lines::LineReader;
use weir_host::mutex::lock;

use super::message::{parse, refusal};

const MAX_LINE_BYTES: usize = 16 << 20;
const MAX_OPEN_REQUESTS: usize = 1_024;

/// The lines of a client.
pub(super) struct LineTransport<R, W> {
    lines: LineReader<R>,
    out: AnswerWriter<W>,
    /// The pending answer to a line that cannot be served.
    refusing: Option<JoinHandle<io::Result<()>>>,
    /// Whether a message was handed out whose handling has not begun yet.
    owes_turn: bool,
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
        Self { lines: LineReader::new(read, MAX_LINE_BYTES), out, refusing: None, owes_turn: false }
    }
}

impl<W: AsyncWrite + Send + Unpin + 'static> AnswerWriter<W> {
    /// Writes a complete message, and then removes the request that it answers.
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
            let refused = match self.lines.next().await? {
                Ok(line) => match parse(&line) {
                    Some(Ok(message)) => {
                        self.follow(&message);
                        self.owes_turn = true;
                        return Some(*message);
                    }
                    Some(Err(refused)) => refused,
                    None => continue,
                },
                Err(long) => {
                    let why = format!("the message is longer than {} MiB", MAX_LINE_BYTES >> 20);
                    refusal(ErrorCode::INVALID_REQUEST, &why, long.id)
                }
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
