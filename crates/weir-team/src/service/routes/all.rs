//! All routes but `/mcp`, which has a specification of its own.

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};
use weir_http::answer;
use weir_http::metrics::PROMETHEUS;
use weir_http::openapi::status_is;
use weir_http::problem::Problem;
use weir_records::TokenScope;
use weir_tools::schema;

use super::{Asked, Declaration, Method, Nothing, Route};
use crate::service::answers::name_of;
use crate::service::entries::{self, Place, Search};
use crate::service::invitations::{self, AcceptedCode, NewInvitation, NewToken};
use crate::service::news::{self, Wanted};
use crate::service::notes::{self, NewNote, Removal};
use crate::service::readiness::{self, Ready};
use crate::service::sync::{self, Range, Upload};
use crate::service::tools::{self, TEAM_TOOLS, TeamTool};
use crate::service::{GivenName, Served, Service, figures};

const JSON: &str = "application/json";

/// Returns the routes of a service.
pub(in crate::service) fn all(service: &Service) -> Vec<Route> {
    let mut routes: Vec<Route> = records().into_iter().chain(notes_and_entries()).chain(invitations()).collect();
    routes.extend(TEAM_TOOLS.iter().map(tool));
    routes.push(other_tools());
    routes.extend(about_the_server());
    let metadata_paths = service.options.oauth.iter().flat_map(|oauth| oauth.paths());
    routes.extend(metadata_paths.map(|path| {
        let described = json!({ "type": "object", "required": ["resource", "authorization_servers"] });
        get(path, "Describe the server to a client of OAuth.").serves((JSON, described), metadata)
    }));
    routes
}

fn get(path: &str, summary: &str) -> Declaration {
    Declaration::new(Method::Get, path, summary)
}

fn post(path: &str, summary: &str) -> Declaration {
    Declaration::new(Method::Post, path, summary)
}

fn delete(path: &str, summary: &str) -> Declaration {
    Declaration::new(Method::Delete, path, summary)
}

fn records() -> [Route; 4] {
    [
        get("/v1/me", "Say whose token this is, and what it is good for.")
            .calls(TokenScope::Read, |_, caller, _: Asked| Ok(caller.describe())),
        post("/v1/sync/records", "Upload records with their texts.")
            .or(&[409])
            .calls(TokenScope::Write, |service, caller, asked: Asked<Nothing, Upload>| {
                sync::upload(service, caller, asked.body)
            }),
        get("/v1/sync/records", "Download the records after a position, with their texts.")
            .or(&[409])
            .calls(TokenScope::Read, |service, caller, asked: Asked<Range>| {
                sync::download(service, caller, &asked.query)
            }),
        get("/v1/sync/news", "Send an event whenever a project has new records.")
            .needs(TokenScope::Read)
            .serves(("text/event-stream", json!({ "type": "string" })), news::news)
            .with_query::<Wanted>(),
    ]
}

fn notes_and_entries() -> [Route; 5] {
    [
        post("/v1/search", "Search a project.")
            .calls(TokenScope::Read, |service, caller, asked: Asked<Nothing, Search>| {
                entries::search(service, caller, asked.body)
            }),
        post("/v1/notes", "Keep a note.").creates().or(&[404]).with_header("IdempotencyKey").calls(
            TokenScope::Write,
            |service, caller, asked: Asked<Nothing, NewNote>| {
                let name = notes::request_name(&asked.headers)?;
                notes::keep_named(service, caller, name.as_deref(), asked.body, &asked.bytes)
            },
        ),
        get("/v1/entries/{id}", "Read an entry by its record ID or its reference.")
            .or(&[404])
            .calls(TokenScope::Read, |service, caller, asked: Asked<Place>| {
                entries::get(service, caller, &asked.name, asked.query)
            }),
        delete("/v1/entries/{id}", "Remove an entry from the log, the index and the texts.")
            .or(&[404])
            .calls(TokenScope::Write, |service, caller, asked: Asked<Removal>| {
                notes::forget(service, caller, &asked.name, asked.query)
            }),
        post("/v1/entries/{id}/confirm", "Confirm what an entry says.")
            .or(&[404])
            .calls(TokenScope::Write, |service, caller, asked: Asked<Nothing, Place>| {
                notes::confirm(service, caller, &asked.name, asked.body)
            }),
    ]
}

