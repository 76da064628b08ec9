//! What may be run, read and changed: rules, verdicts and masks.
//!
//! Invariant: pure, but for listing folders in [`masks`] and [`audit`]. Paths, texts and the time come in as values, and
//! whatever is not understood is never a reason to be more lenient.

pub mod audit;
pub mod judge;
pub mod masks;
mod names;
pub mod rules;
pub mod shell;
