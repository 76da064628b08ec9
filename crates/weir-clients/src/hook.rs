//! Hook calls in one form for all clients.

use std::path::PathBuf;

use serde_json::Value;

use crate::text::Text;

/// A client's call at a point in its work.
#[derive(Debug, Clone, PartialEq)]
pub struct Hook {
    /// The session's key, as the client spells it.
    pub session: String,
    /// The folder the session works in.
    pub folder: PathBuf,
    /// The folder that the client's shell is in, if it is not that of the session.
    pub shell: Option<PathBuf>,
    /// The client's own log of the session.
    pub transcript: Option<PathBuf>,
    /// The subagent that made the call, if any.
    pub subagent: Option<Subagent>,
    /// The point in the client's work.
    pub point: Point,
    /// The replies that the client accepts here.
    pub takes: AcceptedReplies,
}

/// A conversation that the model started for part of the work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subagent {
    /// Its key, as the client spells it.
    pub key: String,
    /// The sort of subagent, as the client names it.
    pub kind: String,
}

/// The kinds of reply that a client accepts at a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AcceptedReplies {
    /// Additional context for the model.
    pub context: bool,
    /// A replacement for a tool's output.
    pub output: bool,
    /// A replacement for a command, which the client runs without asking the user. If it asked, or if its rules match
    /// on the command, the user and the rules would see our command instead of the original.
    pub command: bool,
    /// What the client's summary of the conversation must keep.
    pub keep: bool,
    /// A line for the user, which the model does not see.
    pub notice: bool,
}

/// A point in a client's work.
#[derive(Debug, Clone, PartialEq)]
pub enum Point {
    SessionStart(Start),
    Prompt {
        text: String,
    },
    /// A tool is about to run.
    BeforeTool(ToolCall),
    AfterTool(ToolCall, Done),
    /// The conversation is about to be compacted. A client may report this more often than it compacts.
    BeforeCompaction,
    AfterCompaction {
        /// The text that replaces the conversation; empty if the client does not report it.
        summary: String,
    },
    SubagentStart,
    SubagentStop {
        /// Its last message.
        result: String,
    },
    /// A file with rules for the model was loaded.
    Rules {
        path: String,
    },
    /// The model has finished its turn.
    Stop {
        /// Its last message; empty if the client does not report it.
        last: String,
    },
    SessionEnd,
}

/// How a session begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    New,
    /// As the continuation of an earlier session.
    Resume,
    Compact,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// The client's identifier of this call.
    pub key: Option<String>,
    /// The tool, as the client names it.
    pub name: String,
    /// What the tool does, in the form that all clients share.
    pub tool: Tool,
    /// The tool's input, as the client sends it.
    pub input: Value,
    /// Whether all of the input is there. Texts that are too long for memory are cut.
    pub input_is_whole: bool,
    /// Whether a command runs in the background, because the model asked for that or because the client moved it there.
    pub background: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tool {
    /// Runs a command in a shell.
    Shell {
        command: String,
    },
    Read {
        path: String,
        /// Whether only a part of it was asked for.
        part: bool,
    },
    Edit {
        path: String,
    },
    /// Writes a whole file.
    Write {
        path: String,
    },
    /// Searches for files or in files.
    Search {
        pattern: String,
    },
    Fetch {
        /// The address or the search query.
        what: String,
    },
    /// Updates the task list; the input says how.
    Tasks,
    Subagent {
        task: String,
    },
    Plan {
        text: String,
    },
    Question {
        text: String,
    },
    /// A tool of an MCP server.
    Mcp {
        server: String,
        /// The tool, as the server names it.
        tool: String,
    },
    /// One of Weir's own tools, whose output is already a digest.
    Ours,
    Other,
}

/// The outcome of a tool call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Done {
    pub output: Output,
    /// The exit code of a command, if the client reports it.
    pub exit_code: Option<i32>,
    pub failed: bool,
    /// The duration in milliseconds, if the client reports it.
    pub millis: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Output {
    /// The text, as far as the client passes it on.
    pub text: Text,
    /// The file in which the client saved the full output, if the text is only a part of it.
    pub saved: Option<PathBuf>,
    /// Whether the client has discarded the rest.
    pub cut: bool,
    /// What the client shows of it if nothing replaces it.
    pub shown: Shown,
    /// The number that the client gives to the first line of the text that replaces this one, if it numbers lines.
    pub numbered: Option<u64>,
}

/// What a client shows of an output if nothing replaces it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Shown {
    /// The text, or what the client's own cut leaves of it.
    #[default]
    Cut,
    /// The text, which the client has cut already if it had to.
    Text,
    /// This, which is shorter than the text.
    Part(String),
}

impl Point {
    /// Returns whether most clients accept context for the model at this point.
    pub(crate) fn takes_context(&self) -> bool {
        matches!(self, Self::SessionStart(_) | Self::Prompt { .. } | Self::AfterTool(..))
    }
}

impl Tool {
    /// Returns what the tool does, in one word.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Shell { .. } => "shell",
            Self::Read { .. } => "read",
            Self::Edit { .. } => "edit",
            Self::Write { .. } => "write",
            Self::Search { .. } => "search",
            Self::Fetch { .. } => "fetch",
            Self::Tasks => "tasks",
            Self::Subagent { .. } => "subagent",
            Self::Plan { .. } => "plan",
            Self::Question { .. } => "question",
            Self::Mcp { .. } => "mcp",
            Self::Ours => "weir",
            Self::Other => "other",
        }
    }

    /// Returns the path of the file that the tool reads, edits or writes.
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::Read { path, .. } | Self::Edit { path } | Self::Write { path } => Some(path),
            _ => None,
        }
    }
}
