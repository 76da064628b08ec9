//! Moves servers of clients behind Weir, and back.
//!
//! Invariants: a server moves only if Weir understands all of its entry and every rule about it; two clients share an
//! entry of Weir's only if both have the same server under the same rules; no value of a variable or of a header is
//! shown.

use std::collections::BTreeMap;

use serde_json::Value;
use weir_clients::setup::{FoundServer, Part, Recipe, ServerLaunch, TakenServer, movable, starts_us};
use weir_gateway::entries::{Entries, Launch, ServerEntry, is_name, path};
use weir_host::env::Paths;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::user_files;

use super::ledger::{Ledger, MovedServer};
use super::places::Places;
use super::servers::servers;
use super::targets::ReadTarget;

/// The servers that the user wants behind Weir.
pub(super) struct Gateway<'p> {
    places: &'p Places,
    /// Their names, or none for all.
    asked: Vec<String>,
    /// Those of the named that some client has.
    found: Vec<String>,
    /// Weir's entries as they will be.
    entries: Entries,
    /// Where Weir's entries are, as a person writes it.
    file: String,
    /// What moves and what stays, in words.
    pub said: Vec<String>,
}

/// The part of a client's settings that has its servers.
pub(super) struct Source<'a> {
    pub recipe: &'static Recipe,
    pub part: &'static Part,
    /// The path of the file, as a person writes it.
    pub name: &'a str,
    /// Our program, as the client is to call it.
    pub program: &'a str,
}

/// What setup does with the servers of a file.
#[derive(Default)]
pub(super) struct Moves {
    /// All servers that were taken out of the file.
    pub all: Vec<MovedServer>,
    /// The entries that Weir gets.
    pub new: Vec<(String, ServerEntry)>,
}

impl<'p> Gateway<'p> {
    pub(super) fn new(places: &'p Places, asked: Vec<String>) -> Result<Self, CommandError> {
        let file = places.short(&path(&places.paths));
        Ok(Self { places, asked, found: Vec::new(), entries: Entries::read(&places.paths)?, file, said: Vec::new() })
    }

    /// Returns the settings with Weir in the place of each server that was asked for and can move.
    pub(super) fn take(&mut self, source: &Source<'_>, text: String, moves: &mut Moves) -> String {
        let title = source.recipe.title;
        let listed = match servers(source.part, &text) {
            Ok(listed) => listed,
            Err(why) => {
                self.said.push(format!("the servers of {title} stay: {why}"));
                return text;
            }
        };
        if self.asked.is_empty() && !listed.values().any(|entry| !starts_us(entry)) {
            self.said.push(format!("{title} has no MCP servers that could move"));
        }
        let mut text = text;
        let before = moves.new.len();
        for (name, entry) in &listed {
            if !self.asked.is_empty() && !self.asked.contains(name) {
                continue;
            }
            self.found.push(name.clone());
            if starts_us(entry) {
                continue;
            }
            match self.take_one(source, &text, (name, entry), moves) {
                Ok(changed) => text = changed,
                Err(why) => self.said.push(format!("{} stays in {title}: {why}", name.escape_debug())),
            }
        }
        if let Some(unread) = source.recipe.servers.unread.filter(|_| moves.new.len() > before) {
            self.said.push(format!("Weir does not read all rules of {title}; check {unread}"));
        }
        self.found.extend(moves.all.iter().map(|moved| moved.name.clone()));
        text
    }

    fn take_one(
        &mut self,
        source: &Source<'_>,
        text: &str,
        (name, entry): (&str, &Value),
        moves: &mut Moves,
    ) -> Result<String, String> {
        let recipe = source.recipe;
        if !is_name(name) {
            return Err("its name is used in names of tools, so it may have letters, digits, - and _".to_owned());
        }
        if self.is_switched_off(recipe, name) {
            return Err("it is disabled".to_owned());
        }
        let found = movable(recipe, text, (name, entry))?;
        let new = entry_of(&found, recipe);
        let (changed, taken) =
            source.part.take_server(recipe, text, (name, source.program)).map_err(|why| why.to_string())?;
        check_taken(source, (text, &changed), name)?;
        add(&mut self.entries, name, &new)?;
        let rules = if recipe.keeps_entries() { String::new() } else { rules_in_words(&found) };
        self.said.push(match recipe.keeps_entries() {
            true => {
                format!(
                    "{name} goes through Weir: {} starts Weir for it, and its command is in {}",
                    source.name, self.file
                )
            }
            false => format!("{name} moves from {} to {}{rules}", source.name, self.file),
        });
        if new.sign_in_url().is_some() {
            self.said
                .push(format!("{name} may ask you to sign in again: `weir servers test {name}` says whether it does"));
        }
        moves.all.retain(|moved| moved.name != name || moved.client != recipe.name);
        moves.all.push(MovedServer::new(recipe.name, taken));
        moves.new.push((name.to_owned(), new));
        Ok(changed)
    }

