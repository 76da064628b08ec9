//! A server on a socket, its storage, and a small client.

use std::io::{Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpSocket};
use tokio::runtime::{Builder, Runtime};
use weir_core::{EntryKind, Origin, ProjectKey, Reference, Scope, TenantId, Timestamp, UserId};
use weir_http::peer::Peer;
use weir_records::{
    Accounts, ApiToken, Audience, Author, Body, Credential, HostId, Kept, LogicalTime, Ports, Record, RecordId,
    TextKey, TokenScope, sqlite,
};
use weir_team::{BucketOptions, BucketedIndex, ObjectBlobs, PostgresLog, Service, ServiceOptions};

use crate::postgres::support::{TestDatabase, bridge};
use crate::support::NOW;

/// The project of most tests.
pub(crate) const API: &str = "github.com/acme/api";
/// How long a test waits for an answer.
const TIMEOUT: Duration = Duration::from_secs(30);

/// The storage that servers are started on.
pub(crate) struct World {
    folder: TempDir,
    /// The database, unless everything is in the folder.
    pub(crate) database: Option<TestDatabase>,
}

impl World {
    pub(crate) fn on_sqlite() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), database: None }
    }

    pub(crate) fn on_postgres() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), database: Some(TestDatabase::new()) }
    }

    /// Starts a server.
    pub(crate) fn server(&self) -> TestServer {
        self.server_named("one", options())
    }

    /// Starts a server with options and, where each server needs one, an index of its own.
    pub(crate) fn server_named(&self, name: &str, options: ServiceOptions) -> TestServer {
        let folder = self.folder.path();
        let (ports, accounts): (Ports, Arc<dyn Accounts>) = match &self.database {
            None => (sqlite::open(folder).unwrap(), Arc::new(sqlite::open_accounts(folder).unwrap())),
            Some(database) => {
                let log = PostgresLog::open(&database.options("app"), bridge()).unwrap();
                let accounts = Arc::new(log.accounts());
                let index = BucketedIndex::open(&folder.join(name), BucketOptions::default()).unwrap();
                let blobs = ObjectBlobs::in_folder(&folder.join("texts")).unwrap();
                (Ports { log: Arc::new(log), index: Arc::new(index), blobs: Arc::new(blobs) }, accounts)
            }
        };
        TestServer::start(ports, accounts, options)
    }

    /// Returns the folder of everything that is not in a database.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the ids of the tokens in the audit of a tenant, of the changes that were made with one.
    pub(crate) fn audited_tokens(&self, tenant: &str) -> Vec<String> {
        match &self.database {
            Some(database) => database
                .session("owner")
                .run(&format!(
                    "SELECT a.token FROM weir.audit a JOIN weir.tenants t USING (tenant_id)
                     WHERE t.name = '{tenant}' AND a.token IS NOT NULL ORDER BY a.audit_id"
                ))
                .unwrap(),
            None => {
                #[expect(clippy::disallowed_methods, reason = "looks at the file as another program would")]
                let database = rusqlite::Connection::open(self.folder.path().join("records.db")).unwrap();
                let sql = "SELECT token FROM audit WHERE tenant = ?1 AND token IS NOT NULL ORDER BY id";
                let mut statement = database.prepare(sql).unwrap();
                let rows = statement.query_map([tenant], |row| row.get(0)).unwrap();
                rows.map(Result::unwrap).collect()
            }
        }
    }

    /// Returns the actions in the audit of a tenant, oldest first.
    pub(crate) fn audit(&self, tenant: &str) -> Vec<String> {
        match &self.database {
            Some(database) => database
                .session("owner")
                .run(&format!(
                    "SELECT a.actor || ' ' || a.action FROM weir.audit a JOIN weir.tenants t USING (tenant_id)
                     WHERE t.name = '{tenant}' ORDER BY a.audit_id"
                ))
                .unwrap(),
            None => {
                #[expect(clippy::disallowed_methods, reason = "looks at the file as another program would")]
                let database = rusqlite::Connection::open(self.folder.path().join("records.db")).unwrap();
                let sql = "SELECT actor || ' ' || action FROM audit WHERE tenant = ?1 ORDER BY id";
                let mut statement = database.prepare(sql).unwrap();
                let rows = statement.query_map([tenant], |row| row.get(0)).unwrap();
                rows.map(Result::unwrap).collect()
            }
        }
    }
}

