//! Files by `context_*`, through `weir mcp`, as a client calls it.
#![expect(clippy::disallowed_methods, reason = "the tests start the program")]

mod editing;
mod hooked;
mod outlines;
mod parsers;
mod reading;
mod safety;
mod storm;
mod texts;
mod trust;
