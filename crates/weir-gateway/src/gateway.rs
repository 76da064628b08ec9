//! The servers of one client: found, called, and ended together.

mod code;
mod finding;
mod named;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use rmcp::model::{CallToolRequestParams, CallToolResult, ProgressToken, RequestMetaObject, Tool};
use rmcp::service::{Peer, RoleClient};
use serde_json::{Map, Value};
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;
use weir_context::Context;
use weir_core::wording::one_line;
use weir_hook::faults;
use weir_host::env::Paths;
use weir_host::error::{CommandError, ErrorKind};
use weir_host::mutex::lock;

use crate::connection::{ServerCall, Surroundings};
use crate::effect::ToolEffect;
use crate::entries::{Entries, ServerEntry};
use crate::failure::ServerFailure;
use crate::find::find;
use crate::forward::{self, ClientPeer};
use crate::lists::{self, StoredList};
use crate::permission::{self, Asked, Wish};
use crate::reduce::{self, Called};
use crate::server::Server;
use crate::{offer, usage};
use named::{Named, named};

/// How many names an error lists.
const MAX_NAMES: usize = 12;

/// The servers of one client. Cheap to clone.
#[derive(Clone)]
pub struct Gateway(Arc<Inner>);

struct Inner {
    servers: BTreeMap<String, Server>,
    paths: Paths,
    /// What is known of the servers' tools, by server.
    lists: Mutex<BTreeMap<String, Arc<StoredList>>>,
    /// The tools that are offered directly, by the names that the client is told, once it has asked.
    direct: Mutex<BTreeMap<String, (String, String)>>,
    client: ClientPeer,
    /// What still starts servers after a search has given up waiting.
    starting: Mutex<Vec<AbortHandle>>,
}

/// A call of a tool of a server.
pub struct ToolRequest {
    pub server: String,
    pub tool: String,
    pub arguments: Map<String, Value>,
    /// What the client adds to the call.
    pub meta: Option<RequestMetaObject>,
    pub progress: Option<ProgressToken>,
    pub cancelled: CancellationToken,
    /// Who has agreed to the call already.
    pub asked: Asked,
    /// The most that the caller has been allowed to do, or `None` if it did not say.
    pub most: Option<ToolEffect>,
    /// Whether the result is needed as it is, by a script.
    pub is_whole: bool,
}

impl Gateway {
    /// Returns the servers that a client uses through Weir's own tools. There are none if their file cannot be used,
    /// which `weir doctor` reports.
    pub fn new(context: &Context, client: ClientPeer) -> Self {
        let entries = Entries::read(context.paths()).unwrap_or_else(|error| {
            faults::note("gateway", &error.message);
            Entries::default()
        });
        Self::with(context, client, entries.servers, false)
    }

    /// Returns one server, for a client that knows it by its own name.
    pub fn of_one(context: &Context, client: ClientPeer, name: &str) -> Result<Self, CommandError> {
        let entries = Entries::read(context.paths())?;
        let entry = entries.servers.get(name).cloned().ok_or_else(|| {
            CommandError::new(ErrorKind::NotFound, format!("no MCP server `{name}` is behind Weir"))
                .hint("`weir servers` lists those that are")
        })?;
        Ok(Self::with(context, client, BTreeMap::from([(name.to_owned(), entry)]), true))
    }

    fn with(
        context: &Context,
        client: ClientPeer,
        entries: BTreeMap<String, ServerEntry>,
        passes_notices: bool,
    ) -> Self {
        let paths = context.paths().clone();
        let lists = entries.iter().filter_map(|(name, entry)| {
            let list = lists::read(&paths, name, entry)?;
            Some((name.clone(), Arc::new(list)))
        });
        let lists = Mutex::new(lists.collect());
        let folder: Arc<Path> = context.env().folder.as_path().into();
        let around = Surroundings { folder, paths: paths.clone(), client: client.clone(), passes_notices };
        let servers = entries.into_iter().map(|(name, entry)| {
            let server = Server::new(&name, entry, around.clone());
            (name, server)
        });
        Self(Arc::new(Inner {
            servers: servers.collect(),
            paths,
            lists,
            direct: Mutex::default(),
            client,
            starting: Mutex::default(),
        }))
    }

    pub fn client(&self) -> &ClientPeer {
        &self.0.client
    }

