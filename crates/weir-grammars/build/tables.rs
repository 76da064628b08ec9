//! The parse tables in the source of a grammar, which `tree-sitter generate` wrote.

use std::collections::HashMap;
use std::ops::Range;

/// A table that is packed: its name and the bytes of a cell.
pub(crate) struct Shape {
    name: &'static str,
    cell: usize,
}

/// The tables in the order in which they are packed: wide cells first, so that nothing has to be aligned.
pub(crate) const TABLES: &[Shape] = &[
    Shape { name: "ts_small_parse_table_map", cell: 4 },
    Shape { name: "ts_parse_table", cell: 2 },
    Shape { name: "ts_small_parse_table", cell: 2 },
];

/// The definition of a table in a source.
pub(crate) struct Table {
    pub(crate) name: &'static str,
    pub(crate) range: Range<usize>,
    cell: usize,
    cells: Vec<u32>,
    initializer: usize,
}

impl Table {
    /// Finds a table and evaluates its initializer. Small grammars do not have every table.
    pub(crate) fn find(source: &str, shape: &Shape) -> Option<Self> {
        let named = source.find(&format!(" {}[", shape.name))?;
        let start = source[..named].rfind('\n')? + 1;
        let initializer = named + source[named..].find(" = {")?;
        let end = initializer + source[initializer..].find("\n};")? + "\n};".len();
        let names = Names::read(source);
        // The second dimension of the one table that has two.
        let width = source[named..initializer].contains("[SYMBOL_COUNT]").then(|| names.value("SYMBOL_COUNT"));
        let mut reader = Reader { text: &source.as_bytes()[initializer + " = ".len()..end], at: 0, names: &names };
        let mut cells = Vec::new();
        reader.list(&mut cells, 0, width.map(|width| width as usize));
        if let Some(width) = width {
            cells.resize((names.value("LARGE_STATE_COUNT") * width) as usize, 0);
        }
        Some(Self { name: shape.name, range: start..end, cell: shape.cell, cells, initializer })
    }

    /// Returns the table as the target has it in memory.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let big = std::env::var("CARGO_CFG_TARGET_ENDIAN").is_ok_and(|endian| endian == "big");
        let bytes = |cell: &u32| match (self.cell, big) {
            (2, false) => (*cell as u16).to_le_bytes().to_vec(),
            (2, true) => (*cell as u16).to_be_bytes().to_vec(),
            (_, false) => cell.to_le_bytes().to_vec(),
            (_, true) => cell.to_be_bytes().to_vec(),
        };
        self.cells.iter().flat_map(bytes).collect()
    }

    pub(crate) fn declaration(&self, source: &str) -> String {
        let declared = source[self.range.start..self.initializer].trim_start_matches("static const ");
        declared.replacen("[]", &format!("[{}]", self.cells.len()), 1)
    }
}

/// The symbols and counts of a source.
struct Names<'a>(HashMap<&'a str, u32>);

impl<'a> Names<'a> {
    fn read(source: &'a str) -> Self {
        let mut names = HashMap::from([("ts_builtin_sym_end", 0), ("ts_builtin_sym_error", u32::from(u16::MAX))]);
        let head = source.find("\n};").map_or(source, |end| &source[..end]);
        for line in head.lines() {
            let mut words = line.split([' ', ',', '=']).filter(|word| !word.is_empty() && *word != "#define");
            if let (Some(name), Some(Ok(value))) = (words.next(), words.next().map(str::parse)) {
                names.insert(name, value);
            }
        }
        Self(names)
    }

    fn value(&self, name: &str) -> u32 {
        *self.0.get(name).unwrap_or_else(|| panic!("cannot evaluate `{name}`: the grammar does not define it"))
    }
}

/// Reads a C initializer of numbers.
struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    names: &'a Names<'a>,
}

impl<'a> Reader<'a> {
    /// Reads a list whose first cell is at `start`. With a width, each element is a row of that many cells.
    fn list(&mut self, cells: &mut Vec<u32>, start: usize, width: Option<usize>) {
        self.expect(b'{');
        let mut index = 0;
        while !self.skip(b'}') {
            if self.skip(b'[') {
                index = self.number() as usize;
                self.expect(b']');
                self.expect(b'=');
            }
            let at = start + index * width.unwrap_or(1);
            if width.is_some() {
                self.list(cells, at, None);
            } else {
                let value = self.number();
                if cells.len() <= at {
                    cells.resize(at + 1, 0);
                }
                cells[at] = value;
            }
            index += 1;
            self.skip(b',');
        }
    }

    /// Reads a number, a name, or a call of a macro.
    fn number(&mut self) -> u32 {
        let word = self.word();
        if !self.skip(b'(') {
            return word.parse().unwrap_or_else(|_| self.names.value(word));
        }
        let inner = self.number();
        self.expect(b')');
        match word {
            "ACTIONS" | "STATE" => inner,
            "SMALL_STATE" => inner - self.names.value("LARGE_STATE_COUNT"),
            _ => panic!("cannot evaluate `{word}`: tree-sitter has no such macro"),
        }
    }

    fn word(&mut self) -> &'a str {
        self.space();
        let rest = &self.text[self.at..];
        let length = rest.iter().take_while(|&&byte| byte.is_ascii_alphanumeric() || byte == b'_').count();
        self.at += length;
        std::str::from_utf8(&rest[..length]).expect("it is ASCII")
    }

    fn space(&mut self) {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
    }

    fn skip(&mut self, byte: u8) -> bool {
        self.space();
        let found = self.text.get(self.at) == Some(&byte);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, byte: u8) {
        assert!(self.skip(byte), "cannot read a table: `{}` expected at byte {}", char::from(byte), self.at);
    }
}
