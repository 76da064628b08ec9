//! Lists the MCP servers in the user's own settings of clients. Invariants: the settings of a project are never read,
//! since a repository could name any program there; settings that cannot be used are listed, with the reason.

use serde_json::{Map, Value};
use weir_clients::RECIPES;
use weir_clients::setup::{EntryContent, Part, Recipe, ServerLaunch, Setting, SetupScope};
use weir_context::Context;
use weir_host::user_files;

use super::places::Places;

/// A server in the settings of a client.
#[derive(Debug, PartialEq, Eq)]
pub struct ConfiguredServer {
    pub client: &'static str,
    /// The name of the server; of settings that cannot be read, their path.
    pub name: String,
    pub launch: Launch,
}

/// How a client starts a server.
#[derive(Debug, PartialEq, Eq)]
pub enum Launch {
    Program {
        program: String,
        arguments: Vec<String>,
        variables: Vec<(String, String)>,
    },
    /// Weir cannot start it, for this reason.
    Not(&'static str),
}

/// Returns the servers in the user's settings of every client that can be set up.
pub fn configured(context: &Context) -> Vec<ConfiguredServer> {
    let Ok(places) = Places::new(context) else { return Vec::new() };
    let mut found = Vec::new();
    for recipe in RECIPES {
        for part in recipe.parts_for(SetupScope::User).filter(|part| !part.is_hooks()) {
            let path = places.path(&part.place);
            let listed = match user_files::read(&path) {
                Ok(Some(text)) => servers(part, &text),
                Ok(None) => Ok(Map::new()),
                Err(_) => Err("the settings cannot be read"),
            };
            let client = recipe.title;
            match listed {
                Ok(servers) => found.extend(servers.iter().map(|(name, entry)| {
                    let (name, launch) = (name.clone(), launch(recipe, entry));
                    ConfiguredServer { client, name, launch }
                })),
                Err(why) => {
                    let (name, launch) = (places.short(&path), Launch::Not(why));
                    found.push(ConfiguredServer { client, name, launch });
                }
            }
        }
    }
    found
}

/// Returns the entries of servers in a file, or why they cannot be told.
pub(super) fn servers(part: &Part, text: &str) -> Result<Map<String, Value>, &'static str> {
    if text.trim().is_empty() {
        return Ok(Map::new());
    }
    let broken = "the settings cannot be parsed";
    let value = match &part.what {
        EntryContent::Server(at, _) => Setting { place: part.place, at }.get(text).map_err(|_| broken)?,
        EntryContent::ServerTable(table) => {
            let all: Value = toml::from_str(text.trim_start_matches('\u{feff}')).map_err(|_| broken)?;
            all.get(*table).cloned()
        }
        EntryContent::Hooks(_) | EntryContent::Plugin(_) => None,
    };
    match value {
        None => Ok(Map::new()),
        Some(Value::Object(servers)) => Ok(servers),
        Some(_) => Err("its list of servers is not an object"),
    }
}

fn launch(recipe: &Recipe, entry: &Value) -> Launch {
    match recipe.servers.launch(entry) {
        Ok(ServerLaunch::Program { words, variables, .. }) => {
            let mut words = words.into_iter();
            Launch::Program { program: words.next().unwrap_or_default(), arguments: words.collect(), variables }
        }
        Ok(ServerLaunch::Address { .. }) => Launch::Not("it is not started, but reached at an address"),
        Err(why) => Launch::Not(why),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn settings_that_cannot_be_used_are_not_taken_for_empty_ones() {
        let parts = RECIPES.iter().flat_map(|recipe| recipe.parts_for(SetupScope::User));
        let (mut json, mut toml) = (0, 0);
        for part in parts.filter(|part| !part.is_hooks()) {
            let (broken, wrong) = match &part.what {
                EntryContent::Server(at, _) => {
                    json += 1;
                    let list = at.iter().rev().fold("[]".to_owned(), |inner, key| format!("{{\"{key}\": {inner}}}"));
                    ("{ \"a\": 1, b }", list)
                }
                EntryContent::ServerTable(table) => {
                    toml += 1;
                    ("a = = 1", format!("{table} = 1\n"))
                }
                EntryContent::Hooks(_) | EntryContent::Plugin(_) => continue,
            };
            assert_eq!(servers(part, broken), Err("the settings cannot be parsed"), "{}", part.place.path);
            assert_eq!(servers(part, &wrong), Err("its list of servers is not an object"), "{}", part.place.path);
            assert_eq!(servers(part, "\n"), Ok(Map::new()), "{}", part.place.path);
        }
        assert!(json > 0 && toml > 0);
    }

    #[test]
    fn a_server_is_started_as_its_client_writes_it() {
        let program = |program: &str, arguments: &[&str], variables: &[(&str, &str)]| Launch::Program {
            program: program.to_owned(),
            arguments: arguments.iter().map(|text| (*text).to_owned()).collect(),
            variables: variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        };
        for (entry, expected) in [
            (
                json!({ "command": "npx", "args": ["-y", "x"], "env": { "A": "b" } }),
                program("npx", &["-y", "x"], &[("A", "b")]),
            ),
            (json!({ "type": "local", "command": ["x", "mcp"] }), program("x", &["mcp"], &[])),
            (json!({ "url": "https://x.y/mcp" }), Launch::Not("it is not started, but reached at an address")),
            (json!({ "command": "x", "enabled": false }), Launch::Not("it is disabled")),
            (json!({ "command": "x", "env": { "T": "${env:T}" } }), Launch::Not("the client fills in variables")),
        ] {
            let client = if entry["command"].is_array() { "opencode" } else { "claude" };
            assert_eq!(launch(weir_clients::recipe(client).unwrap(), &entry), expected, "{entry}");
        }
    }
}