fn invitations() -> [Route; 4] {
    [
        post("/v1/invitations", "Make an invitation, and show its secret.")
            .creates()
            .or(&[409, 501])
            .calls(TokenScope::Admin, |service, caller, asked: Asked<Nothing, NewInvitation>| {
                invitations::invite(service, caller, asked.body)
            }),
        get("/v1/invitations", "List the invitations of the tenant, without their secrets.")
            .or(&[501])
            .calls(TokenScope::Admin, |service, caller, _: Asked| invitations::list(service, caller)),
        delete("/v1/invitations/{id}", "Revoke an invitation; the tokens that it gave stay.")
            .or(&[404, 501])
            .calls(TokenScope::Admin, |service, caller, asked: Asked| {
                invitations::revoke(service, caller, &asked.name)
            }),
        post("/v1/invitations/accept", "Make oneself a token with an invitation.")
            .creates()
            .or(&[404, 409, 410, 422, 429, 501, 503])
            .serves((JSON, schema::of_answer::<NewToken>()), invitations::accept)
            .with_body(schema::of_input::<AcceptedCode>()),
    ]
}

/// Returns the route of a tool. Its arguments are described as for a model.
fn tool(tool: &'static TeamTool) -> Route {
    let described = tool.described();
    let (summary, arguments) = (described.description.unwrap_or_default(), described.input_schema);
    post(&format!("/v1/tools/{}", described.name), &summary)
        .or(&[404])
        .calls(tool.scope(), move |service, caller, asked: Asked<Nothing, Value>| {
            tool.call(service, caller, asked.body)
        })
        .with_body(Value::Object(arguments.as_ref().clone()))
}

/// Returns the route that says where a tool is that the server does not have.
fn other_tools() -> Route {
    let say = async |State(service): Served, name: GivenName, request: Request| -> Result<Response, Problem> {
        let (parts, _) = request.into_parts();
        service.admit(&parts, TokenScope::Read).await?;
        Err(tools::not_here(&name_of(name)?))
    };
    post("/v1/tools/{name}", "Say where a tool is that this server does not have.")
        .needs(TokenScope::Read)
        .or(&[404, 501])
        .serves((JSON, Value::Null), say)
}

fn about_the_server() -> [Route; 4] {
    let metrics = async |State(service): Served, request: Request| {
        let (parts, _) = request.into_parts();
        let caller = service.admit(&parts, TokenScope::Admin).await?;
        Ok::<_, Problem>(service.call_for(caller, figures::page).await?.into_response())
    };
    let document = async |State(service): Served| {
        let text = service.openapi.get().cloned().unwrap_or_default();
        ([(CONTENT_TYPE, JSON), (CACHE_CONTROL, "no-cache")], text)
    };
    let whole = json!({ "type": "object", "required": ["openapi", "paths"] });
    [
        get("/health", "Say that the server is alive.").serves((JSON, status_is("ok")), answer::health),
        get("/ready", "Say whether the storage answers and the index has caught up.")
            .or(&[503])
            .serves((JSON, schema::of_answer::<Ready>()), readiness::ready),
        get("/metrics", "Show figures of the tenant in the text format of Prometheus.")
            .needs(TokenScope::Admin)
            .serves((PROMETHEUS, json!({ "type": "string" })), metrics),
        get("/openapi.json", "Describe the routes: this document.").serves((JSON, whole), document),
    ]
}

/// Describes the server to a client of OAuth. Needs no token.
async fn metadata(State(service): Served) -> Response {
    let metadata = service.options.oauth.as_ref().map(|oauth| oauth.metadata());
    answer::json(StatusCode::OK, &metadata.unwrap_or_default())
}
