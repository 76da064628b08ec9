//! Diagnostics of C compilers and tools that print like them (gcc, clang, MSVC, javac, swiftc), of linkers, and of
//! make, cmake and ninja, whose steps are reduced to counts.

use super::block::{DiagnosticBlock, Head};
use super::build_steps::{is_step, outcome, target};
use super::diagnostic::{Diagnostic, Diagnostics, MAX_LINE_BYTES, Severity, SourcePosition, named, place};
use crate::kinds::shared::bounded_items::{BoundedItems, rows};
use crate::kinds::{Kind, Stretch};
use crate::text::{clip, number};
use crate::{About, Line, Page, Weight, trouble};

pub(crate) const KIND: Kind = Kind::lines::<Gcc>("gcc", opens);

const MAX_EXPLANATION_BYTES: usize = 300;
/// The maximum number of lines of code and markers after a diagnostic.
const MAX_FOLLOWING_LINES: usize = 40;
const MAX_LINES: usize = 60;

pub(crate) fn opens(text: &str, _: About<'_>) -> bool {
    match text.as_bytes().first() {
        None | Some(b' ' | b'\t') => is_step(text),
        Some(_) => head(text).is_some() || linker(text).is_some() || outcome(text) || is_step(text) || is_context(text),
    }
}

/// Reads `a.c:1:2: error: m`, `a.c(1): error C1: m` and `CMake Error at a.txt:1 (f):`.
fn head(text: &str) -> Option<Head<'_>> {
    if let Some(SourcePosition { path, rest, whole }) = place(text) {
        // Python's checkers and rustc use the same format, but are kinds of their own.
        if [".py", ".pyi", ".rs"].iter().any(|end| path.ends_with(end)) {
            return None;
        }
        let (severity, message) = severity(rest)?;
        let (message, code) = flag(message);
        return Some(Head { file: path, place: whole, severity, code, message });
    }
    if let Some(rest) = text.strip_prefix("CMake ") {
        let (severity, rest) = match rest.strip_prefix("Error") {
            Some(rest) => (Severity::Error, rest),
            None => (Severity::Warning, rest.strip_prefix("Warning")?),
        };
        let rest = rest.strip_prefix(" (dev)").unwrap_or(rest);
        let file = rest.strip_prefix(" at ").and_then(|rest| rest.split(':').next()).unwrap_or_default();
        return rest.ends_with(':').then_some(Head { file, place: "", severity, code: "CMake", message: rest });
    }
    msvc(text)
}

/// Reads `a.cpp(12,5): error C2065: m`.
fn msvc(text: &str) -> Option<Head<'_>> {
    let (before, rest) = text.split_once("): ")?;
    let (file, position) = before.rsplit_once('(')?;
    number(position)?;
    let rest = rest.strip_prefix("fatal ").unwrap_or(rest);
    let (word, rest) = rest.split_once(' ')?;
    let severity = match word {
        "error" => Severity::Error,
        "warning" => Severity::Warning,
        _ => return None,
    };
    let (code, message) = rest.split_once(": ")?;
    let is_code = code.starts_with("C") || code.starts_with("LNK") || code.starts_with("CS") || code.starts_with("MSB");
    let place = text.get(..before.len() + 1).unwrap_or(before);
    (is_code && code.len() < 9).then_some(Head { file, place, severity, code, message })
}

fn severity(said: &str) -> Option<(Severity, &str)> {
    let (word, message) = said.split_once(": ")?;
    let severity = match word {
        "error" | "fatal error" | "internal compiler error" => Severity::Error,
        "warning" => Severity::Warning,
        "note" => Severity::Note,
        _ => return None,
    };
    Some((severity, message))
}

/// Splits a message into its text and the flag at its end that enabled it.
fn flag(message: &str) -> (&str, &str) {
    let flagged = message.strip_suffix(']').and_then(|inner| inner.rsplit_once(" ["));
    match flagged {
        Some((message, flag)) if flag.starts_with('-') && !flag.contains(' ') => (message, flag),
        // javac prints the group first.
        _ => match message.strip_prefix('[').and_then(|inner| inner.split_once("] ")) {
            Some((group, message)) if group.len() < 30 && !group.contains(' ') => (message, group),
            _ => (message, ""),
        },
    }
}

