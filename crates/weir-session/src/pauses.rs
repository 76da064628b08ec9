//! Pauses and what they cost: a provider's cache of a conversation lives for minutes, and the first request after a
//! longer pause writes the whole conversation again.
//!
//! [`CacheCourse`] is one session with its pauses, and [`CacheStudy`] compares what those of a client would have cost
//! with a cache that lives shorter or longer, compacted before each pause, or with old results cleared after it.
//!
//! Invariants: the costs of all choices follow from one model of the cache (`course`), which is given only what was
//! recorded; a lifetime is recommended only if it pays.

mod clearing;
mod compacting;
mod course;
mod report;
mod study;

pub use compacting::Compacting;
pub use course::{CacheCourse, ColdReturn, Lifetime};
pub use study::{CacheGroup, CacheStudy, Choice, ChoiceCost, LifetimesSet, studies};

pub(crate) use compacting::{REQUEST_TOKENS, WRITTEN_SHARE};
pub(crate) use report::{data, text};

#[cfg(test)]
mod tests;
