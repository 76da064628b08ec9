//! What servers listed last, stored so that no client waits for a server to start, and which of it the user knows.
//!
//! Invariants: the first list of a server counts as known; a tool whose description, arguments or hints have changed
//! since is not known until the user has seen the change; a file that cannot be read is as good as none.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rmcp::model::{ServerPeerInfo, Tool, ToolAnnotations};
use serde::{Deserialize, Serialize};
use weir_host::env::Paths;
use weir_host::error::CommandError;
use weir_host::{trust, user_files};

use crate::entries::ServerEntry;

/// The largest list that is read, in bytes.
const MAX_BYTES: u64 = 16 << 20;
/// The most tools of a server that are kept.
const MAX_TOOLS: usize = 1_000;
/// The longest description that is kept, in bytes; those of real servers have up to 9 KB.
const MAX_DESCRIPTION_BYTES: usize = 16 << 10;

/// What a server listed last.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct StoredList {
    /// The hash of how the server was reached, since its arguments may be secret. The list of another server does not
    /// count.
    launch: String,
    /// What the server said of itself.
    pub info: Option<ServerPeerInfo>,
    pub tools: Vec<Tool>,
    /// What the user knows of each tool, by name.
    known: BTreeMap<String, KnownTool>,
}

/// What the user knows of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct KnownTool {
    /// The hash of what counts about the tool.
    hash: String,
    description: String,
}

impl StoredList {
    /// Returns the tool with this name.
    pub fn tool(&self, name: &str) -> Option<&Tool> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// Returns the description that the user knows, if the tool has changed since.
    pub fn changed(&self, tool: &Tool) -> Option<&str> {
        let known = self.known.get(tool.name.as_ref())?;
        (known.hash != hash(tool)).then_some(known.description.as_str())
    }

    /// Makes a changed tool known.
    pub fn learn(&mut self, name: &str) {
        if let Some(tool) = self.tool(name).map(KnownTool::of) {
            self.known.insert(name.to_owned(), tool);
        }
    }

    /// Returns the tokens that the descriptions of all tools take in a request.
    pub fn tokens(&self) -> usize {
        self.tools.iter().map(tokens).sum()
    }
}

/// Returns the tokens that the description of a tool takes in a request.
pub fn tokens(tool: &Tool) -> usize {
    let read = serde_json::to_string(&(&tool.name, &tool.description, &tool.input_schema)).unwrap_or_default();
    weir_tokens::count(&read)
}

impl KnownTool {
    fn of(tool: &Tool) -> Self {
        Self { hash: hash(tool), description: tool.description.as_deref().unwrap_or_default().to_owned() }
    }
}

/// Returns what a server listed last, if it was reached as its entry says.
pub fn read(paths: &Paths, server: &str, entry: &ServerEntry) -> Option<StoredList> {
    let bytes = trust::read_own_file(&path(paths, server), MAX_BYTES).ok()?;
    let list: StoredList = serde_json::from_slice(&bytes).ok()?;
    (list.launch == launch_hash(entry)).then_some(list)
}

/// Stores what a server lists now. What the user knows of its tools stays as it is; new tools are known.
pub fn store(
    paths: &Paths,
    (server, entry): (&str, &ServerEntry),
    info: Option<ServerPeerInfo>,
    tools: Vec<Tool>,
) -> Result<StoredList, CommandError> {
    let mut known = read(paths, server, entry).map(|list| list.known).unwrap_or_default();
    let tools: Vec<Tool> = tools.into_iter().take(MAX_TOOLS).map(bounded).collect();
    for tool in &tools {
        known.entry(tool.name.to_string()).or_insert_with(|| KnownTool::of(tool));
    }
    let list = StoredList { launch: launch_hash(entry), info, tools, known };
    write(paths, server, &list)?;
    Ok(list)
}

/// Replaces the stored list of a server.
pub fn write(paths: &Paths, server: &str, list: &StoredList) -> Result<(), CommandError> {
    let text = serde_json::to_string(list).unwrap_or_default();
    user_files::write(&path(paths, server), &text, true)
}

/// Removes the stored list of a server.
pub fn remove(paths: &Paths, server: &str) {
    let _ = std::fs::remove_file(path(paths, server));
}

fn path(paths: &Paths, server: &str) -> PathBuf {
    paths.data.join("gateway").join(format!("{server}.json"))
}

/// Cuts what no client could show, and says so.
fn bounded(mut tool: Tool) -> Tool {
    if let Some(description) = &tool.description
        && description.len() > MAX_DESCRIPTION_BYTES
    {
        let end = description.floor_char_boundary(MAX_DESCRIPTION_BYTES);
        let left_out = description.len() - end;
        tool.description = Some(format!("{}… [weir: {left_out} bytes left out]", &description[..end]).into());
    }
    tool
}

fn launch_hash(entry: &ServerEntry) -> String {
    blake3::hash(entry.launch.to_string().as_bytes()).to_hex().to_string()
}

/// Returns a hash of what a model and the user are told of a tool.
fn hash(tool: &Tool) -> String {
    let hints = tool.annotations.as_ref().map(|hints: &ToolAnnotations| {
        (hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint, hints.open_world_hint)
    });
    let told = serde_json::to_vec(&(&tool.name, &tool.description, &tool.input_schema, hints)).unwrap_or_default();
    blake3::hash(&told).to_hex().to_string()
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use super::*;
    use crate::entries::Launch;

    fn tool(name: &str, description: &str) -> Tool {
        Tool::new(name.to_owned(), description.to_owned(), Arc::default())
    }

    fn entry(command: &str) -> ServerEntry {
        let command = command.to_owned();
        let launch = Launch::Program { command, args: Vec::new(), env: BTreeMap::default(), cwd: None };
        ServerEntry::new(launch)
    }

    #[test]
    fn a_tool_that_changes_is_unknown_until_the_user_knows_it() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let paths = Paths { data: at("data"), config: at("config.toml"), cache: at("cache") };
        let entry = entry("one");
        assert!(read(&paths, "s", &entry).is_none());
        let list = store(&paths, ("s", &entry), None, vec![tool("a", "reads a file")]).unwrap();
        let stored = std::fs::read_to_string(path(&paths, "s")).unwrap();
        assert!(!stored.contains("\"one\""), "how a server is reached may be secret: {stored}");
        assert_eq!(list.changed(&list.tools[0]), None);
        let now = vec![tool("a", "reads a file and mails it"), tool("b", "is new")];
        let mut list = store(&paths, ("s", &entry), None, now).unwrap();
        assert_eq!(list.changed(&list.tools[0]), Some("reads a file"));
        assert_eq!(list.changed(&list.tools[1]), None);
        list.learn("a");
        write(&paths, "s", &list).unwrap();
        let list = read(&paths, "s", &entry).unwrap();
        assert_eq!(list.changed(&list.tools[0]), None);
        assert!(read(&paths, "s", &self::entry("two")).is_none(), "another server has another list");
        remove(&paths, "s");
        assert!(read(&paths, "s", &entry).is_none());
        assert!(Path::new(&paths.data).exists());
    }

    #[test]
    fn a_description_that_is_too_long_is_cut_and_says_so() {
        let cut = bounded(tool("a", &"x".repeat(20_000)));
        let description = cut.description.unwrap();
        assert!(description.ends_with("x… [weir: 3616 bytes left out]"), "{}", &description[16_000..]);
    }
}