/// Recognises what a linker did not find or found twice: the sort of problem, and the symbol.
fn linker(text: &str) -> Option<(&'static str, &str)> {
    const LINKER_PHRASES: &[(&str, &str)] = &[
        ("undefined reference to ", "undefined reference"),
        ("undefined symbol: ", "undefined symbol"),
        ("multiple definition of ", "multiple definition"),
        ("duplicate symbol", "duplicate symbol"),
        ("cannot find -l", "library not found"),
        ("unable to find library", "library not found"),
    ];
    let bytes = text.as_bytes();
    // Linkers name themselves or an object; prose does not.
    if !(bytes.contains(&b':') && text.len() < 2_000) || text.starts_with(' ') {
        return None;
    }
    LINKER_PHRASES.iter().find_map(|(words, sort)| {
        let at = memchr::memmem::find(bytes, words.as_bytes())?;
        let before = text.get(..at)?;
        let is_linker = before.ends_with(": ");
        is_linker.then_some((*sort, text.get(at + words.len()..)?))
    })
}

/// Returns whether a line says where the next diagnostic comes from.
fn is_context(text: &str) -> bool {
    if text.starts_with("In file included from ") {
        return true;
    }
    if let Some(place) = place(text) {
        let rest = place.rest.trim_start();
        return rest.starts_with("required ") || rest.starts_with("recursively required") || rest.starts_with("in ");
    }
    text.ends_with(':')
        && (text.contains(": in function `")
            || [": In ", ": At "]
                .iter()
                .any(|word| text.split_once(word).is_some_and(|(path, _)| path.contains('.') && !path.contains(' '))))
}

#[derive(Default)]
struct Gcc {
    found: Diagnostics,
    block: Option<DiagnosticBlock>,
    column: u64,
    outcomes: BoundedItems,
    /// The targets that make failed to build.
    targets: Vec<String>,
    target_count: u64,
    steps: u64,
}

/// Returns the column of `a.c:12:5`.
fn column(place: &str) -> Option<u64> {
    let mut numbers = place.rsplit(':');
    let column = numbers.next()?.parse().ok()?;
    numbers.next()?.parse::<u64>().ok().map(|_| column)
}

impl Stretch for Gcc {
    fn take(&mut self, line: &Line<'_>) -> bool {
        let belongs = self.belongs(line);
        if !belongs {
            self.flush();
        }
        self.found.read(line, belongs)
    }

    fn page(mut self: Box<Self>) -> Page {
        self.flush();
        let steps = if self.steps > 0 { format!(", {}", named(self.steps, "step", "steps")) } else { String::new() };
        let mut page = Page::new(format!("compiler: {}{steps}", self.found.counted()));
        page.push(self.outcomes.part("how it ended", Weight::Failure));
        if self.target_count < 2 {
            self.targets.clear();
        }
        let left_out = self.target_count.saturating_sub(self.targets.len() as u64);
        page.push(rows(&format!("{} targets that failed", self.target_count), Weight::Fact, &self.targets, left_out));
        self.found.write(&mut page, "compiler");
        page
    }
}

impl Gcc {
    fn belongs(&mut self, line: &Line<'_>) -> bool {
        let text = line.text;
        if let Some((sort, symbol)) = linker(text) {
            self.flush();
            let message = symbol.replace(['`', '\'', '"'], " ");
            self.found.add(&Diagnostic { code: sort, message: &message, text, ..Diagnostic::default() });
            return true;
        }
        if outcome(text) {
            self.flush();
            self.outcome(line);
            return true;
        }
        if let Some(head) = head(text) {
            self.take_head(line, &head);
            return true;
        }
        if is_step(text) {
            self.flush();
            self.steps += 1;
            return true;
        }
        if is_context(text) {
            self.flush();
            return true;
        }
        self.goes_on(text)
    }

    fn outcome(&mut self, line: &Line<'_>) {
        let Some(target) = target(line.text) else { return self.outcomes.text(line.text) };
        self.target_count += 1;
        if self.target_count == 1 {
            self.outcomes.line(line);
        }
        if self.targets.len() < MAX_LINES {
            self.targets.push(clip(target, 200));
        }
    }

    fn take_head(&mut self, line: &Line<'_>, head: &Head<'_>) {
        if head.severity == Severity::Note && self.block.is_some() {
            self.found.counts[2] += 1;
            self.more(line.text);
            return;
        }
        self.flush();
        self.block = Some(DiagnosticBlock::of(line.number, head, line.clip(MAX_LINE_BYTES)));
        // Without a column, the compiler shows no code, except in Java.
        self.column = column(head.place).unwrap_or(if head.file.ends_with(".java") { 0 } else { u64::MAX });
    }

