//! Tests several databases behind one server, on a real PostgreSQL: `.ci/postgres run -- COMMAND…` starts one.

mod contract;
mod faults;
mod moving;
mod routing;
mod support;
mod texts;
