//! Helpers that kinds of several subjects use.

pub(super) mod bounded_items;
pub(super) mod counts;
pub(super) mod dates;
pub(super) mod definition;
pub(crate) mod stamp;
