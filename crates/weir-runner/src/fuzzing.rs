//! What comes out of a sandbox, for the fuzzer: the bytes that a run sends to the proxy and to the broker.

pub use crate::broker::fuzzing::{broker, broker_seeds};
pub use crate::egress::fuzzing::proxy;
