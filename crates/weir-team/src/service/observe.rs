//! Watches every request, has a line and a span written about it, and repeats its ID in a problem.

use std::sync::Arc;

use axum::body::{Body, to_bytes};
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderName};
use axum::response::Response;
use serde_json::{Map, Value};
use weir_http::observe::{AnsweredRequest, REQUEST_ID, RequestWatcher};
use weir_http::problem::PROBLEM_JSON;

use super::Service;

/// Returns what counts and logs each request.
pub(super) fn watcher(service: &Arc<Service>) -> RequestWatcher {
    let service = Arc::clone(service);
    Arc::new(move |request: &AnsweredRequest<'_>| {
        service.figures.answered(request.route, request.status, request.took);
        service.options.log.write(request);
        if let Some(watch) = &service.options.watch {
            watch(request);
        }
    })
}

/// Adds the ID of the request to a problem. Its body is in memory as a whole already.
pub(super) async fn name_problem(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    let header = |name: HeaderName| parts.headers.get(name).and_then(|value| value.to_str().ok());
    let (Some(PROBLEM_JSON), Some(id)) = (header(CONTENT_TYPE), header(REQUEST_ID).map(str::to_owned)) else {
        return Response::from_parts(parts, body);
    };
    let bytes = to_bytes(body, usize::MAX).await.unwrap_or_default();
    let Ok(mut problem) = serde_json::from_slice::<Map<String, Value>>(&bytes) else {
        return Response::from_parts(parts, Body::from(bytes));
    };
    problem.insert("request_id".to_owned(), id.into());
    parts.headers.remove(CONTENT_LENGTH);
    Response::from_parts(parts, Body::from(Value::Object(problem).to_string()))
}
