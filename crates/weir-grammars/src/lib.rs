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
/// return the grammar and its tables.
macro_rules! grammars {
    ($($name:ident $size:literal $file:ident $grammar:ident $tables:ident)*) => { $(
        #[doc = concat!("Returns the grammar `", stringify!($name), "`.")]
        #[allow(unsafe_code)]
        pub fn $name() -> Language {
            unsafe extern "C" {
                fn $grammar() -> *const ();
                fn $tables() -> *mut u8;
            }
            static UNPACKED: Once = Once::new();
            UNPACKED.call_once(|| {
                let packed = include_bytes!(concat!(env!("OUT_DIR"), "/", stringify!($file)));
                // SAFETY: the tables have this size, by an assertion in their source. Nothing else reads or writes them
                // yet, because this is the only place that hands out the grammar.
                unpack(packed, unsafe { std::slice::from_raw_parts_mut($tables(), $size) });
            });
            // SAFETY: this is the function that `tree-sitter generate` wrote for the grammar.
            unsafe { LanguageFn::from_raw($grammar) }.into()
        }
    )* };
}

include!(concat!(env!("OUT_DIR"), "/grammars.rs"));

fn unpack(packed: &[u8], tables: &mut [u8]) {
    let size = zstd::bulk::decompress_to_buffer(packed, tables).expect("the build script packed them");
    assert_eq!(size, tables.len(), "the build script knows the size");
}