/// Returns options under which no test meets a limit that it is not about.
pub(crate) fn options() -> ServiceOptions {
    ServiceOptions {
        burst: 1_000_000,
        stranger_burst: 1_000_000,
        ..ServiceOptions::new(|| NOW, |fault| panic!("the server reports: {fault}"))
    }
}

/// A server on a free port of the loopback interface. It ends with the test.
pub(crate) struct TestServer {
    pub(crate) accounts: Arc<dyn Accounts>,
    address: SocketAddr,
    runtime: Runtime,
}

impl TestServer {
    /// Starts a server on these ports.
    pub(crate) fn start(ports: Ports, accounts: Arc<dyn Accounts>, options: ServiceOptions) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let of_service = Arc::clone(&accounts);
        let address = runtime.block_on(async move {
            let service = Service::start(ports, of_service, options).unwrap();
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            tokio::spawn(accept(listener, service));
            address
        });
        Self { accounts, address, runtime }
    }

    /// Issues a token for all projects of a tenant, which is created if it does not exist.
    pub(crate) fn token(&self, tenant: &str, user: &str, scope: TokenScope) -> String {
        self.token_with(tenant, user, |token| ApiToken { scope, ..token })
    }

    /// Issues a token that may write, but for what `change` changes.
    pub(crate) fn token_with(&self, tenant: &str, user: &str, change: impl Fn(ApiToken) -> ApiToken) -> String {
        let credential = Credential::draw().unwrap();
        let token = ApiToken {
            id: credential.id(),
            hash: credential.hash(),
            tenant: TenantId(tenant.into()),
            user: UserId(user.into()),
            scope: TokenScope::Write,
            projects: None,
            created_at: NOW,
            expires_at: None,
            revoked_at: None,
        };
        self.accounts.create_tenant(&token.tenant).unwrap();
        self.accounts.add_token(&change(token), None).unwrap();
        credential.to_string()
    }

    /// Sends a GET.
    pub(crate) fn get(&self, path: &str, token: &str) -> Reply {
        self.send("GET", path, token, "")
    }

    /// Sends a POST with JSON.
    pub(crate) fn post(&self, path: &str, token: &str, body: &Value) -> Reply {
        self.send("POST", path, token, &body.to_string())
    }

    /// Sends a message of MCP.
    pub(crate) fn mcp(&self, token: &str, method: &str, params: &Value) -> Reply {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.post("/mcp", token, &message)
    }

    /// Sends a request. Without a token it has no header for one.
    pub(crate) fn send(&self, method: &str, path: &str, token: &str, body: &str) -> Reply {
        let (address, length) = (self.address, body.len());
        let token = if token.is_empty() { String::new() } else { format!("Authorization: Bearer {token}\r\n") };
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{token}Weir-Client: test\r\n\
             Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             X-Request-Id: test-1\r\nContent-Length: {length}\r\n\r\n"
        );
        self.exchange(&format!("{head}{body}"))
    }

    /// Sends a GET, and returns the answer to be read while it comes.
    pub(crate) fn open(&self, path: &str, token: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        let head = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\n\r\n", self.address);
        stream.write_all(head.as_bytes()).unwrap();
        stream
    }

    /// Sends a request as it is, which ends the connection.
    pub(crate) fn exchange(&self, request: &str) -> Reply {
        exchanged(TcpStream::connect(self.address).unwrap(), request)
    }

    /// Sends a request as it is from another address of this machine, which ends the connection.
    pub(crate) fn exchange_from(&self, source: Ipv4Addr, request: &str) -> Reply {
        let connected = self.runtime.block_on(async {
            let socket = TcpSocket::new_v4().unwrap();
            socket.bind(SocketAddr::new(IpAddr::V4(source), 0)).unwrap();
            socket.connect(self.address).await.unwrap()
        });
        let stream = connected.into_std().unwrap();
        stream.set_nonblocking(false).unwrap();
        exchanged(stream, request)
    }

    /// Keeps a note and returns its id.
    pub(crate) fn note(&self, token: &str, project: &str, text: &str) -> String {
        let reply = self.post("/v1/notes", token, &json!({ "project": project, "text": text }));
        reply.ok(201)["id"].as_str().unwrap().to_owned()
    }

    /// Searches, and returns the texts of the hits.
    pub(crate) fn search(&self, token: &str, project: &str, query: &str) -> Vec<String> {
        let found = self.post("/v1/search", token, &json!({ "project": project, "query": query, "limit": 50 })).ok(200);
        assert_eq!(found["behind"], 0, "{found}");
        found["hits"].as_array().unwrap().iter().map(|hit| hit["excerpt"].as_str().unwrap().to_owned()).collect()
    }

    /// Downloads everything after a position, in batches, and returns the records.
    pub(crate) fn download(&self, token: &str, project: &str, limit: u64) -> Vec<Value> {
        let (mut after, mut records) = (0, Vec::new());
        loop {
            let path = format!("/v1/sync/records?project={}&after={after}&limit={limit}", encoded(project));
            let batch = self.get(&path, token).ok(200);
            for one in batch["records"].as_array().unwrap() {
                assert!(one["seq"].as_u64().unwrap() > after, "{batch}");
                if let Some(key) = one["record"]["body"]["kept"]["text"].as_str() {
                    assert_eq!(TextKey::of(batch["texts"][key].as_str().unwrap().as_bytes()).to_string(), key);
                }
                records.push(one["record"].clone());
            }
            after = batch["next"].as_u64().unwrap();
            if batch["more"] == false {
                assert_eq!(batch["head"], after);
                return records;
            }
        }
    }
}

