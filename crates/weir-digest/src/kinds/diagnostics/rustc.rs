//! Diagnostics of rustc, as printed by cargo and clippy: long with the code, or one line each.

use std::collections::BTreeMap;

use super::diagnostic::{Diagnostic, Diagnostics, MAX_LINE_BYTES, Severity, place};
use crate::kinds::packages::cargo_build;
use crate::kinds::{Kind, Stretch};
use crate::text::{clip, count, number};
use crate::{About, Item, Line, Page, Part, Weight};

pub(crate) const KIND: Kind = Kind::lines::<Rustc>("rustc", opens);

const MAX_CRATE_LINES: usize = 200;
const MAX_EXPLANATION_BYTES: usize = 1_200;
/// The maximum number of messages that are remembered with their lint.
const MAX_LINTS: usize = 1_000;
/// The maximum number of indented lines after a message without a place: other programs begin their messages in the
/// same way.
const MAX_LOOSE_LINES: usize = 4;
/// The same where the message is certainly rustc's.
const MAX_LOOSE_LINES_IN_BLOCK: usize = 60;

fn opens(text: &str, about: About<'_>) -> bool {
    match text.as_bytes().first() {
        // Many programs print a bare `error: `; those of git are not for a compiler.
        Some(b'e' | b'w') => header(text).is_some() && !crate::text::runs(about.command, "git"),
        _ => short(text).is_some(),
    }
}

/// Returns whether a line is certainly a diagnostic: it has a code, or a place in a Rust file.
pub(crate) fn is_finding(text: &str, _: About<'_>) -> bool {
    header(text).is_some_and(|(_, code, _)| code.starts_with('E')) || short(text).is_some()
}

/// Returns the severity, the code and the message of the first line of a diagnostic.
fn header(text: &str) -> Option<(Severity, &str, &str)> {
    let (severity, rest) = match text.strip_prefix("error") {
        Some(rest) => (Severity::Error, rest),
        None => (Severity::Warning, text.strip_prefix("warning")?),
    };
    if let Some(message) = rest.strip_prefix(": ") {
        // A compiler that was killed or has a bug prints messages in the same form.
        return Some((severity, "", message));
    }
    let (code, message) = rest.strip_prefix('[')?.split_once("]: ")?;
    (code.len() <= 60 && !code.contains(' ')).then_some((severity, code, message))
}

/// Parses a diagnostic on one line, in a Rust file: `src/a.rs:1:2: error[E0425]: message`.
fn short(text: &str) -> Option<(super::diagnostic::SourcePosition<'_>, Severity, &str, &str)> {
    let place = place(text).filter(|place| place.path.ends_with(".rs"))?;
    let (severity, code, message) = header(place.rest)?;
    Some((place, severity, code, message))
}

/// The diagnostics so far, and the current one.
#[derive(Default)]
struct Rustc {
    found: Diagnostics,
    block: Option<RustcBlock>,
    /// The lint of each message, without its quotations: only the first message of each names it.
    lints: BTreeMap<String, String>,
    /// Lines about whole crates: those that could not be compiled, and how many warnings they have.
    failed: Vec<String>,
    failed_count: u64,
    warned: Vec<String>,
    warned_count: u64,
    clippy: bool,
    /// Whether a line was found that only rustc or cargo prints.
    certain: bool,
}

#[derive(Default)]
struct RustcBlock {
    number: u64,
    severity: Severity,
    header: String,
    message_at: usize,
    code: String,
    place: String,
    label: String,
    lint: String,
    clippy: bool,
    more: String,
    /// Whether the first excerpt of code is over, and what follows explains.
    explains: bool,
    /// How many more lines may follow that belong here only by their indentation.
    loose: usize,
}

impl Stretch for Rustc {
    fn take(&mut self, line: &Line<'_>) -> bool {
        let belongs = self.belongs(line);
        if !belongs {
            self.flush();
        }
        self.found.read(line, belongs)
    }

    fn page(mut self: Box<Self>) -> Page {
        self.flush();
        let name = match (self.clippy, self.certain) {
            (true, _) => "clippy",
            (false, true) => "rustc",
            (false, false) => "",
        };
        let said = if name.is_empty() { String::new() } else { format!("{name}: ") };
        let [errors, warnings, _] = self.found.counts;
        let mut page = Page::new(match (name, errors) {
            ("", 0) => count(warnings, "warning", "warnings"),
            _ => format!("{said}{}", self.found.counted()),
        });
        let total = self.failed_count + self.warned_count;
        let Self { failed, warned, found, .. } = *self;
        // A crate that failed states its warnings too.
        let said = |line: &String| failed.iter().any(|failure| subject(failure) == subject(line));
        let repeated = warned.iter().filter(|line| said(line)).count() as u64;
        let rest = warned.iter().filter(|line| !said(line)).cloned();
        let crates = failed.iter().cloned().chain(rest).map(Item::plain).collect();
        page.push(Part::new("crates", Weight::Failure, crates).of(total.saturating_sub(repeated)));
        found.write(&mut page, name);
        page
    }
}

