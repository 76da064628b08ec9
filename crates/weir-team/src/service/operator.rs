//! The page of figures for the operator, on an address of its own. Invariants: it needs no token, so it is no route of
//! the service; it asks no storage, so it answers when that does not.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use weir_http::metrics::Page;

use super::Service;
use crate::connections::ConnectionFigures;

/// Returns the route of the page.
pub(super) fn routes(service: Arc<Service>) -> Router {
    Router::new().route("/metrics", get(page)).with_state(service)
}

async fn page(State(service): State<Arc<Service>>) -> Response {
    let mut page = Page::default();
    page.version(service.options.version);
    service.figures.write_requests(&mut page);
    service.figures.latencies.write(&mut page);
    service.figures.busiest.write(&mut page, service.now());
    if let Some(connections) = &service.options.connections {
        write_connections(&mut page, connections());
    }
    service.figures.write_failures(&mut page);
    super::figures::write_start(&service, &mut page);
    page.into_response()
}

fn write_connections(page: &mut Page, figures: ConnectionFigures) {
    let ConnectionFigures { most, open, in_use, waiting } = figures;
    for (name, help, value) in [
        ("weir_database_connections_limit", "Connections to the database that may be open.", most),
        ("weir_database_connections", "Connections to the database that are open.", open),
        ("weir_database_connections_in_use", "Connections to the database that a call uses.", in_use),
        ("weir_database_calls_waiting", "Calls that wait for a connection to the database.", waiting),
    ] {
        page.single(name, "gauge", help, value);
    }
}
