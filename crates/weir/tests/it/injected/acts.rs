//! What is tried: every command that uses a store, and every hook.

/// What a client tells the status line.
const STATUS: &str = r#"{ "session_id": "s1", "workspace": { "current_dir": "{home}/project" } }"#;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Group {
    Hooks,
    Reading,
    Writing,
    Stores,
}

pub(super) enum How {
    /// A command. `{name}` in an argument stands for what the template knows by that name.
    Command(&'static [&'static str]),
    /// A command with an input.
    Fed(&'static [&'static str], &'static str),
    /// A hook of Claude Code: the event, and the payload besides what every hook has.
    Hook(&'static str, &'static str),
}

/// One thing to do while a call fails.
pub(super) struct Act {
    pub(super) name: &'static str,
    pub(super) group: Group,
    pub(super) how: How,
    /// What the answer must have if it claims to be one, unless it says that something was left out.
    pub(super) says: &'static str,
}

impl Act {
    pub(super) fn is_hook(&self) -> bool {
        matches!(self.how, How::Hook(..))
    }

    /// Whether it is a hook that holds back an output if nothing fails.
    pub(super) fn holds(&self) -> bool {
        ["large output", "same output"].contains(&self.name)
    }
}

const fn hook(name: &'static str, event: &'static str, payload: &'static str) -> Act {
    Act { name, group: Group::Hooks, how: How::Hook(event, payload), says: "" }
}

const fn read(name: &'static str, arguments: &'static [&'static str], says: &'static str) -> Act {
    Act { name, group: Group::Reading, how: How::Command(arguments), says }
}

const fn write(name: &'static str, arguments: &'static [&'static str]) -> Act {
    Act { name, group: Group::Writing, how: How::Command(arguments), says: "" }
}

const fn store(name: &'static str, arguments: &'static [&'static str]) -> Act {
    Act { name, group: Group::Stores, how: How::Command(arguments), says: "" }
}

/// A conversation with the MCP server: a search and a note.
const MCP: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"#,
    r#""clientInfo":{"name":"t","version":"1"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"ctx_annotate","arguments":"#,
    r#"{"text":"Cormorants dive"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"ctx_search","arguments":"#,
    r#"{"queries":["albatross"]}}}"#,
    "\n",
);

pub(super) const ACTS: &[Act] = &[
    hook("start", "SessionStart", r#"{"source":"startup"}"#),
    hook("compacted", "SessionStart", r#"{"source":"compact"}"#),
    hook("prompt", "UserPromptSubmit", r#"{"prompt":"Look at the tide tables"}"#),
    hook("before tool", "PreToolUse", r#"{"tool_name":"Bash","tool_input":{"command":"cargo test"}}"#),
    hook(
        "small output",
        "PostToolUse",
        r#"{"tool_name":"Bash","tool_input":{"command":"date"},"tool_response":{"stdout":"noon\n","stderr":""}}"#,
    ),
    hook(
        "large output",
        "PostToolUse",
        r#"{"tool_name":"Bash","tool_input":{"command":"make"},"tool_response":{"stdout":"{large}","stderr":""}}"#,
    ),
    hook(
        "same output",
        "PostToolUse",
        r#"{"tool_name":"Bash","tool_input":{"command":"birds"},"tool_response":{"stdout":"{birds text}","stderr":""}}"#,
    ),
    hook("compaction", "PreCompact", r#"{"trigger":"auto"}"#),
    hook("stop", "Stop", r#"{"last_assistant_message":"The tide tables are done."}"#),
    hook("end", "SessionEnd", r#"{"reason":"exit"}"#),
    read("search", &["search", "albatross"], "albatross"),
    read("search unindexed", &["search", "penguin"], "penguin"),
    read("get", &["get", "{birds}"], "albatross"),
    read("notes", &["notes"], "7071"),
    read("history", &["history"], "tide"),
    read("context", &["context"], "7071"),
    read("stats", &["stats"], ""),
    read("doctor", &["doctor"], "project store"),
    read("doctor deep", &["doctor", "--deep"], "project store"),
    read("overview", &[], ""),
    Act { name: "statusline", group: Group::Reading, how: How::Fed(&["statusline"], STATUS), says: "" },
    write("note", &["note", "The deploy window is noon", "--topic", "deploy"]),
    write("user note", &["note", "Tabs are four wide", "--scope", "user"]),
    write("index", &["index", "docs"]),
    write("run", &["run", "echo cormorant"]),
    write("forget", &["forget", "{port}", "--confirm", "{confirm port}"]),
    write("forget all", &["forget", "--project", "--confirm", "{confirm all}"]),
    write("rebuild index", &["doctor", "--rebuild-index"]),
    write("drop lost", &["doctor", "--deep", "--drop-lost"]),
    Act { name: "mcp", group: Group::Writing, how: How::Fed(&["mcp"], MCP), says: "" },
    store("backup", &["backup", "{home}/new.weir"]),
    store("restore", &["restore", "{home}/old.weir", "--force"]),
    store("export", &["export", "{home}/new.jsonl"]),
    Act { name: "export to pipe", group: Group::Stores, how: How::Command(&["export"]), says: "albatross" },
];
