//! A server behind Weir: connected on first use, kept for the session, and started again after it ended, with growing
//! pauses while it fails. Invariant: nobody waits for a server but the calls to it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rmcp::model::{CallToolResult, ServerPeerInfo, Tool};
use rmcp::service::{Peer, RoleClient};
use tokio::sync::Mutex;

use crate::connection::{Connection, ServerCall, Surroundings};
use crate::entries::ServerEntry;
use crate::failure::ServerFailure;

/// The pause after the first failure. Each further one doubles it.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

pub(crate) struct Server {
    pub name: String,
    pub entry: ServerEntry,
    around: Surroundings,
    state: Mutex<State>,
}

#[derive(Default)]
enum State {
    #[default]
    Idle,
    Connected(Arc<Connection>),
    Failed {
        why: String,
        until: Instant,
        times: u32,
    },
}

/// What a server lists.
pub(crate) struct Listing {
    pub tools: Vec<Tool>,
    pub info: Option<Arc<ServerPeerInfo>>,
}

impl Server {
    pub(crate) fn new(name: &str, entry: ServerEntry, around: Surroundings) -> Self {
        Self { name: name.to_owned(), entry, around, state: Mutex::default() }
    }

    /// Returns the connection, which is opened first if there is none.
    pub(crate) async fn connection(&self) -> Result<Arc<Connection>, ServerFailure> {
        let mut state = self.state.lock().await;
        let times = match &*state {
            State::Connected(connection) if !connection.is_closed() => return Ok(Arc::clone(connection)),
            State::Failed { why, until, .. } if Instant::now() < *until => {
                let left = until.saturating_duration_since(Instant::now());
                return Err(ServerFailure::Resting { why: why.clone(), left });
            }
            State::Failed { times, .. } => *times,
            _ => 0,
        };
        match Connection::open(&self.name, &self.entry, &self.around).await {
            Ok(connection) => {
                let connection = Arc::new(connection);
                *state = State::Connected(Arc::clone(&connection));
                Ok(connection)
            }
            Err(failure) => {
                let pause = FIRST_PAUSE.saturating_mul(1 << times.min(6)).min(LONGEST_PAUSE);
                *state = State::Failed { why: failure.to_string(), until: Instant::now() + pause, times: times + 1 };
                Err(failure)
            }
        }
    }

    /// Returns the server itself, for what is forwarded as it is.
    pub(crate) async fn peer(&self) -> Result<Peer<RoleClient>, ServerFailure> {
        Ok(self.connection().await?.peer().clone())
    }

    pub(crate) async fn list(&self) -> Result<Listing, ServerFailure> {
        let connection = self.connection().await?;
        Ok(Listing { tools: connection.tools().await?, info: connection.info() })
    }

    pub(crate) async fn call(&self, call: ServerCall) -> Result<CallToolResult, ServerFailure> {
        self.connection().await?.call(call).await
    }

    /// Whether the server has said since the last question that its tools have changed.
    pub(crate) async fn tools_changed(&self) -> bool {
        match &*self.state.lock().await {
            State::Connected(connection) => connection.take_tools_changed(),
            _ => false,
        }
    }

    /// Ends the server if it runs.
    pub(crate) async fn end(&self) {
        let state = std::mem::take(&mut *self.state.lock().await);
        if let State::Connected(connection) = state
            && let Some(connection) = Arc::into_inner(connection)
        {
            connection.close().await;
        }
    }
}
