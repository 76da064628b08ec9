//! Logs of web servers.

pub(super) mod access_log;
