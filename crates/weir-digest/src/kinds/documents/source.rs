//! A printed source file: its description of itself, its types with their members and functions with their lines, its
//! constants, its errors, and its open tasks.

use std::io;

use crate::kinds::Kind;
use crate::kinds::shared::bounded_items::KeptItems;
use crate::sample::Sample;
use crate::text::{clip, starts};
use crate::{Item, Line, Lines, Page, Source};

mod define;
mod inside;
mod language;
mod shown;

use inside::{Errors, Members, Spans};
use language::{DefinitionKind, Language, LineItem};

pub(crate) const KIND: Kind = Kind::whole("source", is, read);

const MAX_DEFINITIONS: usize = 2_000;
/// The maximum number of other facts of each sort.
const MAX_ITEMS: usize = 60;
const MAX_LINE_BYTES: usize = 240;
const MAX_SIGNATURE_LINES: usize = 12;
pub(super) fn is(sample: &Sample<'_>) -> bool {
    language::of(sample).is_some()
}

fn read(source: &dyn Source, sample: &Sample<'_>) -> io::Result<Option<Page>> {
    let Some(language) = language::of(sample) else { return Ok(None) };
    let mut file = File { language, at_start: true, ..File::default() };
    Lines::each(source, |line| file.line(line))?;
    file.finish();
    Ok((!file.definitions.is_empty()).then(|| file.page()))
}

struct Definition {
    line: u64,
    sort: DefinitionKind,
    name: String,
    text: String,
    indent: usize,
    /// Its last line, if it was found.
    end: u64,
    members: String,
}

impl Definition {
    fn length(&self) -> u64 {
        (self.end + 1).saturating_sub(self.line)
    }
}

/// A definition whose signature continues.
struct PendingDefinition {
    definition: Definition,
    depth: i64,
    lines: usize,
}

#[derive(Default)]
struct File {
    language: Language,
    definitions: Vec<Definition>,
    counts: [u64; 3],
    open: Option<PendingDefinition>,
    imports: Vec<String>,
    import_total: u64,
    document: Vec<Item>,
    /// Whether only comments have been found so far, and whether a quoted text is open.
    at_start: bool,
    in_quotes: bool,
    marks: KeptItems<MAX_ITEMS>,
    /// Whether the next definition is deprecated.
    deprecated: bool,
    comments: u64,
    /// The first line of the last comment.
    said: Option<Item>,
    spans: Spans,
    members: Option<Members>,
    errors: Errors,
    /// Whether this is inside `const (…)`.
    in_block: bool,
}

impl File {
    fn line(&mut self, line: &Line<'_>) {
        let text = line.text.trim();
        if let Some(open) = &mut self.open {
            if !open.definition.text.ends_with('(') {
                open.definition.text.push(' ');
            }
            open.definition.text.push_str(text.get(..text.floor_char_boundary(MAX_LINE_BYTES)).unwrap_or_default());
            open.depth += depth(text);
            open.lines += 1;
            if open.depth <= 0 || open.lines >= MAX_SIGNATURE_LINES || open.definition.text.len() > MAX_LINE_BYTES {
                self.close();
            }
            return;
        }
        self.mark(line, text);
        if self.opens_file(line, text) || text.is_empty() {
            return;
        }
        for (place, end) in self.spans.line(line.number, line.text, self.language) {
            self.end(place, end);
        }
        if self.language.is_comment(text) {
            self.comments += 1;
            let says = text.chars().filter(|c| c.is_alphabetic()).count() >= 4;
            if self.said.is_none() && says {
                self.said = Some(Item::at(line.number, clip(text, MAX_LINE_BYTES)));
            }
            return;
        }
        self.errors.line(line.number, text);
        if self.block(line, text) {
            return;
        }
        let found = self.language.find(line.text);
        self.member(line.text, matches!(found, Some(LineItem::Definition(..))));
        match found {
            Some(LineItem::Import(name)) => {
                self.import_total += 1;
                if self.imports.len() < MAX_ITEMS {
                    self.imports.push(clip(name, 80));
                }
            }
            Some(LineItem::Definition(sort, name)) => self.define(line, text, sort, name),
            None if text.starts_with("package ") || text.starts_with("namespace ") => {
                self.document.push(Item::at(line.number, clip(text, MAX_LINE_BYTES)));
            }
            None => {}
        }
        if !text.starts_with(['@', '#']) {
            self.said = None;
        }
    }

    /// Takes a line that marks an open task or a deprecation.
    fn mark(&mut self, line: &Line<'_>, text: &str) {
        let deprecated = is_deprecated(text);
        if !deprecated && !is_mark(text) {
            return;
        }
        self.deprecated |= deprecated;
        self.marks.add(|| Item::at(line.number, clip(text, MAX_LINE_BYTES)));
    }

