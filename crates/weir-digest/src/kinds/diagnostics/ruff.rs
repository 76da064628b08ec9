//! Findings of Python's linters: ruff in all its formats, and linters that print like it (flake8, pylint).

use super::diagnostic::{Diagnostic, Diagnostics, MAX_LINE_BYTES, Severity, named, place};
use crate::kinds::fold::Fold;
use crate::kinds::shared::bounded_items::KeptItems;
use crate::kinds::{Kind, Stretch};
use crate::text::{clip, number, shorten};
use crate::{About, Item, Line, Page, Weight};

pub(crate) const KIND: Kind = Kind::lines::<Ruff>("ruff", opens);

const MAX_EXPLANATION_BYTES: usize = 700;
/// The maximum number of lines after a finding: code, and the suggested change.
const MAX_FOLLOWING_LINES: usize = 300;
const MAX_LINES: usize = 60;

pub(crate) fn opens(text: &str, about: About<'_>) -> bool {
    match text.as_bytes().first() {
        Some(b'A'..=b'Z') if code(text).is_some_and(|(_, rest)| !rest.is_empty()) => {
            // A code at the beginning of a line may be anything, unless ruff marks it as fixable.
            // Other programs report errors of syntax in the same words.
            let is_certain = is_known(text) && !text.starts_with("SyntaxError: ");
            text.contains(" [*] ") || crate::text::runs(about.command, "ruff") || is_certain
        }
        Some(b'u' | b'i') if code(text).is_some() => true,
        Some(b'W' | b'A' | b'F' | b'[' | b'0'..=b'9' | b'*')
            if run_remark(text).is_some_and(|said| !matches!(said, RunRemark::Findings(_))) =>
        {
            true
        }
        _ => one_line(text).is_some() || file_above(text).is_some(),
    }
}

/// Parses the rule at the beginning of a text, and returns it with the rest: one to five capitals and two to five
/// digits, such as `F401` and `PLR0913`.
pub(super) fn code(text: &str) -> Option<(&str, &str)> {
    let letters = text.bytes().take_while(u8::is_ascii_uppercase).count();
    let digits = text.bytes().skip(letters).take_while(u8::is_ascii_digit).count();
    if ["invalid-syntax: ", "SyntaxError: ", "unformatted: "].iter().any(|name| text.starts_with(name)) {
        return text.split_once(": ");
    }
    if !(1..=5).contains(&letters) || !(2..=5).contains(&digits) {
        return None;
    }
    let (code, rest) = text.split_at_checked(letters + digits)?;
    let rest = rest.strip_prefix(':').unwrap_or(rest).strip_prefix(' ')?;
    Some((code, rest))
}

/// Returns whether a code belongs to a family of rules that may occur without a file before it.
fn is_known(text: &str) -> bool {
    let letters = text.bytes().take_while(u8::is_ascii_uppercase).count();
    const FAMILIES: &[&str] = &[
        "A", "AIR", "ANN", "ARG", "ASYNC", "B", "BLE", "C", "COM", "CPY", "D", "DJ", "DOC", "DTZ", "E", "EM", "ERA",
        "EXE", "F", "FA", "FAST", "FBT", "FIX", "FLY", "FURB", "G", "I", "ICN", "INP", "INT", "ISC", "LOG", "N", "NPY",
        "PD", "PERF", "PGH", "PIE", "PL", "PLC", "PLE", "PLR", "PLW", "PT", "PTH", "PYI", "Q", "RET", "RSE", "RUF",
        "S", "SIM", "SLF", "SLOT", "T", "TC", "TCH", "TD", "TID", "TRY", "UP", "W", "YTT",
    ];
    text.get(..letters).is_some_and(|family| FAMILIES.contains(&family))
}

/// Returns the code of a finding on one line, in a Python file: `a.py:1:2: F401 message`.
fn one_line(text: &str) -> Option<&str> {
    let place = place(text)?;
    let is_python = [".py", ".pyi", ".ipynb"].iter().any(|end| place.path.ends_with(end));
    code(place.rest).filter(|_| is_python).map(|(code, _)| code)
}

