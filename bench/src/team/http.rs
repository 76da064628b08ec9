//! The same records through the HTTP service on loopback, each with its text: four clients, and a connection for each
//! upload.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;
use tokio::runtime::Builder;
use weir_core::Timestamp;
use weir_records::{Accounts, ApiToken, Credential, HostId, Ports, TokenScope};
use weir_team::{ObjectBlobs, PostgresLog, Service, ServiceOptions, TantivyIndex};

use super::database::Database;
use super::ingest::in_threads;
use super::made::{MILLIS, Made, MadeEntry, PROJECT};
use crate::http::Connection;

struct Upload {
    token: String,
    body: String,
}

pub(super) fn run(made: &Made, database: &Database, folder: &Path, most: usize) -> Value {
    let log = PostgresLog::open(&database.options(), database.bridge()).unwrap();
    let accounts: Arc<dyn Accounts> = Arc::new(log.accounts());
    let tokens: Vec<String> = (0..made.tenants.len()).map(|tenant| token(made, &*accounts, tenant)).collect();
    let (mut uploads, mut rows) = (Vec::new(), 0);
    for batch in made.batches() {
        if rows < most {
            rows += batch.len();
            uploads.push(Upload { token: tokens[batch[0].tenant].clone(), body: body(made, batch) });
        }
    }
    let index = TantivyIndex::open(&folder.join("index")).unwrap();
    let blobs = ObjectBlobs::in_folder(&folder.join("texts")).unwrap();
    let ports = Ports { log: Arc::new(log), index: Arc::new(index), blobs: Arc::new(blobs) };
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let address = runtime.block_on(start(ports, accounts));
    let uploads = &uploads;
    let taken = in_threads(uploads.len(), || move |at: usize| send(address, &uploads[at]));
    runtime.shutdown_background();
    json!({
        "what": "uploads over HTTP, with texts",
        "rows": rows,
        "rows_per_second": rows as f64 / taken.seconds,
        "p50_ms": taken.batches.quantile(0.5) / 1e3,
        "p99_ms": taken.batches.quantile(0.99) / 1e3,
    })
}

fn token(made: &Made, accounts: &dyn Accounts, tenant: usize) -> String {
    let (scope, credential) = (made.scope(tenant), Credential::draw().unwrap());
    let token = ApiToken {
        id: credential.id(),
        hash: credential.hash(),
        tenant: scope.tenant,
        user: scope.user,
        scope: TokenScope::Write,
        projects: None,
        created_at: Timestamp(MILLIS),
        expires_at: None,
        revoked_at: None,
    };
    accounts.create_tenant(&token.tenant).unwrap();
    accounts.add_token(&token, None).unwrap();
    credential.to_string()
}

/// Returns the body of an upload: records of another host than those that the log has by now.
fn body(made: &Made, batch: &[MadeEntry]) -> String {
    let (mut records, mut texts) = (Vec::new(), Map::new());
    for entry in batch {
        let record = made.record_by(*entry, HostId::from_bytes([9; 16]));
        let key = record.body.kept().unwrap().text.to_string();
        records.push(serde_json::from_str::<Value>(&record.to_json().unwrap()).unwrap());
        texts.insert(key, entry.text().into());
    }
    json!({ "project": PROJECT, "records": records, "texts": texts }).to_string()
}

async fn start(ports: Ports, accounts: Arc<dyn Accounts>) -> SocketAddr {
    let options = ServiceOptions {
        burst: u32::MAX,
        max_tenant_records: u64::MAX,
        ..ServiceOptions::new(|| Timestamp(MILLIS + 1_000_000_000), |fault| panic!("the server reports: {fault}"))
    };
    let service = Service::start(ports, accounts, options).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let routes = TowerToHyperService::new(service.router());
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), routes.clone()));
        }
    });
    address
}

fn send(address: SocketAddr, upload: &Upload) {
    let Upload { token, body } = upload;
    Connection::open(address).post("/v1/sync/records", &format!("Authorization: Bearer {token}\r\n"), body).expect_ok();
}