    /// Whether a client has turned a server off in another file. What cannot be read turns all off.
    fn is_switched_off(&self, recipe: &Recipe, name: &str) -> bool {
        let Some(place) = &recipe.servers.switched_off else { return false };
        match user_files::read(&self.places.path(place)) {
            Ok(None) => false,
            Ok(Some(text)) => serde_json::from_str::<Value>(&text)
                .map_or(true, |switches| switches[name.to_lowercase()]["enabled"] == false),
            Err(_) => true,
        }
    }

    /// Returns an error if no client has one of the servers that the user named.
    pub(super) fn check_found(&self) -> Result<(), CommandError> {
        match self.asked.iter().find(|name| !self.found.contains(name)) {
            None => Ok(()),
            Some(name) => {
                let error = CommandError::usage(format!("no client has a server `{}`", name.escape_debug()));
                Err(error.hint(match weir_clients::recipe(name) {
                    Some(_) => format!("name the client first: weir setup {name} --gateway"),
                    None => "`weir setup --gateway --dry-run` names those that there are".to_owned(),
                }))
            }
        }
    }
}

/// Returns the settings in which the servers that moved call this program, which may be elsewhere now.
pub(super) fn renewed(source: &Source<'_>, text: String, moved: &[MovedServer]) -> String {
    let Ok(listed) = servers(source.part, &text) else { return text };
    let is_old =
        |name: &str| listed.get(name).is_some_and(|entry| starts_us(entry) && entry["command"] != source.program);
    let old = moved.iter().filter(|moved| source.recipe.keeps_entries() && is_old(&moved.name));
    old.fold(text, |text, moved| {
        let taken = source.part.take_server(source.recipe, &text, (&moved.name, source.program));
        taken.map(|(changed, _)| changed).unwrap_or(text)
    })
}

/// Says that the servers of a file that is gone stay behind Weir, where they are all that is left of it.
pub(super) fn kept(file: &str, moved: &[MovedServer]) -> Option<String> {
    let names = moved.iter().map(|moved| moved.name.as_str()).collect::<Vec<_>>().join(", ");
    (!moved.is_empty()).then(|| format!("{file} is gone, so Weir keeps its servers: {names}"))
}

/// Says which servers of a file call Weir although the ledger does not know what was there.
pub(super) fn stranded(target: &ReadTarget) -> Vec<String> {
    let text = target.text.as_deref().unwrap_or_default();
    let listed = target.parts.iter().filter_map(|(_, part)| servers(part, text).ok()).flatten();
    let stranded = listed.filter(|(_, entry)| starts_us(entry) && entry["args"][1] == "--server");
    let say = |(name, _): (String, Value)| {
        format!("{} in {} still starts Weir: `weir servers` says what it was", name.escape_debug(), target.name)
    };
    stranded.map(say).collect()
}

/// Adds the entries to the user's file.
pub(super) fn gain(paths: &Paths, new: &[(String, ServerEntry)]) -> Result<(), CommandError> {
    if new.is_empty() {
        return Ok(());
    }
    let mut entries = Entries::read(paths)?;
    for (name, entry) in new {
        let changed = |why| CommandError::new(ErrorKind::Failed, format!("`{name}` was not moved: {why}"));
        add(&mut entries, name, entry).map_err(changed)?;
    }
    entries.write(paths)
}

/// Takes clients out of the entries of servers that they have again. An entry that no client uses any more goes.
pub(super) fn give_up(paths: &Paths, ledger: &Ledger, returned: &[MovedServer]) -> Result<(), CommandError> {
    if returned.is_empty() {
        return Ok(());
    }
    let mut entries = Entries::read(paths)?;
    let before = entries.clone();
    for moved in returned {
        // An entry for all clients is the user's own.
        let Some(entry) = entries.servers.get_mut(&moved.name).filter(|entry| !entry.clients.is_empty()) else {
            continue;
        };
        entry.clients.retain(|client| *client != moved.client);
        if entry.clients.is_empty() {
            entries.servers.remove(&moved.name);
        }
    }
    match entries.servers.is_empty() {
        _ if entries == before => Ok(()),
        true => user_files::remove(&user_files::target(&path(paths)), &ledger.folders),
        false => entries.write(paths),
    }
}

