//! Puts Weir into the place of a server in a client's JSON settings, and the server back into its own.
//!
//! Invariant: what is put back is the text that was taken, with its comments, except in an entry that was changed
//! since.

use jsonc_parser::cst::{CstObject, CstObjectProp};
use serde_json::{Value, json};

use super::Unusable;
use super::form::ServerForm;
use super::json::{check_once, edit, existing_object_at, input, object_at};
use super::ours::{SERVER_OPTION, gateway_arguments, is_our_server};

/// Stands for a text until the settings around it are written.
const PLACE: &str = "weir puts a server here";

/// What was taken out of the settings of a client.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TakenServer {
    pub name: String,
    /// What the settings had in the place where Weir is now, or where nothing is.
    pub text: String,
    /// What they had elsewhere: tables of TOML.
    pub tables: String,
}

impl TakenServer {
    /// Returns the entry that was taken, if its settings are JSON.
    pub fn entry(&self) -> Option<Value> {
        value_of(&self.text).ok()
    }
}

pub(super) fn take(text: &str, at: &[&str], name: &str) -> Result<(String, TakenServer), Unusable> {
    let mut taken = String::new();
    let text = edit(text, |root| {
        let property = property(root, at, name)?;
        taken = property.value().map(|value| value.to_string()).unwrap_or_default();
        property.remove();
        Ok(())
    })?;
    Ok((text, TakenServer { name: name.to_owned(), text: taken, tables: String::new() }))
}

/// Replaces how a server is started by a call of our program, and leaves the rest of its entry.
pub(super) fn redirect(
    text: &str,
    at: &[&str],
    form: &ServerForm,
    (name, program): (&str, &str),
) -> Result<(String, TakenServer), Unusable> {
    let mut taken = String::new();
    let text = edit(text, |root| {
        let property = property(root, at, name)?;
        taken = property.value().map(|value| value.to_string()).unwrap_or_default();
        let entry = property.object_value().ok_or_else(|| Unusable::new("it is not an object"))?;
        let ours = [("command", json!(program)), ("args", json!(gateway_arguments(name)))];
        replace_keys(&entry, form, &ours);
        Ok(())
    })?;
    Ok((text, TakenServer { name: name.to_owned(), text: taken, tables: String::new() }))
}

/// Puts a server back, unless the user has given its name to another one, or has removed the entry that called us.
pub(super) fn put_back(
    text: &str,
    at: &[&str],
    form: &ServerForm,
    (taken, was_redirected): (&TakenServer, bool),
) -> Result<String, Unusable> {
    if text.contains(PLACE) {
        return Err(Unusable::new("it has a text that stands for another one"));
    }
    let name = taken.name.as_str();
    let text = edit(text, |root| {
        let servers = existing_object_at(root, at);
        match servers.and_then(|servers| servers.get(name)) {
            None if was_redirected => {}
            None => drop(object_at(root, at)?.append(name, input(&json!(PLACE)))),
            Some(property) => {
                let Some(entry) = property.object_value().filter(is_redirected) else { return Ok(()) };
                let old: Value = value_of(&taken.text)?;
                match same_besides(&entry, form, &old) {
                    true => property.set_value(input(&json!(PLACE))),
                    false => {
                        let keys: Vec<&str> = form.launch_keys().filter(|key| !old[*key].is_null()).collect();
                        let keys: Vec<_> = keys.iter().map(|key| (*key, old[*key].clone())).collect();
                        replace_keys(&entry, form, &keys);
                    }
                }
            }
        }
        Ok(())
    })?;
    Ok(text.replacen(&format!("\"{PLACE}\""), &taken.text, 1))
}

fn property(root: &CstObject, at: &[&str], name: &str) -> Result<CstObjectProp, Unusable> {
    let servers = existing_object_at(root, at).ok_or_else(|| Unusable::new("its list of servers is not there"))?;
    check_once(&servers, name)?;
    servers.get(name).ok_or_else(|| Unusable::new("it is not there"))
}

/// Gives the keys that say how a server is reached these values, and removes the others of them.
fn replace_keys(entry: &CstObject, form: &ServerForm, values: &[(&str, Value)]) {
    for key in form.launch_keys() {
        let value = values.iter().find(|(name, _)| *name == key).map(|(_, value)| value);
        match (entry.get(key), value) {
            (Some(property), Some(value)) => property.set_value(input(value)),
            (Some(property), None) => property.remove(),
            (None, Some(value)) => drop(entry.append(key, input(value))),
            (None, None) => {}
        }
    }
}

/// Whether an entry calls our program in the place of a server.
fn is_redirected(entry: &CstObject) -> bool {
    entry.to_serde_value().is_some_and(|entry| is_our_server(&entry) && entry["args"][1] == SERVER_OPTION)
}

/// Whether an entry says the same as an older one, apart from how its server is reached.
fn same_besides(entry: &CstObject, form: &ServerForm, old: &Value) -> bool {
    let rest = |value: Option<Value>| {
        let mut object = value.and_then(|value| value.as_object().cloned()).unwrap_or_default();
        form.launch_keys().for_each(|key| drop(object.remove(key)));
        object
    };
    rest(entry.to_serde_value()) == rest(Some(old.clone()))
}

fn value_of(text: &str) -> Result<Value, Unusable> {
    let mut value = Value::Null;
    edit(&format!("{{\"it\": {text}}}"), |root| {
        value = root.to_serde_value().map(|root| root["it"].clone()).unwrap_or_default();
        Ok(())
    })?;
    Ok(value)
}
