//! The servers behind Weir, as the user's `servers.json` beside the configuration has them.
//!
//! Invariants: only the user's own file is obeyed, never one of a project; what an entry passes to its server
//! (variables and headers) is never shown, and written only to files that only their owner can read: this one, and the
//! ledger from which `weir teardown` gives settings back.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use weir_host::env::Paths;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::{trust, user_files};

const FILE: &str = "servers.json";
/// The largest file that is read, in bytes.
const MAX_BYTES: u64 = 1 << 20;
/// The longest name of a server. Names of tools have 64 characters in most clients, and contain it.
const MAX_NAME_CHARS: usize = 32;

/// All servers behind Weir, by name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Entries {
    pub servers: BTreeMap<String, ServerEntry>,
}

/// A server behind Weir.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerEntry {
    #[serde(flatten)]
    pub launch: Launch,
    /// The clients that it is for, by the names that `weir setup` knows. None means all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub clients: Vec<String>,
    /// How long a call may be silent, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u32>,
    /// The tools that are offered and can be called. None means all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub only: Vec<String>,
    /// The tools that may be called without asking although they destroy something, or `*` for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    /// The tools that are not offered and cannot be called, or `*` for all that `allow` does not name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
}

/// How a server is reached. Shown without the values of variables and headers.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Launch {
    /// A program that speaks over its standard streams.
    Program {
        command: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        args: Vec<String>,
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        env: BTreeMap<String, String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cwd: Option<PathBuf>,
    },
    /// An address that speaks Streamable HTTP.
    Address {
        url: String,
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        headers: BTreeMap<String, String>,
    },
}

impl Entries {
    /// Reads the user's file. Without one, there are no servers.
    pub fn read(paths: &Paths) -> Result<Self, CommandError> {
        let path = path(paths);
        let cannot = |why: String| {
            CommandError::new(ErrorKind::Config, format!("cannot use {}: {why}", path.display()))
                .hint("`weir servers` writes this file; repair it, or move it away")
        };
        let bytes = match trust::read_own_file(&path, MAX_BYTES) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(cannot(error.to_string())),
        };
        let entries: Self = serde_json::from_slice(&bytes).map_err(|error| cannot(error.to_string()))?;
        match entries.servers.keys().find(|name| !is_name(name)) {
            Some(name) => Err(cannot(format!("`{}` cannot name a server", name.escape_debug()))),
            None => Ok(entries),
        }
    }

    /// Returns the text of the file that has these servers.
    pub fn text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }

    /// Replaces the user's file.
    pub fn write(&self, paths: &Paths) -> Result<(), CommandError> {
        user_files::write(&user_files::target(&path(paths)), &self.text(), true)
    }

    /// Returns the servers of a client.
    pub fn of_client(&self, client: &str) -> impl Iterator<Item = (&String, &ServerEntry)> {
        self.servers.iter().filter(move |(_, entry)| entry.is_for(client))
    }
}

impl ServerEntry {
    pub fn new(launch: Launch) -> Self {
        Self { launch, clients: Vec::new(), timeout: None, only: Vec::new(), allow: Vec::new(), deny: Vec::new() }
    }

    /// Whether a tool is offered and can be called.
    pub fn offers(&self, tool: &str) -> bool {
        let has = |list: &[String], name: &str| list.iter().any(|it| it == name);
        let is_denied = has(&self.deny, tool) || has(&self.deny, "*") && !has(&self.allow, tool);
        !is_denied && (self.only.is_empty() || has(&self.only, tool))
    }

    /// Whether another entry is for the same server under the same rules, whichever clients the two are for.
    pub fn is_like(&self, other: &Self) -> bool {
        Self { clients: Vec::new(), ..self.clone() } == Self { clients: Vec::new(), ..other.clone() }
    }