    /// Takes the lines of `const (…)` and `var (…)`. Lines without a value belong to the previous one.
    fn block(&mut self, line: &Line<'_>, text: &str) -> bool {
        if self.language != Language::Go {
            return false;
        }
        if matches!(text, "const (" | "var (") && !line.text.starts_with('\t') {
            self.in_block = true;
            return true;
        }
        if !self.in_block {
            return false;
        }
        if line.text.starts_with(')') {
            self.in_block = false;
            return true;
        }
        let name = text.split([' ', '=', ',']).next().unwrap_or_default();
        let words = text.split_ascii_whitespace().take(40).collect::<Vec<_>>().join(" ");
        if text.contains('=') {
            self.define(line, &words, DefinitionKind::Constant, name);
        } else if let Some(counted) = self.counts.get_mut(DefinitionKind::Constant as usize) {
            *counted += 1;
            if let Some(last) = self.definitions.last_mut().filter(|last| last.text.len() < MAX_LINE_BYTES) {
                last.text.push_str("; ");
                last.text.push_str(&clip(&words, 60));
            }
        }
        true
    }

    /// Takes a line of the open type.
    fn member(&mut self, line: &str, defines: bool) {
        if self.members.as_mut().is_some_and(|members| !members.line(line, defines, self.language)) {
            self.end_members();
        }
    }

    fn end_members(&mut self) {
        let Some(members) = self.members.take() else { return };
        if let Some(definition) = self.definitions.get_mut(members.place) {
            definition.members = members.text;
        }
    }

    fn end(&mut self, place: usize, end: u64) {
        if let Some(definition) = self.definitions.get_mut(place) {
            definition.end = end;
        }
    }

    /// Takes the description of the file at its beginning: comments, or a quoted text.
    fn opens_file(&mut self, line: &Line<'_>, text: &str) -> bool {
        if !self.at_start {
            return false;
        }
        let quotes = text.matches("\"\"\"").count() + text.matches("'''").count();
        let inside = self.in_quotes || quotes > 0;
        if quotes % 2 == 1 {
            self.in_quotes = !self.in_quotes;
        }
        if !inside && !text.is_empty() && !self.language.is_comment(text) {
            self.at_start = false;
            self.said = None;
            return false;
        }
        let says = text.chars().filter(|c| c.is_alphabetic()).count() >= 4;
        if says && self.document.len() < 6 {
            self.document.push(Item::at(line.number, clip(text, MAX_LINE_BYTES)));
        }
        true
    }

    fn define(&mut self, line: &Line<'_>, text: &str, sort: DefinitionKind, name: &str) {
        if let Some(count) = self.counts.get_mut(sort as usize) {
            *count += 1;
        }
        if self.definitions.len() >= MAX_DEFINITIONS {
            return;
        }
        if std::mem::take(&mut self.deprecated)
            && let Some(mark) = self.marks.items.last_mut()
        {
            mark.text.push_str(&format!(" → {}", clip(text, 120)));
        }
        // The description of the first type says what the file is for.
        let is_first = self.counts[0] == 1 && sort == DefinitionKind::Type;
        if let Some(said) = self.said.take().filter(|_| is_first) {
            self.document.push(said);
        }
        let definition = Definition {
            line: line.number,
            sort,
            name: clip(name, 80),
            text: clip(text, MAX_LINE_BYTES),
            indent: line.text.len() - line.text.trim_start().len(),
            end: line.number,
            members: String::new(),
        };
        let depth = depth(text);
        match sort {
            DefinitionKind::Function if depth > 0 => {
                self.open = Some(PendingDefinition { definition, depth, lines: 1 });
            }
            _ => self.keep(definition, line.text),
        }
    }

    fn keep(&mut self, definition: Definition, line: &str) {
        let place = self.definitions.len();
        if definition.sort == DefinitionKind::Function {
            if !definition.text.ends_with(['}', ';']) {
                self.spans.begin(definition.indent, place);
            }
        } else if let Some(members) = Members::begin(line, place, self.language) {
            self.end_members();
            self.members = Some(members);
        }
        self.definitions.push(definition);
    }

    fn close(&mut self) {
        if let Some(open) = self.open.take() {
            let text = clip(&open.definition.text, MAX_LINE_BYTES);
            self.keep(Definition { text, ..open.definition }, "");
        }
    }

    fn finish(&mut self) {
        self.close();
        self.end_members();
        for (place, end) in self.spans.finish() {
            self.end(place, end);
        }
    }
}

fn depth(text: &str) -> i64 {
    text.bytes().fold(0, |depth, byte| match byte {
        b'(' | b'[' => depth + 1,
        b')' | b']' => depth - 1,
        _ => depth,
    })
}

fn is_deprecated(text: &str) -> bool {
    starts(text, &["@Deprecated", "@deprecated", "#[deprecated", "* @deprecated", "// Deprecated:", "[Obsolete"])
}

