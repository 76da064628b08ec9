//! Crashes of programs: stack traces and thread dumps.

pub(super) mod go;
pub(super) mod java;
mod java_threads;
pub(super) mod node;
pub(super) mod python;
pub(super) mod rust;
mod trace;