/// Returns the crate that a line is about, with its target: the text in backticks and the words in brackets after it.
fn subject(line: &str) -> &str {
    let from = line.find('`').unwrap_or(0);
    let rest = line.get(from..).unwrap_or_default();
    rest.find(')').and_then(|end| rest.get(..end)).unwrap_or(rest)
}

impl Rustc {
    fn belongs(&mut self, line: &Line<'_>) -> bool {
        let text = line.text;
        if let Some((severity, code, message)) = header(text) {
            self.flush();
            if !self.of_crate(severity, text, message) {
                self.block = Some(RustcBlock::new(line, severity, code, message));
            }
            return true;
        }
        if let Some((place, severity, code, message)) = short(text) {
            self.flush();
            self.certain = true;
            if !message.starts_with("aborting due to") {
                let (file, place) = (place.path, place.whole);
                self.found.add(&Diagnostic { number: None, severity, file, place, code, message, text, more: "" });
            }
            return true;
        }
        if text.starts_with("For more information about") || text.starts_with("Some errors have detailed") {
            self.flush();
            return true;
        }
        // Steps of cargo come between diagnostics, never inside one.
        match self.block.as_mut().filter(|_| !cargo_build::opens(text, About::default())) {
            Some(block) => block.take(text),
            None => text.trim().is_empty(),
        }
    }

    /// Takes a line about a whole crate or the whole run.
    fn of_crate(&mut self, severity: Severity, text: &str, message: &str) -> bool {
        let over = message.starts_with("aborting due to")
            || message.starts_with("build failed, waiting")
            || (message.ends_with(" emitted") && number(message).is_some());
        if over {
            self.certain = true;
            return true;
        }
        if message.starts_with("could not compile ") {
            self.certain = true;
            self.failed_count += 1;
            if self.failed.len() < MAX_CRATE_LINES {
                self.failed.push(clip(text, MAX_LINE_BYTES));
            }
            return true;
        }
        let warned = severity == Severity::Warning && message.starts_with('`') && message.contains(" generated ");
        if warned {
            self.certain = true;
            self.warned_count += 1;
            if self.warned.len() < MAX_CRATE_LINES {
                self.warned.push(clip(text, MAX_LINE_BYTES));
            }
        }
        warned
    }

    fn flush(&mut self) {
        let Some(block) = self.block.take() else { return };
        let message = block.header.get(block.message_at..).unwrap_or_default();
        self.certain |= !block.place.is_empty();
        self.clippy |= block.clippy;
        let known = self.lints.get(message_start(message)).cloned();
        let code = match (block.code.as_str(), block.lint.as_str()) {
            ("", "") => known.unwrap_or_default(),
            ("", lint) => {
                if known.is_none() && self.lints.len() < MAX_LINTS {
                    self.lints.insert(message_start(message).to_owned(), lint.to_owned());
                }
                lint.to_owned()
            }
            (code, _) => code.to_owned(),
        };
        let mut text = block.header.clone();
        for (sign, piece) in [(" --> ", &block.place), (" ^ ", &block.label)] {
            if !piece.is_empty() {
                text.push_str(sign);
                text.push_str(piece);
            }
        }
        let file = place(&block.place).map_or(block.place.as_str(), |place| place.path);
        let file = file.split_once(".rs:").map_or(file, |(path, _)| file.get(..path.len() + 3).unwrap_or(file));
        self.found.add(&Diagnostic {
            number: Some(block.number),
            severity: block.severity,
            file,
            place: &block.place,
            code: &code,
            message,
            text: &text,
            more: block.more.trim_end(),
        });
    }
}

/// Returns the words of a message before its first quotation.
fn message_start(message: &str) -> &str {
    message.split('`').next().unwrap_or(message)
}

impl RustcBlock {
    fn new(line: &Line<'_>, severity: Severity, code: &str, message: &str) -> Self {
        Self {
            number: line.number,
            severity,
            message_at: line.text.len() - message.len(),
            header: line.clip(MAX_LINE_BYTES),
            code: code.to_owned(),
            loose: MAX_LOOSE_LINES,
            ..Self::default()
        }
    }

