//! Runs as a model and a person meet them: the real program in an empty home, its sandbox as it is by default.
//!
//! What was printed comes back whole by its reference, however much it is; nothing outlives its run; what the rules deny
//! is not run however it is spelled; and the usual work of a project works.
#![expect(clippy::disallowed_methods, reason = "the tests start the program")]

mod background;
mod batch;
mod capture;
mod consent;
mod ends;
mod homes;
mod languages;
mod looks;
mod modes;
mod readers;
mod secrets;
mod spellings;
mod unkept;
mod work;
mod world;
