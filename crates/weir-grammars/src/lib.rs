//! Grammars of programming languages, for tree-sitter. Each is a function with the language's name.
//!
//! The build script (`build/`) compiles the code of each grammar from its package, and packs the tables that drive it:
//! unpacked, they would be a third of the program. A new grammar is a row in `build/main.rs` and a dependency.
//!
//! # Invariants
//!
//! - A grammar is unpacked once in a process, and before anything can use it. Nothing is unpacked at the start.
//! - A grammar answers as its package does: `tests/same.rs` compares every table.
//! - `unsafe` is only used to call the grammars' code.

use std::sync::Once;

use tree_sitter::Language;
use tree_sitter_language::LanguageFn;

/// Declares a function for each grammar: its name, the size of its tables, their file, and two functions in C, which
/// return the grammar and fill its tables.
macro_rules! grammars {
    ($($name:ident $size:literal $file:ident $grammar:ident $fill:ident)*) => { $(
        #[doc = concat!("Returns the grammar `", stringify!($name), "`.")]
        #[allow(unsafe_code)]
        pub fn $name() -> Language {
            unsafe extern "C" {
                fn $grammar() -> *const ();
                fn $fill(tables: *const u8);
            }
            static FILLED: Once = Once::new();
            FILLED.call_once(|| {
                let tables = unpacked(include_bytes!(concat!(env!("OUT_DIR"), "/", stringify!($file))), $size);
                // SAFETY: `tables` has as many bytes as the function reads, by assertions in its source. Nothing else
                // reads or writes the tables yet, because this is the only place that hands out the grammar.
                unsafe { $fill(tables.as_ptr()) };
            });
            // SAFETY: this is the function that `tree-sitter generate` wrote for the grammar.
            unsafe { LanguageFn::from_raw($grammar) }.into()
        }
    )* };
}

include!(concat!(env!("OUT_DIR"), "/grammars.rs"));

fn unpacked(packed: &[u8], size: usize) -> Vec<u8> {
    let tables = zstd::bulk::decompress(packed, size).expect("the build script packed them");
    assert_eq!(tables.len(), size, "the build script knows the size");
    tables
}
