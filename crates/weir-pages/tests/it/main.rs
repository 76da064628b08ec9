//! Every page with made-up content: its golden, what must hold for all of them, and hostile texts in every field.
#![allow(clippy::unwrap_used, reason = "a test that panics has failed")]

mod accessible;
mod days;
mod extremes;
mod goldens;
mod hostile;
mod markup;
mod notes;
mod samples;
