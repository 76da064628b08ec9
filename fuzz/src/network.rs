//! Fuzzes what a run sends to the proxy and to the broker.

/// Reads the head of a request to the proxy, and a body after it.
pub(crate) fn proxy(data: &[u8]) {
    weir_runner::fuzzing::proxy(data);
}

/// Reads the frames between a stand-in and the broker.
pub(crate) fn broker(data: &[u8]) {
    weir_runner::fuzzing::broker(data);
}
