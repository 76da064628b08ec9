//! What the machine gives to every subject: the environment, the user's configuration and files, git, the project, the
//! operating system, and the words for errors, times and answers.
//!
//! Invariants:
//! - Everything here is about one machine and one user; nothing knows a store, a run or a session.
//! - A file that a project, a run or another user controls is read through [`foreign`], and never widens anything: what
//!   may be obeyed is decided in [`trust`].
//! - Every failure that a person reads is a [`error::CommandError`]: one plain line, and what to do.

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
