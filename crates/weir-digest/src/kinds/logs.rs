//! Logs, and every line that no other kind claims.

pub(super) mod access_log;
