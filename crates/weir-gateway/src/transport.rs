//! Messages of a server that is a program. Invariants: memory is bounded for any output; what is not a message is
//! passed over, as is an answer that nobody waits for; an answer that is too long or cannot be read becomes an error
//! for the call that waits for it.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;

use rmcp::model::{ErrorData, JsonRpcMessage, RequestId};
use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::AsyncWriteExt as _;
use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::Mutex;
use weir_core::wording::size;
use weir_host::mutex::lock;

use crate::lines::{LineReader, id_of};
use crate::process::Process;

/// The longest message of a server, in bytes.
pub(crate) const MAX_MESSAGE_BYTES: usize = 32 << 20;

pub(crate) struct ProgramTransport {
    lines: LineReader<ChildStdout>,
    input: Arc<Mutex<Option<ChildStdin>>>,
    process: Option<Process>,
    /// The requests that the server has not answered. Whatever else it answers is passed over.
    open: Arc<std::sync::Mutex<HashSet<RequestId>>>,
}

impl ProgramTransport {
    pub(crate) fn new(process: Process, output: ChildStdout, input: ChildStdin) -> Self {
        let lines = LineReader::new(output, MAX_MESSAGE_BYTES);
        Self { lines, input: Arc::new(Mutex::new(Some(input))), process: Some(process), open: Arc::default() }
    }

    fn read(&self, line: &[u8]) -> Option<RxJsonRpcMessage<RoleClient>> {
        if line.iter().all(u8::is_ascii_whitespace) {
            return None;
        }
        if let Ok(message) = serde_json::from_slice(line) {
            return self.is_expected(&message).then_some(message);
        }
        let id = match serde_json::from_slice::<Value>(line) {
            Ok(message) if message["method"].is_null() => message["id"].clone(),
            Ok(_) => return None,
            // It may be too deep to be parsed.
            Err(_) => id_of(line),
        };
        failure(&id, "it answered with something that is not a message of the protocol")
            .filter(|message| self.is_expected(message))
    }

    /// Whether a message is anything but an answer that nobody waits for.
    fn is_expected(&self, message: &RxJsonRpcMessage<RoleClient>) -> bool {
        match message {
            JsonRpcMessage::Response(response) => lock(&self.open).remove(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref().is_some_and(|id| lock(&self.open).remove(id)),
            _ => true,
        }
    }
}

/// Returns the error that answers a request of ours, in place of a message that cannot be used.
fn failure(id: &Value, why: &str) -> Option<RxJsonRpcMessage<RoleClient>> {
    let id: RequestId = serde_json::from_value(id.clone()).ok()?;
    Some(JsonRpcMessage::error(ErrorData::internal_error(why.to_owned(), None), Some(id)))
}

impl Transport<RoleClient> for ProgramTransport {
    type Error = io::Error;

    fn send(&mut self, message: TxJsonRpcMessage<RoleClient>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let input = Arc::clone(&self.input);
        if let JsonRpcMessage::Request(request) = &message {
            lock(&self.open).insert(request.id.clone());
        }
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut input = input.lock().await;
            let input = input.as_mut().ok_or(io::ErrorKind::NotConnected)?;
            input.write_all(&line).await?;
            input.flush().await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let message = match self.lines.next().await? {
                Ok(line) => self.read(&line),
                Err(long) => {
                    let most = size(MAX_MESSAGE_BYTES as u64);
                    failure(&long.id, &format!("its answer is longer than {most}; ask it for less"))
                        .filter(|message| self.is_expected(message))
                }
            };
            if message.is_some() {
                return message;
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        // A writer that waits for a server that reads nothing must not keep the server from being ended.
        if let Ok(mut input) = self.input.try_lock() {
            drop(input.take());
        }
        if let Some(process) = self.process.take() {
            process.end().await;
        }
        Ok(())
    }
}
