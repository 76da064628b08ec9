//! Decides what may be run, read and changed: rules, verdicts and masks.
//!
//! [`gate`] decides about every call: a request, which is a script, a program, a file with its access, a folder tree or
//! a text, becomes a verdict with reasons. It is the only place where [`rules`], secrets and protected paths meet.
//! [`judge`] gives verdicts on scripts, which [`shell`] takes apart; [`masks`] says what a run must not see; [`audit`]
//! finds what a run planted; [`pages`] turns rules about pages into hosts that a fetch must not reach.
//!
//! The crate does not read the rules from disk, ask the user or word a refusal (`weir-context`), and it enforces
//! nothing: `weir-runner` has the sandbox.
//!
//! # Invariants
//!
//! - Input that is not understood never makes a verdict more lenient: a script, a rule, a folder that cannot be listed.
//! - The strictest reason decides. Adding a rule that denies or asks never makes a verdict more lenient.
//! - Files of a project restrict and never widen: [`rules::SourceKind::may_widen`] decides this for every rule, and
//!   [`gate`] protects Weir's own places from writes.
//! - A command that no rule mentions is allowed. The sandbox is the boundary, and rules express the user's intent on
//!   top of it.
//! - The crate is pure, except that [`masks`], [`audit`] and [`user_paths`] look at folders. Paths, texts and the time
//!   are passed in as values.

pub mod audit;
pub mod gate;
pub mod judge;
pub mod masks;
mod names;
pub mod pages;
pub mod rules;
pub mod shell;
pub mod user_paths;