/// Returns the text without these secrets, as they are between quotes.
pub(super) fn masked(text: String, secrets: &[String]) -> String {
    secrets.iter().fold(text, |text, secret| {
        let text =
            text.replace(&Value::from(secret.as_str()).to_string(), "\"…\"").replace(&format!("'{secret}'"), "'…'");
        // A short one is also a part of other words.
        if secret.len() < 8 { text } else { text.replace(secret, "…") }
    })
}

/// Returns the values of the variables and headers of a server.
pub(super) fn secrets(recipe: &Recipe, taken: &TakenServer) -> Vec<String> {
    let json = taken.entry();
    let toml = || toml::from_str::<Value>(&format!("{}\n{}", taken.text, taken.tables)).ok();
    let mut found = Vec::new();
    let keys = [recipe.servers.variables, recipe.servers.headers];
    json.or_else(toml).iter().for_each(|entry| values_below(entry, &keys, &mut found));
    found.sort_by_key(|secret: &String| std::cmp::Reverse(secret.len()));
    found
}

fn values_below(value: &Value, keys: &[&str], found: &mut Vec<String>) {
    for (key, value) in value.as_object().into_iter().flatten() {
        match value.as_object().filter(|_| keys.contains(&key.as_str())) {
            Some(values) => {
                found.extend(values.values().filter_map(Value::as_str).filter(|it| !it.is_empty()).map(str::to_owned));
            }
            None => values_below(value, keys, found),
        }
    }
}

/// Adds an entry, or its clients to the same entry that is there. Returns why that cannot be.
fn add(entries: &mut Entries, name: &str, new: &ServerEntry) -> Result<(), String> {
    match entries.servers.get_mut(name) {
        None => drop(entries.servers.insert(name.to_owned(), new.clone())),
        Some(present) if !present.is_like(new) => {
            let of =
                if present.clients.is_empty() { "`weir servers add`".to_owned() } else { present.clients.join(", ") };
            return Err(format!(
                "Weir has another server or other rules under this name, from {of}; rename one of them"
            ));
        }
        // It is for all clients.
        Some(present) if present.clients.is_empty() => {}
        Some(present) => {
            let more = new.clients.iter().filter(|client| !present.clients.contains(client));
            let more: Vec<String> = more.cloned().collect();
            present.clients.extend(more);
        }
    }
    Ok(())
}

/// Returns Weir's entry for a server of a client. If the client keeps its entry, its rules go on there.
fn entry_of(found: &FoundServer, recipe: &Recipe) -> ServerEntry {
    let map = |pairs: &[(String, String)]| pairs.iter().cloned().collect::<BTreeMap<String, String>>();
    let launch = match &found.launch {
        ServerLaunch::Program { words, variables, folder } => Launch::Program {
            command: words.first().cloned().unwrap_or_default(),
            args: words.iter().skip(1).cloned().collect(),
            env: map(variables),
            cwd: folder.as_ref().map(Into::into),
        },
        ServerLaunch::Address { url, headers } => Launch::Address { url: url.clone(), headers: map(headers) },
    };
    let entry = ServerEntry { clients: vec![recipe.name.to_owned()], ..ServerEntry::new(launch) };
    if recipe.keeps_entries() {
        return entry;
    }
    let rules = &found.rules;
    let (only, allow, deny) = (rules.only.clone(), rules.allow.clone(), rules.deny.clone());
    ServerEntry { timeout: found.timeout, only, allow, deny, ..entry }
}

/// Says which rules were taken over, and what that permits.
fn rules_in_words(found: &FoundServer) -> String {
    if found.rules.said.is_empty() {
        return String::new();
    }
    let means = match found.rules.allow.as_slice() {
        [] => String::new(),
        allow if allow.iter().any(|tool| tool == "*") => ": calls of its tools are not asked about".to_owned(),
        allow => format!(": not asked about are {}", allow.join(", ")),
    };
    format!("; with its rules {}{means}", found.rules.said.join(", "))
}

/// Makes sure that the change of a client's settings concerns this server alone.
fn check_taken(source: &Source<'_>, (before, after): (&str, &str), name: &str) -> Result<(), String> {
    let cannot = || "its place in the settings cannot be changed safely".to_owned();
    let (mut before, mut after) = (servers(source.part, before)?, servers(source.part, after)?);
    let (old, new) = (before.remove(name), after.remove(name));
    let is_done = match source.recipe.keeps_entries() {
        true => new.as_ref().is_some_and(starts_us),
        false => new.is_none(),
    };
    if old.is_some() && is_done && before == after { Ok(()) } else { Err(cannot()) }
}
