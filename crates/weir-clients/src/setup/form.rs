//! How a client writes MCP servers into its settings, so that Weir can start one in the client's place.
//!
//! Invariant: an entry is understood as a whole or not at all. A key that no form names may restrict the server, and
//! Weir would have to leave it out.

use serde_json::{Map, Value};

use super::Place;
use super::rules::ToolRules;

/// How a client writes an MCP server.
pub struct ServerForm {
    /// The key of the variables of its process.
    pub variables: &'static str,
    /// The keys of its address.
    pub addresses: &'static [&'static str],
    /// The address that speaks the older SSE protocol, if a client tells the two apart by the key.
    pub sse: &'static str,
    /// The key of the headers of its requests.
    pub headers: &'static str,
    /// What begins a value that the client fills in.
    pub filled_in: &'static [&'static str],
    /// The key of the time after which a call fails, and how many of its units are a second.
    pub timeout: Option<(&'static str, u64)>,
    /// The keys with rules about its tools.
    pub rules: &'static [(&'static str, ToolRule)],
    /// The keys that change nothing about a server behind Weir, or that the entry keeps.
    pub others: &'static [&'static str],
    /// How the names of its tools begin elsewhere in the settings, where `{}` stands for the server. If there are none,
    /// the file has no rules.
    pub tool_names: &'static [&'static str],
    /// The objects at the top of the settings that permit or deny tools by name, the decisive one last.
    pub permissions: &'static [&'static str],
    /// The keys at the top of the settings below which a server's own name means the server.
    pub named_in: &'static [&'static str],
    /// The file in which the client turns servers off: under a name in lower case, an object with `enabled`.
    pub switched_off: Option<Place>,
    /// Where the client keeps rules that Weir does not read.
    pub unread: Option<&'static str>,
}

/// What the entry of a server says about its tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolRule {
    /// Whether all may be called without asking.
    Trust,
    /// Those that may be called without asking.
    Allow,
    /// Those that there are for the model. `*` stands for all.
    Only,
    /// Those that there are not.
    Deny,
}

/// How a client starts or reaches a server. Its values may be secrets.
#[derive(Clone, PartialEq, Eq)]
pub enum ServerLaunch {
    Program {
        /// The program and its arguments.
        words: Vec<String>,
        variables: Vec<(String, String)>,
        /// The folder in which it is started.
        folder: Option<String>,
    },
    /// An address that speaks Streamable HTTP.
    Address {
        url: String,
        /// The headers of each request.
        headers: Vec<(String, String)>,
    },
}

/// A server as its client has it.
pub struct FoundServer {
    pub launch: ServerLaunch,
    /// How long a call may take, in seconds.
    pub timeout: Option<u32>,
    pub rules: ToolRules,
}

/// The keys that every client has.
const COMMON: [&str; 6] = ["type", "command", "args", "cwd", "enabled", "disabled"];

/// What entries call the transports that Weir has. Most leave it out.
const KINDS: [&str; 7] = ["", "stdio", "local", "http", "remote", "streamable-http", "streamableHttp"];

const SSE: &str = "it speaks SSE, and Weir speaks Streamable HTTP";

impl ServerForm {
    /// The form of Claude Desktop, which most clients share.
    pub(crate) const USUAL: Self = Self {
        variables: "env",
        addresses: &["url"],
        sse: "",
        headers: "headers",
        filled_in: &["${", "{env:", "{file:"],
        timeout: None,
        rules: &[],
        others: &["description"],
        tool_names: &[],
        permissions: &[],
        named_in: &[],
        switched_off: None,
        unread: None,
    };

