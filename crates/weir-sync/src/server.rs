//! The server as an exchange needs it, and the one behind HTTP. Invariants: every failure says what to do; waiting is
//! bounded, and only as long as the server asks for.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

use serde_json::{Value, json};
use weir_core::wording::one_line;
use weir_fetch::api::{ApiAnswer, ApiClient, ApiError, ApiServer};
use weir_host::env::Env;
use weir_host::error::{CommandError, ErrorKind};
use weir_records::sealed::OpenedEntry;
use weir_records::{ErrorKind as RecordErrorKind, Kept, PortError, Record, is_name};

const REQUEST_TIMEOUT: Duration = Duration::from_secs(60);
/// How long the server may tell news in one answer. It ends the answer before.
const NEWS_TIMEOUT: Duration = Duration::from_secs(61 * 60);
/// How long a server may take to say that it is there. One that does not is not asked for more.
const HEALTH_TIMEOUT: Duration = Duration::from_secs(5);
/// How often a request is repeated because the server asks to wait.
const MAX_WAITS: usize = 5;
/// How long one such wait may take, in seconds.
const MAX_WAIT_SECONDS: u64 = 30;
const PAGE_RECORDS: &str = "200";

/// A server with the log of a project.
pub trait Server {
    fn upload(&self, records: &[&str], texts: &BTreeMap<String, String>) -> Result<Uploaded, CommandError>;

    /// Returns what follows a position.
    fn download(&self, after: u64) -> Result<Downloaded, CommandError>;

    /// Whether a record stays at its position, and new ones come after all others.
    fn keeps_order(&self) -> bool {
        true
    }
}

/// What became of records that were sent.
#[derive(Debug)]
pub enum Uploaded {
    Taken,
    /// Another machine has the identity of this one.
    Cloned,
    /// The server has all but some.
    Refused {
        count: u64,
        named: Vec<RefusedRecord>,
    },
    /// The token may not send, or the server takes no more.
    Forbidden(CommandError),
    /// The server takes no requests of this size.
    TooLarge,
}

#[derive(Debug)]
pub struct RefusedRecord {
    pub id: String,
    pub reason: String,
}

/// What a server gives out.
#[derive(Debug)]
pub enum Downloaded {
    Page(Page),
    /// The server's log was put back to an older state.
    PutBack,
}

/// Some records of a server, in the order of its log.
#[derive(Debug)]
pub struct Page {
    pub records: Vec<ReceivedRecord>,
    /// The places of records that make no sense.
    pub unreadable: Vec<u64>,
    pub next: u64,
    pub more: bool,
}

/// A record with its text, if it has one.
#[derive(Debug)]
pub struct ReceivedRecord {
    /// Its place in the server's log.
    pub position: u64,
    pub record: Record,
    pub text: Option<String>,
    /// What was sealed in it, once it is opened.
    pub opened: Option<OpenedEntry>,
}

impl ReceivedRecord {
    /// Returns the entry that the record keeps, if it can be read.
    pub(super) fn kept(&self) -> Option<&Kept> {
        self.record.body.kept().or_else(|| self.opened.as_ref().map(|opened| &opened.entry))
    }

    pub(super) fn text(&self) -> Option<&str> {
        self.text.as_deref().or_else(|| self.opened.as_ref().map(|opened| opened.text.as_str()))
    }
}

/// A server behind HTTP.
pub struct ConnectedServer {
    client: ApiClient,
    /// Asks whether the server is there.
    health: ApiClient,
    /// Whether it has said so.
    is_there: AtomicBool,
    project: String,
}

/// Whose token it is.
#[derive(Debug, Clone)]
pub struct Identity {
    pub tenant: String,
    pub user: String,
}

impl ConnectedServer {
    /// Returns the server at an address. No connection is made yet.
    pub fn at(env: &Env, url: &str, token: String, project: String) -> Result<Self, CommandError> {
        let server = ApiServer { url: url.to_owned(), token, timeout: REQUEST_TIMEOUT, ..ApiServer::default() };
        Self::reached(env, server, project)
    }

    /// Returns the server at an address, to listen to it.
    pub(super) fn for_news(env: &Env, url: &str, token: String, project: String) -> Result<Self, CommandError> {
        let server = ApiServer { url: url.to_owned(), token, timeout: NEWS_TIMEOUT, ..ApiServer::default() };
        Self::reached(env, server, project)
    }

    fn reached(env: &Env, server: ApiServer, project: String) -> Result<Self, CommandError> {
        let server = ApiServer { proxies: env.proxies(), ..server };
        let client = ApiClient::new(&server).map_err(unreachable)?;
        let health = ApiClient::new(&ApiServer { timeout: HEALTH_TIMEOUT, ..server }).map_err(unreachable)?;
        Ok(Self { client, health, is_there: AtomicBool::new(false), project })
    }

