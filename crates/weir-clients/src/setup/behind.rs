//! Servers of a client that move behind Weir, and back.
//!
//! A client that sends all descriptions of tools in every request loses the entry of the server, since Weir's own
//! server then offers its tools. A client that defers them keeps the entry, which calls Weir instead, so that its rules
//! about the server's tools go on matching.

use serde_json::Value;

use super::form::{FoundServer, ServerForm};
use super::json::edit;
use super::moved::{self, TakenServer};
use super::ours::is_our_server;
use super::{EntryContent, Part, Recipe, SetupScope, Unusable, moved_table};

impl Recipe {
    /// Returns whether the client keeps the entries of servers behind Weir, because it defers the descriptions of
    /// tools.
    pub fn keeps_entries(&self) -> bool {
        self.client.is_some_and(|client| client.defers_tools.applies(None, None) == Some(true))
    }

    /// Returns the part of the user's settings with the client's servers.
    pub fn servers_part(&self) -> Option<&'static Part> {
        self.parts_for(SetupScope::User).find(|part| part.is_server())
    }
}

impl Part {
    /// Returns whether this part is our MCP server, so that the others of the client are beside it.
    pub fn is_server(&self) -> bool {
        matches!(self.what, EntryContent::Server(..) | EntryContent::ServerTable(_))
    }

    /// Returns the text with Weir in the place of a server, and what was there. If the client keeps entries, ours calls
    /// this program; else nothing is left.
    pub fn take_server(
        &self,
        recipe: &Recipe,
        text: &str,
        server: (&str, &str),
    ) -> Result<(String, TakenServer), Unusable> {
        match (&self.what, recipe.keeps_entries()) {
            (EntryContent::Server(at, _), true) => moved::redirect(text, at, &recipe.servers, server),
            (EntryContent::Server(at, _), false) => moved::take(text, at, server.0),
            (EntryContent::ServerTable(table), true) => moved_table::redirect(text, table, &recipe.servers, server),
            _ => Err(Unusable::new("its settings have no servers that can be moved")),
        }
    }

    /// Returns the text with a server in its place again. Leaves what the user has put there since.
    pub fn return_server(&self, recipe: &Recipe, text: &str, taken: &TakenServer) -> Result<String, Unusable> {
        match &self.what {
            EntryContent::Server(at, _) => moved::put_back(text, at, &recipe.servers, (taken, recipe.keeps_entries())),
            EntryContent::ServerTable(table) => moved_table::put_back(text, table, taken),
            EntryContent::Hooks(_) | EntryContent::Plugin(_) => Ok(text.to_owned()),
        }
    }
}

/// Returns whether the entry of a server starts our program.
pub fn starts_us(entry: &Value) -> bool {
    is_our_server(entry)
}

/// Returns a server as a client's settings have it, with the rules about its tools, or why it cannot move behind Weir.
pub fn movable(recipe: &Recipe, text: &str, (name, entry): (&str, &Value)) -> Result<FoundServer, String> {
    let form: &ServerForm = &recipe.servers;
    let mut found = form.read(entry)?;
    if let (false, Some(EntryContent::Server([servers, ..], _))) =
        (recipe.keeps_entries(), recipe.servers_part().map(|part| &part.what))
    {
        let mut settings = Value::Null;
        edit(text, |root| {
            settings = root.to_serde_value().unwrap_or_default();
            Ok(())
        })
        .map_err(|why| why.to_string())?;
        found.rules.add_settings(form, (&settings, servers), name)?;
    }
    Ok(found)
}
