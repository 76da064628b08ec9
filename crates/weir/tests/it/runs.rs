//! Runs as a model and a person use them: the real program in an empty home, with its default sandbox.
//!
//! The complete output is available by its reference, however long it is; nothing outlives its run; what the rules deny
//! is not run in any spelling; and the usual work of a project works.
#![expect(clippy::disallowed_methods, reason = "the tests start the program")]

mod answers;
mod background;
mod batch;
mod capture;
mod consent;
mod ends;
mod homes;
mod languages;
mod layered;
mod layered_work;
mod looks;
mod modes;
mod readers;
mod secrets;
mod spellings;
mod unkept;
mod work;

use crate::support::Home;

fn configured(text: &str) -> Home {
    let home = Home::with_programs();
    home.configure(text);
    home
}