    /// Returns the names of the servers that a client uses through Weir's own tools.
    fn names(&self, context: &Context) -> Vec<&str> {
        let client = context.session().key.as_ref().map_or("", |session| &session.client);
        let servers = self.0.servers.iter().filter(|(_, server)| is_offered(&server.entry, client));
        servers.map(|(name, _)| name.as_str()).collect()
    }

    /// Returns the names of the servers whose tools the code of a client may call.
    pub fn callable(&self, context: &Context) -> Vec<&str> {
        let client = context.session().key.as_ref().map_or("", |session| &session.client);
        // A person has all of them.
        let is_person = context.face().is_person();
        let servers = self.0.servers.iter().filter(|(_, server)| is_person || is_callable(&server.entry, client));
        servers.map(|(name, _)| name.as_str()).collect()
    }

    /// Returns the tools that a client is told of besides Weir's own. Starts no server.
    pub fn offered(&self, context: &Context) -> Vec<Tool> {
        let names = self.names(context);
        if names.is_empty() {
            return Vec::new();
        }
        let known = |name: &str| self.stored(name).map(|list| list.tools.len());
        let servers: Vec<_> = names.iter().map(|name| ((*name).to_owned(), known(name))).collect();
        let mut tools = offer::callers(&servers);
        let used = usage::most_used(&context.project_folder());
        let used = used.iter().filter(|(server, _)| names.contains(&server.as_str()));
        let used: Vec<_> = used.filter_map(|(server, tool)| Some((server, self.usable(server, tool)?))).collect();
        let direct = offer::direct(used.iter().map(|(server, tool)| (server.as_str(), tool)));
        let mut known = lock(&self.0.direct);
        for (server, tool) in &used {
            if let Some(name) = offer::direct_name(server, &tool.name)
                && direct.iter().any(|offered| *offered.name == name)
            {
                known.insert(name, ((*server).clone(), tool.name.to_string()));
            }
        }
        tools.extend(direct);
        tools
    }

    /// Returns a known tool that is unchanged and may be called.
    fn usable(&self, server: &str, tool: &str) -> Option<Tool> {
        let list = self.stored(server)?;
        let found = list.tool(tool)?;
        (self.is_open(server, tool) && list.changed(found).is_none()).then(|| found.clone())
    }

    /// Whether a tool of this name is one of the gateway's.
    pub fn has(&self, name: &str) -> bool {
        if self.0.servers.is_empty() {
            return false;
        }
        name == offer::FIND
            || ToolEffect::ALL.iter().any(|effect| effect.caller() == name)
            || lock(&self.0.direct).contains_key(name)
    }

    /// Calls one of the gateway's own tools, as a model does.
    pub async fn call_own(
        &self,
        context: &Context,
        name: &str,
        request: ToolRequest,
    ) -> Result<CallToolResult, CommandError> {
        if name == offer::FIND {
            return self.find(context, &request.arguments).await;
        }
        let direct = lock(&self.0.direct).get(name).cloned();
        if let Some((server, tool)) = direct {
            return self.call(context, ToolRequest { server, tool, ..request }).await;
        }
        let most = ToolEffect::ALL.into_iter().find(|effect| effect.caller() == name);
        let Named { server, tool, arguments } = named(request.arguments, || self.names(context))?;
        if !self.names(context).contains(&server.as_str()) {
            return Err(self.unknown_server(context, &server));
        }
        self.call(context, ToolRequest { server, tool, arguments, most, ..request }).await
    }

    fn is_open(&self, server: &str, tool: &str) -> bool {
        self.0.servers.get(server).is_some_and(|server| server.entry.offers(tool))
    }

    /// Lists the tools of a server, and stores the list.
    pub async fn learn(&self, name: &str) -> Result<Arc<StoredList>, ServerFailure> {
        let server = self.0.servers.get(name).ok_or(ServerFailure::Unsupported)?;
        let listing = server.list().await?;
        let info = listing.info.as_deref().cloned();
        let stored = lists::store(&self.0.paths, (name, &server.entry), info, listing.tools);
        let list = Arc::new(stored.map_err(|error| ServerFailure::not_started(&error.message, ""))?);
        lock(&self.0.lists).insert(name.to_owned(), Arc::clone(&list));
        Ok(list)
    }

    /// Returns what is known of a server's tools, without waiting for it.
    pub fn stored(&self, name: &str) -> Option<Arc<StoredList>> {
        lock(&self.0.lists).get(name).cloned()
    }

