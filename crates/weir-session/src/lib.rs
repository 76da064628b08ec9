//! Sessions of agents, read back: transcripts replayed with and without Weir ([`replay`]), the window and what fills it
//! ([`window`]), pauses in which the cache goes cold ([`pauses`]), what every request repeats ([`prefix`]), the import of
//! what happened before Weir was there ([`importing`]), and a recorded session that shows all of it ([`demo`]).
//!
//! The crate finds transcripts, plays them, and reports. How a client writes a transcript is in `weir-clients`; what a
//! hook answers is in `weir-hook`, whose own code gives the answers here too. [`engram`] says what the words of another
//! program's memory mean here, for the import of its export and for the server that answers its plugins.
//!
//! # Invariants
//!
//! - A transcript is foreign text: it is read within bounds and never changed. A row that cannot be read is counted and
//!   skipped, and the import goes on.
//! - A replay applies the rules of the hooks themselves, so its figures are about the same program. It works in a data
//!   folder of its own, and opens no file that a session read (`FileState::OfThePast`). The user's data folder is not
//!   touched.
//! - What was imported is what hooks would have captured. The content of a part and how far it was read are one
//!   transaction, so nothing is imported twice. Each row of another program's export is recorded, and one that was
//!   forgotten does not come back.
//! - The outputs of all outcomes add up to the total ([`outputs`]). Figures that are assumed are marked as such, and
//!   prices have a date.
//!
//! # A replay, step by step
//!
//! ```text
//! replay/places    transcripts: named, or where clients write them
//! weir-clients     rows → Session { steps, requests }; each step → the hooks that the client would have called
//! replay/judge     each hook through HookContext::answer; replay/words: what the model used later
//! replay/report    tables, chart, JSON; prices.toml is dated data
//! ```

pub mod demo;
pub mod engram;
pub mod importing;
pub mod outputs;
pub mod pauses;
pub mod prefix;
pub mod replay;
pub mod sessions;
pub mod window;