    /// Makes a request, and again if the server asks to wait. Before the first one, a server that accepts connections
    /// and does nothing is found out.
    pub(super) fn ask(
        &self,
        request: impl Fn(&ApiClient) -> Result<ApiAnswer, ApiError>,
    ) -> Result<ApiAnswer, CommandError> {
        if !self.is_there.load(Ordering::Relaxed) {
            let nothing: &[(&str, &str)] = &[];
            self.health.get("/health", nothing).map_err(unreachable)?;
            self.is_there.store(true, Ordering::Relaxed);
        }
        for _ in 0..MAX_WAITS {
            let answer = request(&self.client).map_err(unreachable)?;
            match answer.retry_after.filter(|_| answer.status == 429) {
                Some(seconds) if seconds <= MAX_WAIT_SECONDS => wait(Duration::from_secs(seconds.max(1))),
                _ => return Ok(answer),
            }
        }
        request(&self.client).map_err(unreachable)
    }
}

/// What a server that tells news says.
pub(super) enum Heard {
    /// There are records after the position, or there may be.
    News,
    Nothing,
}

/// How listening ended.
pub(super) enum Answered {
    /// By the server, which lets everybody ask again from time to time.
    Ended,
    /// By the listener.
    Left,
    /// The server has no room before this time is over.
    Later(Duration),
    /// The server is too old to tell news.
    Unknown,
}

impl ConnectedServer {
    /// Passes on what the server says about records after a position.
    pub(super) fn listen(
        &self,
        after: u64,
        mut hear: impl FnMut(Heard) -> ControlFlow<()>,
    ) -> Result<Answered, CommandError> {
        let after = after.to_string();
        let query = [("project", self.project.as_str()), ("after", after.as_str())];
        let mut ended = Answered::Ended;
        let answer = self.client.follow("/v1/sync/news", &query, |line| {
            let heard = match line {
                "event: news" => hear(Heard::News),
                _ if line.starts_with(':') => hear(Heard::Nothing),
                _ => ControlFlow::Continue(()),
            };
            if heard.is_break() {
                ended = Answered::Left;
            }
            heard
        });
        let answer = answer.map_err(unreachable)?;
        match (answer.status, answer.retry_after) {
            (200, _) => Ok(ended),
            (404, _) => Ok(Answered::Unknown),
            (429 | 503, Some(seconds)) => Ok(Answered::Later(Duration::from_secs(seconds.max(1)))),
            _ => Err(refused(&answer)),
        }
    }
}

/// Removes a record from a server, and so from every machine of the team: `as_admin` if somebody else may have written
/// it.
pub fn forget_everywhere(server: &ConnectedServer, record: &str, as_admin: bool) -> Result<(), CommandError> {
    let as_admin = if as_admin { "true" } else { "false" };
    let query = [("project", server.project.as_str()), ("as_admin", as_admin)];
    let answer = server.ask(|client| client.delete(&format!("/v1/entries/{record}"), &query))?;
    expect_success(&answer).map(drop)
}

pub fn whose_token(server: &ConnectedServer) -> Result<Identity, CommandError> {
    let nothing: &[(&str, &str)] = &[];
    let answer = server.ask(|client| client.get("/v1/me", nothing))?;
    if answer.status == 404 {
        return Err(CommandError::new(ErrorKind::Failed, "the server does not say whose token it is")
            .hint("check the address; an older server needs an update"));
    }
    let body = expect_success(&answer)?;
    let field = |name: &str| {
        let named = body[name].as_str().filter(|text| is_name(text));
        named.map(str::to_owned).ok_or_else(|| not_a_team_server(name))
    };
    Ok(Identity { tenant: field("tenant")?, user: field("user")? })
}

impl Server for ConnectedServer {
    fn upload(&self, records: &[&str], texts: &BTreeMap<String, String>) -> Result<Uploaded, CommandError> {
        // The records are written as they are stored, byte for byte.
        let (project, texts) = (json!(self.project), json!(texts));
        let body = format!("{{\"project\":{project},\"records\":[{}],\"texts\":{texts}}}", records.join(","));
        let answer = self.ask(|client| client.post("/v1/sync/records", &body))?;
        match answer.status {
            200 => Ok(Uploaded::Taken),
            409 => Ok(Uploaded::Cloned),
            403 => Ok(Uploaded::Forbidden(refused(&answer))),
            413 => Ok(Uploaded::TooLarge),
            422 => {
                let problem: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
                let named: Vec<RefusedRecord> =
                    problem["refused"].as_array().into_iter().flatten().map(named).collect();
                match problem["refused_count"].as_u64() {
                    Some(count) if !named.is_empty() => Ok(Uploaded::Refused { count, named }),
                    _ => Err(refused(&answer)),
                }
            }
            _ => Err(refused(&answer)),
        }
    }