    /// Returns what is known of a server's tools. Waits for the server only if nothing is.
    pub async fn list(&self, name: &str) -> Result<Arc<StoredList>, ServerFailure> {
        match self.stored(name) {
            Some(list) => Ok(list),
            None => self.learn(name).await,
        }
    }

    /// Returns the names of all servers.
    pub fn servers(&self) -> Vec<String> {
        self.0.servers.keys().cloned().collect()
    }

    /// Returns the tools of a server as a client that knows it by its name is told of them.
    pub async fn passed(&self, name: &str) -> Result<Vec<Tool>, ServerFailure> {
        let list = self.list(name).await?;
        let open = list.tools.iter().filter(|tool| self.is_open(name, &tool.name));
        Ok(open.map(offer::told).collect())
    }

    /// Returns a server itself, for what is forwarded as it is.
    pub async fn peer(&self, name: &str) -> Result<Peer<RoleClient>, ServerFailure> {
        self.0.servers.get(name).ok_or(ServerFailure::Unsupported)?.peer().await
    }

    /// Calls a tool of a server, if that is allowed, and returns its result as the caller is shown it.
    pub async fn call(&self, context: &Context, request: ToolRequest) -> Result<CallToolResult, CommandError> {
        let ToolRequest { server: name, tool: tool_name, arguments, .. } = &request;
        let server = self.0.servers.get(name).ok_or_else(|| self.unknown_server(context, name))?;
        let failed = |failure: ServerFailure| cannot_call(name, tool_name, &failure);
        let list = self.current(server).await.map_err(failed)?;
        let tool = list.tool(tool_name).ok_or_else(|| unknown_tool(name, tool_name, &list))?;
        check_effect(tool, name, request.most)?;
        let arguments_value = Value::Object(arguments.clone());
        let wish = Wish {
            server: name,
            entry: &server.entry,
            tool,
            arguments: &arguments_value,
            changed: list.changed(tool),
            asked: request.asked,
        };
        permission::require(context, &wish).await?;
        if wish.changed.is_some() {
            self.accept(name, tool_name)?;
        }
        let call = server_call(&request);
        let result = server.call(call).await.map_err(failed)?;
        usage::record(&context.project_folder(), name, tool_name);
        if request.is_whole {
            return Ok(result);
        }
        let called = Called { server: name, tool: tool_name, arguments };
        Ok(reduce::reduced(context, called, result).await)
    }

    /// Returns what a server lists, which is asked for once in each session, and whenever the server says that it has
    /// changed, so that a call is judged by what the server says now.
    async fn current(&self, server: &Server) -> Result<Arc<StoredList>, ServerFailure> {
        let is_new = server.connection().await?.take_first_use();
        match self.stored(&server.name) {
            Some(list) if !is_new && !server.tools_changed().await => Ok(list),
            _ => self.learn(&server.name).await,
        }
    }

    /// Makes a changed tool known, because the user has seen the change.
    pub fn accept(&self, server: &str, tool: &str) -> Result<(), CommandError> {
        let mut lists = lock(&self.0.lists);
        let Some(list) = lists.get_mut(server) else { return Ok(()) };
        let mut learned = StoredList::clone(list);
        learned.learn(tool);
        lists::write(&self.0.paths, server, &learned)?;
        *list = Arc::new(learned);
        Ok(())
    }

    fn unknown_server(&self, context: &Context, name: &str) -> CommandError {
        let known = self.names(context).join(", ");
        let named = if name.is_empty() { String::new() } else { format!(" `{}`", one_line(name, 60)) };
        let client = context.session().key.as_ref().map_or("", |session| &session.client);
        let hint = match (known.is_empty(), self.0.servers.is_empty()) {
            (false, _) => format!("there are: {known}"),
            (true, true) => "`weir servers add` adds one".to_owned(),
            // Setup gives a server to the client that had it.
            (true, false) => format!("all are for other clients than `{}`", one_line(client, 60)),
        };
        CommandError::new(ErrorKind::NotFound, format!("no MCP server{named} is behind Weir here")).hint(hint)
    }

    /// Ends every server that runs.
    pub async fn end(&self) {
        lock(&self.0.starting).drain(..).for_each(|start| start.abort());
        futures_util::future::join_all(self.0.servers.values().map(Server::end)).await;
    }
}