/// Recognises the file that is alone on a line above its findings: `src/a.py:`.
fn file_above(text: &str) -> Option<&str> {
    let path = text.strip_suffix(':')?;
    (path.ends_with(".py") && path.len() < 300 && !path.contains([' ', '"', '\''])).then_some(path)
}

/// What a line says about the whole run.
enum RunRemark {
    Findings(u64),
    Fixable,
    Format,
    Rated,
}

fn run_remark(text: &str) -> Option<RunRemark> {
    if let Some((count, rest)) = text.strip_prefix("Found ").and_then(number) {
        let ends = rest.strip_prefix(" error").map(|rest| rest.strip_prefix('s').unwrap_or(rest))?;
        return (ends == "." || ends.starts_with(" ("))
            .then_some(RunRemark::Findings(count))
            .filter(|_| !ends.contains("checked"));
    }
    if (text.starts_with("[*] ") && text.contains(" fixable with ")) || text.starts_with("No fixes available (") {
        return Some(RunRemark::Fixable);
    }
    if text.starts_with("Would reformat: ") || text.starts_with("All checks passed!") {
        return Some(RunRemark::Format);
    }
    if text.starts_with("Your code has been rated at ") || text.starts_with("************* Module ") {
        return Some(RunRemark::Rated);
    }
    let formatted = number(text)?.1;
    if formatted.contains(" available with `--") {
        return Some(RunRemark::Fixable);
    }
    (formatted.starts_with(" file") && (formatted.contains("reformatted") || formatted.contains("already formatted")))
        .then_some(RunRemark::Fixable)
}

#[derive(Default)]
struct Ruff {
    found: Diagnostics,
    block: Option<RuffBlock>,
    said: u64,
    totals: KeptItems<MAX_LINES>,
    formats: KeptItems<MAX_LINES>,
    fixable: u64,
    pylint: bool,
    full: bool,
    /// The file whose findings follow, and the line that named it until one does.
    file: String,
    unsure: Option<u64>,
    strays: Fold,
}

#[derive(Default)]
struct RuffBlock {
    number: u64,
    code: String,
    text: String,
    place: String,
    more: String,
    full: bool,
    /// The number of lines that followed it.
    follow: usize,
}

impl Stretch for Ruff {
    fn take(&mut self, line: &Line<'_>) -> bool {
        let belongs = self.belongs(line);
        if !belongs {
            self.flush();
        }
        self.found.read(line, belongs)
    }

    fn page(mut self: Box<Self>) -> Page {
        self.flush();
        self.stray();
        let said = match self.said {
            0 => String::new(),
            said if said == self.found.counts[0] => String::new(),
            said => format!(", of {said} that it found"),
        };
        let fixable = if self.fixable > 0 { format!(", {} marked fixable", self.fixable) } else { String::new() };
        let stray = self.found.is_empty() && self.totals.total == 0 && self.formats.total == 0;
        if stray && self.strays.lines > 0 {
            return Box::new(self.strays).page();
        }
        let ruff = self.said > 0 || self.fixable > 0 || self.full;
        let name = match (self.pylint, ruff) {
            (true, _) => "pylint",
            (false, true) => "ruff",
            (false, false) => "Python linter",
        };
        let counted = match self.found.is_empty() {
            true => named(self.formats.total, "file or check", "files or checks"),
            false => self.found.counted(),
        };
        let mut page = Page::new(format!("{name}: {counted}{said}{fixable}"));
        page.push(self.totals.part("linter totals", Weight::Fact));
        self.found.write(&mut page, name);
        page.push(self.formats.part("files to format", Weight::Fact));
        self.strays.put(&mut page);
        page
    }
}