fn is_mark(text: &str) -> bool {
    ["TODO", "FIXME", "XXX", "HACK"].iter().any(|mark| {
        text.find(mark).is_some_and(|at| {
            let before = text.get(..at).unwrap_or_default();
            let after = text.get(at + mark.len()..).unwrap_or_default();
            let commented = ["#", "//", "*", "--", ";", "<!--"].iter().any(|sign| before.contains(sign));
            commented && (after.is_empty() || after.starts_with([':', ' ', '(', '!', '-']))
        })
    })
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::check::{check, digest};

    #[test]
    fn a_python_file_is_shown_by_what_it_defines() {
        let mut text = String::from(
            "\"\"\"Keeps stock.\"\"\"\nimport json\nfrom typing import Iterable\n\nMAX_BATCH = 250\n\n\nclass StockError(Exception):\n    pass\n\n\n",
        );
        for name in ["Article", "Pallet", "Carrier"] {
            text.push_str(&format!("class {name}:\n    def validate(self) -> list[str]:\n        return []\n\n\n"));
        }
        text.push_str(
            "class Service:\n    def reserve(\n        self,\n        sku: str,\n        cache={},\n    ) -> int:\n        \
             # FIXME: released twice.\n        return 0\n\n\nasync def migrate(db) -> int:\n    return 1\n",
        );
        check(&text, 600).shows(&expect![[r#"
            Python source: 5 types, 5 functions, 1 constant, 2 imports, 1 comment line
            == its own description: 1
            1: """Keeps stock."""
            == to do, or deprecated: 1
            33: # FIXME: released twice.
            == 5 types with their lines
            8 StockError(Exception); 12 Article; 17 Pallet; 22 Carrier; 27 Service
            == constants: 1
            5: MAX_BATCH = 250
            == functions: 2
            28: def reserve(self, sku: str, cache={}, ) -> int
            37: async def migrate(db) -> int
            == 1 name that several functions have, with their first and last lines
            validate ×3 (13…23)
            == 2 imports
            json; typing"#]]);
    }

    #[test]
    fn languages_are_told_apart() {
        let rust = "//! Counts.\nuse std::io;\n\npub struct One {\n    pub a: u8,\n}\n\nimpl One {\n    pub fn new(a: u8) -> Self {\n        Self { a }\n    }\n}\n\nconst MOST: usize = 3;\n";
        let go = "package main\n\nimport (\n\t\"fmt\"\n)\n\ntype T struct {\n\tA int\n}\n\nfunc (t *T) Go(x int) error {\n\tif err := f(); err != nil {\n\t\treturn err\n\t}\n\treturn nil\n}\n\nfunc main() {\n\tfmt.Println(1)\n}\n";
        let script = "import { a } from './a';\n\nexport interface B {\n  c: string;\n}\n\nexport const d = (e: number) => {\n  return e;\n};\n\nexport class F {\n  async g(h: string): Promise<void> {\n    await a(h);\n  }\n}\n";
        let java = "package a.b;\n\nimport java.util.List;\nimport java.util.Map;\n\npublic class C {\n    private static final int MOST = 3;\n\n    public int e(int f) {\n        return f;\n    }\n}\n";
        let c = "#include <stdio.h>\n#define MOST 3\n\nstruct a {\n    int b;\n};\n\nstatic int d(int e)\n{\n    return e;\n}\n\nint main(void)\n{\n    return d(1);\n}\n";
        let shell =
            "#!/bin/sh\nset -e\nNAME=one\n\nbuild() {\n  echo building\n}\n\nif [ -n \"$1\" ]; then\n  build\nfi\n";
        for (text, what) in [
            (rust, "Rust source: 1 type, 1 function, 1 constant, 1 import"),
            (go, "Go source: 1 type, 2 functions, 0 constants, 1 import"),
            (script, "JavaScript or TypeScript source: 2 types, 2 functions, 0 constants, 1 import"),
            (java, "Java or similar source: 1 type, 1 function, 1 constant, 2 imports"),
            (c, "C or C++ source: 1 type, 2 functions, 1 constant, 1 import"),
            (shell, "shell source: 0 types, 1 function, 1 constant, 0 imports"),
        ] {
            let shown = digest(text, 600);
            assert!(shown.contains(what), "{shown}");
        }
    }

    #[test]
    fn what_is_no_source_is_left_alone() {
        let frames = "FAIL src/a.test.js\n  ● adds\n\n    import { a } from './a';\n\n    > 3 | const b = require('b');\n        |       ^\n      4 | export const c = 1;\n".repeat(4);
        let diff = "diff --git a/x.py b/x.py\n@@ -1 +1 @@\n-import a\n+import b\n def c():\n     pass\n";
        let english = "import duties rose. The class of goods was new.\nfor example, this is a text.\n".repeat(5);
        for text in [&frames, diff, &english] {
            assert!(!digest(text, 600).contains(" source: "), "{text}");
        }
    }
}
