//! Helpers that kinds of several subjects use.

pub(super) mod counts;
pub(super) mod dates;
pub(super) mod definition;
pub(super) mod kept;
pub(crate) mod stamp;
