//! Fuzzing entry points for the bytes that a run sends out of the sandbox, to the proxy and to the broker.

pub use crate::broker::fuzzing::{broker, broker_seeds};
pub use crate::egress::fuzzing::proxy;