    /// Returns the address at which the server may ask for a sign-in: it is remote, and gets no credential in a header.
    pub fn sign_in_url(&self) -> Option<&str> {
        match &self.launch {
            Launch::Address { url, headers } => {
                let names_credential = headers.keys().any(|name| name.eq_ignore_ascii_case("authorization"));
                (!names_credential).then_some(url)
            }
            Launch::Program { .. } => None,
        }
    }

    /// Whether a client may use this server.
    pub fn is_for(&self, client: &str) -> bool {
        self.clients.is_empty() || self.clients.iter().any(|name| name == client)
    }
}

impl fmt::Display for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Program { command, args, .. } => {
                f.write_str(command)?;
                args.iter().try_for_each(|word| write!(f, " {word}"))
            }
            // A query may have a key.
            Self::Address { url, .. } => f.write_str(url.split(['?', '#']).next().unwrap_or_default()),
        }
    }
}

impl fmt::Debug for Launch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Returns where the user's file is.
pub fn path(paths: &Paths) -> PathBuf {
    paths.config.parent().unwrap_or(Path::new("/")).join(FILE)
}

/// Whether a text can name a server: letters, digits, `-` and `_`, since it becomes part of names of tools.
pub fn is_name(text: &str) -> bool {
    let is_part = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_');
    // Two underscores separate a server from a tool.
    !text.is_empty() && text.len() <= MAX_NAME_CHARS && text.chars().all(is_part) && !text.contains("__")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(folder: &Path) -> Paths {
        Paths { data: folder.join("data"), config: folder.join("config/config.toml"), cache: folder.join("cache") }
    }

    #[test]
    fn what_is_written_is_read_again_and_shows_no_secret() {
        let folder = tempfile::tempdir().unwrap();
        let paths = paths(folder.path());
        assert_eq!(Entries::read(&paths).unwrap(), Entries::default());
        let program = Launch::Program {
            command: "npx".to_owned(),
            args: vec!["-y".to_owned(), "server".to_owned()],
            env: BTreeMap::from([("TOKEN".to_owned(), "s3cret".to_owned())]),
            cwd: None,
        };
        let address = Launch::Address {
            url: "https://example.com/mcp?key=s3cret".to_owned(),
            headers: BTreeMap::from([("Authorization".to_owned(), "s3cret".to_owned())]),
        };
        let mut entries = Entries::default();
        entries.servers.insert("git".to_owned(), ServerEntry::new(program));
        let entry = ServerEntry { clients: vec!["gemini".to_owned()], ..ServerEntry::new(address) };
        entries.servers.insert("remote".to_owned(), entry);
        entries.write(&paths).unwrap();
        assert_eq!(Entries::read(&paths).unwrap(), entries);
        assert!(!format!("{entries:?}").contains("s3cret"));
        assert_eq!(entries.of_client("codex").map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["git"]);
    }

    #[test]
    fn a_tool_is_offered_unless_a_rule_leaves_it_out() {
        let list = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let launch = || Launch::Address { url: "https://example.com".to_owned(), headers: BTreeMap::new() };
        for (only, allow, deny, offered) in [
            (&[][..], &[][..], &[][..], &["read", "write", "drop"][..]),
            (&["read", "drop"], &[], &["drop"], &["read"]),
            (&[], &["*"], &["drop"], &["read", "write"]),
            (&[], &["read"], &["*"], &["read"]),
            (&[], &["*"], &["*"], &[]),
        ] {
            let entry =
                ServerEntry { only: list(only), allow: list(allow), deny: list(deny), ..ServerEntry::new(launch()) };
            let found: Vec<_> = ["read", "write", "drop"].into_iter().filter(|tool| entry.offers(tool)).collect();
            assert_eq!(found, offered, "{entry:?}");
        }
    }

    #[test]
    fn a_name_can_be_a_part_of_the_name_of_a_tool() {
        assert!(is_name("git-hub_2"));
        assert!(!is_name("") && !is_name("a__b") && !is_name("a b") && !is_name("ä") && !is_name(&"a".repeat(33)));
    }
}
