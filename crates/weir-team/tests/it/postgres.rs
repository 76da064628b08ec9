//! Tests the log on a real PostgreSQL. `.ci/postgres run -- COMMAND…` starts one and tells the command where it is.

mod contract;
mod crossing;
mod deletion;
mod following;
mod isolation;
mod migrations;
mod moving;
mod reading;
mod resuming;
mod retention;
pub(crate) mod support;
mod texts;
mod tls;
mod writing;