/// Whether a client uses a server through Weir's own tools. One that defers descriptions knows its servers by their own
/// names, and uses through Weir only those that are for all clients.
fn is_offered(entry: &ServerEntry, session: &str) -> bool {
    let client = weir_clients::of_session(session);
    let defers = client.is_some_and(|client| client.defers_tools.applies(None, None) == Some(true));
    is_callable(entry, session) && (!defers || entry.clients.is_empty())
}

/// Whether a server is for a client.
fn is_callable(entry: &ServerEntry, session: &str) -> bool {
    let is_known = |name: &String| weir_clients::find(name).is_some();
    match weir_clients::of_session(session) {
        _ if entry.clients.is_empty() => true,
        Some(client) => entry.is_for(client.name),
        // A client that has no hooks may report any name.
        None => !entry.clients.iter().all(is_known),
    }
}

fn server_call(request: &ToolRequest) -> ServerCall {
    let mut call = CallToolRequestParams::new(request.tool.clone()).with_arguments(request.arguments.clone());
    call.meta = request.meta.clone().map(forward::of_call);
    ServerCall { request: call, cancelled: request.cancelled.clone(), progress: request.progress.clone() }
}

fn cannot_call(server: &str, tool: &str, failure: &ServerFailure) -> CommandError {
    let kind = if *failure == ServerFailure::Cancelled { ErrorKind::Cancelled } else { ErrorKind::Failed };
    CommandError::new(kind, format!("cannot call {server}/{}: {failure}", one_line(tool, 100)))
}

fn unknown_tool(server: &str, tool: &str, list: &StoredList) -> CommandError {
    let cards: Vec<_> = list.tools.iter().map(|tool| offer::card(server, tool)).collect();
    let mut near = find(&cards, &tool.replace(['_', '-', '.'], " "), MAX_NAMES);
    near.extend((0..list.tools.len().min(MAX_NAMES)).filter(|at| !near.contains(at)).collect::<Vec<_>>());
    near.truncate(MAX_NAMES);
    let names: Vec<&str> = near.iter().filter_map(|at| Some(list.tools.get(*at)?.name.as_ref())).collect();
    CommandError::new(ErrorKind::NotFound, format!("{server} has no tool `{}`", one_line(tool, 60)))
        .hint(format!("it has {}", one_line(&names.join(", "), 600)))
}

/// Returns an error if a tool does more than the caller said, since the client agreed to no more.
fn check_effect(tool: &Tool, server: &str, most: Option<ToolEffect>) -> Result<(), CommandError> {
    let effect = ToolEffect::of(tool);
    if most.is_none_or(|most| effect <= most) {
        return Ok(());
    }
    let what = match effect {
        ToolEffect::Destroys => "may destroy something",
        _ => "may write",
    };
    Err(CommandError::new(ErrorKind::Denied, format!("nothing was called. {server}/{} {what}", tool.name))
        .hint(format!("call it with {}", effect.caller())))
}

#[cfg(test)]
mod tests {

    use super::*;

    #[test]
    fn a_call_does_no_more_than_it_said() {
        let delete = Tool::new("delete_file", "", Arc::default());
        assert!(check_effect(&delete, "s", Some(ToolEffect::Writes)).is_err());
        assert!(check_effect(&delete, "s", Some(ToolEffect::Destroys)).is_ok());
        assert!(check_effect(&delete, "s", None).is_ok());
        let unhinted = Tool::new("list", "", Arc::default());
        let error = check_effect(&unhinted, "s", Some(ToolEffect::Reads)).unwrap_err();
        assert_eq!(error.hints, ["call it with ctx_call_write"]);
    }

    #[test]
    fn a_client_is_offered_what_it_does_not_know_by_name() {
        let launch = crate::entries::Launch::Address { url: String::new(), headers: BTreeMap::new() };
        let of = |clients: &[&str]| ServerEntry {
            clients: clients.iter().map(|name| (*name).to_owned()).collect(),
            ..ServerEntry::new(launch.clone())
        };
        for (clients, session, expected) in [
            (&["gemini"] as &[&str], "gemini-cli-mcp-client", true),
            (&["gemini"], "claude-code", false),
            (&["claude"], "claude-code", false),
            (&[], "claude-code", true),
            (&["zed"], "Zed", true),
            (&["gemini"], "Zed", false),
        ] {
            assert_eq!(is_offered(&of(clients), session), expected, "{clients:?} {session}");
        }
    }
}