    /// Takes the lines after the first: code, markers under it, and the chain of includes.
    fn goes_on(&mut self, text: &str) -> bool {
        let generated = text.ends_with(" generated.") && number(text).is_some();
        let counted =
            number(text).is_some_and(|(_, rest)| matches!(rest, " error" | " errors" | " warning" | " warnings"));
        if generated || counted || text == "compilation terminated." {
            self.flush();
            return true;
        }
        if text.is_empty() {
            // cmake separates the message by a blank line.
            return true;
        }
        if !text.starts_with(' ') && !text.starts_with('\t') {
            // Older compilers print the code directly below, without a line number.
            let code = trouble::of(text).is_none()
                && self
                    .block
                    .as_ref()
                    .is_some_and(|block| block.more.is_empty() && self.column <= text.len() as u64 + 1);
            if code {
                self.more(text);
            }
            return code;
        }
        // The rest of a chain of includes.
        if text.trim_start().starts_with("from ") && text.ends_with([':', ',']) {
            return true;
        }
        let drawn = text
            .trim_start()
            .trim_start_matches(['|', ' '])
            .bytes()
            .all(|byte| matches!(byte, b'^' | b'~' | b' ' | b'|'));
        if !drawn {
            self.more(text);
        }
        let Some(block) = &mut self.block else { return false };
        block.follow += 1;
        block.follow <= MAX_FOLLOWING_LINES
    }

    fn more(&mut self, text: &str) {
        if let Some(block) = self.block.as_mut().filter(|block| block.more.len() < MAX_EXPLANATION_BYTES) {
            block.more.push_str(&clip(text.trim_end(), 240));
            block.more.push('\n');
        }
    }

    fn flush(&mut self) {
        let Some(block) = self.block.take() else { return };
        self.found.add(&block.found());
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use crate::check::{check, digest};

    #[test]
    fn an_error_of_another_program_is_not_code() {
        let raw = "x.c:3:1: warning: unused [-Wunused]\nFATAL: cannot write the archive to /dev/sdb1\n";
        let told = digest(raw, 400);
        assert!(
            told.contains("compiler: 0 errors, 1 warning in 1 file; ") && told.contains("; 1 error line; "),
            "{told}"
        );
    }

    #[test]
    fn a_failed_build_is_told() {
        let raw = r"[1/120] Building CXX object src/a.cpp.o
[2/120] Building CXX object src/b.cpp.o
FAILED: src/b.cpp.o
/usr/bin/c++ -DFOO -g -o src/b.cpp.o -c src/b.cpp
In file included from src/b.h:1,
                 from src/b.cpp:1:
src/b.cpp: In function ‘int f()’:
src/b.cpp:3:10: error: ‘x’ was not declared in this scope
    3 |   return x;
      |          ^
src/b.cpp:9:5: warning: unused variable ‘y’ [-Wunused-variable]
/usr/bin/ld: a.o: in function `main':
a.cpp:(.text+0x5): undefined reference to `foo()'
collect2: error: ld returned 1 exit status
ninja: build stopped: subcommand failed.
make[1]: *** [Makefile:8: src/main.o] Error 1
C:\src\x.cpp(12,5): error C2065: 'y': undeclared identifier
";
        check(raw, 700).shows(&expect![[r#"
            compiler: 3 errors, 1 warning in 2 files, 3 steps
            == how it ended: 4
            FAILED: src/b.cpp.o
            collect2: error: ld returned 1 exit status
            ninja: build stopped: subcommand failed.
            16: make[1]: *** [Makefile:8: src/main.o] Error 1
            == compiler errors: 3
            8: src/b.cpp:3:10: error: ‘x’ was not declared in this scope
                3 |   return x;
            a.cpp:(.text+0x5): undefined reference to `foo()'
            C:\src\x.cpp(12,5): error C2065: 'y': undeclared identifier
            == compiler warnings: 1
            src/b.cpp:9:5: warning: unused variable ‘y’ [-Wunused-variable]"#]]);
    }

    #[test]
    fn code_without_line_numbers_belongs_to_the_diagnostic() {
        let raw = "src/a.c:8:38: warning: unused parameter 'b' [-Wunused-parameter]\nstatic int antenna_unused(int a, int b) {\n                                     ^\n1 warning generated.\nA line of something else.\n";
        check(raw, 400).shows(&expect![[r#"
            compiler: 0 errors, 1 warning in 1 file
            == compiler warnings: 1
            1: src/a.c:8:38: warning: unused parameter 'b' [-Wunused-parameter]
            static int antenna_unused(int a, int b) {
            == lines in order: last lines 1
            5: A line of something else."#]]);
    }

    #[test]
    fn other_tools_and_prose_are_not_claimed() {
        for raw in [
            "a.py:1: error: Incompatible types  [assignment]\n",
            "src/a.rs:1:2: error[E0308]: mismatched types\n",
            "12:30:01: error: no\n",
            "There is an undefined reference to it\n",
            "[1/4] Resolving packages...\n",
            "cc the maintainer\n",
        ] {
            assert!(!digest(raw, 300).contains("compiler:"), "{raw}");
        }
    }
}
