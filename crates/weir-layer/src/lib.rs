//! What a run wrote, kept apart from the project until it is judged.
//!
//! The run sees its project through an overlay: the project is the lower folder, and everything that the run writes
//! goes to an upper folder that belongs to Weir. A [`Layer`] is that upper folder. When the last process of the run has
//! ended, [`Layer::changes`] says what the run changed, and [`Layer::apply`] carries over what the caller accepts;
//! [`undo`] takes that back.
//!
//! Mounting the overlay, with `userxattr` and `volatile`, is the work of `weir-runner`; the caller judges each change
//! (`weir-run`).
//!
//! # Invariants
//!
//! - Nothing in the project changes before [`Layer::apply`], and then only what was judged.
//! - Names come from the run. No name is ever resolved through a symbolic link, or out of the project.
//! - What somebody changed in the project during the run stays as it is; the run's version is kept beside it.
//! - A process that is killed at any time leaves a layer that [`recover`] finishes.
//!
//! Layers exist on Linux only. Elsewhere, [`check`] says so.

mod change;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

pub use change::{
    Applied, Change, ChangeKind, Conflict, ConflictKind, Finished, Held, LayerError, Recovered, RecoveredHow, Refused,
    UndoId, Undone, Verdict, Versions, What, WhyNot,
};
#[cfg(not(target_os = "linux"))]
pub use elsewhere::{Layer, check, recover, undo};
#[cfg(target_os = "linux")]
pub use linux::{Layer, check, recover, undo};
