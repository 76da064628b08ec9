//! Lists the MCP servers in the user's own settings of clients. Invariants: the settings of a project are never read,
//! since a repository could name any program there; settings that cannot be used are listed, with the reason.

use serde_json::{Map, Value};
use weir_clients::RECIPES;
use weir_clients::setup::{EntryContent, Part, Setting, SetupScope};
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
                    let (name, launch) = (name.clone(), launch(entry));
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
fn servers(part: &Part, text: &str) -> Result<Map<String, Value>, &'static str> {
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

fn launch(entry: &Value) -> Launch {
    if entry["enabled"] == false || entry["disabled"] == true {
        return Launch::Not("it is disabled");
    }
    let texts = |value: &Value| -> Vec<String> {
        value.as_array().into_iter().flatten().filter_map(|text| text.as_str().map(str::to_owned)).collect()
    };
    let mut words = match &entry["command"] {
        Value::String(program) => vec![program.clone()],
        words => texts(words),
    };
    words.extend(texts(&entry["args"]));
    if words.is_empty() {
        return Launch::Not("it is not started, but reached at an address");
    }
    let variables = entry["env"].as_object().or_else(|| entry["environment"].as_object());
    let variables: Vec<(String, String)> = variables
        .into_iter()
        .flatten()
        .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
        .collect();
    let is_filled_in = |text: &str| text.contains("${") || text.contains("{env:");
    if words.iter().any(|word| is_filled_in(word)) || variables.iter().any(|(_, value)| is_filled_in(value)) {
        return Launch::Not("the client fills in variables");
    }
    let program = words.remove(0);
    Launch::Program { program, arguments: words, variables }
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
            assert_eq!(launch(&entry), expected, "{entry}");
        }
    }
}
