//! Measures outlines: what they save and keep next to other programs, and their cost next to a bare parse.

mod latency;
mod savings;

pub(crate) use latency::run as latency;
pub(crate) use savings::run as savings;
