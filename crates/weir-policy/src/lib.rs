//! Decides what may be run, read and changed: rules, verdicts and masks.
//!
//! Invariants:
//! - The crate is pure, except that [`masks`], [`audit`] and [`user_paths`] look at folders. Paths, texts and the time are passed in as
//!   values.
//! - Input that is not understood never makes a verdict more lenient.

pub mod audit;
pub mod gate;
pub mod judge;
pub mod masks;
mod names;
pub mod pages;
pub mod rules;
pub mod shell;
pub mod user_paths;