impl Ruff {
    fn belongs(&mut self, line: &Line<'_>) -> bool {
        let text = line.text;
        if text.trim().is_empty() {
            return true;
        }
        if let Some(path) = file_above(text) {
            self.flush();
            self.stray();
            self.file = clip(path, MAX_LINE_BYTES);
            self.unsure = Some(line.number);
            return true;
        }
        if let Some((place, rest)) = self.row(text) {
            self.flush();
            self.unsure = None;
            let (code, _) = code(rest).unwrap_or_default();
            let text = shorten(&format!("{}:{place}: {rest}", self.file), MAX_LINE_BYTES);
            self.block = Some(RuffBlock { text, ..RuffBlock::new(line, code) });
            return true;
        }
        self.stray();
        if let Some(code) = one_line(text) {
            self.flush();
            self.block = Some(RuffBlock::new(line, code));
            return true;
        }
        if let Some(said) = run_remark(text) {
            self.flush();
            self.take_remark(&said, text);
            return true;
        }
        if let Some((code, _)) = code(text).filter(|(_, rest)| !rest.is_empty()) {
            self.flush();
            self.block = Some(RuffBlock { full: true, ..RuffBlock::new(line, code) });
            return true;
        }
        self.block.as_mut().is_some_and(|block| block.take(text))
    }

    /// Parses a finding below its file: `  12:5 F401 message`.
    fn row<'a>(&self, text: &'a str) -> Option<(&'a str, &'a str)> {
        let inner = text.strip_prefix("  ").filter(|_| !self.file.is_empty())?.trim_start();
        let (place, rest) = inner.split_once(' ')?;
        let (_, column) = number(place).and_then(|(line, rest)| Some((line, rest.strip_prefix(':')?)))?;
        number(column).filter(|(_, rest)| rest.is_empty())?;
        let rest = rest.trim_start();
        code(rest).map(|_| (place, rest))
    }

    /// Treats the line that looked like the name of a file as something else.
    fn stray(&mut self) {
        if let Some(number) = self.unsure.take() {
            self.strays.take(&Line { number, text: &format!("{}:", self.file), left_out: 0 });
            self.file.clear();
        }
    }

    fn take_remark(&mut self, said: &RunRemark, text: &str) {
        let item = || Item::plain(clip(text, MAX_LINE_BYTES));
        match said {
            RunRemark::Findings(count) => self.said = self.said.saturating_add(*count),
            RunRemark::Fixable => self.totals.add(item),
            RunRemark::Format => self.formats.add(item),
            RunRemark::Rated => {
                self.pylint = true;
                if text.starts_with("Your") {
                    self.totals.add(item);
                }
            }
        }
    }

    fn flush(&mut self) {
        let Some(block) = self.block.take() else { return };
        let text = match block.full {
            true if !block.place.is_empty() => format!("{} --> {}", block.text, block.place),
            _ => block.text,
        };
        self.full |= block.full;
        self.fixable += u64::from(text.contains(" [*] "));
        let at = text.find(block.code.as_str()).unwrap_or_default();
        let said = text.get(at + block.code.len()..).unwrap_or_default();
        let message = said.split(" --> ").next().unwrap_or_default();
        let message = message.trim_start_matches([':', ' ']).trim_start_matches("[*] ");
        let place = if block.full { block.place.as_str() } else { place(&text).map_or("", |place| place.whole) };
        let file = file(place);
        self.found.add(&Diagnostic {
            number: block.full.then_some(block.number),
            severity: severity(&block.code, said),
            file,
            place,
            code: &block.code,
            message,
            text: &text,
            more: block.more.trim_end(),
        });
    }
}

/// Returns the severity of a finding. Only pylint states it, by the first letter of its longer codes.
fn severity(code: &str, said: &str) -> Severity {
    let graded = code.len() == 5 && said.starts_with(':') && code.starts_with(['C', 'R', 'W', 'I']);
    if graded { Severity::Warning } else { Severity::Error }
}

/// Returns the path of a place, with or without text after it.
fn file(place: &str) -> &str {
    let bytes = place.as_bytes();
    let colon =
        memchr::memchr_iter(b':', bytes).find(|&at| at > 1 && bytes.get(at + 1).is_some_and(u8::is_ascii_digit));
    colon.and_then(|colon| place.get(..colon)).unwrap_or(place)
}

impl RuffBlock {
    fn new(line: &Line<'_>, code: &str) -> Self {
        Self { number: line.number, code: code.to_owned(), text: line.clip(MAX_LINE_BYTES), ..Self::default() }
    }

