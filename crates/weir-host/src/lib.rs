//! What the machine gives to every subject: the environment, the user's configuration and files, git, the project, the
//! operating system, and the words for errors, times and answers.
//!
//! A project is found without starting git, because hooks need it ([`git`], [`project`]). Its key is the git common
//! directory, so work trees share one store; outside git it is the canonical path. A `.git` that names another place
//! counts only if that place names the work tree in turn. Folders that the user has agreed to let share a store have a
//! record ([`sharing`]); what clones have in common is only a suggestion to do so (`weir_core::identity`).
//!
//! [`face`] words hints: `weir get` to a person, `ctx_get` to a model. A `Reader` is who reads an answer, which is not
//! the same: a command that a client started is read by a model. Who wrote a text is a third matter, its `Origin`.
//!
//! Everything here is about one machine and one user. Nothing knows a run, a session or an operation, and stores are
//! only named and located.
//!
//! # Invariants
//!
//! - `env` is the only place that reads the environment, and [`os`] the only one that names a system, apart from what
//!   runs can reach (`weir-run`).
//! - A file that a project, a run or another user controls is read through [`foreign`]: a regular file, bounded,
//!   without blocking, and within the project if it belongs to it. It never widens anything; what may be obeyed is
//!   decided in [`trust`].
//! - What cannot be read *now* is an error, and never taken for what is *absent*: another key would mean another store.
//!   `foreign::settled` draws that line. As long as the [`switch`] cannot be read, Weir is off.
//! - A project has no configuration file. If it could loosen its own sandbox, it would have no sandbox.
//! - Every failure that a person reads is an [`error::CommandError`]: one plain line, and what to do.
//! - A text that a person must agree to is shown in full, with nothing hidden, or the question is not asked
//!   ([`consent`]).
//! - An [`answer`] never exceeds its budget, and text in it cannot close its own fence.

pub mod answer;
pub mod choice;
pub mod config;
pub mod consent;
pub mod diff;
pub mod env;
pub mod error;
pub mod face;
pub mod foreign;
pub mod git;
pub mod holders;
pub mod mutex;
pub mod os;
pub mod paint;
pub mod project;
pub mod random;
pub mod scratch;
pub mod settings;
pub mod sharing;
pub mod signal;
pub mod switch;
pub mod trust;
pub mod user_files;
pub mod when;
