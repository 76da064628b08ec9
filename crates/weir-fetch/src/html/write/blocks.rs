//! Collects words into lines, and writes lines as blocks with the markers of lists and quotes.

const MAX_OUTPUT_BYTES: usize = 24 << 20;
/// The maximum depth of lists and quotes that are indented.
const MAX_INDENT_DEPTH: usize = 10;

#[derive(Default)]
pub(super) struct Blocks {
    out: String,
    line: String,
    lines: u32,
    indents: Vec<Indent>,
    /// Whether the next block follows without an empty line.
    pub is_tight: bool,
    is_cut: bool,
}

struct Indent {
    first: String,
    rest: String,
    is_fresh: bool,
}

impl Blocks {
    /// Adds words, collapsing white space.
    pub(super) fn words(&mut self, text: &str) {
        if self.is_full() {
            return;
        }
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.find(is_space).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            self.line.push_str(word);
            rest = after.trim_start_matches(is_space);
            if rest.len() < after.len() && !self.line.is_empty() && !self.line.ends_with([' ', '\n']) {
                self.line.push(' ');
            }
        }
    }

    pub(super) fn raw(&mut self, text: &str) {
        if !self.is_full() {
            self.line.push_str(text);
        }
    }

    pub(super) fn raw_line_end(&mut self) {
        if !self.line.is_empty() && !self.line.ends_with('\n') {
            self.line.push('\n');
        }
    }

    pub(super) fn line_end(&mut self) {
        let end = self.line.trim_end_matches(' ').len();
        self.line.truncate(end);
        if !self.line.is_empty() && !self.line.ends_with("\n\n") {
            self.line.push('\n');
        }
    }

    /// Returns the length of the current line and its number.
    pub(super) fn place(&self) -> (usize, u32) {
        (self.line.len(), self.lines)
    }

    /// Replaces the text written since a position, without the white space around it, if the line is still the same.
    pub(super) fn around(&mut self, start: usize, line: u32, change: impl FnOnce(&str) -> String) {
        if line != self.lines || self.is_full() {
            return;
        }
        let Some(text) = self.line.get(start..) else { return };
        let inner = text.trim();
        if inner.is_empty() {
            return;
        }
        let before = text.len() - text.trim_start().len();
        let after = text.len() - text.trim_end().len();
        let changed = change(inner);
        let end = self.line.len() - after;
        self.line.replace_range(start + before..end, &changed);
    }

    /// Takes the current line, leaving it empty.
    pub(super) fn take(&mut self) -> String {
        self.lines += 1;
        std::mem::take(&mut self.line)
    }

    /// Writes the current line as a block, unless it is empty.
    pub(super) fn flush(&mut self) {
        if self.line.trim().is_empty() {
            self.line.clear();
            return;
        }
        let line = self.take();
        self.write(line.trim());
    }

    pub(super) fn write(&mut self, block: &str) {
        if self.is_full() {
            return;
        }
        if !self.out.is_empty() {
            self.out.push_str(if self.is_tight { "\n" } else { "\n\n" });
        }
        self.is_tight = false;
        for (number, line) in block.split('\n').enumerate() {
            if number > 0 {
                self.out.push('\n');
            }
            for indent in self.indents.iter_mut().take(MAX_INDENT_DEPTH) {
                self.out.push_str(if indent.is_fresh { &indent.first } else { &indent.rest });
                indent.is_fresh = false;
            }
            self.out.push_str(line);
            let end = self.out.trim_end_matches(' ').len();
            self.out.truncate(end);
        }
    }

    pub(super) fn indent(&mut self, first: &str, rest: &str) {
        self.indents.push(Indent { first: first.to_owned(), rest: rest.to_owned(), is_fresh: true });
    }

    pub(super) fn outdent(&mut self) {
        self.indents.pop();
    }

    pub(super) fn finish(mut self) -> (String, bool) {
        if !self.out.is_empty() {
            self.out.push('\n');
        }
        (self.out, self.is_cut)
    }

    fn is_full(&mut self) -> bool {
        self.is_cut |= self.out.len() + self.line.len() > MAX_OUTPUT_BYTES;
        self.is_cut
    }
}

fn is_space(c: char) -> bool {
    c.is_whitespace()
}
