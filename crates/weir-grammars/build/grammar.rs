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
        let mut bytes: Vec<u8> = tables.iter().flat_map(Table::bytes).collect();
        // As the compiler does it, since the widest cell has four bytes.
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        let packed = zstd::bulk::compress(&bytes, 19).expect("zstd compresses anything");
        std::fs::write(out.join(format!("tables_of_{}", self.name)), packed).expect("cannot write to OUT_DIR");
        let emptied = out.join(format!("{}.c", self.name));
        std::fs::write(&emptied, self.emptied(&source, &tables, bytes.len())).expect("cannot write to OUT_DIR");
        self.compile(folder, &emptied);
        bytes.len()
    }

    /// Returns the source with empty tables, which are one after the other, and a function that returns where they are.
    fn emptied(&self, source: &str, tables: &[Table], size: usize) -> String {
        let members: String = tables.iter().map(|table| format!("  {};\n", table.declaration(source))).collect();
        let names: String = tables.iter().map(|table| format!("#define {0} weir_tables.{0}\n", table.name)).collect();
        let together = format!("static struct {{\n{members}}} weir_tables;\n{names}");
        let mut defined: Vec<&Table> = tables.iter().collect();
        defined.sort_by_key(|table| table.range.start);
        let (mut text, mut kept) = (String::new(), 0);
        for (number, table) in defined.iter().enumerate() {
            text.push_str(&source[kept..table.range.start]);
            text.push_str(if number == 0 { &together } else { "" });
            kept = table.range.end;
        }
        text.push_str(&source[kept..]);
        let name = self.name;
        format!(
            "{text}\n_Static_assert(sizeof weir_tables == {size}, \"the size of the tables\");\n\
             unsigned char *weir_grammar_tables_{name}(void) {{ return (unsigned char *)&weir_tables; }}\n"
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