    /// Returns how an entry starts or reaches its server, or why Weir cannot do that.
    pub fn launch(&self, entry: &Value) -> Result<ServerLaunch, &'static str> {
        if entry["enabled"] == false || entry["disabled"] == true {
            return Err("it is disabled");
        }
        let mut words = match &entry["command"] {
            Value::String(program) => vec![program.clone()],
            Value::Null => Vec::new(),
            words => texts(words).ok_or("its command is not a text")?,
        };
        words.extend(texts(&entry["args"]).ok_or("its arguments are not texts")?);
        let kind = entry["type"].as_str().unwrap_or_default();
        if kind == "sse" {
            return Err(SSE);
        }
        let folder = entry["cwd"].as_str().map(str::to_owned);
        let address = self.addresses.iter().find_map(|key| Some((*key, entry[*key].as_str()?)));
        let (launch, values) = match address {
            None if words.is_empty() => return Err("it has neither a command nor an address"),
            _ if !KINDS.contains(&kind) => return Err("Weir does not know its type"),
            None => {
                let variables = pairs(&entry[self.variables]).ok_or("its variables are not texts")?;
                let values: Vec<String> = words.iter().cloned().chain(folder.clone()).collect();
                let values = with_values(values, &variables);
                (ServerLaunch::Program { words, variables, folder }, values)
            }
            Some((key, url)) => {
                let is_old = key == self.sse && kind.is_empty();
                if is_old || url.split(['?', '#']).next().is_some_and(|path| path.ends_with("/sse")) {
                    return Err(SSE);
                }
                let headers = pairs(&entry[self.headers]).ok_or("its headers are not texts")?;
                let values = with_values(vec![url.to_owned()], &headers);
                (ServerLaunch::Address { url: url.to_owned(), headers }, values)
            }
        };
        let is_filled_in = |text: &String| self.filled_in.iter().any(|sign| text.contains(sign));
        if values.iter().any(is_filled_in) { Err("the client fills in variables") } else { Ok(launch) }
    }

    /// Returns what an entry says about its server, or why Weir cannot stand in front of it.
    pub fn read(&self, entry: &Value) -> Result<FoundServer, String> {
        let launch = self.launch(entry)?;
        let keys: Vec<&str> = entry.as_object().into_iter().flat_map(Map::keys).map(String::as_str).collect();
        if let Some(key) = keys.iter().find(|key| !self.knows(key)) {
            return Err(format!("Weir does not know its setting `{}`", key.escape_debug()));
        }
        let mut rules = ToolRules::default();
        for (key, rule) in self.rules {
            let value = &entry[*key];
            if !value.is_null() {
                let before = rules.clone();
                rules.add(*rule, value).ok_or_else(|| format!("Weir cannot take over its rule `{key}`"))?;
                rules.said.extend((rules != before).then(|| format!("{key}: {value}")));
            }
        }
        let timeout = self.timeout.and_then(|(key, units)| Some(entry[key].as_u64()?.div_ceil(units)));
        Ok(FoundServer { launch, timeout: timeout.and_then(|seconds| u32::try_from(seconds).ok()), rules })
    }

    /// Returns the keys that say how a server is reached.
    pub(super) fn launch_keys(&self) -> impl Iterator<Item = &'static str> {
        ["type", "command", "args", "cwd", self.variables, self.headers]
            .into_iter()
            .chain(self.addresses.iter().copied())
    }

    fn knows(&self, key: &str) -> bool {
        let rules = self.rules.iter().map(|(key, _)| *key).chain(self.timeout.map(|(key, _)| key));
        COMMON.into_iter().chain(self.launch_keys()).chain(rules).chain(self.others.iter().copied()).any(|it| it == key)
    }
}

/// Returns the texts in a list. A missing list is empty.
pub(super) fn texts(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::Null => Some(Vec::new()),
        list => list.as_array()?.iter().map(|text| text.as_str().map(str::to_owned)).collect(),
    }
}

fn pairs(value: &Value) -> Option<Vec<(String, String)>> {
    match value {
        Value::Null => Some(Vec::new()),
        object => {
            object.as_object()?.iter().map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect()
        }
    }
}

fn with_values(mut texts: Vec<String>, pairs: &[(String, String)]) -> Vec<String> {
    texts.extend(pairs.iter().map(|(_, value)| value.clone()));
    texts
}
