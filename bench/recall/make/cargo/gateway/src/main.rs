mod limits;
mod routes;

use std::collections::HashMap;
use std::net::SocketAddr;

#[tokio::main]
async fn main() {
    let retries = 3;
    let addr: SocketAddr = ([127, 0, 0, 1], 8080).into();
    let app = routes::router(limits::Bucket::new(100));
    let listener = tokio::net::TcpListener::bind(addr).await.unwrap();
    axum::serve(listener, app).await.unwrap();
}