    /// Takes a line that belongs to this diagnostic.
    fn take(&mut self, text: &str) -> bool {
        let inner = text.trim_start();
        if inner.is_empty() {
            return true;
        }
        if let Some(place) = inner.strip_prefix("--> ") {
            self.loose = MAX_LOOSE_LINES_IN_BLOCK;
            match self.place.is_empty() {
                true => self.place = clip(place, 300),
                false => self.more(text),
            }
            return true;
        }
        let indented = inner.len() < text.len();
        if let Some(said) = inner.strip_prefix("= ").filter(|_| indented) {
            self.explains = true;
            if !self.says_lint(said) {
                self.more(inner);
            }
            return true;
        }
        if text.starts_with("help: ") || text.starts_with("note: ") {
            self.explains = true;
            if !self.says_lint(text) {
                self.more(text);
            }
            return true;
        }
        if let Some(code) = gutter(inner) {
            self.code_line(text, code);
            return true;
        }
        if text == "Caused by:" {
            self.loose = MAX_LOOSE_LINES_IN_BLOCK;
        }
        let goes_on =
            self.loose > 0 && (indented || inner == "..." || text == "Caused by:" || inner.starts_with("::: "));
        self.loose = self.loose.saturating_sub(1);
        if goes_on && inner != "..." {
            self.more(text);
        }
        goes_on
    }

    /// Takes a line of code, or the markers under it.
    fn code_line(&mut self, text: &str, code: &str) {
        if self.label.is_empty()
            && !self.explains
            && let Some((_, label)) = code.rsplit_once('^')
        {
            self.label = clip(label.trim_start_matches(['-', ' ']), 200);
            return;
        }
        if !code.bytes().all(|byte| matches!(byte, b' ' | b'|' | b'^' | b'-' | b'~' | b'+' | b'_' | b'.')) {
            self.more(text);
        }
    }

    /// Returns whether a line only names the lint.
    fn says_lint(&mut self, said: &str) -> bool {
        if let Some((_, anchor)) = said.split_once("rust-clippy/").and_then(|(_, url)| url.split_once('#')) {
            self.lint = clip(anchor, 80);
            self.clippy = true;
            return true;
        }
        let Some(said) = said.strip_prefix("note: `") else { return false };
        let lint = ["#[warn(", "#[deny(", "#[forbid("].iter().find_map(|level| said.strip_prefix(level));
        let given = ["-D ", "-W ", "-F "].iter().find_map(|level| said.strip_prefix(level));
        let name = match (lint, given) {
            (Some(rest), _) => rest.split(')').next(),
            (None, Some(rest)) => rest.split('`').next(),
            (None, None) => return false,
        };
        if let Some(name) = name.filter(|_| self.lint.is_empty()) {
            self.clippy |= name.starts_with("clippy::");
            self.lint = clip(name.trim_start_matches("clippy::"), 80).replace('-', "_");
        }
        true
    }

    fn more(&mut self, text: &str) {
        if self.more.len() < MAX_EXPLANATION_BYTES {
            self.more.push_str(&clip(text.trim_end(), 300));
            self.more.push('\n');
        }
    }
}

