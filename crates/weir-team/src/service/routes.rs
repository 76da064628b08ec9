//! The routes: each is declared once, with the types of what it takes and answers. It is served and described from that.
//!
//! Invariants: a call is admitted before its body is read; a body becomes a value only when the tenant may have one more
//! call at work.

mod all;
mod document;

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Request, State};
use axum::handler::Handler;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::{MethodFilter, MethodRouter, on};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use weir_http::answer;
use weir_http::problem::Problem;
use weir_http::request_limits::whole_body;
use weir_records::TokenScope;
use weir_tools::schema;

pub(super) use self::all::all;
pub(super) use self::document::document;
use super::answers::{name_of, parse_json, read_query, written};
use super::callers::Caller;
use super::{GivenName, Served, Service};

/// What a route is called with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    Get,
    Post,
    Delete,
}

/// What a caller asks of a route.
struct Asked<Q = Nothing, B = Nothing> {
    /// The last part of the path, where it is a name.
    name: String,
    headers: HeaderMap,
    query: Q,
    body: B,
    /// The body as it was sent.
    bytes: Bytes,
}

/// A query or a body that says nothing. What it says nevertheless is not looked at.
#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// A route.
pub(super) struct Route {
    declared: Declaration,
    /// The schemas of the query and of the body.
    query: Value,
    body: Value,
    /// The media type and the schema of an answer.
    answer: (&'static str, Value),
    serve: MethodRouter<Arc<Service>>,
}

/// What is declared of a route besides what serves it.
struct Declaration {
    method: Method,
    path: String,
    summary: String,
    /// What a token has to be good for, if the route needs one.
    scope: Option<TokenScope>,
    status: StatusCode,
    /// The statuses of errors that not every route of its sort has.
    errors: &'static [u16],
    /// The component that describes a header of its own.
    header: Option<&'static str>,
}

impl Method {
    fn as_str(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::Post => "post",
            Self::Delete => "delete",
        }
    }

    fn filter(self) -> MethodFilter {
        match self {
            Self::Get => MethodFilter::GET,
            Self::Post => MethodFilter::POST,
            Self::Delete => MethodFilter::DELETE,
        }
    }
}

impl Declaration {
    fn new(method: Method, path: impl Into<String>, summary: impl Into<String>) -> Self {
        let (path, summary) = (path.into(), summary.into());
        Self { method, path, summary, scope: None, status: StatusCode::OK, errors: &[], header: None }
    }

    /// Lets those call it whose token is good for a scope.
    fn needs(self, scope: TokenScope) -> Self {
        Self { scope: Some(scope), ..self }
    }

    /// Answers that something was created.
    fn creates(self) -> Self {
        Self { status: StatusCode::CREATED, ..self }
    }

    /// Adds statuses of errors.
    fn or(self, errors: &'static [u16]) -> Self {
        Self { errors, ..self }
    }

    /// Adds a header.
    fn with_header(self, component: &'static str) -> Self {
        Self { header: Some(component), ..self }
    }

    /// Returns a route that answers callers with what `work` returns. Their token is good for the scope.
    fn calls<Q, B, A, W>(self, scope: TokenScope, work: W) -> Route
    where
        Q: DeserializeOwned + JsonSchema + Send + 'static,
        B: DeserializeOwned + JsonSchema + 'static,
        A: Serialize + JsonSchema,
        W: Fn(&Service, &Caller, Asked<Q, B>) -> Result<A, Problem> + Clone + Send + Sync + 'static,
    {
        let declaration = self.needs(scope);
        let (status, takes_body) = (declaration.status, declaration.method == Method::Post);
        let is_named = declaration.path.contains('{');
        let handler = async move |State(service): Served, name: GivenName, request: Request| {
            let (parts, body) = request.into_parts();
            let caller = service.admit(&parts, scope).await?;
            let name = if is_named { name_of(name)? } else { String::new() };
            let query: Q = read_query(&parts.uri)?;
            let bytes = if takes_body { whole_body(body).await? } else { Bytes::from_static(b"{}") };
            let call = move |service: &Service, caller: &Caller| {
                let body = parse_json(&bytes)?;
                let answer = work(service, caller, Asked { name, headers: parts.headers, query, body, bytes })?;
                written(&answer)
            };
            Ok::<_, Problem>(answer::written_json(status, service.call_for(caller, call).await?))
        };
        let body = if takes_body { schema::of_input::<B>() } else { Value::Null };
        let (query, answered) = (schema::of_input::<Q>(), schema::of_answer::<A>());
        Route { query, body, ..declaration.serves(("application/json", answered), handler) }
    }

    /// Returns a route with a handler of its own, and what that answers.
    fn serves<H, T>(self, answer: (&'static str, Value), handler: H) -> Route
    where
        H: Handler<T, Arc<Service>>,
        T: 'static,
    {
        let serve = on(self.method.filter(), handler);
        Route { declared: self, query: json!({}), body: Value::Null, answer, serve }
    }
}

impl Route {
    fn with_body(self, body: Value) -> Self {
        Self { body, ..self }
    }

    fn with_query<Q: JsonSchema>(self) -> Self {
        Self { query: schema::of_input::<Q>(), ..self }
    }

    /// Returns the path, and what serves it.
    pub(super) fn served(self) -> (String, MethodRouter<Arc<Service>>) {
        (self.declared.path, self.serve)
    }
}
