//! Sessions of agents, read back: transcripts replayed with and without Weir, the window and what fills it, and the
//! import of what happened before Weir was there.
//!
//! Invariants:
//! - A transcript is read and never changed; a record that cannot be read is counted and named, not a failed import.
//! - A replay applies the rules of the hooks themselves, so its figures are about the same program.
//! - The outputs of all outcomes add up to the total.

pub mod engram;
pub mod importing;
pub mod outputs;
pub mod replay;
pub mod sessions;
pub mod window;
