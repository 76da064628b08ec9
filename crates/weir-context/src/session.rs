//! Who asks: the face, the origin and the session of a call, and the ways back to the caller.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;
use weir_core::{Origin, SessionKey};
use weir_host::consent::{self, ConsentPrompt};
use weir_host::error::CommandError;
use weir_host::face::{Face, Reader};

/// Calls tools of other MCP servers for the code of a run, and returns what they print. Blocks the thread, which must
/// not be one of an async runtime.
pub type ToolCaller = Arc<dyn Fn(ToolCallWords) -> Result<String, CommandError> + Send + Sync>;

/// A call of a tool as code writes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCallWords {
    pub server: String,
    pub tool: String,
    /// A JSON object, or empty.
    pub arguments: String,
}

/// Shows the output of a run while it runs. An empty piece says that the output is over.
pub type LiveOutput = Arc<dyn Fn(&[u8]) + Send + Sync>;

/// The caller of one call. Cheap to clone.
#[derive(Clone)]
pub struct Session {
    /// The face that the call came through, which decides how an answer is worded.
    pub face: Face,
    /// The origin of the caller, and thus of the texts it passes.
    pub origin: Origin,
    /// Who reads the answer.
    pub reader: Reader,
    /// The conversation that the call belongs to, if any.
    pub key: Option<SessionKey>,
    /// The work that the caller named, if any. Otherwise it is what the machine says.
    pub work: Option<String>,
    cancel: CancellationToken,
    tell: fn(&str),
    ask: ConsentPrompt,
    live: Option<LiveOutput>,
    tools: Option<ToolCaller>,
}

impl Session {
    /// Returns a caller that cannot be asked and gets no progress messages.
    pub fn new(face: Face, key: Option<SessionKey>) -> Self {
        let (work, cancel) = (None, CancellationToken::new());
        let (origin, reader) = (face.origin(), face.reader());
        Self { face, origin, reader, key, work, cancel, tell: |_| (), ask: None, live: None, tools: None }
    }

    /// Returns the same caller with a function that receives progress messages.
    pub(super) fn with_progress(self, tell: fn(&str)) -> Self {
        Self { tell, ..self }
    }

    /// Returns the same caller with a place that shows the output of runs while they run, if there is one.
    pub(super) fn with_live_output(self, live: Option<LiveOutput>) -> Self {
        Self { live, ..self }
    }

    /// Returns the place that shows the output of runs while they run. Only a person at a terminal has one.
    pub fn live_output(&self) -> Option<&LiveOutput> {
        self.live.as_ref()
    }

    /// Returns the same caller, whose code may call tools of other MCP servers.
    pub(super) fn with_tools(self, tools: ToolCaller) -> Self {
        Self { tools: Some(tools), ..self }
    }

    /// Returns what calls tools of other MCP servers, if there are any.
    pub fn tools(&self) -> Option<&ToolCaller> {
        self.tools.as_ref()
    }

    /// Returns the same caller with another reader of its answers.
    pub(super) fn with_reader(self, reader: Reader) -> Self {
        Self { reader, ..self }
    }

    /// Returns the same caller in another conversation.
    pub(super) fn in_session(self, key: Option<SessionKey>) -> Self {
        Self { key, ..self }
    }

    /// Returns the same caller, at a work that it names.
    pub(super) fn in_work(self, work: Option<String>) -> Self {
        Self { work, ..self }
    }

    /// Returns the same caller with a way to ask the user.
    pub(super) fn with_consent_prompt(self, ask: ConsentPrompt) -> Self {
        Self { ask, ..self }
    }

    /// Returns the same caller for one cancellable call, of a conversation if the caller named one.
    pub(super) fn for_call(&self, key: Option<SessionKey>, cancel: CancellationToken) -> Self {
        Self { key, cancel, ..self.clone() }
    }

    /// Returns the token that is cancelled when the caller gives up waiting.
    pub fn cancelled(&self) -> &CancellationToken {
        &self.cancel
    }

    /// Reports the progress of long work, if anything receives it.
    pub(super) fn report_progress(&self, progress: &str) {
        (self.tell)(progress);
    }

    /// Asks the user for consent. Without a way to ask, the answer is no; a text that cannot be shown completely is an
    /// error.
    pub(super) async fn consent(&self, question: &str, about: &str) -> Result<bool, CommandError> {
        match &self.ask {
            Some(ask) => Ok(ask(consent::visible(question), consent::shown(about)?).await),
            None => Ok(false),
        }
    }
}