    fn download(&self, after: u64) -> Result<Downloaded, CommandError> {
        let after = after.to_string();
        let query = [("project", self.project.as_str()), ("after", after.as_str()), ("limit", PAGE_RECORDS)];
        let answer = self.ask(|client| client.get("/v1/sync/records", &query))?;
        if answer.status == 409 {
            return Ok(Downloaded::PutBack);
        }
        page(&expect_success(&answer)?).map(Downloaded::Page)
    }
}

fn named(refused: &Value) -> RefusedRecord {
    let field = |name: &str| refused[name].as_str().unwrap_or_default();
    RefusedRecord { id: field("id").to_owned(), reason: one_line(field("reason"), 300) }
}

/// Reads a page. A record that makes no sense is counted; one of a newer version of Weir ends the exchange, since it
/// would be lost otherwise.
fn page(body: &Value) -> Result<Page, CommandError> {
    let number = |name: &str| body[name].as_u64().ok_or_else(|| not_a_team_server(name));
    let (mut records, mut unreadable) = (Vec::new(), Vec::new());
    for one in body["records"].as_array().ok_or_else(|| not_a_team_server("records"))? {
        let position = one["seq"].as_u64().ok_or_else(|| not_a_team_server("seq"))?;
        match Record::from_value(one["record"].clone()) {
            Ok(record) => {
                let text = record.body.kept().and_then(|kept| body["texts"][kept.text.to_string()].as_str());
                records.push(ReceivedRecord { position, text: text.map(str::to_owned), record, opened: None });
            }
            Err(error @ PortError { kind: RecordErrorKind::Newer, .. }) => {
                return Err(CommandError::new(ErrorKind::Failed, error.to_string()).hint("update Weir on this machine"));
            }
            Err(_) => unreadable.push(position),
        }
    }
    Ok(Page { records, unreadable, next: number("next")?, more: body["more"].as_bool().unwrap_or_default() })
}

pub(super) fn expect_success(answer: &ApiAnswer) -> Result<Value, CommandError> {
    if !matches!(answer.status, 200 | 201) {
        return Err(refused(answer));
    }
    serde_json::from_slice(&answer.body).map_err(|error| {
        CommandError::new(ErrorKind::Failed, format!("cannot read the server's answer: {error}"))
            .hint("check that the address is that of a team server")
    })
}

/// Returns the error for an answer that is one.
fn refused(answer: &ApiAnswer) -> CommandError {
    let problem: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let said = |name: &str| problem[name].as_str().map(|text| one_line(text, 300));
    let detail = said("detail").unwrap_or_else(|| format!("it answered with status {}", answer.status));
    let error = |kind, what: &str| CommandError::new(kind, format!("{what}: {detail}"));
    let with_hint = |error: CommandError, usual: &str| error.hint(said("hint").unwrap_or_else(|| usual.to_owned()));
    match answer.status {
        401 => error(ErrorKind::Denied, "the team server refused the token").hint(
            "ask the operator for a new one (`weir-server invite`), and connect again: \
             weir sync --server URL --token-file FILE",
        ),
        403 => {
            with_hint(error(ErrorKind::Denied, "the team server refused this"), "ask the operator for another token")
        }
        429 => error(ErrorKind::Failed, "too many requests to the team server").hint("sync again in a minute"),
        501 => with_hint(error(ErrorKind::Failed, "not supported"), "ask the operator of the server"),
        500.. => error(ErrorKind::Failed, "the team server failed")
            .hint("nothing is lost: notes stay here, and are sent by the next `weir sync`"),
        _ => with_hint(error(ErrorKind::Failed, "the team server refused this"), "check the address of the server"),
    }
}

fn unreachable(error: ApiError) -> CommandError {
    match error {
        ApiError::Address(why) => CommandError::usage(format!("cannot use the server: {why}"))
            .hint("name it as https://HOST, or as http://127.0.0.1:PORT on this machine"),
        ApiError::Unanswered(why) => {
            CommandError::new(ErrorKind::Failed, format!("cannot reach the team server: {}", one_line(&why, 300)))
                .hint("nothing is lost: notes stay here, and are sent by the next `weir sync`")
        }
    }
}

pub(super) fn not_a_team_server(field: &str) -> CommandError {
    CommandError::new(ErrorKind::Failed, format!("the server's answer has no `{field}`"))
        .hint("check that the address is that of a team server")
}

pub(super) fn wait(time: Duration) {
    // Nothing is sent: the channel is a clock.
    let (_sender, clock) = channel::<()>();
    let _ = clock.recv_timeout(time);
}
