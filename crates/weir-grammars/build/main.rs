//! Compiles each grammar with empty parse tables, and packs the tables into a file that the library unpacks when the
//! grammar is first used. The tables are nine tenths of a grammar, and a fourteenth of that when packed.
#![expect(clippy::disallowed_methods, clippy::print_stdout, reason = "a build script speaks with cargo")]

mod grammar;
mod sources;
mod tables;

use std::fmt::Write as _;
use std::path::PathBuf;

use grammar::Grammar;

/// The grammars, by the name of their function here, their package and their folder in it.
const GRAMMARS: &[Grammar] = &[
    Grammar { name: "c", package: "tree-sitter-c", folder: "src" },
    Grammar { name: "c_sharp", package: "tree-sitter-c-sharp", folder: "src" },
    Grammar { name: "cpp", package: "tree-sitter-cpp", folder: "src" },
    Grammar { name: "css", package: "tree-sitter-css", folder: "src" },
    Grammar { name: "elixir", package: "tree-sitter-elixir", folder: "src" },
    Grammar { name: "go", package: "tree-sitter-go", folder: "src" },
    Grammar { name: "html", package: "tree-sitter-html", folder: "src" },
    Grammar { name: "java", package: "tree-sitter-java", folder: "src" },
    Grammar { name: "javascript", package: "tree-sitter-javascript", folder: "src" },
    Grammar { name: "kotlin", package: "tree-sitter-kotlin-ng", folder: "src" },
    Grammar { name: "lua", package: "tree-sitter-lua", folder: "src" },
    Grammar { name: "php", package: "tree-sitter-php", folder: "php/src" },
    Grammar { name: "python", package: "tree-sitter-python", folder: "src" },
    Grammar { name: "ruby", package: "tree-sitter-ruby", folder: "src" },
    Grammar { name: "rust", package: "tree-sitter-rust", folder: "src" },
    Grammar { name: "scala", package: "tree-sitter-scala", folder: "src" },
    Grammar { name: "swift", package: "tree-sitter-swift", folder: "src" },
    Grammar { name: "tsx", package: "tree-sitter-typescript", folder: "tsx/src" },
    Grammar { name: "typescript", package: "tree-sitter-typescript", folder: "typescript/src" },
    Grammar { name: "yaml", package: "tree-sitter-yaml", folder: "src" },
    Grammar { name: "zig", package: "tree-sitter-zig", folder: "src" },
];

fn main() {
    println!("cargo::rerun-if-changed=build");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let folders = sources::folders(GRAMMARS);
    let mut list = String::from("grammars! {\n");
    for (grammar, folder) in GRAMMARS.iter().zip(&folders) {
        let bytes = grammar.build(folder, &out);
        let name = grammar.name;
        writeln!(list, "    {name} {bytes} tables_of_{name} weir_grammar_{name} weir_grammar_tables_{name}")
            .expect("a string takes it");
    }
    list.push_str("}\n");
    std::fs::write(out.join("grammars.rs"), list).expect("cannot write to OUT_DIR");
}
