//! Compilers, linters and type checkers.

mod block;
mod build_steps;
pub(super) mod diagnostic;
pub(super) mod eslint;
pub(super) mod gcc;
pub(super) mod mypy;
pub(super) mod ruff;
pub(super) mod rustc;
mod shown;
pub(super) mod tsc;