/// Sends a request on a connection, and reads the answer until its end.
fn exchanged(mut stream: TcpStream, request: &str) -> Reply {
    stream.set_read_timeout(Some(TIMEOUT)).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    Reply::parse(&answer)
}

async fn accept(listener: TcpListener, service: Arc<Service>) {
    let routes = service.router();
    loop {
        let (stream, client) = listener.accept().await.unwrap();
        let peer = Peer { client, server: stream.local_addr().unwrap() };
        let routes = TowerToHyperService::new(routes.clone().layer(Extension(peer)));
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), routes));
    }
}

/// The answer to a request.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Reply {
    fn parse(answer: &str) -> Self {
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Self { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
    }

    /// Returns the body of an answer with this status.
    #[track_caller]
    pub(crate) fn ok(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.body);
        serde_json::from_str(&self.body).unwrap()
    }

    /// Returns the body of an error with this status.
    #[track_caller]
    pub(crate) fn problem(&self, status: u16) -> Value {
        let body = self.ok(status);
        assert!(self.head.contains("content-type: application/problem+json"), "{}", self.head);
        assert_eq!(body["status"], status);
        assert!(body["detail"].is_string() && body["title"].is_string(), "{body}");
        assert!(self.head.contains("x-request-id: test-1"), "{}", self.head);
        assert_eq!(body["request_id"], "test-1", "{body}");
        body
    }
}

/// Returns a text as it stands in a query.
pub(crate) fn encoded(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

/// Returns ids of a new host.
pub(crate) fn ids() -> impl Fn(u64) -> RecordId {
    let host = HostId::random().unwrap();
    move |index| RecordId { host, index }
}

/// Returns the scope of a user in the usual project.
pub(crate) fn scope(tenant: &str, user: &str) -> Scope {
    crate::support::scope(tenant, user, API)
}

/// Returns a record with a body.
pub(crate) fn record(scope: &Scope, id: RecordId, body: Body) -> Record {
    Record {
        id,
        time: LogicalTime { millis: NOW.0, count: 0 },
        tenant: scope.tenant.clone(),
        project: ProjectKey(scope.project.0.clone()),
        author: Author { user: scope.user.clone(), client: "test".into() },
        audience: Audience::Team,
        body,
    }
}

/// Returns a record that keeps a text.
pub(crate) fn kept(scope: &Scope, id: RecordId, text: &str) -> Record {
    let kept = Kept {
        reference: Reference::from_bits(id.index),
        kind: EntryKind::Note,
        origin: Origin::User,
        title: format!("record {}", id.index),
        source: None,
        note: None,
        text: TextKey::of(text.as_bytes()),
        bytes: text.len() as u64,
    };
    record(scope, id, Body::Kept(Box::new(kept)))
}

/// Returns a record as an upload has it.
pub(crate) fn written(record: &Record) -> Value {
    serde_json::from_str(&record.to_json().unwrap()).unwrap()
}

/// Returns the body of an upload of records and texts to a project.
pub(crate) fn upload(project: &str, records: &[Value], texts: &[&str]) -> Value {
    let texts: serde_json::Map<String, Value> =
        texts.iter().map(|text| (TextKey::of(text.as_bytes()).to_string(), (*text).into())).collect();
    json!({ "project": project, "records": records, "texts": texts })
}

/// Returns a time before the time of day in these tests.
pub(crate) fn past() -> Option<Timestamp> {
    Some(Timestamp(NOW.0 - 1))
}
