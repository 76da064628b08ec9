//! Compilers, linters and type checkers.

mod block;
mod build_steps;
pub(super) mod eslint;
pub(super) mod found;
pub(super) mod gcc;
pub(super) mod mypy;
pub(super) mod ruff;
pub(super) mod rustc;
mod shown;
pub(super) mod tsc;
