//! What git prints.

pub(super) mod blame;
mod commits;
pub(super) mod diff;
pub(super) mod log;
pub(super) mod oneline;
mod patch;
mod stat;
pub(super) mod status;
