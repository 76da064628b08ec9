//! What a client tells us, in one form for all of them.

use std::path::PathBuf;

use serde_json::Value;

/// A client's call, at a point of its own work.
#[derive(Debug, Clone, PartialEq)]
pub struct Hook {
    /// The session's key, as the client has it.
    pub session: String,
    /// The folder the session works in.
    pub folder: PathBuf,
    /// The client's own log of the session.
    pub transcript: Option<PathBuf>,
    /// The subagent in which it happened.
    pub subagent: Option<Subagent>,
    /// Where in the client's work.
    pub point: Point,
    /// What it takes as an answer here.
    pub takes: Takes,
}

/// A subagent: a conversation that the model started for a part of the work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subagent {
    /// Its key, as the client has it.
    pub key: String,
    /// What sort it is.
    pub kind: String,
}

/// What a client takes as an answer at a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Takes {
    /// Something for the model to know.
    pub context: bool,
    /// Another output of a tool.
    pub output: bool,
    /// Another command, which it runs without asking the user about it. Where it would ask, or has rules that look at
    /// the command, ours would be what they see.
    pub command: bool,
    /// What its summary of the conversation must keep.
    pub keep: bool,
}

/// A point in a client's work.
#[derive(Debug, Clone, PartialEq)]
pub enum Point {
    /// A session begins.
    SessionStart(Start),
    /// The user asks for something.
    Prompt {
        /// In these words.
        text: String,
    },
    /// A tool is about to be used.
    BeforeTool(ToolCall),
    /// A tool was used.
    AfterTool(ToolCall, Done),
    /// The conversation is about to be compacted. A client may say so more often than it does it.
    BeforeCompaction,
    /// The conversation was compacted.
    AfterCompaction {
        /// What the model is given in its place; empty where the client does not tell.
        summary: String,
    },
    /// A subagent begins.
    SubagentStart,
    /// A subagent is done.
    SubagentStop {
        /// What it said last.
        result: String,
    },
    /// A file with rules for the model was loaded.
    Rules {
        /// Which.
        path: String,
    },
    /// The model is done with its turn.
    Stop {
        /// What it said last, where the client tells.
        last: String,
    },
    /// The session ends.
    SessionEnd,
}

/// How a session begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// Anew.
    New,
    /// With what an earlier one left.
    Resume,
    /// After its conversation was compacted.
    Compact,
}

/// The use of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolCall {
    /// What the client calls this one use.
    pub key: Option<String>,
    /// The tool, as the client calls it.
    pub name: String,
    /// What it is for, in the form that all clients share.
    pub tool: Tool,
    /// What it was given, as the client has it.
    pub input: Value,
}

/// What a tool is for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tool {
    /// Runs a command in a shell.
    Shell {
        /// The command.
        command: String,
    },
    /// Reads a file.
    Read {
        /// Which.
        path: String,
        /// Whether a part of it was asked for.
        part: bool,
    },
    /// Changes a file.
    Edit {
        /// Which.
        path: String,
    },
    /// Writes a whole file.
    Write {
        /// Which.
        path: String,
    },
    /// Looks for files or in files.
    Search {
        /// What for.
        pattern: String,
    },
    /// Fetches something from the web.
    Fetch {
        /// The address, or what was searched for.
        what: String,
    },
    /// Keeps the list of tasks; the input says how.
    Tasks,
    /// Starts a subagent.
    Subagent {
        /// What it is to do.
        task: String,
    },
    /// Proposes a plan.
    Plan {
        /// The plan.
        text: String,
    },
    /// Asks the user.
    Question {
        /// What.
        text: String,
    },
    /// A tool of an MCP server.
    Mcp {
        /// The server.
        server: String,
        /// The tool, as the server calls it.
        tool: String,
    },
    /// One of our own tools: what it says is a digest already.
    Ours,
    /// Something else.
    Other,
}

/// How the use of a tool went.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Done {
    /// What it gave back.
    pub output: Output,
    /// What a command returned, where the client tells.
    pub exit_code: Option<i32>,
    /// Whether it failed.
    pub failed: bool,
    /// How long it took, where the client tells.
    pub millis: Option<u64>,
}

/// What a tool gave back.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Output {
    /// The text, as far as the client hands it over.
    pub text: String,
    /// The file in which the client saved the whole, when the text is only a part of it.
    pub saved: Option<PathBuf>,
    /// Whether the client has thrown the rest away.
    pub cut: bool,
    /// Whether the client puts a number before each line of what it is given in place of the text.
    pub numbered: bool,
}

impl Point {
    /// Whether the model can be told something here, in most clients.
    pub(crate) fn takes_context(&self) -> bool {
        matches!(self, Self::SessionStart(_) | Self::Prompt { .. } | Self::AfterTool(..))
    }
}

impl Tool {
    /// What it is for, in one word.
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

    /// The file it is about.
    pub fn path(&self) -> Option<&str> {
        match self {
            Self::Read { path, .. } | Self::Edit { path } | Self::Write { path } => Some(path),
            _ => None,
        }
    }
}
