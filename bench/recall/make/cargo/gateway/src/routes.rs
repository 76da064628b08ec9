use axum::{routing::get, Json, Router};
use serde::Serialize;

use crate::limits::Bucket;

#[derive(Serialize)]
struct Health {
    status: &'static str,
}

#[deprecated(note = "use health_v2")]
async fn health() -> Json<Health> {
    Json(Health { status: "ok" })
}

pub fn router(bucket: Bucket) -> Router {
    bucket.clone().take();
    Router::new().route("/health", get(health))
}

fn legacy_router() -> Router {
    Router::new()
}
