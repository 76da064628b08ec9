//! One grammar: its code, compiled without its tables.

use std::path::Path;

use crate::tables::{TABLES, Table};

pub(crate) struct Grammar {
    pub(crate) name: &'static str,
    pub(crate) package: &'static str,
    pub(crate) folder: &'static str,
}

impl Grammar {
    /// Compiles the grammar in `folder` and packs its tables. Returns the size of the unpacked tables in bytes.
    pub(crate) fn build(&self, folder: &Path, out: &Path) -> usize {
        let parser = folder.join("parser.c");
        let source = std::fs::read_to_string(&parser)
            .unwrap_or_else(|error| panic!("cannot read {}: {error}", parser.display()));
        println!("cargo::rerun-if-changed={}", parser.display());
        let tables: Vec<Table> = TABLES.iter().filter_map(|shape| Table::find(&source, shape)).collect();
        assert!(!tables.is_empty(), "cannot find the tables in {}", parser.display());
        let bytes: Vec<u8> = tables.iter().flat_map(|table| table.bytes()).collect();
        let packed = zstd::bulk::compress(&bytes, 19).expect("zstd compresses anything");
        std::fs::write(out.join(format!("tables_of_{}", self.name)), packed).expect("cannot write to OUT_DIR");
        let emptied = out.join(format!("{}.c", self.name));
        std::fs::write(&emptied, self.emptied(&source, &tables)).expect("cannot write to OUT_DIR");
        self.compile(folder, &emptied);
        bytes.len()
    }

    /// Returns the source with empty tables and a function that fills them.
    fn emptied(&self, source: &str, tables: &[Table]) -> String {
        let mut text = String::new();
        let mut kept = 0;
        let mut fill = String::new();
        for table in tables {
            text.push_str(&source[kept..table.range.start]);
            text.push_str(&table.declaration(source));
            kept = table.range.end;
            let (name, size) = (table.name, table.size());
            fill.push_str(&format!(
                "  _Static_assert(sizeof {name} == {size}, \"the table's size\");\n  memcpy({name}, tables, {size});\n  tables += {size};\n"
            ));
        }
        text.push_str(&source[kept..]);
        format!(
            "#include <string.h>\n{text}\nvoid weir_grammar_fill_{}(const unsigned char *tables) {{\n{fill}}}\n",
            self.name
        )
    }

    /// Compiles the parser, under a name of its own so that a program can have the package too, and the scanner.
    fn compile(&self, folder: &Path, parser: &Path) {
        let mut build = cc::Build::new();
        build.std("c11").include(folder).warnings(false).file(parser);
        if build.get_compiler().is_like_msvc() {
            build.flag("-utf-8");
        }
        let scanner = folder.join("scanner.c");
        if scanner.exists() {
            println!("cargo::rerun-if-changed={}", scanner.display());
            build.file(&scanner);
        }
        let name = self.name;
        build.define(&format!("tree_sitter_{name}"), format!("weir_grammar_{name}").as_str());
        build.compile(&format!("weir-grammar-{name}"));
    }
}