/// Returns the text to the right of the line numbers, in a line that shows code or points at it.
fn gutter(inner: &str) -> Option<&str> {
    if let Some(code) = inner.strip_prefix('|') {
        return Some(code);
    }
    let (_, rest) = number(inner)?;
    let rest = rest.strip_prefix(' ')?;
    ["| ", "+ ", "- ", "~ ", "|", "+", "-", "~"].iter().find_map(|sign| rest.strip_prefix(sign))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::check::{check, digest};

    #[test]
    fn few_diagnostics_are_shown_in_their_order_and_explained() {
        let raw = r#"error[E0308]: mismatched types
 --> src/main.rs:2:26
  |
2 |     let x: i32 = "a";
  |            ---   ^^^ expected `i32`, found `&str`
  |            |
  |            expected due to this

warning: unused variable: `y`
 --> src/main.rs:3:9
  |
3 |     let y = 1;
  |         ^ help: if this is intentional, prefix it with an underscore: `_y`
  |
  = note: `#[warn(unused_variables)]` (part of `#[warn(unused)]`) on by default

error[E0560]: struct `P` has no field named `b`
 --> src/main.rs:4:20
  |
4 | fn mk() -> P { P { b: 1 } }
  |                    ^ unknown field
  |
help: a field with a similar name exists
  |
4 - fn mk() -> P { P { b: 1 } }
4 + fn mk() -> P { P { a: 1 } }
  |

Some errors have detailed explanations: E0308, E0560.
For more information about an error, try `rustc --explain E0308`.
warning: `demo` (bin "demo") generated 1 warning
error: could not compile `demo` (bin "demo") due to 2 previous errors; 1 warning emitted
"#;
        check(raw, 600).shows(&expect![[r#"
            rustc: 2 errors, 1 warning in 1 file
            == crates: 1
            error: could not compile `demo` (bin "demo") due to 2 previous errors; 1 warning emitted
            == rustc errors: 2
            1: error[E0308]: mismatched types --> src/main.rs:2:26 ^ expected `i32`, found `&str`
            2 |     let x: i32 = "a";
              |            expected due to this
            17: error[E0560]: struct `P` has no field named `b` --> src/main.rs:4:20 ^ unknown field
            4 | fn mk() -> P { P { b: 1 } }
            help: a field with a similar name exists
            4 - fn mk() -> P { P { b: 1 } }
            4 + fn mk() -> P { P { a: 1 } }
            == rustc warnings: 1
            9: warning: unused variable: `y` --> src/main.rs:3:9 ^ help: if this is intentional, prefix it with an underscore: `_y`
            3 |     let y = 1;"#]]);
    }

    #[test]
    fn later_ones_of_a_lint_are_counted_with_the_first() {
        let mut raw = String::new();
        for place in 1..=40 {
            raw += &format!(
                "warning: unused variable: `x{place}`\n --> src/a.rs:{place}:9\n  |\n{place} | let x;\n  |     ^\n"
            );
            if place == 1 {
                raw += "  |\n  = note: `#[warn(unused_variables)]` on by default\n";
            }
            raw += "\n";
        }
        raw += "warning: value assigned to `z` is never read\n --> src/b.rs:7:1\n\nwarning: `demo` (lib) generated 41 warnings\n";
        check(&raw, 250).shows(&expect![[r#"
            rustc: 0 errors, 41 warnings in 2 files
            == crates: 1
            warning: `demo` (lib) generated 41 warnings
            == 1 rustc warning code, in lines of 6: 1
            unused_variables 40, 1 without code
            == rustc warnings, one of each sort: 2
            1: ×40 warning: unused variable: `x1` --> src/a.rs:1:9
            1 | let x;
            243: warning: value assigned to `z` is never read --> src/b.rs:7:1
            == files with the most warnings: 2
            src/a.rs: 40
            src/b.rs: 1
            == more rustc warnings: 39, 1 shown
            9: warning: unused variable: `x2` --> src/a.rs:2:9"#]]);
    }

    #[test]
    fn short_diagnostics_are_read() {
        let raw = "src/main.rs:2:26: error[E0308]: mismatched types: expected `i32`, found `&str`\n\
                   src/main.rs:1:5: warning: unused import: `std::collections::HashMap`\n\
                   error: could not compile `demo` (bin \"demo\") due to 1 previous error; 1 warning emitted\n";
        check(raw, 400).shows(&expect![[r#"
            rustc: 1 error, 1 warning in 1 file
            == crates: 1
            error: could not compile `demo` (bin "demo") due to 1 previous error; 1 warning emitted
            == rustc errors: 1
            src/main.rs:2:26: error[E0308]: mismatched types: expected `i32`, found `&str`
            == rustc warnings: 1
            src/main.rs:1:5: warning: unused import: `std::collections::HashMap`"#]]);
    }

    #[test]
    fn what_caused_an_error_of_cargo_stands_with_it() {
        let raw = "error: failed to run custom build command for `demo v0.1.0 (/srv/demo)`\n\n\
                   Caused by:\n  process didn't exit successfully: `build-script-build` (exit status: 101)\n  --- stderr\n  no libfoo found\n";
        check(raw, 400).shows(&expect![[r#"
            1 error
            == errors: 1
            1: error: failed to run custom build command for `demo v0.1.0 (/srv/demo)`
            Caused by:
              process didn't exit successfully: `build-script-build` (exit status: 101)
              --- stderr
              no libfoo found"#]]);
    }

    #[test]
    fn lines_set_in_below_an_unknown_error_stay_with_the_log() {
        let mut raw = "error: something else\n".to_owned();
        for number in 0..50 {
            raw += &format!("    id={number} state=ok\n");
        }
        let text = digest(&raw, 600);
        assert!(text.contains("state=ok (×46") || text.contains("×46"), "{text}");
    }
}