    fn take(&mut self, text: &str) -> bool {
        let inner = text.trim_start();
        if let Some(place) = inner.strip_prefix("--> ").filter(|_| self.place.is_empty()) {
            self.place = clip(place, 300);
            return true;
        }
        if let Some(help) = inner.strip_prefix("= help: ").or_else(|| text.strip_prefix("help: ")) {
            self.more("help: ", help);
            return true;
        }
        if inner.len() == text.len() && text.starts_with("note: ") {
            return true;
        }
        let shows_code = inner.starts_with('|')
            || inner.starts_with(['+', '-', ':'])
            || inner == "..."
            || number(inner).is_some_and(|(_, rest)| {
                let rest = rest.trim_start();
                rest.starts_with(['|', '+', '-', '~']) || rest.is_empty()
            });
        self.follow += 1;
        self.follow <= MAX_FOLLOWING_LINES && (shows_code || (inner.len() < text.len() && self.full))
    }

    fn more(&mut self, before: &str, text: &str) {
        if self.more.len() < MAX_EXPLANATION_BYTES {
            self.more.push_str(before);
            self.more.push_str(&clip(text.trim_end(), 200));
            self.more.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::check::{check, digest};

    #[test]
    fn full_findings_are_read() {
        let raw = r"F401 [*] `os` imported but unused
 --> stock/articles.py:1:8
  |
1 | import os, sys
  |        ^^
  |
help: Remove unused import

F821 Undefined name `undefined_total`
  --> stock/cli.py:12:11
   |
12 |     print(undefined_total)
   |           ^^^^^^^^^^^^^^^

Found 2 errors.
[*] 1 fixable with `--fix`.
";
        check(raw, 500).shows(&expect![[r#"
            ruff: 2 errors in 2 files, 1 marked fixable
            == linter totals: 1
            [*] 1 fixable with `--fix`.
            == ruff errors: 2
            1: F401 [*] `os` imported but unused --> stock/articles.py:1:8
            help: Remove unused import
            9: F821 Undefined name `undefined_total` --> stock/cli.py:12:11"#]]);
    }

    #[test]
    fn short_and_grouped_findings_are_read() {
        let raw = "a.py:1:8: F401 [*] `os` imported but unused\n\
                   b.py:3:80: E501 line too long (86 > 79 characters)\n\
                   src/c.py:\n  12:5 B007 Loop control variable `i` not used within loop body\n   1:1 D100 Missing docstring\n";
        check(raw, 500).shows(&expect![[r#"
            ruff: 4 errors in 3 files, 1 marked fixable
            == ruff errors: 4
            a.py:1:8: F401 [*] `os` imported but unused
            b.py:3:80: E501 line too long (86 > 79 characters)
            src/c.py:12:5: B007 Loop control variable `i` not used within loop body
            src/c.py:1:1: D100 Missing docstring"#]]);
    }

    #[test]
    fn pylint_grades_its_findings() {
        let raw = "************* Module shop\nshop.py:1:0: C0114: Missing module docstring (missing-module-docstring)\nshop.py:9:4: E1101: Instance of 'A' has no 'b' member (no-member)\n\n-----------------------------------\nYour code has been rated at 6.95/10\n";
        check(raw, 500).shows(&expect![[r#"
            pylint: 1 error, 1 warning in 1 file
            == linter totals: 1
            Your code has been rated at 6.95/10
            == pylint errors: 1
            shop.py:9:4: E1101: Instance of 'A' has no 'b' member (no-member)
            == pylint warnings: 1
            shop.py:1:0: C0114: Missing module docstring (missing-module-docstring)"#]]);
    }

    #[test]
    fn codes_of_other_things_are_not_findings() {
        for raw in ["ISO8601 dates are best\n", "HTTP404 Not found\n", "config.py:\nnothing\n", "Found 3 errors.\n"] {
            let text = digest(raw, 300);
            assert!(!text.contains("ruff:") && !text.contains("linter:"), "{text}");
        }
    }
}
